//! Bounds of processes with given marginals.

use stroock_kernels::noise::NoiseKey;
use stroock_testing::statistics::{Estimate, estimate};

use crate::adam::{self, Adam};
use crate::marginals::Batch;
use crate::observed::{Observed, SIGMA, TIMES};

/// Of many widths and smoothings, and of one after an ascent.
pub fn bounds(observed: &Observed) -> Vec<Estimate> {
    let mut bounds = Vec::new();
    for width in [0.1, 0.3, 0.7, 3.0] {
        for smoothing in [0.05, 0.3, 1.0] {
            bounds.push(bound(observed, &process(observed, width, smoothing)));
        }
    }
    bounds.push(bound(observed, &improved(observed, process(observed, 0.3, 0.3))));
    bounds
}

/// A process that passes by the observations with constant width.
fn process(observed: &Observed, width: f64, smoothing: f64) -> Batch<f64> {
    let knots: Vec<(f64, Vec<f64>, f64)> = TIMES
        .iter()
        .map(|&time| {
            let mut w = vec![0.0; observed.dim];
            for (other, x) in TIMES.iter().zip(&observed.observations) {
                let weight = (-(time - other).abs() / smoothing).exp();
                w.iter_mut().zip(x).for_each(|(w, x)| *w += weight * x);
            }
            (time, w, width)
        })
        .collect();
    Batch {
        prior: observed.prior.clone(),
        spans: vec![[0.0, TIMES[TIMES.len() - 1]]],
        request_times: TIMES.to_vec(),
        request_offsets: vec![0, TIMES.len()],
        ..Batch::one(observed.dim, &knots, SIGMA)
    }
}

fn bound(observed: &Observed, process: &Batch<f64>) -> Estimate {
    let drawn = Batch { samples: 8_000, ..process.clone() }.problem().forward().unwrap();
    let rows = drawn.states.chunks_exact(TIMES.len() * observed.dim).zip(&drawn.kl_path);
    estimate(rows.map(|(states, kl)| observed.ln_likelihoods(states) - kl - drawn.kl_start[0]))
}

/// The process after some steps of Adam up the bound, in its positions and the logarithms of its widths.
fn improved(observed: &Observed, mut process: Batch<f64>) -> Batch<f64> {
    process.samples = 64;
    let mut adam = Adam::new();
    for step in 0..adam::STEPS {
        process.key = NoiseKey::new(1, step as u64);
        let drawn = process.problem().forward().unwrap();
        let share = 1.0 / process.samples as f64;
        let of_states = observed.of_states(&drawn.states, share);
        let of_path = vec![-share; process.samples];
        let gradients = process.problem().backward(&of_states, &[-1.0], &of_path).unwrap();
        let of_ln_widths = gradients.widths.iter().zip(&process.widths).map(|(g, width)| g * width);
        let up: Vec<f64> = gradients.positions.iter().copied().chain(of_ln_widths).collect();
        let changes = adam.changes(&up);
        let (of_positions, of_widths) = changes.split_at(process.positions.len());
        process.positions.iter_mut().zip(of_positions).for_each(|(x, change)| *x += change);
        process.widths.iter_mut().zip(of_widths).for_each(|(width, change)| *width *= change.exp());
    }
    process
}
