//! One stay: lines of time, parameter, value.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::VARIABLES;
use crate::data::error::{DataError, LineProblem};
use crate::data::gzip::lines;

const HEADER: &str = "Time,Parameter,Value";
const RECORD_ID: &[u8] = b"RecordID";
const TIME: &str = "HH:MM, from 00:00 to 48:00";

/// A value of a variable at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Minutes since admission.
    pub minute: u16,
    /// Index into [`VARIABLES`].
    pub variable: u8,
    /// Value in the units of the publisher.
    pub value: f32,
}

/// A stay in intensive care.
#[derive(Clone, Debug, PartialEq)]
pub struct Stay {
    /// Record id.
    pub id: u32,
    /// Measurements in the order of the file.
    pub measurements: Vec<Measurement>,
    /// Rows whose parameter has no name: set c has 2 403 of them, sets a and b none. They are passed over.
    pub nameless: usize,
}

impl Stay {
    /// Rows of the file, its header excluded: the record id, the measurements, and the rows without a name.
    pub fn rows(&self) -> usize {
        1 + self.measurements.len() + self.nameless
    }

    /// Reads the stay `id` from the text at `place`.
    pub(super) fn parse(id: u32, place: &str, text: &[u8]) -> Result<Self, DataError> {
        let mut lines = lines(text);
        let header = lines.next().map_or(&b""[..], |(_, header)| header);
        if header != HEADER.as_bytes() {
            return Err(DataError::line(
                place,
                1,
                LineProblem::Header { found: readable(header), expected: HEADER },
            ));
        }
        let mut measurements = Vec::with_capacity(text.len() / 14);
        let (mut last, mut has_id, mut nameless) = (1, false, 0);
        for (number, line) in lines {
            last = number;
            let row = Row::split(line).map_err(|problem| DataError::line(place, number, problem))?;
            if row.parameter == RECORD_ID {
                if has_id || row.value != id.to_string().as_bytes() {
                    let problem = LineProblem::RecordId { found: readable(row.value), expected: id };
                    return Err(DataError::line(place, number, problem));
                }
                has_id = true;
                continue;
            }
            if row.parameter.is_empty() {
                nameless += 1;
                continue;
            }
            measurements.push(row.measurement().map_err(|problem| DataError::line(place, number, problem))?);
        }
        if !has_id {
            let problem = LineProblem::RecordId { found: String::new(), expected: id };
            return Err(DataError::line(place, last, problem));
        }
        Ok(Stay { id, measurements, nameless })
    }
}

struct Row<'a> {
    time: &'a [u8],
    parameter: &'a [u8],
    value: &'a [u8],
}

impl<'a> Row<'a> {
    fn split(line: &'a [u8]) -> Result<Self, LineProblem> {
        let mut columns = line.split(|&byte| byte == b',');
        match (columns.next(), columns.next(), columns.next(), columns.next()) {
            (Some(time), Some(parameter), Some(value), None) => Ok(Row { time, parameter, value }),
            _ => {
                let found = line.split(|&byte| byte == b',').count();
                Err(LineProblem::Columns { found, expected: 3, text: readable(line) })
            }
        }
    }

    fn measurement(&self) -> Result<Measurement, LineProblem> {
        let minute = minutes(self.time)
            .ok_or_else(|| LineProblem::Time { value: readable(self.time), expected: TIME })?;
        let variable = *INDEX.get(self.parameter).ok_or_else(|| {
            let value = readable(self.parameter);
            let suggestion = stroock::run::nearest(&value, VARIABLES);
            LineProblem::UnknownName { what: "variable", value, suggestion }
        })?;
        let number = std::str::from_utf8(self.value).ok().and_then(|text| text.parse::<f32>().ok());
        let value = number
            .filter(|value| value.is_finite())
            .ok_or_else(|| LineProblem::NotANumber { column: "the value", value: readable(self.value) })?;
        Ok(Measurement { minute, variable, value })
    }
}

static INDEX: LazyLock<HashMap<&'static [u8], u8>> =
    LazyLock::new(|| VARIABLES.iter().zip(0..).map(|(name, index)| (name.as_bytes(), index)).collect());

/// Minutes of `HH:MM`.
fn minutes(time: &[u8]) -> Option<u16> {
    let &[h1, h0, b':', m1, m0] = time else { return None };
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    let (hours, minutes) = (10 * digit(h1)? + digit(h0)?, 10 * digit(m1)? + digit(m0)?);
    let total = 60 * hours + minutes;
    (minutes < 60 && total <= 48 * 60).then_some(total)
}

/// Text for a message, whatever it holds.
pub(super) fn readable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_nothing_else() {
        assert_eq!(minutes(b"00:00"), Some(0));
        assert_eq!(minutes(b"01:07"), Some(67));
        assert_eq!(minutes(b"48:00"), Some(2_880));
        for wrong in [&b"48:01"[..], b"00:60", b"1:07", b"01:7", b"", b"ab:cd", b"01-07", b"-1:07"] {
            assert_eq!(minutes(wrong), None);
        }
    }
}
