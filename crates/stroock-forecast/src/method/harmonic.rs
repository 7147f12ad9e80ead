//! Seasons as sums of waves, estimated beside a trend that bends once a period.

use std::f64::consts::TAU;

use super::steps::Steps;
use crate::least_squares::NormalEquations;

/// Most waves of one period.
const WAVES: usize = 10;
/// Most bends of the trend.
const BENDS: usize = 24;

/// Takes the seasons out, lets a method forecast the rest, and puts them back. Without periods it is the method alone.
pub fn deseasonalised(
    grid: &[f64],
    periods: &[f64],
    steps: usize,
    method: impl Fn(&[f64], usize) -> Option<Steps>,
) -> Option<Steps> {
    if periods.is_empty() {
        return method(grid, steps);
    }
    let season = season(grid, periods, grid.len() + steps);
    let rest: Vec<f64> = grid.iter().zip(&season).map(|(value, season)| value - season).collect();
    let mut found = method(&rest, steps)?;
    found.mean.iter_mut().zip(&season[grid.len()..]).for_each(|(mean, season)| *mean += season);
    Some(found)
}

/// A wave: its period and its place among the waves of that period.
type Wave = (f64, usize);

fn waves(periods: &[f64]) -> Vec<Wave> {
    let orders = (1..=WAVES).flat_map(|order| periods.iter().map(move |&period| (period, order)));
    orders.filter(|&(period, order)| 2.0 * order as f64 <= period + 1e-9).collect()
}

fn push(row: &mut Vec<f64>, (period, order): Wave, t: f64) {
    let angle = TAU * (order as f64 * t / period).fract();
    row.extend([angle.cos(), angle.sin()]);
}

/// The seasons at `0, 1, .. , length - 1`: as many waves as Akaike's criterion has.
fn season(grid: &[f64], periods: &[f64], length: usize) -> Vec<f64> {
    let count = grid.len() as f64;
    let longest = periods.iter().fold(2.0f64, |most, &period| most.max(period));
    let spacing = longest.max(count / BENDS as f64);
    let bends: Vec<f64> =
        (1..).map(|bend| bend as f64 * spacing).take_while(|t| t + 0.5 * spacing < count).collect();
    let fixed = 2 + bends.len();
    let waves = waves(periods);
    let mut equations = NormalEquations::new(fixed + 2 * waves.len());
    let mut row = Vec::new();
    for (t, &value) in grid.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let t = t as f64;
        row.clear();
        row.extend([1.0, t / count]);
        row.extend(bends.iter().map(|bend| (t - bend).max(0.0) / count));
        waves.iter().for_each(|&wave| push(&mut row, wave, t));
        equations.add(&row, value);
    }
    let regressions = equations.solve();
    let sizes = (0..=waves.len()).map(|used| (regressions.criterion(fixed + 2 * used), used));
    let used = sizes.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, used)| used);
    let coefficients = &regressions.coefficients(fixed + 2 * used)[fixed..];
    let at = |t: usize| {
        row.clear();
        waves[..used].iter().for_each(|&wave| push(&mut row, wave, t as f64));
        row.iter().zip(coefficients).map(|(x, c)| x * c).sum()
    };
    (0..length).map(at).collect()
}
