//! The backward pass: gradients of a function of the requested states and of the divergences.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::context::Contexts;
use super::diffusion;
use super::forward::{FLOOR, Networks, Tape, fill_lanes};
use super::network::PullBack;
use super::problem::{Driving, FlowProblem, Layout, check};
use super::{FlowError, FlowReal, FlowSolver};
use crate::path::{Incoming, Normals, Row, Times, per_row, rows, sum_over_samples, unpack, unpack_lane};
use crate::simd::{Kernel, Lanes, MAX_WIDTH, SimdReal};

/// Gradients of a loss with respect to the inputs of a flow problem, in their shapes.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the start points, `[S, B, n]`.
    pub start: Vec<T>,
    /// With respect to the parameters of the drift.
    pub drift: Vec<T>,
    /// With respect to the contexts.
    pub context: Vec<T>,
    /// With respect to the parameters of the diffusion; empty without one.
    pub diffusion: Vec<T>,
    /// With respect to the parameters of the prior; empty without one.
    pub prior: Vec<T>,
}

impl FlowSolver {
    /// Pulls gradients back through the paths of a batch.
    ///
    /// `of_states` (`[S, Q, n]`) and `of_kl` (`[S, B]`) are the gradients of the loss with respect to the states and the
    /// divergences that [`forward`](Self::forward) returned with `tape` for the same problem.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: FlowReal>(
        &self,
        problem: &FlowProblem<'_, T>,
        tape: &Tape<T>,
        of_states: &[T],
        of_kl: &[T],
    ) -> Result<Gradients<T>, FlowError> {
        let layout = problem.layout()?;
        let (n, samples, series) = (problem.dim, problem.samples, layout.series);
        let requests = layout.request_offsets[series];
        check("of_states", "[samples, requests, dim]", samples * requests * n, of_states)?;
        check("of_kl", "[samples, series]", samples * series, of_kl)?;

        let rows = rows(&layout.step_offsets, samples);
        let width = T::width(tape.level);
        let kept = |rows: &[Row]| (rows[0].steps + 1) * n * width;
        let fits = tape.groups.len() == rows.len().div_ceil(width)
            && tape.groups.iter().zip(rows.chunks(width)).all(|(states, rows)| states.len() == kept(rows));
        if !fits || tape.level != self.level.or_portable() {
            return Err(FlowError::ForeignTape);
        }

        let context = problem.context.width();
        let contexts = |b: usize| (layout.context_offsets[b + 1] - layout.context_offsets[b]) * context;
        let mut start = vec![T::zero(); samples * series * n];
        let mut of_context = vec![T::zero(); samples * problem.context.values().len()];
        let mut start_of = per_row(&rows, &mut start, samples, series, |_| n);
        let mut context_of = per_row(&rows, &mut of_context, samples, series, contexts);
        let networks = Networks::new(problem);
        let parts: Vec<OfParameters<T>> = rows
            .par_chunks(width)
            .zip(tape.groups.par_iter())
            .zip(start_of.par_chunks_mut(width).zip(context_of.par_chunks_mut(width)))
            .map(|((rows, states), (start, context))| {
                let (layout, networks) = (&layout, &networks);
                let group =
                    Return { problem, layout, networks, rows, states, of_states, of_kl, start, context };
                T::pull_back_flow(tape.level, group)
            })
            .collect();
        let mut parts = parts.into_iter();
        let mut sum = parts.next().unwrap_or_default();
        parts.for_each(|part| sum.add(&part));
        let OfParameters { drift, diffusion, prior } = sum;
        Ok(Gradients { start, drift, context: sum_over_samples(of_context, samples), diffusion, prior })
    }
}

/// Gradients of what all series share.
#[derive(Clone, Debug, Default)]
pub struct OfParameters<T> {
    drift: Vec<T>,
    diffusion: Vec<T>,
    prior: Vec<T>,
}

impl<T: Real> OfParameters<T> {
    /// Groups are added in their order, whatever the threads did.
    fn add(&mut self, part: &Self) {
        let add = |sum: &mut [T], part: &[T]| sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += *x);
        add(&mut self.drift, &part.drift);
        add(&mut self.diffusion, &part.diffusion);
        add(&mut self.prior, &part.prior);
    }
}

/// The rows of one vector.
pub struct Return<'g, 'o, T> {
    problem: &'g FlowProblem<'g, T>,
    layout: &'g Layout,
    networks: &'g Networks<T>,
    rows: &'g [Row],
    states: &'g [T],
    of_states: &'g [T],
    of_kl: &'g [T],
    start: &'g mut [&'o mut [T]],
    context: &'g mut [&'o mut [T]],
}

impl<T: SimdReal> Kernel<T> for Return<'_, '_, T> {
    type Output = OfParameters<T>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> OfParameters<T> {
        let Return { problem, layout, networks, rows, states, of_states, of_kl, start, context } = self;
        let (n, steps) = (problem.dim, rows[0].steps);
        let of_lanes = fill_lanes(rows);
        let times = Times::<V>::new(problem.grid, &of_lanes);
        let mut contexts = Contexts::<V>::new(problem, layout, &of_lanes);
        let mut drift = PullBack::<V>::new(&networks.drift);
        let mut driven = match problem.driving {
            Some(driving) => Some(Driven::<V>::new(driving, networks, layout, &of_lanes, n)),
            None => None,
        };
        let mut incoming =
            Incoming::new(problem.requests, &layout.request_offsets, n, rows, of_states, V::WIDTH);
        let mut weights = [T::zero(); MAX_WIDTH];
        for (weight, row) in weights.iter_mut().zip(rows) {
            *weight = of_kl[row.sample * layout.series + row.series];
        }
        let weight = V::load(&weights);
        let [mut z, mut a] = [vec![V::zero(); n], vec![V::zero(); n]];

        incoming.add_at(steps, &mut a);
        for j in (0..steps).rev() {
            unpack(&states[j * n * V::WIDTH..], &mut z);
            if let Some((left, leaving)) = contexts.leaving(j) {
                let of_context = drift.leave_context(contexts.lanes(), V::load(&leaving));
                scatter(of_context, &contexts, &left, &leaving, context);
            }
            if contexts.move_to(j) {
                drift.evaluation.set_context(contexts.lanes());
            }
            drift.evaluation.evaluate(&z);
            let dt = times.at(j + 1).sub(times.at(j));
            for (of_drift, a) in drift.cotangent().iter_mut().zip(&a) {
                *of_drift = a.mul(dt);
            }
            if let Some(driven) = &mut driven {
                driven.pull_back(j, [dt, weight], &z, &mut drift, &mut a);
            }
            drift.pull_back(&z, &mut a);
            incoming.add_at(j, &mut a);
        }
        if let Some(left) = contexts.current() {
            let leaving = [T::of(1.0); MAX_WIDTH];
            let of_context = drift.leave_context(contexts.lanes(), V::load(&leaving));
            scatter(of_context, &contexts, &left, &leaving, context);
        }
        for (l, start) in start.iter_mut().enumerate() {
            unpack_lane(&a, l, start);
        }
        let (diffusion, prior) = match driven {
            Some(driven) => driven.finish(),
            None => (Vec::new(), Vec::new()),
        };
        OfParameters { drift: drift.finish(), diffusion, prior }
    }
}

/// Writes the cotangents of the contexts `left` by the lanes that are `leaving` to their places.
#[inline(always)]
fn scatter<V: Lanes>(
    of_context: &[V],
    contexts: &Contexts<'_, V>,
    left: &[usize; MAX_WIDTH],
    leaving: &[V::Real; MAX_WIDTH],
    out: &mut [&mut [V::Real]],
) {
    let width = of_context.len();
    for (l, out) in out.iter_mut().enumerate() {
        if leaving[l] > V::Real::of(0.0) {
            let place = (left[l] - contexts.first(l)) * width;
            unpack_lane(of_context, l, &mut out[place..place + width]);
        }
    }
}

/// What drives a group of rows beside their drift.
struct Driven<'p, V: Lanes> {
    normals: Normals<'p, V>,
    diffusion: diffusion::PullBack<'p, V>,
    prior: Option<PullBack<'p, V>>,
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
            Some(prior) => Some(PullBack::new(prior)),
            None => None,
        };
        Self {
            normals: Normals::new(driving.noise, n, &layout.step_offsets, of_lanes),
            diffusion: diffusion::PullBack::new(driving.diffusion, n),
            prior,
        }
    }

    /// The adjoint of the noise and of the divergence of step `j`, of length `dt` and with the cotangent `weight` of the
    /// divergence. With `v = (f - h) / g` and the cotangent `a` of the state after the step,
    ///
    /// ```text
    /// of f += weight dt v / g,   of h = -weight dt v / g,   of g = a xi sqrt(dt) - weight dt v^2 / g,
    /// ```
    ///
    /// and what comes back from `g` and `h` is added to `a`.
    #[inline(always)]
    fn pull_back(
        &mut self,
        j: usize,
        [dt, weight]: [V; 2],
        z: &[V],
        drift: &mut PullBack<'p, V>,
        a: &mut [V],
    ) {
        let Self { normals, diffusion, prior } = self;
        diffusion.evaluate(z);
        normals.fill(j, false);
        let sqrt_dt = dt.sqrt();
        for ((of_g, a), xi) in diffusion.of_g.iter_mut().zip(a.iter()).zip(normals.values()) {
            *of_g = a.mul(xi.mul(sqrt_dt));
        }
        if let Some(prior) = prior {
            prior.evaluation.evaluate(z);
            let scale = weight.mul(dt);
            let floor = V::Real::of(FLOOR);
            for i in 0..z.len() {
                let g = V::splat(floor).max(diffusion.g[i]);
                let ratio = drift.evaluation.value()[i].sub(prior.evaluation.value()[i]).div(g);
                let of_difference = scale.mul(ratio).div(g);
                drift.cotangent()[i] = drift.cotangent()[i].add(of_difference);
                prior.cotangent()[i] = V::zero().sub(of_difference);
                // Below the floor the diffusion does not divide.
                let of_g = diffusion.g[i].where_greater(floor, of_difference.mul(ratio));
                diffusion.of_g[i] = diffusion.of_g[i].sub(of_g);
            }
            prior.pull_back(z, a);
        }
        diffusion.pull_back(z, a);
    }

    /// Gradients of the parameters of diffusion and prior.
    #[inline(always)]
    fn finish(self) -> (Vec<V::Real>, Vec<V::Real>) {
        let prior = match self.prior {
            Some(prior) => prior.finish(),
            None => Vec::new(),
        };
        (self.diffusion.finish(), prior)
    }
}
