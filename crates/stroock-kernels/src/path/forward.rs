//! The forward pass: states where they are asked for, and the divergence of the path.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::combine::{Combined, combine};
use super::layout::Layout;
use super::motion::Motion;
use super::problem::{PathProblem, Prior};
use super::rows::{Cursor, Row, pack_rows, per_row, rows};
use super::scheme::{Method, Scheme, Terms};
use super::space::Geometry;
use super::{Memory, PathError, PathReal, PathSolver};
use crate::argument::first_not_finite;
use crate::simd::{Kernel, Lanes, Level, MAX_WIDTH, SimdReal};

/// Simulated paths.
#[derive(Clone, Debug)]
pub struct Path<T> {
    /// States at the requested indices, `[S, Q, n]` with the `Q` requests series after series.
    pub states: Vec<T>,
    /// Divergence of each path from the prior, `[S, B]`.
    pub kl: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What a forward pass keeps for the backward pass.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    pub(super) level: Level,
    pub(super) memory: Memory,
    pub(super) scheme: Scheme,
    /// Per group: states `[steps + 1, n, lanes]`, or the last state `[n, lanes]`.
    pub(super) groups: Vec<Vec<T>>,
}

impl<T> Tape<T> {
    /// How many numbers are kept.
    pub fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PathSolver {
    /// Simulates the paths of a batch.
    ///
    /// # Errors
    /// When an argument is malformed, when a single step of a path turns by more than 1e5 radians, when a path leaves
    /// the range of the numbers, or when the divergence from a prior with a drift overflows.
    pub fn forward<T: PathReal>(&self, problem: &PathProblem<'_, T>) -> Result<Path<T>, PathError> {
        let layout = problem.layout(self)?;
        let (n, samples, series) = (problem.dim, problem.samples, layout.series);
        let mut states = vec![T::zero(); samples * layout.all_requests() * n];
        let mut kl = vec![T::zero(); samples * series];

        let rows = rows(&layout.step_offsets, samples);
        let requests = |b: usize| (layout.request_offsets[b + 1] - layout.request_offsets[b]) * n;
        let mut states_of = per_row(&rows, &mut states, samples, series, requests);
        let mut kl_of = per_row(&rows, &mut kl, samples, series, |_| 1);

        let terms = Terms::new();
        let level = self.level.or_portable();
        let width = T::width(level);
        let groups = rows
            .par_chunks(width)
            .zip(states_of.par_chunks_mut(width))
            .zip(kl_of.par_chunks_mut(width))
            .map(|((rows, states), kl)| {
                let group = ForwardGroup {
                    problem,
                    layout: &layout,
                    terms: &terms,
                    memory: self.memory,
                    scheme: self.scheme,
                    rows,
                    states,
                    kl,
                };
                T::simulate(level, group)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if !problem.space.bounded()
            && let Some(index) = first_not_finite(&states)
        {
            let request = index / n % layout.all_requests();
            let series = layout.request_offsets.partition_point(|&offset| offset <= request) - 1;
            return Err(PathError::StateNotFinite { series });
        }
        // A drift that diverges stops at its first step; one of the prior may move nothing and yet not be a number.
        if let (Prior::Drift(_), Some(row)) = (problem.prior, first_not_finite(&kl)) {
            return Err(PathError::DivergenceNotFinite { series: row % series });
        }
        Ok(Path { states, kl, tape: Tape { level, memory: self.memory, scheme: self.scheme, groups } })
    }
}

/// The rows of one vector.
pub struct ForwardGroup<'g, 'p, T> {
    problem: &'g PathProblem<'p, T>,
    layout: &'g Layout,
    terms: &'g Terms<T>,
    memory: Memory,
    scheme: Scheme,
    rows: &'g [Row],
    states: &'g mut [&'p mut [T]],
    kl: &'g mut [&'p mut [T]],
}

impl<T: SimdReal> Kernel<T> for ForwardGroup<'_, '_, T> {
    type Output = Result<Vec<T>, PathError>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Result<Vec<T>, PathError> {
        let (space, scheme) = (self.problem.space, self.scheme);
        combine(space, scheme, Simulate::<V> { group: self })
    }
}

struct Simulate<'g, 'p, V: Lanes> {
    group: ForwardGroup<'g, 'p, V::Real>,
}

impl<V: Lanes> Combined for Simulate<'_, '_, V> {
    type Lanes = V;
    type Output = Result<Vec<V::Real>, PathError>;

    #[inline(always)]
    fn run<S: Geometry, M: Method>(self) -> Self::Output {
        simulate::<S, M, V>(self.group)
    }
}

#[inline(always)]
fn simulate<S: Geometry, M: Method, V: Lanes>(
    group: ForwardGroup<'_, '_, V::Real>,
) -> Result<Vec<V::Real>, PathError> {
    let ForwardGroup { problem, layout, terms, memory, rows, states, kl, .. } = group;
    let n = problem.dim;
    let steps = rows[0].steps;
    let mut motion = Motion::<V>::new::<M>(problem, layout, rows);
    let mut work = M::work::<V>(n, layout.m, matches!(problem.prior, Prior::Drift(_)));
    let mut z = pack_rows::<V>(problem.start, rows, layout.series, n);
    let mut cursors = [Cursor::at_start(problem.requests, rows[0]); MAX_WIDTH];
    for (cursor, row) in cursors.iter_mut().zip(rows) {
        *cursor = Cursor::at_start(problem.requests, *row);
    }
    let mut velocity = vec![V::zero(); n];
    let mut divergence = V::zero();
    let kept = if memory == Memory::Stored { steps + 1 } else { 1 };
    let mut tape = vec![V::Real::of(0.0); kept * n * V::WIDTH];

    for j in 0..=steps {
        let place = if memory == Memory::Stored { j } else { 0 };
        let state = &mut tape[place * n * V::WIDTH..(place + 1) * n * V::WIDTH];
        for (z, lanes) in z.iter().zip(state.chunks_exact_mut(V::WIDTH)) {
            z.store(lanes);
        }
        for (l, (cursor, states)) in cursors.iter_mut().zip(states.iter_mut()).enumerate() {
            while let Some(request) = cursor.next_at(j) {
                for (i, out) in states[request * n..(request + 1) * n].iter_mut().enumerate() {
                    *out = state[i * V::WIDTH + l];
                }
            }
        }
        if j == steps {
            break;
        }
        motion.prepare::<M>(j, &z);
        if let Err(too_large) = M::increment::<S, V>(&mut work, &motion.increment(), &z) {
            return Err(motion.step_too_large(&too_large));
        }
        M::velocity::<S, V>(&mut work, motion.excess(), motion.dt, &z, &mut velocity);
        divergence = S::weight(&velocity, &z).mul_add(motion.dt, divergence);
        M::step::<S, V>(&mut work, terms, &mut z);
        S::project(&mut z, motion.dt);
    }
    let weight = V::Real::of(0.5) / (problem.sigma * problem.sigma);
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    divergence.mul(V::splat(weight)).store(&mut lanes);
    for (kl, lane) in kl.iter_mut().zip(lanes) {
        kl[0] = lane;
    }
    Ok(tape)
}
