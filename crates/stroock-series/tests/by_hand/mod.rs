//! Tables that are made by hand.
#![allow(dead_code)] // every test file uses a part

use stroock_series::table::{Account, Columns, Form, Table, TableVariable, TimeScale};
use stroock_series::{Dataset, Labels, Observation, Series};

/// A series from its times and its rows, `None` where a value is missing.
pub fn series(id: &str, times: &[f64], rows: &[&[Option<f64>]]) -> Series<f64> {
    let cells = || rows.iter().flat_map(|row| row.iter());
    Series {
        id: id.into(),
        times: times.to_vec(),
        values: cells().map(|cell| cell.unwrap_or(f64::NAN)).collect(),
        observed: Some(cells().map(|cell| cell.is_some()).collect()),
        withheld: None,
        labels: Labels::None,
    }
}

/// A series of one variable, observed at all its times.
pub fn line(id: &str, times: Vec<f64>, values: Vec<f64>) -> Series<f64> {
    Series { id: id.into(), times, values, ..Series::default() }
}

/// A table of series with times that are numbers; a name that begins with `*` is that of a static variable.
pub fn table(names: &[&str], series: Vec<Series<f64>>) -> Table {
    let observation = Observation::Vector { channels: names.len() };
    let variables: Vec<TableVariable> = names
        .iter()
        .map(|name| TableVariable {
            name: name.trim_start_matches('*').into(),
            is_static: name.starts_with('*'),
        })
        .collect();
    let count = |is_static| {
        let named = variables.iter().filter(move |variable| variable.is_static == is_static);
        named.map(|variable| variable.name.clone()).collect::<Vec<_>>()
    };
    let columns = Columns {
        id: Some("id".into()),
        time: vec!["time".into()],
        form: Form::Wide { variables: count(false) },
        statics: count(true),
        label: None,
        ignored: Vec::new(),
        looks_like: None,
    };
    let rows = series.iter().map(|series| series.times.len() as u64).sum();
    Table {
        origins: vec![0.0; series.len()],
        data: Dataset::new(observation, series).unwrap(),
        variables,
        classes: Vec::new(),
        time: TimeScale::Number,
        columns,
        account: Account { files: 1, rows, ..Account::default() },
    }
}

/// The same table with times that are dates.
pub fn dated(table: Table, zone: &str) -> Table {
    Table { time: TimeScale::date(zone), ..table }
}
