//! Tables in Arrow's terms: what comes from data frames, and what goes back to them.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, PrimitiveArray, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::concat::concat_batches;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyString};
use stroock::series::table::{Column, DataFrame, Table, TimeScale};

use crate::error::wrong;

/// Rows that are looked at to find out what the columns are; they must be in the first batch.
const AHEAD: usize = 1000;

/// A table in memory: batches with the same columns.
#[pyclass(frozen, module = "stroock._stroock")]
pub struct Frame {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

fn of_arrow(error: ArrowError) -> PyErr {
    wrong(format!("the table cannot be read: {error}"))
}

impl Frame {
    /// A frame whose first batch has enough rows to be looked at.
    fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> PyResult<Self> {
        let is_short = batches.len() > 1 && batches[0].num_rows() < AHEAD;
        let batches = match is_short {
            true => vec![concat_batches(&schema, &batches).map_err(of_arrow)?],
            false => batches,
        };
        Ok(Self { schema, batches })
    }

    /// What the columns of series and times were made of, so that results can be made of the same.
    pub fn kinds(&self, table: &Table) -> Kinds {
        let columns = &table.columns;
        let kind = |name: &String| {
            let field = self.schema.fields().iter().find(|field| field.name().trim() == name)?;
            Some(field.data_type().clone())
        };
        let time = match columns.time.as_slice() {
            [only] => kind(only),
            _ => None,
        };
        let id = columns.id.as_ref().and_then(kind);
        Kinds { id_is_integer: id.is_some_and(|kind| kind.is_integer()), time, zone: zone_of(&table.time) }
    }
}

/// What the columns of series and times of a table were made of.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    id_is_integer: bool,
    time: Option<DataType>,
    /// Zone of the clock on the wall, where times have none.
    zone: Option<String>,
}

fn zone_of(scale: &TimeScale) -> Option<String> {
    match scale {
        TimeScale::Date { zone, .. } => Some(zone.clone()),
        TimeScale::Number => None,
    }
}

impl Kinds {
    /// Instants in the zone of a model, where no table says how times are written.
    pub fn of_scale(scale: &TimeScale) -> Self {
        let time = match scale {
            TimeScale::Date { zone, .. } => {
                Some(DataType::Timestamp(TimeUnit::Microsecond, Some(zone.as_str().into())))
            }
            TimeScale::Number => None,
        };
        Self { id_is_integer: false, time, zone: zone_of(scale) }
    }

    /// A data frame of the library as a table whose series and times are of these kinds; `names` are the columns of both.
    pub fn frame(
        &self,
        data_frame: DataFrame,
        names: &(String, String),
        scale: &TimeScale,
    ) -> PyResult<Frame> {
        let DataFrame { names: columns, columns: contents } = data_frame;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (name, column) in columns.iter().zip(contents) {
            arrays.push(match column {
                Column::Number(numbers) => Arc::new(Float64Array::from(numbers)),
                Column::Count(counts) => Arc::new(Int64Array::from(counts)),
                Column::Text(texts) if *name == names.0 && self.id_is_integer => integers(texts),
                Column::Text(texts) if *name == names.1 => match self.times(&texts, scale) {
                    Some(times) => times,
                    None => Arc::new(StringArray::from(texts)),
                },
                Column::Text(texts) => Arc::new(StringArray::from(texts)),
            });
        }
        let fields: Vec<Field> = columns
            .iter()
            .zip(&arrays)
            .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(of_arrow)?;
        Ok(Frame { schema, batches: vec![batch] })
    }

    /// Times that are written as texts, in the kind of the column they came from; `None` where they stay texts.
    fn times(&self, texts: &[String], scale: &TimeScale) -> Option<ArrayRef> {
        if !matches!(scale, TimeScale::Date { .. }) {
            return None;
        }
        let zone = TimeScale::date(self.zone.as_deref().unwrap_or("UTC"));
        let seconds = |text: &String, is_local: bool| match is_local {
            // The clock on the wall of the table, which need not be that of the model, as if it were in UTC.
            true => TimeScale::date("UTC").parse(without_offset(&zone.write(scale.parse(text)?))),
            false => scale.parse(text),
        };
        match self.time.as_ref()? {
            DataType::Timestamp(unit, zone) => {
                let is_local = zone.is_none();
                let all: Option<Vec<f64>> = texts.iter().map(|text| seconds(text, is_local)).collect();
                let all = all?;
                // Times are known to the microsecond.
                let micros = all.iter().map(|seconds| (seconds * 1e6).round() as i64);
                let zone = zone.clone();
                Some(match unit {
                    TimeUnit::Second if all.iter().all(|seconds| seconds.fract() == 0.0) => {
                        stamps::<TimestampSecondType>(micros.map(|micros| micros.div_euclid(1_000_000)), zone)
                    }
                    TimeUnit::Millisecond if all.iter().all(|seconds| (seconds * 1e3).fract() == 0.0) => {
                        stamps::<TimestampMillisecondType>(
                            micros.map(|micros| micros.div_euclid(1_000)),
                            zone,
                        )
                    }
                    TimeUnit::Nanosecond if all.iter().all(|seconds| seconds.abs() < 9.2e9) => {
                        stamps::<TimestampNanosecondType>(micros.map(|micros| micros * 1_000), zone)
                    }
                    _ => stamps::<TimestampMicrosecondType>(micros, zone),
                })
            }
            DataType::Date32 | DataType::Date64 => {
                let all: Option<Vec<f64>> = texts.iter().map(|text| seconds(text, true)).collect();
                let all = all?;
                match all.iter().all(|seconds| seconds % 86_400.0 == 0.0) {
                    true => Some(Arc::new(Date32Array::from_iter_values(
                        all.iter().map(|seconds| (seconds / 86_400.0) as i32),
                    ))),
                    false => {
                        let micros = all.iter().map(|seconds| (seconds * 1e6).round() as i64);
                        Some(stamps::<TimestampMicrosecondType>(micros, None))
                    }
                }
            }
            _ => None,
        }
    }
}

/// A date without the offset from UTC at its end.
fn without_offset(text: &str) -> &str {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let has_offset = text.contains('T')
        && text.len() > 6
        && text.is_char_boundary(text.len() - 6)
        && text[text.len() - 6..].starts_with(['+', '-']);
    if has_offset { &text[..text.len() - 6] } else { text }
}

fn stamps<T: ArrowTimestampType>(values: impl Iterator<Item = i64>, zone: Option<Arc<str>>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(values).with_timezone_opt(zone))
}

/// Whole numbers that are written as texts; the texts where one of them is none.
fn integers(texts: Vec<String>) -> ArrayRef {
    match texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<i64>>>() {
        Some(numbers) => Arc::new(Int64Array::from(numbers)),
        None => Arc::new(StringArray::from(texts)),
    }
}

/// Name, kind, zone and content of a column.
type NamedColumn<'py> = (String, String, Option<String>, Bound<'py, PyAny>);

#[pymethods]
impl Frame {
    /// A table from any object of the Arrow PyCapsule interface; nothing is copied that need not be.
    #[staticmethod]
    fn from_stream(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name holds a stream, which is taken out of it; what is left is marked as released.
        let reader =
            unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast()) }.map_err(of_arrow)?;
        let (schema, batches) = py.detach(|| {
            let schema = arrow_array::RecordBatchReader::schema(&reader);
            (schema, reader.collect::<Result<Vec<_>, _>>())
        });
        Frame::new(schema, batches.map_err(of_arrow)?)
    }

    /// A table from columns: a name and what it is made of (`number`, `integer`, `bool`, `text`, or a unit of time with
    /// `zone`), and an array of NumPy or a list of texts.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, String, Option<String>, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (name, kind, zone, content) in columns {
            let array =
                column(&kind, zone, &content).map_err(|error| wrong(format!("column `{name}`: {error}")))?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        if let Some(odd) = arrays.iter().position(|array| array.len() != arrays[0].len()) {
            let (name, length) = (fields[odd].name(), arrays[odd].len());
            let (first, rows) = (fields[0].name(), arrays[0].len());
            return Err(wrong(format!("column `{name}` has {length} entries, but `{first}` has {rows}")));
        }
        let schema = Arc::new(Schema::new(fields));
        let options = arrow_array::RecordBatchOptions::new()
            .with_row_count(Some(arrays.first().map_or(0, |a| a.len())));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(of_arrow)?;
        Ok(Frame { schema, batches: vec![batch] })
    }

    /// The table for others that know the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types may be asked for, but need not be given.
        let _ = requested_schema;
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The columns, each with its name, what it is made of, its zone, and an array of NumPy or a list of texts.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<NamedColumn<'py>>> {
        let all = concat_batches(&self.schema, &self.batches).map_err(of_arrow)?;
        let mut columns = Vec::new();
        for (field, array) in self.schema.fields().iter().zip(all.columns()) {
            let (kind, zone, content) = content(py, array)?;
            columns.push((field.name().clone(), kind.to_owned(), zone, content));
        }
        Ok(columns)
    }
}

/// A column of a table from what Python has.
fn column(kind: &str, zone: Option<String>, content: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let whole =
        || -> PyResult<Vec<i64>> { Ok(content.cast::<PyArray1<i64>>()?.try_readonly()?.as_array().to_vec()) };
    macro_rules! times {
        ($kind:ty) => {{
            // The smallest number is NumPy's mark of no time.
            let values = whole()?.into_iter().map(|time| (time != i64::MIN).then_some(time));
            let array: PrimitiveArray<$kind> = values.collect();
            Arc::new(array.with_timezone_opt(zone))
        }};
    }
    Ok(match kind {
        "number" => {
            let numbers = content.cast::<PyArray1<f64>>()?.try_readonly()?;
            Arc::new(Float64Array::from(numbers.as_array().to_vec()))
        }
        "integer" => Arc::new(Int64Array::from(whole()?)),
        "bool" => {
            let truths = content.cast::<PyArray1<bool>>()?.try_readonly()?;
            Arc::new(BooleanArray::from(truths.as_array().to_vec()))
        }
        "text" => {
            let mut texts = LargeStringBuilder::new();
            for text in content.cast::<PyList>()? {
                match text.is_none() {
                    true => texts.append_null(),
                    false => texts.append_value(text.cast::<PyString>()?.to_cow()?),
                }
            }
            Arc::new(texts.finish())
        }
        "s" => times!(TimestampSecondType),
        "ms" => times!(TimestampMillisecondType),
        "us" => times!(TimestampMicrosecondType),
        "ns" => times!(TimestampNanosecondType),
        other => return Err(wrong(format!("no column is made of `{other}`"))),
    })
}

/// A column for Python: what it is made of, its zone, its contents.
fn content<'py>(
    py: Python<'py>,
    array: &ArrayRef,
) -> PyResult<(&'static str, Option<String>, Bound<'py, PyAny>)> {
    macro_rules! times {
        ($kind:ty, $unit:literal, $zone:expr) => {{
            let values = array.as_primitive::<$kind>().values().to_vec();
            ($unit, $zone.as_ref().map(|zone| zone.to_string()), values.into_pyarray(py).into_any())
        }};
    }
    Ok(match array.data_type() {
        DataType::Float64 => (
            "number",
            None,
            array.as_primitive::<Float64Type>().values().to_vec().into_pyarray(py).into_any(),
        ),
        DataType::Int64 => {
            ("integer", None, array.as_primitive::<Int64Type>().values().to_vec().into_pyarray(py).into_any())
        }
        DataType::Utf8 => ("text", None, PyList::new(py, array.as_string::<i32>().iter())?.into_any()),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().values().iter().map(|&day| i64::from(day));
            ("D", None, days.collect::<Vec<i64>>().into_pyarray(py).into_any())
        }
        DataType::Timestamp(TimeUnit::Second, zone) => times!(TimestampSecondType, "s", zone),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => times!(TimestampMillisecondType, "ms", zone),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => times!(TimestampMicrosecondType, "us", zone),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => times!(TimestampNanosecondType, "ns", zone),
        other => return Err(wrong(format!("columns of {other} are not given out"))),
    })
}
