//! The rows of batches as Arrow has them, in memory or from a Parquet file.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use jiff::Timestamp;

use super::cell::Cell;
use super::rows::{AHEAD, Next, Rows, check_header};
use crate::table::TableError;

/// Batches with the same columns, one after the other.
pub(super) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// The rows of batches. What is looked at ahead of reading is in the first of them.
pub(super) struct ArrowRows {
    file: String,
    header: Vec<String>,
    zones: Vec<Option<String>>,
    batches: Batches,
    columns: Vec<Column>,
    /// Rows in the batches before this one.
    before: u64,
    /// Rows of this batch, and those of them that have been given out.
    rows: usize,
    given: usize,
}

impl ArrowRows {
    pub(super) fn new(file: String, schema: &Schema, batches: Batches) -> Result<Self, TableError> {
        let fields = schema.fields();
        let header: Vec<String> = fields.iter().map(|field| field.name().trim().to_owned()).collect();
        check_header(&file, &header)?;
        let zones = fields.iter().map(|field| match field.data_type() {
            DataType::Timestamp(_, zone) => zone.as_ref().map(|zone| zone.to_string()),
            _ => None,
        });
        let zones = zones.collect();
        let mut rows =
            ArrowRows { file, header, zones, batches, columns: Vec::new(), before: 0, rows: 0, given: 0 };
        rows.next_batch()?;
        Ok(rows)
    }

    /// Reads the next batch with rows; leaves none at the end.
    fn next_batch(&mut self) -> Result<(), TableError> {
        self.before += self.rows as u64;
        (self.rows, self.given) = (0, 0);
        while self.rows == 0 {
            let batch: RecordBatch = match self.batches.next() {
                None => return Ok(()),
                Some(Ok(batch)) => batch,
                Some(Err(error)) => {
                    let message = format!("{error} (after row {})", self.before);
                    return Err(TableError::Parquet { file: self.file.clone(), message });
                }
            };
            self.rows = batch.num_rows();
            self.columns = batch.columns().iter().map(Column::of).collect();
        }
        Ok(())
    }
}

impl Rows for ArrowRows {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn counts_rows(&self) -> bool {
        true
    }

    fn advance(&mut self) -> Result<Next, TableError> {
        if self.given == self.rows {
            self.next_batch()?;
            if self.rows == 0 {
                return Ok(Next::End);
            }
        }
        self.given += 1;
        Ok(Next::Row { line: self.before + self.given as u64 })
    }

    fn ahead(&self) -> usize {
        self.rows.min(AHEAD)
    }

    fn rewind(&mut self) {
        self.given = 0;
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match (self.columns.get(column), self.given.checked_sub(1)) {
            (Some(column), Some(row)) if row < self.rows => column.cell(row),
            _ => Cell::Null,
        }
    }

    fn zone(&self, column: usize) -> Option<&str> {
        self.zones.get(column)?.as_deref()
    }
}

/// A column of a batch. What the usual ones are made of is found out once, and not for every cell.
enum Column {
    Number(Float64Array),
    Integer(Int64Array),
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    /// Times, so many of their units a second, and whether they are instants.
    Time(Int64Array, i64, bool),
    Other(ArrayRef),
}

impl Column {
    fn of(array: &ArrayRef) -> Self {
        macro_rules! times {
            ($kind:ty, $per_second:expr, $zone:expr) => {{
                let units = array.as_primitive::<$kind>().reinterpret_cast::<Int64Type>();
                Column::Time(units, $per_second, $zone.is_some())
            }};
        }
        match array.data_type() {
            DataType::Float64 => Column::Number(array.as_primitive::<Float64Type>().clone()),
            DataType::Int64 => Column::Integer(array.as_primitive::<Int64Type>().clone()),
            DataType::Utf8 => Column::Text(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Column::LargeText(array.as_string::<i64>().clone()),
            DataType::Utf8View => Column::TextView(array.as_string_view().clone()),
            DataType::Timestamp(TimeUnit::Second, zone) => times!(TimestampSecondType, 1, zone),
            DataType::Timestamp(TimeUnit::Millisecond, zone) => times!(TimestampMillisecondType, 1_000, zone),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                times!(TimestampMicrosecondType, 1_000_000, zone)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                times!(TimestampNanosecondType, 1_000_000_000, zone)
            }
            _ => Column::Other(array.clone()),
        }
    }

    #[inline]
    fn cell(&self, row: usize) -> Cell<'_> {
        macro_rules! present {
            ($array:expr, $cell:expr) => {
                if $array.is_null(row) { Cell::Null } else { $cell($array.value(row)) }
            };
        }
        match self {
            Column::Number(array) => present!(array, Cell::Number),
            Column::Integer(array) => present!(array, Cell::Integer),
            Column::Text(array) => present!(array, text),
            Column::LargeText(array) => present!(array, text),
            Column::TextView(array) => present!(array, text),
            Column::Time(array, per_second, is_instant) => {
                present!(array, |units| time(units, *per_second, *is_instant))
            }
            Column::Other(array) => cell(array, row),
        }
    }
}

/// A cell of an array.
fn cell(array: &ArrayRef, row: usize) -> Cell<'_> {
    if array.is_null(row) {
        return Cell::Null;
    }
    macro_rules! number {
        ($kind:ty) => {
            Cell::Number(array.as_primitive::<$kind>().value(row) as f64)
        };
    }
    macro_rules! integer {
        ($kind:ty) => {
            Cell::Integer(i64::from(array.as_primitive::<$kind>().value(row)))
        };
    }
    match array.data_type() {
        DataType::Null => Cell::Null,
        DataType::Float64 => number!(Float64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float16 => Cell::Number(array.as_primitive::<Float16Type>().value(row).to_f64()),
        DataType::Int64 => integer!(Int64Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int8 => integer!(Int8Type),
        DataType::UInt32 => integer!(UInt32Type),
        DataType::UInt16 => integer!(UInt16Type),
        DataType::UInt8 => integer!(UInt8Type),
        DataType::UInt64 => {
            let value = array.as_primitive::<UInt64Type>().value(row);
            i64::try_from(value).map_or(Cell::Number(value as f64), Cell::Integer)
        }
        DataType::Boolean => Cell::Integer(i64::from(array.as_boolean().value(row))),
        DataType::Decimal128(_, scale) => {
            let value = array.as_primitive::<Decimal128Type>().value(row);
            Cell::Number(value as f64 / 10_f64.powi(i32::from(*scale)))
        }
        DataType::Utf8 => text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => text(array.as_string_view().value(row)),
        DataType::Dictionary(_, _) => match array.as_any_dictionary_opt() {
            None => Cell::Other("a dictionary"),
            Some(dictionary) => match key(dictionary.keys(), row) {
                Some(key) if key < dictionary.values().len() => cell(dictionary.values(), key),
                _ => Cell::Null,
            },
        },
        // Of a dictionary: others are known as times.
        DataType::Timestamp(_, _) => match Column::of(array) {
            Column::Time(array, per_second, is_instant) => time(array.value(row), per_second, is_instant),
            _ => Cell::Null,
        },
        DataType::Date32 => day(i64::from(array.as_primitive::<Date32Type>().value(row))),
        DataType::Date64 => day(array.as_primitive::<Date64Type>().value(row).div_euclid(86_400_000)),
        // Old writers do not mark their texts as such.
        DataType::Binary => Cell::Text(array.as_binary::<i32>().value(row).trim_ascii()),
        DataType::LargeBinary => Cell::Text(array.as_binary::<i64>().value(row).trim_ascii()),
        DataType::BinaryView => Cell::Text(array.as_binary_view().value(row).trim_ascii()),
        _ => Cell::Other("a nested value"),
    }
}

fn text(text: &str) -> Cell<'_> {
    Cell::Text(text.trim().as_bytes())
}

/// A key of a dictionary.
fn key(keys: &dyn Array, row: usize) -> Option<usize> {
    macro_rules! key {
        ($kind:ty) => {
            usize::try_from(keys.as_primitive::<$kind>().value(row)).ok()
        };
    }
    match keys.data_type() {
        DataType::Int8 => key!(Int8Type),
        DataType::Int16 => key!(Int16Type),
        DataType::Int32 => key!(Int32Type),
        DataType::Int64 => key!(Int64Type),
        DataType::UInt8 => key!(UInt8Type),
        DataType::UInt16 => key!(UInt16Type),
        DataType::UInt32 => key!(UInt32Type),
        DataType::UInt64 => key!(UInt64Type),
        _ => None,
    }
}

/// A time of so many units, where so many of them are a second.
fn time(units: i64, per_second: i64, is_instant: bool) -> Cell<'static> {
    match is_instant {
        true => {
            let nanoseconds = i128::from(units) * i128::from(1_000_000_000 / per_second);
            Cell::Instant(nanoseconds as f64 / 1e9)
        }
        false => local(units, per_second),
    }
}

/// A date and time of day without a zone, which Arrow counts as if it were in UTC; so many of its units are a second.
fn local(units: i64, per_second: i64) -> Cell<'static> {
    let nanoseconds = units.rem_euclid(per_second) * (1_000_000_000 / per_second);
    // Less than a second: it fits.
    match Timestamp::new(units.div_euclid(per_second), nanoseconds as i32) {
        Ok(timestamp) => Cell::Local(timestamp),
        Err(_) => Cell::Other("a date outside of the years -9999 to 9999"),
    }
}

fn day(days: i64) -> Cell<'static> {
    local(days.saturating_mul(86_400), 1)
}
