//! Arrow batches, as data frames of Python come.
//!
//! The Python package hands the batches of an Arrow stream on to [`Table::from_batches`], which is what is called here,
//! with batches of every kind of column. That the stream keeps to the C data interface has to be taken on trust: it is
//! made of pointers.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_schema::{Field, Schema};
use stroock_series::table::{Duplicates, ReadOptions, Table};

use super::exercise;

const NAMES: [&str; 10] = ["id", "time", "date", "variable", "value", "label", "x", "year", "", " x"];
const ZONES: [&str; 6] = ["UTC", "+01:00", "Europe/Vienna", "nowhere", "", "+99:99"];
const TEXTS: [&str; 9] = ["", "a", "b", "1.5", "2024-01-31", "NA", "1e400", "NaN", "31.01.2024 14:05"];

/// The input chooses columns and their cells.
pub fn run(data: &[u8]) {
    let _ = tried(&mut Unstructured::new(data));
}

fn tried(source: &mut Unstructured<'_>) -> Result<()> {
    let (columns, rows) = (source.int_in_range(1..=6)?, source.int_in_range(0..=12)?);
    let mut fields = Vec::new();
    let mut batches: [Vec<ArrayRef>; 2] = Default::default();
    for _ in 0..columns {
        let name = *source.choose(&NAMES)?;
        let kind = source.arbitrary::<u8>()? % KINDS;
        let zone = if source.arbitrary()? { Some(*source.choose(&ZONES)?) } else { None };
        let [first, second] = [column(source, kind, zone, rows)?, column(source, kind, zone, rows)?];
        fields.push(Field::new(name, first.data_type().clone(), true));
        batches[0].push(first);
        batches[1].push(second);
    }
    let schema = Arc::new(Schema::new(fields));
    let batches: Vec<RecordBatch> = batches
        .into_iter()
        .filter_map(|arrays| RecordBatch::try_new(schema.clone(), arrays).ok())
        .take(if source.arbitrary()? { 1 } else { 2 })
        .collect();
    let options = ReadOptions {
        skip_bad_rows: source.arbitrary()?,
        duplicates: *source.choose(&[Duplicates::Error, Duplicates::Last])?,
        ..ReadOptions::default()
    };
    exercise::used(Table::from_batches("frame", &schema, batches.clone(), &options));
    if let Ok((_, cells)) = Table::from_batches_with_cells("frame", &schema, batches, &options) {
        let _ = cells.data_frame(true).to_csv(Vec::new());
    }
    Ok(())
}

const KINDS: u8 = 26;

/// Cells that are there or not.
fn cells<T>(
    source: &mut Unstructured<'_>,
    rows: usize,
    mut cell: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    let mut next =
        || -> Result<Option<T>> { Ok(if source.ratio(1, 8)? { None } else { Some(cell(source)?) }) };
    (0..rows).map(|_| next()).collect()
}

fn column(source: &mut Unstructured<'_>, kind: u8, zone: Option<&str>, rows: usize) -> Result<ArrayRef> {
    macro_rules! numbers {
        ($array:ty, $number:ty) => {
            Arc::new(<$array>::from(cells(source, rows, |source| source.arbitrary::<$number>())?))
        };
    }
    macro_rules! small {
        ($array:ty, $number:ty) => {
            Arc::new(<$array>::from(cells(source, rows, |source| {
                Ok(<$number>::from(source.arbitrary::<u8>()?))
            })?))
        };
    }
    macro_rules! times {
        ($array:ty) => {
            Arc::new(
                <$array>::from(cells(source, rows, |source| source.arbitrary::<i64>())?)
                    .with_timezone_opt(zone),
            )
        };
    }
    let text = |source: &mut Unstructured<'_>| source.choose(&TEXTS).copied();
    Ok(match kind {
        0 | 1 => numbers!(Float64Array, f64),
        2 => numbers!(Float32Array, f32),
        3 => numbers!(Int64Array, i64),
        4 => small!(Int64Array, i64),
        5 => small!(Float64Array, f64),
        6 => small!(Int32Array, i32),
        7 => numbers!(UInt64Array, u64),
        8 => numbers!(Int8Array, i8),
        9 => numbers!(UInt32Array, u32),
        10 => numbers!(BooleanArray, bool),
        11 => times!(TimestampSecondArray),
        12 => times!(TimestampMillisecondArray),
        13 => times!(TimestampMicrosecondArray),
        14 => times!(TimestampNanosecondArray),
        15 => numbers!(Date32Array, i32),
        16 => numbers!(Date64Array, i64),
        17 => Arc::new(StringArray::from(cells(source, rows, text)?)),
        18 => Arc::new(LargeStringArray::from(cells(source, rows, text)?)),
        19 => Arc::new(StringViewArray::from(cells(source, rows, text)?)),
        20 => {
            let texts = cells(source, rows, text)?;
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>())
        }
        21 => {
            let bytes: Vec<Option<[u8; 3]>> = cells(source, rows, |source| source.arbitrary())?;
            Arc::new(BinaryArray::from_iter(bytes.iter().map(|bytes| bytes.as_ref())))
        }
        22 => {
            let array = Decimal128Array::from(cells(source, rows, |source| source.arbitrary::<i128>())?);
            Arc::new(
                array
                    .with_precision_and_scale(38, source.arbitrary::<i8>()?.clamp(-38, 38))
                    .unwrap_or_else(|_| Decimal128Array::from(vec![None::<i128>; rows])),
            )
        }
        23 => Arc::new(NullArray::new(rows)),
        24 => {
            let lists: Vec<Option<Vec<Option<i32>>>> = cells(source, rows, |_| Ok(vec![Some(1)]))?;
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
        }
        _ => numbers!(Time64NanosecondArray, i64),
    })
}
