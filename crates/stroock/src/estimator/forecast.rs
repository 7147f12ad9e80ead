//! Times after the last one.

use std::collections::HashMap;

use super::predictions::{check_total, steps};
use super::{EstimatorError, Model, PredictOptions, Predictions, Prepared};
use crate::series::table::{Table, TimeScale};
use crate::series::{Dataset, Series};

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Share of a window that is kept for what is known, where a forecast needs the rest.
const KNOWN: f64 = 0.25;

impl Model {
    /// What the values of every series may be after its last time, in steps of `every` (the usual step of the
    /// training data if not given), up to the time `until` of the user.
    ///
    /// # Errors
    /// When the table does not fit the model, or every series ends after `until`.
    pub fn forecast(
        &self,
        table: &Table,
        until: f64,
        every: Option<f64>,
        options: &PredictOptions,
    ) -> Result<Predictions, EstimatorError> {
        let about = self.table()?;
        let every = self.step(every)?;
        let mut prepared = match about.sampling.window {
            Some(window) => {
                let (table, warnings) = self.arranged(table)?;
                let (data, origins) = recent(&table, window, until)?;
                let data = self.description.data.scaler.apply(&data)?;
                Prepared { warnings, ..Prepared::new(data, origins) }
            }
            None => self.prepare(table)?,
        };
        let mut ended = 0;
        let mut wanted = Vec::new();
        for number in 0..prepared.data.series().len() {
            let Some(&last) = prepared.user_times[number].last() else { continue };
            let times = steps(last, until, every, 1, options.draws)?;
            match times.is_empty() {
                true => ended += 1,
                false => wanted.push(self.all_at(number, prepared.origins[number], times)),
            }
        }
        check_total(&wanted)?;
        let until = about.time.write(until);
        if wanted.is_empty() {
            return Err(EstimatorError::NothingAhead { until });
        }
        if ended > 0 {
            prepared.warnings.push(format!("{ended} series end after {until} and have no forecast"));
        }
        self.predict(&prepared, &wanted, options)
    }
}

/// The last part of every series: a window that holds what is known lately and, if it can, the time `until`.
///
/// It begins at a multiple of the window's length or, for windows of whole days, at the beginning of a day, so that
/// the hour of the day means the same as in training.
fn recent(table: &Table, window: f64, until: f64) -> Result<(Dataset<f64>, Vec<f64>), EstimatorError> {
    let observation = table.data.observation();
    let channels = observation.len();
    let day = matches!(table.time, TimeScale::Date { .. }) && (window / DAY).fract() == 0.0;
    let step = if day { DAY } else { window / 8.0 };
    // Several pieces may have one name: the last one counts.
    let mut last: HashMap<String, (f64, usize)> = HashMap::new();
    for (number, (series, origin)) in table.data.series().iter().zip(&table.origins).enumerate() {
        let Some(time) = series.times.last() else { continue };
        let entry = last.entry(series.id.clone()).or_insert((origin + time, number));
        if origin + time > entry.0 {
            *entry = (origin + time, number);
        }
    }
    let mut kept: Vec<(usize, f64)> = last.into_values().map(|(end, number)| (number, end)).collect();
    kept.sort_by_key(|&(number, _)| number);
    let (mut pieces, mut origins) = (Vec::new(), Vec::new());
    for (number, end) in kept {
        let (series, shift) = (&table.data.series()[number], table.origins[number]);
        // Far enough for the forecast, but not so far that nothing is known.
        let wished = ((until - window) / step).ceil() * step;
        let least = ((end - window) / step).ceil() * step;
        let most = ((end - KNOWN * window) / step).floor() * step;
        let origin = wished.min(most).max(least);
        let first = series.times.partition_point(|&time| shift + time < origin);
        let observed = series.observed.as_ref().map(|observed| observed[first * channels..].to_vec());
        pieces.push(Series {
            id: series.id.clone(),
            times: series.times[first..].iter().map(|&time| shift + time - origin).collect(),
            values: series.values[first * channels..].to_vec(),
            observed,
            ..Series::default()
        });
        origins.push(origin);
    }
    Ok((Dataset::new(observation, pieces)?, origins))
}
