//! The filter of continuous recurrent units over ragged series, forward and backward.
//!
//! A linear SDE `dx = A x dt + dW` in `R^2d` is observed through its first half: at some points there is `y` with
//! independent variances `r`. A belief about the state is its mean `m` and, of its covariance, the diagonals of the four
//! `d x d` blocks: variances `u` of the observed half and `l` of the other, covariances `s` between coordinate `i` of both.
//! An observation changes it, coordinate by coordinate, to
//!
//! ```text
//! m_u + u e / (u + r),   m_l + s e / (u + r),   u r / (u + r),   l - s^2 / (u + r),   s r / (u + r),   e = y - m_u,
//! ```
//!
//! and over a gap `t` to the next point it becomes the three diagonals of
//!
//! ```text
//! e^{A t} S e^{A' t} + int_0^t e^{A v} diag(q) e^{A' v} dv,   with the mean e^{A t} m.
//! ```
//!
//! The drift matrix follows the belief: its coefficients are mixed from `K` learned sets by `softmax(W m + b)`, and are the
//! entries of banded blocks or eigenvalues in an orthogonal basis ([`Transition`]). Schirmer, Eltayeb, Lessmann and Rudolph,
//! Modeling irregular time series with continuous recurrent units, 2022: the CRU and the f-CRU. It is a filter: a belief
//! knows the past alone.
//!
//! A thread takes a few series, one after the other; the columns of the small matrices stand in the lanes of vector
//! registers. Nothing is kept but the beliefs: the backward pass makes every prediction once more. Beliefs and gradients of
//! observations give the same bits for any number of threads and whatever series stand beside; gradients of what series
//! share, for any number of threads.

mod backward;
mod belief;
mod eigenvalues;
mod error;
mod exponential;
mod forward;
mod matrix;
mod mixture;
mod problem;
mod transition;

pub use backward::{Gradients, OfShared};
pub use error::KalmanError;
pub use problem::{KalmanProblem, Transition};

use crate::precision::kernels;
use crate::simd::{Level, SimdReal};
use backward::PullBack;
use forward::Filter;

kernels! {
    /// A real number that series can be filtered in: `f32` or `f64`.
    trait KalmanReal: SimdReal {
        fn filter(Filter);
        fn pull_back_filter(PullBack) -> OfShared<Self>;
    }
}

/// How series are filtered: the instruction set.
///
/// ```
/// use stroock_kernels::kalman::{KalmanProblem, KalmanSolver, Transition};
///
/// // A state that stands still (all eigenvalues are 0) and gathers noise, seen at the first of two points.
/// let problem = KalmanProblem {
///     half: 1,
///     offsets: &[0, 2],
///     gaps: &[0.0, 2.0],
///     observed: &[true, false],
///     observations: &[0.8, 0.5],
///     initial: &[0.5, 1.0],
///     noise: &[0.1, 0.2],
///     weights: &[0.0, 0.0],
///     biases: &[0.0],
///     transition: Transition::Eigenvalues { basis: &[1.0, 0.0, 0.0, 1.0], coefficients: &[0.0, 0.0] },
/// };
/// let beliefs = KalmanSolver::default().forward(&problem)?;
/// let expected = [0.4, 0.0, 0.25, 1.0, 0.0, 0.4, 0.0, 0.45, 1.4, 0.0];
/// assert!(beliefs.iter().zip(expected).all(|(belief, e): (&f64, f64)| (belief - e).abs() < 1e-15));
///
/// // The gradient of the last mean by the observation, and by its variance.
/// let mut of_beliefs = [0.0; 10];
/// of_beliefs[5] = 1.0;
/// let gradients = KalmanSolver::default().backward(&problem, &beliefs, &of_beliefs)?;
/// assert!((gradients.observations[0] - 0.5_f64).abs() < 1e-15);
/// assert!((gradients.observations[1] + 0.4_f64).abs() < 1e-15);
/// # Ok::<(), stroock_kernels::kalman::KalmanError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KalmanSolver {
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Default for KalmanSolver {
    fn default() -> Self {
        Self { level: Level::detect() }
    }
}

impl KalmanSolver {
    /// The level for states of dimension `n`: wide vectors of which a large part would be empty are slower.
    fn level_for(self, n: usize) -> Level {
        let places = |level| n.next_multiple_of(f32::width(level));
        match self.level {
            Level::Avx512 if places(Level::Avx512) > places(Level::Avx2) => Level::Avx2,
            level => level,
        }
    }
}
