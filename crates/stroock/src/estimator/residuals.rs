//! How observations scatter around decoded paths, learned from series that were not trained on.

use std::ops::Range;

use rayon::prelude::*;
use stroock_kernels::noise::{NoiseKey, Stage};

use super::bridge::OWN;
use super::gap_length::usual_run;
use super::kept_back::KeptBack;
use super::{EstimatorError, Goal};
use crate::model::{DataDescription, PathDraws, StandardModel};
use crate::predict::Predictor;
use crate::residual::{DecodedSample, ObservedSamples, ResidualProcess, fit_with_shrinkage};
use crate::score::{HoldOut, hold_back, withhold};
use crate::series::{Dataset, Series, SeriesSource, Split};

/// Series that the process is learned from. Gaps are judged by two thirds of them, and a decoder by twelve at least.
pub(super) const FEWEST_SERIES: usize = 18;
const MOST_SERIES: usize = 400;
const DRAWS: usize = 16;
const SERIES_AT_ONCE: usize = 32;
/// Of few series, values are held out more than once, so that there are about so many samples; but at most so often, and
/// less often for a decoder, about which the same series say the same again.
const ENOUGH_SAMPLES: usize = 96;
const MOST_ROUNDS: usize = 24;
const MOST_DECODED_ROUNDS: usize = 6;

/// Values are held out one by one in a third of the series, in runs in another, and at the end in the last: without ends,
/// only the ratio of amplitude and length is known, and forecasts are too sure of themselves.
fn ways(run: usize) -> [HoldOut; 3] {
    let share = 0.3;
    [HoldOut::Random { share }, HoldOut::Blocks { share, length: run }, HoldOut::Tail { share }]
}

/// The process of residuals from the mean path of a model: what best predicts values that are held out, given those that are
/// seen. The values are those of series for validation and, where these are few, those that were kept back from training.
pub(super) fn residual_process(
    model: &StandardModel,
    about: &DataDescription,
    data: &dyn SeriesSource,
    kept: Option<&KeptBack>,
    split: &Split,
    goal: Goal,
) -> Result<ResidualProcess, EstimatorError> {
    let observation = data.observation();
    let channels = observation.len();
    let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
    let ways = ways(usual_run(data, &statics)?);
    let few = split.validation.len() < FEWEST_SERIES;
    // Series that were trained on look better than they are: without values that were kept back they serve only where
    // there are too few others.
    let (others, most): (&[usize], usize) = match (few, kept) {
        (false, _) => (&[], MOST_SERIES),
        (true, Some(_)) => (&split.train, MOST_SERIES),
        (true, None) => (&split.train, FEWEST_SERIES),
    };
    let chosen: Vec<usize> = split.validation.iter().chain(others).copied().take(most).collect();
    let kept_back = |number: usize| kept.and_then(|kept| kept.ways[number]);

    // Gaps decide where gaps are to be filled, ends where the future is asked for.
    let judged = |way: usize| matches!(ways[way], HoldOut::Tail { .. }) == (goal == Goal::Forecast);
    let inner = inner_part(about, goal);
    let white = DataDescription { residual: None, ..about.clone() };
    let predictor = Predictor::new(model, &white);
    let draws = PathDraws { key: NoiseKey::of(5, Stage::Prediction), samples: DRAWS, first_sample: 0 };
    let mut samples: Vec<Vec<DecodedSample>> = vec![Vec::new(); channels];
    // The model's own noise is where the search begins.
    let mut scales = vec![1.0; channels];
    for round in 0..rounds(split.validation.len(), MOST_DECODED_ROUNDS) {
        // What was kept back stays the same in every round.
        let asked = if round == 0 { chosen.len() } else { chosen.len().min(split.validation.len()) };
        let way = |rank: usize| (rank + round) % ways.len();
        let source = kept.map_or(data, |kept| &kept.data);
        for (chunk, numbers) in chosen[..asked].chunks(SERIES_AT_ONCE).enumerate() {
            let rank = |i: usize| chunk * SERIES_AT_ONCE + i;
            let mut held = Dataset::gather(source, numbers)?.into_series();
            for (i, (&number, series)) in numbers.iter().zip(&mut held).enumerate() {
                if kept_back(number).is_none() {
                    let (way, how) = (way(rank(i)), ways[way(rank(i))]);
                    let seed = (round * ways.len() + way) as u64;
                    hold_back(series, number as u32, observation, how, &statics, seed);
                }
            }
            let held = Dataset::new(observation, held)?;
            let times: Vec<Vec<f64>> = held.series().iter().map(|series| series.times.clone()).collect();
            let streams: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
            let places: Vec<usize> = (0..numbers.len()).collect();
            let drawn = predictor.marginals_of(&held, &places, &streams, &times, draws)?;
            for (i, (&number, drawn)) in numbers.iter().zip(drawn).enumerate() {
                let way = Some(way(rank(i))).filter(|&way| judged(way));
                let way = kept_back(number).or(way);
                let series = &held.series()[i];
                for (scale, sd) in scales.iter_mut().zip(&drawn.sds).filter(|(_, sd)| **sd > 0.0) {
                    *scale = f64::from(*sd);
                }
                for (channel, samples) in samples.iter_mut().enumerate() {
                    let decoded = |i: usize| drawn.mean_at(i, channel);
                    let sample = sample(series, channels, channel, way, &inner, decoded);
                    samples.push(DecodedSample { series: number, ..sample });
                }
            }
        }
    }
    let known: Vec<usize> = split.train.iter().chain(&split.validation).copied().collect();
    let observed = observed_samples(data, &known, &statics, &ways, judged, &inner)?;
    let process = |channel: usize| fit_with_shrinkage(&samples[channel], &observed[channel], scales[channel]);
    Ok(ResidualProcess { channels: (0..channels).into_par_iter().map(process).collect() })
}

/// How often values are held out of so many series.
fn rounds(series: usize, most: usize) -> usize {
    ENOUGH_SAMPLES.div_ceil(series.max(1)).clamp(1, most)
}

/// What is observed of every channel of series, without what a decoder says about it: whole, and held out in rounds.
fn observed_samples(
    data: &dyn SeriesSource,
    numbers: &[usize],
    statics: &[bool],
    ways: &[HoldOut],
    judged: impl Fn(usize) -> bool,
    inner: &Range<f64>,
) -> Result<Vec<ObservedSamples>, EstimatorError> {
    let channels = data.observation().len();
    // Spread over all of them: they may be in the order of time.
    let step = numbers.len().div_ceil(MOST_SERIES).max(1);
    let chosen: Vec<usize> = numbers.iter().copied().step_by(step).collect();
    let whole = Dataset::gather(data, &chosen)?;
    let undecoded = |series: &Series, channel: usize, way: Option<usize>| {
        sample(series, channels, channel, way, inner, |_| 0.0)
    };
    let mut observed = vec![ObservedSamples::default(); channels];
    for (channel, observed) in observed.iter_mut().enumerate() {
        observed.whole =
            whole.series().iter().map(|series| undecoded(series, channel, None).observed).collect();
    }
    for round in 0..rounds(numbers.len(), MOST_ROUNDS) {
        let way = |rank: usize| (rank + round) % ways.len();
        let mut held = whole.clone();
        for (number, &how) in ways.iter().enumerate() {
            let part: Vec<usize> = (0..held.series().len()).filter(|&rank| way(rank) == number).collect();
            held = withhold(held, &part, how, statics, (round * ways.len() + number) as u64)?;
        }
        for (rank, series) in held.series().iter().enumerate() {
            for (channel, observed) in observed.iter_mut().enumerate() {
                observed.held.push(undecoded(series, channel, Some(way(rank)).filter(|&way| judged(way))));
            }
        }
    }
    Ok(observed)
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
