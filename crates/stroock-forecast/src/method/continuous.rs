//! Processes in continuous time, for values at any times: hidden random walks and mean reversion behind noise.

use crate::minimise::minimise;
use crate::projection::hidden_variance;
use crate::{Errors, History, Projection};

const EVALUATIONS: usize = 120;

/// `dx = -rate x dt + sqrt(diffusion) dW`, seen with noise; all variances are shares of a scale that follows from the
/// data.
#[derive(Clone, Copy)]
struct Process {
    rate: f64,
    diffusion: f64,
    noise: f64,
    start: (f64, f64),
}

/// What the filter of Kalman leaves: the last state, the scale, and minus twice the log likelihood but for a constant.
struct Filtered {
    mean: f64,
    variance: f64,
    scale: f64,
    loss: f64,
}

impl Process {
    fn filter(&self, history: &History) -> Filtered {
        let (mut mean, mut variance) = self.start;
        let (mut squares, mut logs, mut before) = (0.0, 0.0, None);
        for (&place, &value) in history.places().iter().zip(history.values()) {
            let gap = before.map_or(0.0, |before| place - before);
            before = Some(place);
            mean *= (-self.rate * gap).exp();
            variance = hidden_variance(variance, self.rate, self.diffusion, gap);
            let total = variance + self.noise;
            let error = value - mean;
            squares += error * error / total;
            logs += total.ln();
            mean += variance / total * error;
            variance *= self.noise / total;
        }
        let count = history.len() as f64;
        let scale = squares / count;
        Filtered { mean, variance, scale, loss: count * scale.max(1e-300).ln() + logs }
    }

    fn project(&self, history: &History, ahead: &[f64]) -> Projection {
        let Filtered { mean, variance, scale, .. } = self.filter(history);
        let (start, diffusion, noise) = (scale * variance, scale * self.diffusion, scale * self.noise);
        let rate = self.rate;
        let sd = |&ahead: &f64| (hidden_variance(start, rate, diffusion, ahead) + noise).sqrt();
        Projection {
            log: false,
            location: ahead.iter().map(|ahead| mean * (-rate * ahead).exp()).collect(),
            scale: ahead.iter().map(sd).collect(),
            errors: Errors::Markov { ahead: ahead.to_vec(), rate, diffusion, start, noise },
        }
    }
}

/// A random walk behind noise; the share of the noise is that of greatest likelihood.
pub fn local_level(history: &History, ahead: &[f64]) -> Option<Projection> {
    let first = *history.values().first()?;
    if history.len() < 4 {
        return None;
    }
    let process = |x: &[f64]| {
        let noise = 1.0 / (1.0 + (-x[0].clamp(-12.0, 12.0)).exp());
        Process { rate: 0.0, diffusion: 1.0 - noise, noise, start: (first, noise) }
    };
    let (x, _) = minimise(|x| process(x).filter(history).loss, &[0.0], 2.0, EVALUATIONS);
    Some(process(&x).project(history, ahead))
}

/// A stationary path around the mean (0 after scaling) behind noise; how fast it returns and how large the noise is
/// are those of greatest likelihood.
pub fn mean_reverting(history: &History, ahead: &[f64]) -> Option<Projection> {
    if history.len() < 6 {
        return None;
    }
    let process = |x: &[f64]| {
        let rate = x[0].clamp(-12.0, 6.0).exp();
        let noise = 1.0 / (1.0 + (-x[1].clamp(-12.0, 12.0)).exp());
        let variance = 1.0 - noise;
        Process { rate, diffusion: 2.0 * rate * variance, noise, start: (0.0, variance) }
    };
    let (x, _) = minimise(|x| process(x).filter(history).loss, &[-1.5, -1.0], 1.5, EVALUATIONS);
    Some(process(&x).project(history, ahead))
}
