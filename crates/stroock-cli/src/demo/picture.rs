//! The picture of the demo: fits with their intervals.

use std::path::Path;

use stroock::model::{Description, PathDraws, StandardModel};
use stroock::predict::{Draws, Predictor, Summary};
use stroock::series::{Dataset, Series};
use stroock_experiments::synthetic::Motion;
use stroock_figures::{Band, FitFigure, FitPanel, Points};
use stroock_kernels::noise::NoiseKey;

use crate::failure::Failure;

/// Series that are shown.
const SHOWN: usize = 3;
const SAMPLES: usize = 400;
const POINTS: usize = 101;
/// Ends of the 50 % and of the 90 % intervals.
const LEVELS: [f64; 4] = [0.05, 0.25, 0.75, 0.95];

/// What one panel shows, in the units of the user.
struct Panel {
    seen: (Vec<f64>, Vec<f64>),
    withheld: (Vec<f64>, Vec<f64>),
    truth: Vec<f64>,
    mean: Vec<f64>,
    quantiles: Vec<Vec<f64>>,
}

/// Draws the first of the given series of a data set in model units.
pub fn draw(
    model: &StandardModel,
    description: &Description,
    data: &Dataset,
    motions: &[Motion],
    numbers: &[usize],
    path: &Path,
) -> Result<(), Failure> {
    let numbers = &numbers[..SHOWN.min(numbers.len())];
    let Description { data: about, .. } = description;
    let end = about.batcher.grid_axis.end;
    let times: Vec<f64> = (0..POINTS).map(|i| end * i as f64 / (POINTS - 1) as f64).collect();
    let draws = PathDraws { key: NoiseKey::new(8, 0), samples: SAMPLES, first_sample: 0 };
    let asked = vec![times.clone(); numbers.len()];
    let predictor = Predictor { model, batcher: &about.batcher, scaler: &about.scaler };
    let drawn = predictor.posterior(data, numbers, &asked, draws)?;

    let channels = data.observation().len();
    let mut panels = Vec::new();
    for (&number, drawn) in numbers.iter().zip(&drawn) {
        let truth = motions[number].on(&times);
        for channel in 0..channels {
            let series = &data.series()[number];
            let truth = truth.iter().skip(channel).step_by(channels).map(|&x| f64::from(x)).collect();
            panels.push((series, channel, panel(series, drawn, channel, truth, description)));
        }
    }
    let figure = FitFigure {
        panels: panels
            .iter()
            .map(|(series, channel, panel)| FitPanel {
                series: &series.id,
                variable: &about.variables[*channel].name,
                unit: &about.variables[*channel].unit,
                seen: Points { times: (&panel.seen.0).into(), values: (&panel.seen.1).into() },
                withheld: Points { times: (&panel.withheld.0).into(), values: (&panel.withheld.1).into() },
                truth: Some(Points { times: (&times).into(), values: (&panel.truth).into() }),
                times: (&times).into(),
                mean: (&panel.mean).into(),
                bands: [(0.9, 0, 3), (0.5, 1, 2)]
                    .map(|(level, lower, upper)| Band {
                        level,
                        lower: (&panel.quantiles[lower]).into(),
                        upper: (&panel.quantiles[upper]).into(),
                    })
                    .to_vec(),
                forecast_from: None,
            })
            .collect(),
        columns: channels,
        time: "time (s)",
        width: 1100.0,
        ..FitFigure::default()
    };
    figure.save(path)?;
    Ok(figure.save(&path.with_extension("svg"))?)
}

fn panel(
    series: &Series,
    drawn: &Draws,
    channel: usize,
    truth: Vec<f64>,
    description: &Description,
) -> Panel {
    let (channels, scaler) = (drawn.channels, &description.data.scaler);
    let of_channel: Vec<f32> = drawn.observations.iter().skip(channel).step_by(channels).copied().collect();
    let summary = Summary::of(&of_channel, drawn.times.len(), &LEVELS);
    let means: Vec<f32> = drawn.means.iter().skip(channel).step_by(channels).copied().collect();
    let points = |visible: bool| {
        let chosen = (0..series.times.len()).filter(|&i| {
            series.is_observed(channels, i, channel) && series.is_visible(channels, i, channel) == visible
        });
        let value = |i: usize| scaler.to_user(channel, f64::from(series.values[i * channels + channel]));
        chosen.map(|i| (series.times[i], value(i))).unzip()
    };
    Panel {
        seen: points(true),
        withheld: points(false),
        truth,
        mean: Summary::of(&means, drawn.times.len(), &[]).mean,
        quantiles: summary.quantiles,
    }
}
