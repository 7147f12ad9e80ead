//! Gauss-Legendre quadrature on the unit interval.

use std::sync::LazyLock;

/// One point of a quadrature rule on (0, 1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Where the integrand is evaluated.
    pub x: f64,
    /// The weight of that value.
    pub weight: f64,
}

/// Twelve points: exact for polynomials of degree 23.
pub(crate) static GAUSS_12: LazyLock<[Node; 12]> = LazyLock::new(gauss_legendre);

/// Twenty-four points: exact for polynomials of degree 47.
pub(crate) static GAUSS_24: LazyLock<[Node; 24]> = LazyLock::new(gauss_legendre);

/// The rule whose nodes are the roots of the Legendre polynomial `P_N`, moved from (-1, 1) to (0, 1).
fn gauss_legendre<const N: usize>() -> [Node; N] {
    std::array::from_fn(|i| {
        // Tricomi's first approximation lies in Newton's basin of the i-th root.
        let mut root = (std::f64::consts::PI * (i as f64 + 0.75) / (N as f64 + 0.5)).cos();
        for _ in 0..8 {
            let (value, slope) = legendre(N, root);
            root -= value / slope;
        }
        let (_, slope) = legendre(N, root);
        Node { x: 0.5 * (1.0 - root), weight: 1.0 / ((1.0 - root * root) * slope * slope) }
    })
}

/// `P_n(x)` and its derivative, for |x| < 1.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut current) = (1.0, x);
    for k in 2..=n {
        let k = k as f64;
        (previous, current) = (current, ((2.0 * k - 1.0) * x * current - (k - 1.0) * previous) / k);
    }
    (current, n as f64 * (previous - x * current) / (1.0 - x * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_exact_up_to(rule: &[Node], degree: i32) {
        for k in 0..=degree {
            let integral: f64 = rule.iter().map(|node| node.weight * node.x.powi(k)).sum();
            let exact = 1.0 / f64::from(k + 1);
            assert!((integral - exact).abs() < 1e-14 * exact.max(0.1), "x^{k}: {integral} is not {exact}");
        }
    }

    #[test]
    fn rules_integrate_polynomials_exactly() {
        assert_exact_up_to(&*GAUSS_12, 23);
        assert_exact_up_to(&*GAUSS_24, 47);
    }
}
