//! How wide intervals have to be.

use crate::backtest::{Backtest, Origin, rungs};
use crate::tails::{heavier, heavier_size};

/// Errors of forecasts are a little larger than those of fits: what is expected before anything is seen.
pub const EXPECTED_WIDTH: f64 = 1.15;
/// How many stretches of time it takes to believe the values as much as that.
const BELIEF: f64 = 20.0;
/// Errors of a distance are compared with those of all distances.
const BELIEF_IN_ALL: f64 = 40.0;
/// A single error counts for so many standard deviations at most.
const LARGEST: f64 = 4.0;
const WIDTHS: (f64, f64) = (0.5, 4.0);

/// Distances in steps, and by how much intervals have to be wider there: the mean size of the errors of all origins in
/// standard deviations, `mean |z| / E |g(Z)|`.
///
/// The mean uses every error, where a quantile of 90 % would hang on the few largest ones. What counts is how many
/// stretches of time of that length do not overlap, and few of them are believed little.
pub fn widths(tests: &Backtest, horizon: f64, weights: &[(usize, f64)]) -> Vec<(f64, f64)> {
    let mut found: Vec<(f64, f64, &Origin)> = Vec::new();
    for origin in &tests.origins {
        let forecast = origin.average(weights, f64::NEG_INFINITY);
        for k in 0..origin.within(horizon) {
            let distance = heavier(forecast.standardised(k, origin.truths[k])).abs();
            found.push((origin.ahead[k], distance.min(LARGEST), origin));
        }
    }
    let factor = |(above, upto): (f64, f64), before: f64, belief: f64| {
        let chosen = || found.iter().filter(|(ahead, ..)| above < *ahead && *ahead <= upto);
        let number = chosen().count();
        if number == 0 {
            return before;
        }
        let size = chosen().map(|(_, distance, _)| distance).sum::<f64>() / number as f64;
        let factor = (size / heavier_size()).clamp(WIDTHS.0, WIDTHS.1);
        let count = stretches(chosen().map(|(.., origin)| *origin), upto.min(horizon));
        ((count * factor.ln() + belief * before.ln()) / (count + belief)).exp()
    };
    let overall = factor((0.0, f64::INFINITY), EXPECTED_WIDTH, BELIEF);
    let ladder = rungs(horizon);
    let width = |(place, &rung): (usize, &f64)| {
        let below = if place > 1 { ladder[place - 2] } else { 0.0 };
        let above = ladder.get(place + 1).copied().unwrap_or(f64::INFINITY);
        (rung, factor((below, above), overall, BELIEF_IN_ALL))
    };
    ladder.iter().enumerate().map(width).collect()
}

/// How many stretches of time of a length the origins have that do not overlap, over all series.
fn stretches<'a>(origins: impl Iterator<Item = &'a Origin>, length: f64) -> f64 {
    let mut spans: Vec<(usize, f64, f64, usize)> = Vec::new();
    let mut before: Option<(usize, usize)> = None;
    for origin in origins {
        if before == Some((origin.series, origin.known)) {
            continue;
        }
        before = Some((origin.series, origin.known));
        match spans.iter_mut().find(|span| span.0 == origin.series) {
            Some(span) => {
                span.1 = span.1.min(origin.place);
                span.2 = span.2.max(origin.place);
                span.3 += 1;
            }
            None => spans.push((origin.series, origin.place, origin.place, 1)),
        }
    }
    let count = |(_, first, last, origins): (usize, f64, f64, usize)| {
        (1.0 + (last - first) / length.max(1.0)).min(origins as f64)
    };
    spans.into_iter().map(count).sum()
}
