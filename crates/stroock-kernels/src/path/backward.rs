//! The backward pass: gradients of a function of the requested states and of the divergences.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::combine::{Combined, combine};
use super::drift::{Described, unpack_lane};
use super::forward::Tape;
use super::incoming::Incoming;
use super::layout::Layout;
use super::motion::Motion;
use super::problem::{PathProblem, Prior};
use super::rows::{Row, per_row, rows};
use super::scheme::{Method, Scheme, Terms};
use super::space::Geometry;
use super::{Memory, PathError, PathReal, PathSolver};
use crate::argument::{check_finite, check_length};
use crate::simd::{Kernel, Lanes, MAX_WIDTH, SimdReal};

/// Gradients of a loss with respect to the inputs of a path problem.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the start points, `[S, B, n]`. Only the part along the space has a meaning there; across
    /// it the gradient is that of the map of the ambient space.
    pub start: Vec<T>,
    /// With respect to the coefficients of the drift, in their shape.
    pub drift: Vec<T>,
    /// With respect to the coefficients of the prior's drift, in their shape; empty where it has none.
    pub prior: Vec<T>,
    /// With respect to the diffusion scale, by series, `[B]`: the gradient of the scale is their sum.
    pub sigma: Vec<T>,
}

impl PathSolver {
    /// Pulls gradients back through the paths of a batch.
    ///
    /// `of_states` (`[S, Q, n]`) and `of_kl` (`[S, B]`) are the gradients of the loss with respect to the
    /// states and the divergences that [`forward`](Self::forward) returned with `tape` for the same problem.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: PathReal>(
        &self,
        problem: &PathProblem<'_, T>,
        tape: &Tape<T>,
        of_states: &[T],
        of_kl: &[T],
    ) -> Result<Gradients<T>, PathError> {
        let layout = problem.layout(self)?;
        let (n, samples, series) = (problem.dim, problem.samples, layout.series);
        let all_requests = layout.all_requests();
        check_length("of_states", "[samples, requests, dim]", samples * all_requests * n, of_states.len())?;
        check_finite("of_states", of_states)?;
        check_length("of_kl", "[samples, series]", samples * series, of_kl.len())?;
        check_finite("of_kl", of_kl)?;

        let rows = rows(&layout.step_offsets, samples);
        let width = T::width(tape.level);
        let kept =
            |rows: &[Row]| if tape.memory == Memory::Stored { rows[0].steps + 1 } else { 1 } * n * width;
        let fits = tape.groups.len() == rows.len().div_ceil(width)
            && tape.groups.iter().zip(rows.chunks(width)).all(|(states, rows)| states.len() == kept(rows));
        let solver = (tape.level, tape.memory, tape.scheme);
        if !fits || solver != (self.level.or_portable(), self.memory, self.scheme) {
            return Err(PathError::ForeignTape);
        }

        let drift_extent = |b: usize| problem.drift.extent(b, &layout);
        let prior_extent = |b: usize| match &problem.prior {
            Prior::Driftless => 0,
            Prior::Drift(prior) => prior.extent(b, &layout),
        };
        let drift_total: usize = (0..series).map(drift_extent).sum();
        let prior_total: usize = (0..series).map(prior_extent).sum();
        let mut start = vec![T::zero(); samples * series * n];
        let mut drift = vec![T::zero(); samples * drift_total];
        let mut prior = vec![T::zero(); samples * prior_total];
        let mut sigma = vec![T::zero(); samples * series];
        let mut start_of = per_row(&rows, &mut start, samples, series, |_| n);
        let mut drift_of = per_row(&rows, &mut drift, samples, series, drift_extent);
        let mut prior_of = per_row(&rows, &mut prior, samples, series, prior_extent);
        let mut sigma_of = per_row(&rows, &mut sigma, samples, series, |_| 1);
        let outputs = start_of
            .par_chunks_mut(width)
            .zip(drift_of.par_chunks_mut(width))
            .zip(prior_of.par_chunks_mut(width))
            .zip(sigma_of.par_chunks_mut(width))
            .map(|(((start, drift), prior), sigma)| Outputs { start, drift, prior, sigma });

        let terms = Terms::new();
        rows.par_chunks(width)
            .zip(tape.groups.par_iter())
            .zip(outputs)
            .map(|((rows, states), outputs)| {
                let group = BackwardGroup {
                    problem,
                    layout: &layout,
                    terms: &terms,
                    memory: tape.memory,
                    scheme: tape.scheme,
                    rows,
                    states,
                    of_states,
                    of_kl,
                    outputs,
                };
                T::pull_back(tape.level, group)
            })
            .collect::<Result<(), _>>()?;
        Ok(Gradients {
            start,
            drift: sum_over_samples(drift, samples),
            prior: sum_over_samples(prior, samples),
            sigma: sum_over_samples(sigma, samples),
        })
    }
}

/// `[S, ..]` to `[..]`, in the order of the samples whatever the threads did.
pub(crate) fn sum_over_samples<T: Real>(mut values: Vec<T>, samples: usize) -> Vec<T> {
    let extent = values.len() / samples;
    let (sum, rest) = values.split_at_mut(extent);
    for sample in rest.chunks_exact(extent.max(1)) {
        for (sum, value) in sum.iter_mut().zip(sample) {
            *sum += *value;
        }
    }
    values.truncate(extent);
    values
}

/// Where the gradients of the rows of one vector go.
struct Outputs<'g, 'o, T> {
    start: &'g mut [&'o mut [T]],
    drift: &'g mut [&'o mut [T]],
    prior: &'g mut [&'o mut [T]],
    sigma: &'g mut [&'o mut [T]],
}

/// The rows of one vector.
pub struct BackwardGroup<'g, 'o, 'p, T> {
    problem: &'g PathProblem<'p, T>,
    layout: &'g Layout,
    terms: &'g Terms<T>,
    memory: Memory,
    scheme: Scheme,
    rows: &'g [Row],
    states: &'g [T],
    of_states: &'g [T],
    of_kl: &'g [T],
    outputs: Outputs<'g, 'o, T>,
}

impl<T: SimdReal> Kernel<T> for BackwardGroup<'_, '_, '_, T> {
    type Output = Result<(), PathError>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Result<(), PathError> {
        let (space, scheme) = (self.problem.space, self.scheme);
        combine(space, scheme, PullBack::<V> { group: self })
    }
}

struct PullBack<'g, 'o, 'p, V: Lanes> {
    group: BackwardGroup<'g, 'o, 'p, V::Real>,
}

impl<V: Lanes> Combined for PullBack<'_, '_, '_, V> {
    type Lanes = V;
    type Output = Result<(), PathError>;

    #[inline(always)]
    fn run<S: Geometry, M: Method>(self) -> Self::Output {
        pull_back_paths::<S, M, V>(self.group)
    }
}

#[inline(always)]
fn pull_back_paths<S: Geometry, M: Method, V: Lanes>(
    group: BackwardGroup<'_, '_, '_, V::Real>,
) -> Result<(), PathError> {
    let BackwardGroup { problem, layout, terms, memory, rows, states, of_states, of_kl, outputs, .. } = group;
    let (n, steps) = (problem.dim, rows[0].steps);
    let zeros = |length| vec![V::zero(); length];
    let mut motion = Motion::<V>::new::<M>(problem, layout, rows);
    let mut work = M::work::<V>(n, layout.m, matches!(problem.prior, Prior::Drift(_)));
    let mut incoming = Incoming::new(problem.requests, &layout.request_offsets, n, rows, of_states, V::WIDTH);
    let [mut z, mut a, mut velocity, mut next] = [zeros(n), zeros(n), zeros(n), zeros(n)];
    let mut of_sigma = V::zero();
    let mut divergence = V::zero();

    let one = V::Real::of(1.0);
    let inverse_variance = one / (problem.sigma * problem.sigma);
    let mut weights = [V::Real::of(0.0); MAX_WIDTH];
    for (weight, row) in weights.iter_mut().zip(rows) {
        *weight = of_kl[row.sample * layout.series + row.series] * inverse_variance;
    }
    let weight = V::load(&weights);

    if memory == Memory::Reversible {
        unpack(states, &mut z);
    }
    incoming.add_at(steps, &mut a);
    for j in (0..steps).rev() {
        if memory == Memory::Stored {
            unpack(&states[j * n * V::WIDTH..], &mut z);
        }
        motion.prepare::<M>(j, &z);
        if let Err(too_large) = M::increment::<S, V>(&mut work, &motion.increment(), &z) {
            return Err(motion.step_too_large(&too_large));
        }
        if memory == Memory::Reversible {
            M::reverse::<S, V>(&mut work, terms, &mut z);
            S::project(&mut z, motion.dt);
        }
        let dt = motion.dt;
        let (increment, of_drift) = motion.adjoint();
        let of_noise_scale = M::pull_back::<S, V>(&mut work, terms, &increment, &z, &mut a, of_drift);
        of_sigma = of_noise_scale.mul_add(increment.sqrt_dt, of_sigma);

        // d/dz and d/dD of weight dt w(D z, z) / 2, where D = K - P is the drift without a prior.
        M::velocity::<S, V>(&mut work, motion.excess(), dt, &z, &mut velocity);
        let speed = S::weight(&velocity, &z);
        divergence = speed.mul_add(dt, divergence);
        S::pull_back_weight(weight.mul(dt), speed, &mut velocity, &z, &mut a);
        M::pull_back_velocity::<S, V>(&mut work, motion.excess(), dt, &velocity, &mut next, &mut a);
        motion.accumulate::<S, M>(&mut work, &mut velocity, &z);
        motion.pull_back(j, &z, &mut a, outputs.drift, outputs.prior);
        incoming.add_at(j, &mut a);
    }

    // d/dsigma of the divergence: KL falls as the square of sigma grows.
    of_sigma = divergence.mul(weight).mul(V::splat(one / problem.sigma)).neg_mul_add(V::splat(one), of_sigma);
    motion.finish(outputs.drift, outputs.prior);
    for l in 0..rows.len() {
        unpack_lane(&a, l, outputs.start[l]);
        unpack_lane(&[of_sigma], l, outputs.sigma[l]);
    }
    Ok(())
}

/// Loads the states of a step, `[n, lanes]`.
#[inline(always)]
pub(crate) fn unpack<V: Lanes>(states: &[V::Real], z: &mut [V]) {
    for (z, lanes) in z.iter_mut().zip(states.chunks_exact(V::WIDTH)) {
        *z = V::load(lanes);
    }
}
