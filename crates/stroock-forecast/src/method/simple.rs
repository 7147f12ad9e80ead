//! Rules that anybody can apply.

use super::steps::Steps;
use crate::{Errors, History, Projection};

/// The mean of all values, with white noise around it.
pub fn mean(history: &History, ahead: &[f64]) -> Option<Projection> {
    let values = history.values();
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let noise = variance * (1.0 + 1.0 / count);
    Some(Projection {
        log: false,
        location: vec![mean; ahead.len()],
        scale: vec![noise.sqrt(); ahead.len()],
        errors: Errors::Markov { ahead: ahead.to_vec(), rate: 0.0, diffusion: 0.0, start: 0.0, noise },
    })
}

/// The last value, and a random walk from there.
pub fn naive(history: &History, ahead: &[f64]) -> Option<Projection> {
    let last = *history.values().last()?;
    let diffusion = diffusion(history, 0.0);
    Some(Projection {
        log: false,
        location: vec![last; ahead.len()],
        scale: ahead.iter().map(|ahead| (diffusion * ahead.max(0.0)).sqrt()).collect(),
        errors: Errors::Markov { ahead: ahead.to_vec(), rate: 0.0, diffusion, start: 0.0, noise: 0.0 },
    })
}

/// The line through the first and the last value, and a random walk around it; the variance of the slope is
/// `diffusion / length`.
pub fn drift(history: &History, ahead: &[f64]) -> Option<Projection> {
    let (values, places) = (history.values(), history.places());
    if values.len() < 3 {
        return None;
    }
    let length = places[places.len() - 1] - places[0];
    let last = *values.last()?;
    let slope = (last - values[0]) / length;
    let diffusion = diffusion(history, slope);
    Some(Projection {
        log: false,
        location: ahead.iter().map(|ahead| last + slope * ahead).collect(),
        scale: ahead.iter().map(|a| (diffusion * a.max(0.0) * (1.0 + a / length)).sqrt()).collect(),
        errors: Errors::Markov { ahead: ahead.to_vec(), rate: 0.0, diffusion, start: 0.0, noise: 0.0 },
    })
}

/// Variance of a random walk for each step, given its slope.
fn diffusion(history: &History, slope: f64) -> f64 {
    let (values, places) = (history.values(), history.places());
    let pairs = values.windows(2).zip(places.windows(2));
    let (mut sum, mut count) = (0.0, 0.0);
    for (value, place) in pairs.filter(|(_, place)| place[1] > place[0]) {
        let gap = place[1] - place[0];
        sum += (value[1] - value[0] - slope * gap).powi(2) / gap;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The value one period before (or as many periods before as it takes to find one).
pub fn seasonal_naive(grid: &[f64], period: f64, steps: usize) -> Option<Steps> {
    let last = grid.len() - 1;
    let before = |t: usize| -> Option<f64> {
        let cycles = 1..=(t as f64 / period).ceil() as usize + 1;
        let known = cycles.filter_map(|cycle| t.checked_sub((cycle as f64 * period).round() as usize));
        known.filter(|&t| t <= last).map(|t| grid[t]).find(|value| value.is_finite())
    };
    let (mut sum, mut count) = (0.0, 0usize);
    for (t, value) in grid.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        if let Some(before) = before(t) {
            sum += (value - before).powi(2);
            count += 1;
        }
    }
    if count < 2 {
        return None;
    }
    let mean: Option<Vec<f64>> = (1..=steps).map(|step| before(last + step)).collect();
    let mut weights = vec![0.0; steps];
    let cycles = 0..=(steps as f64 / period) as usize + 1;
    for place in cycles.map(|cycle| (cycle as f64 * period).round() as usize) {
        if let Some(weight) = weights.get_mut(place) {
            *weight = 1.0;
        }
    }
    Some(Steps { mean: mean?, weights, sigma: (sum / count as f64).sqrt() })
}
