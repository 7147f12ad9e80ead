//! A data frame as comma-separated text.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Column, DataFrame, WriteError};
use crate::table::time::shortest;

impl DataFrame {
    /// Writes the data frame as CSV with a header: UTF-8, lines that end with `\n`, quotes where they are needed.
    ///
    /// Numbers are the shortest text that reads back as the same double; NaN is a blank.
    ///
    /// # Errors
    /// When the columns do not make a table, or the writer fails.
    pub fn to_csv(&self, writer: impl Write) -> Result<(), WriteError> {
        self.rows()?;
        let mut out = csv::Writer::from_writer(writer);
        out.write_record(&self.names).map_err(into_io)?;
        self.write_rows(&mut out)
    }

    /// The rows without a header, to be put behind others of the same columns.
    ///
    /// # Errors
    /// As [`DataFrame::to_csv`].
    pub fn rows_to_csv(&self, writer: impl Write) -> Result<(), WriteError> {
        self.write_rows(&mut csv::Writer::from_writer(writer))
    }

    fn write_rows(&self, out: &mut csv::Writer<impl Write>) -> Result<(), WriteError> {
        for row in 0..self.rows()? {
            for column in &self.columns {
                let cell: Cow<'_, str> = match column {
                    Column::Text(texts) => Cow::from(&texts[row]),
                    Column::Number(numbers) if numbers[row].is_nan() => "".into(),
                    Column::Number(numbers) => shortest(numbers[row]).into(),
                    Column::Count(counts) => counts[row].to_string().into(),
                };
                out.write_field(cell.as_bytes()).map_err(into_io)?;
            }
            out.write_record(None::<&[u8]>).map_err(into_io)?;
        }
        out.flush()?;
        Ok(())
    }
}

fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
