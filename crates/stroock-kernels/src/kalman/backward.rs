//! The backward pass: gradients of a function of the beliefs.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::belief::pull_back_update;
use super::eigenvalues::Eigenvalues;
use super::exponential::Exponential;
use super::forward::{GROUP, runs, set_initial};
use super::matrix::add;
use super::mixture::Mixture;
use super::problem::{HALVES, KalmanProblem, Transition, check};
use super::transition::Predict;
use super::{KalmanError, KalmanReal, KalmanSolver};
use crate::simd::{Kernel, Lanes, SimdReal};

/// Gradients of a loss with respect to the inputs of a filter problem, in their shapes.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the observations and their variances, `[N, 2, d]`.
    pub observations: Vec<T>,
    /// With respect to everything that all series share.
    pub shared: OfShared<T>,
}

/// Gradients of what all series share.
#[derive(Clone, Debug, Default)]
pub struct OfShared<T> {
    /// With respect to the initial variances, `[2, d]`.
    pub initial: Vec<T>,
    /// With respect to the noise of the process, `[2d]`.
    pub noise: Vec<T>,
    /// With respect to the weights of the mixture, `[2d, K]`.
    pub weights: Vec<T>,
    /// With respect to its biases, `[K]`.
    pub biases: Vec<T>,
    /// With respect to the coefficients of the transition, `[K, C]`.
    pub coefficients: Vec<T>,
    /// With respect to the basis, `[2d, 2d]`; empty without one.
    pub basis: Vec<T>,
}

impl<T: Real> OfShared<T> {
    /// Groups are added in their order, whatever the threads did.
    fn add(&mut self, part: &Self) {
        add(&part.initial, &mut self.initial);
        add(&part.noise, &mut self.noise);
        add(&part.weights, &mut self.weights);
        add(&part.biases, &mut self.biases);
        add(&part.coefficients, &mut self.coefficients);
        add(&part.basis, &mut self.basis);
    }
}

impl KalmanSolver {
    /// Pulls gradients back through the beliefs of a batch.
    ///
    /// `beliefs` (`[P, 5d]`) is what [`forward`](Self::forward) returned for the same problem, and `of_beliefs` the
    /// gradient of the loss with respect to it. Nothing else is kept: every prediction is made once more.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn backward<T: KalmanReal>(
        &self,
        problem: &KalmanProblem<'_, T>,
        beliefs: &[T],
        of_beliefs: &[T],
    ) -> Result<Gradients<T>, KalmanError> {
        let places = problem.check()?;
        let width = HALVES * problem.half;
        check("beliefs", "[points, 5 half]", problem.gaps.len() * width, beliefs)?;
        check("of_beliefs", "[points, 5 half]", problem.gaps.len() * width, of_beliefs)?;
        let mut observations = vec![T::zero(); problem.observations.len()];
        let parts: Vec<OfShared<T>> = runs(&mut observations, &places, problem.dim())
            .into_par_iter()
            .enumerate()
            .map(|(group, of_observations)| {
                let (first, places) = (group * GROUP, &places);
                let group = PullBack { problem, first, places, beliefs, of_beliefs, of_observations };
                T::pull_back_filter(self.level_for(problem.dim()), group)
            })
            .collect();
        let mut parts = parts.into_iter();
        let Some(mut shared) = parts.next() else { return Ok(Gradients::zeros(problem)) };
        parts.for_each(|part| shared.add(&part));
        Ok(Gradients { observations, shared })
    }
}

impl<T: Real> Gradients<T> {
    /// Those of a batch without series.
    fn zeros(problem: &KalmanProblem<'_, T>) -> Self {
        let zeros = |values: &[T]| vec![T::zero(); values.len()];
        let basis = match problem.transition {
            Transition::Banded { .. } => &[],
            Transition::Eigenvalues { basis, .. } => basis,
        };
        let shared = OfShared {
            initial: zeros(problem.initial),
            noise: zeros(problem.noise),
            weights: zeros(problem.weights),
            biases: zeros(problem.biases),
            coefficients: zeros(problem.transition.coefficients()),
            basis: zeros(basis),
        };
        Self { observations: Vec::new(), shared }
    }
}

/// Some series, one after the other.
pub struct PullBack<'g, T> {
    problem: &'g KalmanProblem<'g, T>,
    first: usize,
    /// Where the observations of every series begin.
    places: &'g [usize],
    beliefs: &'g [T],
    of_beliefs: &'g [T],
    of_observations: &'g mut [T],
}

impl<T: SimdReal> Kernel<T> for PullBack<'_, T> {
    type Output = OfShared<T>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> OfShared<T> {
        let (half, noise) = (self.problem.half, self.problem.noise);
        match self.problem.transition {
            Transition::Banded { bandwidth, .. } => {
                self.with::<V, _>(Exponential::<V>::new(half, bandwidth, noise))
            }
            Transition::Eigenvalues { basis, .. } => {
                self.with::<V, _>(Eigenvalues::<V>::new(half, basis, noise))
            }
        }
    }
}

impl<T: SimdReal> PullBack<'_, T> {
    #[inline(always)]
    fn with<V: Lanes<Real = T>, P: Predict<V>>(self, mut transition: P) -> OfShared<T> {
        let PullBack { problem, first, places, beliefs, of_beliefs, of_observations } = self;
        let (half, n, width) = (problem.half, problem.dim(), HALVES * problem.half);
        let mut mixture = Mixture::<V>::new(problem);
        let mut of_initial = vec![T::zero(); n];
        let [mut prior, mut of_belief, mut of_before] = [(); 3].map(|()| vec![T::zero(); width]);
        for b in first..(first + GROUP).min(problem.series()) {
            let mut observed = places[b + 1];
            of_belief.fill(T::zero());
            for point in (problem.offsets[b]..problem.offsets[b + 1]).rev() {
                let is_first = point == problem.offsets[b];
                add(&of_beliefs[point * width..][..width], &mut of_belief);
                let before = if is_first { &[][..] } else { &beliefs[(point - 1) * width..point * width] };
                if is_first {
                    set_initial(problem, &mut prior);
                } else {
                    mixture.mix(&before[..n]);
                    transition.predict(&mixture.coefficients, problem.gaps[point], before, &mut prior);
                }
                if problem.observed[point] {
                    observed -= 1;
                    let of_observation = &mut of_observations[(observed - places[first]) * n..][..n];
                    let observation = &problem.observations[observed * n..][..n];
                    pull_back_update(&prior, observation, half, &mut of_belief, of_observation);
                }
                if is_first {
                    add(&of_belief[n..2 * n], &mut of_initial);
                } else {
                    let of_coefficients = &mut mixture.of_coefficients;
                    transition.pull_back(before, &of_belief, &mut of_before, of_coefficients);
                    mixture.pull_back(&before[..n], &mut of_before[..n]);
                    std::mem::swap(&mut of_belief, &mut of_before);
                }
            }
        }
        let (noise, basis) = transition.finish();
        let [weights, biases, coefficients] = mixture.finish();
        OfShared { initial: of_initial, noise, weights, biases, coefficients, basis }
    }
}
