//! Noisy observations of a path of the prior on the sphere, and their evidence by a particle filter.

use stroock_kernels::noise::Stream;

use crate::marginals::{dot, normal, stream, unit};

/// When there are observations: on a grid of 20 steps a unit of time.
pub const TIMES: [f64; 4] = [0.2, 0.45, 0.7, 0.95];
pub const SIGMA: f64 = 0.7;

pub struct Observed {
    pub dim: usize,
    /// Standard deviation of the observations.
    pub noise: f64,
    pub observations: Vec<Vec<f64>>,
    /// Pull, rates and frequencies of the prior.
    pub prior: Option<Vec<f64>>,
}

impl Observed {
    /// Observations of a path of the prior.
    pub fn new(dim: usize, noise: f64, prior: Option<Vec<f64>>) -> Self {
        let mut observed = Self { dim, noise, observations: Vec::new(), prior };
        let mut s = stream(31 + dim as u64);
        let mut z = uniform(dim, &mut s);
        let mut time = 0.0;
        for next in TIMES {
            observed.walk(&mut z, next - time, &mut s);
            time = next;
            observed.observations.push(z.iter().map(|z| z + noise * normal(&mut s)).collect());
        }
        observed
    }

    /// A step of the prior, in parts of about a fiftieth.
    fn walk(&self, z: &mut [f64], length: f64, s: &mut Stream) {
        let parts = (length / 0.02).ceil();
        let dt = length / parts;
        for _ in 0..parts as usize {
            let mut x: Vec<f64> = z.iter().map(|_| SIGMA * dt.sqrt() * normal(s)).collect();
            if let Some(prior) = &self.prior {
                let (pull, planes) = prior.split_at(self.dim);
                let (rates, frequencies) = planes.split_at(self.dim / 2);
                x.iter_mut().zip(pull).for_each(|(x, pull)| *x += dt * pull);
                for (i, (rate, frequency)) in rates.iter().zip(frequencies).enumerate() {
                    x[2 * i] += dt * (rate * z[2 * i] - frequency * z[2 * i + 1]);
                    x[2 * i + 1] += dt * (rate * z[2 * i + 1] + frequency * z[2 * i]);
                }
            }
            let normal = dot(&x, z);
            z.iter_mut().zip(&x).for_each(|(z, x)| *z += x - normal * *z);
            let norm = dot(z, z).sqrt();
            z.iter_mut().for_each(|z| *z /= norm);
        }
    }

    pub fn ln_likelihood(&self, observation: usize, z: &[f64]) -> f64 {
        let x = &self.observations[observation];
        let square: f64 = z.iter().zip(x).map(|(z, x)| (z - x).powi(2)).sum();
        let variance = self.noise * self.noise;
        -0.5 * (square / variance + self.dim as f64 * (std::f64::consts::TAU * variance).ln())
    }

    /// Of all observations, at the states `[times, n]`.
    pub fn ln_likelihoods(&self, states: &[f64]) -> f64 {
        states.chunks_exact(self.dim).enumerate().map(|(i, z)| self.ln_likelihood(i, z)).sum()
    }

    /// The gradient of `share` times the likelihoods' logarithms by the states of samples, `[S, times, n]`.
    pub fn of_states(&self, states: &[f64], share: f64) -> Vec<f64> {
        let of_state = |(row, z): (usize, &[f64])| {
            let x = &self.observations[row % TIMES.len()];
            z.iter().zip(x).map(|(z, x)| share * (x - z) / (self.noise * self.noise)).collect::<Vec<_>>()
        };
        states.chunks_exact(self.dim).enumerate().flat_map(of_state).collect()
    }

    /// An unbiased estimate of the evidence, by a bootstrap filter.
    pub fn evidence(&self, particles: usize, s: &mut Stream) -> f64 {
        let mut cloud: Vec<Vec<f64>> = (0..particles).map(|_| uniform(self.dim, s)).collect();
        let (mut evidence, mut time) = (1.0, 0.0);
        for (i, next) in TIMES.into_iter().enumerate() {
            for z in &mut cloud {
                self.walk(z, next - time, s);
            }
            time = next;
            let weights: Vec<f64> = cloud.iter().map(|z| self.ln_likelihood(i, z).exp()).collect();
            let total: f64 = weights.iter().sum();
            evidence *= total / particles as f64;
            let (mut k, mut sum) = (0, weights[0]);
            let first = s.uniform();
            cloud = (0..particles)
                .map(|p| {
                    while k + 1 < particles && sum < total * (p as f64 + first) / particles as f64 {
                        k += 1;
                        sum += weights[k];
                    }
                    cloud[k].clone()
                })
                .collect();
        }
        evidence
    }
}

fn uniform(dim: usize, s: &mut Stream) -> Vec<f64> {
    unit((0..dim).map(|_| normal(s)).collect())
}
