//! Rows become numbers: a series, a time and values each, in the order in which they are read.

use super::block::Block;
use super::cell::{Cell, Notation, not_a};
use super::cells::Recorder;
use super::guess::Roles;
use super::intern::Names;
use super::labels::Labels;
use super::rows::{Next, Rows};
use super::spill::Spill;
use super::statics::Statics;
use crate::table::{Account, Fault, Form, Place, ReadOptions, TableError};

/// Faults that are told one by one.
const FAULTS: usize = 10;

/// What a name of a long table stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Channel(u32),
    Static(usize),
    LeftOut,
}

/// The rows of all files.
pub(super) struct Collected {
    /// Names of the series.
    pub(super) ids: Names,
    /// Names of the channels with a value a time.
    pub(super) channels: Vec<String>,
    pub(super) statics: Statics,
    pub(super) labels: Labels,
    /// The rows that are in memory.
    pub(super) rows: Block,
    /// Where rows go that do not fit into it; without it there is room for all of them.
    pub(super) spill: Option<Spill>,
    pub(super) is_long: bool,
    pub(super) account: Account,
    /// Takes the cells down, where they are asked for.
    pub(super) recorder: Option<Recorder>,
    /// Bytes that they may take.
    pub(super) most_cells: u64,
    /// Files, and whether their places are rows.
    files: Vec<(String, bool)>,
    /// Names of variables of a long table, what each means, and its rows.
    variables: Names,
    meanings: Vec<Meaning>,
    counts: Vec<u64>,
}

impl Collected {
    pub(super) fn new(roles: &Roles, options: &ReadOptions) -> Self {
        let is_long = matches!(roles.columns.form, Form::Long { .. });
        let channels = match &roles.columns.form {
            Form::Wide { variables } => variables.clone(),
            Form::Long { .. } => roles.kept.clone().unwrap_or_default(),
        };
        let statics = roles.columns.statics.iter().chain(&roles.statics).cloned().collect();
        Collected {
            ids: Names::default(),
            channels,
            statics: Statics::new(statics, options.duplicates),
            labels: Labels::new(roles.columns.label.as_ref().map(|label| label.column.clone()), options),
            rows: Block::default(),
            spill: None,
            is_long,
            account: Account::default(),
            recorder: None,
            most_cells: u64::MAX,
            files: Vec::new(),
            variables: Names::default(),
            meanings: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// The place of a row.
    pub(super) fn place(&self, rows: &Block, row: u32) -> Place {
        let (file, is_row) = self.files[rows.files[row as usize] as usize].clone();
        Place { file, line: rows.lines[row as usize].into(), is_row }
    }

    /// Numbers of a row: one for each channel, or in the long form one.
    pub(super) fn width(&self) -> usize {
        if self.is_long { 1 } else { self.channels.len() }
    }

    /// Names of variables of a long table that came, each with its rows and whether it was left out.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, u64, bool)> {
        let told = self.meanings.iter().zip(&self.counts).zip(self.variables.all());
        told.map(|((meaning, count), name)| (name, *count, matches!(meaning, Meaning::LeftOut)))
    }

    /// Reads all rows of a file. `stem` is the name of its series where there is no column for it.
    pub(super) fn file(
        &mut self,
        rows: &mut dyn Rows,
        stem: &str,
        roles: &Roles,
        notation: &Notation,
        skip_bad_rows: bool,
    ) -> Result<(), TableError> {
        self.files.push((rows.file().to_owned(), rows.counts_rows()));
        self.account.files += 1;
        self.recorder.iter_mut().for_each(|recorder| recorder.begin(rows));
        let reader = RowReader::locate(rows.header(), stem, roles, notation);
        loop {
            let (line, read) = match rows.advance()? {
                Next::End => return Ok(()),
                Next::Row { line } => (line, reader.read(self, rows, line)),
                Next::Ragged { line, fields } => {
                    (line, Err(Fault::Fields { found: fields, expected: rows.header().len() }))
                }
            };
            self.account.rows += 1;
            if let Some(recorder) = &mut self.recorder {
                let key = self.rows.series.last().copied().zip(self.rows.times.last().copied());
                recorder.row(rows, key.filter(|_| read.is_ok()));
                if recorder.bytes() > self.most_cells {
                    return Err(TableError::ManyCells { bytes: self.most_cells });
                }
            }
            if let Some(spill) = self.spill.as_mut().filter(|spill| spill.is_full(&self.rows)) {
                spill.write(&mut self.rows)?;
            }
            let Err(fault) = read else { continue };
            let place = Place { file: rows.file().to_owned(), line, is_row: rows.counts_rows() };
            if !skip_bad_rows {
                return Err(TableError::Row { place: Box::new(place), fault: Box::new(fault) });
            }
            self.account.skipped += 1;
            if self.account.faults.len() < FAULTS {
                self.account.faults.push(format!("{place}, {fault}"));
            }
        }
    }

    /// What a name of a long table stands for.
    fn meaning(&mut self, variable: u32, roles: &Roles) -> Meaning {
        if let Some(meaning) = self.meanings.get(variable as usize) {
            return *meaning;
        }
        let name = self.variables.name(variable);
        let meaning = match (self.statics.position(name), &roles.kept) {
            (Some(index), _) => Meaning::Static(index),
            (None, _) if roles.left_out.iter().any(|left| left == name) => Meaning::LeftOut,
            (None, Some(kept)) => match kept.iter().position(|kept| kept == name) {
                Some(index) => Meaning::Channel(index as u32),
                None => Meaning::LeftOut,
            },
            (None, None) => {
                self.channels.push(name.to_owned());
                Meaning::Channel(self.channels.len() as u32 - 1)
            }
        };
        self.meanings.push(meaning);
        self.counts.push(0);
        meaning
    }
}

/// Where the columns of a file are.
struct RowReader<'a> {
    roles: &'a Roles,
    notation: &'a Notation,
    stem: &'a str,
    id: Option<usize>,
    time: Vec<usize>,
    /// Columns of the variable and the value of a long table.
    long: Option<(usize, usize)>,
    wide: Vec<usize>,
    statics: Vec<usize>,
    label: Option<usize>,
}

impl<'a> RowReader<'a> {
    fn locate(header: &[String], stem: &'a str, roles: &'a Roles, notation: &'a Notation) -> Self {
        // The columns have been found in the header before; a place behind the end reads as nothing.
        let place = |name: &String| header.iter().position(|column| column == name).unwrap_or(usize::MAX);
        let places = |names: &[String]| names.iter().map(place).collect();
        let columns = &roles.columns;
        let (long, wide) = match &columns.form {
            Form::Long { variable, value } => (Some((place(variable), place(value))), Vec::new()),
            Form::Wide { variables } => (None, places(variables)),
        };
        RowReader {
            roles,
            notation,
            stem,
            id: columns.id.as_ref().map(place),
            time: places(&columns.time),
            long,
            wide,
            statics: places(&columns.statics),
            label: columns.label.as_ref().map(|label| place(&label.column)),
        }
    }

    /// Reads a row. A row with a fault leaves no trace.
    fn read(&self, all: &mut Collected, rows: &dyn Rows, line: u64) -> Result<(), Fault> {
        let before = (all.ids.len(), all.channels.len(), all.variables.len(), all.rows.values.len());
        let result = self.read_parts(all, rows, line);
        if result.is_err() {
            all.ids.truncate(before.0);
            all.channels.truncate(before.1);
            all.variables.truncate(before.2);
            all.meanings.truncate(before.2);
            all.counts.truncate(before.2);
            all.rows.forget_half_row(before.3);
            all.statics.forget(before.0);
            all.labels.forget(before.0);
        }
        result
    }

    fn read_parts(&self, all: &mut Collected, rows: &dyn Rows, line: u64) -> Result<(), Fault> {
        let time = match self.time.as_slice() {
            [column] => self.roles.when.read(&[rows.cell(*column)], self.notation)?,
            columns => {
                let mut cells = [Cell::Null; 6];
                for (cell, column) in cells.iter_mut().zip(columns) {
                    *cell = rows.cell(*column);
                }
                self.roles.when.read(&cells[..columns.len().min(6)], self.notation)?
            }
        };
        let series = match self.id {
            None => all.ids.index(self.stem.as_bytes()).unwrap_or(0),
            Some(column) => {
                let name = self.roles.columns.id.as_deref().unwrap_or_default();
                self.name(&mut all.ids, rows.cell(column), name, "the name of a series")?
            }
        };
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let mut present = 0;
        let mut variable = None;
        let mut of_series = None;
        match self.long {
            None => {
                for (column, &place) in self.wide.iter().enumerate() {
                    let value = self.notation.value(rows.cell(place), &all.channels[column])?;
                    present += u64::from(!value.is_nan());
                    all.rows.values.push(value);
                }
            }
            Some((name, value)) => {
                let Form::Long { variable: column, .. } = &self.roles.columns.form else { return Ok(()) };
                let index =
                    self.name(&mut all.variables, rows.cell(name), column, "the name of a variable")?;
                variable = Some(index);
                let value = rows.cell(value);
                let (channel, value) = match all.meaning(index, self.roles) {
                    Meaning::LeftOut => (0, f64::NAN),
                    Meaning::Channel(channel) => {
                        (channel, self.notation.value(value, all.variables.name(index))?)
                    }
                    Meaning::Static(index_of_static) => {
                        let value = self.notation.value(value, all.variables.name(index))?;
                        of_series = Some((index_of_static, value));
                        (0, f64::NAN)
                    }
                };
                present += u64::from(!value.is_nan());
                all.rows.values.push(value);
                all.rows.of_channel.push(channel);
            }
        }
        let columns = self.statics.iter().zip(&self.roles.columns.statics).enumerate();
        for (index, (&place, column)) in columns {
            let value = self.notation.value(rows.cell(place), column)?;
            all.statics.check(series, index, value, line, all.ids.name(series))?;
        }
        if let Some((index, value)) = of_series {
            all.statics.check(series, index, value, line, all.ids.name(series))?;
        }
        if let Some(place) = self.label {
            let cell = rows.cell(place);
            let cell = if self.notation.holds(cell) { Cell::Null } else { cell };
            let class = all.labels.push(series, cell, line, all.ids.name(series))?;
            all.rows.classes.push(class);
        }
        // Nothing can fail from here on.
        present += all.statics.commit(series);
        if let Some(count) = variable.and_then(|variable| all.counts.get_mut(variable as usize)) {
            *count += 1;
        }
        all.account.values += present;
        all.rows.series.push(series);
        all.rows.times.push(time);
        all.rows.files.push(all.files.len() as u32 - 1);
        all.rows.lines.push(line);
        Ok(())
    }

    fn name(
        &self,
        names: &mut Names,
        cell: Cell<'_>,
        column: &str,
        expected: &'static str,
    ) -> Result<u32, Fault> {
        // A series or a variable may well have the name `NA`, but not none.
        if matches!(cell, Cell::Null | Cell::Text([])) || matches!(cell, Cell::Number(name) if name.is_nan())
        {
            return Err(Fault::Empty { column: column.to_owned(), expected });
        }
        let index = match cell {
            Cell::Integer(number) => names.index_of_integer(number),
            cell => cell.name(&mut String::new()).and_then(|name| names.index(name)),
        };
        index.ok_or_else(|| not_a(cell, column.to_owned(), |column, value| Fault::NotText { column, value }))
    }
}
