//! New series from the prior, and possible courses of given ones.

use stroock_kernels::noise::{NoiseKey, Stage};

use super::predictions::{PredictOptions, Wanted, check_total, chunks, steps, time_column};
use super::{EstimatorError, Model};
use crate::model::{ModelSettings, PathDraws};
use crate::predict::Draws;
use crate::series::table::{Column, DataFrame, Table};

impl Model {
    /// New series: draws from the prior over the span of the training data in steps of `every` (the usual step
    /// if not given). A row for each series and time, a column for each variable.
    ///
    /// # Errors
    /// When the step is not positive.
    pub fn sample(&self, count: usize, every: Option<f64>, seed: u64) -> Result<DataFrame, EstimatorError> {
        check_count(count)?;
        let axis = self.description.data.batcher.grid_axis;
        let times = &steps(axis.start, axis.end, self.step(every)?, 0, count)?;
        let draws = PathDraws { key: NoiseKey::of(seed, Stage::Prediction), samples: count, first_sample: 0 };
        let drawn = self.predictor().prior(self.description.model.observation(), times, draws)?;
        let names = (0..count).map(|number| (format!("sample {}", number + 1), 0.0, number));
        self.wide(names.map(|(id, origin, draw)| (id, origin, draw, &drawn)), None)
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
            (0..count).map(move |draw| (id.clone(), origin, draw, drawn))
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

    /// Draws as a wide table; each is the name of a series, its origin, the number of the draw and the draws.
    fn wide<'a>(
        &self,
        rows: impl Iterator<Item = (String, f64, usize, &'a Draws)>,
        numbers: Option<Vec<i64>>,
    ) -> Result<DataFrame, EstimatorError> {
        let about = &self.description.data;
        let (mut ids, mut times) = (Vec::new(), Vec::new());
        let mut values = vec![Vec::new(); about.variables.len()];
        for (id, origin, draw, drawn) in rows {
            for (i, time) in drawn.times.iter().enumerate() {
                ids.push(id.clone());
                times.push(origin + time);
                for (channel, values) in values.iter_mut().enumerate() {
                    let place = (draw * drawn.times.len() + i) * drawn.channels + channel;
                    values.push(about.scaler.to_user(channel, f64::from(drawn.observations[place])));
                }
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

fn check_count(count: usize) -> Result<(), EstimatorError> {
    match count {
        0 => Err(EstimatorError::Nothing),
        _ => Ok(()),
    }
}
