//! Diagonal complex linear recurrences with a gap before every step, forward and backward: the state-space part of S5
//! (Smith, Warrington and Linderman, Simplified state space layers for sequence modeling, 2023).
//!
//! From `x = 0`, with the eigenvalue `l_p` and the step `d_p = exp(ln_delta_p)` of state `p`, and the gap `g_k` before row `k`,
//!
//! ```text
//! x_k = a_k x_{k-1} + c_k w_k,   a_k = exp(l d g_k),   c_k = (a_k - 1) / l,
//! ```
//!
//! which is exact where the input is held constant over the gap. Everything is complex, in real arithmetic: the `P` real
//! parts of a row stand before its `P` imaginary parts.
//!
//! The factors `a` and `c` depend on gap and state alone and are computed once for every distinct gap, in double precision,
//! with `(exp(z) - 1) / z` by its series near 0. What then runs over the rows of a series, one after the other, are
//! multiply-adds with states in the lanes of vector registers. Backward, the same runs the other way, and sums over the rows
//! of a gap go through the factors once.
//!
//! Results have the same bits for any number of threads; those of a series whatever stands beside it.

mod error;
mod factors;
mod problem;
mod recurrence;

pub use error::S5Error;
pub use problem::S5Problem;

use rayon::prelude::*;

use crate::argument::{check_finite, check_length};
use crate::precision::kernels;
use crate::simd::{Level, SimdReal};
use factors::{Complex, Factors};
use recurrence::{PullBack, Recur};

kernels! {
    /// A real number that recurrences can be computed in: `f32` or `f64`.
    trait S5Real: SimdReal {
        fn recur(Recur);
        fn pull_back(PullBack);
    }
}

/// Gradients of a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct S5Gradients<T> {
    /// By the eigenvalues, `[2 P]`: real parts, then imaginary parts.
    pub lambda: Vec<T>,
    /// By the logarithms of the steps, `[P]`.
    pub ln_delta: Vec<T>,
    /// By the inputs, `[N, 2 P]`.
    pub inputs: Vec<T>,
}

/// How recurrences are computed: the instruction set.
///
/// ```
/// use stroock_kernels::s5::{S5Problem, S5Solver};
///
/// // One state that forgets: l = -1, d = 1. Two rows, the second after a gap of ln 2.
/// let problem = S5Problem {
///     states: 1,
///     offsets: &[0, 2],
///     gaps: &[1e3, std::f64::consts::LN_2],
///     lambda: &[-1.0, 0.0],
///     ln_delta: &[0.0],
///     inputs: &[3.0, 0.0, 5.0, 0.0],
/// };
/// let states: Vec<f64> = S5Solver::default().forward(&problem)?;
/// // After a long time the state is the input; then half of it is left, and half of the new input is there.
/// assert!((states[0] - 3.0).abs() < 1e-12 && (states[2] - 4.0).abs() < 1e-12);
/// # Ok::<(), stroock_kernels::s5::S5Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct S5Solver {
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Default for S5Solver {
    fn default() -> Self {
        Self { level: Level::detect() }
    }
}

impl S5Solver {
    /// The states after every row, `[N, 2 P]`.
    ///
    /// # Errors
    /// When an argument is malformed, or a factor overflows.
    pub fn forward<T: S5Real>(&self, problem: &S5Problem<'_, T>) -> Result<Vec<T>, S5Error> {
        problem.check()?;
        let factors = Factors::new(problem, T::width(self.level))?;
        let width = 2 * problem.states;
        let mut states = vec![T::zero(); problem.inputs.len()];
        let tasks = problem.per_series(&mut states, width);
        tasks.into_par_iter().enumerate().for_each(|(b, out)| {
            let rows = problem.offsets[b]..problem.offsets[b + 1];
            let inputs = &problem.inputs[rows.start * width..rows.end * width];
            let places = &factors.places[rows];
            T::recur(
                self.level,
                Recur { states: problem.states, factors: &factors.table, places, inputs, out },
            );
        });
        Ok(states)
    }

    /// The gradients of a loss whose gradient by the states of [`forward`](Self::forward) is `of_states`, `[N, 2 P]`.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn backward<T: S5Real>(
        &self,
        problem: &S5Problem<'_, T>,
        states: &[T],
        of_states: &[T],
    ) -> Result<S5Gradients<T>, S5Error> {
        problem.check()?;
        for (argument, values) in [("states", states), ("of_states", of_states)] {
            check_length(argument, "[rows, 2 states]", problem.inputs.len(), values.len())?;
            check_finite(argument, values)?;
        }
        let factors = Factors::new(problem, T::width(self.level))?;
        let width = 2 * problem.states;
        let [mut carried, mut of_inputs] = [(); 2].map(|()| vec![T::zero(); problem.inputs.len()]);
        let tasks = problem.per_series(&mut carried, width).into_par_iter();
        tasks.zip(problem.per_series(&mut of_inputs, width)).enumerate().for_each(
            |(b, (carried, of_inputs))| {
                let rows = problem.offsets[b]..problem.offsets[b + 1];
                let of_states = &of_states[rows.start * width..rows.end * width];
                let places = &factors.places[rows];
                let states = problem.states;
                let task =
                    PullBack { states, factors: &factors.table, places, of_states, carried, of_inputs };
                T::pull_back(self.level, task);
            },
        );
        let (lambda, ln_delta) = self.of_parameters(problem, &factors, states, &carried);
        Ok(S5Gradients { lambda, ln_delta, inputs: of_inputs })
    }

    /// Gradients of the parameters from those carried to every row: sums over the rows of a gap, in their order, and from
    /// there through the factors.
    fn of_parameters<T: S5Real>(
        &self,
        problem: &S5Problem<'_, T>,
        factors: &Factors<T>,
        states: &[T],
        carried: &[T],
    ) -> (Vec<T>, Vec<T>) {
        let (count, gaps) = (problem.states, factors.gaps.len());
        let at = |values: &[T], row: usize, p: usize| Complex {
            re: values[row * 2 * count + p].as_f64(),
            im: values[row * 2 * count + count + p].as_f64(),
        };
        let [mut of_decay, mut of_drive] = [(); 2].map(|()| vec![Complex::default(); gaps * count]);
        for rows in problem.offsets.windows(2) {
            for row in rows[0]..rows[1] {
                let place = factors.places[row] as usize * count;
                for p in 0..count {
                    let gradient = at(carried, row, p);
                    if row > rows[0] {
                        of_decay[place + p] += at(states, row - 1, p).conjugate() * gradient;
                    }
                    of_drive[place + p] += at(problem.inputs, row, p).conjugate() * gradient;
                }
            }
        }
        let mut lambda = vec![0.0; 2 * count];
        let mut ln_delta = vec![0.0; count];
        for (g, &gap) in factors.gaps.iter().enumerate() {
            for p in 0..count {
                let eigenvalue = problem.eigenvalue(p);
                let (of_eigenvalue, of_ln_delta) = factors::pull_back(
                    eigenvalue,
                    problem.ln_delta[p].as_f64(),
                    gap,
                    of_decay[g * count + p],
                    of_drive[g * count + p],
                );
                lambda[p] += of_eigenvalue.re;
                lambda[count + p] += of_eigenvalue.im;
                ln_delta[p] += of_ln_delta;
            }
        }
        (lambda.into_iter().map(T::of).collect(), ln_delta.into_iter().map(T::of).collect())
    }
}
