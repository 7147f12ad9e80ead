//! New series, and possible courses of given ones.

use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Stage};

use super::predictions::{PredictOptions, time_column};
use super::wanted::{Wanted, check_total, chunks, steps};
use super::{EstimatorError, Model};
use crate::model::{ModelSettings, PathDraws};
use crate::series::table::{Column, DataFrame, Table};

/// What new series are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleSource {
    /// What the model makes of all training series together, its aggregated posterior: see
    /// [`Sampler`](crate::sampler::Sampler). The prior, where the model file is of an earlier version and has none.
    #[default]
    Posterior,
    /// The prior that training starts from: what the latent process does where nothing is known.
    Prior,
}

impl Model {
    /// New series like those of the training data, over their span in steps of `every` (the usual step if not given):
    /// of long series that are cut into windows, a window. A row for each series and time, a column for each variable.
    ///
    /// # Errors
    /// When the step is not positive.
    pub fn sample(&self, count: usize, every: Option<f64>, seed: u64) -> Result<DataFrame, EstimatorError> {
        self.sample_from(SampleSource::Posterior, count, every, seed)
    }

    /// The same from a source of choice.
    ///
    /// # Errors
    /// When the step is not positive.
    pub fn sample_from(
        &self,
        source: SampleSource,
        count: usize,
        every: Option<f64>,
        seed: u64,
    ) -> Result<DataFrame, EstimatorError> {
        check_count(count)?;
        let axis = self.description.data.batcher.grid_axis;
        let times = steps(axis.start, axis.end, self.step(every)?, 0, count)?;
        let drawn = self.draw_series(&vec![times.clone(); count], source, seed)?;
        let rows = drawn.into_iter().enumerate().map(|(number, values)| Row {
            id: format!("sample {}", number + 1),
            origin: 0.0,
            times: &times,
            values,
        });
        self.wide(rows, None)
    }

    /// New series at the given increasing times of each: values `[T, C]` in the units of the user.
    pub(super) fn draw_series(
        &self,
        times: &[Vec<f64>],
        source: SampleSource,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, EstimatorError> {
        let observation = self.description.model.observation();
        let drawn = match (&self.sampler, source) {
            (Some(sampler), SampleSource::Posterior) => {
                sampler.draw(&self.predictor(), observation, times, seed)?
            }
            _ => {
                let key = NoiseKey::of(seed, Stage::Prediction);
                let one = |(number, times): (usize, &Vec<f64>)| {
                    let draws = PathDraws { key, samples: 1, first_sample: number as u32 };
                    Ok(self.predictor().prior(observation, times, draws)?.observations)
                };
                let drawn = times.iter().enumerate().map(one).collect::<Result<Vec<_>, EstimatorError>>()?;
                drawn.into_iter().map(|values| values.into_iter().map(f64::from).collect()).collect()
            }
        };
        Ok(drawn.into_iter().map(|values| self.to_user(&values)).collect())
    }

    /// Values `[T, C]` of the model in the units of the user, none below what a variable can be.
    fn to_user(&self, values: &[f64]) -> Vec<f64> {
        let about = &self.description.data;
        let channels = about.variables.len().max(1);
        let values = about.scaler.all_to_user(channels, values).into_iter().enumerate();
        values.map(|(place, value)| about.variables[place % channels].raised(value)).collect()
    }

    /// Possible courses of the series of a table: draws from the posterior on the grid `every` (the usual step if
    /// not given) over the span of each series.
    ///
    /// # Errors
    /// When the table does not fit the model.
    pub fn sample_given(
        &self,
        table: &Table,
        count: usize,
        every: Option<f64>,
        seed: u64,
    ) -> Result<DataFrame, EstimatorError> {
        check_count(count)?;
        let every = self.step(every)?;
        let prepared = self.prepare(table)?;
        let mut wanted = Vec::new();
        for (number, series) in prepared.data.series().iter().enumerate() {
            let (Some(first), Some(last)) = (series.times.first(), series.times.last()) else { continue };
            let times = steps(*first, *last, every, 0, count)?;
            wanted.push(Wanted { number, times, ..Wanted::default() });
        }
        check_total(&wanted)?;
        let options = PredictOptions { draws: count, seed, ..PredictOptions::default() };
        let mut all = Vec::new();
        for wanted in chunks(&prepared, &wanted, count) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let streams = prepared.streams(&numbers);
            let drawn = self.predictor().posterior_of(
                &prepared.data,
                &numbers,
                &streams,
                &times,
                options.path_draws(),
            )?;
            all.extend(numbers.into_iter().zip(drawn));
        }
        let rows = all.iter().flat_map(|(number, drawn)| {
            let (id, origin) = (&prepared.data.series()[*number].id, prepared.origins[*number]);
            let length = drawn.times.len() * drawn.channels;
            (0..count).map(move |draw| {
                let values = drawn.observations[draw * length..(draw + 1) * length].iter();
                let values: Vec<f64> = values.map(|&value| f64::from(value)).collect();
                Row { id: id.clone(), origin, times: &drawn.times, values: self.to_user(&values) }
            })
        });
        let draws = all.iter().flat_map(|(_, drawn)| {
            (0..count).flat_map(move |draw| std::iter::repeat_n(draw as i64 + 1, drawn.times.len()))
        });
        self.wide(rows, Some(draws.collect()))
    }

    /// The given step, or the usual one of the training data.
    pub(super) fn step(&self, every: Option<f64>) -> Result<f64, EstimatorError> {
        let every = every.unwrap_or(self.table()?.step);
        match every > 0.0 && every.is_finite() {
            true => Ok(every),
            false => Err(EstimatorError::Step { every }),
        }
    }

    /// Sampled series as a wide table, with the number of the draw of each row where it is given.
    fn wide<'a>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        numbers: Option<Vec<i64>>,
    ) -> Result<DataFrame, EstimatorError> {
        let about = &self.description.data;
        let (mut ids, mut times) = (Vec::new(), Vec::new());
        let mut values = vec![Vec::new(); about.variables.len()];
        let channels = values.len().max(1);
        for row in rows {
            for (time, here) in row.times.iter().zip(row.values.chunks(channels)) {
                ids.push(row.id.clone());
                times.push(row.origin + time);
                values.iter_mut().zip(here).for_each(|(values, value)| values.push(*value));
            }
        }
        let names = self.names()?;
        let mut data_frame = DataFrame { names: vec![names.0], columns: vec![Column::Text(ids)] };
        if let Some(numbers) = numbers {
            data_frame.names.push("draw".into());
            data_frame.columns.push(Column::Count(numbers));
        }
        data_frame.names.push(names.1);
        data_frame.columns.push(time_column(&self.table()?.time, &times));
        for channel in self.dynamic() {
            data_frame.names.push(about.variables[channel].name.clone());
            data_frame.columns.push(Column::Number(std::mem::take(&mut values[channel])));
        }
        Ok(data_frame)
    }
}

/// A sampled series.
struct Row<'a> {
    id: String,
    /// What is to be added to its times to have the times of the user.
    origin: f64,
    /// `[T]`.
    times: &'a [f64],
    /// `[T, C]`, in the units of the user.
    values: Vec<f64>,
}

fn check_count(count: usize) -> Result<(), EstimatorError> {
    match count {
        0 => Err(EstimatorError::Nothing),
        _ => Ok(()),
    }
}
