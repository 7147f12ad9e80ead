//! The Gaussian process over the codes of all training frames, in double precision and exact.
//!
//! With a row `v_n = x_o(n) (x) psi(t_n)` for every frame, `D` features in all, the covariance of a latent coordinate is
//! `K = w1 V V' + w2 I`. Everything about `K` is found from `A = I + c V'V`, `c = w1 / w2`, which is `D x D`:
//!
//! ```text
//! K^-1 = (I - c V A^-1 V') / w2,   ln det K = N ln w2 + ln det A,   K^-1 V = V A^-1 / w2.
//! ```

use nalgebra::{Cholesky, DMatrix, DVector};
use thiserror::Error;

/// Why there is no Gaussian process over some frames.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GaussianProcessError {
    /// There are more training series than vectors of series.
    #[error(
        "the model has vectors for {objects} series, but {series} are for training: raise `latent.objects`"
    )]
    Objects {
        /// Vectors of the model.
        objects: usize,
        /// Training series.
        series: usize,
    },
    /// Codes or parameters are not finite.
    #[error("the codes of the frames, or the parameters of the process over them, are not finite")]
    NotFinite,
}

/// What is known of `N` frames: whose they are, when, and the normal distributions of their codes.
#[derive(Clone, Debug, PartialEq)]
pub struct CodedFrames {
    /// The series of every frame, `[N]`, as rows of the vectors of series.
    pub objects: Vec<usize>,
    /// The harmonics at the time of every frame, `[N, R]`.
    pub harmonics: DMatrix<f64>,
    /// Means of the codes, `[N, L]`.
    pub means: DMatrix<f64>,
    /// Variances of the codes, summed over their coordinates, `[N]`.
    pub variances: DVector<f64>,
}

/// A process with covariance `w1 (x_o . x_o') sum_r s_r^2 h_r(t) h_r(t')` between two frames, and `w2` more between a frame
/// and itself.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianProcess {
    /// Unit vectors `x` of the series, `[P, M]`.
    pub vectors: DMatrix<f64>,
    /// `s`, the amplitudes of the harmonics, `[R]`.
    pub amplitudes: DVector<f64>,
    /// `w1`, the share of the variance that frames have in common.
    pub shared: f64,
    /// `w2`, the share that is of every frame alone.
    pub own: f64,
}

/// `-E ln p(Z)` for codes `Z` of independent normal coordinates, and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The value, over all frames and coordinates.
    pub value: f64,
    /// By the means of the codes, `[N, L]`: `K^-1 Z`.
    pub means: DMatrix<f64>,
    /// By the variance of any coordinate of a code, `[N]`: half the diagonal of `K^-1`.
    pub variances: DVector<f64>,
    /// By the vectors of the series, `[P, M]`.
    pub vectors: DMatrix<f64>,
    /// By the amplitudes, `[R]`.
    pub amplitudes: DVector<f64>,
    /// By `w1` and `w2`.
    pub shares: [f64; 2],
}

/// The process given codes: what is predicted at a frame with features `v` is `v' loadings`, with the variance
/// `v' covariance v` in every coordinate, `w2` aside.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// `w1 V' K^-1 Z`, `[D, L]`.
    pub loadings: DMatrix<f64>,
    /// `w1 A^-1`, `[D, D]`.
    pub covariance: DMatrix<f64>,
}

/// What value, derivatives and posterior have in common.
struct Solved {
    features: DMatrix<f64>,
    inverse: DMatrix<f64>,
    ln_determinant: f64,
    /// `A^-1 V' Z`, `[D, L]`.
    weights: DMatrix<f64>,
}

impl GaussianProcess {
    /// `-E ln p(Z)`, where the expectation is over the codes, and its derivatives. In terms of `K`, of the means `m` and of
    /// the summed variances `tau`,
    ///
    /// ```text
    /// (tr m' K^-1 m + sum_n tau_n (K^-1)_nn + L ln det K + N L ln 2 pi) / 2.
    /// ```
    ///
    /// # Errors
    /// When a code or a parameter is not finite.
    pub fn term(&self, frames: &CodedFrames) -> Result<Term, GaussianProcessError> {
        let &Self { shared, own, .. } = self;
        let ratio = shared / own;
        let CodedFrames { means, variances: tau, .. } = frames;
        let (count, coordinates) = (means.nrows() as f64, means.ncols() as f64);
        let Solved { features: v, inverse, ln_determinant, weights } = self.solved(frames)?;

        let mapped = &v * &inverse;
        let solved = (means - &v * (&weights * ratio)) / own;
        let leverage = |a: &DMatrix<f64>, b: &DMatrix<f64>| {
            DVector::from_fn(a.nrows(), |n, _| a.row(n).dot(&b.row(n)) * ratio)
        };
        let (first, second) = (leverage(&mapped, &v), leverage(&mapped, &mapped));
        let diagonal = first.map(|h| (1.0 - h) / own);

        let square = means.dot(&solved) + tau.dot(&diagonal);
        let ln_volume = count * (own.ln() + std::f64::consts::TAU.ln()) + ln_determinant;
        let value = 0.5 * (square + coordinates * ln_volume);
        if !value.is_finite() {
            return Err(GaussianProcessError::NotFinite);
        }

        // The derivative by K is G / 2 with G = L K^-1 - K^-1 Z Z' K^-1 - K^-1 diag(tau) K^-1; that by V is w1 G V.
        let mut weighted = mapped.clone();
        weighted.row_iter_mut().zip(tau).for_each(|(mut row, &tau)| row *= tau);
        let curved = &mapped * (v.transpose() * &weighted);
        let through = (&mapped * (coordinates * own) - &solved * (weights.transpose() * own) - weighted
            + curved * ratio)
            / (own * own);
        let by_shared = 0.5 * through.dot(&v);
        let crossed = tau.dot(&(diagonal.clone() - second / own)) / own;
        let by_own = 0.5 * (coordinates * diagonal.sum() - solved.norm_squared() - crossed);
        let (vectors, amplitudes) = self.pulled_back(frames, &(through * shared));
        let variances = diagonal * 0.5;
        Ok(Term { value, means: solved, variances, vectors, amplitudes, shares: [by_shared, by_own] })
    }

    /// The process given the means of the codes.
    ///
    /// # Errors
    /// When a code or a parameter is not finite.
    pub fn posterior(&self, frames: &CodedFrames) -> Result<Posterior, GaussianProcessError> {
        let Solved { inverse, weights, .. } = self.solved(frames)?;
        Ok(Posterior { loadings: weights * (self.shared / self.own), covariance: inverse * self.shared })
    }

    /// The rows `x (x) psi`, `[N, M R]`, of frames of some series, `[N]`, with the harmonics `[N, R]`.
    fn features(&self, objects: &[usize], harmonics: &DMatrix<f64>) -> DMatrix<f64> {
        let count = self.amplitudes.len();
        DMatrix::from_fn(objects.len(), self.vectors.ncols() * count, |n, column| {
            let (m, r) = (column / count, column % count);
            self.vectors[(objects[n], m)] * self.amplitudes[r] * harmonics[(n, r)]
        })
    }

    fn solved(&self, frames: &CodedFrames) -> Result<Solved, GaussianProcessError> {
        let features = self.features(&frames.objects, &frames.harmonics);
        let transposed = features.transpose();
        let width = features.ncols();
        let a = DMatrix::identity(width, width) + &transposed * &features * (self.shared / self.own);
        // All eigenvalues are at least 1, unless something is not a number.
        let factor = Cholesky::new(a).ok_or(GaussianProcessError::NotFinite)?;
        let weights = factor.solve(&(transposed * &frames.means));
        if !weights.iter().all(|weight| weight.is_finite()) {
            return Err(GaussianProcessError::NotFinite);
        }
        let ln_determinant = 2.0 * factor.l_dirty().diagonal().map(f64::ln).sum();
        Ok(Solved { features, inverse: factor.inverse(), ln_determinant, weights })
    }

    /// From derivatives by the features to those by vectors and amplitudes.
    fn pulled_back(&self, frames: &CodedFrames, by_features: &DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let count = self.amplitudes.len();
        let mut vectors = DMatrix::zeros(self.vectors.nrows(), self.vectors.ncols());
        let mut amplitudes = DVector::zeros(count);
        for (n, &object) in frames.objects.iter().enumerate() {
            for m in 0..self.vectors.ncols() {
                for r in 0..count {
                    let slope = by_features[(n, m * count + r)] * frames.harmonics[(n, r)];
                    vectors[(object, m)] += slope * self.amplitudes[r];
                    amplitudes[r] += slope * self.vectors[(object, m)];
                }
            }
        }
        (vectors, amplitudes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are all different and of the size of 1.
    fn scattered(rows: usize, columns: usize, phase: f64) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |i, j| (1.7 * i as f64 + 2.9 * j as f64 + phase).sin())
    }

    fn process() -> GaussianProcess {
        let mut vectors = scattered(5, 3, 0.3);
        vectors.row_iter_mut().for_each(|mut row| {
            let norm = row.norm();
            row /= norm;
        });
        let amplitudes = DVector::from_row_slice(&[0.8, 0.5, 0.45, 0.2]);
        GaussianProcess { vectors, amplitudes, shared: 0.7, own: 0.2 }
    }

    /// More frames than features, and several of each series.
    fn frames() -> CodedFrames {
        CodedFrames {
            objects: (0..17).map(|n| n * n % 5).collect(),
            harmonics: scattered(17, 4, 1.1),
            means: scattered(17, 2, 2.2),
            variances: DVector::from_fn(17, |n, _| 0.1 + 0.05 * n as f64),
        }
    }

    /// The covariance as its definition has it, frame by frame.
    fn covariance(process: &GaussianProcess, a: &CodedFrames, b: &CodedFrames) -> DMatrix<f64> {
        DMatrix::from_fn(a.objects.len(), b.objects.len(), |i, j| {
            let series = process.vectors.row(a.objects[i]).dot(&process.vectors.row(b.objects[j]));
            let view: f64 = (0..process.amplitudes.len())
                .map(|r| process.amplitudes[r].powi(2) * a.harmonics[(i, r)] * b.harmonics[(j, r)])
                .sum();
            process.shared * series * view
        })
    }

    /// The value by dense linear algebra.
    fn dense(process: &GaussianProcess, frames: &CodedFrames) -> (f64, DMatrix<f64>) {
        let count = frames.objects.len();
        let k = covariance(process, frames, frames) + DMatrix::identity(count, count) * process.own;
        let ln_determinant = k.clone().symmetric_eigenvalues().map(f64::ln).sum();
        let inverse = k.try_inverse().expect("a covariance");
        let coordinates = frames.means.ncols() as f64;
        let square = (frames.means.transpose() * &inverse * &frames.means).trace()
            + frames.variances.dot(&inverse.diagonal());
        let ln_volume = count as f64 * std::f64::consts::TAU.ln() + ln_determinant;
        (0.5 * (square + coordinates * ln_volume), inverse)
    }

    fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a} is not {b}");
    }

    #[test]
    fn the_value_is_that_of_dense_linear_algebra() {
        let (process, frames) = (process(), frames());
        let (value, inverse) = dense(&process, &frames);
        let term = process.term(&frames).unwrap();
        assert_close(term.value, value, 1e-12, "value");
        assert!((&term.means - &inverse * &frames.means).amax() < 1e-12, "K^-1 Z");
        assert!((&term.variances - inverse.diagonal() * 0.5).amax() < 1e-12, "diagonal of K^-1");
    }

    #[test]
    fn predictions_are_those_of_dense_linear_algebra() {
        let (process, frames) = (process(), frames());
        let asked = CodedFrames {
            objects: vec![4, 0, 2],
            harmonics: scattered(3, 4, 7.0),
            means: DMatrix::zeros(3, 2),
            variances: DVector::zeros(3),
        };
        let (_, inverse) = dense(&process, &frames);
        let cross = covariance(&process, &asked, &frames);
        let Posterior { loadings, covariance: uncertain } = process.posterior(&frames).unwrap();
        let v = process.features(&asked.objects, &asked.harmonics);
        assert!((&v * loadings - &cross * &inverse * &frames.means).amax() < 1e-12);
        let left = covariance(&process, &asked, &asked) - &cross * inverse * cross.transpose();
        assert!((&v * uncertain * v.transpose() - left).amax() < 1e-12);
    }

    /// All derivatives against differences of the dense value.
    #[test]
    fn derivatives_are_those_of_differences() {
        let (process, frames) = (process(), frames());
        let term = process.term(&frames).unwrap();
        let h = 1e-4;
        let difference = |change: &dyn Fn(&mut GaussianProcess, &mut CodedFrames, f64)| {
            let at = |step: f64| {
                let (mut process, mut frames) = (process.clone(), frames.clone());
                change(&mut process, &mut frames, step);
                dense(&process, &frames).0
            };
            (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        };
        let close = |a, b, what: &str| assert_close(a, b, 1e-8, what);
        for i in 0..5 * 3 {
            close(term.vectors[i], difference(&|p, _, step| p.vectors[i] += step), "vectors");
        }
        for r in 0..4 {
            close(term.amplitudes[r], difference(&|p, _, step| p.amplitudes[r] += step), "amplitudes");
        }
        close(term.shares[0], difference(&|p, _, step| p.shared += step), "w1");
        close(term.shares[1], difference(&|p, _, step| p.own += step), "w2");
        for n in 0..17 {
            close(term.variances[n], difference(&|_, f, step| f.variances[n] += step), "variances");
            close(term.means[n], difference(&|_, f, step| f.means[n] += step), "means");
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let mut frames = frames();
        frames.means[3] = f64::NAN;
        assert_eq!(process().term(&frames), Err(GaussianProcessError::NotFinite));
        assert_eq!(process().posterior(&frames), Err(GaussianProcessError::NotFinite));
        let process = GaussianProcess { own: f64::NAN, ..process() };
        assert_eq!(process.term(&self::frames()), Err(GaussianProcessError::NotFinite));
    }
}
