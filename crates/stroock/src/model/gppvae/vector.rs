//! The vector of a series that is seen.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::process::{GaussianProcessError, Posterior};

/// The unit vector of `M` entries under which codes `[T, L]` at views `psi` (`[T, R]`) are the likeliest, given the posterior
/// of the process: that with the least
///
/// ```text
/// sum_n |z_n - W(psi_n) x|^2 + L x' S(psi_n) x,
/// ```
///
/// where `W(psi) x` is what is predicted of a frame with features `x (x) psi`, and `x' S(psi) x` its variance. Where the
/// process has been trained, the vectors of the training series are where this is stationary.
///
/// # Errors
/// When codes or posterior are not finite.
pub fn likeliest_vector(
    posterior: &Posterior,
    views: &DMatrix<f64>,
    codes: &DMatrix<f64>,
) -> Result<DVector<f64>, GaussianProcessError> {
    let count = views.ncols();
    let size = posterior.loadings.nrows() / count.max(1);
    let coordinates = posterior.loadings.ncols();
    let mut square = DMatrix::<f64>::zeros(size, size);
    let mut linear = DVector::<f64>::zeros(size);
    for (view, code) in views.row_iter().zip(codes.row_iter()) {
        let slopes: DMatrix<f64> = DMatrix::from_fn(size, coordinates, |m, l| {
            (0..count).map(|r| view[r] * posterior.loadings[(m * count + r, l)]).sum()
        });
        let seen = |m: usize, other: usize| -> f64 {
            let block = posterior.covariance.view((m * count, other * count), (count, count));
            (view * block * view.transpose())[0]
        };
        square += &slopes * slopes.transpose() + DMatrix::from_fn(size, size, seen) * coordinates as f64;
        linear += slopes * code.transpose();
    }
    match square.iter().chain(&linear).all(|entry| entry.is_finite()) {
        true => Ok(least_on_sphere(square, &linear)),
        false => Err(GaussianProcessError::NotFinite),
    }
}

/// The unit vector with the least `x' H x - 2 h' x` for symmetric `H`: `(H + l) x = h` for the `l` that makes its length 1
/// and `H + l` nowhere negative.
fn least_on_sphere(square: DMatrix<f64>, linear: &DVector<f64>) -> DVector<f64> {
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(square);
    let least = eigenvalues.imin();
    let above = eigenvalues.add_scalar(-eigenvalues[least]);
    let along = eigenvectors.tr_mul(linear);
    let at = |shift: f64| {
        // Nothing pulls along an eigenvector whose entry is 0.
        along.zip_map(&above, |pull, above| if pull == 0.0 { 0.0 } else { pull / (above + shift) })
    };
    // The length falls with the shift, and is at most 1 at the end of the interval.
    let (mut low, mut high) = (0.0, linear.norm());
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let end = if at(middle).norm() > 1.0 { &mut low } else { &mut high };
        *end = middle;
    }
    let mut x = at(high);
    // Where nothing pulls along the least eigenvector, it can be followed in either direction.
    let missing = 1.0 - x.norm_squared();
    if missing > 1e-12 {
        x[least] += missing.sqrt();
    }
    (eigenvectors * x).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all points of a fine grid of the circle, with pulls along both, one and none of the axes.
    #[test]
    fn the_least_value_on_the_circle_is_found() {
        let squares = [[3.0, 0.4, 0.4, 1.0], [0.01, 0.0, 0.0, 5.0], [2.0, 0.0, 0.0, 2.0], [0.0; 4]];
        let pulls = [[0.7, -0.2], [9.0, 1.0], [0.0, 0.3], [0.3, 0.0], [0.0, 0.0], [1e-9, 2.0]];
        for square in squares.map(|entries| DMatrix::from_row_slice(2, 2, &entries)) {
            for pull in pulls.map(|entries| DVector::from_row_slice(&entries)) {
                let value = |x: &DVector<f64>| (x.transpose() * &square * x)[0] - 2.0 * pull.dot(x);
                let found = least_on_sphere(square.clone(), &pull);
                assert!((found.norm() - 1.0).abs() < 1e-12);
                for i in 0..3600 {
                    let (sine, cosine) = (f64::from(i) * std::f64::consts::TAU / 3600.0).sin_cos();
                    let other = DVector::from_row_slice(&[cosine, sine]);
                    assert!(value(&found) <= value(&other) + 1e-9, "{square} {pull}: {found}");
                }
            }
        }
    }

    /// Codes that a vector predicts without an error are those of that vector.
    #[test]
    fn the_vector_of_exact_codes_is_found() {
        let entry = |i: usize, j: usize| (1.3 * i as f64 + 2.1 * j as f64 + 0.2).sin();
        let loadings = DMatrix::from_fn(3 * 2, 4, entry);
        let posterior = Posterior { loadings: loadings.clone(), covariance: DMatrix::zeros(6, 6) };
        let views = DMatrix::from_fn(5, 2, |i, j| (0.9 * i as f64 + 3.0 * j as f64).cos());
        let x = DVector::from_row_slice(&[0.6, -0.64, 0.48]);
        let features = DMatrix::from_fn(5, 6, |n, column| x[column / 2] * views[(n, column % 2)]);
        let found = likeliest_vector(&posterior, &views, &(features * loadings)).unwrap();
        assert!((found - x).norm() < 1e-9);
    }

    #[test]
    fn an_uncertain_direction_is_avoided() {
        let loadings = DMatrix::from_row_slice(2, 1, &[1.0, 1.0]);
        let covariance = DMatrix::from_diagonal(&DVector::from_row_slice(&[0.0, 50.0]));
        let posterior = Posterior { loadings, covariance };
        let (views, code) = (DMatrix::from_element(1, 1, 1.0), DMatrix::from_element(1, 1, 1.0));
        let found = likeliest_vector(&posterior, &views, &code).unwrap();
        assert!(found[0] > 0.999, "{found}");
    }
}
