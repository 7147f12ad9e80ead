//! Guesses of what columns are, from tables that are made of words which mean something here, and options for them.

use std::fmt::Write;

use arbitrary::{Result, Unstructured};
use stroock_series::table::{DateFormat, Duplicates, ReadOptions, Table};

use super::exercise;
use crate::scratch::FOLDER;

const NAMES: [&str; 24] = [
    "id",
    "time",
    "date",
    "hour",
    "year",
    "month",
    "day",
    "variable",
    "value",
    "label",
    "class",
    "unit",
    "x",
    "y",
    "index",
    "sensor",
    "timestamp",
    "",
    "Unnamed: 0",
    "minute",
    "second",
    "pulse",
    "#",
    "NA",
];
const CELLS: [&str; 40] = [
    "",
    "a",
    "b",
    "0",
    "1",
    "2",
    "-1",
    "1.5",
    "1,5",
    "1e5",
    "1e-320",
    "1e308",
    "1e400",
    "NaN",
    "inf",
    "NA",
    "null",
    "2024-01-31",
    "2024-02-30",
    "31.01.2024",
    "01/02/2024",
    "20240131",
    "2024",
    "202401",
    "2024Q1",
    "14:05",
    "47:30",
    "2024-01-31T14:05:00Z",
    "2024-01-31 14:05:00+05:45",
    "31 Jan 2024",
    "Jan 2024",
    "12",
    "1999",
    "13",
    "60",
    "x;y",
    "-0",
    "0.1",
    "9223372036854775808",
    "1_000",
];
const DELIMITERS: [&str; 4] = [",", ";", "\t", "|"];

/// The input chooses names, cells and options.
pub fn run(data: &[u8]) {
    let _ = tried(&mut Unstructured::new(data));
}

fn tried(source: &mut Unstructured<'_>) -> Result<()> {
    let columns = source.int_in_range(1..=7)?;
    let names: Vec<&str> = (0..columns).map(|_| source.choose(&NAMES).copied()).collect::<Result<_>>()?;
    let delimiter = *source.choose(&DELIMITERS)?;
    let options = options(source, &names)?;
    let mut table = names.join(delimiter);
    table.push('\n');
    // A column mostly has cells of one kind: neighbours in the list.
    let kinds: Vec<usize> = (0..columns).map(|_| source.choose_index(CELLS.len())).collect::<Result<_>>()?;
    while !source.is_empty() && table.len() < 2048 {
        for (column, kind) in kinds.iter().enumerate() {
            let near = usize::from(source.arbitrary::<u8>()? % 32);
            let place = if near < 3 { (kind + near) % CELLS.len() } else { *kind };
            let _ = write!(table, "{}{}", if column == 0 { "" } else { delimiter }, CELLS[place]);
        }
        // Rows of one series need times that differ.
        let _ = if source.ratio(1, 16)? { writeln!(table, "{delimiter}1") } else { writeln!(table) };
    }
    FOLDER.with(|folder| {
        let path = folder.write("columns.csv", table.as_bytes());
        exercise::used(Table::read(std::slice::from_ref(&path), &options));
        exercise::used(Table::read(&[path.clone(), path], &options));
    });
    Ok(())
}

fn options(source: &mut Unstructured<'_>, names: &[&str]) -> Result<ReadOptions> {
    let mut options = ReadOptions::default();
    let name = |source: &mut Unstructured<'_>| -> Result<Option<String>> {
        Ok(match source.ratio(1, 4)? {
            true => Some((*source.choose(names)?).to_owned()),
            false => None,
        })
    };
    options.id = name(source)?;
    options.time = name(source)?.into_iter().chain(name(source)?).collect();
    options.variable = name(source)?;
    options.value = name(source)?;
    options.label = name(source)?;
    options.statics = name(source)?.into_iter().collect();
    options.ignore = name(source)?.into_iter().collect();
    options.variables = name(source)?.into_iter().collect();
    let flags: u8 = source.arbitrary()?;
    options.skip_bad_rows = flags & 1 != 0;
    options.is_part = flags & 2 != 0;
    options.label_per_time = (flags & 4 != 0).then_some(flags & 8 != 0);
    options.decimal = (flags & 16 != 0).then_some(if flags & 32 != 0 { b',' } else { b'.' });
    options.duplicates = *source.choose(&[Duplicates::Error, Duplicates::Mean, Duplicates::Last])?;
    if source.ratio(1, 4)? {
        options.date_format = Some(*source.choose(&DateFormat::ALL)?);
    }
    if source.ratio(1, 8)? {
        options.time_zone = Some((*source.choose(&["Europe/Vienna", "+01:00", "nowhere", ""])?).to_owned());
    }
    if source.ratio(1, 8)? {
        options.missing = vec!["0".into(), "a".into(), String::new()];
    }
    Ok(options)
}
