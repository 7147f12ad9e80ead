//! Answers about tables in files, part by part.

use super::classify::Classes;
use super::forecast::Horizon;
use super::{EstimatorError, Model, PredictOptions, Predictions};
use crate::series::table::{StoredTable, Table};
use crate::series::{Dataset, SeriesSource};

/// Values of the series that are answered for at once, and answers to them.
const AT_ONCE: usize = 1 << 18;

/// What is to be known about the answers to all parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// What the user should know.
    pub warnings: Vec<String>,
    /// How the answers came about.
    pub notes: Vec<String>,
}

impl Answered {
    fn add(&mut self, warnings: &[String], notes: &[String]) {
        for (all, new) in [(&mut self.warnings, warnings), (&mut self.notes, notes)] {
            all.extend(new.iter().filter(|sentence| !all.contains(sentence)).cloned().collect::<Vec<_>>());
        }
    }
}

impl Model {
    /// [`Model::impute`] for a table in a file: `take` gets the answers for some series after those for others, in the order
    /// of the table. Rows have the same numbers as those of the table in memory.
    ///
    /// # Errors
    /// As [`Model::impute`], those of `take`, and when the file cannot be read.
    pub fn impute_stored<E: From<EstimatorError>>(
        &self,
        table: &StoredTable,
        at: Option<&[f64]>,
        options: &PredictOptions,
        mut take: impl FnMut(&Predictions) -> Result<(), E>,
    ) -> Result<Answered, E> {
        let asked = at.map_or(0, <[f64]>::len);
        let (mut answered, mut outside) = (Answered::default(), [0; 2]);
        self.for_each_part(table, asked, |part| {
            let (bridged, wanted) = self.to_impute(&part, at)?;
            let more = self.outside(&wanted);
            outside.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            let predictions = self.predict_part(&bridged.prepared, &wanted, options)?;
            answered.add(&predictions.warnings, &[]);
            take(&predictions)
        })?;
        answered.warnings.extend(self.beyond(outside));
        Ok(answered)
    }

    /// [`Model::forecast`] for a table in a file, part by part as [`Model::impute_stored`].
    ///
    /// # Errors
    /// As [`Model::forecast`], those of `take`, and when the file cannot be read.
    pub fn forecast_stored<E: From<EstimatorError>>(
        &self,
        table: &StoredTable,
        horizon: impl Into<Horizon>,
        every: Option<f64>,
        options: &PredictOptions,
        mut take: impl FnMut(&Predictions) -> Result<(), E>,
    ) -> Result<Answered, E> {
        let horizon = horizon.into();
        let asked = if let Horizon::Steps(count) = horizon { count } else { 0 };
        let (mut answered, mut is_ahead, mut nothing) = (Answered::default(), false, None);
        self.for_each_part(table, asked, |part| {
            match self.forecast(&part, horizon, every, options) {
                Ok(predictions) => {
                    is_ahead = true;
                    answered.add(&predictions.warnings, &predictions.notes);
                    take(&predictions)
                }
                // Other parts may end before it.
                Err(error @ EstimatorError::NothingAhead { .. }) => {
                    nothing = Some(error);
                    Ok(())
                }
                Err(error) => Err(error.into()),
            }
        })?;
        match nothing {
            Some(error) if !is_ahead => Err(error.into()),
            _ => Ok(answered),
        }
    }

    /// [`Model::classify`] for a table in a file, part by part as [`Model::impute_stored`].
    ///
    /// # Errors
    /// As [`Model::classify`], those of `take`, and when the file cannot be read.
    pub fn classify_stored<E: From<EstimatorError>>(
        &self,
        table: &StoredTable,
        options: &PredictOptions,
        mut take: impl FnMut(&Classes) -> Result<(), E>,
    ) -> Result<Answered, E> {
        let mut answered = Answered::default();
        self.for_each_part(table, 0, |part| {
            let classes = self.classify(&part, options)?;
            answered.add(&classes.warnings, &[]);
            take(&classes)
        })?;
        Ok(answered)
    }

    /// Calls `f` with tables in memory of series that follow each other, as many at a time as there is room for when each is
    /// asked about so many times more.
    fn for_each_part<E: From<EstimatorError>>(
        &self,
        table: &StoredTable,
        asked: usize,
        mut f: impl FnMut(Table) -> Result<(), E>,
    ) -> Result<(), E> {
        let observation = table.data.observation();
        let (mut series, mut values) = (Vec::new(), 0);
        for number in 0..table.data.len() {
            let next = table.data.get(number).map_err(EstimatorError::from)?.into_owned();
            values += (next.times.len() + asked) * observation.len();
            series.push(next);
            if values >= AT_ONCE || number + 1 == table.data.len() {
                let origins = table.origins[number + 1 - series.len()..=number].to_vec();
                let data = Dataset::new(observation, std::mem::take(&mut series));
                f(table.with_data(data.map_err(EstimatorError::from)?, origins))?;
                values = 0;
            }
        }
        Ok(())
    }
}
