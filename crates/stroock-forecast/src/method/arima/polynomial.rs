//! Polynomials of the lag operator: `1 - c_1 B - .. - c_p B^p` for autoregressions, with plus signs for moving averages.

/// The coefficients of a stationary autoregression from partial autocorrelations in `(-1, 1)` (Durbin and Levinson).
pub fn from_partial(partial: &[f64]) -> Vec<f64> {
    let mut coefficients: Vec<f64> = Vec::with_capacity(partial.len());
    for &last in partial {
        let before = coefficients.clone();
        let turned = before.iter().rev();
        coefficients.iter_mut().zip(turned).for_each(|(c, other)| *c -= last * other);
        coefficients.push(last);
    }
    coefficients
}

/// The coefficients `c` of `1 - c(B) = (1 - a(B)) (1 - b(B^period))`.
pub fn product(a: &[f64], b: &[f64], period: usize) -> Vec<f64> {
    let mut c = vec![0.0; a.len() + period * b.len()];
    c[..a.len()].copy_from_slice(a);
    for (k, &seasonal) in b.iter().enumerate() {
        let shift = period * (k + 1);
        c[shift - 1] += seasonal;
        a.iter().enumerate().for_each(|(j, plain)| c[shift + j] -= seasonal * plain);
    }
    c
}

/// The weights `psi_0 = 1, psi_j = theta_j + sum_k phi_k psi_{j-k}` of past shocks.
pub fn shock_weights(phi: &[f64], theta: &[f64], count: usize) -> Vec<f64> {
    let mut weights = Vec::with_capacity(count);
    for j in 0..count {
        let moving = if j == 0 { 1.0 } else { theta.get(j - 1).copied().unwrap_or(0.0) };
        let before = phi.iter().take(j).enumerate().filter(|(_, c)| **c != 0.0);
        let sum: f64 = before.map(|(k, c)| c * weights[j - 1 - k]).sum();
        weights.push(moving + sum);
    }
    weights
}

/// Autocovariances at lags `0, 1, .. , count - 1` of `x_t = phi(B) x_t + e_t + theta(B) e_t` with `Var e = 1`.
///
/// Those of the autoregression alone come from its partial autocorrelations, without a system of equations; the moving
/// average adds them up.
pub fn autocovariances(phi: &[f64], theta: &[f64], count: usize) -> Vec<f64> {
    let plain = autoregressive_covariances(phi, count + theta.len());
    if theta.is_empty() {
        return plain;
    }
    let mut moving = vec![(0usize, 1.0)];
    moving.extend(theta.iter().enumerate().filter(|(_, c)| **c != 0.0).map(|(j, &c)| (j + 1, c)));
    // Of the moving average alone, at its own lags.
    let mut products = vec![0.0; theta.len() + 1];
    for &(i, a) in &moving {
        moving.iter().filter(|(j, _)| *j >= i).for_each(|&(j, b)| products[j - i] += a * b);
    }
    let at = |lag: usize| {
        let sides = products.iter().enumerate().skip(1).filter(|(_, product)| **product != 0.0);
        let sides = sides.map(|(shift, product)| product * (plain[lag + shift] + plain[lag.abs_diff(shift)]));
        products[0] * plain[lag] + sides.sum::<f64>()
    };
    (0..count).map(at).collect()
}

fn autoregressive_covariances(phi: &[f64], count: usize) -> Vec<f64> {
    // Down from the full order: the coefficients of every smaller one.
    let mut orders = vec![phi.to_vec()];
    let mut variance = 1.0;
    for order in (1..=phi.len()).rev() {
        let full = &orders[phi.len() - order];
        let last = full[order - 1];
        let rest = 1.0 - last * last;
        variance /= rest;
        let lower = (0..order - 1).map(|j| (full[j] + last * full[order - 2 - j]) / rest).collect();
        orders.push(lower);
    }
    // And up again: gamma_k is the best prediction plus the partial part.
    let mut gammas = vec![variance];
    let mut innovation = variance;
    for lag in 1..count.max(1) {
        let order = lag.min(phi.len());
        let next = match lag <= phi.len() {
            true => {
                let last = orders[phi.len() - lag][lag - 1];
                let lower = &orders[phi.len() + 1 - lag];
                let known: f64 = (0..lag - 1).map(|j| lower[j] * gammas[lag - 1 - j]).sum();
                let next = last * innovation + known;
                innovation *= 1.0 - last * last;
                next
            }
            false => (0..order).map(|j| phi[j] * gammas[lag - 1 - j]).sum(),
        };
        gammas.push(next);
    }
    gammas.truncate(count);
    gammas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_autocorrelations_give_known_coefficients() {
        // x = 0.5 x_1 + 0.3 x_2: partial autocorrelations 0.5 / (1 - 0.3) and 0.3.
        let found = from_partial(&[0.5 / 0.7, 0.3]);
        assert!((found[0] - 0.5).abs() < 1e-12 && (found[1] - 0.3).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn products_multiply_out() {
        // (1 - 0.5 B) (1 - 0.4 B^3) = 1 - 0.5 B - 0.4 B^3 + 0.2 B^4.
        assert_eq!(product(&[0.5], &[0.4], 3), [0.5, 0.0, 0.4, -0.2]);
    }

    #[test]
    fn autocovariances_are_sums_of_products_of_shock_weights() {
        let phi = product(&from_partial(&[0.8, -0.5]), &[0.3], 4);
        let theta = [0.4, 0.0, -0.3];
        let weights = shock_weights(&phi, &theta, 4000);
        for (lag, gamma) in autocovariances(&phi, &theta, 12).iter().enumerate() {
            let exact: f64 = weights.iter().zip(&weights[lag..]).map(|(a, b)| a * b).sum();
            assert!((gamma - exact).abs() < 1e-9 * exact.abs().max(1.0), "{lag}: {gamma} for {exact}");
        }
    }
}
