//! The rows of a Parquet file.

use std::fs::File;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow_rows::ArrowRows;
use crate::table::TableError;

const BATCH: usize = 8192;

/// The rows of a Parquet file, batch by batch.
pub(super) fn open(file: String, opened: File) -> Result<ArrowRows, TableError> {
    let fault = |message: String| TableError::Parquet { file: file.clone(), message };
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(opened).map_err(|error| fault(error.to_string()))?;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(BATCH).build().map_err(|error| fault(error.to_string()))?;
    ArrowRows::new(file, &schema, Box::new(reader))
}
