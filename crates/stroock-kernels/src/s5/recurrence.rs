//! The loops over the rows of one series, with states in the lanes.

use crate::simd::{Kernel, Lanes, MAX_WIDTH, SimdReal};

/// Forward through one series.
pub struct Recur<'a, T> {
    pub(super) states: usize,
    /// `[gaps, 4, P']`.
    pub(super) factors: &'a [T],
    /// The gap of every row.
    pub(super) places: &'a [u32],
    pub(super) inputs: &'a [T],
    pub(super) out: &'a mut [T],
}

/// Backward through one series.
pub struct PullBack<'a, T> {
    pub(super) states: usize,
    /// `[gaps, 4, P']`.
    pub(super) factors: &'a [T],
    /// The gap of every row.
    pub(super) places: &'a [u32],
    pub(super) of_states: &'a [T],
    /// Gradients of the states with all that follows from them.
    pub(super) carried: &'a mut [T],
    pub(super) of_inputs: &'a mut [T],
}

/// Real and imaginary parts of the factor `part` (0 for `a`, 1 for `c`) of a gap.
#[inline(always)]
fn factor<V: Lanes>(factors: &[V::Real], padded: usize, place: u32, part: usize, first: usize) -> [V; 2] {
    let at = (place as usize * 4 + 2 * part) * padded + first;
    [V::load(&factors[at..]), V::load(&factors[at + padded..])]
}

/// `a x + b`.
#[inline(always)]
fn multiply_add<V: Lanes>(a: [V; 2], x: [V; 2], b: [V; 2]) -> [V; 2] {
    let re = a[1].neg_mul_add(x[1], a[0].mul_add(x[0], b[0]));
    let im = a[1].mul_add(x[0], a[0].mul_add(x[1], b[1]));
    [re, im]
}

/// `conj(a) x + b`.
#[inline(always)]
fn conjugate_multiply_add<V: Lanes>(a: [V; 2], x: [V; 2], b: [V; 2]) -> [V; 2] {
    let re = a[1].mul_add(x[1], a[0].mul_add(x[0], b[0]));
    let im = a[1].neg_mul_add(x[0], a[0].mul_add(x[1], b[1]));
    [re, im]
}

/// States `first..` of a row `[2 P]`, as many as a vector has; zeros behind the last one.
#[inline(always)]
fn load<V: Lanes>(row: &[V::Real], states: usize, first: usize) -> [V; 2] {
    let count = V::WIDTH.min(states - first);
    let parts = [&row[first..first + count], &row[states + first..states + first + count]];
    if count == V::WIDTH {
        return [V::load(parts[0]), V::load(parts[1])];
    }
    let mut full = [[V::Real::default(); MAX_WIDTH]; 2];
    full[0][..count].copy_from_slice(parts[0]);
    full[1][..count].copy_from_slice(parts[1]);
    [V::load(&full[0]), V::load(&full[1])]
}

#[inline(always)]
fn store<V: Lanes>(values: [V; 2], row: &mut [V::Real], states: usize, first: usize) {
    let count = V::WIDTH.min(states - first);
    let mut full = [V::Real::default(); MAX_WIDTH];
    for part in 0..2 {
        values[part].store(&mut full);
        row[part * states + first..part * states + first + count].copy_from_slice(&full[..count]);
    }
}

impl<T: SimdReal> Kernel<T> for Recur<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let Recur { states, factors, places, inputs, out } = self;
        let (width, padded) = (2 * states, states.next_multiple_of(V::WIDTH));
        for first in (0..states).step_by(V::WIDTH) {
            let mut state = [V::zero(); 2];
            for (k, &place) in places.iter().enumerate() {
                let input = load::<V>(&inputs[k * width..(k + 1) * width], states, first);
                let driven = multiply_add(factor(factors, padded, place, 1, first), input, [V::zero(); 2]);
                state = multiply_add(factor(factors, padded, place, 0, first), state, driven);
                store(state, &mut out[k * width..(k + 1) * width], states, first);
            }
        }
    }
}

impl<T: SimdReal> Kernel<T> for PullBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let PullBack { states, factors, places, of_states, carried, of_inputs } = self;
        let (width, padded) = (2 * states, states.next_multiple_of(V::WIDTH));
        for first in (0..states).step_by(V::WIDTH) {
            // What the row behind hands back.
            let mut behind = [V::zero(); 2];
            for (k, &place) in places.iter().enumerate().rev() {
                let own = load::<V>(&of_states[k * width..(k + 1) * width], states, first);
                let whole = [own[0].add(behind[0]), own[1].add(behind[1])];
                let drive = factor(factors, padded, place, 1, first);
                let of_input = conjugate_multiply_add(drive, whole, [V::zero(); 2]);
                store(whole, &mut carried[k * width..(k + 1) * width], states, first);
                store(of_input, &mut of_inputs[k * width..(k + 1) * width], states, first);
                let decay = factor(factors, padded, place, 0, first);
                behind = conjugate_multiply_add(decay, whole, [V::zero(); 2]);
            }
        }
    }
}
