//! How observations scatter around decoded paths, learned from series that were not trained on.

use stroock_kernels::noise::NoiseKey;

use super::EstimatorError;
use crate::entries::entries;
use crate::model::{DataDescription, PathDraws, StandardModel};
use crate::predict::Predictor;
use crate::residual::{ChannelResidual, ResidualLaw, ResidualSample, fit};
use crate::score::{HoldOut, withhold};
use crate::series::{Dataset, Split};

/// Values that a channel needs for a law of its own.
const ENOUGH: usize = 200;
/// Series that the law is learned from, at most.
const MOST_SERIES: usize = 400;
const DRAWS: usize = 4;
const SERIES_AT_ONCE: usize = 32;

/// The residual law of a model: what best foretells values that are held out, given those that are seen. Values are
/// held out one by one in a third of the series, in runs in another, and at the end in the last: without ends, only
/// the ratio of amplitude and length is known, and forecasts are too sure of themselves.
pub(super) fn residual_law(
    model: &StandardModel,
    about: &DataDescription,
    data: &Dataset,
    split: &Split,
) -> Result<ResidualLaw, EstimatorError> {
    let channels = data.observation().len();
    // Series that were trained on look better than they are, but are better than none.
    let numbers = split.validation.iter().chain(&split.train).copied();
    let observed = |number: usize| {
        let series = &data.series()[number];
        (0..series.values.len())
            .filter(|place| series.is_observed(channels, place / channels, place % channels))
            .count()
    };
    let mut chosen = Vec::new();
    let mut values = 0;
    for (rank, number) in numbers.enumerate() {
        let needed = rank < split.validation.len() || values < ENOUGH * channels;
        if chosen.len() >= MOST_SERIES || !needed {
            break;
        }
        values += observed(number);
        chosen.push(number);
    }
    let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
    let mut held = data.clone();
    let ways = [
        HoldOut::Random { share: 0.3 },
        HoldOut::Blocks { share: 0.3, length: 6 },
        HoldOut::Tail { share: 0.3 },
    ];
    for (seed, (part, way)) in chosen.chunks(chosen.len().div_ceil(ways.len()).max(1)).zip(ways).enumerate() {
        held = withhold(held, part, way, &statics, seed as u64)?;
    }

    let white = DataDescription { residual: None, ..about.clone() };
    let predictor = Predictor::new(model, &white);
    let draws = PathDraws { key: NoiseKey::new(5, 0), samples: DRAWS, first_sample: 0 };
    let mut samples: Vec<Vec<ResidualSample>> = vec![Vec::new(); channels];
    for numbers in chosen.chunks(SERIES_AT_ONCE) {
        let times: Vec<Vec<f64>> =
            numbers.iter().map(|&number| held.series()[number].times.clone()).collect();
        for (&number, drawn) in numbers.iter().zip(predictor.posterior(&held, numbers, &times, draws)?) {
            let series = &held.series()[number];
            for (channel, samples) in samples.iter_mut().enumerate() {
                for sample in 0..DRAWS {
                    let mut residual = ResidualSample::default();
                    for (i, &time) in series.times.iter().enumerate() {
                        let place = i * channels + channel;
                        let mean = drawn.means[sample * series.values.len() + place];
                        let mean = about.scaler.to_model(channel, f64::from(mean));
                        let over = f64::from(series.values[place]) - mean;
                        if series.is_visible(channels, i, channel) {
                            residual.seen_times.push(time);
                            residual.seen_values.push(over);
                        } else if series.is_observed(channels, i, channel) {
                            residual.held_times.push(time);
                            residual.held_values.push(over);
                        }
                    }
                    samples.push(residual);
                }
            }
        }
    }
    let scales = model.likelihood.gaussian().map(|gaussian| entries(gaussian.scale())).unwrap_or_default();
    let scale = |channel: usize| scales.get(channel % scales.len().max(1)).copied().unwrap_or(1.0);
    let laws = samples.iter().enumerate();
    let channels = laws.map(|(channel, samples)| fit(samples, f64::from(scale(channel))));
    Ok(ResidualLaw { channels: channels.collect::<Vec<ChannelResidual>>() })
}
