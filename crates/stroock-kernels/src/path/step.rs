//! One step of a group of rows: its length, drift, noise and increment in the Lie algebra.

use stroock_geometry::Real;

use super::PathError;
use super::exponential::{self, LIMIT, Parts};
use super::problem::{Drift, Layout, Noise, PathProblem};
use super::rows::Row;
use crate::noise::{NoiseKey, fill_step};
use crate::simd::{Lanes, MAX_WIDTH, Words};

/// The quantities of the current step, for the rows in the lanes.
pub(super) struct Step<'p, V: Lanes> {
    rows: [Row; MAX_WIDTH],
    times: [&'p [V::Real]; MAX_WIDTH],
    source: DriftSource<'p, V>,
    increments: IncrementSource<'p, V>,
    sigma: V::Real,
    /// Length of the step; 0 in lanes whose path has ended.
    pub dt: V,
    /// Its square root.
    pub sqrt_dt: V,
    /// Drift `K(t_j)`, `[m]`.
    pub drift: Vec<V>,
    /// Standard normals, `[m]`.
    pub noise: Vec<V>,
    /// `K dt + sigma sqrt(dt) xi`, divided by the number of parts, `[m]`.
    pub omega: Vec<V>,
}

enum DriftSource<'p, V: Lanes> {
    Chebyshev { interval: (V::Real, V::Real), coefficients: Vec<V>, polynomials: Vec<V> },
    Steps([&'p [V::Real]; MAX_WIDTH]),
}

enum IncrementSource<'p, V: Lanes> {
    Counter { key: NoiseKey, series: V::Words, sample: V::Words },
    Given([&'p [V::Real]; MAX_WIDTH]),
}

impl<'p, V: Lanes> Step<'p, V> {
    /// Prepares for the rows of a group; lanes without a row repeat the last one.
    #[inline(always)]
    pub fn new(problem: &PathProblem<'p, V::Real>, layout: &Layout, group: &[Row]) -> Self {
        let m = layout.m;
        let mut rows = [group[group.len() - 1]; MAX_WIDTH];
        rows[..group.len()].copy_from_slice(group);
        let mut times = [&[][..]; MAX_WIDTH];
        for (times, row) in times.iter_mut().zip(rows) {
            *times = problem.times(row.series);
        }
        let source = match problem.drift {
            Drift::Chebyshev { terms, interval, coefficients } => {
                let mut slices = [&[][..]; MAX_WIDTH];
                for (slice, row) in slices.iter_mut().zip(rows) {
                    *slice = &coefficients[row.series * m * terms..(row.series + 1) * m * terms];
                }
                let mut packed = vec![V::zero(); m * terms];
                gather(&slices, 0, &mut packed);
                DriftSource::Chebyshev { interval, coefficients: packed, polynomials: vec![V::zero(); terms] }
            }
            Drift::Steps(values) => {
                let mut slices = [&[][..]; MAX_WIDTH];
                for (slice, row) in slices.iter_mut().zip(rows) {
                    let [from, to] = [layout.step_offsets[row.series], layout.step_offsets[row.series + 1]];
                    *slice = &values[from * m..to * m];
                }
                DriftSource::Steps(slices)
            }
        };
        let increments = match problem.noise {
            Noise::Counter { key, series, first_sample } => {
                let [mut series_words, mut sample_words] = [[0; MAX_WIDTH]; 2];
                for (l, row) in rows.iter().enumerate() {
                    series_words[l] = series[row.series];
                    sample_words[l] = first_sample.wrapping_add(row.sample as u32);
                }
                let (series, sample) = (V::Words::load(&series_words), V::Words::load(&sample_words));
                IncrementSource::Counter { key, series, sample }
            }
            Noise::Given(values) => {
                let mut slices = [&[][..]; MAX_WIDTH];
                for (slice, row) in slices.iter_mut().zip(rows) {
                    let first = row.sample * layout.all_steps();
                    let [from, to] = [layout.step_offsets[row.series], layout.step_offsets[row.series + 1]];
                    *slice = &values[(first + from) * m..(first + to) * m];
                }
                IncrementSource::Given(slices)
            }
        };
        let zeros = || vec![V::zero(); m];
        Self {
            rows,
            times,
            source,
            increments,
            sigma: problem.sigma,
            dt: V::zero(),
            sqrt_dt: V::zero(),
            drift: zeros(),
            noise: zeros(),
            omega: zeros(),
        }
    }

    /// Moves to step `j`.
    #[inline(always)]
    pub fn prepare(&mut self, j: usize) -> Result<Parts<V>, PathError> {
        self.set_time(j);
        match &self.source {
            DriftSource::Chebyshev { coefficients, polynomials, .. } => {
                for (drift, coefficients) in
                    self.drift.iter_mut().zip(coefficients.chunks_exact(polynomials.len()))
                {
                    let mut sum = V::zero();
                    for (coefficient, polynomial) in coefficients.iter().zip(polynomials) {
                        sum = coefficient.mul_add(*polynomial, sum);
                    }
                    *drift = sum;
                }
            }
            DriftSource::Steps(slices) => gather(slices, j * self.drift.len(), &mut self.drift),
        }
        match &self.increments {
            IncrementSource::Counter { key, series, sample } => {
                fill_step(*key, *series, *sample, j as u32, &mut self.noise);
            }
            IncrementSource::Given(slices) => gather(slices, j * self.noise.len(), &mut self.noise),
        }
        let scale = self.sqrt_dt.mul(V::splat(self.sigma));
        for ((omega, drift), noise) in self.omega.iter_mut().zip(&self.drift).zip(&self.noise) {
            *omega = drift.mul_add(self.dt, noise.mul(scale));
        }
        match exponential::cut(&mut self.omega) {
            Some(parts) => Ok(parts),
            None => Err(self.too_large()),
        }
    }

    #[inline(always)]
    fn set_time(&mut self, j: usize) {
        let zero = V::Real::of(0.0);
        let [mut now, mut dt] = [[zero; MAX_WIDTH]; 2];
        for l in 0..V::WIDTH {
            let times = self.times[l];
            let last = times.len() - 1;
            now[l] = times[j.min(last)];
            dt[l] = times[(j + 1).min(last)] - now[l];
        }
        self.dt = V::load(&dt);
        self.sqrt_dt = self.dt.sqrt();
        if let DriftSource::Chebyshev { interval: (start, end), polynomials, .. } = &mut self.source {
            let s = V::load(&now).sub(V::splat(*start)).mul(V::splat(V::Real::of(1.0) / (*end - *start)));
            let mut pair = (V::splat(V::Real::of(1.0)), s);
            for polynomial in polynomials {
                *polynomial = pair.0;
                pair = (pair.1, s.add(s).mul_add(pair.1, V::zero().sub(pair.0)));
            }
        }
    }

    /// Adds the cotangent of the drift at this step to that of the Chebyshev coefficients (`[m, terms]`).
    #[inline(always)]
    pub fn accumulate_coefficients(&self, of_drift: &[V], of_coefficients: &mut [V]) {
        let DriftSource::Chebyshev { polynomials, .. } = &self.source else { return };
        for (of_drift, of_coefficients) in
            of_drift.iter().zip(of_coefficients.chunks_exact_mut(polynomials.len()))
        {
            for (of_coefficient, polynomial) in of_coefficients.iter_mut().zip(polynomials) {
                *of_coefficient = of_drift.mul_add(*polynomial, *of_coefficient);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn too_large(&self) -> PathError {
        let mut squares = [0.0; MAX_WIDTH];
        let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
        for omega in &self.omega {
            omega.store(&mut lanes);
            for (square, lane) in squares.iter_mut().zip(lanes) {
                *square += lane.as_f64() * lane.as_f64();
            }
        }
        let worst = (0..V::WIDTH).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
        PathError::StepTooLarge { series: self.rows[worst].series, norm: squares[worst].sqrt(), limit: LIMIT }
    }
}

/// Lane `l` of `out[i]` becomes `slices[l][from + i]`; a lane whose slice has ended repeats its last entries.
#[inline(always)]
fn gather<V: Lanes>(slices: &[&[V::Real]; MAX_WIDTH], from: usize, out: &mut [V]) {
    let mut sources = *slices;
    for source in &mut sources[..V::WIDTH] {
        let from = from.min(source.len().saturating_sub(out.len()));
        *source = &source[from..];
    }
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    for (i, out) in out.iter_mut().enumerate() {
        for l in 0..V::WIDTH {
            lanes[l] = sources[l].get(i).copied().unwrap_or_default();
        }
        *out = V::load(&lanes);
    }
}
