//! Batches of processes with given marginals, for the tests that need them.

#![allow(dead_code, reason = "every test file uses some of these")]

use stroock_geometry::Real;
use stroock_kernels::moebius::{MoebiusProblem, MoebiusProcess, SeriesTimes};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};
use stroock_kernels::path::Attractor;
use stroock_kernels::start::Draws;

/// A problem that owns its numbers.
#[derive(Clone, Debug)]
pub struct Batch<T> {
    pub dim: usize,
    pub knot_offsets: Vec<usize>,
    pub knot_times: Vec<f64>,
    pub positions: Vec<T>,
    pub widths: Vec<T>,
    pub sigma: T,
    /// Pull, rates and frequencies of an attractor.
    pub prior: Option<Vec<T>>,
    pub request_offsets: Vec<usize>,
    pub request_times: Vec<f64>,
    pub spans: Vec<[f64; 2]>,
    pub strata: usize,
    pub key: NoiseKey,
    pub numbers: Vec<u32>,
    pub samples: usize,
    pub first_sample: u32,
}

pub fn stream(seed: u64) -> Stream {
    NoiseKey::new(seed, 0).stream(Purpose::Caller, 0, 0)
}

pub fn normal(stream: &mut Stream) -> f64 {
    let (radius, angle) = ((-2.0 * stream.uniform().ln()).sqrt(), std::f64::consts::TAU * stream.uniform());
    radius * angle.cos()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let norm = dot(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

impl<T: Real> Batch<T> {
    /// One series with the given knots over the span [0, 1], and states at its end.
    pub fn one(dim: usize, knots: &[(f64, Vec<f64>, f64)], sigma: f64) -> Self {
        Self {
            dim,
            knot_offsets: vec![0, knots.len()],
            knot_times: knots.iter().map(|knot| knot.0).collect(),
            positions: knots.iter().flat_map(|knot| knot.1.iter().map(|&x| T::of(x))).collect(),
            widths: knots.iter().map(|knot| T::of(knot.2)).collect(),
            sigma: T::of(sigma),
            prior: None,
            request_offsets: vec![0, 1],
            request_times: vec![1.0],
            spans: vec![[0.0, 1.0]],
            strata: 4,
            key: NoiseKey::new(5, 0),
            numbers: vec![0],
            samples: 1,
            first_sample: 0,
        }
    }

    /// Series with one to four knots of random places and widths between 0.1 and 3; some requests and ends of spans lie
    /// outside of the knots.
    pub fn random(dim: usize, series: usize, samples: usize) -> Self {
        let mut s = stream(dim as u64);
        let mut batch = Self {
            knot_offsets: vec![0],
            request_offsets: vec![0],
            samples,
            numbers: (0..series as u32).map(|b| 3 * b + 1).collect(),
            request_times: Vec::new(),
            spans: Vec::new(),
            ..Self::one(dim, &[], 0.7)
        };
        for b in 0..series {
            let mut time = 0.3 * s.uniform();
            for _ in 0..1 + (b + 3) % 4 {
                batch.knot_times.push(time);
                batch.positions.extend((0..dim).map(|_| T::of(2.0 * s.uniform() - 1.0)));
                batch.widths.push(T::of(0.1 * 30f64.powf(s.uniform())));
                time += 0.1 + 0.5 * s.uniform();
            }
            batch.knot_offsets.push(batch.knot_times.len());
            batch.request_times.extend((0..b % 3 + 1).map(|_| 2.0 * s.uniform() - 0.3));
            batch.request_offsets.push(batch.request_times.len());
            batch.spans.push([0.4 * s.uniform() - 0.1, 0.8 + s.uniform()]);
        }
        batch
    }

    pub fn with_prior(mut self) -> Self {
        let mut s = stream(99);
        let count = Attractor::<T>::numbers(self.dim);
        self.prior = Some((0..count).map(|_| T::of(4.0 * s.uniform() - 2.0)).collect());
        self
    }

    pub fn series(&self) -> usize {
        self.numbers.len()
    }

    pub fn process(&self) -> MoebiusProcess<'_, T> {
        MoebiusProcess {
            dim: self.dim,
            knots: SeriesTimes { offsets: &self.knot_offsets, times: &self.knot_times },
            positions: &self.positions,
            widths: &self.widths,
            sigma: self.sigma,
        }
    }

    pub fn requests(&self) -> SeriesTimes<'_> {
        SeriesTimes { offsets: &self.request_offsets, times: &self.request_times }
    }

    pub fn draws(&self) -> Draws<'_> {
        Draws { key: self.key, series: &self.numbers, samples: self.samples, first_sample: self.first_sample }
    }

    pub fn problem(&self) -> MoebiusProblem<'_, T> {
        MoebiusProblem {
            process: self.process(),
            prior: self.prior.as_ref().map(|coefficients| Attractor { coefficients }),
            requests: self.requests(),
            spans: &self.spans,
            strata: self.strata,
            draws: self.draws(),
        }
    }

    /// The series `from..to` alone.
    pub fn part(&self, from: usize, to: usize) -> Self {
        let cut = |offsets: &[usize]| -> Vec<usize> {
            offsets[from..=to].iter().map(|offset| offset - offsets[from]).collect()
        };
        let (knots, requests) = (&self.knot_offsets, &self.request_offsets);
        Self {
            knot_offsets: cut(knots),
            knot_times: self.knot_times[knots[from]..knots[to]].to_vec(),
            positions: self.positions[knots[from] * self.dim..knots[to] * self.dim].to_vec(),
            widths: self.widths[knots[from]..knots[to]].to_vec(),
            request_offsets: cut(requests),
            request_times: self.request_times[requests[from]..requests[to]].to_vec(),
            spans: self.spans[from..to].to_vec(),
            numbers: self.numbers[from..to].to_vec(),
            ..self.clone()
        }
    }

    pub fn single(&self) -> Batch<f32> {
        let cast = |values: &[T]| values.iter().map(|x| x.as_f64() as f32).collect::<Vec<_>>();
        Batch {
            dim: self.dim,
            knot_offsets: self.knot_offsets.clone(),
            knot_times: self.knot_times.clone(),
            positions: cast(&self.positions),
            widths: cast(&self.widths),
            sigma: self.sigma.as_f64() as f32,
            prior: self.prior.as_ref().map(|prior| cast(prior)),
            request_offsets: self.request_offsets.clone(),
            request_times: self.request_times.clone(),
            spans: self.spans.clone(),
            strata: self.strata,
            key: self.key,
            numbers: self.numbers.clone(),
            samples: self.samples,
            first_sample: self.first_sample,
        }
    }
}

/// The radius `|psi|` of a width, by the formula as it is written.
pub fn radius(width: f64) -> f64 {
    (((width * width + 4.0).sqrt() - width) / 2.0).powi(2)
}

/// The divergence of the spherical Cauchy distribution of a width from the uniform one, by Simpson's rule.
///
/// In `v` with `angle = pi - pi exp(-v)` between `u` and `psi`, the logarithmic singularity at the antipode is far away.
pub fn divergence_by_integration(n: usize, width: f64) -> f64 {
    let r = radius(width);
    let near = width * ((width * width + 4.0).sqrt() - width) / 2.0;
    let (points, end) = (60_000, 60.0);
    let h = end / f64::from(points);
    let (mut mass, mut sum) = (0.0, 0.0);
    for i in 0..=points {
        let delta = std::f64::consts::PI * (-f64::from(i) * h).exp();
        let simpson = if i == 0 || i == points { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
        let weight = simpson * delta * delta.sin().max(0.0).powi(n as i32 - 2);
        let square = near * near + 4.0 * r * (0.5 * delta).sin().powi(2);
        mass += weight;
        sum += weight * square.ln();
    }
    (n as f64 - 1.0) * (sum / mass - (near * (1.0 + r)).ln())
}
