//! What the program does with a table once it has been read.

use std::path::PathBuf;

use stroock_series::table::{Duplicates, Overview, ReadOptions, Sampling, Step, Table, TableError};

/// Reads a file in two ways and uses what comes out.
pub fn read(path: PathBuf) {
    let paths = [path];
    used(Table::read(&paths, &ReadOptions::default()));
    let lenient = ReadOptions { skip_bad_rows: true, duplicates: Duplicates::Mean, ..ReadOptions::default() };
    match Table::read_with_cells(&paths, &lenient) {
        Ok((table, mut cells)) => {
            assert!(cells.rows() as u64 >= table.account.rows - table.account.skipped);
            cells.set(0, "value", 1.5);
            let mut text = Vec::new();
            // Names or texts may be such that they cannot be written; that is an error.
            let _ = cells.data_frame(true).to_csv(&mut text);
            used(Ok(table));
        }
        Err(error) => said(&error),
    }
}

/// Checks what every table keeps to, and describes, cuts and measures it.
pub fn used(read: Result<Table, TableError>) {
    let table = match read {
        Ok(table) => table,
        Err(error) => return said(&error),
    };
    let channels = table.variables.len();
    assert!(table.account.skipped <= table.account.rows);
    assert_eq!(table.origins.len(), table.data.series().len());
    for series in table.data.series() {
        assert!(series.times.windows(2).all(|pair| pair[0] < pair[1]), "times increase");
        assert_eq!(series.values.len(), series.times.len() * channels);
        let is_sound = |place: usize| match series.is_observed(channels, place / channels, place % channels) {
            true => series.values[place].is_finite(),
            false => true,
        };
        assert!((0..series.values.len()).all(is_sound), "observed values are numbers");
        for &time in series.times.iter().take(4) {
            let _ = table.time.write(time);
        }
    }
    let text = Overview::of(&table).text();
    assert!(!text.is_empty());
    let times = table.data.series().iter().map(|series| series.times.as_slice());
    if let (Some(step), Some(first)) = (Step::usual(times, &table.time), table.data.series().first()) {
        let last = first.times.last().copied().unwrap_or(0.0);
        let after = step.after(&table.time, last, 3);
        let _ = table.time.write(after);
        let _ = step.place(&table.time, after);
    }
    let suggestion = Sampling::suggest(&table);
    let cut = table.sampled(suggestion.sampling);
    assert_eq!(cut.origins.len(), cut.data.series().len());
}

/// An error is a sentence of moderate length.
pub fn said(error: &TableError) {
    let sentence = error.to_string();
    assert!(!sentence.is_empty());
}
