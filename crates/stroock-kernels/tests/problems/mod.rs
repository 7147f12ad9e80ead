//! Batches of path problems that the tests share.
#![allow(dead_code, reason = "each test file uses its part")]

use stroock_kernels::noise::{NoiseKey, philox};
use stroock_kernels::path::{
    Attractor, Chebyshev, Drift, Grid, Noise, PathProblem, PathReal, PerStep, PiecewiseLinear, Prior,
    Requests, Space,
};

/// An owned path problem with noise from the generator.
#[derive(Clone)]
pub struct Batch<T> {
    pub space: Space,
    pub dim: usize,
    pub samples: usize,
    /// `None`: one grid for all.
    pub time_offsets: Option<Vec<usize>>,
    pub times: Vec<T>,
    /// Chebyshev terms; `None`: drift per step, or by knots.
    pub terms: Option<usize>,
    /// Knots of a piecewise linear drift, with offsets where every series has its own; `None`: another drift.
    pub knots: Option<(Option<Vec<usize>>, Vec<T>)>,
    pub drift: Vec<T>,
    /// Chebyshev terms of the prior's drift; `None`: driftless.
    pub prior_terms: Option<usize>,
    pub prior: Vec<T>,
    pub sigma: T,
    pub start: Vec<T>,
    pub numbers: Vec<u32>,
    /// `None`: every grid point.
    pub request_offsets: Option<Vec<usize>>,
    pub requests: Vec<usize>,
    pub key: NoiseKey,
}

/// A number in (-1, 1) that depends on `seed` and `i` alone.
pub fn scatter(seed: u32, i: usize) -> f64 {
    f64::from(philox([i as u32, seed, 0, 0], [0x5EED, 0])[0] as i32) / 2f64.powi(31)
}

/// The point of the space that belongs to the coordinates.
pub fn on_space(space: Space, mut z: Vec<f64>) -> Vec<f64> {
    let squares = |z: &[f64]| z.iter().map(|x| x * x).sum::<f64>();
    match space {
        Space::GeneralLinear => {}
        Space::Sphere => {
            let norm = squares(&z).sqrt();
            z.iter_mut().for_each(|x| *x /= norm);
        }
        Space::Hyperbolic => z[0] = (1.0 + squares(&z[1..])).sqrt(),
    }
    z
}

fn start<T: PathReal>(space: Space, n: usize, rows: usize) -> Vec<T> {
    (0..rows)
        .flat_map(|row| {
            let z: Vec<f64> = (0..n).map(|i| scatter(1, row * n + i)).collect();
            on_space(space, z).into_iter().map(T::of)
        })
        .collect()
}

impl<T: PathReal> Batch<T> {
    /// Six Chebyshev terms on a shared irregular grid, states wanted at every second point, some twice.
    pub fn chebyshev(space: Space, n: usize, series: usize, samples: usize, steps: usize) -> Self {
        let m = space.algebra_dim(n);
        let times = (0..=steps).map(|j| T::of((j as f64 + 0.3 * scatter(2, j)) / steps as f64)).collect();
        let wanted: Vec<usize> = (0..=steps).filter(|j| j % 2 == 0).chain([steps, steps]).collect();
        Self {
            space,
            dim: n,
            samples,
            time_offsets: None,
            times,
            terms: Some(6),
            knots: None,
            drift: (0..series * m * 6).map(|i| T::of(scatter(3, i))).collect(),
            prior_terms: None,
            prior: Vec::new(),
            sigma: T::of(0.4),
            start: start(space, n, samples * series),
            numbers: (0..series as u32).map(|b| 100 + 7 * b).collect(),
            request_offsets: Some((0..=series).map(|b| b * wanted.len()).collect()),
            requests: wanted.repeat(series),
            key: NoiseKey::new(11, 3),
        }
    }

    /// Drift per step; series `b` has its own grid of `(5 b) mod 7` steps, states wanted everywhere.
    pub fn ragged(space: Space, n: usize, series: usize, samples: usize) -> Self {
        let m = space.algebra_dim(n);
        let steps: Vec<usize> = (0..series).map(|b| (5 * b) % 7).collect();
        let mut time_offsets = vec![0];
        let mut times = Vec::new();
        for (b, steps) in steps.iter().enumerate() {
            times.extend(
                (0..=*steps).map(|j| T::of(0.1 * b as f64 + 0.2 * (j as f64 + 0.3 * scatter(4, b + j)))),
            );
            time_offsets.push(times.len());
        }
        let all: usize = steps.iter().sum();
        Self {
            space,
            dim: n,
            samples,
            time_offsets: Some(time_offsets),
            times,
            terms: None,
            knots: None,
            drift: (0..all * m).map(|i| T::of(scatter(5, i))).collect(),
            prior_terms: None,
            prior: Vec::new(),
            sigma: T::of(0.3),
            start: start(space, n, samples * series),
            numbers: (0..series as u32).collect(),
            request_offsets: None,
            requests: Vec::new(),
            key: NoiseKey::new(12, 0),
        }
    }

    /// The same problem with a piecewise linear drift: shared knots, some outside the grid, or (`ragged`) knots of
    /// their own, one at least.
    pub fn with_knots(self, ragged: bool) -> Self {
        let (series, m) = (self.series(), self.space.algebra_dim(self.dim));
        let shared: Vec<f64> = vec![-0.5, 0.1, 0.3, 0.35, 0.8, 2.0];
        let (offsets, knots) = if ragged {
            let lists: Vec<Vec<f64>> =
                (0..series).map(|b| shared[b % 4..b % 4 + 1 + b % 3].to_vec()).collect();
            let mut offsets = vec![0];
            lists.iter().for_each(|list| offsets.push(offsets[offsets.len() - 1] + list.len()));
            (Some(offsets), lists.concat())
        } else {
            (None, shared)
        };
        let count = offsets.as_ref().map_or(series * knots.len(), |offsets| offsets[series]);
        let drift = (0..count * m).map(|i| T::of(scatter(7, i))).collect();
        let knots = knots.into_iter().map(T::of).collect();
        Self { terms: None, knots: Some((offsets, knots)), drift, ..self }
    }

    /// The same problem with a prior that has a drift.
    pub fn with_prior(self, terms: usize) -> Self {
        let count = self.series() * self.space.algebra_dim(self.dim) * terms;
        let prior = (0..count).map(|i| T::of(scatter(6, i))).collect();
        Self { prior_terms: Some(terms), prior, ..self }
    }

    /// The same problem with a drift in the ambient space, for paths that are steered.
    pub fn steered(self, strength: f64) -> Self {
        let count = self.drift.len() / self.space.algebra_dim(self.dim) * self.dim;
        let drift = (0..count).map(|i| T::of(strength * scatter(8, i))).collect();
        Self { drift, ..self }
    }

    /// The same problem with a prior that attracts.
    pub fn attracted(self, strength: f64) -> Self {
        let count = self.series() * (self.dim + 2 * (self.dim / 2));
        let prior = (0..count).map(|i| T::of(strength * scatter(9, i))).collect();
        Self { prior_terms: None, prior, ..self }
    }

    pub fn series(&self) -> usize {
        self.numbers.len()
    }

    pub fn problem(&self) -> PathProblem<'_, T> {
        PathProblem {
            space: self.space,
            dim: self.dim,
            samples: self.samples,
            grid: match &self.time_offsets {
                None => Grid::Shared(&self.times),
                Some(offsets) => Grid::PerSeries { offsets, times: &self.times },
            },
            drift: match (&self.knots, self.terms) {
                (Some((offsets, times)), _) => Drift::PiecewiseLinear(PiecewiseLinear {
                    knots: match offsets {
                        None => Grid::Shared(times),
                        Some(offsets) => Grid::PerSeries { offsets, times },
                    },
                    coefficients: &self.drift,
                }),
                (None, Some(terms)) => Drift::Chebyshev(Chebyshev {
                    terms,
                    interval: (T::of(0.0), T::of(2.0)),
                    coefficients: &self.drift,
                }),
                (None, None) => Drift::PerStep(PerStep(&self.drift)),
            },
            prior: match self.prior_terms {
                Some(terms) => Prior::Drift(Drift::Chebyshev(Chebyshev {
                    terms,
                    interval: (T::of(-1.0), T::of(1.5)),
                    coefficients: &self.prior,
                })),
                None if !self.prior.is_empty() => {
                    Prior::Drift(Drift::Attractor(Attractor { coefficients: &self.prior }))
                }
                None => Prior::Driftless,
            },
            sigma: self.sigma,
            start: &self.start,
            noise: Noise::Counter { key: self.key, series: &self.numbers, first_sample: 0 },
            requests: match &self.request_offsets {
                None => Requests::All,
                Some(offsets) => Requests::At { offsets, indices: &self.requests },
            },
        }
    }

    /// The part of the batch with the series in `range`.
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        let (n, m, series) = (self.dim, self.space.algebra_dim(self.dim), self.series());
        let run = |offsets: &[usize]| offsets[range.start]..offsets[range.end];
        let shifted = |offsets: &[usize]| {
            offsets[range.start..=range.end].iter().map(|o| o - offsets[range.start]).collect::<Vec<_>>()
        };
        let mut part = Self {
            start: (0..self.samples)
                .flat_map(|s| &self.start[(s * series + range.start) * n..(s * series + range.end) * n])
                .copied()
                .collect(),
            numbers: self.numbers[range.clone()].to_vec(),
            prior: {
                let per_series = self.prior.len() / series;
                self.prior[range.start * per_series..range.end * per_series].to_vec()
            },
            ..self.clone()
        };
        match &self.time_offsets {
            None => {
                let per_series = self.drift.len() / series;
                part.drift = self.drift[range.start * per_series..range.end * per_series].to_vec();
            }
            Some(offsets) => {
                part.times = self.times[run(offsets)].to_vec();
                part.time_offsets = Some(shifted(offsets));
                // A grid has one step less than times.
                let steps = (offsets[range.start] - range.start) * m..(offsets[range.end] - range.end) * m;
                part.drift = self.drift[steps].to_vec();
            }
        }
        if let Some(offsets) = &self.request_offsets {
            part.requests = self.requests[run(offsets)].to_vec();
            part.request_offsets = Some(shifted(offsets));
        }
        part
    }
}

impl Batch<f64> {
    /// The same problem in single precision.
    pub fn single(&self) -> Batch<f32> {
        let singles = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        Batch {
            space: self.space,
            dim: self.dim,
            samples: self.samples,
            time_offsets: self.time_offsets.clone(),
            times: singles(&self.times),
            terms: self.terms,
            knots: self.knots.as_ref().map(|(offsets, knots)| (offsets.clone(), singles(knots))),
            drift: singles(&self.drift),
            prior_terms: self.prior_terms,
            prior: singles(&self.prior),
            sigma: self.sigma as f32,
            start: singles(&self.start),
            numbers: self.numbers.clone(),
            request_offsets: self.request_offsets.clone(),
            requests: self.requests.clone(),
            key: self.key,
        }
    }
}
