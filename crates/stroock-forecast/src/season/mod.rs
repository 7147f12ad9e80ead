//! Periods of a series: found, tested, and cut into phases.

mod detect;

pub use detect::{common_periods, detect};

/// Phases that a period is cut into: one for each step, where it is a whole number of steps.
pub fn bins(period: f64) -> usize {
    (period.round() as usize).max(1)
}

/// The phase of step `t`, from 0 to [`bins`] - 1.
///
/// ```
/// # use stroock_forecast::season::phase;
/// assert_eq!(phase(29, 12.0), 5);
/// // A year of weeks is a little longer than 52: phases keep their place in the year.
/// assert_eq!(phase(52 * 10 + 2, 365.25 / 7.0), 0);
/// ```
pub fn phase(t: usize, period: f64) -> usize {
    let bins = bins(period);
    let turn = (t as f64 / period).fract();
    // A whole number of steps stays one although it is rounded.
    ((turn * bins as f64 + 1e-6) as usize) % bins
}

/// The values with straight lines over the gaps.
pub fn without_gaps(grid: &[f64]) -> Vec<f64> {
    let mut filled = grid.to_vec();
    let mut before: Option<(usize, f64)> = None;
    for (t, &value) in grid.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        match before {
            Some((start, low)) => {
                for (u, cell) in filled.iter_mut().enumerate().take(t).skip(start + 1) {
                    let share = (u - start) as f64 / (t - start) as f64;
                    *cell = (1.0 - share) * low + share * value;
                }
            }
            None => filled[..t].fill(value),
        }
        before = Some((t, value));
    }
    if let Some((end, value)) = before {
        filled[end + 1..].fill(value);
    }
    filled
}

/// Cycles that the first profile of a season is taken from.
const CYCLES: f64 = 5.0;

/// The mean of every phase over the first cycles, after a moving average over one period is taken out; 0 where a phase
/// has no value.
pub fn starting_profile(grid: &[f64], period: f64) -> Vec<f64> {
    let length = ((CYCLES * period).ceil() as usize).min(grid.len());
    profile(&grid[..length], period)
}

/// The same over all cycles.
pub fn profile(grid: &[f64], period: f64) -> Vec<f64> {
    let bins = bins(period);
    let (mut sums, mut counts) = (vec![0.0; bins], vec![0.0; bins]);
    for (t, trend) in moving_average(grid, bins).into_iter().enumerate() {
        if grid[t].is_finite() && trend.is_finite() {
            sums[phase(t, period)] += grid[t] - trend;
            counts[phase(t, period)] += 1.0;
        }
    }
    let mut profile: Vec<f64> =
        sums.iter().zip(&counts).map(|(sum, count)| if *count > 0.0 { sum / count } else { 0.0 }).collect();
    let mean = profile.iter().sum::<f64>() / bins as f64;
    profile.iter_mut().for_each(|value| *value -= mean);
    profile
}

/// The mean over `width` steps around each one (with half weights at both ends where the width is even); NaN where
/// the window does not fit.
pub fn moving_average(grid: &[f64], width: usize) -> Vec<f64> {
    let filled = without_gaps(grid);
    let half = width / 2;
    let mut sums = vec![0.0; filled.len() + 1];
    for (t, value) in filled.iter().enumerate() {
        sums[t + 1] = sums[t] + value;
    }
    let at = |t: usize| {
        if t < half || t + half >= filled.len() {
            return f64::NAN;
        }
        let whole = sums[t + half + 1] - sums[t - half];
        match width % 2 {
            0 => (whole - 0.5 * (filled[t - half] + filled[t + half])) / width as f64,
            _ => whole / width as f64,
        }
    };
    (0..filled.len()).map(at).collect()
}
