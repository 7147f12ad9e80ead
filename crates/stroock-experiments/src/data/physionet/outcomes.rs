//! What became of the patients.

use std::collections::HashMap;
use std::path::Path;

use stroock::series::{Dataset, Labels, Series};

use super::record::readable;
use crate::data::error::{DataError, LineProblem};
use crate::data::gzip;

const HEADER: &str = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death";
const COLUMNS: [&str; 6] =
    ["the record id", "SAPS-I", "SOFA", "the length of stay", "the survival", "the in-hospital death"];

/// The outcome of a stay. The code -1 of the publisher, for unknown, is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Record id.
    pub id: u32,
    /// Simplified acute physiology score.
    pub saps_i: Option<i32>,
    /// Sequential organ failure assessment score.
    pub sofa: Option<i32>,
    /// Days in hospital.
    pub length_of_stay: Option<i32>,
    /// Days from admission to death, where it was recorded (negative in one record).
    pub survival: Option<i32>,
    /// Whether the patient died in hospital.
    pub in_hospital_death: bool,
}

/// Reads a file of outcomes.
///
/// # Errors
/// When it cannot be read or a line is not as published.
pub fn read_outcomes(path: &Path) -> Result<Vec<Outcome>, DataError> {
    let place = path.display().to_string();
    let content = gzip::read(path)?;
    let mut lines = gzip::lines(&content);
    let header = lines.next().map_or(&b""[..], |(_, header)| header);
    if header != HEADER.as_bytes() {
        return Err(DataError::line(
            &place,
            1,
            LineProblem::Header { found: readable(header), expected: HEADER },
        ));
    }
    lines
        .map(|(number, line)| parse(line).map_err(|problem| DataError::line(&place, number, problem)))
        .collect()
}

/// A data set with in-hospital death as the class of every series: 1 for death, 0 for survival.
///
/// # Errors
/// When a series has no outcome.
pub fn with_outcomes(dataset: &Dataset, outcomes: &[Outcome]) -> Result<Dataset, DataError> {
    let deaths: HashMap<String, bool> =
        outcomes.iter().map(|outcome| (outcome.id.to_string(), outcome.in_hospital_death)).collect();
    let series = dataset.series().iter().map(|series| {
        let death = deaths.get(&series.id).ok_or_else(|| DataError::NoOutcome { id: series.id.clone() })?;
        Ok(Series { labels: Labels::Class((*death).into()), ..series.clone() })
    });
    Ok(Dataset::new(dataset.observation(), series.collect::<Result<_, DataError>>()?)?)
}

fn parse(line: &[u8]) -> Result<Outcome, LineProblem> {
    let text = std::str::from_utf8(line).map_err(|_| LineProblem::NotText)?;
    let columns: Vec<&str> = text.split(',').collect();
    let &[id, saps_i, sofa, length_of_stay, survival, death] = &columns[..] else {
        return Err(LineProblem::Columns {
            found: columns.len(),
            expected: COLUMNS.len(),
            text: text.to_owned(),
        });
    };
    let not_a_number = |column: usize, value: &str| LineProblem::NotANumber {
        column: COLUMNS[column],
        value: value.to_owned(),
    };
    let score = |column, value: &str| match value {
        "-1" => Ok(None),
        _ => value.parse().map(Some).map_err(|_| not_a_number(column, value)),
    };
    Ok(Outcome {
        id: id.parse().map_err(|_| not_a_number(0, id))?,
        saps_i: score(1, saps_i)?,
        sofa: score(2, sofa)?,
        length_of_stay: score(3, length_of_stay)?,
        survival: score(4, survival)?,
        in_hospital_death: match death {
            "0" => false,
            "1" => true,
            _ => return Err(not_a_number(5, death)),
        },
    })
}
