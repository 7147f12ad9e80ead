//! The action of the exponential, `exp(A) z = sum_k A^k z / k!`, and its adjoint, in lanes.
//!
//! The number of terms follows a bound `theta` of the norm of `A`: with `theta^(k+1) / (k+1)!` below the
//! rounding, term `k` is the last. Each lane counts its own terms (further ones are multiplied by zero), so
//! that its result does not depend on its neighbours. A lane with `theta > 2` takes `s = ceil(theta / 2)`
//! equal parts of the step one after the other, since the terms of one large step would cancel.

use std::marker::PhantomData;

use num_traits::Float;
use stroock_geometry::Real;

use super::TooLarge;
use crate::path::space::Geometry;
use crate::simd::{LaneKernel, Lanes, MAX_WIDTH};

/// More terms than any lane needs at `theta <= 2` in double precision.
pub(super) const TERMS: usize = 28;

/// Largest `theta` of a single part of a step.
const PART: f64 = 2.0;

/// Largest `theta` of a step. Beyond it single precision leaves no digits of the angle.
const LIMIT: f64 = 1e5;

/// `thresholds[k]`: the square of the largest `theta` for which `k` terms are enough.
#[derive(Clone, Debug)]
pub(in crate::path) struct Terms<T> {
    thresholds: [T; TERMS],
}

impl<T: Real> Terms<T> {
    pub fn new() -> Self {
        let tolerance = T::epsilon().as_f64() / 8.0;
        let mut thresholds = [T::zero(); TERMS];
        let mut factorial = 1.0;
        for (k, threshold) in thresholds.iter_mut().enumerate() {
            factorial *= (k + 1) as f64;
            let theta = (tolerance * factorial).powf(1.0 / (k + 1) as f64);
            *threshold = if k == 0 { T::zero() } else { T::of((theta * theta).min(PART * PART * 1.0001)) };
        }
        Self { thresholds }
    }
}

/// A step of the path, cut into parts whose series is short.
pub(super) struct Parts<V: Lanes> {
    /// Square of the bound of one part's norm, per lane.
    theta_squared: V,
    /// The number of parts in each lane, as a real number.
    count: V,
    /// The largest number of parts of a lane.
    most: usize,
}

/// Divides `omega` by the number of parts that each lane needs; an error where a bound is beyond [`LIMIT`] or
/// not a number.
#[inline(always)]
pub(super) fn cut<V: Lanes>(omega: &mut [V]) -> Result<Parts<V>, TooLarge> {
    // Four sums, since one would wait for every addition.
    let mut sums = [V::zero(); 4];
    let mut chunks = omega.chunks_exact(4);
    for chunk in &mut chunks {
        for i in 0..4 {
            sums[i] = chunk[i].mul_add(chunk[i], sums[i]);
        }
    }
    for w in chunks.remainder() {
        sums[0] = w.mul_add(*w, sums[0]);
    }
    // For skew matrices the square root of this sum bounds the spectral norm; in general it is the
    // Frobenius norm, which does so too.
    let theta_squared = sums[0].add(sums[1]).add(sums[2].add(sums[3]));
    let part = V::Real::of(PART * PART);
    if theta_squared.all_at_most(part) {
        return Ok(Parts { theta_squared, count: V::splat(V::Real::of(1.0)), most: 1 });
    }
    if !theta_squared.all_at_most(V::Real::of(LIMIT * LIMIT)) {
        return Err(too_large(omega, LIMIT));
    }
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    theta_squared.store(&mut lanes);
    let mut most = 1;
    for lane in &mut lanes[..V::WIDTH] {
        let parts = (lane.sqrt() / V::Real::of(PART)).ceil().max(V::Real::of(1.0));
        most = most.max(parts.as_f64() as usize);
        *lane = parts;
    }
    let count = V::load(&lanes);
    let inverse = V::splat(V::Real::of(1.0)).div(count);
    for w in omega.iter_mut() {
        *w = w.mul(inverse);
    }
    Ok(Parts { theta_squared: theta_squared.mul(inverse).mul(inverse), count, most })
}

/// The lane with the largest step.
#[cold]
#[inline(never)]
pub(super) fn too_large<V: Lanes>(omega: &[V], limit: f64) -> TooLarge {
    let mut squares = [0.0; MAX_WIDTH];
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    for omega in omega {
        omega.store(&mut lanes);
        for (square, lane) in squares.iter_mut().zip(lanes) {
            *square += lane.as_f64() * lane.as_f64();
        }
    }
    let lane = (0..V::WIDTH).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
    TooLarge { lane, norm: squares[lane].sqrt(), limit }
}

impl<V: Lanes> Parts<V> {
    /// The whole of a step that does not move.
    #[inline(always)]
    pub fn whole() -> Self {
        Self { theta_squared: V::zero(), count: V::splat(V::Real::of(1.0)), most: 1 }
    }

    /// The bound for part `r`: zero in the lanes that have no such part.
    #[inline(always)]
    fn theta_squared(&self, r: usize) -> V {
        if r == 0 {
            self.theta_squared
        } else {
            self.count.where_greater(V::Real::of(r as f64), self.theta_squared)
        }
    }
}

/// `1/k` in the lanes whose series has a term `k`, 0 in the others; `None` where no lane has one.
#[inline(always)]
fn reciprocal<V: Lanes>(terms: &Terms<V::Real>, theta_squared: V, k: usize) -> Option<V> {
    let threshold = terms.thresholds[k - 1];
    if theta_squared.all_at_most(threshold) {
        return None;
    }
    Some(theta_squared.where_greater(threshold, V::splat(V::Real::of(1.0 / k as f64))))
}

/// `z <- exp(omega) z`, or `exp(-omega) z` with `BACKWARDS`; `term` and `next` are scratch of length `n`. With `SHARED`
/// behind a call, compiled once for all schemes; otherwise a part of the caller where speed matters.
#[inline(always)]
pub(super) fn act<S: Geometry, V: Lanes, const BACKWARDS: bool, const SHARED: bool>(
    terms: &Terms<V::Real>,
    omega: &[V],
    parts: &Parts<V>,
    z: &mut [V],
    term: &mut [V],
    next: &mut [V],
) {
    let act = Act::<S, V, BACKWARDS> { terms, omega, parts, z, term, next, space: PhantomData };
    if SHARED { V::call(act) } else { V::inline(act) }
}

struct Act<'c, S, V: Lanes, const BACKWARDS: bool> {
    terms: &'c Terms<V::Real>,
    omega: &'c [V],
    parts: &'c Parts<V>,
    z: &'c mut [V],
    term: &'c mut [V],
    next: &'c mut [V],
    space: PhantomData<S>,
}

impl<S: Geometry, V: Lanes, const BACKWARDS: bool> LaneKernel for Act<'_, S, V, BACKWARDS> {
    #[inline(always)]
    fn run(self) {
        let Self { terms, omega, parts, z, term, next, .. } = self;
        for r in 0..parts.most {
            act_part::<S, V, BACKWARDS>(terms, omega, parts.theta_squared(r), z, term, next);
        }
    }
}

#[inline(always)]
fn act_part<S: Geometry, V: Lanes, const BACKWARDS: bool>(
    terms: &Terms<V::Real>,
    omega: &[V],
    theta_squared: V,
    z: &mut [V],
    term: &mut [V],
    next: &mut [V],
) {
    term.copy_from_slice(z);
    let mut k = 1;
    while k < TERMS {
        let Some(mut factor) = reciprocal(terms, theta_squared, k) else { break };
        if BACKWARDS {
            factor = V::zero().sub(factor);
        }
        S::apply(omega, term, next);
        for i in 0..z.len() {
            term[i] = next[i].mul(factor);
            z[i] = z[i].add(term[i]);
        }
        k += 1;
    }
}

/// What [`pull_back`] works in.
pub(super) struct Scratch<V> {
    /// Terms of the series, `[TERMS, n]`.
    powers: Vec<V>,
    /// States at the start of the parts, `[parts, n]`.
    states: Vec<V>,
    next: Vec<V>,
    scaled: Vec<V>,
}

impl<V: Lanes> Scratch<V> {
    pub fn new(n: usize) -> Self {
        let zeros = |length| vec![V::zero(); length];
        Self { powers: zeros(TERMS * n), states: zeros(n), next: zeros(n), scaled: zeros(n) }
    }
}

/// The adjoint of `z' = exp(omega) z`: takes the cotangent of `z'` in `a` to that of `z`, and adds that of
/// the *cut* coefficients to `g`. The caller divides by the number of parts.
///
/// With `w_0 = z`, `w_k = A w_{k-1} / k` and `z' = sum_k w_k`, the cotangents of the terms are
/// `p_K = a`, `p_{k-1} = a + A^T p_k / k`, and that of `A` is `sum_k p_k w_{k-1}^T / k`.
/// With `SHARED` as [`act`].
#[inline(always)]
pub(super) fn pull_back<S: Geometry, V: Lanes, const SHARED: bool>(
    terms: &Terms<V::Real>,
    omega: &[V],
    parts: &Parts<V>,
    z: &[V],
    a: &mut [V],
    g: &mut [V],
    scratch: &mut Scratch<V>,
) {
    let pull_back = PullBack::<S, V> { terms, omega, parts, z, a, g, scratch, space: PhantomData };
    if SHARED { V::call(pull_back) } else { V::inline(pull_back) }
}

struct PullBack<'c, S, V: Lanes> {
    terms: &'c Terms<V::Real>,
    omega: &'c [V],
    parts: &'c Parts<V>,
    z: &'c [V],
    a: &'c mut [V],
    g: &'c mut [V],
    scratch: &'c mut Scratch<V>,
    space: PhantomData<S>,
}

impl<S: Geometry, V: Lanes> LaneKernel for PullBack<'_, S, V> {
    #[inline(always)]
    fn run(self) {
        let Self { terms, omega, parts, z, a, g, scratch, .. } = self;
        pull_back_parts::<S, V>(terms, omega, parts, z, a, g, scratch);
    }
}

#[inline(always)]
fn pull_back_parts<S: Geometry, V: Lanes>(
    terms: &Terms<V::Real>,
    omega: &[V],
    parts: &Parts<V>,
    z: &[V],
    a: &mut [V],
    g: &mut [V],
    scratch: &mut Scratch<V>,
) {
    let n = z.len();
    let Scratch { powers, states, next, scaled } = scratch;
    if parts.most > 1 {
        states.resize(states.len().max(parts.most * n), V::zero());
        states[..n].copy_from_slice(z);
        for r in 1..parts.most {
            let (done, rest) = states.split_at_mut(r * n);
            let state = &mut rest[..n];
            state.copy_from_slice(&done[(r - 1) * n..]);
            act_part::<S, V, false>(terms, omega, parts.theta_squared(r - 1), state, next, scaled);
        }
    } else {
        states[..n].copy_from_slice(z);
    }
    for r in (0..parts.most).rev() {
        let theta_squared = parts.theta_squared(r);
        powers[..n].copy_from_slice(&states[r * n..(r + 1) * n]);
        let mut count = 0;
        while count + 1 < TERMS {
            let Some(factor) = reciprocal(terms, theta_squared, count + 1) else { break };
            let (done, rest) = powers.split_at_mut((count + 1) * n);
            let (power, term) = (&done[count * n..], &mut rest[..n]);
            count += 1;
            // The last power is not needed: its cotangent is `a`, and it multiplies nothing.
            if theta_squared.all_at_most(terms.thresholds[count]) {
                break;
            }
            S::apply(omega, power, term);
            for w in term {
                *w = w.mul(factor);
            }
        }
        // `states` of this part is spent: it now holds the cotangent of the running term.
        let cotangent = &mut states[r * n..(r + 1) * n];
        cotangent.copy_from_slice(a);
        for k in (1..=count).rev() {
            let Some(factor) = reciprocal(terms, theta_squared, k) else { continue };
            for i in 0..n {
                scaled[i] = cotangent[i].mul(factor);
            }
            S::accumulate(scaled, &powers[(k - 1) * n..k * n], g);
            S::apply_transposed(omega, scaled, next);
            for i in 0..n {
                cotangent[i] = a[i].add(next[i]);
            }
        }
        a.copy_from_slice(cotangent);
    }
}

/// The factor that [`pull_back`]'s caller applies to the cotangent of the coefficients.
#[inline(always)]
pub(super) fn part_weight<V: Lanes>(parts: &Parts<V>) -> V {
    V::splat(V::Real::of(1.0)).div(parts.count)
}
