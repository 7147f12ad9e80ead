//! The divergence of a spherical Cauchy distribution from the uniform one.
//!
//! It depends on the dimension and on `a = 1 - |psi|^2` alone. With `N = |u + psi|^2`, `u` uniform and `x = |psi|^2`,
//!
//! ```text
//! KL = (n - 1) (F_n - ln a),    F_n = E ln N,    dF_n/dx = (1 - a G_n) / (2 x),    G_n = E 1/N
//! ```
//!
//! Partial integration over the marginal of `<u, psi>`, whose weight is `(1 - t^2)^((n-3)/2)`, leads from `n` to `n + 2`:
//!
//! ```text
//! G_{n+2} = n/(n-1) (1 + x - a^2 G_n) / (4 x),    F_{n+2} = F_n + ((1 + x) G_{n+2} - 1) / n
//! G_2 = 1/a,   F_2 = 0,   G_3 = ln((1+r)/(1-r)) / (2 r),   F_3 = ((1+r)^2 ln(1+r) - (1-r)^2 ln(1-r)) / (2 r) - 1
//! ```
//!
//! An error of `G_n` shrinks by about `a^2 / (4 x)` in every step, so the closed forms hold up to `r = 1`, where
//! quadrature meets a logarithmic singularity. Near `r = 0` the steps lose digits, and the power series
//! `F_n = -sum_k (1 - n/2)_k / (n/2)_k x^k / k` takes their place.

/// Below this value of `x` the power series converges faster than two bits a term.
const SERIES_BELOW: f64 = 0.25;

/// The divergence in ambient dimension `n >= 2`, and its derivative in `a = 1 - |psi|^2`.
pub(super) fn divergence_from_uniform(n: usize, gap: f64) -> (f64, f64) {
    let (mean, slope) = mean_ln(n, gap);
    let factor = n as f64 - 1.0;
    (factor * (mean - gap.ln()), -factor * (slope + 1.0 / gap))
}

/// `F_n` and its derivative in `x = 1 - gap`.
fn mean_ln(n: usize, gap: f64) -> (f64, f64) {
    let x = 1.0 - gap;
    if x < SERIES_BELOW { power_series(0.5 * n as f64, x) } else { recurrence(n, gap, x) }
}

fn power_series(half: f64, x: f64) -> (f64, f64) {
    let (mut value, mut slope, mut term) = (0.0, 0.0, 1.0);
    for k in 1..60 {
        let k = f64::from(k);
        // After the first factor, (1 - n/2)_k / (n/2)_k x^(k-1).
        term *= (k - half) / (half + k - 1.0);
        slope -= term;
        term *= x;
        value -= term / k;
        if term.abs() < 1e-18 {
            break;
        }
    }
    (value, slope)
}

fn recurrence(n: usize, gap: f64, x: f64) -> (f64, f64) {
    let (mut m, mut inverse, mut value) = if n.is_multiple_of(2) {
        (2, 1.0 / gap, 0.0)
    } else {
        let r = x.sqrt();
        let (far, near) = (1.0 + r, gap / (1.0 + r));
        let inverse = (far / near).ln() / (2.0 * r);
        (3, inverse, (far * far * far.ln() - near * near * near.ln()) / (2.0 * r) - 1.0)
    };
    while m < n {
        let dim = m as f64;
        inverse = dim / (dim - 1.0) * (1.0 + x - gap * gap * inverse) / (4.0 * x);
        value += ((1.0 + x) * inverse - 1.0) / dim;
        m += 2;
    }
    (value, (1.0 - gap * inverse) / (2.0 * x))
}
