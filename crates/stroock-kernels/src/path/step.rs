//! One step of a group of rows: its length, drift, noise and increment in the Lie algebra.

use stroock_geometry::Real;

use super::PathError;
use super::chebyshev::{Expansion, PAIR};
use super::exponential::{self, LIMIT, Parts};
use super::layout::Layout;
use super::problem::{Drift, Noise, PathProblem, Prior};
use super::rows::Row;
use crate::noise::{RoundKeys, fill_step, round_keys_in_lanes};
use crate::simd::{Lanes, MAX_WIDTH, Words};

/// The quantities of the current step, for the rows in the lanes.
pub(super) struct Step<'p, V: Lanes> {
    rows: [Row; MAX_WIDTH],
    times: [&'p [V::Real]; MAX_WIDTH],
    source: DriftSource<'p, V>,
    /// `None` where the prior has no drift.
    prior: Option<Expansion<V>>,
    increments: IncrementSource<'p, V>,
    sigma: V::Real,
    /// The pair of steps whose drifts are in `drifts`.
    pair: Option<usize>,
    /// Drifts of the pair, `[2, m]`.
    drifts: Vec<V>,
    /// Drifts of the pair minus those of the prior, `[2, m]`; empty where the prior has none.
    excesses: Vec<V>,
    /// Which of the pair is the current step.
    member: usize,
    /// Length of the step; 0 in lanes whose path has ended.
    pub dt: V,
    /// Its square root.
    pub sqrt_dt: V,
    /// Standard normals, `[m]`.
    pub noise: Vec<V>,
    /// `K dt + sigma sqrt(dt) xi`, divided by the number of parts, `[m]`.
    pub omega: Vec<V>,
}

#[allow(clippy::large_enum_variant, reason = "there is one for each group of rows")]
enum DriftSource<'p, V: Lanes> {
    Chebyshev(Expansion<V>),
    Steps([&'p [V::Real]; MAX_WIDTH]),
}

#[allow(clippy::large_enum_variant, reason = "there is one for each group of rows")]
enum IncrementSource<'p, V: Lanes> {
    Counter { keys: RoundKeys<V::Words>, series: V::Words, sample: V::Words, words: Vec<V::Words> },
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
                DriftSource::Chebyshev(expansion(&rows, m, terms, interval, coefficients))
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
        let prior = match problem.prior {
            Prior::Driftless => None,
            Prior::Chebyshev { terms, interval, coefficients } => {
                Some(expansion(&rows, m, terms, interval, coefficients))
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
                let words = vec![V::Words::splat(0); m.next_multiple_of(4)];
                let keys = round_keys_in_lanes(key.words());
                IncrementSource::Counter { keys, series, sample, words }
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
        let zeros = |length| vec![V::zero(); length];
        Self {
            rows,
            times,
            source,
            excesses: zeros(if prior.is_some() { PAIR * m } else { 0 }),
            prior,
            increments,
            sigma: problem.sigma,
            pair: None,
            drifts: zeros(PAIR * m),
            member: 0,
            dt: V::zero(),
            sqrt_dt: V::zero(),
            noise: zeros(m),
            omega: zeros(m),
        }
    }

    /// Moves to step `j`.
    #[inline(always)]
    pub fn prepare(&mut self, j: usize) -> Result<Parts<V>, PathError> {
        self.member = j % PAIR;
        if self.pair != Some(j / PAIR) {
            self.pair = Some(j / PAIR);
            self.set_drifts(j - self.member);
        }
        let (now, then) = (self.time(j), self.time(j + 1));
        self.dt = then.sub(now);
        self.sqrt_dt = self.dt.sqrt();
        match &mut self.increments {
            IncrementSource::Counter { keys, series, sample, words } => {
                fill_step(keys, *series, *sample, V::Words::splat(j as u32), words, &mut self.noise);
            }
            IncrementSource::Given(slices) => gather(slices, j * self.noise.len(), &mut self.noise),
        }
        let scale = self.sqrt_dt.mul(V::splat(self.sigma));
        let m = self.omega.len();
        let drift = &self.drifts[self.member * m..(self.member + 1) * m];
        for ((omega, drift), noise) in self.omega.iter_mut().zip(drift).zip(&self.noise) {
            *omega = drift.mul_add(self.dt, noise.mul(scale));
        }
        match exponential::cut(&mut self.omega) {
            Some(parts) => Ok(parts),
            None => Err(self.too_large()),
        }
    }

    /// Drift `K(t_j)`, `[m]`.
    #[inline(always)]
    pub fn drift(&self) -> &[V] {
        let m = self.omega.len();
        &self.drifts[self.member * m..(self.member + 1) * m]
    }

    /// Excess `K(t_j) - P(t_j)` of the drift over that of the prior, `[m]`.
    #[inline(always)]
    pub fn excess(&self) -> &[V] {
        let m = self.omega.len();
        match self.prior {
            None => self.drift(),
            Some(_) => &self.excesses[self.member * m..(self.member + 1) * m],
        }
    }

    /// Computes the drifts of the pair of steps that starts at `j`.
    #[inline(always)]
    fn set_drifts(&mut self, j: usize) {
        let m = self.omega.len();
        let times = [self.time(j), self.time(j + 1)];
        match &mut self.source {
            DriftSource::Chebyshev(expansion) => expansion.evaluate(times, &mut self.drifts),
            DriftSource::Steps(slices) => {
                gather(slices, j * m, &mut self.drifts[..m]);
                gather(slices, (j + 1) * m, &mut self.drifts[m..]);
            }
        }
        if let Some(prior) = &mut self.prior {
            prior.evaluate(times, &mut self.excesses);
            for (excess, drift) in self.excesses.iter_mut().zip(&self.drifts) {
                *excess = drift.sub(*excess);
            }
        }
    }

    /// Time `j` of every row; the last one in lanes whose path has ended.
    #[inline(always)]
    fn time(&self, j: usize) -> V {
        let mut now = [V::Real::of(0.0); MAX_WIDTH];
        for l in 0..V::WIDTH {
            let times = self.times[l];
            now[l] = times[j.min(times.len() - 1)];
        }
        V::load(&now)
    }

    /// Adds the cotangents of the drifts of the current pair (`[2, m]`) to that of the Chebyshev
    /// coefficients (`[m, terms]`).
    #[inline(always)]
    pub fn accumulate_drift(&self, of_drifts: &[V], of_coefficients: &mut [V]) {
        if let DriftSource::Chebyshev(expansion) = &self.source {
            expansion.accumulate(of_drifts, of_coefficients);
        }
    }

    /// The same for the drifts of the prior.
    #[inline(always)]
    pub fn accumulate_prior(&self, of_priors: &[V], of_coefficients: &mut [V]) {
        if let Some(prior) = &self.prior {
            prior.accumulate(of_priors, of_coefficients);
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

/// The expansions of the rows, from those of all series (`[B, m, terms]`).
#[inline(always)]
fn expansion<V: Lanes>(
    rows: &[Row; MAX_WIDTH],
    m: usize,
    terms: usize,
    interval: (V::Real, V::Real),
    coefficients: &[V::Real],
) -> Expansion<V> {
    let mut slices = [&[][..]; MAX_WIDTH];
    for (slice, row) in slices.iter_mut().zip(rows) {
        *slice = &coefficients[row.series * m * terms..(row.series + 1) * m * terms];
    }
    let mut packed = vec![V::zero(); m * terms];
    gather(&slices, 0, &mut packed);
    Expansion::new(terms, interval, packed)
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
