//! The evidence on the circle, by the forward recursion in the angle.

use std::f64::consts::TAU;

use crate::observed::{Observed, SIGMA, TIMES};

/// Nodes of the angle. What is transformed is smooth, and sums over the nodes are exact to rounding.
const NODES: usize = 128;

/// `ln p(x_1, ..)` for the driftless prior: between observations the Fourier coefficient `k` of the density of the angle
/// falls by `exp(-sigma^2 k^2 dt / 2)`, at an observation the density is multiplied by the likelihood.
pub fn ln_evidence(observed: &Observed) -> f64 {
    assert!(observed.dim == 2 && observed.prior.is_none());
    let angle = |node: usize| TAU * node as f64 / NODES as f64;
    // With respect to the uniform distribution.
    let mut density = vec![1.0; NODES];
    let (mut ln_evidence, mut time) = (0.0, 0.0);
    for (i, next) in TIMES.into_iter().enumerate() {
        density = diffused(&density, SIGMA * SIGMA * (next - time));
        time = next;
        for (node, density) in density.iter_mut().enumerate() {
            *density *= observed.ln_likelihood(i, &[angle(node).cos(), angle(node).sin()]).exp();
        }
        let mean = density.iter().sum::<f64>() / NODES as f64;
        density.iter_mut().for_each(|density| *density /= mean);
        ln_evidence += mean.ln();
    }
    ln_evidence
}

/// The density of `angle + N(0, variance)`.
fn diffused(density: &[f64], variance: f64) -> Vec<f64> {
    // The heat kernel at the nodes, by its Fourier series.
    let kernel: Vec<f64> = (0..NODES)
        .map(|node| {
            let angle = TAU * node as f64 / NODES as f64;
            let wave = |k: usize| 2.0 * (-0.5 * variance * (k * k) as f64).exp() * (k as f64 * angle).cos();
            1.0 + (1..NODES / 2).map(wave).sum::<f64>()
        })
        .collect();
    (0..NODES)
        .map(|to| {
            let from = |from: usize| kernel[(to + NODES - from) % NODES] * density[from];
            (0..NODES).map(from).sum::<f64>() / NODES as f64
        })
        .collect()
}
