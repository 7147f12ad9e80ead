//! Gaps and times between.

use std::collections::HashMap;

use super::bridge::{Bridged, Bridges};
use super::predictions::time_column;
use super::wanted::{Gathered, Wanted};
use super::{EstimatorError, Model, PredictOptions, Predictions, Prepared};
use crate::series::table::{Cells, Column, DataFrame, Table};
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
        let (bridged, wanted) = self.to_impute(table, at)?;
        self.predict(&bridged.prepared, &wanted, options)
    }

    /// What is asked of a table, and the windows that answer.
    pub(super) fn to_impute(
        &self,
        table: &Table,
        at: Option<&[f64]>,
    ) -> Result<(Bridged, Vec<Wanted>), EstimatorError> {
        let prepared = self.prepare(table)?;
        match at {
            None => {
                let bridged = Bridged::new(self.bridges()?, prepared)?;
                let wanted = self.gaps(&bridged);
                Ok((bridged, wanted))
            }
            Some(times) => self.everything_at(prepared, times),
        }
    }

    /// How windows of the model lie across each other.
    pub(super) fn bridges(&self) -> Result<Option<Bridges>, EstimatorError> {
        Ok(Bridges::new(self.table()?.sampling, &self.variables()))
    }

    /// The values that are missing at times of the series. Numbers of whole series are no gaps.
    fn gaps(&self, bridged: &Bridged) -> Vec<Wanted> {
        let prepared = &bridged.prepared;
        let channels = prepared.data.observation().len();
        let mut gathered = Gathered::default();
        for number in 0..bridged.windows() {
            let series = &prepared.data.series()[number];
            for (i, &time) in series.times.iter().enumerate() {
                let gaps = self.dynamic().filter(|&channel| !series.is_observed(channels, i, channel));
                gathered.add(bridged.answering(number, time), prepared.user_times[number][i], gaps);
            }
        }
        gathered.finish()
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
    ) -> Result<(Bridged, Vec<Wanted>), EstimatorError> {
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
        let data = Dataset::new(observation, all)?;
        let prepared = Prepared { data, origins, user_times, warnings };
        let bridged = Bridged::new(self.bridges()?, prepared)?;
        let mut gathered = Gathered::default();
        for (number, times) in asked.into_iter().enumerate() {
            for user_time in times {
                let time = user_time - bridged.prepared.origins[number];
                gathered.add(bridged.answering(number, time), user_time, self.dynamic());
            }
        }
        Ok((bridged, gathered.finish()))
    }

    /// The table with its gaps filled by predictive means: a row for each series and time, a column for each
    /// variable. What was observed stays as it was; [`Predictions::fill`] keeps everything else of a file, too.
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
                    // Numbers of whole series stand at their first time.
                    let i = if table.variables[channel].is_static { 0 } else { i };
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

impl Predictions {
    /// Writes the predictive means into the cells of the table that they are about. Variables that the files have no
    /// column for are left out.
    pub fn fill(&self, cells: &mut Cells) {
        let mut places: HashMap<(&str, u64), Vec<usize>> = HashMap::new();
        for row in 0..self.len() {
            places.entry((&self.ids[row], self.times[row].to_bits())).or_default().push(row);
        }
        for row in 0..cells.rows() {
            let found = cells.key(row).and_then(|(id, time)| places.get(&(id, time.to_bits())).cloned());
            for place in found.into_iter().flatten() {
                cells.set(row, &self.variables[self.channels[place]], self.mean[place]);
            }
        }
    }
}
