//! A data frame as a Parquet file.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{Column, DataFrame, WriteError};

/// Rows that are turned into columns of the file at a time: a copy of these, and not of the data frame, is made.
const ROWS: usize = 1 << 16;

impl DataFrame {
    /// Writes the data frame as a Parquet file: text as UTF-8, numbers as doubles with null for NaN, counts as
    /// 64-bit integers, compressed with zstd.
    ///
    /// # Errors
    /// When the columns do not make a table, or the writer fails.
    pub fn to_parquet(&self, writer: impl Write + Send) -> Result<(), WriteError> {
        let mut out = self.begin_parquet(writer)?;
        self.append_parquet(&mut out)?;
        out.close()?;
        Ok(())
    }

    /// A Parquet file for rows of these columns.
    pub(super) fn begin_parquet<W: Write + Send>(&self, writer: W) -> Result<ArrowWriter<W>, WriteError> {
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        Ok(ArrowWriter::try_new(writer, self.schema(), Some(properties.build()))?)
    }

    fn schema(&self) -> SchemaRef {
        let fields = self.names.iter().zip(&self.columns).map(|(name, column)| match column {
            Column::Text(_) => Field::new(name, DataType::Utf8, false),
            Column::Number(_) => Field::new(name, DataType::Float64, true),
            Column::Count(_) => Field::new(name, DataType::Int64, false),
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Writes the rows into a file that was begun for their columns.
    pub(super) fn append_parquet<W: Write + Send>(&self, out: &mut ArrowWriter<W>) -> Result<(), WriteError> {
        let (rows, schema) = (self.rows()?, self.schema());
        for first in (0..rows).step_by(ROWS) {
            let end = rows.min(first + ROWS);
            let arrays = self.columns.iter().map(|column| array(column, first, end)).collect();
            out.write(&RecordBatch::try_new(schema.clone(), arrays).map_err(into_parquet)?)?;
        }
        Ok(())
    }
}

fn array(column: &Column, first: usize, end: usize) -> ArrayRef {
    match column {
        Column::Text(texts) => Arc::new(StringArray::from_iter_values(&texts[first..end])),
        Column::Number(numbers) => {
            let present = |number: &f64| Some(*number).filter(|number| !number.is_nan());
            Arc::new(numbers[first..end].iter().map(present).collect::<Float64Array>())
        }
        Column::Count(counts) => Arc::new(Int64Array::from_iter_values(counts[first..end].iter().copied())),
    }
}

fn into_parquet(error: ArrowError) -> ParquetError {
    ParquetError::External(Box::new(error))
}
