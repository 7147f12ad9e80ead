//! What a fitted model makes of its series, as a prior of new ones.

use stroock_kernels::noise::{NoiseKey, Stage};

use super::draw::{PATHS, chunks};
use super::{CodeDensity, MarginalMap, Remainder, Sampler, StationaryResidual};
use crate::model::{PathDraws, SeriesModel};
use crate::predict::{PredictionError, Predictor};
use crate::series::{Dataset, Series, SeriesSource, Split};

/// Codes that are kept, and numbers of all of them together.
const MOST_CODES: usize = 1000;
const MOST_NUMBERS: usize = 1 << 18;
/// Series that residuals are learned from.
const FEWEST_SERIES: usize = 24;
const MOST_SERIES: usize = 400;
const SERIES_AT_ONCE: usize = 64;
/// Seed of what is drawn to compare marginals.
const SEED: u64 = 11;

impl Sampler {
    /// What new series like those of a data set in model units are drawn from; `None` for a model without codes. Codes
    /// are those of the training series, residuals those of the series for validation: on series that were trained on
    /// they are smaller.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn fit<M: SeriesModel>(
        predictor: &Predictor<'_, M>,
        data: &dyn SeriesSource,
        split: &Split,
    ) -> Result<Option<Self>, PredictionError> {
        let (observation, channels) = (data.observation(), data.observation().len());
        let mut is_usable = vec![false; data.len()];
        data.for_each(&mut |number, series| {
            is_usable[number] = has_values(series);
            Ok(())
        })?;
        let usable = |numbers: &[usize], most: usize| -> Vec<usize> {
            let present: Vec<usize> = numbers.iter().copied().filter(|&number| is_usable[number]).collect();
            // Spread over all of them: they may be in the order of time.
            let step = present.len().div_ceil(most.max(1)).max(1);
            present.into_iter().step_by(step).collect()
        };
        let train = usable(&split.train, MOST_CODES);
        let Some((mut codes, width)) = codes(predictor, data, &train)? else { return Ok(None) };
        let fitting = (MOST_NUMBERS / width.max(1)).max(1);
        if train.len() > fitting {
            let step = train.len().div_ceil(fitting);
            codes = codes.chunks(width).step_by(step).flatten().copied().collect();
        }
        let Some(codes) = CodeDensity::of(codes, width) else { return Ok(None) };

        let validation = usable(&split.validation, MOST_SERIES);
        let others = usable(&split.train, MOST_SERIES);
        let judged = if validation.len() < FEWEST_SERIES { &others } else { &validation };
        let residual = StationaryResidual::fit(&remainders(predictor, data, judged)?, channels);

        let mut sampler = Self { codes, residual, marginals: vec![MarginalMap::default(); channels] };
        let learned_from = Dataset::gather(data, &others)?;
        let times: Vec<Vec<f64>> = learned_from.series().iter().map(|series| series.times.clone()).collect();
        let drawn = sampler.draw_smooth(predictor, observation, &times, SEED)?;
        let mut pairs = vec![(Vec::new(), Vec::new()); channels];
        for (series, drawn) in learned_from.series().iter().zip(&drawn) {
            for (place, &value) in observed(series).iter().enumerate() {
                if value.is_finite() {
                    let (before, after) = &mut pairs[place % channels];
                    before.push(drawn[place]);
                    after.push(value);
                }
            }
        }
        let map = |(drawn, observed): (Vec<f64>, Vec<f64>)| MarginalMap::between(drawn, observed);
        sampler.marginals = pairs.into_iter().map(map).collect();
        Ok(Some(sampler))
    }
}

/// Codes of series, one after the other, and the width of each; `None` where there are none.
fn codes<M: SeriesModel>(
    predictor: &Predictor<'_, M>,
    data: &dyn SeriesSource,
    numbers: &[usize],
) -> Result<Option<(Vec<f32>, usize)>, PredictionError> {
    let mut all: Option<(Vec<f32>, usize)> = None;
    for numbers in numbers.chunks(SERIES_AT_ONCE) {
        let Some((more, width)) = predictor.codes(data, numbers)? else { return Ok(None) };
        all.get_or_insert_with(|| (Vec::new(), width)).0.extend(more);
    }
    Ok(all)
}

/// Series beside the mean paths of their own codes.
fn remainders<M: SeriesModel>(
    predictor: &Predictor<'_, M>,
    data: &dyn SeriesSource,
    numbers: &[usize],
) -> Result<Vec<Remainder>, PredictionError> {
    let draws = PathDraws { key: NoiseKey::of(SEED, Stage::Codes), samples: PATHS, first_sample: 0 };
    let series = Dataset::gather(data, numbers)?;
    let all: Vec<Vec<f64>> = series.series().iter().map(|series| series.times.clone()).collect();
    let mut found = Vec::with_capacity(numbers.len());
    for chunk in chunks(&all) {
        let (numbers, series, times) =
            (&numbers[chunk.clone()], &series.series()[chunk.clone()], &all[chunk]);
        let Some(codes) = codes(predictor, data, numbers)? else { return Ok(Vec::new()) };
        let streams: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        let paths = predictor.mean_paths_of_codes(data.observation(), codes, &streams, times, draws)?;
        found.extend(series.iter().zip(times).zip(paths).map(|((series, times), mean_path)| Remainder {
            times: times.clone(),
            values: observed(series),
            mean_path,
        }));
    }
    Ok(found)
}

/// Values of a series, `[T, C]`; not a number where there is none.
fn observed(series: &Series) -> Vec<f64> {
    let is_observed = |place: usize| series.observed.as_ref().is_none_or(|observed| observed[place]);
    let values = series.values.iter().enumerate();
    values.map(|(place, &value)| if is_observed(place) { f64::from(value) } else { f64::NAN }).collect()
}

fn has_values(series: &Series) -> bool {
    match &series.observed {
        Some(observed) => observed.contains(&true),
        None => !series.values.is_empty(),
    }
}
