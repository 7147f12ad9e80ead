//! The backward pass: gradients of a function of the requested states and of the divergences.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::algebra::{Algebra, Matrices, Rotations};
use super::chebyshev::PAIR;
use super::exponential::{Scratch, Terms, act, part_weight, pull_back};
use super::forward::{Tape, norm_squared, project, speed_squared};
use super::problem::{Drift, Layout, PathProblem, Space, check_finite, check_length};
use super::rows::{Cursor, Row, per_row, rows};
use super::step::Step;
use super::{Memory, PathError, PathReal, PathSolver};
use crate::simd::{Kernel, Lanes, MAX_WIDTH, SimdReal};

/// Gradients of a loss with respect to the inputs of a path problem.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the start points, `[S, B, n]`. On the sphere the component along the start point
    /// is that of the linear map `z_0 -> z_T`; only the tangential part has a meaning on the space.
    pub start: Vec<T>,
    /// With respect to the drift, in the shape of [`Drift`]: `[B, m, terms]` or `[B, T, m]`.
    pub drift: Vec<T>,
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
        let mut start = vec![T::zero(); samples * series * n];
        let mut drift = vec![T::zero(); samples * drift_total];
        let mut sigma = vec![T::zero(); samples * series];
        let mut start_of = per_row(&rows, &mut start, samples, series, |_| n);
        let mut drift_of = per_row(&rows, &mut drift, samples, series, drift_extent);
        let mut sigma_of = per_row(&rows, &mut sigma, samples, series, |_| 1);
        let outputs = start_of
            .par_chunks_mut(width)
            .zip(drift_of.par_chunks_mut(width))
            .zip(sigma_of.par_chunks_mut(width))
            .map(|((start, drift), sigma)| Outputs { start, drift, sigma });

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

        // d/dz and d/dK of weight dt |K z|^2 / (2 |z|^2); on the sphere |z| = 1 is a constant.
        let speed = speed_squared::<A, V>(step.drift(), &z, &mut velocity);
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
        A::apply_transposed(step.drift(), &velocity, &mut next);
        for (a, next) in a.iter_mut().zip(&next) {
            *a = a.add(*next);
        }

        match problem.drift {
            Drift::Chebyshev { .. } if j % PAIR == 0 => {
                step.accumulate_coefficients(&of_drifts, &mut of_coefficients);
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
    for l in 0..rows.len() {
        unpack_lane(&a, l, outputs.start[l]);
        if !of_coefficients.is_empty() {
            unpack_lane(&of_coefficients, l, outputs.drift[l]);
        }
        unpack_lane(&[of_sigma], l, outputs.sigma[l]);
    }
    Ok(())
}

/// Gradients that come in at the requested states.
struct Incoming<'g, 'p, T> {
    cursors: [Cursor<'p>; MAX_WIDTH],
    of_states: [&'g [T]; MAX_WIDTH],
    rows: usize,
    /// What comes in at one grid index, `[n, lanes]`.
    sum: Vec<T>,
}

impl<'g, 'p, T: Real> Incoming<'g, 'p, T> {
    fn new(
        problem: &PathProblem<'p, T>,
        layout: &Layout,
        rows: &[Row],
        of_states: &'g [T],
        width: usize,
    ) -> Self {
        let n = problem.dim;
        let mut cursors = [Cursor::at_end(problem, rows[0]); MAX_WIDTH];
        let mut slices = [&of_states[..0]; MAX_WIDTH];
        for (l, row) in rows.iter().enumerate() {
            cursors[l] = Cursor::at_end(problem, *row);
            let first = row.sample * layout.all_requests();
            let [from, to] = [layout.request_offsets[row.series], layout.request_offsets[row.series + 1]];
            slices[l] = &of_states[(first + from) * n..(first + to) * n];
        }
        Self { cursors, of_states: slices, rows: rows.len(), sum: vec![T::zero(); n * width] }
    }

    /// Adds what comes in at grid index `j` to the cotangent `a`.
    #[inline(always)]
    fn add_at<V: Lanes<Real = T>>(&mut self, j: usize, a: &mut [V]) {
        let n = a.len();
        let mut any = false;
        for l in 0..self.rows {
            while let Some(request) = self.cursors[l].previous_at(j) {
                if !any {
                    self.sum.fill(T::zero());
                    any = true;
                }
                let incoming = &self.of_states[l][request * n..(request + 1) * n];
                for (sum, incoming) in self.sum.chunks_exact_mut(V::WIDTH).zip(incoming) {
                    sum[l] += *incoming;
                }
            }
        }
        if any {
            for (a, sum) in a.iter_mut().zip(self.sum.chunks_exact(V::WIDTH)) {
                *a = a.add(V::load(sum));
            }
        }
    }
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
