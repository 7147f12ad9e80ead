//! What moves a group of rows over a step: its length, the drifts and the normals.

use super::PathError;
use super::drift::{AnyInLanes, Described, InLanes};
use super::layout::Layout;
use super::normals::Normals;
use super::problem::{PathProblem, Prior};
use super::rows::Row;
use super::scheme::{Increment, Method, TooLarge};
use super::space::Geometry;
use super::times::Times;
use crate::simd::{LaneKernel, Lanes, MAX_WIDTH};

/// The drifts and the noise at the current step, for the rows in the lanes.
pub(super) struct Motion<'p, V: Lanes> {
    rows: [Row; MAX_WIDTH],
    times: Times<'p, V>,
    drift: AnyInLanes<'p, V>,
    /// `None` where the prior has no drift.
    prior: Option<AnyInLanes<'p, V>>,
    /// Whether the drift is what is added to that of the prior.
    is_added: bool,
    /// Drift minus that of the prior, or their sum where the drift is added to it, `[m]`; empty where the prior has none.
    combined: Vec<V>,
    normals: Normals<'p, V>,
    sigma: V::Real,
    /// The current step and its ends.
    step: Option<usize>,
    ends: [V; 2],
    /// Length of the step; 0 in lanes whose path has ended.
    pub dt: V,
    sqrt_dt: V,
}

impl<'p, V: Lanes> Motion<'p, V> {
    /// For the rows of a group; lanes without a row repeat the last one. Behind a call, as [`Self::finish`]: it is done
    /// once for a path, and is the same for all spaces and schemes.
    #[inline(always)]
    pub fn new<M: Method>(problem: &PathProblem<'p, V::Real>, layout: &Layout, group: &[Row]) -> Self {
        let mut made = None;
        V::call(Build { problem, layout, group, is_added: M::ADDS_TO_PRIOR, made: &mut made });
        match made {
            Some(motion) => motion,
            None => unreachable!("it has just been built"),
        }
    }

    #[inline(always)]
    fn build(problem: &PathProblem<'p, V::Real>, layout: &Layout, group: &[Row], is_added: bool) -> Self {
        let mut rows = [group[group.len() - 1]; MAX_WIDTH];
        rows[..group.len()].copy_from_slice(group);
        let prior = match &problem.prior {
            Prior::Driftless => None,
            Prior::Drift(prior) => Some(prior.in_lanes(&rows, layout)),
        };
        Self {
            times: Times::new(problem.grid, &rows),
            drift: problem.drift.in_lanes(&rows, layout),
            combined: vec![V::zero(); if prior.is_some() { layout.m } else { 0 }],
            prior,
            is_added,
            normals: Normals::new(problem.noise, layout.normals, &layout.step_offsets, &rows),
            sigma: problem.sigma,
            rows,
            step: None,
            ends: [V::zero(); 2],
            dt: V::zero(),
            sqrt_dt: V::zero(),
        }
    }

    /// Moves to step `j` from the state `z`.
    #[inline(always)]
    pub fn prepare<M: Method>(&mut self, j: usize, z: &[V]) {
        self.drift.prepare(j, &self.times, z);
        if let Some(prior) = &mut self.prior {
            prior.prepare(j, &self.times, z);
            let values = self.drift.value().iter().zip(prior.value());
            for (combined, (drift, prior)) in self.combined.iter_mut().zip(values) {
                *combined = if self.is_added { drift.add(*prior) } else { drift.sub(*prior) };
            }
        }
        // Of the two ends of a step one is that of the step before, in either direction.
        let (now, then) = match self.step {
            Some(before) if before + 1 == j => (self.ends[1], self.times.at(j + 1)),
            Some(before) if before == j + 1 => (self.times.at(j), self.ends[0]),
            _ => (self.times.at(j), self.times.at(j + 1)),
        };
        self.step = Some(j);
        self.ends = [now, then];
        self.dt = then.sub(now);
        self.sqrt_dt = self.dt.sqrt();
        self.normals.fill(j, M::SHARED);
    }

    /// What the scheme moves by.
    #[inline(always)]
    pub fn increment(&self) -> Increment<'_, V> {
        let Self { normals, dt, sqrt_dt, sigma, .. } = self;
        Increment {
            drift: match self.prior {
                Some(_) if self.is_added => &self.combined,
                _ => self.drift.value(),
            },
            normals: normals.values(),
            dt: *dt,
            sqrt_dt: *sqrt_dt,
            sigma: *sigma,
        }
    }

    /// Excess of the drift over that of the prior, `[m]`.
    #[inline(always)]
    pub fn excess(&self) -> &[V] {
        match self.prior {
            Some(_) if !self.is_added => &self.combined,
            _ => self.drift.value(),
        }
    }

    /// What the adjoint of a scheme reads, and zeros to which it adds the cotangent of the drift. The drift itself is in
    /// the prepared step.
    #[inline(always)]
    pub fn adjoint(&mut self) -> (Increment<'_, V>, &mut [V]) {
        let Self { drift, normals, dt, sqrt_dt, sigma, .. } = self;
        let increment =
            Increment { drift: &[], normals: normals.values(), dt: *dt, sqrt_dt: *sqrt_dt, sigma: *sigma };
        (increment, drift.fresh_cotangent())
    }

    /// Adds the cotangent of the divergence, at the cotangent `p` of the velocity, to those of the drifts.
    #[inline(always)]
    pub fn accumulate<S: Geometry, M: Method>(&mut self, work: &mut M::Work<V>, p: &mut [V], z: &[V]) {
        if let (Some(prior), true) = (&mut self.prior, self.is_added) {
            // What moves the path is the sum; what the divergence weighs is the drift alone.
            prior.cotangent().copy_from_slice(self.drift.cotangent());
            M::accumulate_velocity::<S, V>(work, self.dt, p, z, self.drift.cotangent());
            return;
        }
        M::accumulate_velocity::<S, V>(work, self.dt, p, z, self.drift.cotangent());
        if let Some(prior) = &mut self.prior {
            // The excess falls as the drift of the prior grows.
            for p in p.iter_mut() {
                *p = V::zero().sub(*p);
            }
            M::accumulate_velocity::<S, V>(work, self.dt, p, z, prior.fresh_cotangent());
        }
    }

    /// Takes the cotangents of the drifts at step `j` to their coefficients and to the state.
    #[inline(always)]
    pub fn pull_back(
        &mut self,
        j: usize,
        z: &[V],
        of_state: &mut [V],
        of_drift: &mut [&mut [V::Real]],
        of_prior: &mut [&mut [V::Real]],
    ) {
        self.drift.pull_back(j, z, of_state, of_drift);
        if let Some(prior) = &mut self.prior {
            prior.pull_back(j, z, of_state, of_prior);
        }
    }

    /// Writes what remains of the gradients of the coefficients.
    #[inline(always)]
    pub fn finish<'o>(&mut self, of_drift: &mut [&'o mut [V::Real]], of_prior: &mut [&'o mut [V::Real]]) {
        V::call(Finish { motion: self, of_drift, of_prior });
    }

    #[cold]
    #[inline(never)]
    pub fn step_too_large(&self, too_large: &TooLarge) -> PathError {
        let TooLarge { lane, norm, limit } = *too_large;
        PathError::StepTooLarge { series: self.rows[lane].series, norm, limit }
    }
}

/// A call of [`Motion::build`].
struct Build<'c, 'p, V: Lanes> {
    problem: &'c PathProblem<'p, V::Real>,
    layout: &'c Layout,
    group: &'c [Row],
    is_added: bool,
    made: &'c mut Option<Motion<'p, V>>,
}

impl<V: Lanes> LaneKernel for Build<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        *self.made = Some(Motion::build(self.problem, self.layout, self.group, self.is_added));
    }
}

/// What [`Motion::finish`] does.
struct Finish<'c, 'p, 'o, V: Lanes> {
    motion: &'c mut Motion<'p, V>,
    of_drift: &'c mut [&'o mut [V::Real]],
    of_prior: &'c mut [&'o mut [V::Real]],
}

impl<V: Lanes> LaneKernel for Finish<'_, '_, '_, V> {
    #[inline(always)]
    fn run(self) {
        self.motion.drift.finish(self.of_drift);
        if let Some(prior) = &mut self.motion.prior {
            prior.finish(self.of_prior);
        }
    }
}
