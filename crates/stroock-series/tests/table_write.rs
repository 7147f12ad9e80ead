//! Predictions are written so that they read back the same, and never over a file that is there.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use stroock_series::table::{Column, DataFrame, ReadOptions, Table, WriteError};

fn data_frame(texts: Vec<String>, numbers: Vec<f64>, counts: Vec<i64>) -> DataFrame {
    DataFrame {
        names: vec!["id".into(), "Wert, in µg".into(), "n".into()],
        columns: vec![Column::Text(texts), Column::Number(numbers), Column::Count(counts)],
    }
}

fn small() -> DataFrame {
    data_frame(vec!["a".into(), "b".into()], vec![0.1, f64::NAN], vec![1, -2])
}

fn read_csv(text: &[u8]) -> DataFrame {
    let mut reader = csv::Reader::from_reader(text);
    let names = reader.headers().unwrap().iter().map(String::from).collect();
    let (mut texts, mut numbers, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.unwrap();
        texts.push(record[0].to_string());
        numbers.push(if record[1].is_empty() { f64::NAN } else { record[1].parse().unwrap() });
        counts.push(record[2].parse().unwrap());
    }
    DataFrame { names, columns: vec![Column::Text(texts), Column::Number(numbers), Column::Count(counts)] }
}

fn read_parquet(path: &Path) -> DataFrame {
    let builder = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).unwrap()).unwrap();
    let names = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let (mut texts, mut numbers, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for batch in builder.build().unwrap() {
        let batch = batch.unwrap();
        texts.extend(batch.column(0).as_string::<i32>().iter().map(|text| text.unwrap().to_string()));
        let column = batch.column(1).as_primitive::<Float64Type>();
        numbers.extend(column.iter().map(|number| number.unwrap_or(f64::NAN)));
        assert_eq!(column.null_count(), column.iter().filter(Option::is_none).count());
        counts.extend(batch.column(2).as_primitive::<Int64Type>().values().iter().copied());
    }
    DataFrame { names, columns: vec![Column::Text(texts), Column::Number(numbers), Column::Count(counts)] }
}

/// Whether two sheets are the same to the bit, where NaN is NaN.
fn is_same(one: &DataFrame, other: &DataFrame) -> bool {
    let bits = |numbers: &[f64]| -> Vec<u64> {
        numbers.iter().map(|number| if number.is_nan() { 1 } else { number.to_bits() }).collect()
    };
    one.names == other.names
        && one.columns.iter().zip(&other.columns).all(|pair| match pair {
            (Column::Number(one), Column::Number(other)) => bits(one) == bits(other),
            (one, other) => one == other,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_reads_back(
        rows in proptest::collection::vec(("\\PC*|[a,\"\r\n ]*", any::<f64>(), any::<i64>()), 0..50),
    ) {
        let made = data_frame(
            rows.iter().map(|row| row.0.clone()).collect(),
            rows.iter().map(|row| row.1).collect(),
            rows.iter().map(|row| row.2).collect(),
        );
        let mut text = Vec::new();
        made.to_csv(&mut text).unwrap();
        prop_assert!(is_same(&read_csv(&text), &made));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.parquet");
        made.save(&path).unwrap();
        prop_assert!(is_same(&read_parquet(&path), &made));
    }
}

#[test]
fn what_is_written_is_a_table_again() {
    let values: Vec<f64> =
        (0..60).map(|index| (index as f64 * 0.37).sin() * 10_f64.powi(index % 30 - 15)).collect();
    let cells = |shift: usize| -> Vec<f64> {
        (0..30).map(|row| if row % 4 == shift { f64::NAN } else { values[row + 30 * shift] }).collect()
    };
    let times: Vec<f64> = (0..30).map(|row| f64::from(row) * 0.1 + 0.3).collect();
    let made = DataFrame {
        names: ["id", "time", "x, in µg", "y"].map(String::from).to_vec(),
        columns: vec![
            Column::Text((0..30).map(|row| format!("s \"{}\"", row / 10)).collect()),
            Column::Number(times.clone()),
            Column::Number(cells(0)),
            Column::Number(cells(1)),
        ],
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["made.csv", "made.csv.gz", "made.parquet"] {
        let path = folder.path().join(name);
        made.save(&path).unwrap();
        let table = Table::read(&[path], &ReadOptions::default()).unwrap();
        assert_eq!(
            table.variables.iter().map(|variable| &variable.name).collect::<Vec<_>>(),
            ["x, in µg", "y"]
        );
        for (index, series) in table.data.series().iter().enumerate() {
            assert_eq!(series.id, format!("s \"{index}\""));
            assert_eq!(series.times, times[10 * index..10 * index + 10]);
            for row in 0..10 {
                for channel in 0..2 {
                    let place = 10 * index + row;
                    assert_eq!(series.is_observed(2, row, channel), place % 4 != channel);
                    if place % 4 != channel {
                        assert_eq!(series.values[2 * row + channel], values[place + 30 * channel]);
                    }
                }
            }
        }
        assert_eq!(table.data.series().len(), 3);
    }
}

#[test]
fn numbers_are_short_texts() {
    let numbers = vec![0.1, 36.6, 1e300, -2.5e-7, 1e15, 3.0, f64::NAN, -0.0, f64::INFINITY];
    let made = DataFrame { names: vec!["x".into()], columns: vec![Column::Number(numbers)] };
    let mut text = Vec::new();
    made.to_csv(&mut text).unwrap();
    let expected = "x\n0.1\n36.6\n1e300\n-2.5e-7\n1000000000000000\n3\n\"\"\n-0\ninf\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn the_ending_of_the_name_chooses_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    small().save(&at("plain.csv")).unwrap();
    assert!(is_same(&read_csv(&fs::read(at("plain.csv")).unwrap()), &small()));
    small().save(&at("packed.CSV.gz")).unwrap();
    let mut text = Vec::new();
    let packed = fs::File::open(at("packed.CSV.gz")).unwrap();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    assert!(is_same(&read_csv(&text), &small()));
    small().save(&at("columns.parquet")).unwrap();
    assert!(is_same(&read_parquet(&at("columns.parquet")), &small()));
    for name in ["answer.xlsx", "answer", ".."] {
        assert!(matches!(small().save_over(&at(name)), Err(WriteError::Format { .. })), "{name}");
    }
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["columns.parquet", "packed.CSV.gz", "plain.csv"]);
}

#[test]
fn files_are_replaced_only_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.csv");
    fs::write(&path, "precious").unwrap();
    let error = small().save(&path).unwrap_err();
    assert!(matches!(error, WriteError::Exists { .. }));
    assert!(error.to_string().contains("answer.csv"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    small().save_over(&path).unwrap();
    assert!(is_same(&read_csv(&fs::read(&path).unwrap()), &small()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no").join("answer.csv");
    assert!(matches!(small().save(&nowhere), Err(WriteError::File { .. })));
}

#[test]
fn what_is_no_table_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.csv");
    let mut uneven = small();
    uneven.columns[1] = Column::Number(vec![1.0]);
    assert!(matches!(uneven.save(&path), Err(WriteError::Rows { expected: 2, actual: 1, .. })));
    let mut unnamed = small();
    unnamed.names.pop();
    assert!(matches!(unnamed.save(&path), Err(WriteError::Names { names: 2, columns: 3 })));
    let mut twice = small();
    twice.names[2] = "id".into();
    assert!(matches!(twice.save(&path), Err(WriteError::Name { name }) if name == "id"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("disk full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(small().to_csv(Full).unwrap_err().to_string().contains("disk full"));
    assert!(small().to_parquet(Full).unwrap_err().to_string().contains("disk full"));
}

#[test]
fn a_sheet_of_many_parts_reads_back() {
    let count = 150_000;
    let texts = (0..count).map(|row| format!("s{}", row / 1000)).collect();
    let numbers = (0..count).map(|row| if row % 7 == 0 { f64::NAN } else { row as f64 * 0.1 }).collect();
    let made = data_frame(texts, numbers, (0..count).collect());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.parquet");
    made.save(&path).unwrap();
    assert!(is_same(&read_parquet(&path), &made));
}
