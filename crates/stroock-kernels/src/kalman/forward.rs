//! The forward pass: beliefs at all points.

use rayon::prelude::*;

use super::belief::update;
use super::eigenvalues::Eigenvalues;
use super::exponential::Exponential;
use super::mixture::Mixture;
use super::problem::{HALVES, KalmanProblem, Transition};
use super::transition::Predict;
use super::{KalmanError, KalmanReal, KalmanSolver};
use crate::argument::first_not_finite;
use crate::simd::{Kernel, Lanes, SimdReal};

/// Series that one task takes, and whose gradients of shared parameters are summed first.
pub(super) const GROUP: usize = 4;

impl KalmanSolver {
    /// The beliefs at all points of a batch, `[P, 5d]`: after the update where there is an observation. A row has the mean
    /// (`2d`), the variances of the observed half and of the other (`d` each), and the covariances between them (`d`).
    ///
    /// # Errors
    /// When an argument is malformed or a belief is not finite.
    pub fn forward<T: KalmanReal>(&self, problem: &KalmanProblem<'_, T>) -> Result<Vec<T>, KalmanError> {
        let observations = problem.check()?;
        let width = HALVES * problem.half;
        let mut beliefs = vec![T::zero(); problem.gaps.len() * width];
        let groups = runs(&mut beliefs, problem.offsets, width);
        groups.into_par_iter().enumerate().for_each(|(group, beliefs)| {
            let first = group * GROUP;
            let observations = &observations;
            T::filter(self.level_for(problem.dim()), Filter { problem, first, observations, beliefs });
        });
        match first_not_finite(&beliefs) {
            None => Ok(beliefs),
            Some(index) => {
                let point = index / width;
                let series = problem.offsets.partition_point(|&offset| offset <= point) - 1;
                Err(KalmanError::NotFinite { series })
            }
        }
    }
}

/// What belongs to the rows of every group of series.
pub(super) fn runs<'a, T>(all: &'a mut [T], offsets: &[usize], width: usize) -> Vec<&'a mut [T]> {
    let series = offsets.len() - 1;
    let mut rest = all;
    let mut runs = Vec::with_capacity(series.div_ceil(GROUP));
    for first in (0..series).step_by(GROUP) {
        let rows = offsets[(first + GROUP).min(series)] - offsets[first];
        let (run, tail) = rest.split_at_mut(rows * width);
        runs.push(run);
        rest = tail;
    }
    runs
}

/// Some series, one after the other.
pub struct Filter<'g, T> {
    problem: &'g KalmanProblem<'g, T>,
    first: usize,
    observations: &'g [usize],
    beliefs: &'g mut [T],
}

impl<T: SimdReal> Kernel<T> for Filter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let (half, noise) = (self.problem.half, self.problem.noise);
        match self.problem.transition {
            Transition::Banded { bandwidth, .. } => {
                self.with::<V, _>(Exponential::<V>::new(half, bandwidth, noise));
            }
            Transition::Eigenvalues { basis, .. } => {
                self.with::<V, _>(Eigenvalues::<V>::new(half, basis, noise));
            }
        }
    }
}

impl<T: SimdReal> Filter<'_, T> {
    #[inline(always)]
    fn with<V: Lanes<Real = T>, P: Predict<V>>(self, mut transition: P) {
        let Filter { problem, first, observations, beliefs } = self;
        let (half, width) = (problem.half, HALVES * problem.half);
        let mut mixture = Mixture::<V>::new(problem);
        let start = problem.offsets[first];
        for b in first..(first + GROUP).min(problem.series()) {
            let mut observed = observations[b];
            for point in problem.offsets[b]..problem.offsets[b + 1] {
                let (done, rest) = beliefs.split_at_mut((point - start) * width);
                let belief = &mut rest[..width];
                if point == problem.offsets[b] {
                    set_initial(problem, belief);
                } else {
                    let before = &done[done.len() - width..];
                    mixture.mix(&before[..2 * half]);
                    transition.predict(&mixture.coefficients, problem.gaps[point], before, belief);
                }
                if problem.observed[point] {
                    update(belief, &problem.observations[observed * 2 * half..][..2 * half], half);
                    observed += 1;
                }
            }
        }
    }
}

/// The belief at the first point of a series.
#[inline(always)]
pub(super) fn set_initial<T: SimdReal>(problem: &KalmanProblem<'_, T>, belief: &mut [T]) {
    let half = problem.half;
    belief.fill(T::zero());
    belief[2 * half..4 * half].copy_from_slice(problem.initial);
}
