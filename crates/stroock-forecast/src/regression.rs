//! What variables that are known ahead of time say about another one.

use serde::{Deserialize, Serialize};

use crate::History;
use crate::least_squares::NormalEquations;

/// Correlations of neighbouring errors that are tried; 1 is a random walk.
const CORRELATIONS: [f64; 8] = [0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0];
/// Rows for each coefficient without which nothing is said.
const ROWS: usize = 8;

/// One series: the variable that is explained, and those that explain it, in the order of the coefficients.
#[derive(Clone, Debug)]
pub struct Explained<'a> {
    /// What is explained.
    pub history: &'a History,
    /// What is known, also after the end of the history.
    pub known: Vec<&'a History>,
}

/// A linear effect of known variables, `y(t) = sum_i b_i x_i(t) + e(t)`, where the errors `e` are what is left to be
/// forecast.
///
/// The coefficients have the greatest likelihood under errors of a first-order autoregression about a level of each
/// series, `e(t) = level + phi^gap (e(t - gap) - level) + w`, with `phi` from a grid (Hildreth and Lu 1960). Errors that
/// wander would make two series that only wander look related; at `phi = 1` it is a regression of changes.
///
/// ```
/// use stroock_forecast::{Explained, History, Regression};
/// // Sales wander, and rise by 5 on the days of a promotion.
/// let promoted: Vec<f64> = (0..60).map(|day| f64::from(u8::from(day % 7 == 3))).collect();
/// let sales: Vec<f64> = (0..50).map(|day| 20.0 + (0.3 * day as f64).sin() + 5.0 * promoted[day]).collect();
/// let (sales, promoted) = (History::regular(&sales), History::regular(&promoted));
/// let found = Regression::fit(&[Explained { history: &sales, known: vec![&promoted] }]).unwrap();
/// assert!((found.coefficients[0] - 5.0).abs() < 0.3);
/// assert_eq!(found.effect(&[&promoted], 59.0), Some(found.coefficients[0]));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// The coefficients `b`, one for each known variable.
    pub coefficients: Vec<f64>,
    /// The correlation `phi` of errors one step apart.
    pub correlation: f64,
}

impl Regression {
    /// The regression of several series on the same known variables; `None` where there are too few values for it.
    ///
    /// Rows in which a known variable is missing are left out.
    pub fn fit(series: &[Explained]) -> Option<Self> {
        let count = series.first()?.known.len();
        let rows: Vec<Vec<Row>> = series.iter().map(Explained::rows).collect();
        let scales = scales(&rows, count)?;
        let fits = CORRELATIONS.iter().filter_map(|&correlation| {
            let (criterion, coefficients) = whitened(&rows, &scales, correlation)?;
            Some((criterion, Self { coefficients, correlation }))
        });
        let best = fits.min_by(|a, b| a.0.total_cmp(&b.0))?;
        best.1.coefficients.iter().all(|b| b.is_finite()).then_some(best.1)
    }

    /// The effect `sum_i b_i x_i` at a place; `None` where a variable is not known there.
    pub fn effect(&self, known: &[&History], place: f64) -> Option<f64> {
        let terms = self.coefficients.iter().zip(known);
        terms.map(|(b, history)| Some(b * history.at(place)?)).sum()
    }

    /// What is left of a history without the effect; values without one are left out.
    pub fn remainder(&self, history: &History, known: &[&History]) -> History {
        let values = history.places().iter().zip(history.values());
        let left: Vec<f64> =
            values.map(|(&place, value)| value - self.effect(known, place).unwrap_or(f64::NAN)).collect();
        History::new(history.places(), &left)
    }
}

/// A value and what is known about it.
struct Row {
    place: f64,
    value: f64,
    known: Vec<f64>,
}

impl Explained<'_> {
    fn rows(&self) -> Vec<Row> {
        let values = self.history.places().iter().zip(self.history.values());
        let row = |(&place, &value): (&f64, &f64)| {
            let known: Option<Vec<f64>> = self.known.iter().map(|history| history.at(place)).collect();
            Some(Row { place, value, known: known? })
        };
        values.filter_map(row).collect()
    }
}

/// The standard deviations of the known variables, so that none is too small beside the others; `None` where there are
/// too few rows or nothing varies.
fn scales(rows: &[Vec<Row>], count: usize) -> Option<Vec<f64>> {
    let all = || rows.iter().flatten();
    let total = all().count();
    if count == 0 || total < ROWS * (count + 1) {
        return None;
    }
    let scale = |i: usize| {
        let mean = all().map(|row| row.known[i]).sum::<f64>() / total as f64;
        (all().map(|row| (row.known[i] - mean).powi(2)).sum::<f64>() / total as f64).sqrt()
    };
    let scales: Vec<f64> = (0..count).map(scale).collect();
    scales.iter().any(|&scale| scale > 0.0).then_some(scales)
}

/// Twice the negative log likelihood (up to a constant) of the best coefficients under a correlation, and these.
fn whitened(rows: &[Vec<Row>], scales: &[f64], correlation: f64) -> Option<(f64, Vec<f64>)> {
    let mut equations = NormalEquations::new(scales.len());
    let mut logarithms = 0.0;
    for series in rows {
        let mut steps: Vec<(f64, f64, Vec<f64>)> = Vec::with_capacity(series.len());
        for pair in series.windows(2) {
            let gap = (pair[1].place - pair[0].place).max(1e-6);
            let kept = correlation.powf(gap);
            // Variance of the error of a step of this length, 1 for a step of length 1.
            let variance = match correlation {
                1.0 => gap,
                phi => (1.0 - phi.powf(2.0 * gap)) / (1.0 - phi * phi),
            };
            let sd = variance.sqrt();
            let white = |now: f64, before: f64| (now - kept * before) / sd;
            let known = pair[1].known.iter().zip(&pair[0].known).zip(scales);
            let known = known.map(|((&now, &before), &scale)| match scale > 0.0 {
                true => white(now, before) / scale,
                false => 0.0,
            });
            steps.push(((1.0 - kept) / sd, white(pair[1].value, pair[0].value), known.collect()));
            logarithms += variance.ln();
        }
        without_level(&mut steps);
        steps.iter().for_each(|(_, value, known)| equations.add(known, *value));
    }
    let regression = equations.solve();
    let count = regression.rows() as f64;
    if count < 2.0 {
        return None;
    }
    let residual = regression.residual(scales.len()).max(f64::MIN_POSITIVE);
    let coefficients = regression.coefficients(scales.len());
    let coefficients = coefficients.iter().zip(scales).map(|(b, s)| if *s > 0.0 { b / s } else { 0.0 });
    Some((count * (residual / count).ln() + logarithms, coefficients.collect()))
}

/// Projects the level of a series out of its values and of what is known.
fn without_level(steps: &mut [(f64, f64, Vec<f64>)]) {
    let squares: f64 = steps.iter().map(|(level, ..)| level * level).sum();
    if squares <= 0.0 {
        return;
    }
    let Some(count) = steps.first().map(|(_, _, known)| known.len()) else { return };
    let of_value = steps.iter().map(|(level, value, _)| level * value).sum::<f64>() / squares;
    let of_known: Vec<f64> = (0..count)
        .map(|i| steps.iter().map(|(level, _, known)| level * known[i]).sum::<f64>() / squares)
        .collect();
    for (level, value, known) in steps {
        *value -= of_value * *level;
        known.iter_mut().zip(&of_known).for_each(|(x, of_x)| *x -= of_x * *level);
    }
}

#[cfg(test)]
mod tests {
    use stroock_kernels::noise::{NoiseKey, Purpose};

    use super::*;
    use crate::normal_quantile;

    /// Independent standard normal numbers.
    fn normals(count: usize, series: u32) -> Vec<f64> {
        let mut stream = NoiseKey::new(5, 0).stream(Purpose::Observations, series, 0);
        (0..count).map(|_| normal_quantile(stream.uniform())).collect()
    }

    fn autoregression(phi: f64, noise: &[f64]) -> Vec<f64> {
        let mut state = 0.0;
        let step = |w: &f64| {
            state = phi * state + w;
            state
        };
        noise.iter().map(step).collect()
    }

    #[test]
    fn coefficients_and_correlation_are_found_again() {
        for (phi, tolerance) in [(0.0, 0.05), (0.7, 0.05), (1.0, 0.05)] {
            let (x, z) = (normals(2000, 1), autoregression(0.9, &normals(2000, 2)));
            let errors = autoregression(phi, &normals(2000, 3));
            // Two series of different levels.
            let y = |level: f64, range: std::ops::Range<usize>| {
                let value = |t: usize| level + 2.0 * x[t] - 0.5 * z[t] + errors[t];
                let places: Vec<f64> = range.clone().map(|t| t as f64).collect();
                History::new(&places, &range.map(value).collect::<Vec<f64>>())
            };
            let (first, second) = (y(10.0, 0..1000), y(-40.0, 1000..2000));
            let (x, z) = (History::regular(&x), History::regular(&z));
            let series = [&first, &second].map(|history| Explained { history, known: vec![&x, &z] });
            let found = Regression::fit(&series).unwrap();
            assert!((found.correlation - phi).abs() < 0.16, "{found:?} at {phi}");
            for (b, truth) in found.coefficients.iter().zip([2.0, -0.5]) {
                assert!((b - truth).abs() < tolerance, "{found:?} at {phi}");
            }
        }
    }

    #[test]
    fn series_that_only_wander_are_not_related() {
        let walk = |series: u32| History::regular(&autoregression(1.0, &normals(400, series)));
        let (y, x) = (walk(7), walk(8));
        let found = Regression::fit(&[Explained { history: &y, known: vec![&x] }]).unwrap();
        // A standard error of the regression of changes is 1/20.
        assert!(found.coefficients[0].abs() < 0.15, "{found:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        let y = History::regular(&[1.0, 2.0, 3.0]);
        assert_eq!(Regression::fit(&[Explained { history: &y, known: vec![&y] }]), None);
        let constant = History::regular(&[1.0; 100]);
        let y = History::regular(&normals(100, 1));
        assert_eq!(Regression::fit(&[Explained { history: &y, known: vec![&constant] }]), None);
        assert_eq!(Regression::fit(&[]), None);
    }

    #[test]
    fn the_remainder_is_what_the_effect_leaves() {
        let regression = Regression { coefficients: vec![2.0], correlation: 0.0 };
        let y = History::regular(&[1.0, 2.0, 3.0, 4.0]);
        let x = History::new(&[0.0, 2.0, 3.0], &[1.0, 3.0, 0.0]);
        // Between two known values lies their line.
        assert_eq!(regression.remainder(&y, &[&x]).values(), [-1.0, -2.0, -3.0, 4.0]);
        assert_eq!(regression.effect(&[&x], 3.5), None);
    }
}
