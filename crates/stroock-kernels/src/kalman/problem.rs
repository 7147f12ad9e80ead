//! What a filter is computed from, and the checks that it makes sense.

use stroock_geometry::Real;

use super::KalmanError;
use crate::argument::{ArgumentError, check_finite, check_length, check_not_empty, check_offsets};

/// How the drift matrix of a step is made of `K` sets of `C` coefficients: `A = A(sum_k a_k c_k)`.
#[derive(Clone, Copy, Debug)]
pub enum Transition<'a, T> {
    /// Matrices of four `d x d` blocks, each zero outside a band around its diagonal.
    Banded {
        /// Entries beside the diagonal on either side; from `d - 1` on, blocks are full.
        bandwidth: usize,
        /// The entries inside the bands, row by row: `[K, C]` with the `C` of [`Transition::banded_entries`].
        coefficients: &'a [T],
    },
    /// `A = E diag(lambda) E'` with an orthogonal basis that all steps share.
    Eigenvalues {
        /// Orthogonal matrix `E`, `[2d, 2d]`.
        basis: &'a [T],
        /// Eigenvalues, `[K, 2d]`.
        coefficients: &'a [T],
    },
}

impl<'a, T> Transition<'a, T> {
    /// Entries inside the bands of the four blocks.
    ///
    /// ```
    /// use stroock_kernels::kalman::Transition;
    /// assert_eq!(Transition::<f32>::banded_entries(15, 3), 4 * 93);
    /// assert_eq!(Transition::<f32>::banded_entries(10, 10), 400);
    /// ```
    pub fn banded_entries(half: usize, bandwidth: usize) -> usize {
        let beside = bandwidth.min(half.saturating_sub(1));
        // On the diagonals at distance 1, 2, ... there are d - 1, d - 2, ... entries, on either side.
        let sides = beside.saturating_mul(half.saturating_mul(2).saturating_sub(beside + 1));
        sides.saturating_add(half).saturating_mul(4)
    }

    /// Row and column of every entry inside the bands, in their order.
    pub fn banded_places(half: usize, bandwidth: usize) -> impl Iterator<Item = (usize, usize)> {
        let all = (0..2 * half).flat_map(move |i| (0..2 * half).map(move |j| (i, j)));
        all.filter(move |(i, j)| (i % half).abs_diff(j % half) <= bandwidth)
    }

    pub(super) fn coefficients(&self) -> &'a [T] {
        match self {
            Transition::Banded { coefficients, .. } | Transition::Eigenvalues { coefficients, .. } => {
                coefficients
            }
        }
    }
}

/// A batch of `B` ragged series with `P` points in all, `N` of them observed, and states in `R^2d`.
#[derive(Clone, Copy, Debug)]
pub struct KalmanProblem<'a, T> {
    /// Dimension `d` of an observation, half of that of a state.
    pub half: usize,
    /// Series `b` has the points `offsets[b] .. offsets[b + 1]`, `[B + 1]`.
    pub offsets: &'a [usize],
    /// Time since the point before, `[P]`; without meaning for the first point of a series.
    pub gaps: &'a [T],
    /// Which points are observed, `[P]`.
    pub observed: &'a [bool],
    /// Observation `y` and its variances `r` at every observed point, in their order, `[N, 2, d]`.
    pub observations: &'a [T],
    /// Variances of the observed and of the other half of the state at the first point of a series, `[2, d]`.
    pub initial: &'a [T],
    /// Diagonal `q` of the noise of the process, `[2d]`.
    pub noise: &'a [T],
    /// Weights of the mixture, `[2d, K]`.
    pub weights: &'a [T],
    /// Biases of the mixture, `[K]`.
    pub biases: &'a [T],
    /// What is mixed.
    pub transition: Transition<'a, T>,
}

/// Numbers of a belief: the mean `[2d]`, and the variances `u`, `l` and covariances `s`, `[d]` each.
pub(super) const HALVES: usize = 5;

impl<T: Real> KalmanProblem<'_, T> {
    /// Dimension of a state.
    pub(super) fn dim(&self) -> usize {
        2 * self.half
    }

    /// Series `B`.
    pub(super) fn series(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Checks every argument. Where the observations of every series begin, `[B + 1]`.
    pub(super) fn check(&self) -> Result<Vec<usize>, KalmanError> {
        let d = self.half;
        check_not_empty([("half", d), ("biases", self.biases.len())])?;
        let n = 2usize.saturating_mul(d);
        check_offsets("offsets", self.offsets, self.gaps.len(), "gaps")?;
        check_finite("gaps", self.gaps)?;
        check_length("observed", "[points]", self.gaps.len(), self.observed.len())?;
        let count = self.observed.iter().filter(|&&observed| observed).count();
        check("observations", "[observed points, 2, half]", count.saturating_mul(n), self.observations)?;
        check("initial", "[2, half]", n, self.initial)?;
        check("noise", "[2 half]", n, self.noise)?;
        let sets = self.biases.len();
        check("biases", "[sets]", sets, self.biases)?;
        check("weights", "[2 half, sets]", n.saturating_mul(sets), self.weights)?;
        let entries = match self.transition {
            Transition::Banded { bandwidth, .. } => Transition::<T>::banded_entries(d, bandwidth),
            Transition::Eigenvalues { basis, .. } => {
                check("basis", "[2 half, 2 half]", n.saturating_mul(n), basis)?;
                n
            }
        };
        let coefficients = self.transition.coefficients();
        check("coefficients", "[sets, entries of a set]", sets.saturating_mul(entries), coefficients)?;
        for pair in self.offsets.windows(2).filter(|pair| pair[1] > pair[0]) {
            let own = pair[0] + 1..pair[1];
            if let Some(index) = own.clone().find(|&index| self.gaps[index] < T::zero()) {
                return Err(KalmanError::NegativeGap { index });
            }
        }
        let mut before = vec![0];
        let mut seen = 0;
        for pair in self.offsets.windows(2) {
            seen += self.observed[pair[0]..pair[1]].iter().filter(|&&observed| observed).count();
            before.push(seen);
        }
        Ok(before)
    }
}

/// Checks that an argument has as many entries as it should and that they are finite.
pub(super) fn check<T: Real>(
    argument: &'static str,
    shape: &'static str,
    expected: usize,
    values: &[T],
) -> Result<(), ArgumentError> {
    check_length(argument, shape, expected, values.len())?;
    check_finite(argument, values)
}
