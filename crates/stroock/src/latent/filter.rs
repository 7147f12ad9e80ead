//! The filter of continuous recurrent units as an operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::kalman::{Gradients, KalmanProblem, KalmanSolver, Transition};

pub use stroock_kernels::kalman::KalmanError;

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// How coefficients make a drift matrix: see [`Transition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionKind {
    /// The entries of four banded blocks.
    Banded {
        /// Entries beside the diagonal on either side.
        bandwidth: usize,
    },
    /// Eigenvalues in a shared orthogonal basis.
    Eigenvalues,
}

impl TransitionKind {
    /// Coefficients of a drift matrix of `2 half` rows.
    pub fn coefficients(self, half: usize) -> usize {
        match self {
            TransitionKind::Banded { bandwidth } => Transition::<f32>::banded_entries(half, bandwidth),
            TransitionKind::Eigenvalues => half.saturating_mul(2),
        }
    }
}

/// Everything about the filter of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct FilterPlan {
    /// Dimension `d` of an observation, half of that of a state.
    pub half: usize,
    /// How coefficients make a drift matrix.
    pub transition: TransitionKind,
    /// `[B + 1]`: where the points of a series begin.
    pub offsets: Vec<usize>,
    /// Time since the point before, `[P]`.
    pub gaps: Vec<f64>,
    /// Which points are observed, `[P]`.
    pub observed: Vec<bool>,
}

/// What all series of a batch share.
#[derive(Clone, Debug)]
pub struct FilterParameters {
    /// Variances at the first point of a series, `[2d]`.
    pub initial: Tensor<1>,
    /// Diagonal of the noise of the process, `[2d]`.
    pub noise: Tensor<1>,
    /// Weights of the mixture, `[2d, K]`.
    pub weights: Tensor<2>,
    /// Biases of the mixture, `[K]`.
    pub biases: Tensor<1>,
    /// Coefficients of the transition, `[K, C]`.
    pub coefficients: Tensor<2>,
    /// Orthogonal basis of the eigenvalues, `[2d, 2d]`.
    pub basis: Option<Tensor<2>>,
}

/// Beliefs at all points, `[P, 5d]`, from the observations and their variances at the observed ones, `[N, 2d]`: mean
/// (`2d`), variances of both halves of the state and covariances between them (`d` each).
///
/// # Errors
/// When the plan and the tensors do not fit, or a belief is not finite.
pub fn filter(
    plan: FilterPlan,
    observations: Tensor<2>,
    parameters: FilterParameters,
) -> Result<Tensor<2>, KalmanError> {
    let FilterParameters { initial, noise, weights, biases, coefficients, basis } = parameters;
    // One tensor of all small ones: operations have few inputs.
    let shared = Tensor::cat(vec![initial, noise, weights.flatten(0, 1), biases], 0);
    let [observations, shared] = [observations.into_dispatch(), shared.into_dispatch()];
    let coefficients = coefficients.into_dispatch();
    match basis {
        None => fused::apply(plan, [observations, shared, coefficients]),
        Some(basis) => fused::apply(plan, [observations, shared, coefficients, basis.into_dispatch()]),
    }
}

impl FilterPlan {
    fn gaps<T: FusedReal>(&self) -> Vec<T> {
        self.gaps.iter().map(|&gap| T::of(gap)).collect()
    }

    fn problem<'a, T: FusedReal>(
        &'a self,
        gaps: &'a [T],
        [observations, shared, coefficients, basis]: [&'a [T]; 4],
    ) -> KalmanProblem<'a, T> {
        let n = 2 * self.half;
        let sets = shared.len().saturating_sub(2 * n) / (n + 1);
        let (initial, rest) = shared.split_at(n.min(shared.len()));
        let (noise, rest) = rest.split_at(n.min(rest.len()));
        let (weights, biases) = rest.split_at((n * sets).min(rest.len()));
        let transition = match self.transition {
            TransitionKind::Banded { bandwidth } => Transition::Banded { bandwidth, coefficients },
            TransitionKind::Eigenvalues => Transition::Eigenvalues { basis, coefficients },
        };
        KalmanProblem {
            half: self.half,
            offsets: &self.offsets,
            gaps,
            observed: &self.observed,
            observations,
            initial,
            noise,
            weights,
            biases,
            transition,
        }
    }

    fn run<T: FusedReal>(&self, inputs: [&[T]; 4]) -> Result<Evaluated<T, ()>, KalmanError> {
        let gaps = self.gaps();
        let output = KalmanSolver::default().forward(&self.problem(&gaps, inputs))?;
        Ok(Evaluated { output, shape: vec![self.gaps.len(), 5 * self.half], tape: () })
    }

    fn pull_back<T: FusedReal>(
        &self,
        inputs: [&[T]; 4],
        beliefs: &[T],
        of_beliefs: &[T],
    ) -> Result<[Vec<T>; 4], KalmanError> {
        let gaps = self.gaps();
        let problem = self.problem(&gaps, inputs);
        let Gradients { observations, shared } =
            KalmanSolver::default().backward(&problem, beliefs, of_beliefs)?;
        let of_shared = [shared.initial, shared.noise, shared.weights, shared.biases].concat();
        Ok([observations, of_shared, shared.coefficients, shared.basis])
    }
}

/// With banded matrices.
impl Operation<3> for FilterPlan {
    type Tape<T: FusedReal> = ();
    type Error = KalmanError;

    fn forward<T: FusedReal>(
        &self,
        [observations, shared, coefficients]: [&[T]; 3],
        _: [&[usize]; 3],
    ) -> Result<Evaluated<T, ()>, KalmanError> {
        self.run([observations, shared, coefficients, &[]])
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, (), 3>,
        of_beliefs: &[T],
        _: [bool; 3],
    ) -> Result<[Vec<T>; 3], KalmanError> {
        let [observations, shared, coefficients] = computed.inputs;
        let inputs = [observations, shared, coefficients, &[]];
        let [observations, shared, coefficients, _] = self.pull_back(inputs, computed.output, of_beliefs)?;
        Ok([observations, shared, coefficients])
    }
}

/// With eigenvalues in a basis.
impl Operation<4> for FilterPlan {
    type Tape<T: FusedReal> = ();
    type Error = KalmanError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 4],
        _: [&[usize]; 4],
    ) -> Result<Evaluated<T, ()>, KalmanError> {
        self.run(inputs)
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, (), 4>,
        of_beliefs: &[T],
        _: [bool; 4],
    ) -> Result<[Vec<T>; 4], KalmanError> {
        self.pull_back(computed.inputs, computed.output, of_beliefs)
    }
}
