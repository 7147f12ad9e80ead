//! The exact likelihood of an autoregressive moving average, in linear time.
//!
//! `x_t = mu c_t + phi(B) (x - mu c)_t + e_t + theta(B) e_t` in Harvey's state-space form has `r = max(p, q + 1)`
//! states. The filter of Kalman starts in the stationary distribution, where the covariance of the state changes by
//! matrices of rank one alone (Morf, Sidhu and Kailath 1974): a step costs `O(r)` instead of `O(r^2)`, and the gains
//! soon stay as they are.

use super::polynomial::{autocovariances, shock_weights};

/// Change of the variance of an error, as a share of it, from which on the gains stay as they are.
const SETTLED: f64 = 1e-10;

/// What the filter leaves. Variances are shares of that of the shocks.
pub struct Filtered {
    /// The coefficient of the regressor, 0 without one.
    pub mean: f64,
    /// The state that predicts what comes after the last value, without the mean, `[r]`.
    pub state: Vec<f64>,
    /// Variance of the shocks.
    pub variance: f64,
    /// Minus twice the log likelihood at that variance, but for `n (1 + ln 2 pi)`.
    pub loss: f64,
}

/// One pass of the filter: errors of a series and of a regressor share gains, which makes the mean of greatest
/// likelihood a quotient of two sums.
pub fn filter(values: &[f64], with_mean: bool, phi: &[f64], theta: &[f64]) -> Filtered {
    let size = phi.len().max(theta.len() + 1);
    let at = |list: &[f64], place: usize| list.get(place).copied().unwrap_or(0.0);
    let phi: Vec<f64> = (0..size).map(|place| at(phi, place)).collect();
    let mut gain = stationary_column(&phi, theta, size);
    let mut total = gain[0];
    advance(&mut gain, &phi);
    // The covariance of the state changes by `factor` times the square of this.
    let mut direction = gain.clone();
    let mut factor = -1.0 / total;
    let mut states = [vec![0.0; size], vec![0.0; size]];
    let (mut squares, mut product, mut regressor, mut logs) = (0.0, 0.0, 0.0, 0.0);
    let mut settled = false;
    for &value in values {
        let error = value - states[0][0];
        squares += error * error / total;
        logs += total.ln();
        advance(&mut states[0], &phi);
        correct(&mut states[0], &gain, error / total);
        if with_mean {
            let other = 1.0 - states[1][0];
            product += error * other / total;
            regressor += other * other / total;
            advance(&mut states[1], &phi);
            correct(&mut states[1], &gain, other / total);
        }
        if settled {
            continue;
        }
        let head = direction[0];
        let change = factor * head * head;
        let next = total + change;
        settled = change.abs() < SETTLED * total;
        advance(&mut direction, &phi);
        correct(&mut gain, &direction, factor * head);
        correct(&mut direction, &gain, -head / next);
        factor += factor * factor * head * head / total;
        total = next;
    }
    let count = values.len().max(1) as f64;
    let mean = if regressor > 0.0 { product / regressor } else { 0.0 };
    let variance = ((squares - mean * product) / count).max(1e-300);
    let [state, constant] = states;
    Filtered {
        mean,
        state: state.iter().zip(&constant).map(|(x, c)| x - mean * c).collect(),
        variance,
        loss: count * variance.ln() + logs,
    }
}

/// A state one step on: `T a`.
pub fn advance(state: &mut [f64], phi: &[f64]) {
    let head = state[0];
    state.rotate_left(1);
    if let Some(last) = state.last_mut() {
        *last = 0.0;
    }
    state.iter_mut().zip(phi).for_each(|(x, c)| *x += c * head);
}

/// A state moved along a direction.
fn correct(state: &mut [f64], direction: &[f64], by: f64) {
    state.iter_mut().zip(direction).for_each(|(x, d)| *x += by * d);
}

/// Covariances of the states with the value in the stationary distribution:
/// `Cov(a_i, x) = sum_{j >= i} phi_j gamma_{j - i + 1} + theta_{j - 1} psi_{j - i}`.
fn stationary_column(phi: &[f64], theta: &[f64], size: usize) -> Vec<f64> {
    let used = phi.iter().rposition(|c| *c != 0.0).map_or(0, |last| last + 1);
    let gammas = autocovariances(&phi[..used], theta, size + 1);
    let weights = shock_weights(&phi[..used], theta, size);
    let covariance = |i: usize| {
        if i == 0 {
            return gammas[0];
        }
        let past: f64 = (i..size).filter(|&j| phi[j] != 0.0).map(|j| phi[j] * gammas[j - i + 1]).sum();
        let shocks: f64 = (i..size).map(|j| theta.get(j - 1).copied().unwrap_or(0.0) * weights[j - i]).sum();
        past + shocks
    };
    (0..size).map(covariance).collect()
}

#[cfg(test)]
mod tests {
    use super::super::polynomial::{from_partial, product};
    use super::*;

    /// `x^T G^{-1} y` and `ln det G` by Cholesky's method, for Toeplitz `G`.
    fn direct(gammas: &[f64], x: &[f64], y: &[f64]) -> (f64, f64) {
        let n = x.len();
        let mut factor = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                let rest = gammas[i - j] - inner;
                factor[i][j] = if i == j { f64::sqrt(rest) } else { rest / factor[j][j] };
            }
        }
        let solve = |v: &[f64]| {
            let mut z = vec![0.0; n];
            for i in 0..n {
                let inner: f64 = (0..i).map(|k| factor[i][k] * z[k]).sum();
                z[i] = (v[i] - inner) / factor[i][i];
            }
            z
        };
        let (a, b) = (solve(x), solve(y));
        (a.iter().zip(&b).map(|(a, b)| a * b).sum(), (0..n).map(|i| 2.0 * factor[i][i].ln()).sum())
    }

    #[test]
    fn the_likelihood_is_that_of_the_multivariate_normal_distribution() {
        let values: Vec<f64> =
            (0..40).map(|t| (f64::from(t) * 1.3).sin() + 0.05 * f64::from(t % 7) + 0.8).collect();
        let ones = vec![1.0; values.len()];
        let seasonal_theta: Vec<f64> = product(&[-0.4], &[-0.5], 6).iter().map(|c| -c).collect();
        let models = [
            (vec![], vec![]),
            (vec![0.7], vec![]),
            (vec![], vec![0.6]),
            (from_partial(&[0.8, -0.6]), vec![0.3, -0.2, 0.5]),
            (product(&[0.5], &[0.3], 6), seasonal_theta),
        ];
        for (phi, theta) in models {
            let gammas = autocovariances(&phi, &theta, values.len());
            let ((xx, logs), (x1, _), (ones_ones, _)) = (
                direct(&gammas, &values, &values),
                direct(&gammas, &values, &ones),
                direct(&gammas, &ones, &ones),
            );
            let n = values.len() as f64;
            let plain = filter(&values, false, &phi, &theta);
            assert!(
                (plain.variance - xx / n).abs() < 1e-8,
                "{phi:?} {theta:?}: {} for {}",
                plain.variance,
                xx / n
            );
            assert!((plain.loss - (n * (xx / n).ln() + logs)).abs() < 1e-6, "{phi:?} {theta:?}");
            let around = filter(&values, true, &phi, &theta);
            assert!((around.mean - x1 / ones_ones).abs() < 1e-7, "{phi:?} {theta:?}");
            assert!((around.variance - (xx - x1 * x1 / ones_ones) / n).abs() < 1e-8);
        }
    }

    #[test]
    fn likelihood_and_forecasts_are_those_of_another_program() {
        // statsmodels 0.15: SARIMAX(values, order=(2, 0, 1), seasonal_order=(1, 0, 1, 4), concentrate_scale=True)
        // .filter([0.5, -0.3, 0.4, 0.25, -0.35]), its llf, scale and forecast(3).
        let values: Vec<f64> =
            (0..40).map(|t| (f64::from(t) * 1.3).sin() + 0.05 * f64::from(t % 7) + 0.8).collect();
        let phi = product(&[0.5, -0.3], &[0.25], 4);
        let theta: Vec<f64> = product(&[-0.4], &[0.35], 4).iter().map(|c| -c).collect();
        let found = filter(&values, false, &phi, &theta);
        assert!((found.variance - 0.584_572_874_466_529_4).abs() < 1e-9, "{}", found.variance);
        let log_likelihood = -0.5 * (found.loss + 40.0 * (1.0 + std::f64::consts::TAU.ln()));
        assert!((log_likelihood + 46.536_007_618_803_4).abs() < 1e-7, "{log_likelihood}");
        let mut state = found.state;
        for exact in [1.062_063_021_043_884_2, 0.064_692_121_933_941_47, -0.405_074_437_989_875_36] {
            assert!((state[0] - exact).abs() < 1e-8, "{} for {exact}", state[0]);
            advance(&mut state, &phi);
        }
    }
}
