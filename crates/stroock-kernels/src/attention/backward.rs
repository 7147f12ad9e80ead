//! The backward pass: gradients of a function of the output.
//!
//! With `g` the gradient of the output, the adjoint of the softmax of a channel is
//!
//! ```text
//! d/ds_p += w_p (x_p - out) g,      d/dx_p = sum_r w_p g,
//! ```
//!
//! where `w_p` is the normalised weight, `exp(s_p - maximum) / sum`. All channels share the exponential, so
//! `sum_c (x_pc - out_c) g_c / sum_c` is gathered first and multiplied by it once per point.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::forward::{Tape, per_series};
use super::problem::{AttentionProblem, Layout, Series};
use super::steep::Steep;
use super::{AttentionError, AttentionReal, AttentionSolver, BLOCK, ROWS_PER_TASK, load, row, store};
use crate::argument::{check_finite, check_length};
use crate::product::{Left, Panels, Product};
use crate::simd::{Kernel, Lanes, MAX_WIDTH, SimdReal};

/// Gradients of a loss with respect to the inputs of an attention problem.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the queries, `[R, E]`.
    pub queries: Vec<T>,
    /// With respect to the keys, `[U, E]`.
    pub keys: Vec<T>,
    /// With respect to the values, `[N, C]`, 0 where nothing is observed; if they were asked for.
    pub values: Option<Vec<T>>,
}

/// Whether the values are plain data or depend on parameters themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueGradient {
    /// No gradient with respect to the values.
    Skipped,
    /// The gradient with respect to the values is computed.
    Computed,
}

impl AttentionSolver {
    /// Pulls gradients back through attention.
    ///
    /// `of_output` (`[B, R, C]`) is the gradient of the loss with respect to the output that
    /// [`forward`](Self::forward) returned with `tape` for the same problem.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: AttentionReal>(
        &self,
        problem: &AttentionProblem<'_, T>,
        tape: &Tape<T>,
        of_output: &[T],
        values: ValueGradient,
    ) -> Result<Gradients<T>, AttentionError> {
        let layout = problem.layout()?;
        let (channels, padded) = (problem.channels, self.padded::<T>(&layout));
        let extent = layout.references * channels;
        check_length("of_output", "[series, references, channels]", layout.series * extent, of_output.len())?;
        check_finite("of_output", of_output)?;
        let fits = tape.level == self.level
            && tape.scores.len() == layout.times * padded
            && tape.weights.len() == layout.points * padded
            && tape.inverse.len() == layout.series * channels * padded
            && tape.steep.len() == layout.series;
        if !fits {
            return Err(AttentionError::ForeignTape);
        }

        let mut of_scores = vec![T::zero(); layout.points * padded];
        let mut of_values = match values {
            ValueGradient::Skipped => Vec::new(),
            ValueGradient::Computed => vec![T::zero(); layout.points * channels],
        };
        let value_extent = of_values.len() / layout.points.max(1);
        per_series(problem, &mut of_scores, padded)
            .into_par_iter()
            .zip(per_series(problem, &mut of_values, value_extent))
            .zip(of_output.par_chunks(extent))
            .enumerate()
            .for_each(|(b, ((of_scores, of_values), of_output))| {
                let series = problem.series(b);
                T::pull_back(
                    self.level,
                    PullBack { series, b, tape, padded, of_output, of_scores, of_values },
                );
            });
        let of_scores = sum_by_time(problem.entries.times, &of_scores, layout.times, padded);
        Ok(Gradients {
            queries: self.of_queries(problem, &layout, &of_scores),
            keys: self.of_keys(problem, &layout, &of_scores),
            values: (values == ValueGradient::Computed).then_some(of_values),
        })
    }

    /// `sum_r dS_{u r} q_r / sqrt(E)`, `[U, E]`.
    fn of_keys<T: AttentionReal>(
        &self,
        problem: &AttentionProblem<'_, T>,
        layout: &Layout,
        of_scores: &[T],
    ) -> Vec<T> {
        let (width, padded) = (problem.width, self.padded::<T>(layout));
        let mut queries = Panels::zeros(self.level, padded, width);
        for (r, query) in scaled(problem.queries, problem.scale()).chunks_exact(width).enumerate() {
            queries.set_row(r, query);
        }
        let mut of_keys = vec![T::zero(); layout.times * width];
        of_keys
            .par_chunks_mut(ROWS_PER_TASK * width)
            .zip(of_scores.par_chunks(ROWS_PER_TASK * padded))
            .for_each(|(out, of_scores)| {
                let left = Left::Rows { entries: of_scores, stride: padded };
                let rows = out.len() / width;
                T::multiply(self.level, Product { left, right: &queries, rows, out, stride: width });
            });
        of_keys
    }

    /// `sum_u dS_{u r} k_u / sqrt(E)`, `[R, E]`.
    fn of_queries<T: AttentionReal>(
        &self,
        problem: &AttentionProblem<'_, T>,
        layout: &Layout,
        of_scores: &[T],
    ) -> Vec<T> {
        let (width, padded) = (problem.width, self.padded::<T>(layout));
        let mut of_queries = vec![T::zero(); layout.references * width];
        if layout.times == 0 {
            return of_queries;
        }
        let mut keys = Panels::zeros(self.level, layout.times, width);
        for (u, key) in scaled(problem.keys, problem.scale()).chunks_exact(width).enumerate() {
            keys.set_row(u, key);
        }
        of_queries.par_chunks_mut(ROWS_PER_TASK * width).enumerate().for_each(|(task, out)| {
            let left = Left::Columns { entries: &of_scores[task * ROWS_PER_TASK..], stride: padded };
            let rows = out.len() / width;
            T::multiply(self.level, Product { left, right: &keys, rows, out, stride: width });
        });
        of_queries
    }
}

fn scaled<T: Real>(values: &[T], scale: T) -> Vec<T> {
    values.iter().map(|&x| x * scale).collect()
}

/// Sums the rows (`[N, extent]`) of points with the same time to `[U, extent]`, in the order of the points
/// whatever the threads do.
fn sum_by_time<T: Real>(times: &[u32], rows: &[T], distinct: usize, extent: usize) -> Vec<T> {
    // The points of time `u` are `order[first[u]..first[u + 1]]`, by counting.
    let mut first = vec![0; distinct + 1];
    for &time in times {
        first[time as usize + 1] += 1;
    }
    for u in 0..distinct {
        first[u + 1] += first[u];
    }
    let mut next = first.clone();
    let mut order = vec![0; times.len()];
    for (point, &time) in times.iter().enumerate() {
        order[next[time as usize]] = point;
        next[time as usize] += 1;
    }
    let mut sums = vec![T::zero(); distinct * extent];
    sums.par_chunks_mut(extent).with_min_len(ROWS_PER_TASK).enumerate().for_each(|(u, sum)| {
        for &point in &order[first[u]..first[u + 1]] {
            for (sum, x) in sum.iter_mut().zip(row(rows, extent, point)) {
                *sum += *x;
            }
        }
    });
    sums
}

/// One series.
pub struct PullBack<'a, T> {
    series: Series<'a, T>,
    /// Its place in the batch.
    b: usize,
    tape: &'a Tape<T>,
    padded: usize,
    of_output: &'a [T],
    /// `[points, R']`, zeros.
    of_scores: &'a mut [T],
    /// `[points, C]`, zeros; empty where it is not asked for.
    of_values: &'a mut [T],
}

impl<T: SimdReal> Kernel<T> for PullBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let PullBack { series, b, tape, padded, of_output, of_scores, of_values } = self;
        let extent = of_scores.len();
        let channels = tape.inverse.len() / padded / tape.steep.len();
        let weights = &tape.weights[series.first_point * padded..][..extent];
        let inverse = &tape.inverse[b * channels * padded..][..channels * padded];
        let attended = &tape.attended[b * channels * padded..][..channels * padded];

        let mut g = vec![T::zero(); padded];
        for channel in 0..channels {
            if series.is_empty(channel) {
                continue;
            }
            gather(of_output, channels, channel, &mut g);
            for (g, inverse) in g.iter_mut().zip(row(inverse, padded, channel)) {
                *g *= *inverse;
            }
            for first in (0..padded).step_by(BLOCK * V::WIDTH) {
                let slope = load::<V>(&g, first);
                let mut shift = load::<V>(row(attended, padded, channel), first);
                for i in 0..BLOCK {
                    shift[i] = shift[i].mul(slope[i]);
                }
                for (point, x) in series.entries(channel) {
                    let of_scores = &mut of_scores[point * padded..(point + 1) * padded];
                    let mut sum = load::<V>(of_scores, first);
                    for i in 0..BLOCK {
                        sum[i] = slope[i].mul_add(V::splat(x), sum[i].sub(shift[i]));
                    }
                    store(sum, of_scores, first);
                }
            }
            if !of_values.is_empty() {
                for (point, _) in series.entries(channel) {
                    of_values[point * channels + channel] += dot::<V>(row(weights, padded, point), &g);
                }
            }
        }
        for (sums, weights) in of_scores.chunks_exact_mut(V::WIDTH).zip(weights.chunks_exact(V::WIDTH)) {
            V::load(sums).mul(V::load(weights)).store(sums);
        }
        for steep in &tape.steep[b] {
            gather(of_output, channels, steep.channel, &mut g);
            let attended = row(attended, padded, steep.channel);
            pull_back_steep::<V>(&series, steep, &tape.scores, &g, attended, of_scores, of_values);
        }
    }
}

/// One channel of `[R, C]` data; the reference points that fill up the last block stay 0.
#[inline(always)]
fn gather<T: Real>(data: &[T], channels: usize, channel: usize, out: &mut [T]) {
    for (out, row) in out.iter_mut().zip(data.chunks_exact(channels)) {
        *out = row[channel];
    }
}

/// The adjoint of the softmax of a channel at a block, with its own normalisation.
#[inline(always)]
fn pull_back_steep<V: Lanes>(
    series: &Series<'_, V::Real>,
    steep: &Steep<V::Real>,
    scores: &[V::Real],
    g: &[V::Real],
    attended: &[V::Real],
    of_scores: &mut [V::Real],
    of_values: &mut [V::Real],
) where
    V::Real: SimdReal,
{
    let padded = g.len();
    let channels = of_values.len() / series.times.len().max(1);
    let g = load::<V>(g, steep.first);
    let attended = load::<V>(attended, steep.first);
    let mut of_value = [V::Real::of(0.0); BLOCK * MAX_WIDTH];
    for (point, x) in series.entries(steep.channel) {
        let mut softmax = steep.softmax::<V>(row(scores, padded, series.times[point] as usize));
        let of_scores = &mut of_scores[point * padded..(point + 1) * padded];
        let mut sum = load::<V>(of_scores, steep.first);
        for i in 0..BLOCK {
            softmax[i] = softmax[i].mul(g[i]);
            sum[i] = softmax[i].mul_add(V::splat(x).sub(attended[i]), sum[i]);
        }
        store(sum, of_scores, steep.first);
        if !of_values.is_empty() {
            store(softmax, &mut of_value, 0);
            for value in &of_value[..BLOCK * V::WIDTH] {
                of_values[point * channels + steep.channel] += *value;
            }
        }
    }
}

/// `<x, y>`; lanes are added up in their order at the end.
#[inline(always)]
fn dot<V: Lanes>(x: &[V::Real], y: &[V::Real]) -> V::Real {
    let mut sums = [V::zero(); BLOCK];
    for first in (0..x.len()).step_by(BLOCK * V::WIDTH) {
        let (x, y) = (load::<V>(x, first), load::<V>(y, first));
        for i in 0..BLOCK {
            sums[i] = x[i].mul_add(y[i], sums[i]);
        }
    }
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    sums[0].add(sums[1]).add(sums[2].add(sums[3])).store(&mut lanes);
    let mut sum = V::Real::of(0.0);
    for lane in &lanes[..V::WIDTH] {
        sum += *lane;
    }
    sum
}
