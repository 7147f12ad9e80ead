//! Which autoregressive moving average a stationary series has.

use super::likelihood::{Filtered, filter};
use super::polynomial::{from_partial, product};
use crate::minimise::minimise;

/// Most coefficients of each polynomial.
const MOST: Order = Order { p: 4, q: 3, seasonal_p: 1, seasonal_q: 1, constant: true };
/// Models that are fitted at most.
const MODELS: usize = 14;
/// Partial autocorrelations stay this far inside: beyond it, shocks never fade.
const INSIDE: f64 = 0.985;
/// Evaluations of the likelihood: for each model, and for each of its coefficients.
const EVALUATIONS: (usize, usize) = (25, 30);

/// Numbers of coefficients: autoregressive and moving-average, plain and over a period, and whether there is a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub p: usize,
    pub q: usize,
    pub seasonal_p: usize,
    pub seasonal_q: usize,
    pub constant: bool,
}

/// A fitted model.
pub struct Arma {
    pub order: Order,
    /// `x_t = phi(B) x_t + e_t + theta(B) e_t`, multiplied out.
    pub phi: Vec<f64>,
    pub theta: Vec<f64>,
    pub filtered: Filtered,
    /// Akaike's criterion, corrected for short samples.
    pub criterion: f64,
}

impl Order {
    fn sizes(&self) -> [usize; 4] {
        [self.p, self.q, self.seasonal_p, self.seasonal_q]
    }

    fn count(&self) -> usize {
        self.sizes().iter().sum()
    }

    /// Numbers that are estimated beside the variance of the shocks.
    pub fn numbers(&self) -> usize {
        self.count() + usize::from(self.constant)
    }

    /// The polynomials of numbers on the whole line, which make them stationary and invertible.
    fn polynomials(&self, x: &[f64], period: usize) -> (Vec<f64>, Vec<f64>) {
        let mut from = 0;
        let [p, q, seasonal_p, seasonal_q] = self.sizes().map(|size| {
            let partial: Vec<f64> = x[from..from + size].iter().map(|x| INSIDE * x.tanh()).collect();
            from += size;
            from_partial(&partial)
        });
        let phi = product(&p, &seasonal_p, period);
        let theta = product(&q, &seasonal_q, period).iter().map(|c| -c).collect();
        (phi, theta)
    }

    /// The orders one step away, within bounds.
    fn neighbours(&self, seasonal: bool, constants: bool) -> Vec<Order> {
        let moves: [[i32; 4]; 12] = [
            [1, 0, 0, 0],
            [-1, 0, 0, 0],
            [0, 1, 0, 0],
            [0, -1, 0, 0],
            [1, 1, 0, 0],
            [-1, -1, 0, 0],
            [0, 0, 1, 0],
            [0, 0, -1, 0],
            [0, 0, 0, 1],
            [0, 0, 0, -1],
            [0, 0, 1, 1],
            [0, 0, -1, -1],
        ];
        let moved = |by: &[i32; 4]| {
            let mut sizes = self.sizes();
            for ((size, by), most) in sizes.iter_mut().zip(by).zip(MOST.sizes()) {
                *size = usize::try_from(*size as i32 + by).ok().filter(|size| *size <= most)?;
            }
            let [p, q, seasonal_p, seasonal_q] = sizes;
            (seasonal || seasonal_p + seasonal_q == 0).then_some(Order {
                p,
                q,
                seasonal_p,
                seasonal_q,
                ..*self
            })
        };
        let other = constants.then_some(Order { constant: !self.constant, ..*self });
        other.into_iter().chain(moves.iter().filter_map(moved)).collect()
    }
}

/// The model of greatest likelihood among those of an order.
fn fit(values: &[f64], order: Order, period: usize) -> Option<Arma> {
    let numbers = order.numbers() as f64 + 1.0;
    let size = values.len() as f64;
    if size < numbers + 2.0 {
        return None;
    }
    let penalty = 2.0 * numbers * size / (size - numbers - 1.0);
    let run = |x: &[f64]| {
        let (phi, theta) = order.polynomials(x, period);
        let filtered = filter(values, order.constant, &phi, &theta);
        (phi, theta, filtered)
    };
    let start = start(values, order);
    let evaluations = EVALUATIONS.0 + EVALUATIONS.1 * order.count();
    let (x, _) = minimise(|x| run(x).2.loss, &start, 0.4, evaluations);
    let (phi, theta, filtered) = run(&x);
    let criterion = filtered.loss + penalty;
    criterion.is_finite().then_some(Arma { order, phi, theta, filtered, criterion })
}

/// Where the search starts: the first partial autocorrelation of the values, and nothing else.
fn start(values: &[f64], order: Order) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let product: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let first = if squares > 0.0 { (product / squares).clamp(-0.9, 0.9) } else { 0.0 };
    let mut start = vec![0.0; order.count()];
    match order {
        Order { p: 1.., .. } => start[0] = first.atanh(),
        Order { q: 1.., .. } => start[0] = -(0.8 * first).atanh(),
        _ => {}
    }
    start
}

/// The best model by Akaike's criterion, found step by step from a few (Hyndman and Khandakar 2008).
///
/// `constants`: whether models with and without a mean are compared; if not, there is one if `constant` says so.
pub fn search(values: &[f64], period: Option<usize>, constant: bool, constants: bool) -> Option<Arma> {
    let seasonal = period.is_some();
    let length = period.unwrap_or(1);
    let order = |p, q, seasonal_p, seasonal_q| {
        let (seasonal_p, seasonal_q) = if seasonal { (seasonal_p, seasonal_q) } else { (0, 0) };
        Order { p, q, seasonal_p, seasonal_q, constant }
    };
    let mut tried = vec![order(0, 0, 0, 0), order(1, 0, 1, 0), order(0, 1, 0, 1), order(2, 1, 1, 1)];
    let better = |a: Option<Arma>, b: Option<Arma>| match (a, b) {
        (Some(a), Some(b)) => Some(if b.criterion < a.criterion { b } else { a }),
        (a, b) => a.or(b),
    };
    let first = tried.iter().map(|&order| fit(values, order, length));
    let mut best = first.fold(None, better)?;
    loop {
        let mut fresh = best.order.neighbours(seasonal, constants);
        fresh.retain(|order| !tried.contains(order));
        fresh.truncate(MODELS.saturating_sub(tried.len()));
        tried.extend(&fresh);
        let found = fresh.iter().map(|&order| fit(values, order, length)).fold(None, better);
        match found {
            Some(found) if found.criterion < best.criterion => best = found,
            _ => return Some(best),
        }
    }
}
