//! Random ragged tables, written in every way, are read back as they are; and nothing that is not a table makes the
//! reader stumble.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stroock_series::table::{Duplicates, ReadOptions, Table, TableError};

/// Rows of a table: series, time, and for each variable its value if there is one.
#[derive(Clone, Debug)]
struct Truth {
    ids: Vec<String>,
    variables: Vec<String>,
    rows: Vec<(usize, i32, Vec<Option<f64>>)>,
}

/// How a table is written.
#[derive(Clone, Debug)]
struct Writing {
    delimiter: char,
    line_end: &'static str,
    missing: &'static str,
    quote_all: bool,
    long: bool,
    dates: bool,
    last_line_end: bool,
    mark: bool,
}

fn name() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "ä",
        "时间",
        "a,b",
        "semi;colon",
        "tab\there",
        "quo\"te",
        "two\nlines",
        "é è",
        "#",
        "x'y",
    ]);
    prop_oneof![3 => "[a-z][a-z0-9]{0,5}", 1 => odd.prop_map(str::to_owned)]
}

/// Names that differ, and that mean nothing to the reader.
fn names(count: std::ops::Range<usize>, prefix: &'static str) -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set(name(), count)
        .prop_map(move |names| names.into_iter().map(|name| format!("{prefix}{name}")).collect())
}

fn truth() -> impl Strategy<Value = Truth> {
    (names(1..5, "s "), names(1..5, "v "), 1_usize..40).prop_flat_map(|(ids, variables, rows)| {
        let value = prop::option::weighted(0.6, -1e6_f64..1e6);
        let values = prop::collection::vec(value, variables.len());
        let row = (0..ids.len(), -50..50_i32, values);
        let rows = prop::collection::vec(row, rows).prop_map(|rows| {
            // One row for each series and time.
            let mut seen = BTreeSet::new();
            rows.into_iter().filter(|(series, time, _)| seen.insert((*series, *time))).collect::<Vec<_>>()
        });
        rows.prop_map(move |rows| Truth { ids: ids.clone(), variables: variables.clone(), rows })
    })
}

fn writing() -> impl Strategy<Value = Writing> {
    let delimiter = prop::sample::select(vec![',', ';', '\t', '|']);
    let line_end = prop::sample::select(vec!["\n", "\r\n"]);
    let missing = prop::sample::select(vec!["", "NA", "NaN", "null", "  "]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (delimiter, line_end, missing, flags).prop_map(|(delimiter, line_end, missing, flags)| Writing {
        delimiter,
        line_end,
        missing,
        quote_all: flags.0,
        long: flags.1,
        dates: flags.2,
        last_line_end: flags.3,
        mark: flags.4,
    })
}

impl Writing {
    fn line(&self, text: &mut String, fields: &[String]) {
        let field = |field: &String| match self.quote_all || field.contains(['"', '\n', self.delimiter]) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.clone(),
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        text.push_str(&fields.join(&self.delimiter.to_string()));
        text.push_str(self.line_end);
    }

    fn time(&self, time: i32) -> String {
        match self.dates {
            true => format!("2024-01-{:02} {:02}:00", 10 + time.div_euclid(24), time.rem_euclid(24)),
            false => format!("{}", f64::from(time) / 4.0),
        }
    }

    fn number(&self, time: i32) -> f64 {
        const TENTH_OF_JANUARY: f64 = 1_704_844_800.0;
        if self.dates { TENTH_OF_JANUARY + 3600.0 * f64::from(time) } else { f64::from(time) / 4.0 }
    }

    /// The text, and the number of its rows.
    fn write(&self, truth: &Truth) -> (String, u64) {
        let mut text = String::from(if self.mark { "\u{feff}" } else { "" });
        let mut rows = 0;
        let cell = |value: &Option<f64>| value.map_or(self.missing.to_owned(), |value| value.to_string());
        let header = ["id".to_owned(), "time".to_owned()];
        match self.long {
            true => {
                self.line(&mut text, &[&header[..], &["variable".to_owned(), "value".to_owned()]].concat())
            }
            false => self.line(&mut text, &[&header[..], &truth.variables].concat()),
        }
        for (series, time, values) in &truth.rows {
            let start = [truth.ids[*series].clone(), self.time(*time)];
            if self.long {
                for (variable, value) in truth.variables.iter().zip(values) {
                    self.line(&mut text, &[&start[..], &[variable.clone(), cell(value)]].concat());
                    rows += 1;
                }
            } else {
                let cells: Vec<String> = values.iter().map(cell).collect();
                self.line(&mut text, &[&start[..], &cells].concat());
                rows += 1;
            }
        }
        if !self.last_line_end {
            text.truncate(text.len() - self.line_end.len());
        }
        (text, rows)
    }
}

fn read(content: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file for the test");
    std::fs::write(file.path(), content).expect("a file for the test");
    Table::read(&[file.path().to_owned()], options)
}

/// Observed values of a table.
fn observed(table: &Table) -> u64 {
    let channels = table.variables.len();
    let count = |series: &stroock_series::Series<f64>| match &series.observed {
        Some(observed) => observed.iter().filter(|observed| **observed).count(),
        None => series.times.len() * channels,
    };
    table.data.series().iter().map(count).sum::<usize>() as u64
}

/// What must hold of every table.
fn check_account(table: &Table) {
    assert_eq!(observed(table), table.account.values - table.account.merged);
    let times: usize = table.data.series().iter().map(|series| series.times.len()).sum();
    assert!(times as u64 <= table.account.rows - table.account.skipped);
    assert_eq!(table.account.faults.len() as u64, table.account.skipped.min(10));
    assert_eq!(table.origins.len(), table.data.series().len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_table_is_read_back_as_it_was_written(truth in truth(), writing in writing()) {
        let (text, rows) = writing.write(&truth);
        let table = match read(text.as_bytes(), &ReadOptions::default()) {
            Ok(table) => table,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        check_account(&table);
        prop_assert_eq!((table.account.rows, table.account.skipped, table.account.merged), (rows, 0, 0));
        let read_names: Vec<&String> = table.variables.iter().map(|variable| &variable.name).collect();
        prop_assert_eq!(read_names, truth.variables.iter().collect::<Vec<_>>());

        let mut order: Vec<usize> = Vec::new();
        let mut expected: BTreeMap<usize, BTreeMap<i32, &Vec<Option<f64>>>> = BTreeMap::new();
        for (series, time, values) in &truth.rows {
            if !order.contains(series) {
                order.push(*series);
            }
            expected.entry(*series).or_default().insert(*time, values);
        }
        prop_assert_eq!(table.data.series().len(), order.len());
        let channels = truth.variables.len();
        for (series, index) in table.data.series().iter().zip(order) {
            prop_assert_eq!(&series.id, &truth.ids[index]);
            let expected = &expected[&index];
            let times: Vec<f64> = expected.keys().map(|time| writing.number(*time)).collect();
            prop_assert_eq!(&series.times, &times);
            for (at, values) in expected.values().enumerate() {
                for (channel, value) in values.iter().enumerate() {
                    let found = series.is_observed(channels, at, channel).then(|| series.values[at * channels + channel]);
                    prop_assert_eq!(found, *value);
                }
            }
        }
    }

    #[test]
    fn rows_are_used_or_counted(truth in truth(), writing in writing(), damage in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 1..8)) {
        let (text, _) = writing.write(&truth);
        let mut lines: Vec<String> = text.split(writing.line_end).map(str::to_owned).collect();
        for (index, kind) in damage {
            let place = index.index(lines.len());
            if place == 0 {
                continue;
            }
            let line = lines[place].clone();
            match kind {
                0 => lines[place].push_str("oops"),
                1 => lines[place].push(writing.delimiter),
                2 => lines.push(line),
                _ => lines[place] = line.chars().take(line.chars().count() / 2).collect(),
            }
        }
        let text = lines.join(writing.line_end);
        let mut records = csv::ReaderBuilder::new();
        let records = records.delimiter(writing.delimiter as u8).flexible(true).from_reader(text.as_bytes());
        let records = records.into_byte_records().count() as u64;
        let delimiter = Some(writing.delimiter as u8);
        for duplicates in [Duplicates::Error, Duplicates::Mean, Duplicates::Last] {
            let options = ReadOptions { skip_bad_rows: true, duplicates, delimiter, ..ReadOptions::default() };
            match read(text.as_bytes(), &options) {
                Ok(table) => {
                    check_account(&table);
                    prop_assert_eq!(table.account.rows, records);
                }
                Err(TableError::Duplicate { .. }) => prop_assert_eq!(duplicates, Duplicates::Error),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0..6_usize) {
        let starts: [&[u8]; 6] = [b"", b"id,time,x\n", b"time,variable,value\n0,", b"PAR1", &[0x1f, 0x8b], b"date,x,y\n2024-01-01,1,2\n"];
        let content = [starts[start], &bytes].concat();
        for skip_bad_rows in [false, true] {
            if let Ok(table) = read(&content, &ReadOptions { skip_bad_rows, ..ReadOptions::default() }) {
                check_account(&table);
            }
        }
    }

    #[test]
    fn arbitrary_cells_are_read_or_refused(text in "(id|time|date|x|year|month|value|variable)(,(id|time|date|x|year|month|value|variable)){0,4}\n((-?[0-9]{1,6}(\\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,3}:[0-9]{2}|NA|a|\"|1e99|é)?[,\n]){0,60}") {
        for skip_bad_rows in [false, true] {
            let options = ReadOptions { skip_bad_rows, duplicates: Duplicates::Last, ..ReadOptions::default() };
            if let Ok(table) = read(text.as_bytes(), &options) {
                check_account(&table);
            }
        }
    }
}

#[test]
fn a_million_rows_arrive() {
    let rows = 1_000_000_u64;
    let mut text = String::from("id,time,variable,value\n");
    for row in 0..rows {
        use std::fmt::Write;
        let _ = writeln!(text, "s{},{},v{},{}", row % 1000, row / 8000, row / 1000 % 8, row % 4096);
    }
    let table = read(text.as_bytes(), &ReadOptions::default()).unwrap();
    check_account(&table);
    assert_eq!((table.account.rows, table.account.values), (rows, rows));
    assert_eq!((table.data.series().len(), table.variables.len()), (1000, 8));
    let series = &table.data.series()[7];
    assert_eq!((series.id.as_str(), series.times.len()), ("s7", 125));
    // Row 7 + 1000 (8 t + v) is the value of v at t.
    for (at, value) in series.values.iter().enumerate() {
        assert_eq!(*value, ((7 + 1000 * at) % 4096) as f64);
    }
}
