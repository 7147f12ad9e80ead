//! Autoregressive integrated moving averages, with seasons.
//!
//! `(1 - B)^d (1 - B^m)^D y_t = mu + x_t` with a stationary `x` of small orders, plain and over the period. Tests say how
//! often to difference, Akaike's criterion the orders, and the exact likelihood the coefficients.

mod differences;
mod likelihood;
mod order;
mod polynomial;

use super::steps::Steps;
use crate::season::without_gaps;
use differences::Differences;
use likelihood::advance;
use order::search;
use polynomial::{product, shock_weights};

/// Longest period with coefficients of its own: longer ones have too many states, and are better told by harmonics.
const LONGEST: f64 = 13.0;
/// Steps back that coefficients are learned from.
const MEMORY: usize = 500;

/// The forecast of the model that tests and Akaike's criterion choose.
pub fn arima(grid: &[f64], periods: &[f64], steps: usize) -> Option<Steps> {
    let values = without_gaps(&grid[grid.len().saturating_sub(MEMORY)..]);
    if periods.first().is_some_and(|period| *period > LONGEST) {
        return None;
    }
    let period = periods.first().filter(|period| 3.0 * **period <= values.len() as f64);
    let period = period.map(|period| period.round() as usize);
    let differences = Differences::needed(&values, period);
    integrated(values, period, differences, steps)
}

fn integrated(
    mut values: Vec<f64>,
    period: Option<usize>,
    differences: Differences,
    steps: usize,
) -> Option<Steps> {
    let count = values.len();
    if count < differences.length() + 10 {
        return None;
    }
    let changes = differences.of(&values);
    let constants = differences.count() == 1;
    let model = search(&changes, period, differences.count() == 0, constants)?;
    let integration = differences.coefficients();
    let phi = product(&model.phi, &integration, 1);
    let weights = shock_weights(&phi, &model.theta, steps);
    let mut state = model.filtered.state.clone();
    for _ in 0..steps {
        let past: f64 = integration.iter().enumerate().map(|(k, c)| c * values[values.len() - 1 - k]).sum();
        values.push(past + model.filtered.mean + state[0]);
        advance(&mut state, &model.phi);
    }
    let size = changes.len() as f64;
    let freedom = (size - model.order.numbers() as f64).max(0.5 * size);
    let sigma = (model.filtered.variance * size / freedom).sqrt();
    Some(Steps { mean: values.split_off(count), weights, sigma })
}
