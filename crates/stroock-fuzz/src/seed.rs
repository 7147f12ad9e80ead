//! The first inputs of every target, made here: nothing of anyone's data is among them.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray, types::Int32Type,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as Codec;
use parquet::file::properties::WriterProperties;
use stroock_kernels::noise::philox;

/// An input to start from.
pub struct Seed {
    /// Name of the target.
    pub target: &'static str,
    /// Name of the file.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
}

const TABLES: [(&str, &str); 10] = [
    ("long", "id,time,variable,value\na,0,x,1.5\na,1,y,2\nb,0.5,x,\nb,2,y,3\n"),
    ("wide", "patient,hours,pulse,temp,label\na,0,80,,ill\na,1.5,92,37.1,ill\nb,0.3,NA,36.5,well\n"),
    ("dates", "date;x;y\n31.01.2024 14:05;1,5;2\n01.02.2024 14:05;2,5;\n02.02.2024 14:05;;4\n"),
    ("parts", "year,month,day,hour,x\n2024,1,31,0,1\n2024,2,1,12,2\n2024,2,2,0,3\n"),
    ("clock", "day\tclock\tx\n2024-01-31\t14:05\t1\n2024-02-01\t06:00\t2\n"),
    ("months", "ds|unique_id|y\n2024-01|a|1\n2024-02|a|2\n2024-03|a|3\n2024-01|b|1\n"),
    ("zones", "time,x\n2024-01-31T14:05:00Z,1\n2024-01-31T15:05:00+05:45,2\n"),
    ("quoted", "\"id\",\"time\",\"a,b\"\r\n\"x\ny\",1,\"2\"\r\n\"x\ny\",2,\"\"\"3\"\"\"\r\n"),
    ("numbers", "t,x\n0,1e308\n1,-1e-320\n2,NaN\n3,inf\n4,1_000\n"),
    ("ragged", "t,x\n0,1,2\n1\n,\n\n2,3\n"),
];

const DATES: [&str; 16] = [
    "2024-01-31 14:05",
    "31.01.2024 14:05",
    "1/31/2024 2:05 PM",
    "20240131",
    "2024-01",
    "2024Q1",
    "2024",
    "Jan 31, 2024",
    "2024-01-31T14:05:00.123456+05:45",
    "47:30",
    "15min",
    "1.5e3",
    "-9999-01-01",
    "9999-12-31T23:59:59.999999Z",
    "2024M1",
    "1e18",
];

/// All seeds of this build.
pub fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    let mut add =
        |target, name: &str, content: Vec<u8>| all.push(Seed { target, name: name.to_owned(), content });
    for (name, text) in TABLES {
        add("csv", name, text.into());
        add("gzip-csv", name, [&[200, 255, 0], text.as_bytes()].concat());
    }
    add("gzip-csv", "compressed", compressed(TABLES[0].1.as_bytes()));
    let twice = [compressed(TABLES[0].1.as_bytes()), compressed(b"a,7,x,1\n")].concat();
    add("gzip-csv", "members", twice);
    for (name, codec) in [
        ("plain", Codec::UNCOMPRESSED),
        ("snappy", Codec::SNAPPY),
        ("gzip", Codec::GZIP(Default::default())),
        ("zstd", Codec::ZSTD(Default::default())),
        ("lz4", Codec::LZ4_RAW),
        ("brotli", Codec::BROTLI(Default::default())),
    ] {
        add("parquet", name, parquet(codec));
    }
    for (choice, text) in DATES.iter().enumerate() {
        add("dates", &format!("date-{choice}"), [&[choice as u8], text.as_bytes()].concat());
    }
    for target in ["columns", "arrow", "path", "attention", "gru", "start"] {
        for number in 0..8 {
            add(target, &format!("random-{number}"), random(number, 128 << (number % 4)));
        }
    }
    #[cfg(feature = "models")]
    crate::models::seeds(&mut add);
    #[cfg(feature = "models")]
    crate::data::seeds(&mut add);
    all
}

/// Bytes that depend on the number alone.
fn random(number: u32, count: usize) -> Vec<u8> {
    // Zeros are the exceptions in most targets, and one in 256 is enough of them.
    (0..count).map(|i| philox([i as u32, number, 0, 0], [0x5eed, 7])[0] as u8).collect()
}

fn compressed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// A table of every kind of column in a few rows.
fn parquet(codec: Codec) -> Vec<u8> {
    let ids: DictionaryArray<Int32Type> = ["a", "a", "b"].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(ids)),
        ("time", Arc::new(TimestampMillisecondArray::from(vec![0, 1000, 500]).with_timezone("UTC"))),
        ("x", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(2.5)]))),
        ("count", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("on", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("note", Arc::new(StringArray::from(vec![Some("n"), None, Some("m")]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    );
    let batch = batch.expect("columns have one length");
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))
        .expect("the schema can be written");
    writer.write(&batch).expect("the rows can be written");
    writer.into_inner().expect("the file can be finished")
}
