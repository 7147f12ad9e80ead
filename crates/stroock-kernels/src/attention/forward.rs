//! The forward pass: scores, weights, and a softmax for every channel.

use num_traits::Float;
use rayon::prelude::*;

use super::problem::{AttentionProblem, Layout, Series};
use super::steep::{self, Steep};
use super::{AttentionError, AttentionReal, AttentionSolver, BLOCK, ROWS_PER_TASK, load, row, store};
use crate::argument::first_not_finite;
use crate::product::{Left, Panels, Product};
use crate::simd::{Kernel, Lanes, Level, SimdReal};

/// What the reference points have seen.
#[derive(Clone, Debug)]
pub struct Attended<T> {
    /// `[B, R, C]`.
    pub output: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What a forward pass keeps for the backward pass, with the reference points filled up to whole blocks
/// (`R'` of them).
#[derive(Clone, Debug)]
pub struct Tape<T> {
    pub(super) level: Level,
    /// `[U, R']`.
    pub(super) scores: Vec<T>,
    /// `exp(score - maximum of the series)`, `[N, R']`.
    pub(super) weights: Vec<T>,
    /// One over the sum of the weights, `[B, C, R']`; 0 where a channel is empty or [`Steep`].
    pub(super) inverse: Vec<T>,
    /// The output, `[B, C, R']`.
    pub(super) attended: Vec<T>,
    /// By series.
    pub(super) steep: Vec<Vec<Steep<T>>>,
}

impl<T> Tape<T> {
    /// How many numbers are kept.
    pub fn len(&self) -> usize {
        [&self.scores, &self.weights, &self.inverse, &self.attended].map(Vec::len).iter().sum()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl AttentionSolver {
    /// Attends to the observed entries of a batch.
    ///
    /// # Errors
    /// When an argument is malformed, or when a score overflows.
    pub fn forward<T: AttentionReal>(
        &self,
        problem: &AttentionProblem<'_, T>,
    ) -> Result<Attended<T>, AttentionError> {
        let layout = problem.layout()?;
        let (channels, padded) = (problem.channels, self.padded::<T>(&layout));
        let scores = self.scores(problem, &layout)?;
        let mut output = vec![T::zero(); layout.series * layout.references * channels];
        let mut weights = vec![T::zero(); layout.points * padded];
        let mut inverse = vec![T::zero(); layout.series * channels * padded];
        let mut attended = inverse.clone();
        let steep = per_series(problem, &mut weights, padded)
            .into_par_iter()
            .zip(inverse.par_chunks_mut(channels * padded))
            .zip(attended.par_chunks_mut(channels * padded))
            .zip(output.par_chunks_mut(layout.references * channels))
            .enumerate()
            .map(|(b, (((weights, inverse), attended), output))| {
                let series = problem.series(b);
                let scores = &scores;
                T::attend(self.level, Attend { series, scores, padded, weights, inverse, attended, output })
            })
            .collect();
        Ok(Attended { output, tape: Tape { level: self.level, scores, weights, inverse, attended, steep } })
    }

    /// `R'`: reference points in whole blocks.
    pub(super) fn padded<T: AttentionReal>(&self, layout: &Layout) -> usize {
        layout.references.next_multiple_of(BLOCK * T::width(self.level))
    }

    /// `<k_u, q_r> / sqrt(E)`, `[U, R']`.
    fn scores<T: AttentionReal>(
        &self,
        problem: &AttentionProblem<'_, T>,
        layout: &Layout,
    ) -> Result<Vec<T>, AttentionError> {
        let (width, padded, scale) = (problem.width, self.padded::<T>(layout), problem.scale());
        let mut queries = Panels::zeros(self.level, width, padded);
        for (r, query) in problem.queries.chunks_exact(width).enumerate() {
            let scaled: Vec<T> = query.iter().map(|&q| q * scale).collect();
            queries.set_column(r, &scaled);
        }
        let mut scores = vec![T::zero(); layout.times * padded];
        scores
            .par_chunks_mut(ROWS_PER_TASK * padded)
            .zip(problem.keys.par_chunks(ROWS_PER_TASK * width))
            .for_each(|(scores, keys)| {
                let left = Left::Rows { entries: keys, stride: width };
                let rows = keys.len() / width;
                T::multiply(self.level, Product { left, right: &queries, rows, out: scores, stride: padded });
            });
        match first_not_finite(&scores) {
            Some(index) => Err(AttentionError::ScoresOverflow { time: index / padded }),
            None => Ok(scores),
        }
    }
}

/// Cuts `[N, extent]` data into a slice per series.
pub(super) fn per_series<'a, T>(
    problem: &AttentionProblem<'_, T>,
    mut data: &'a mut [T],
    extent: usize,
) -> Vec<&'a mut [T]> {
    let mut slices = Vec::with_capacity(problem.entries.point_offsets.len());
    for points in problem.entries.point_offsets.windows(2) {
        let (slice, rest) = data.split_at_mut((points[1] - points[0]) * extent);
        slices.push(slice);
        data = rest;
    }
    slices
}

/// One series.
pub struct Attend<'a, T> {
    series: Series<'a, T>,
    scores: &'a [T],
    padded: usize,
    weights: &'a mut [T],
    inverse: &'a mut [T],
    attended: &'a mut [T],
    output: &'a mut [T],
}

impl<T: SimdReal> Kernel<T> for Attend<'_, T> {
    type Output = Vec<Steep<T>>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Vec<Steep<T>> {
        let Attend { series, scores, padded, weights, inverse, attended, output } = self;
        for first in (0..padded).step_by(BLOCK * V::WIDTH) {
            weigh::<V>(&series, scores, padded, first, weights);
        }
        let mut steep = Vec::new();
        let channels = attended.chunks_exact_mut(padded).zip(inverse.chunks_exact_mut(padded));
        for (channel, (attended, inverse)) in channels.enumerate() {
            if series.is_empty(channel) {
                continue;
            }
            for first in (0..padded).step_by(BLOCK * V::WIDTH) {
                let (numerator, denominator) = sums::<V>(&series, weights, padded, channel, first);
                if vanishes(denominator) {
                    let (softmax, values) = steep::attend::<V>(&series, scores, padded, channel, first);
                    store(values, attended, first);
                    steep.push(softmax);
                    continue;
                }
                let [mut quotient, mut values] = [[V::zero(); BLOCK]; 2];
                for i in 0..BLOCK {
                    quotient[i] = V::splat(T::of(1.0)).div(denominator[i]);
                    values[i] = numerator[i].mul(quotient[i]);
                }
                store(quotient, inverse, first);
                store(values, attended, first);
            }
        }
        let channels = attended.len() / padded;
        for (r, output) in output.chunks_exact_mut(channels).enumerate() {
            for (c, output) in output.iter_mut().enumerate() {
                *output = attended[c * padded + r];
            }
        }
        steep
    }
}

/// `exp(score - maximum of the series)` at a block of reference points.
#[inline(always)]
fn weigh<V: Lanes>(
    series: &Series<'_, V::Real>,
    scores: &[V::Real],
    padded: usize,
    first: usize,
    weights: &mut [V::Real],
) {
    let mut maximum = [V::splat(V::Real::neg_infinity()); BLOCK];
    for &time in series.times {
        let s = load::<V>(row(scores, padded, time as usize), first);
        for i in 0..BLOCK {
            maximum[i] = s[i].max(maximum[i]);
        }
    }
    for (&time, weights) in series.times.iter().zip(weights.chunks_exact_mut(padded)) {
        let mut s = load::<V>(row(scores, padded, time as usize), first);
        for i in 0..BLOCK {
            s[i] = s[i].sub(maximum[i]).exp();
        }
        store(s, weights, first);
    }
}

/// The sums of `w x` and of `w` over the entries of a channel, at a block of reference points.
#[inline(always)]
fn sums<V: Lanes>(
    series: &Series<'_, V::Real>,
    weights: &[V::Real],
    padded: usize,
    channel: usize,
    first: usize,
) -> ([V; BLOCK], [V; BLOCK]) {
    let [mut numerator, mut denominator] = [[V::zero(); BLOCK]; 2];
    for (point, x) in series.entries(channel) {
        let weight = load::<V>(row(weights, padded, point), first);
        for i in 0..BLOCK {
            numerator[i] = weight[i].mul_add(V::splat(x), numerator[i]);
            denominator[i] = denominator[i].add(weight[i]);
        }
    }
    (numerator, denominator)
}

/// Whether a sum of weights is too small for its quotients to be right.
#[inline(always)]
fn vanishes<V: Lanes>(denominator: [V; BLOCK]) -> bool {
    let mut all_large = true;
    for i in 0..BLOCK {
        all_large &= V::zero().sub(denominator[i]).all_at_most(-steep::threshold::<V::Real>());
    }
    !all_large
}
