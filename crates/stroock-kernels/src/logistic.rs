//! The logistic function `1 / (1 + e^{-x})` of many numbers, and its adjoint.

use rayon::prelude::*;

use crate::simd::{Kernel, Lanes, Level, SimdReal, dispatch};

/// A real number that the logistic function is computed in: `f32` or `f64`.
///
/// The kernels are compiled in this crate, once per precision and instruction set.
pub trait LogisticReal: SimdReal {
    #[doc(hidden)]
    fn squash(level: Level, task: Task<'_, Self>);
}

macro_rules! logistic_real {
    ($real:ty) => {
        impl LogisticReal for $real {
            fn squash(level: Level, task: Task<'_, Self>) {
                dispatch(level, task)
            }
        }
    };
}

logistic_real!(f32);
logistic_real!(f64);

/// Numbers of one task: enough to be worth a thread.
const TASK: usize = 1 << 14;

/// `1 / (1 + e^{-x})` of every number.
///
/// ```
/// use stroock_kernels::logistic::{logistic, pull_back};
/// let y = logistic(&[0.0f32, 100.0]);
/// assert_eq!(y, [0.5, 1.0]);
/// assert_eq!(pull_back(&y, &[1.0, 1.0]), [0.25, 0.0]);
/// ```
pub fn logistic<T: LogisticReal>(x: &[T]) -> Vec<T> {
    let mut y = vec![T::zero(); x.len()];
    let level = Level::detect();
    y.par_chunks_mut(TASK).zip(x.par_chunks(TASK)).for_each(|(y, x)| T::squash(level, Task { x, y }));
    y
}

/// The gradient with respect to the numbers, `y (1 - y) g`, from the gradient `g` with respect to the output `y`.
pub fn pull_back<T: LogisticReal>(y: &[T], of_y: &[T]) -> Vec<T> {
    let mut of_x = vec![T::zero(); y.len().min(of_y.len())];
    of_x.par_chunks_mut(TASK).zip(y.par_chunks(TASK)).zip(of_y.par_chunks(TASK)).for_each(
        |((of_x, y), of_y)| {
            for ((of_x, &y), &g) in of_x.iter_mut().zip(y).zip(of_y) {
                *of_x = y * (T::one() - y) * g;
            }
        },
    );
    of_x
}

/// The numbers of one task.
pub struct Task<'t, T> {
    x: &'t [T],
    y: &'t mut [T],
}

impl<T: SimdReal> Kernel<T> for Task<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let whole = self.x.len() - self.x.len() % V::WIDTH;
        let (x, rest_of_x) = self.x.split_at(whole);
        let (y, rest_of_y) = self.y.split_at_mut(whole);
        for (x, y) in x.chunks_exact(V::WIDTH).zip(y.chunks_exact_mut(V::WIDTH)) {
            V::load(x).sigmoid().store(y);
        }
        if !rest_of_x.is_empty() {
            V::load_part(rest_of_x, V::zero()).sigmoid().store_part(rest_of_y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_squashed_whatever_the_length() {
        for count in [0, 1, 7, 8, 31, TASK + 3] {
            let x: Vec<f32> = (0..count).map(|i| (i as f32 * 0.37).sin() * 20.0).collect();
            let y = logistic(&x);
            for (x, y) in x.iter().zip(&y) {
                let exact = 1.0 / (1.0 + (-f64::from(*x)).exp());
                assert!((f64::from(*y) - exact).abs() <= 2e-7 * exact, "{x}: {y} is not {exact}");
            }
        }
        assert!(logistic(&[f64::NAN])[0].is_nan());
        assert_eq!(logistic(&[-1e4f32, 1e4]), [0.0, 1.0]);
    }
}
