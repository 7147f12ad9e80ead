//! Fits with their intervals.

use std::path::Path;

use stroock::batch::{Batcher, GridKind};
use stroock::model::Variable;
use stroock::predict::Summary;
use stroock::series::Series;
use stroock_experiments::reproduce::{Material, Reproduction};
use stroock_experiments::synthetic::IrregularSine;
use stroock_figures::{Band, FitFigure, FitPanel, Points};

use super::{between, draws, predictor, save};
use crate::failure::Failure;

const SAMPLES: usize = 400;
const POINTS: usize = 241;
/// Ends of the 50 % and of the 90 % intervals.
const LEVELS: [f64; 4] = [0.05, 0.25, 0.75, 0.95];
/// Stays and variables of a stay that are shown.
const STAYS: usize = 3;
const VARIABLES: usize = 4;

/// One variable of one series, in the units of the user.
struct Fit<'a> {
    series: &'a Series,
    variable: &'a Variable,
    seen: (Vec<f64>, Vec<f64>),
    mean: Vec<f64>,
    quantiles: Vec<Vec<f64>>,
}

/// The variables of some stays that are measured most often.
pub fn stays(run: &Reproduction, material: &Material, folder: &Path) -> Result<(), Failure> {
    let channels = material.data.observation().len();
    let mut fits = Vec::new();
    for &number in material.split.test.iter().take(STAYS) {
        let series = &material.data.series()[number];
        let count = |channel: usize| {
            (0..series.times.len()).filter(|&i| series.is_observed(channels, i, channel)).count()
        };
        let mut order: Vec<usize> = (0..channels).collect();
        order.sort_by_key(|&channel| std::cmp::Reverse(count(channel)));
        order.truncate(VARIABLES);
        fits.extend(fit(run, material, number, &order)?);
    }
    draw(&fits, VARIABLES, "time (h)", None, run, folder)
}

/// The sine and what is made of its sixteen points.
pub fn sine(run: &Reproduction, material: &Material, folder: &Path) -> Result<(), Failure> {
    let fits = fit(run, material, 0, &[0])?;
    draw(&fits, 1, "time", Some(IrregularSine::truth), run, folder)
}

fn fit<'a>(
    run: &Reproduction,
    material: &'a Material,
    number: usize,
    chosen: &[usize],
) -> Result<Vec<Fit<'a>>, Failure> {
    let about = &run.description.data;
    let times = grid(run);
    let drawn = predictor(run).posterior(&material.data, &[number], &[times], draws(SAMPLES))?;
    let Some(drawn) = drawn.first() else { return Ok(Vec::new()) };
    let series = &material.data.series()[number];
    let channels = drawn.channels;
    Ok(chosen
        .iter()
        .map(|&channel| {
            let of_channel: Vec<f32> =
                drawn.observations.iter().skip(channel).step_by(channels).copied().collect();
            let summary = Summary::of(&of_channel, drawn.times.len(), &LEVELS);
            let means: Vec<f32> = drawn.means.iter().skip(channel).step_by(channels).copied().collect();
            let value =
                |i: usize| about.scaler.to_user(channel, f64::from(series.values[i * channels + channel]));
            let seen = (0..series.times.len()).filter(|&i| series.is_visible(channels, i, channel));
            Fit {
                series,
                variable: &material.variables[channel],
                seen: seen.map(|i| (series.times[i], value(i))).unzip(),
                mean: Summary::of(&means, drawn.times.len(), &[]).mean,
                quantiles: summary.quantiles,
            }
        })
        .collect())
}

/// Times of the grid, or about as many: between two of them a path does not move.
fn grid(run: &Reproduction) -> Vec<f64> {
    let Batcher { grid_axis: axis, grid, .. } = run.description.data.batcher;
    let points = match grid {
        GridKind::Regular { points } => points.min(POINTS),
        GridKind::Observations { .. } => POINTS,
    };
    between(axis.start, axis.end, points)
}

fn draw(
    fits: &[Fit],
    columns: usize,
    time: &str,
    truth: Option<fn(f64) -> f64>,
    run: &Reproduction,
    folder: &Path,
) -> Result<(), Failure> {
    let times = grid(run);
    let truth: Option<Vec<f64>> = truth.map(|truth| times.iter().map(|&t| truth(t)).collect());
    let panel = |fit: &'_ Fit| -> (String, String) { (fit.series.id.clone(), fit.variable.name.clone()) };
    let names: Vec<_> = fits.iter().map(panel).collect();
    let figure = FitFigure {
        panels: fits
            .iter()
            .zip(&names)
            .map(|(fit, (series, variable))| FitPanel {
                series,
                variable,
                unit: &fit.variable.unit,
                seen: Points { times: (&fit.seen.0).into(), values: (&fit.seen.1).into() },
                truth: truth.as_ref().map(|truth| Points { times: (&times).into(), values: truth.into() }),
                times: (&times).into(),
                mean: (&fit.mean).into(),
                bands: [(0.9, 0, 3), (0.5, 1, 2)]
                    .map(|(level, lower, upper)| Band {
                        level,
                        lower: (&fit.quantiles[lower]).into(),
                        upper: (&fit.quantiles[upper]).into(),
                    })
                    .to_vec(),
                ..FitPanel::default()
            })
            .collect(),
        columns,
        time,
        width: if columns > 1 { 1100.0 } else { 600.0 },
        ..FitFigure::default()
    };
    save(&figure.picture()?, folder, "fits")
}
