//! Sums over Chebyshev polynomials: `K = sum_d K_d T_d`, and their adjoint.
//!
//! The number of terms is small and known from the start, so the common numbers are compiled as constants:
//! the loop over the terms is then unrolled and the polynomials stay in registers. Steps come in pairs: the
//! coefficients do not fit the first cache level, and so are read once for two steps.

use stroock_geometry::Real;

use crate::simd::Lanes;

/// Steps that share a pass over the coefficients.
pub(super) const PAIR: usize = 2;

macro_rules! with_constant_terms {
    ($polynomials:ident, $function:ident($($argument:expr),*)) => {
        match $polynomials.len() / PAIR {
            1 => $function($($argument),*, Constant::<V, 1>::new($polynomials)),
            2 => $function($($argument),*, Constant::<V, 2>::new($polynomials)),
            3 => $function($($argument),*, Constant::<V, 3>::new($polynomials)),
            4 => $function($($argument),*, Constant::<V, 4>::new($polynomials)),
            5 => $function($($argument),*, Constant::<V, 5>::new($polynomials)),
            6 => $function($($argument),*, Constant::<V, 6>::new($polynomials)),
            _ => $function($($argument),*, Variable($polynomials)),
        }
    };
}

/// `K(t) = sum_d K_d T_d((t - a) / (b - a))` for the rows in the lanes, at a pair of steps.
pub(super) struct Expansion<V: Lanes> {
    interval: (V::Real, V::Real),
    /// `[m, terms]`.
    coefficients: Vec<V>,
    /// Polynomials at the pair of steps that was evaluated last, `[2, terms]`.
    polynomials: Vec<V>,
}

impl<V: Lanes> Expansion<V> {
    #[inline(always)]
    pub fn new(terms: usize, interval: (V::Real, V::Real), coefficients: Vec<V>) -> Self {
        Self { interval, coefficients, polynomials: vec![V::zero(); PAIR * terms] }
    }

    /// The values at the times of a pair of steps, `[2, m]`.
    #[inline(always)]
    pub fn evaluate(&mut self, times: [V; PAIR], values: &mut [V]) {
        let (start, end) = self.interval;
        let scale = V::splat(V::Real::of(1.0) / (end - start));
        let terms = self.polynomials.len() / PAIR;
        for i in 0..PAIR {
            let s = times[i].sub(V::splat(start)).mul(scale);
            polynomials(s, &mut self.polynomials[i * terms..(i + 1) * terms]);
        }
        evaluate(&self.coefficients, &self.polynomials, values);
    }

    /// Adds the cotangents of the values at the pair of steps that was evaluated last (`[2, m]`) to that of
    /// the coefficients (`[m, terms]`).
    #[inline(always)]
    pub fn accumulate(&self, of_values: &[V], of_coefficients: &mut [V]) {
        accumulate(of_values, &self.polynomials, of_coefficients);
    }
}

/// The polynomials `T_0, T_1, ..` at `s`, by their three-term recurrence.
#[inline(always)]
fn polynomials<V: Lanes>(s: V, polynomials: &mut [V]) {
    let twice = s.add(s);
    let mut pair = (V::splat(num_traits::One::one()), s);
    for polynomial in polynomials {
        *polynomial = pair.0;
        pair = (pair.1, twice.mul_add(pair.1, V::zero().sub(pair.0)));
    }
}

/// `sums[i, k] = sum_d coefficients[k, d] polynomials[i, d]` for a pair of steps `i`.
#[inline(always)]
fn evaluate<V: Lanes>(coefficients: &[V], polynomials: &[V], sums: &mut [V]) {
    with_constant_terms!(polynomials, evaluate_terms(coefficients, sums));
}

#[inline(always)]
fn evaluate_terms<V: Lanes>(coefficients: &[V], sums: &mut [V], polynomials: impl Polynomials<V>) {
    let (first_sums, second_sums) = sums.split_at_mut(sums.len() / PAIR);
    for ((first_sum, second_sum), coefficients) in
        first_sums.iter_mut().zip(second_sums).zip(coefficients.chunks_exact(polynomials.terms()))
    {
        let mut totals =
            [coefficients[0].mul(polynomials.at(0, 0)), coefficients[0].mul(polynomials.at(1, 0))];
        for d in 1..polynomials.terms() {
            totals[0] = coefficients[d].mul_add(polynomials.at(0, d), totals[0]);
            totals[1] = coefficients[d].mul_add(polynomials.at(1, d), totals[1]);
        }
        *first_sum = totals[0];
        *second_sum = totals[1];
    }
}

/// `of_coefficients[k, d] += sum_i of_sums[i, k] polynomials[i, d]` over a pair of steps `i`.
#[inline(always)]
fn accumulate<V: Lanes>(of_sums: &[V], polynomials: &[V], of_coefficients: &mut [V]) {
    with_constant_terms!(polynomials, accumulate_terms(of_sums, of_coefficients));
}

#[inline(always)]
fn accumulate_terms<V: Lanes>(of_sums: &[V], of_coefficients: &mut [V], polynomials: impl Polynomials<V>) {
    let (of_first, of_second) = of_sums.split_at(of_sums.len() / PAIR);
    for ((&of_first, &of_second), of_coefficients) in
        of_first.iter().zip(of_second).zip(of_coefficients.chunks_exact_mut(polynomials.terms()))
    {
        for d in 0..polynomials.terms() {
            let sum = of_first.mul_add(polynomials.at(0, d), of_coefficients[d]);
            of_coefficients[d] = of_second.mul_add(polynomials.at(1, d), sum);
        }
    }
}

/// The polynomials of a pair of steps.
trait Polynomials<V> {
    fn terms(&self) -> usize;
    fn at(&self, step: usize, degree: usize) -> V;
}

/// A constant number of terms, copied to where nothing else can write: they stay in registers.
struct Constant<V, const D: usize>([[V; D]; PAIR]);

impl<V: Lanes, const D: usize> Constant<V, D> {
    #[inline(always)]
    fn new(polynomials: &[V]) -> Self {
        let mut copies = [[V::zero(); D]; PAIR];
        for i in 0..PAIR {
            copies[i].copy_from_slice(&polynomials[i * D..(i + 1) * D]);
        }
        Self(copies)
    }
}

impl<V: Lanes, const D: usize> Polynomials<V> for Constant<V, D> {
    #[inline(always)]
    fn terms(&self) -> usize {
        D
    }

    #[inline(always)]
    fn at(&self, step: usize, degree: usize) -> V {
        self.0[step][degree]
    }
}

/// Any number of terms, `[2, terms]`.
struct Variable<'a, V>(&'a [V]);

impl<V: Lanes> Polynomials<V> for Variable<'_, V> {
    #[inline(always)]
    fn terms(&self) -> usize {
        self.0.len() / PAIR
    }

    #[inline(always)]
    fn at(&self, step: usize, degree: usize) -> V {
        self.0[step * self.terms() + degree]
    }
}
