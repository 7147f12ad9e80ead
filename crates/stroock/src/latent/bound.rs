//! An upper bound of the divergence of a path on the sphere that does not depend on the path.
//!
//! For skew `D = K - P` with the coefficients `d_k` over the basis of the Lie algebra and `|z| = 1`,
//! `|D z|^2 <= |D|_F^2 / 2 = sum_k d_k^2`. With `d_k(t) = sum_i d_ki T_i(t)` the sum over the grid is a quadratic
//! form,
//!
//! ```text
//! KL <= 1/(2 sigma^2) sum_j dt_j sum_k d_k(t_j)^2 = 1/(2 sigma^2) sum_k d_k^T G d_k,   G = sum_j dt_j T(t_j) T(t_j)^T.
//! ```

use burn::tensor::{Tensor, TensorData};

use super::PathGrid;

/// The bound for each series, `[B]`, from the coefficients `[B, m, K]` of the difference of the drifts and the
/// diffusion scale `sigma` (`[1]`).
pub fn frobenius_bound(
    grid: &PathGrid,
    interval: (f64, f64),
    difference: Tensor<3>,
    sigma: Tensor<1>,
) -> Tensor<1> {
    let [series, m, terms] = difference.dims();
    let (form, count) = match grid {
        PathGrid::Shared(times) => (quadratic_form(times, interval, terms), 1),
        PathGrid::PerSeries { offsets, times } => {
            let of_series = |pair: &[usize]| quadratic_form(&times[pair[0]..pair[1]], interval, terms);
            (offsets.windows(2).flat_map(of_series).collect(), series)
        }
    };
    let options = (&difference.device(), difference.dtype());
    let form = Tensor::<3>::from_data(TensorData::new(form, [count, terms, terms]), options);
    let product = difference.clone().matmul(form.expand([series, terms, terms]));
    let squares = (product * difference).reshape([series, m * terms]).sum_dim(1).reshape([series]);
    squares / sigma.powi_scalar(2).mul_scalar(2.0)
}

/// `G = sum_j dt_j T(t_j) T(t_j)^T`, `[K, K]`.
fn quadratic_form(times: &[f64], (start, end): (f64, f64), terms: usize) -> Vec<f64> {
    let mut form = vec![0.0; terms * terms];
    for pair in times.windows(2) {
        let polynomials = chebyshev((pair[0] - start) / (end - start), terms);
        for (row, a) in polynomials.iter().enumerate() {
            for (column, b) in polynomials.iter().enumerate() {
                form[row * terms + column] += (pair[1] - pair[0]) * a * b;
            }
        }
    }
    form
}

/// `T_0(s) .. T_{terms - 1}(s)` by the three-term recurrence.
fn chebyshev(s: f64, terms: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(terms);
    for i in 0..terms {
        values.push(match i {
            0 => 1.0,
            1 => s,
            _ => 2.0 * s * values[i - 1] - values[i - 2],
        });
    }
    values
}
