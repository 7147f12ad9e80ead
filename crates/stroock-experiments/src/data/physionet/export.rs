//! Stays as a plain table, for tools that read tables.

use std::io::{self, Write};

use super::{DESCRIPTORS, Stay, VARIABLES};

/// The publisher's code for a descriptor that is not known.
const UNKNOWN: f32 = -1.0;

/// Writes stays as CSV in the long form, `id,hour,variable,value`, in the order of the files, and gives the number of
/// rows. Descriptors that are not known are left out.
///
/// ```
/// use stroock_experiments::data::physionet::{Measurement, Stay, write_long};
/// let measurement = Measurement { minute: 90, variable: 19, value: 73.0 };
/// let stay = Stay { id: 132539, measurements: vec![measurement], nameless: 0 };
/// let mut text = Vec::new();
/// assert_eq!(write_long(&[stay], &mut text)?, 1);
/// assert_eq!(text, b"id,hour,variable,value\n132539,1.5,HR,73\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When the table cannot be written.
pub fn write_long(stays: &[Stay], mut out: impl Write) -> io::Result<usize> {
    writeln!(out, "id,hour,variable,value")?;
    let mut rows = 0;
    for stay in stays {
        for measurement in &stay.measurements {
            let variable = usize::from(measurement.variable);
            if variable < DESCRIPTORS && measurement.value == UNKNOWN {
                continue;
            }
            let hour = f64::from(measurement.minute) / 60.0;
            writeln!(out, "{},{hour},{},{}", stay.id, VARIABLES[variable], measurement.value)?;
            rows += 1;
        }
    }
    Ok(rows)
}
