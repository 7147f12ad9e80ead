//! The backward pass: gradients of a function of the requested states and of the divergences.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::algebra::{Algebra, Matrices, Rotations};
use super::chebyshev::PAIR;
use super::exponential::{Scratch, Terms, act, part_weight, pull_back};
use super::forward::{Tape, norm_squared, project, speed_squared};
use super::incoming::Incoming;
use super::layout::Layout;
use super::problem::{Drift, PathProblem, Prior, Space};
use super::rows::{Row, per_row, rows};
use super::step::Step;
use super::{Memory, PathError, PathReal, PathSolver};
use crate::argument::{check_finite, check_length};
use crate::simd::{Kernel, Lanes, MAX_WIDTH, SimdReal};

/// Gradients of a loss with respect to the inputs of a path problem.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the start points, `[S, B, n]`. On the sphere the component along the start point
    /// is that of the linear map `z_0 -> z_T`; only the tangential part has a meaning on the space.
    pub start: Vec<T>,
    /// With respect to the drift, in the shape of [`Drift`]: `[B, m, terms]` or `[B, T, m]`.
    pub drift: Vec<T>,
    /// With respect to the drift of the prior, `[B, m, terms]`; empty where it has none.
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
        let layout = problem.layout()?;
        let (n, m, samples, series) = (problem.dim, layout.m, problem.samples, layout.series);
        let all_requests = layout.all_requests();
        check_length("of_states", "[samples, requests, dim]", samples * all_requests * n, of_states.len())?;
        check_finite("of_states", of_states)?;
        check_length("of_kl", "[samples, series]", samples * series, of_kl.len())?;
        check_finite("of_kl", of_kl)?;

        let rows = rows(&layout, samples);
        let width = T::width(tape.level);
        let kept =
            |rows: &[Row]| if tape.memory == Memory::Stored { rows[0].steps + 1 } else { 1 } * n * width;
        let fits = tape.groups.len() == rows.len().div_ceil(width)
            && tape.groups.iter().zip(rows.chunks(width)).all(|(states, rows)| states.len() == kept(rows));
        if !fits || tape.level != self.level.or_portable() || tape.memory != self.memory {
            return Err(PathError::ForeignTape);
        }

        let drift_extent = |b: usize| match problem.drift {
            Drift::Chebyshev { terms, .. } => m * terms,
            Drift::Steps(_) => m * layout.steps(b),
        };
        let drift_total: usize = (0..series).map(drift_extent).sum();
        let prior_extent = match problem.prior {
            Prior::Driftless => 0,
            Prior::Chebyshev { terms, .. } => m * terms,
        };
        let mut start = vec![T::zero(); samples * series * n];
        let mut drift = vec![T::zero(); samples * drift_total];
        let mut prior = vec![T::zero(); samples * series * prior_extent];
        let mut sigma = vec![T::zero(); samples * series];
        let mut start_of = per_row(&rows, &mut start, samples, series, |_| n);
        let mut drift_of = per_row(&rows, &mut drift, samples, series, drift_extent);
        let mut prior_of = per_row(&rows, &mut prior, samples, series, |_| prior_extent);
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
fn sum_over_samples<T: Real>(mut values: Vec<T>, samples: usize) -> Vec<T> {
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
        match self.problem.space {
            Space::Sphere => pull_back_paths::<Rotations, V>(self),
            Space::GeneralLinear => pull_back_paths::<Matrices, V>(self),
        }
    }
}

#[inline(always)]
fn pull_back_paths<A: Algebra<V>, V: Lanes>(
    group: BackwardGroup<'_, '_, '_, V::Real>,
) -> Result<(), PathError> {
    let BackwardGroup { problem, layout, terms, memory, rows, states, of_states, of_kl, outputs } = group;
    let (n, m, steps) = (problem.dim, layout.m, rows[0].steps);
    let zeros = |length| vec![V::zero(); length];
    let mut step = Step::<V>::new(problem, layout, rows);
    let mut scratch = Scratch::new(n);
    let mut incoming = Incoming::new(problem, layout, rows, of_states, V::WIDTH);
    let [mut z, mut a, mut velocity, mut next] = [zeros(n), zeros(n), zeros(n), zeros(n)];
    // Cotangents of a pair of steps; a last step without a partner leaves the other half at zero.
    let mut of_drifts = zeros(PAIR * m);
    let mut of_coefficients = match problem.drift {
        Drift::Chebyshev { terms, .. } => zeros(m * terms),
        Drift::Steps(_) => Vec::new(),
    };
    let (mut of_excesses, mut of_prior) = match problem.prior {
        Prior::Driftless => (Vec::new(), Vec::new()),
        Prior::Chebyshev { terms, .. } => (zeros(PAIR * m), zeros(m * terms)),
    };
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
        let parts = step.prepare(j)?;
        match memory {
            Memory::Stored => unpack(&states[j * n * V::WIDTH..], &mut z),
            Memory::Reversible => {
                act::<A, V, true>(terms, &step.omega, &parts, &mut z, &mut velocity, &mut next);
                if A::SPACE == Space::Sphere {
                    project(&mut z, step.dt);
                }
            }
        }
        let of_omega = &mut of_drifts[j % PAIR * m..(j % PAIR + 1) * m];
        for g in of_omega.iter_mut() {
            *g = V::zero();
        }
        pull_back::<A, V>(terms, &step.omega, &parts, &z, &mut a, of_omega, &mut scratch);
        let part = part_weight(&parts);
        let mut of_noise_scale = [V::zero(); 2];
        let to_drift = part.mul(step.dt);
        for (g, xi) in of_omega.chunks_mut(2).zip(step.noise.chunks(2)) {
            for i in 0..g.len() {
                of_noise_scale[i] = g[i].mul_add(xi[i], of_noise_scale[i]);
                g[i] = g[i].mul(to_drift);
            }
        }
        let of_noise_scale = of_noise_scale[0].add(of_noise_scale[1]).mul(part);
        of_sigma = of_noise_scale.mul_add(step.sqrt_dt, of_sigma);

        // d/dz and d/dD of weight dt |D z|^2 / (2 |z|^2), where D = K - P is the drift without a prior; on
        // the sphere |z| = 1 is a constant.
        let speed = speed_squared::<A, V>(step.excess(), &z, &mut velocity);
        divergence = speed.mul_add(step.dt, divergence);
        let mut scale = weight.mul(step.dt);
        if A::SPACE == Space::GeneralLinear {
            scale = scale.div(norm_squared(&z));
            let shrink = scale.mul(speed);
            for (a, z) in a.iter_mut().zip(&z) {
                *a = shrink.neg_mul_add(*z, *a);
            }
        }
        for velocity in &mut velocity {
            *velocity = velocity.mul(scale);
        }
        A::accumulate(&velocity, &z, of_omega);
        A::apply_transposed(step.excess(), &velocity, &mut next);
        for (a, next) in a.iter_mut().zip(&next) {
            *a = a.add(*next);
        }

        if let Prior::Chebyshev { .. } = problem.prior {
            let of_excess = &mut of_excesses[j % PAIR * m..(j % PAIR + 1) * m];
            for g in of_excess.iter_mut() {
                *g = V::zero();
            }
            A::accumulate(&velocity, &z, of_excess);
            if j % PAIR == 0 {
                step.accumulate_prior(&of_excesses, &mut of_prior);
            }
        }
        match problem.drift {
            Drift::Chebyshev { .. } if j % PAIR == 0 => {
                step.accumulate_drift(&of_drifts, &mut of_coefficients);
            }
            Drift::Chebyshev { .. } => {}
            Drift::Steps(_) => {
                for (l, (row, out)) in rows.iter().zip(outputs.drift.iter_mut()).enumerate() {
                    if j < row.steps {
                        unpack_lane(of_omega, l, &mut out[j * m..(j + 1) * m]);
                    }
                }
            }
        }
        incoming.add_at(j, &mut a);
    }

    // d/dsigma of the divergence: KL falls as the square of sigma grows.
    of_sigma = divergence.mul(weight).mul(V::splat(one / problem.sigma)).neg_mul_add(V::splat(one), of_sigma);
    // The excess falls as the drift of the prior grows.
    for of_prior in &mut of_prior {
        *of_prior = V::zero().sub(*of_prior);
    }
    for l in 0..rows.len() {
        unpack_lane(&a, l, outputs.start[l]);
        unpack_lane(&of_prior, l, outputs.prior[l]);
        if !of_coefficients.is_empty() {
            unpack_lane(&of_coefficients, l, outputs.drift[l]);
        }
        unpack_lane(&[of_sigma], l, outputs.sigma[l]);
    }
    Ok(())
}

#[inline(always)]
fn unpack<V: Lanes>(states: &[V::Real], z: &mut [V]) {
    for (z, lanes) in z.iter_mut().zip(states.chunks_exact(V::WIDTH)) {
        *z = V::load(lanes);
    }
}

#[inline(always)]
fn unpack_lane<V: Lanes>(from: &[V], lane: usize, to: &mut [V::Real]) {
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    for (from, to) in from.iter().zip(to) {
        from.store(&mut lanes);
        *to = lanes[lane];
    }
}
