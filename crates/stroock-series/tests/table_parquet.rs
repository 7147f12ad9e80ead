//! Tables from Parquet files.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, DictionaryArray, Float32Array, Float64Array,
    Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    UInt8Array, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use stroock_series::Labels;
use stroock_series::table::{ReadOptions, Table, TableError, TimeScale};
use tempfile::TempDir;

fn write(name: &str, columns: Vec<(&str, ArrayRef)>, group: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join(name);
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .expect("columns of one length");
    let file = std::fs::File::create(&path).expect("a file for the test");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("a batch");
    writer.close().expect("a footer");
    (folder, path)
}

fn read_with(columns: Vec<(&str, ArrayRef)>, options: &ReadOptions) -> Result<Table, TableError> {
    let (_folder, path) = write("table.parquet", columns, 1000);
    Table::read(&[path], options)
}

fn read(columns: Vec<(&str, ArrayRef)>) -> Result<Table, TableError> {
    read_with(columns, &ReadOptions::default())
}

fn numbers(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

#[test]
fn every_kind_of_column_is_read() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![7, 7, 8]))),
        ("time", Arc::new(Float32Array::from(vec![1.5, 0.5, 0.0]))),
        ("whole", Arc::new(Int64Array::from(vec![Some(3), None, Some(-4)]))),
        ("byte", Arc::new(UInt8Array::from(vec![1, 2, 255]))),
        ("large", Arc::new(UInt64Array::from(vec![1, 2, u64::MAX]))),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("text", Arc::new(StringArray::from(vec!["1.25", "NA", " 2 "]))),
        ("real", numbers(&[f64::NAN, 1.0, 2.0])),
    ];
    let table = read(columns).unwrap();
    let [first, second] = table.data.series() else { panic!("two series") };
    assert_eq!((first.id.as_str(), second.id.as_str()), ("7", "8"));
    assert_eq!((&first.times[..], &second.times[..]), (&[0.5, 1.5][..], &[0.0][..]));
    assert_eq!(first.values, [0.0, 2.0, 2.0, 0.0, 0.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.25, 0.0]);
    let observed = [false, true, true, true, false, true, true, true, true, true, true, false];
    assert_eq!(first.observed.as_deref(), Some(&observed[..]));
    assert_eq!(second.values, [-4.0, 255.0, u64::MAX as f64, 0.0, 2.0, 2.0]);
    assert_eq!((table.account.rows, table.account.values), (3, 14));
}

#[test]
fn every_kind_of_text_is_a_name() {
    let words = ["a b", "ü", "a b"];
    let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
    let kinds: [ArrayRef; 4] = [
        Arc::new(StringArray::from(words.to_vec())),
        Arc::new(LargeStringArray::from(words.to_vec())),
        Arc::new(StringViewArray::from(words.to_vec())),
        Arc::new(dictionary),
    ];
    for kind in kinds {
        let columns = vec![
            ("id", kind.clone()),
            ("time", numbers(&[0., 0., 1.])),
            ("x", numbers(&[1., 2., 3.])),
            ("c", kind),
        ];
        let options = ReadOptions { label: Some("c".into()), ..ReadOptions::default() };
        let table = read_with(columns, &options).unwrap();
        let ids: Vec<_> = table.data.series().iter().map(|series| series.id.as_str()).collect();
        assert_eq!(ids, ["a b", "ü"]);
        assert_eq!(table.data.series()[1].labels, Labels::Class(1));
    }
}

#[test]
fn every_unit_of_time_is_seconds() {
    let kinds: [ArrayRef; 4] = [
        Arc::new(TimestampSecondArray::from(vec![86_400, 172_800])),
        Arc::new(TimestampMillisecondArray::from(vec![86_400_000, 172_800_000])),
        Arc::new(TimestampMicrosecondArray::from(vec![86_400_000_000, 172_800_000_000])),
        Arc::new(TimestampNanosecondArray::from(vec![86_400_000_000_000, 172_800_000_000_000])),
    ];
    let values = || numbers(&[1.0, 2.0]);
    for kind in kinds {
        let table = read(vec![("when", kind), ("x", values())]).unwrap();
        assert_eq!(table.columns.time, ["when"], "dates are times whatever their name");
        assert_eq!(table.data.series()[0].times, [86_400.0, 172_800.0]);
        assert_eq!(table.time, TimeScale::date("UTC"));
    }
    let days: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    assert_eq!(
        read(vec![("day", days), ("x", values())]).unwrap().data.series()[0].times,
        [86_400.0, 172_800.0]
    );

    let vienna = ReadOptions { time_zone: Some("Europe/Vienna".into()), ..ReadOptions::default() };
    let local: ArrayRef = Arc::new(TimestampSecondArray::from(vec![3600, 7200]));
    let table = read_with(vec![("t", local), ("x", values())], &vienna).unwrap();
    assert_eq!(table.data.series()[0].times, [0.0, 3600.0], "a time without a zone is in the given one");
    let instant: ArrayRef =
        Arc::new(TimestampSecondArray::from(vec![3600, 7200]).with_timezone("Europe/Vienna"));
    let table = read(vec![("t", instant), ("x", values())]).unwrap();
    assert_eq!(table.data.series()[0].times, [3600.0, 7200.0], "a time with a zone is an instant");
    assert_eq!(table.time.write(3600.0), "1970-01-01T02:00:00+01:00");
}

#[test]
fn times_of_every_zone_are_instants() {
    for (zone, written) in [
        ("UTC", "1970-01-01T01:00:00Z"),
        ("+02:00", "1970-01-01T03:00:00+02:00"),
        ("Asia/Kolkata", "1970-01-01T06:30:00+05:30"),
        // A zone that is not known here is no reason to lose the instants.
        ("Mars/Base", "1970-01-01T01:00:00Z"),
    ] {
        let times: ArrayRef =
            Arc::new(TimestampMicrosecondArray::from(vec![3_600_000_000, 7_200_000_000]).with_timezone(zone));
        let table = read(vec![("at", times), ("x", numbers(&[1.0, 2.0]))]).unwrap();
        assert_eq!(table.data.series()[0].times, [3600.0, 7200.0], "{zone}");
        assert_eq!(table.time.write(3600.0), written);
    }
    // Fractions of every unit, before 1970 as well, and dates with milliseconds.
    let times: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![-500_000_000, 250_000_000]));
    assert_eq!(
        read(vec![("at", times), ("x", numbers(&[1.0, 2.0]))]).unwrap().data.series()[0].times,
        [-0.5, 0.25]
    );
    let days: ArrayRef = Arc::new(Date64Array::from(vec![-86_400_000, 86_400_000]));
    let table = read(vec![("at", days), ("x", numbers(&[1.0, 2.0]))]).unwrap();
    assert_eq!(table.data.series()[0].times, [-86_400.0, 86_400.0]);
    // Days as whole numbers, as in `20240131`.
    let days: ArrayRef = Arc::new(Int64Array::from(vec![19_700_102, 19_700_103]));
    let table = read(vec![("date", days), ("x", numbers(&[1.0, 2.0]))]).unwrap();
    assert_eq!(table.data.series()[0].times, [86_400.0, 172_800.0]);
}

#[test]
fn every_compression_is_read() {
    let columns = || vec![("time", numbers(&[0.0, 1.0, 2.0])), ("x", numbers(&[1.5, 2.5, 3.5]))];
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::BROTLI(BrotliLevel::default()),
    ] {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("table.parquet");
        let batch = RecordBatch::try_from_iter(columns()).expect("columns of one length");
        let file = std::fs::File::create(&path).expect("a file for the test");
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("a batch");
        writer.close().expect("a footer");
        let table = Table::read(&[path], &ReadOptions::default()).unwrap();
        assert_eq!(table.data.series()[0].values, [1.5, 2.5, 3.5], "{compression:?}");
    }
}

#[test]
fn long_tables_pass_through_many_batches() {
    let rows = 20_000_usize;
    let names: Vec<String> = (0..rows).map(|row| format!("v{}", row % 4)).collect();
    let times: Vec<f64> = (0..rows).map(|row| (row / 4) as f64).collect();
    let values: Vec<f64> = (0..rows).map(|row| row as f64).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time", numbers(&times)),
        ("variable", Arc::new(StringArray::from(names))),
        ("value", numbers(&values)),
    ];
    let table = read(columns).unwrap();
    let series = &table.data.series()[0];
    assert_eq!((series.id.as_str(), series.times.len(), series.observed.is_none()), ("table", 5000, true));
    assert!(series.values.iter().enumerate().all(|(at, value)| *value == at as f64));
}

#[test]
fn faults_are_named_by_row() {
    let mut values: Vec<f64> = (0..9000).map(f64::from).collect();
    values[8500] = f64::INFINITY;
    let times: Vec<f64> = (0..9000).map(f64::from).collect();
    let columns = || vec![("time", numbers(&times)), ("x", numbers(&values))];
    let message = read(columns()).unwrap_err().to_string();
    assert!(
        message.contains("table.parquet`, row 8501, column `x`: `inf` is not a finite number"),
        "{message}"
    );
    let options = ReadOptions { skip_bad_rows: true, ..ReadOptions::default() };
    let table = read_with(columns(), &options).unwrap();
    assert_eq!((table.account.rows, table.account.skipped, table.account.values), (9000, 1, 8999));
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]));
    let table = read(vec![("time", numbers(&[0.0])), ("x", numbers(&[1.0])), ("nested", list)]).unwrap();
    assert_eq!(table.columns.ignored, [("nested".to_owned(), "text, always `a nested value`".to_owned())]);
}

#[test]
fn damaged_files_are_refused() {
    let (folder, path) = write("table.pq", vec![("time", numbers(&[0.0])), ("x", numbers(&[1.0]))], 10);
    let bytes = std::fs::read(&path).unwrap();
    let renamed = folder.path().join("table");
    std::fs::write(&renamed, &bytes).unwrap();
    assert_eq!(
        Table::read(&[renamed], &ReadOptions::default()).unwrap().account.rows,
        1,
        "known by its first bytes"
    );
    for length in [0, 4, 8, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let message =
            Table::read(std::slice::from_ref(&path), &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains("table.pq` as Parquet"), "{message}");
    }
}
