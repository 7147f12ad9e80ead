//! New series.

use rayon::prelude::*;
use stroock_kernels::noise::{NoiseKey, Purpose, Stage};

use super::Sampler;
use crate::model::{PathDraws, SeriesModel};
use crate::predict::{PredictionError, Predictor};
use crate::series::Observation;

/// Paths that the mean path of a code is taken over.
pub(super) const PATHS: usize = 16;
/// Points times paths whose hidden layers are in memory at once.
const AT_ONCE: usize = 1 << 17;

/// Numbers of the streams of a new series.
const OF_CODE: u32 = 0;
const OF_RESIDUAL: u32 = 1;

impl Sampler {
    /// Draws new series, in model units: the values `[T, C]` of each at its increasing `times`. What is drawn for a
    /// series depends on the seed, its times and its place in the list.
    ///
    /// # Errors
    /// When the sampler belongs to another model.
    pub fn draw<M: SeriesModel>(
        &self,
        predictor: &Predictor<'_, M>,
        observation: Observation,
        times: &[Vec<f64>],
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, PredictionError> {
        let drawn = self.draw_smooth(predictor, observation, times, seed)?;
        let channels = self.marginals.len().max(1);
        let mapped = |values: Vec<f64>| {
            let values = values.into_iter().enumerate();
            values.map(|(place, value)| self.marginals[place % channels].apply(value)).collect()
        };
        Ok(drawn.into_iter().map(mapped).collect())
    }

    /// The same before the maps of the marginals.
    pub(super) fn draw_smooth<M: SeriesModel>(
        &self,
        predictor: &Predictor<'_, M>,
        observation: Observation,
        times: &[Vec<f64>],
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, PredictionError> {
        let key = NoiseKey::of(seed, Stage::Codes);
        let draws = PathDraws { key, samples: PATHS, first_sample: 0 };
        let mut all = Vec::with_capacity(times.len());
        for numbers in chunks(times) {
            let (times, streams) = (&times[numbers.clone()], numbers.map(|number| number as u32));
            let streams: Vec<u32> = streams.collect();
            let code =
                |&number: &u32| self.codes.draw(&mut key.stream(Purpose::Observations, number, OF_CODE));
            let codes: Vec<Vec<f32>> = streams.par_iter().map(code).collect();
            let codes = (codes.concat(), self.codes.width());
            let paths = predictor.mean_paths_of_codes(observation, codes, &streams, times, draws)?;
            let series: Vec<_> = streams.iter().zip(times).zip(&paths).collect();
            let around = series.into_par_iter().map(|((&number, times), path)| {
                let mut stream = key.stream(Purpose::Observations, number, OF_RESIDUAL);
                self.residual.draw(times, path, &mut stream)
            });
            all.extend(around.collect::<Vec<_>>());
        }
        Ok(all)
    }
}

/// Ranges of series that are small enough to be simulated at once.
pub(super) fn chunks(times: &[Vec<f64>]) -> Vec<std::ops::Range<usize>> {
    let (mut chunks, mut first, mut points) = (Vec::new(), 0, 0);
    for (number, times) in times.iter().enumerate() {
        let more = (times.len() + 1) * PATHS;
        if points + more > AT_ONCE && number > first {
            chunks.push(first..number);
            (first, points) = (number, 0);
        }
        points += more;
    }
    if first < times.len() {
        chunks.push(first..times.len());
    }
    chunks
}
