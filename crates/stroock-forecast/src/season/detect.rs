//! Which periods a series has.

use super::{bins, moving_average, phase, profile, without_gaps};

/// Autocorrelation at a period, in its standard errors, from which on a period that is expected (a day, a week, a
/// year) is believed, and one that is not.
const EXPECTED: f64 = 2.0;
const UNEXPECTED: f64 = 3.5;
/// Smallest autocorrelation of either.
const LEAST: f64 = 0.1;
const LEAST_UNEXPECTED: f64 = 0.25;
/// Share of the variance without trend that the profile of a period has to explain beyond chance.
const LEAST_EXPLAINED: f64 = 0.02;
/// Standard errors are taken for smaller than this: a smooth season of a few cycles has large ones, and yet returns.
const LARGEST_ERROR: f64 = 0.22;
/// Most periods.
const MOST: usize = 2;
/// Steps that are looked at.
const STEPS: usize = 4000;
/// Cycles that an unexpected period has to be seen.
const CYCLES: usize = 4;

/// The periods of a series in steps, the strongest first: those of `expected` that its autocorrelation confirms, or,
/// where there are none, what the autocorrelation shows by itself.
///
/// A period is tested on what shorter ones leave: a week that repeats a day is none.
///
/// ```
/// # use stroock_forecast::season::detect;
/// let wave: Vec<f64> = (0..200).map(|t| (t as f64 * std::f64::consts::TAU / 9.0).sin() + 0.01 * t as f64).collect();
/// assert_eq!(detect(&wave, &[]), [9.0]);
/// assert_eq!(detect(&wave, &[7.0, 9.0]), [9.0]);
/// ```
pub fn detect(grid: &[f64], expected: &[f64]) -> Vec<f64> {
    let grid = &grid[grid.len().saturating_sub(STEPS)..];
    let mut rest = without_gaps(grid);
    let mut found: Vec<f64> = Vec::new();
    let mut ordered = expected.to_vec();
    ordered.sort_by(f64::total_cmp);
    for period in ordered {
        let fits = period >= 2.0 && 2.0 * period + 2.0 <= rest.len() as f64;
        let is_there =
            || explained(&rest, period) > LEAST_EXPLAINED && confirmed(&rest, period, EXPECTED, LEAST);
        if fits && found.len() < MOST && is_there() {
            take_out(&mut rest, period);
            found.push(period);
        }
    }
    while found.len() < MOST && (expected.is_empty() || found.is_empty()) {
        let Some(period) = unexpected(&rest) else { break };
        if found.iter().any(|other| (period - other).abs() < 0.2 * other) {
            break;
        }
        take_out(&mut rest, period);
        found.push(period);
    }
    let whole = without_gaps(grid);
    let longest = found.iter().fold(2.0f64, |most, &period| most.max(period));
    let flat = detrended(&whole, bins(longest));
    let strength = |period: &f64| correlation(&flat, period.round() as usize);
    found.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    found
}

/// The periods that at least a third of several series have.
pub fn common_periods<'a>(grids: impl IntoIterator<Item = &'a [f64]>, expected: &[f64]) -> Vec<f64> {
    let mut votes: Vec<(f64, f64)> = Vec::new();
    let mut voters = 0.0;
    for grid in grids {
        voters += 1.0;
        for (rank, period) in detect(grid, expected).into_iter().enumerate() {
            // The strongest counts a little more.
            let vote = if rank == 0 { 1.1 } else { 1.0 };
            match votes.iter_mut().find(|(other, _)| (*other - period).abs() < 0.05 * period) {
                Some((_, count)) => *count += vote,
                None => votes.push((period, vote)),
            }
        }
    }
    votes.retain(|(_, count)| 3.0 * count >= voters);
    votes.sort_by(|a, b| b.1.total_cmp(&a.1));
    votes.into_iter().take(MOST).map(|(period, _)| period).collect()
}

fn take_out(rest: &mut [f64], period: f64) {
    let profile = profile(rest, period);
    rest.iter_mut().enumerate().for_each(|(t, value)| *value -= profile[phase(t, period)]);
}

/// The values without a moving average over `width` steps; the ends, where there is none, are left out.
fn detrended(values: &[f64], width: usize) -> Vec<f64> {
    let trend = moving_average(values, width.max(3));
    let flat = values.iter().zip(&trend).map(|(value, trend)| value - trend);
    flat.filter(|value| value.is_finite()).collect()
}

/// The share of the variance without trend that the profile of a period explains, less what the profile of noise would:
/// a smooth course has large autocorrelations at any lag, and yet no profile.
fn explained(values: &[f64], period: f64) -> f64 {
    let trend = moving_average(values, bins(period));
    let profile = profile(values, period);
    let (mut all, mut season, mut count) = (0.0, 0.0, 0.0);
    for (t, (value, trend)) in
        values.iter().zip(&trend).enumerate().filter(|(_, (_, trend))| trend.is_finite())
    {
        all += (value - trend).powi(2);
        season += profile[phase(t, period)].powi(2);
        count += 1.0;
    }
    let chance = (bins(period) as f64 / f64::max(count, 1.0)).min(1.0);
    // So few cycles that noise would have a profile: the autocorrelation decides alone.
    if all <= 0.0 || chance > 0.5 { 1.0 } else { (season / all - chance) / (1.0 - chance) }
}

/// Autocorrelation at a lag.
fn correlation(values: &[f64], lag: usize) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if lag >= values.len() || variance <= 0.0 {
        return 0.0;
    }
    let product: f64 = values[lag..].iter().zip(values).map(|(a, b)| (a - mean) * (b - mean)).sum();
    product / variance
}

/// Whether the autocorrelation at a period stands out of that of a series whose autocorrelation ends before it
/// (Bartlett).
fn confirmed(values: &[f64], period: f64, errors: f64, least: f64) -> bool {
    let lag = period.round() as usize;
    let mut flat = detrended(values, bins(period));
    if flat.len() < lag + 3 {
        // Two cycles leave too little of a moving average: a straight line is taken out.
        let (level, slope) = line(values);
        flat = values.iter().enumerate().map(|(t, value)| value - level - slope * t as f64).collect();
    }
    let nearby: f64 = (1..lag).map(|lag| correlation(&flat, lag).powi(2)).sum();
    // Few pairs shrink the autocorrelation: compared per pair.
    let pairs = (flat.len() - lag.min(flat.len())) as f64;
    let found = correlation(&flat, lag) * flat.len() as f64 / pairs.max(1.0);
    let error = ((1.0 + 2.0 * nearby) / pairs.max(1.0)).sqrt();
    found > least && found > errors * error.min(LARGEST_ERROR)
}

fn line(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let centre = 0.5 * (count - 1.0);
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = (0..values.len()).map(|t| (t as f64 - centre).powi(2)).sum();
    let product: f64 = values.iter().enumerate().map(|(t, value)| (t as f64 - centre) * (value - mean)).sum();
    let slope = if squares > 0.0 { product / squares } else { 0.0 };
    (mean - slope * centre, slope)
}

/// The highest peak of the autocorrelation after its first trough, where it stands out.
fn unexpected(values: &[f64]) -> Option<f64> {
    let longest = values.len() / CYCLES;
    if longest < 3 {
        return None;
    }
    let flat = detrended(values, (2 * longest).min(values.len() / 2));
    let correlations: Vec<f64> = (0..=longest).map(|lag| correlation(&flat, lag)).collect();
    // Down first: what falls slowly is a trend and no period.
    let trough = (1..longest).find(|&lag| correlations[lag] <= 0.0)?;
    let is_peak = |lag: &usize| {
        correlations[*lag] >= correlations[lag - 1] && correlations[*lag] > correlations[lag + 1]
    };
    let peaks = (trough.max(2)..longest).filter(is_peak);
    let highest = peaks.clone().map(|lag| correlations[lag]).fold(0.0, f64::max);
    // The first peak that is nearly the highest one: the others are its multiples.
    let lag = { peaks }.find(|&lag| correlations[lag] >= 0.9 * highest)?;
    if highest < LEAST_UNEXPECTED {
        return None;
    }
    let [before, at, after] = [lag - 1, lag, lag + 1].map(|lag| correlations[lag]);
    let bend = before - 2.0 * at + after;
    let shift = if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 };
    let period = lag as f64 + shift;
    let period = if shift.abs() < 0.25 { lag as f64 } else { period };
    confirmed(values, period, UNEXPECTED, LEAST_UNEXPECTED).then_some(period)
}

#[cfg(test)]
mod tests {
    use super::detect;

    #[test]
    fn a_day_and_a_week_are_found_and_hours_and_smooth_courses_are_not() {
        let wave = |t: usize, period: f64| (t as f64 * std::f64::consts::TAU / period).sin();
        // Half hours: the calendar has an hour, a day and a week.
        let expected = [2.0, 48.0, 336.0];
        let both: Vec<f64> = (0..3000).map(|t| 3.0 * wave(t, 48.0) + wave(t, 336.0)).collect();
        assert_eq!(detect(&both, &expected), [48.0, 336.0]);
        let day: Vec<f64> = (0..3000).map(|t| 3.0 * wave(t, 48.0) + 4.0 * wave(t, 2111.0)).collect();
        assert_eq!(detect(&day, &expected), [48.0]);
    }
}
