//! Fits with their intervals: what the pictures of the demo and of the experiments show.

use stroock::model::{DataDescription, PathDraws, StandardModel, Variable};
use stroock::predict::{Predictor, Summary};
use stroock::series::{Dataset, Series};
use stroock_figures::{Band, FitFigure, FitPanel, Picture, Points};

use crate::failure::Failure;

/// Ends of the 50 % and of the 90 % intervals.
const LEVELS: [f64; 4] = [0.05, 0.25, 0.75, 0.95];

/// One variable of one series, in the units of the user.
pub struct Fit<'a> {
    series: &'a Series,
    variable: &'a Variable,
    seen: (Vec<f64>, Vec<f64>),
    withheld: (Vec<f64>, Vec<f64>),
    /// The true values at the times of the fit, where they are known.
    pub truth: Option<Vec<f64>>,
    times: Vec<f64>,
    mean: Vec<f64>,
    quantiles: Vec<Vec<f64>>,
}

/// Fits of the `chosen` channels of a series of a data set in model units, at the given times.
pub fn fit<'a>(
    predictor: &Predictor<'_, StandardModel>,
    about: &'a DataDescription,
    data: &'a Dataset,
    number: usize,
    chosen: &[usize],
    times: &[f64],
    draws: PathDraws,
) -> Result<Vec<Fit<'a>>, Failure> {
    let drawn = predictor.posterior(data, &[number], &[times.to_vec()], draws)?;
    let Some(drawn) = drawn.first() else { return Ok(Vec::new()) };
    let (series, channels) = (&data.series()[number], drawn.channels);
    let fit = |&channel: &usize| {
        let of_channel = |draws: &[f32]| -> Vec<f64> {
            let draws = draws.iter().skip(channel).step_by(channels);
            draws.map(|&value| about.scaler.to_user(channel, f64::from(value))).collect()
        };
        let points = |visible: bool| {
            let chosen = (0..series.times.len()).filter(|&i| {
                series.is_observed(channels, i, channel) && series.is_visible(channels, i, channel) == visible
            });
            let value = |i: usize| f64::from(series.values[i * channels + channel]);
            chosen.map(|i| (series.times[i], about.scaler.to_user(channel, value(i)))).unzip()
        };
        Fit {
            series,
            variable: &about.variables[channel],
            seen: points(true),
            withheld: points(false),
            truth: None,
            times: times.to_vec(),
            mean: Summary::of(&of_channel(&drawn.means), times.len(), &[]).mean,
            quantiles: Summary::of(&of_channel(&drawn.observations), times.len(), &LEVELS).quantiles,
        }
    };
    Ok(chosen.iter().map(fit).collect())
}

/// The fits as small multiples, so many beside each other, with the given name of the time axis.
pub fn picture(fits: &[Fit], columns: usize, time: &str) -> Result<Picture, Failure> {
    let figure = FitFigure {
        panels: fits.iter().map(panel).collect(),
        columns,
        time,
        width: if columns > 1 { 1100.0 } else { 600.0 },
        ..FitFigure::default()
    };
    Ok(figure.picture()?)
}

/// The panel of a fit.
pub fn panel<'a>(fit: &'a Fit<'_>) -> FitPanel<'a> {
    let band = |level, lower: usize, upper: usize| Band {
        level,
        lower: (&fit.quantiles[lower]).into(),
        upper: (&fit.quantiles[upper]).into(),
    };
    FitPanel {
        series: &fit.series.id,
        variable: &fit.variable.name,
        unit: &fit.variable.unit,
        seen: Points { times: (&fit.seen.0).into(), values: (&fit.seen.1).into() },
        withheld: Points { times: (&fit.withheld.0).into(), values: (&fit.withheld.1).into() },
        truth: fit.truth.as_ref().map(|truth| Points { times: (&fit.times).into(), values: truth.into() }),
        times: (&fit.times).into(),
        mean: (&fit.mean).into(),
        bands: vec![band(0.9, 0, 3), band(0.5, 1, 2)],
        forecast_from: None,
    }
}
