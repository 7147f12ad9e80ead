//! Tables in and out: what the reader found is shown, what it left out is counted.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stroock::estimator::Model;
use stroock::series::table::{Cells, Column, Columns, DataFrame, DateFormat, Form, ReadOptions, Table};

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

/// Reads tables, and says on standard error which column is what.
pub fn read(files: &[PathBuf], options: &ReadOptions) -> Result<Table, Failure> {
    let table = busy(READING, || Table::read(files, options))?;
    found(&table).iter().for_each(|line| say(line));
    Ok(table)
}

/// Reads tables for a model.
pub fn read_for(model: &Model, files: &[PathBuf], arguments: &TableArguments) -> Result<Table, Failure> {
    read(files, &options_for(model, arguments)?)
}

/// The same, with the cells of the files as they are written.
pub fn read_cells_for(
    model: &Model,
    files: &[PathBuf],
    arguments: &TableArguments,
) -> Result<(Table, Cells), Failure> {
    let options = options_for(model, arguments)?;
    let (table, cells) = busy(READING, || Table::read_with_cells(files, &options))?;
    found(&table).iter().for_each(|line| say(line));
    Ok((table, cells))
}

fn options_for(model: &Model, arguments: &TableArguments) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions { expect: Some(model.expectation()?), ..arguments.options() })
}

/// What the reader found, line by line.
pub fn found(table: &Table) -> Vec<String> {
    let columns = &table.columns;
    let id = columns
        .id
        .as_deref()
        .map_or("one series, no column of names".into(), |id| format!("series by `{id}`"));
    let time = columns.time.join(", ");
    let values = match &columns.form {
        Form::Long { variable, value } => format!("variables in `{variable}`, values in `{value}`"),
        Form::Wide { variables } => format!("{} columns of values", variables.len()),
    };
    let written = table.time.in_words();
    let mut lines = vec![format!("columns: {id}; time in `{time}` ({written}); {values}")];
    if let Some(label) = &columns.label {
        let per = if label.per_time { "time" } else { "series" };
        lines.push(format!("classes: `{}`, {} of them, one per {per}", label.column, table.classes.len()));
    }
    lines.extend(columns.ignored.iter().map(|(column, reason)| format!("not read: `{column}` ({reason})")));
    lines.extend(hints(columns).into_iter().map(|hint| format!("  ({hint})")));
    let account = &table.account;
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
    match &arguments.output {
        Some(path) => {
            match arguments.overwrite {
                true => data_frame.save_over(path)?,
                false => data_frame.save(path)?,
            }
            let rows = data_frame.rows()?;
            say(&format!("{rows} rows written to {}", path.display()));
            Ok(())
        }
        None => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            let written = match arguments.json {
                true => json_lines(data_frame, &mut out),
                false => data_frame.to_csv(&mut out).map_err(Failure::from),
            };
            let flushed = out.flush();
            match flushed {
                // A reader that has gone away is no failure.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                flushed => written.and(flushed.map_err(Failure::from)),
            }
        }
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
