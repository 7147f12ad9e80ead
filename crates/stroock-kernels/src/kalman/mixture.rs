//! Coefficients that follow the state: a mixture of shared sets, weighed by a softmax of a linear map of the mean.

use stroock_geometry::Real;

use super::matrix::dot;
use super::problem::KalmanProblem;
use crate::simd::Lanes;

pub(super) struct Mixture<'p, V: Lanes> {
    /// `[2d, K]`.
    weights: &'p [V::Real],
    biases: &'p [V::Real],
    /// `[K, C]`.
    sets: &'p [V::Real],
    shares: Vec<V::Real>,
    of_shares: Vec<V::Real>,
    /// `sum_k a_k c_k`.
    pub coefficients: Vec<V::Real>,
    /// Its cotangent.
    pub of_coefficients: Vec<V::Real>,
    of_weights: Vec<V::Real>,
    of_biases: Vec<V::Real>,
    of_sets: Vec<V::Real>,
}

impl<'p, V: Lanes> Mixture<'p, V> {
    #[inline(always)]
    pub fn new(problem: &KalmanProblem<'p, V::Real>) -> Self {
        let (weights, biases) = (problem.weights, problem.biases);
        let sets = problem.transition.coefficients();
        let zeros = |count: usize| vec![V::Real::of(0.0); count];
        Self {
            weights,
            biases,
            sets,
            shares: zeros(biases.len()),
            of_shares: zeros(biases.len()),
            coefficients: zeros(sets.len() / biases.len()),
            of_coefficients: zeros(sets.len() / biases.len()),
            of_weights: zeros(weights.len()),
            of_biases: zeros(biases.len()),
            of_sets: zeros(sets.len()),
        }
    }

    /// Mixes the sets at a mean.
    #[inline(always)]
    pub fn mix(&mut self, mean: &[V::Real]) {
        let Self { shares, coefficients, .. } = self;
        let count = shares.len();
        shares.copy_from_slice(self.biases);
        for (mean, weights) in mean.iter().zip(self.weights.chunks_exact(count)) {
            for (share, weight) in shares.iter_mut().zip(weights) {
                *share += *mean * *weight;
            }
        }
        softmax(shares);
        coefficients.fill(V::Real::of(0.0));
        for (share, set) in shares.iter().zip(self.sets.chunks_exact(coefficients.len())) {
            for (coefficient, entry) in coefficients.iter_mut().zip(set) {
                *coefficient += *share * *entry;
            }
        }
    }

    /// The adjoint of [`mix`](Self::mix) at the mean of the last call and for [`of_coefficients`](Self::of_coefficients):
    /// adds to the cotangent of the mean.
    #[inline(always)]
    pub fn pull_back(&mut self, mean: &[V::Real], of_mean: &mut [V::Real]) {
        let Self { shares, of_shares, of_coefficients, .. } = self;
        let (count, entries) = (shares.len(), of_coefficients.len());
        let mut average = V::Real::of(0.0);
        let sets = self.sets.chunks_exact(entries).zip(self.of_sets.chunks_exact_mut(entries));
        for (k, (set, of_set)) in sets.enumerate() {
            of_shares[k] = dot::<V>(of_coefficients, set);
            average += shares[k] * of_shares[k];
            for (of_entry, of_coefficient) in of_set.iter_mut().zip(of_coefficients.iter()) {
                *of_entry += shares[k] * *of_coefficient;
            }
        }
        for k in 0..count {
            of_shares[k] = shares[k] * (of_shares[k] - average);
            self.of_biases[k] += of_shares[k];
        }
        let weights = self.weights.chunks_exact(count).zip(self.of_weights.chunks_exact_mut(count));
        for (i, (weights, of_weights)) in weights.enumerate() {
            of_mean[i] += dot::<V>(of_shares, weights);
            for (of_weight, of_share) in of_weights.iter_mut().zip(of_shares.iter()) {
                *of_weight += mean[i] * *of_share;
            }
        }
    }

    /// The gradients of weights, biases and sets.
    #[inline(always)]
    pub fn finish(self) -> [Vec<V::Real>; 3] {
        [self.of_weights, self.of_biases, self.of_sets]
    }
}

#[inline(always)]
fn softmax<T: Real>(logits: &mut [T]) {
    let mut largest = T::neg_infinity();
    for logit in logits.iter() {
        largest = largest.max(*logit);
    }
    let mut sum = T::zero();
    for logit in logits.iter_mut() {
        *logit = (*logit - largest).exp();
        sum += *logit;
    }
    for logit in logits.iter_mut() {
        *logit /= sum;
    }
}
