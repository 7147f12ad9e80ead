//! How observations scatter around decoded paths, learned from series that were not trained on.

use std::ops::Range;

use rayon::prelude::*;
use stroock_kernels::noise::{NoiseKey, Stage};

use super::bridge::OWN;
use super::{EstimatorError, Goal};
use crate::model::{DataDescription, PathDraws, StandardModel};
use crate::predict::Predictor;
use crate::residual::{DecodedSample, ResidualProcess, fit_with_shrinkage};
use crate::score::{HoldOut, withhold};
use crate::series::{Dataset, Series, Split};

/// Series that the process is learned from.
const FEWEST_SERIES: usize = 24;
const MOST_SERIES: usize = 400;
const DRAWS: usize = 16;
const SERIES_AT_ONCE: usize = 32;

/// The process of residuals from the mean path of a model: what best predicts values that are held out, given those that are seen. Values are
/// held out one by one in a third of the series, in runs in another, and at the end in the last: without ends, only
/// the ratio of amplitude and length is known, and forecasts are too sure of themselves.
pub(super) fn residual_process(
    model: &StandardModel,
    about: &DataDescription,
    data: &Dataset,
    split: &Split,
    goal: Goal,
) -> Result<ResidualProcess, EstimatorError> {
    let channels = data.observation().len();
    // Series that were trained on look better than they are: they serve where there are too few others.
    let few = split.validation.len() < FEWEST_SERIES;
    let others = if few { split.train.as_slice() } else { &[] };
    let most = if few { FEWEST_SERIES } else { MOST_SERIES };
    let chosen: Vec<usize> = split.validation.iter().chain(others).copied().take(most).collect();
    let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
    let mut held = data.clone();
    let ways = [
        HoldOut::Random { share: 0.3 },
        HoldOut::Blocks { share: 0.3, length: 6 },
        HoldOut::Tail { share: 0.3 },
    ];
    for (seed, way) in ways.into_iter().enumerate() {
        let part: Vec<usize> = chosen.iter().copied().skip(seed).step_by(ways.len()).collect();
        held = withhold(held, &part, way, &statics, seed as u64)?;
    }

    // Gaps decide where gaps are to be filled, ends where the future is asked for.
    let judged = |way: usize| matches!(ways[way], HoldOut::Tail { .. }) == (goal == Goal::Forecast);
    let way = |rank: usize| Some(rank % ways.len()).filter(|&way| judged(way));
    let inner = inner_part(about, goal);
    let white = DataDescription { residual: None, ..about.clone() };
    let predictor = Predictor::new(model, &white);
    let draws = PathDraws { key: NoiseKey::of(5, Stage::Prediction), samples: DRAWS, first_sample: 0 };
    let mut samples: Vec<Vec<DecodedSample>> = vec![Vec::new(); channels];
    // The model's own noise is where the search begins.
    let mut scales = vec![1.0; channels];
    for (chunk, numbers) in chosen.chunks(SERIES_AT_ONCE).enumerate() {
        let times: Vec<Vec<f64>> =
            numbers.iter().map(|&number| held.series()[number].times.clone()).collect();
        let streams: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        let drawn = predictor.marginals_of(&held, numbers, &streams, &times, draws)?;
        for (i, (&number, drawn)) in numbers.iter().zip(drawn).enumerate() {
            let way = way(chunk * SERIES_AT_ONCE + i);
            let series = &held.series()[number];
            for (scale, sd) in scales.iter_mut().zip(&drawn.sds).filter(|(_, sd)| **sd > 0.0) {
                *scale = f64::from(*sd);
            }
            for (channel, samples) in samples.iter_mut().enumerate() {
                let decoded = |i: usize| drawn.mean_at(i, channel);
                samples.push(sample(series, channels, channel, way, &inner, decoded));
            }
        }
    }
    let others = observed_samples(data, &split.train, &statics, &ways, judged, &inner)?;
    let process = |channel: usize| fit_with_shrinkage(&samples[channel], &others[channel], scales[channel]);
    Ok(ResidualProcess { channels: (0..channels).into_par_iter().map(process).collect() })
}

/// What is observed of every channel of series, without what a decoder says about it.
fn observed_samples(
    data: &Dataset,
    numbers: &[usize],
    statics: &[bool],
    ways: &[HoldOut],
    judged: impl Fn(usize) -> bool,
    inner: &Range<f64>,
) -> Result<Vec<Vec<DecodedSample>>, EstimatorError> {
    let channels = data.observation().len();
    // Spread over all of them: they may be in the order of time.
    let step = numbers.len().div_ceil(MOST_SERIES).max(1);
    let chosen = numbers.iter().step_by(step).map(|&number| data.series()[number].clone()).collect();
    let mut held = Dataset::new(data.observation(), chosen)?;
    for (seed, &way) in ways.iter().enumerate() {
        let part: Vec<usize> = (seed..held.series().len()).step_by(ways.len()).collect();
        held = withhold(held, &part, way, statics, seed as u64)?;
    }
    let of_channel = |channel: usize| {
        let of_series = |(rank, series): (usize, &Series)| {
            let way = Some(rank % ways.len()).filter(|&way| judged(way));
            sample(series, channels, channel, way, inner, |_| 0.0)
        };
        held.series().iter().enumerate().map(of_series).collect()
    };
    Ok((0..channels).map(of_channel).collect())
}

/// The times of a series that are judged where gaps are filled: of a window the part that it answers for, since bridges
/// answer near its borders, and predictions there would be judged as if they were asked.
fn inner_part(about: &DataDescription, goal: Goal) -> Range<f64> {
    let window = about.table.as_ref().and_then(|table| table.sampling.window);
    match window.filter(|_| goal == Goal::Impute) {
        Some(window) => OWN.start * window..OWN.end * window,
        None => f64::NEG_INFINITY..f64::INFINITY,
    }
}

/// One channel of a series with what is decoded at its times. Held values outside of the inner part are left out where
/// they would be judged.
fn sample(
    series: &Series,
    channels: usize,
    channel: usize,
    way: Option<usize>,
    inner: &Range<f64>,
    decoded: impl Fn(usize) -> f64,
) -> DecodedSample {
    let mut sample = DecodedSample { way, ..DecodedSample::default() };
    for (i, &time) in series.times.iter().enumerate() {
        let value = f64::from(series.values[i * channels + channel]);
        if series.is_visible(channels, i, channel) {
            sample.observed.seen_times.push(time);
            sample.observed.seen_values.push(value);
            sample.seen_means.push(decoded(i));
        } else if series.is_observed(channels, i, channel) && (way.is_none() || inner.contains(&time)) {
            sample.observed.held_times.push(time);
            sample.observed.held_values.push(value);
            sample.held_means.push(decoded(i));
        }
    }
    sample
}
