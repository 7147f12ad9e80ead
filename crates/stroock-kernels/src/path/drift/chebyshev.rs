//! Sums over Chebyshev polynomials: `K = sum_d K_d T_d`, and their adjoint.
//!
//! The number of terms is small and known from the start, so the common numbers are compiled as constants:
//! the loop over the terms is then unrolled and the polynomials stay in registers. Steps come in pairs: the
//! coefficients do not fit the first cache level, and so are read once for two steps.

use stroock_geometry::Real;

use super::{Described, Extents, InLanes, Role, argument, gather, unpack_lane};
use crate::argument::{check_finite, check_length, check_not_empty};
use crate::path::PathError;
use crate::path::layout::Layout;
use crate::path::rows::Row;
use crate::path::times::Times;
use crate::simd::{Lanes, MAX_WIDTH};

/// Steps that share a pass over the coefficients.
const PAIR: usize = 2;

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

/// `K(t) = sum_d K_d T_d((t - a) / (b - a))`, with the Chebyshev polynomials `T_0 .. T_{terms - 1}` on the interval
/// `(a, b)` (the paper's equation for the time evolution of the drift).
#[derive(Clone, Copy, Debug)]
pub struct Chebyshev<'a, T> {
    /// Number of polynomials.
    pub terms: usize,
    /// `(a, b)`.
    pub interval: (T, T),
    /// `[B, m, terms]`, the degree varying fastest.
    pub coefficients: &'a [T],
}

impl<'p, T: Real> Described<'p, T> for Chebyshev<'p, T> {
    type InLanes<V: Lanes<Real = T>> = Expansion<V>;

    fn check(&self, role: Role, extents: Extents<'_>) -> Result<(), PathError> {
        check_not_empty([(argument!(role, "terms"), self.terms)])?;
        let (start, end) = self.interval;
        if !(start < end && start.is_finite() && end.is_finite()) {
            let (argument, start, end) = (argument!(role, "interval"), start.as_f64(), end.as_f64());
            return Err(PathError::Interval { argument, start, end });
        }
        let expected = (extents.series * extents.m).saturating_mul(self.terms);
        let name = argument!(role, "coefficients");
        check_length(name, "[series, m, terms]", expected, self.coefficients.len())?;
        Ok(check_finite(name, self.coefficients)?)
    }

    fn extent(&self, _: usize, layout: &Layout) -> usize {
        layout.m * self.terms
    }

    #[inline(always)]
    fn in_lanes<V: Lanes<Real = T>>(&self, rows: &[Row; MAX_WIDTH], layout: &Layout) -> Expansion<V> {
        let (m, terms) = (layout.m, self.terms);
        let mut slices = [&[][..]; MAX_WIDTH];
        for (slice, row) in slices.iter_mut().zip(rows) {
            *slice = &self.coefficients[row.series * m * terms..(row.series + 1) * m * terms];
        }
        let mut coefficients = vec![V::zero(); m * terms];
        gather(&slices, 0, &mut coefficients);
        let zeros = |length| vec![V::zero(); length];
        Expansion {
            interval: self.interval,
            of_coefficients: zeros(m * terms),
            coefficients,
            polynomials: zeros(PAIR * terms),
            pair: None,
            member: 0,
            values: zeros(PAIR * m),
            of_values: zeros(PAIR * m),
        }
    }
}

/// The sums for the rows in the lanes, at a pair of steps.
pub(in crate::path) struct Expansion<V: Lanes> {
    interval: (V::Real, V::Real),
    /// `[m, terms]`.
    coefficients: Vec<V>,
    of_coefficients: Vec<V>,
    /// Polynomials at the pair of steps, `[2, terms]`.
    polynomials: Vec<V>,
    /// The pair of steps whose values are known.
    pair: Option<usize>,
    /// Which of the pair is the current step.
    member: usize,
    /// `[2, m]`.
    values: Vec<V>,
    /// Cotangents of the pair; a last step without a partner leaves the other half at zero.
    of_values: Vec<V>,
}

impl<V: Lanes> InLanes<V> for Expansion<V> {
    #[inline(always)]
    fn prepare(&mut self, j: usize, times: &Times<'_, V>, _: &[V]) {
        self.pair = Some(j / PAIR);
        self.member = j % PAIR;
        let (start, end) = self.interval;
        let scale = V::splat(V::Real::of(1.0) / (end - start));
        let terms = self.polynomials.len() / PAIR;
        for i in 0..PAIR {
            let s = times.at(j - self.member + i).sub(V::splat(start)).mul(scale);
            polynomials(s, &mut self.polynomials[i * terms..(i + 1) * terms]);
        }
        evaluate(&self.coefficients, &self.polynomials, &mut self.values);
    }

    #[inline(always)]
    fn recall(&mut self, j: usize) -> bool {
        self.member = j % PAIR;
        self.pair == Some(j / PAIR)
    }

    #[inline(always)]
    fn value(&self) -> &[V] {
        let m = self.values.len() / PAIR;
        &self.values[self.member * m..(self.member + 1) * m]
    }

    #[inline(always)]
    fn cotangent(&mut self) -> &mut [V] {
        let m = self.values.len() / PAIR;
        &mut self.of_values[self.member * m..(self.member + 1) * m]
    }

    /// Steps come last first: the first of a pair is the later to come.
    #[inline(always)]
    fn defers(&self, j: usize) -> bool {
        !j.is_multiple_of(PAIR)
    }

    #[inline(always)]
    fn pull_back(&mut self, _: usize, _: &[V], _: &mut [V], _: &mut [&mut [V::Real]]) {
        accumulate(&self.of_values, &self.polynomials, &mut self.of_coefficients);
    }

    #[inline(always)]
    fn finish(&mut self, out: &mut [&mut [V::Real]]) {
        for (l, out) in out.iter_mut().enumerate() {
            unpack_lane(&self.of_coefficients, l, out);
        }
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
