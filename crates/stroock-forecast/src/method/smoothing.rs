//! Exponential smoothing in its state-space form with one source of errors.
//!
//! With level `l`, slope `b`, and seasons `s` of one or more periods,
//!
//! ```text
//! y_t = l + phi b + sum_i s_i[phase] + e_t
//! l <- l + phi b + alpha e_t,   b <- phi b + beta e_t,   s_i[phase] <- s_i[phase] + gamma_i e_t
//! ```
//!
//! A gap has no error: the states go on. The error of a forecast `h` steps ahead is
//! `e_{t+h} + sum_{j < h} c_j e_{t+h-j}` with `c_j = alpha + beta (phi + .. + phi^j) + sum_i gamma_i [j is a period]`
//! (Hyndman, Koehler, Ord, Snyder 2008), which gives its variance in closed form.

use super::steps::Steps;
use crate::minimise::minimise;
use crate::season::{bins, phase, starting_profile};

/// What a slope does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    None,
    Linear,
    Damped,
}

const EVALUATIONS: usize = 320;
/// Bounds of the factor by which a slope fades.
const DAMPING: (f64, f64) = (0.8, 0.995);

/// Smoothing parameters.
#[derive(Clone, Debug)]
struct Parameters {
    alpha: f64,
    beta: f64,
    phi: f64,
    gammas: Vec<f64>,
}

#[derive(Clone, Debug)]
struct State {
    level: f64,
    slope: f64,
    /// A profile for each season.
    seasons: Vec<Vec<f64>>,
}

/// The grid with the phase of each season at every step.
struct Problem<'a> {
    grid: &'a [f64],
    phases: Vec<Vec<u32>>,
}

impl Problem<'_> {
    /// Runs over the grid: sum of squared errors, and the state after the last step.
    fn run(&self, parameters: &Parameters, mut state: State) -> (f64, State) {
        let Parameters { alpha, beta, phi, gammas } = parameters;
        let mut squares = 0.0;
        for (t, &value) in self.grid.iter().enumerate() {
            let ahead = state.level + phi * state.slope;
            state.level = ahead;
            state.slope *= phi;
            if value.is_nan() {
                continue;
            }
            let mut error = value - ahead;
            for (profile, phases) in state.seasons.iter().zip(&self.phases) {
                error -= profile[phases[t] as usize];
            }
            squares += error * error;
            state.level += alpha * error;
            state.slope += beta * error;
            for ((profile, phases), gamma) in state.seasons.iter_mut().zip(&self.phases).zip(gammas) {
                profile[phases[t] as usize] += gamma * error;
            }
        }
        (squares, state)
    }
}

/// Smoothing with the given trend, with the seasons of the periods where Akaike's criterion has them.
pub fn smooth(grid: &[f64], periods: &[f64], trend: Trend, steps: usize) -> Option<Steps> {
    let sets: &[&[f64]] = match periods {
        [] => &[&[]],
        [one] => &[&[*one], &[]],
        [one, two, ..] => &[&[*one, *two], &[*one], &[]],
    };
    let fits = sets.iter().filter_map(|periods| fit(grid, periods, trend, steps));
    fits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, steps)| steps)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The best parameters for the given periods: Akaike's criterion, and the forecast.
fn fit(grid: &[f64], periods: &[f64], trend: Trend, steps: usize) -> Option<(f64, Steps)> {
    let count = grid.iter().filter(|value| value.is_finite()).count();
    let seasonal: usize = periods.iter().map(|&period| bins(period)).sum();
    if count < 4 || count < seasonal + 3 {
        return None;
    }
    let problem = Problem {
        grid,
        phases: periods
            .iter()
            .map(|&period| (0..grid.len()).map(|t| phase(t, period) as u32).collect())
            .collect(),
    };
    let start = start(grid, periods, trend);
    let sloped = trend != Trend::None;
    // alpha, gammas, level, then beta, slope, phi.
    let read = |x: &[f64]| {
        let alpha = logistic(x[0]).clamp(1e-4, 0.9999);
        let gammas: Vec<f64> =
            x[1..=periods.len()].iter().map(|&x| (1.0 - alpha) * logistic(x).clamp(1e-4, 0.9999)).collect();
        let rest = &x[1 + periods.len()..];
        let mut state = start.clone();
        state.level += rest[0];
        let mut parameters = Parameters { alpha, beta: 0.0, phi: 1.0, gammas };
        if sloped {
            parameters.beta = alpha * logistic(rest[1]).clamp(1e-4, 0.9999);
            state.slope += 0.1 * rest[2];
        }
        if trend == Trend::Damped {
            parameters.phi = DAMPING.0 + (DAMPING.1 - DAMPING.0) * logistic(rest[3]);
        }
        if !sloped {
            parameters.phi = 0.0;
        }
        (parameters, state)
    };
    let mut x = vec![0.0];
    x.extend(periods.iter().map(|_| -2.0));
    x.push(0.0);
    x.extend(match trend {
        Trend::None => &[][..],
        Trend::Linear => &[-2.5, 0.0][..],
        Trend::Damped => &[-2.5, 0.0, 1.0][..],
    });
    let loss = |x: &[f64]| {
        let (parameters, state) = read(x);
        // Starts far from what the data say are worth a little less: they keep the search in place.
        let far: f64 = x.iter().map(|x| 1e-5 * x * x).sum();
        problem.run(&parameters, state).0 * (1.0 + far) / count as f64
    };
    let (x, _) = minimise(loss, &x, 0.8, EVALUATIONS);
    let (parameters, state) = read(&x);
    let (squares, state) = problem.run(&parameters, state);
    if !squares.is_finite() {
        return None;
    }
    let numbers = (x.len() + seasonal - periods.len() + 1) as f64;
    let size = count as f64;
    let correction = match size > numbers + 1.0 {
        true => 2.0 * numbers * (numbers + 1.0) / (size - numbers - 1.0),
        false => f64::INFINITY,
    };
    let criterion = size * (squares / size).max(1e-300).ln() + 2.0 * numbers + correction;
    let freedom = (size - x.len() as f64).max(0.5 * size).max(1.0);
    let weights = smoothing_weights(
        parameters.alpha,
        parameters.beta,
        if sloped { parameters.phi } else { 0.0 },
        &parameters.gammas,
        periods,
        steps,
    );
    let mut slope = 0.0;
    let mut factor = 1.0;
    let mean = (0..steps).map(|step| {
        factor *= parameters.phi;
        slope += factor * state.slope;
        let seasons = state.seasons.iter().zip(periods);
        let season: f64 = seasons.map(|(profile, &period)| profile[phase(grid.len() + step, period)]).sum();
        state.level + slope + season
    });
    let mean = mean.collect();
    Some((criterion, Steps { mean, weights, sigma: (squares / freedom).sqrt() }))
}

/// The state before the first step: profiles of the seasons over the first cycles, and a line through what they leave.
fn start(grid: &[f64], periods: &[f64], trend: Trend) -> State {
    let mut rest = grid.to_vec();
    let mut seasons = Vec::new();
    for &period in periods {
        let profile = starting_profile(&rest, period);
        rest.iter_mut().enumerate().for_each(|(t, value)| *value -= profile[phase(t, period)]);
        seasons.push(profile);
    }
    let longest = periods.iter().fold(0.0f64, |most, &period| most.max(period));
    let window = (10.0f64.max(2.0 * longest).ceil() as usize).min(rest.len());
    let (level, slope) = line(&rest[..window]);
    match trend {
        Trend::None => {
            let known: Vec<f64> = rest[..window].iter().copied().filter(|value| value.is_finite()).collect();
            let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
            State { level: mean, slope: 0.0, seasons }
        }
        _ => State { level: level - slope, slope, seasons },
    }
}

/// The line of least squares through values at 0, 1, ..: its value at 0, and its slope.
pub fn line(values: &[f64]) -> (f64, f64) {
    let known = || values.iter().enumerate().filter(|(_, value)| value.is_finite());
    let count = known().count() as f64;
    if count < 1.0 {
        return (0.0, 0.0);
    }
    let centre = known().map(|(t, _)| t as f64).sum::<f64>() / count;
    let mean = known().map(|(_, value)| value).sum::<f64>() / count;
    let squares: f64 = known().map(|(t, _)| (t as f64 - centre).powi(2)).sum();
    let product: f64 = known().map(|(t, value)| (t as f64 - centre) * (value - mean)).sum();
    let slope = if squares > 0.0 { product / squares } else { 0.0 };
    (mean - slope * centre, slope)
}

/// A smoothed level that goes on with half of the slope of the whole history.
pub fn theta(grid: &[f64], steps: usize) -> Option<Steps> {
    let (_, slope) = line(grid);
    let slope = 0.5 * slope;
    let flat: Vec<f64> = grid.iter().enumerate().map(|(t, value)| value - slope * t as f64).collect();
    let mut found = smooth(&flat, &[], Trend::None, steps)?;
    let first = grid.len() as f64;
    found.mean.iter_mut().enumerate().for_each(|(step, mean)| *mean += slope * (first + step as f64));
    Some(found)
}

/// The weights `1, c_1, c_2, ..` of past errors in the error of a forecast; `phi = 0` is no slope.
///
/// ```
/// # use stroock_forecast::smoothing_weights;
/// assert_eq!(smoothing_weights(0.5, 0.0, 0.0, &[], &[], 3), [1.0, 0.5, 0.5]);
/// assert_eq!(smoothing_weights(0.5, 0.25, 1.0, &[0.125], &[2.0], 3), [1.0, 0.75, 1.125]);
/// ```
pub fn smoothing_weights(
    alpha: f64,
    beta: f64,
    phi: f64,
    gammas: &[f64],
    periods: &[f64],
    count: usize,
) -> Vec<f64> {
    let (mut factor, mut slopes) = (1.0, 0.0);
    let mut weights: Vec<f64> = (0..count)
        .map(|j| {
            if j == 0 {
                return 1.0;
            }
            factor *= phi;
            slopes += factor;
            alpha + beta * slopes
        })
        .collect();
    for (gamma, period) in gammas.iter().zip(periods) {
        let cycles = 1..=(count as f64 / period) as usize + 1;
        for place in cycles.map(|cycle| (cycle as f64 * period).round() as usize) {
            if let Some(weight) = weights.get_mut(place) {
                *weight += gamma;
            }
        }
    }
    weights
}
