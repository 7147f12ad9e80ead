//! Gaps and times between.

use std::collections::HashMap;

use super::predictions::{Wanted, time_column};
use super::{EstimatorError, Model, PredictOptions, Predictions, Prepared};
use crate::series::table::{Column, DataFrame, Table};
use crate::series::{Dataset, Series};

impl Model {
    /// What the values may be that are missing at the times of the table; or all values at the given times of the
    /// user, for every series.
    ///
    /// # Errors
    /// When the table does not fit the model.
    pub fn impute(
        &self,
        table: &Table,
        at: Option<&[f64]>,
        options: &PredictOptions,
    ) -> Result<Predictions, EstimatorError> {
        let prepared = self.prepare(table)?;
        let (prepared, wanted) = match at {
            None => {
                let wanted = self.gaps(&prepared);
                (prepared, wanted)
            }
            Some(times) => self.everything_at(prepared, times)?,
        };
        self.predict(&prepared, &wanted, options)
    }

    /// The values that are missing at times of the series. Numbers of whole series are no gaps.
    fn gaps(&self, prepared: &Prepared) -> Vec<Wanted> {
        let channels = prepared.data.observation().len();
        let of_series = |(number, series): (usize, &Series)| {
            let mut wanted = Wanted { number, ..Wanted::default() };
            for (i, &time) in series.times.iter().enumerate() {
                let gaps = self.dynamic().filter(|&channel| !series.is_observed(channels, i, channel));
                let before = wanted.entries.len();
                let index = wanted.times.len();
                wanted.entries.extend(gaps.map(|channel| (index, channel)));
                if wanted.entries.len() > before {
                    wanted.times.push(time);
                    wanted.user_times.push(prepared.user_times[number][i]);
                }
            }
            (!wanted.entries.is_empty()).then_some(wanted)
        };
        prepared.data.series().iter().enumerate().filter_map(of_series).collect()
    }

    /// The channels that change in time.
    pub(super) fn dynamic(&self) -> impl Iterator<Item = usize> {
        let variables = self.description.data.variables.iter().enumerate();
        variables.filter(|(_, variable)| !variable.is_static).map(|(channel, _)| channel)
    }

    /// All values at times of the user. Where these lie in windows without a series, there is one more, of which
    /// nothing is known.
    pub(super) fn everything_at(
        &self,
        prepared: Prepared,
        times: &[f64],
    ) -> Result<(Prepared, Vec<Wanted>), EstimatorError> {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let sampling = self.table()?.sampling;
        let Prepared { data, mut origins, mut user_times, warnings } = prepared;
        let observation = data.observation();
        let mut all = data.into_series();
        // For each series the wanted times of the user.
        let mut asked: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
        match sampling.window {
            None => asked.iter_mut().for_each(|asked| asked.clone_from(&times)),
            Some(_) => {
                let mut places: HashMap<(String, u64), usize> = HashMap::new();
                let mut ids: Vec<String> = Vec::new();
                for (number, series) in all.iter().enumerate() {
                    places.insert((series.id.clone(), origins[number].to_bits()), number);
                    // Windows of a series follow each other.
                    if ids.last() != Some(&series.id) {
                        ids.push(series.id.clone());
                    }
                }
                for id in ids {
                    for &time in &times {
                        let origin = sampling.beginning(time).unwrap_or_default();
                        let number = *places.entry((id.clone(), origin.to_bits())).or_insert_with(|| {
                            all.push(Series { id: id.clone(), ..Series::default() });
                            origins.push(origin);
                            user_times.push(Vec::new());
                            asked.push(Vec::new());
                            all.len() - 1
                        });
                        asked[number].push(time);
                    }
                }
            }
        }
        let wanted = asked.into_iter().enumerate().filter(|(_, times)| !times.is_empty());
        let wanted = wanted.map(|(number, times)| self.all_at(number, origins[number], times)).collect();
        let data = Dataset::new(observation, all)?;
        Ok((Prepared { data, origins, user_times, warnings }, wanted))
    }

    /// Every variable at times of the user.
    pub(super) fn all_at(&self, number: usize, origin: f64, user_times: Vec<f64>) -> Wanted {
        let entries = (0..user_times.len())
            .flat_map(|time| self.dynamic().map(move |channel| (time, channel)))
            .collect();
        let times = user_times.iter().map(|time| time - origin).collect();
        Wanted { number, times, user_times, entries }
    }

    /// The table with its gaps filled by predictive means: a row for each series and time, a column for each
    /// variable. What was observed stays as it was.
    ///
    /// # Errors
    /// When the predictions are not about this table.
    pub fn filled(&self, table: &Table, predictions: &Predictions) -> Result<DataFrame, EstimatorError> {
        let (table, _) = self.arranged(table)?;
        let channels = table.data.observation().len();
        let mut places: HashMap<(&str, u64), usize> = HashMap::new();
        let (mut ids, mut times) = (Vec::new(), Vec::new());
        let mut values = vec![Vec::new(); channels];
        for (series, origin) in table.data.series().iter().zip(&table.origins) {
            for (i, time) in series.times.iter().enumerate() {
                places.insert((&series.id, (origin + time).to_bits()), times.len());
                ids.push(series.id.clone());
                times.push(origin + time);
                for (channel, values) in values.iter_mut().enumerate() {
                    values.push(match series.is_observed(channels, i, channel) {
                        true => series.values[i * channels + channel],
                        false => f64::NAN,
                    });
                }
            }
        }
        for row in 0..predictions.len() {
            let place = places.get(&(predictions.ids[row].as_str(), predictions.times[row].to_bits()));
            let &place = place.ok_or(EstimatorError::OtherTable)?;
            values[predictions.channels[row]][place] = predictions.mean[row];
        }
        let mut data_frame = DataFrame {
            names: vec![predictions.names.0.clone(), predictions.names.1.clone()],
            columns: vec![Column::Text(ids), time_column(&predictions.time, &times)],
        };
        for (name, values) in predictions.variables.iter().zip(values) {
            data_frame.names.push(name.clone());
            data_frame.columns.push(Column::Number(values));
        }
        Ok(data_frame)
    }
}
