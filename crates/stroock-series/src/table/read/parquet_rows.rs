//! The rows of a Parquet file.

use std::fs::File;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::arrow_rows::ArrowRows;
use super::guarded::guarded;
use super::parquet_headers::{are_pages_sound, is_footer_sound};
use crate::expansion;
use crate::table::TableError;

const BATCH: usize = 8192;
/// What is said of a file that makes its reader panic.
const DAMAGED: &str = "it is damaged: its parts contradict each other";

/// The rows of a Parquet file, batch by batch.
pub(super) fn open(file: String, mut opened: File) -> Result<ArrowRows, TableError> {
    let fault = |message: String| TableError::Parquet { file: file.clone(), message };
    let bytes = opened.metadata().map_err(TableError::io(&file))?.len();
    if !is_footer_sound(&mut opened).map_err(TableError::io(&file))? {
        return Err(fault(DAMAGED.into()));
    }
    let mut pages = opened.try_clone().map_err(TableError::io(&file))?;
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(opened))
        .ok_or_else(|| fault(DAMAGED.into()))?
        .map_err(|error| fault(error.to_string()))?;
    check_rows(&file, bytes, builder.metadata())?;
    for column in builder.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
        // Where it is may be as wrong as anything; then it panics.
        let (start, length) = guarded(|| column.byte_range()).ok_or_else(|| fault(DAMAGED.into()))?;
        if !are_pages_sound(&mut pages, start, length).map_err(TableError::io(&file))? {
            return Err(fault(DAMAGED.into()));
        }
    }
    let schema = builder.schema().clone();
    let reader = guarded(|| builder.with_batch_size(BATCH).build())
        .ok_or_else(|| fault(DAMAGED.into()))?
        .map_err(|error| fault(error.to_string()))?;
    ArrowRows::new(file, &schema, Box::new(Batches(Some(reader))))
}

/// Checks that the rows are not far more than a file of its size has: runs of equal values take no space, so that a file
/// of a kilobyte can announce any number of rows.
fn check_rows(file: &str, bytes: u64, metadata: &ParquetMetaData) -> Result<(), TableError> {
    let rows = metadata.row_groups().iter().map(|group| group.num_rows().max(0) as u64);
    let rows = rows.fold(0, u64::saturating_add);
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let expanded = rows.saturating_mul(columns as u64).saturating_mul(size_of::<f64>() as u64);
    match expanded <= expansion::limit(bytes) {
        true => Ok(()),
        false => {
            let (file, variable) = (file.to_owned(), expansion::VARIABLE);
            Err(TableError::TooManyRows { file, bytes, rows, columns, expanded, variable })
        }
    }
}

/// The batches of a file; none after one that cannot be read.
struct Batches(Option<ParquetRecordBatchReader>);

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.0.as_mut()?;
        let next = guarded(|| reader.next());
        if next.is_none() {
            self.0 = None;
        }
        next.unwrap_or_else(|| Some(Err(ArrowError::ParquetError(DAMAGED.into()))))
    }
}
