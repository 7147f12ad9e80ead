//! Predictive distributions without draws.

use super::Predictions;
use crate::model::DataDescription;
use crate::predict::Summary;
use crate::residual::Shape;
use crate::series::Scaler;

/// Values at evenly spaced levels that expectations of values with a logarithm are taken over. The exact expectation of
/// heavy tails in logarithms is decided by values that nobody ever sees.
const LEVELS: usize = 64;

/// Predictive distributions from their means and standard deviations in model units, and the shapes of residuals.
pub(super) struct ClosedForm<'a> {
    scaler: &'a Scaler,
    /// Standard deviation of each shape.
    sds: Vec<f64>,
    /// Quantiles of each shape at the levels of the user, `[C][levels]`.
    quantiles: Vec<Vec<f64>>,
    /// Quantiles of each shape at evenly spaced levels; empty for channels without a logarithm.
    even: Vec<Vec<f64>>,
}

impl<'a> ClosedForm<'a> {
    pub fn new(about: &'a DataDescription, levels: &[f64]) -> Self {
        let residuals = about.residual.iter().flat_map(|process| &process.channels);
        let shapes: Vec<Shape> = residuals.map(|residual| residual.shape).collect();
        let quantiles = |shape: &Shape| levels.iter().map(|&level| shape.quantile(level)).collect();
        let even = |(channel, shape): (usize, &Shape)| {
            let levels = (0..LEVELS).map(|k| (k as f64 + 0.5) / LEVELS as f64);
            let logarithm = about.scaler.logarithm(channel);
            logarithm.map_or_else(Vec::new, |_| levels.map(|level| shape.quantile(level)).collect())
        };
        Self {
            scaler: &about.scaler,
            sds: shapes.iter().map(|shape| shape.variance().sqrt()).collect(),
            quantiles: shapes.iter().map(quantiles).collect(),
            even: shapes.iter().enumerate().map(even).collect(),
        }
    }

    /// Appends mean, standard deviation and quantiles in the units of the user.
    pub fn push(&self, predictions: &mut Predictions, channel: usize, mean: f64, sd: f64) {
        let user = |value: f64| self.scaler.to_user(channel, value);
        let quantiles = predictions.quantiles.iter_mut().zip(&self.quantiles[channel]);
        if self.scaler.logarithm(channel).is_some() {
            let values: Vec<f64> =
                self.even[channel].iter().map(|quantile| user(mean + sd * quantile)).collect();
            let summary = Summary::of(&values, 1, &[]);
            predictions.mean.extend(summary.mean);
            predictions.sd.extend(summary.sd);
            quantiles.for_each(|(all, quantile)| all.push(user(mean + sd * quantile)));
            return;
        }
        let (mean, unit) = (user(mean), self.scaler.scale_of(channel).abs() * sd);
        predictions.mean.push(mean);
        predictions.sd.push(unit * self.sds[channel]);
        quantiles.for_each(|(all, quantile)| all.push(mean + unit * quantile));
    }
}
