//! The cells of files as they are written.

use super::cell::{Cell, Notation};
use super::rows::Rows;
use crate::table::time::{TimeScale, shortest};
use crate::table::{Column, Columns, DataFrame, Table};

/// The cells of the files of a table as they are written, row by row: also those of columns that are not read, and of
/// rows that were left out.
///
/// ```
/// use stroock_series::table::{ReadOptions, Table};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("plant.csv");
/// # std::fs::write(&path, "remark,date,load\nnew,31.1.2024,1.50\n,1.2.2024,\n")?;
///
/// let (table, mut cells) = Table::read_with_cells(&[path], &ReadOptions::default())?;
/// assert_eq!(table.variables.len(), 1);
/// cells.set(1, "load", 1.75);
/// let mut text = Vec::new();
/// cells.data_frame(false).to_csv(&mut text)?;
/// assert_eq!(text, b"remark,date,load\nnew,31.1.2024,1.50\n,1.2.2024,1.75\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cells {
    names: Vec<String>,
    /// `[column][row]`.
    texts: Vec<Vec<String>>,
    /// Series and time of each row; `None` where it was left out.
    keys: Vec<Option<(u32, f64)>>,
    /// Names of the series.
    ids: Vec<String>,
    /// Name of the column of the series, which stay texts; with the files where the table has none.
    id: Option<String>,
    label: Option<String>,
    files: usize,
    notation: Notation,
}

impl Cells {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Series and time of a row; `None` where it was left out.
    pub fn key(&self, row: usize) -> Option<(&str, f64)> {
        let (series, time) = (*self.keys.get(row)?)?;
        Some((self.ids.get(series as usize)?, time))
    }

    /// Writes a number into a cell; whether there is such a cell.
    pub fn set(&mut self, row: usize, column: &str, value: f64) -> bool {
        let place = self.names.iter().position(|name| name == column);
        let cell = place.and_then(|place| self.texts[place].get_mut(row));
        let is_there = cell.is_some();
        if let Some(cell) = cell {
            // Read again as it is written.
            *cell = if self.notation.comma() { shortest(value).replace('.', ",") } else { shortest(value) };
        }
        is_there
    }

    /// The cells as a table. Columns of numbers are numbers where `typed` says so, or where their decimals stand after a
    /// comma; everything else stays as it is written. Where several files are a series each, their names come first.
    pub fn data_frame(&self, typed: bool) -> DataFrame {
        let mut data_frame = DataFrame::default();
        if self.id.is_none() && self.files > 1 {
            let name = |row| self.key(row).map_or_else(String::new, |key| key.0.to_owned());
            data_frame.names.push("id".into());
            data_frame.columns.push(Column::Text((0..self.rows()).map(name).collect()));
        }
        for (name, texts) in self.names.iter().zip(&self.texts) {
            let is_name = [&self.id, &self.label].into_iter().flatten().any(|column| column == name);
            let numbers = || texts.iter().map(|text| self.number(text)).collect::<Option<Vec<f64>>>();
            let numbers = if (typed || self.notation.comma()) && !is_name { numbers() } else { None };
            // A column without any number has nothing but gaps, which are written as they were.
            let numbers = numbers.filter(|numbers| !numbers.iter().all(|number| number.is_nan()));
            data_frame.names.push(name.clone());
            data_frame.columns.push(numbers.map_or_else(|| Column::Text(texts.clone()), Column::Number));
        }
        data_frame
    }

    /// The number of a cell, NaN where it is missing; `None` for a text.
    fn number(&self, text: &str) -> Option<f64> {
        let cell = Cell::Text(text.as_bytes());
        match self.notation.holds(cell) {
            true => Some(f64::NAN),
            false => self.notation.number(cell).filter(|number| number.is_finite()),
        }
    }
}

/// Takes the cells of files down.
#[derive(Default)]
pub(super) struct Recorder {
    names: Vec<String>,
    texts: Vec<Vec<String>>,
    keys: Vec<Option<(u32, f64)>>,
    files: usize,
    /// For each column of the current file its place among all.
    places: Vec<usize>,
    scales: Vec<TimeScale>,
    /// Bytes that the cells take, about.
    bytes: u64,
}

impl Recorder {
    /// Begins a file.
    pub(super) fn begin(&mut self, rows: &dyn Rows) {
        self.files += 1;
        self.places.clear();
        self.scales.clear();
        for (column, name) in rows.header().iter().enumerate() {
            let place = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
                self.names.push(name.clone());
                self.texts.push(vec![String::new(); self.keys.len()]);
                self.names.len() - 1
            });
            self.places.push(place);
            self.scales.push(TimeScale::date(rows.zone(column).unwrap_or("UTC")));
        }
    }

    /// Takes a row down.
    pub(super) fn row(&mut self, rows: &dyn Rows, key: Option<(u32, f64)>) {
        self.keys.push(key);
        for (column, (&place, scale)) in self.places.iter().zip(&self.scales).enumerate() {
            let text = match rows.cell(column) {
                Cell::Number(number) => shortest(number),
                Cell::Instant(seconds) => scale.write(seconds),
                cell => cell.whole(),
            };
            self.bytes += (text.len() + size_of::<String>()) as u64;
            self.texts[place].push(text);
        }
        for texts in &mut self.texts {
            texts.resize(self.keys.len(), String::new());
        }
    }

    /// Bytes that the cells take, about.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Everything that was taken down.
    pub(super) fn finish(self, table: &Table, notation: Notation) -> Cells {
        let Recorder { names, texts, keys, files, .. } = self;
        let Columns { id, label, .. } = &table.columns;
        Cells {
            names,
            texts,
            keys,
            ids: table.data.series().iter().map(|series| series.id.clone()).collect(),
            id: id.clone(),
            label: label.as_ref().map(|label| label.column.clone()),
            files,
            notation,
        }
    }
}
