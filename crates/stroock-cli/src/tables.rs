//! Tables in and out: what the reader found is shown, what it left out is counted.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use stroock::estimator::Model;
use stroock::series::table::{
    Account, AnyTable, Cells, Column, Columns, DataFrame, DateFormat, Form, FrameFile, ReadOptions, Room,
    Table, TimeScale,
};

use crate::arguments::{OutputArguments, TableArguments};
use crate::busy::busy;
use crate::failure::Failure;
use crate::output::say;

const READING: &str = "reading";

/// Reads a model file, or the best model of a run folder, and says so where its fit has not ended.
pub fn load(path: &Path) -> Result<Model, Failure> {
    let model = Model::load(path)?;
    if !model.is_finished() {
        let how = match path.is_dir() {
            true => format!("; go on with: stroock fit --out {} --resume", path.display()),
            false => String::new(),
        };
        say(&format!(
            "warning: the fit of this model has not ended, and its intervals are not calibrated{how}"
        ));
    }
    Ok(model)
}

/// Reads tables into memory, or into a temporary file where there is no room, and says on standard error which column
/// is what.
pub fn read(files: &[PathBuf], options: &ReadOptions, room: &Room) -> Result<AnyTable, Failure> {
    let table = busy(READING, || AnyTable::read(files, options, room))?;
    found(table.columns(), table.time(), table.classes(), table.account()).iter().for_each(|line| say(line));
    if let AnyTable::Stored(stored) = &table {
        let (megabytes, folder) = (stored.data.bytes() >> 20, stored.data.folder().display());
        say(&format!(
            "the series do not fit into memory: they are in a temporary file of {megabytes} MB in {folder}"
        ));
    }
    Ok(table)
}

/// Reads tables for a model.
pub fn read_for(
    model: &Model,
    files: &[PathBuf],
    arguments: &TableArguments,
    output: Option<&Path>,
) -> Result<AnyTable, Failure> {
    read(files, &options_for(model, arguments)?, &arguments.room(output))
}

/// The same with the cells of the files as they are written, in memory.
pub fn read_cells_for(
    model: &Model,
    files: &[PathBuf],
    arguments: &TableArguments,
) -> Result<(Table, Cells), Failure> {
    let (options, room) = (options_for(model, arguments)?, arguments.room(None));
    let (table, cells) = busy(READING, || Table::read_with_cells_within(files, &options, &room))?;
    let lines = found(&table.columns, &table.time, &table.classes, &table.account);
    lines.iter().for_each(|line| say(line));
    Ok((table, cells))
}

fn options_for(model: &Model, arguments: &TableArguments) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions { expect: Some(model.expectation()?), ..arguments.options() })
}

/// What the reader found, line by line.
fn found(columns: &Columns, time: &TimeScale, classes: &[String], account: &Account) -> Vec<String> {
    let id = columns
        .id
        .as_deref()
        .map_or("one series, no column of names".into(), |id| format!("series by `{id}`"));
    let (written, time) = (time.in_words(), columns.time.join(", "));
    let values = match &columns.form {
        Form::Long { variable, value } => format!("variables in `{variable}`, values in `{value}`"),
        Form::Wide { variables } => format!("{} columns of values", variables.len()),
    };
    let mut lines = vec![format!("columns: {id}; time in `{time}` ({written}); {values}")];
    if let Some(label) = &columns.label {
        let per = if label.per_time { "time" } else { "series" };
        lines.push(format!("classes: `{}`, {} of them, one per {per}", label.column, classes.len()));
    }
    lines.extend(columns.ignored.iter().map(|(column, reason)| format!("not read: `{column}` ({reason})")));
    lines.extend(hints(columns).into_iter().map(|hint| format!("  ({hint})")));
    if account.skipped > 0 {
        lines.push(format!("skipped: {} of {} rows could not be understood", account.skipped, account.rows));
        lines.extend(account.faults.iter().map(|fault| format!("  {fault}")));
    }
    if account.merged > 0 {
        lines.push(format!(
            "merged: {} values fell on the same series, variable and time as others",
            account.merged
        ));
    }
    lines
}

/// The flags that change what the reader found, where it was in doubt.
pub fn hints(columns: &Columns) -> Vec<String> {
    let has_reason = |words: &str| columns.ignored.iter().any(|(_, reason)| reason.contains(words));
    let mut hints = Vec::new();
    if let Some(format) = columns.looks_like {
        let flag = if format == DateFormat::Month { "month" } else { "year" };
        let time = columns.time.join(", ");
        hints.push(format!("the numbers in `{time}` look like {format}: --date-format {flag} reads them so"));
    }
    if has_reason("perhaps") {
        hints.push(
            "--target makes a column the class, --static a number of the series, --variables a variable"
                .into(),
        );
    }
    if has_reason("decimals or thousands") {
        hints.push("--decimal , reads decimal commas".into());
    }
    hints
}

/// Says things that the user should know.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
}

/// Writes a table where the arguments say.
pub fn write(data_frame: &DataFrame, arguments: &OutputArguments) -> Result<(), Failure> {
    let mut output = TableOutput::open(arguments)?;
    output.append(data_frame)?;
    output.finish()
}

/// A table that is written part by part where the arguments say.
pub struct TableOutput<'a> {
    to: To<'a>,
    has_header: bool,
    rows: usize,
}

enum To<'a> {
    File(FrameFile, &'a Path),
    Csv(BufWriter<StdoutLock<'static>>),
    Json(BufWriter<StdoutLock<'static>>),
    /// The reader has gone away, which is no failure.
    Nobody,
}

impl<'a> TableOutput<'a> {
    /// Begins a table.
    pub fn open(arguments: &'a OutputArguments) -> Result<Self, Failure> {
        let out = || BufWriter::new(io::stdout().lock());
        let to = match &arguments.output {
            Some(path) => To::File(FrameFile::create(path, arguments.overwrite)?, path),
            None if arguments.json => To::Json(out()),
            None => To::Csv(out()),
        };
        Ok(Self { to, has_header: false, rows: 0 })
    }

    /// Whether there is still someone who reads.
    pub fn is_read(&self) -> bool {
        !matches!(self.to, To::Nobody)
    }

    /// Writes the rows of a part behind those before.
    pub fn append(&mut self, data_frame: &DataFrame) -> Result<(), Failure> {
        let is_first = !std::mem::replace(&mut self.has_header, true);
        self.rows += data_frame.rows()?;
        let flushed = match &mut self.to {
            To::File(file, _) => return Ok(file.append(data_frame)?),
            To::Nobody => return Ok(()),
            To::Csv(out) => {
                let written = match is_first {
                    true => data_frame.to_csv(&mut *out),
                    false => data_frame.rows_to_csv(&mut *out),
                };
                (written.map_err(Failure::from), out.flush())
            }
            To::Json(out) => (json_lines(data_frame, out), out.flush()),
        };
        let (written, flushed) = flushed;
        match written.and(flushed.map_err(Failure::from)) {
            Err(failure) if failure.is_broken_pipe() => {
                self.to = To::Nobody;
                Ok(())
            }
            written => written,
        }
    }

    /// Ends the table.
    pub fn finish(self) -> Result<(), Failure> {
        if let To::File(file, path) = self.to {
            file.finish()?;
            say(&format!("{} rows written to {}", self.rows, path.display()));
        }
        Ok(())
    }
}

/// One JSON object per row; numbers that are not there are null.
fn json_lines(data_frame: &DataFrame, out: &mut impl Write) -> Result<(), Failure> {
    for row in 0..data_frame.rows()? {
        let cell = |column: &Column| match column {
            Column::Text(texts) => serde_json::Value::from(texts[row].as_str()),
            Column::Number(numbers) => serde_json::Value::from(numbers[row]),
            Column::Count(counts) => serde_json::Value::from(counts[row]),
        };
        let object: serde_json::Map<_, _> =
            data_frame.names.iter().cloned().zip(data_frame.columns.iter().map(cell)).collect();
        serde_json::to_writer(&mut *out, &object)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
