//! Autoregression by least squares, of values or of their differences.

use super::steps::Steps;
use crate::least_squares::{NestedRegressions, NormalEquations};
use crate::season::without_gaps;

/// Longest period whose every lag may be used.
const SHORT_PERIOD: f64 = 60.0;
/// What an explosive autoregression is shrunk by, for each lag and each time.
const SHRINK: f64 = 0.985;
const SHRINKS: usize = 60;

/// Lags and their coefficients.
type Lags = Vec<(usize, f64)>;

/// Differences of a series: between neighbours, over a period, or both.
struct Differences {
    neighbours: bool,
    season: Option<usize>,
}

impl Differences {
    /// The coefficients of `1 - (1 - B)^d (1 - B^m)^D` as lags.
    fn lags(&self) -> Lags {
        match (self.neighbours, self.season) {
            (false, None) => Vec::new(),
            (true, None) => vec![(1, 1.0)],
            (false, Some(m)) => vec![(m, 1.0)],
            (true, Some(m)) => vec![(1, 1.0), (m, 1.0), (m + 1, -1.0)],
        }
    }

    fn length(&self) -> usize {
        usize::from(self.neighbours) + self.season.unwrap_or(0)
    }
}

/// An autoregression of differences: as many lags as Akaike's criterion has, and those at the periods.
pub fn regress(
    grid: &[f64],
    periods: &[f64],
    neighbours: bool,
    season: Option<f64>,
    steps: usize,
) -> Option<Steps> {
    let differences = Differences { neighbours, season: season.map(|period| period.round() as usize) };
    let lags = differences.lags();
    let mut values = without_gaps(grid);
    let difference = |values: &[f64], t: usize| {
        values[t] - lags.iter().map(|&(lag, factor)| factor * values[t - lag]).sum::<f64>()
    };
    let first = differences.length();
    if values.len() < first + 8 {
        return None;
    }
    let mut changes: Vec<f64> = (first..values.len()).map(|t| difference(&values, t)).collect();
    let observed = |t: usize| grid[first + t].is_finite();
    let (intercept, coefficients, sigma) = fit(&changes, periods, &differences, observed)?;
    let coefficients = steady(coefficients, steps);
    let weights = autoregressive_weights(&product(&coefficients, &lags), steps);
    for _ in 0..steps {
        let t = changes.len();
        let next = intercept + coefficients.iter().map(|&(lag, c)| c * changes[t - lag]).sum::<f64>();
        changes.push(next);
        let t = values.len();
        values.push(next + lags.iter().map(|&(lag, factor)| factor * values[t - lag]).sum::<f64>());
    }
    Some(Steps { mean: values.split_off(grid.len()), weights, sigma })
}

/// Intercept, coefficients and standard deviation of the regression with the best criterion.
fn fit(
    changes: &[f64],
    periods: &[f64],
    differences: &Differences,
    observed: impl Fn(usize) -> bool,
) -> Option<(f64, Lags, f64)> {
    let count = changes.len();
    let mut most = (10.0 * (count as f64).log10()).floor() as usize;
    let short = periods.iter().filter(|period| **period <= SHORT_PERIOD && 8.0 * **period <= count as f64);
    most = short.fold(most, |most, period| most.max(period.round() as usize + 1)).min(count / 4);
    let far = |period: &f64| (period.round() as usize > most).then_some(period.round() as usize);
    let mut far: Vec<usize> = periods.iter().filter_map(far).collect();
    far.retain(|&lag| 3 * lag <= count);
    let start = far.iter().copied().max().unwrap_or(0).max(most);
    let far_sets: &[&[usize]] = if far.is_empty() { &[&[]] } else { &[&far, &[]] };
    let constant: &[bool] = match (differences.neighbours, differences.season) {
        (true, Some(_)) => &[false],
        (true, None) => &[false, true],
        (false, _) => &[true],
    };
    let mut best: Option<(f64, NestedRegressions, usize, Vec<usize>, bool)> = None;
    for (far, &constant) in far_sets.iter().flat_map(|far| constant.iter().map(move |c| (far, c))) {
        let lags: Vec<usize> = far.iter().copied().chain(1..=most).collect();
        let mut equations = NormalEquations::new(usize::from(constant) + lags.len());
        let mut row = Vec::with_capacity(lags.len() + 1);
        for t in (start..count).filter(|&t| observed(t)) {
            row.clear();
            row.extend(constant.then_some(1.0));
            row.extend(lags.iter().map(|lag| changes[t - lag]));
            equations.add(&row, changes[t]);
        }
        let regressions = equations.solve();
        let fixed = usize::from(constant) + far.len();
        for size in fixed..=fixed + most {
            let criterion = regressions.criterion(size);
            if criterion.is_finite() && best.as_ref().is_none_or(|best| criterion < best.0) {
                best =
                    Some((criterion, NestedRegressions::clone(&regressions), size, lags.clone(), constant));
            }
        }
    }
    let (_, regressions, size, lags, constant) = best?;
    let mut coefficients = regressions.coefficients(size);
    let intercept = if constant { coefficients.remove(0) } else { 0.0 };
    let freedom = (regressions.rows() as f64 - size as f64).max(1.0);
    let sigma = (regressions.residual(size) / freedom).sqrt();
    Some((intercept, lags.into_iter().zip(coefficients).collect(), sigma))
}

/// Coefficients whose weights do not grow without end: those of an explosive autoregression are shrunk.
fn steady(mut coefficients: Lags, steps: usize) -> Lags {
    let longest = coefficients.iter().map(|&(lag, _)| lag).max().unwrap_or(0);
    let length = steps.max(6 * longest).clamp(100, 3000);
    for _ in 0..SHRINKS {
        let weights = autoregressive_weights(&coefficients, length);
        let largest = |part: &[f64]| part.iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
        let (early, late) = (largest(&weights[..length / 2]), largest(&weights[length / 2..]));
        if late.is_finite() && late <= 1.05 * early.max(1.0) && late <= 3.0 {
            break;
        }
        coefficients.iter_mut().for_each(|(lag, c)| *c *= SHRINK.powi((*lag).min(10_000) as i32));
    }
    coefficients
}

/// The lags of `(1 - a(B)) (1 - b(B)) = 1 - c(B)`.
fn product(a: &[(usize, f64)], b: &[(usize, f64)]) -> Lags {
    let mut lags: Lags = a.iter().chain(b).copied().collect();
    lags.extend(a.iter().flat_map(|(i, x)| b.iter().map(move |(j, y)| (i + j, -x * y))));
    lags
}

/// The weights `w_0 = 1, w_j = sum_k c_k w_{j-k}` of past errors in the value of an autoregression with the
/// coefficients `c_k` at lags `k`.
///
/// ```
/// # use stroock_forecast::autoregressive_weights;
/// assert_eq!(autoregressive_weights(&[(1, 0.5)], 4), [1.0, 0.5, 0.25, 0.125]);
/// ```
pub fn autoregressive_weights(coefficients: &[(usize, f64)], count: usize) -> Vec<f64> {
    let mut weights = vec![0.0; count];
    for j in 0..count {
        let before = coefficients.iter().filter(|&&(lag, _)| lag <= j);
        let sum: f64 = before.map(|&(lag, c)| c * weights[j - lag]).sum();
        weights[j] = if j == 0 { 1.0 } else { sum };
    }
    weights
}
