//! Fits with their intervals.

use std::path::Path;

use stroock::batch::{Batcher, GridKind};
use stroock_experiments::protocol::Experiment;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_experiments::synthetic::IrregularSine;

use super::{between, draws, predictor, save};
use crate::failure::Failure;
use crate::fits::{self, Fit};

const SAMPLES: usize = 400;
const POINTS: usize = 241;
/// Stays and variables of a stay that are shown.
const STAYS: usize = 3;
const VARIABLES: usize = 4;

/// The variables of some stays that are measured most often.
pub fn stays(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let mut fits = Vec::new();
    for &number in prepared.split.test.iter().take(STAYS) {
        fits.extend(fit(run, prepared, number, &most_observed(prepared, number, VARIABLES))?);
    }
    save(&fits::picture(&fits, VARIABLES, "time (h)")?, folder, "fits")
}

/// The sine and what is made of its sixteen points.
pub fn sine(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    save(&fits::picture(&fit(run, prepared, 0, &[0])?, 1, "time")?, folder, "fits")
}

/// At most so many channels of a series, those with most observations first.
pub fn most_observed(prepared: &PreparedData, number: usize, most: usize) -> Vec<usize> {
    let (channels, series) = (prepared.data.observation().len(), &prepared.data.series()[number]);
    let count = |channel: usize| {
        (0..series.times.len()).filter(|&i| series.is_observed(channels, i, channel)).count()
    };
    let mut order: Vec<usize> = (0..channels).collect();
    order.sort_by_key(|&channel| std::cmp::Reverse(count(channel)));
    order.truncate(most);
    order
}

/// Fits of the chosen channels of a series at the times of [`grid`], with the truth where it is known.
pub fn fit<'a>(
    run: &'a Reproduction,
    prepared: &'a PreparedData,
    number: usize,
    chosen: &[usize],
) -> Result<Vec<Fit<'a>>, Failure> {
    let (about, times) = (&run.description.data, grid(run));
    let mut fits = fits::fit(&predictor(run), about, &prepared.data, number, chosen, &times, draws(SAMPLES))?;
    if run.result.config.experiment == Experiment::Sine {
        let truth: Vec<f64> = times.into_iter().map(IrregularSine::truth).collect();
        fits.iter_mut().for_each(|fit| fit.truth = Some(truth.clone()));
    }
    Ok(fits)
}

/// Times of the grid, or about as many: between two of them a path does not move.
pub fn grid(run: &Reproduction) -> Vec<f64> {
    let Batcher { grid_axis: axis, grid, .. } = run.description.data.batcher;
    let points = match grid {
        GridKind::Regular { points } => points.min(POINTS),
        GridKind::Observations { .. } => POINTS,
    };
    between(axis.start, axis.end, points)
}
