//! The forward pass: states where they are asked for, and the divergence of the path.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::context::Contexts;
use super::diffusion;
use super::network::{Evaluation, Layers};
use super::problem::{Driving, FlowProblem, Layout};
use super::{FlowError, FlowReal, FlowSolver};
use crate::argument::first_not_finite;
use crate::path::{Cursor, Normals, Row, Times, pack_rows, per_row, rows};
use crate::simd::{Kernel, Lanes, Level, MAX_WIDTH, SimdReal};

/// Paths of a flow.
#[derive(Clone, Debug)]
pub struct Flow<T> {
    /// States at the requested indices, `[S, Q, n]` with the `Q` requests series after series.
    pub states: Vec<T>,
    /// Divergence of each path from the prior, `[S, B]`; 0 without one.
    pub kl: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What a forward pass keeps for the backward pass: the state at every time.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    pub(super) level: Level,
    /// Per group: states `[steps + 1, n, lanes]`.
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

/// The networks of a problem.
pub(super) struct Networks<T> {
    pub drift: Layers<T>,
    pub prior: Option<Layers<T>>,
}

impl<T: Real> Networks<T> {
    pub fn new(problem: &FlowProblem<'_, T>) -> Self {
        let n = problem.dim;
        let prior = problem.driving.and_then(|driving| driving.prior);
        Self {
            drift: Layers::new(&problem.drift, n, problem.context.width()),
            prior: prior.map(|prior| Layers::new(&prior, n, 0)),
        }
    }
}

/// Smallest diffusion that a difference of drifts is divided by.
pub(super) const FLOOR: f64 = 1e-7;

impl FlowSolver {
    /// Computes the paths of a batch.
    ///
    /// # Errors
    /// When an argument is malformed, or when a path or its divergence leaves the range of the numbers.
    pub fn forward<T: FlowReal>(&self, problem: &FlowProblem<'_, T>) -> Result<Flow<T>, FlowError> {
        let layout = problem.layout()?;
        let (n, samples, series) = (problem.dim, problem.samples, layout.series);
        let offsets = &layout.request_offsets;
        let mut states = vec![T::zero(); samples * offsets[series] * n];
        let mut kl = vec![T::zero(); samples * series];

        let rows = rows(&layout.step_offsets, samples);
        let requests = |b: usize| (offsets[b + 1] - offsets[b]) * n;
        let mut states_of = per_row(&rows, &mut states, samples, series, requests);
        let mut kl_of = per_row(&rows, &mut kl, samples, series, |_| 1);
        let networks = Networks::new(problem);
        let level = self.level.or_portable();
        let width = T::width(level);
        let groups = rows
            .par_chunks(width)
            .zip(states_of.par_chunks_mut(width))
            .zip(kl_of.par_chunks_mut(width))
            .map(|((rows, states), kl)| {
                let group = Advance { problem, layout: &layout, networks: &networks, rows, states, kl };
                T::advance(level, group)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(row) = first_not_finite(&kl) {
            return Err(FlowError::DivergenceNotFinite { series: row % series });
        }
        Ok(Flow { states, kl, tape: Tape { level, groups } })
    }
}

/// The rows of one vector.
pub struct Advance<'g, 'o, T> {
    problem: &'g FlowProblem<'g, T>,
    layout: &'g Layout,
    networks: &'g Networks<T>,
    rows: &'g [Row],
    states: &'g mut [&'o mut [T]],
    kl: &'g mut [&'o mut [T]],
}

impl<T: SimdReal> Kernel<T> for Advance<'_, '_, T> {
    type Output = Result<Vec<T>, FlowError>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Result<Vec<T>, FlowError> {
        let Advance { problem, layout, networks, rows, states, kl } = self;
        let (n, steps) = (problem.dim, rows[0].steps);
        let of_lanes = fill_lanes(rows);
        let times = Times::<V>::new(problem.grid, &of_lanes);
        let mut contexts = Contexts::<V>::new(problem, layout, &of_lanes);
        let mut drift = Evaluation::<V>::forward(&networks.drift);
        let mut driven = match problem.driving {
            Some(driving) => Some(Driven::<V>::new(driving, networks, layout, &of_lanes, n)),
            None => None,
        };
        let mut cursors = [Cursor::at_start(problem.requests, rows[0]); MAX_WIDTH];
        for (cursor, row) in cursors.iter_mut().zip(rows) {
            *cursor = Cursor::at_start(problem.requests, *row);
        }
        let mut z = pack_rows::<V>(problem.start, rows, layout.series, n);
        let mut tape = vec![T::zero(); (steps + 1) * n * V::WIDTH];

        for j in 0..=steps {
            let state = &mut tape[j * n * V::WIDTH..(j + 1) * n * V::WIDTH];
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
            if contexts.move_to(j) {
                drift.set_context(contexts.lanes());
            }
            drift.evaluate(&z);
            let dt = times.at(j + 1).sub(times.at(j));
            if let Some(driven) = &mut driven {
                driven.add_noise(j, dt, drift.value(), &mut z);
            }
            for (z, drift) in z.iter_mut().zip(drift.value()) {
                *z = drift.mul_add(dt, *z);
            }
        }
        // A path that has left the range of the numbers never comes back.
        if let Some(index) = first_not_finite(&tape[steps * n * V::WIDTH..]) {
            return Err(FlowError::StateNotFinite { series: of_lanes[index % V::WIDTH].series });
        }
        if let Some(driven) = driven {
            let mut lanes = [T::zero(); MAX_WIDTH];
            driven.divergence.mul(V::splat(T::of(0.5))).store(&mut lanes);
            for (kl, lane) in kl.iter_mut().zip(lanes) {
                kl[0] = lane;
            }
        }
        Ok(tape)
    }
}

/// A row for every lane; lanes without one repeat the last.
#[inline(always)]
pub(super) fn fill_lanes(rows: &[Row]) -> [Row; MAX_WIDTH] {
    let mut of_lanes = [rows[rows.len() - 1]; MAX_WIDTH];
    of_lanes[..rows.len()].copy_from_slice(rows);
    of_lanes
}

/// What drives a group of rows beside their drift.
struct Driven<'p, V: Lanes> {
    driving: Driving<'p, V::Real>,
    normals: Normals<'p, V>,
    prior: Option<Evaluation<'p, V>>,
    g: Vec<V>,
    /// Twice the divergence so far.
    divergence: V,
}

impl<'p, V: Lanes> Driven<'p, V> {
    #[inline(always)]
    fn new(
        driving: Driving<'p, V::Real>,
        networks: &'p Networks<V::Real>,
        layout: &Layout,
        of_lanes: &[Row; MAX_WIDTH],
        n: usize,
    ) -> Self {
        let prior = match &networks.prior {
            Some(prior) => Some(Evaluation::forward(prior)),
            None => None,
        };
        let normals = Normals::new(driving.noise, n, &layout.step_offsets, of_lanes);
        Self { driving, normals, prior, g: vec![V::zero(); n], divergence: V::zero() }
    }

    /// Adds what step `j`, of length `dt`, adds to the divergence where the drift is `drift`, and its noise to `z`.
    #[inline(always)]
    fn add_noise(&mut self, j: usize, dt: V, drift: &[V], z: &mut [V]) {
        diffusion::evaluate(&self.driving.diffusion, z, &mut self.g);
        if let Some(prior) = &mut self.prior {
            prior.evaluate(z);
            let floor = V::splat(V::Real::of(FLOOR));
            let mut sum = V::zero();
            for ((drift, prior), g) in drift.iter().zip(prior.value()).zip(&self.g) {
                let ratio = drift.sub(*prior).div(floor.max(*g));
                sum = ratio.mul_add(ratio, sum);
            }
            self.divergence = sum.mul_add(dt, self.divergence);
        }
        self.normals.fill(j, false);
        let sqrt_dt = dt.sqrt();
        for ((z, xi), g) in z.iter_mut().zip(self.normals.values()).zip(&self.g) {
            *z = xi.mul(sqrt_dt).mul_add(*g, *z);
        }
    }
}
