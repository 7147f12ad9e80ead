//! Whether two samples come from one distribution.

use rand_core::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage};

/// The energy test of two samples (Székely and Rizzo 2013).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyTest {
    /// `2 E|X - Y| - E|X - X'| - E|Y - Y'|` over `2 E|X - Y|`, from 0 for the same distribution to 1.
    pub distance: f64,
    /// Share of random relabellings of all points, with the given labels one of them, whose distance is at least as
    /// large. In samples of one distribution it is below `p` with a probability of at most `p`.
    pub p_value: f64,
}

/// Points of either sample that are compared at most: their distances grow with the square.
const MOST_POINTS: usize = 400;

impl EnergyTest {
    /// Compares points `x` and `y` of equal lengths, each coordinate in units of its standard deviation over all points. A
    /// coordinate that is not a number counts as the mean. `None` where a sample has less than two points.
    ///
    /// Relabellings depend on the seed alone.
    ///
    /// ```
    /// use stroock::score::EnergyTest;
    /// let line = |from: usize| (from..from + 50).map(|i| vec![(i % 50) as f64]).collect::<Vec<_>>();
    /// assert_eq!(EnergyTest::of(&line(0), &line(0), 99, 1).unwrap().distance, 0.0);
    /// let shifted: Vec<Vec<f64>> = line(0).iter().map(|point| vec![point[0] + 100.0]).collect();
    /// assert_eq!(EnergyTest::of(&line(0), &shifted, 99, 1).unwrap().p_value, 0.01);
    /// ```
    pub fn of(x: &[Vec<f64>], y: &[Vec<f64>], relabellings: usize, seed: u64) -> Option<Self> {
        let (x, y) = (thinned(x), thinned(y));
        if x.len() < 2 || y.len() < 2 {
            return None;
        }
        let first = x.len();
        let points = standardised(x.into_iter().chain(y).collect());
        let count = points.len();
        let row = |a: &Vec<f64>| points.iter().map(|b| distance(a, b)).collect::<Vec<f64>>();
        let distances: Vec<f64> = points.par_iter().flat_map_iter(row).collect();
        let statistic = |order: &[usize]| energy(&distances, order, first);
        let given: Vec<usize> = (0..count).collect();
        let found = statistic(&given);
        let key = NoiseKey::of(seed, Stage::HoldOut);
        // Rounding must not tell relabellings apart that are the same.
        let least = found - 1e-12;
        let exceeds = |number: usize| {
            let mut order = given.clone();
            let mut stream = key.stream(Purpose::Order, 0, number as u32);
            for i in (1..count).rev() {
                order.swap(i, (stream.next_u64() % (i as u64 + 1)) as usize);
            }
            statistic(&order) >= least
        };
        let exceeding = (0..relabellings).into_par_iter().filter(|&number| exceeds(number)).count();
        Some(Self { distance: found.max(0.0), p_value: (1 + exceeding) as f64 / (1 + relabellings) as f64 })
    }
}

/// The normalised energy distance of the first `first` points of an order from the others.
fn energy(distances: &[f64], order: &[usize], first: usize) -> f64 {
    let count = order.len();
    let (mut within, mut across, mut beyond) = (0.0, 0.0, 0.0);
    for (i, &a) in order.iter().enumerate() {
        let row = &distances[a * count..(a + 1) * count];
        let own: f64 = order[..first].iter().map(|&b| row[b]).sum();
        match i < first {
            true => within += own,
            false => {
                across += own;
                beyond += order[first..].iter().map(|&b| row[b]).sum::<f64>();
            }
        }
    }
    let (m, n) = (first as f64, (count - first) as f64);
    let between = 2.0 * across / (m * n);
    if between > 0.0 { (between - within / (m * m) - beyond / (n * n)) / between } else { 0.0 }
}

fn thinned(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    points.iter().step_by(step).cloned().collect()
}

/// Every coordinate with mean 0 and standard deviation 1 where it is known, and 0 where it is not.
fn standardised(mut points: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let width = points.iter().map(Vec::len).min().unwrap_or(0);
    for place in 0..width {
        let known = || points.iter().map(|point| point[place]).filter(|x| x.is_finite());
        let count = known().count().max(1) as f64;
        let mean = known().sum::<f64>() / count;
        let sd = (known().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        for point in &mut points {
            let x = (point[place] - mean) / sd;
            point[place] = if x.is_finite() { x } else { 0.0 };
        }
    }
    points
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(count: u32, sample: u32, shift: f64) -> Vec<Vec<f64>> {
        let key = NoiseKey::new(8, 0);
        let point = |number| {
            let mut stream = key.stream(Purpose::Caller, number, sample);
            vec![stream.uniform() + shift, stream.uniform()]
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn the_distance_is_the_closed_form() {
        // Two points each, at 0 and 1 and at 1 and 2: E|X - Y| = 1, E|X - X'| = E|Y - Y'| = 1 / 2.
        let (x, y) = (vec![vec![0.0], vec![1.0]], vec![vec![1.0], vec![2.0]]);
        let found = EnergyTest::of(&x, &y, 10, 1).unwrap();
        assert!((found.distance - 0.5).abs() < 1e-12, "{found:?}");
        assert!(EnergyTest::of(&x, &y[..1], 10, 1).is_none());
    }

    #[test]
    fn p_values_of_one_distribution_are_spread_evenly_and_others_are_small() {
        let tests = 60;
        let same = |test: u32| {
            EnergyTest::of(&uniform(30, 2 * test, 0.0), &uniform(30, 2 * test + 1, 0.0), 99, 1).unwrap()
        };
        let small = (0..tests).filter(|&test| same(test).p_value <= 0.25).count();
        assert!((6..=26).contains(&small), "{small} of {tests} are below a quarter");
        let other = EnergyTest::of(&uniform(60, 0, 0.0), &uniform(60, 1, 0.5), 199, 1).unwrap();
        assert_eq!(other.p_value, 1.0 / 200.0);
        // What is missing everywhere says nothing.
        let blank = |mut points: Vec<Vec<f64>>| {
            points.iter_mut().for_each(|point| point.push(f64::NAN));
            points
        };
        let (x, y) = (uniform(30, 0, 0.0), uniform(30, 1, 0.0));
        assert_eq!(
            EnergyTest::of(&x, &y, 99, 3),
            EnergyTest::of(&blank(x.clone()), &blank(y.clone()), 99, 3)
        );
    }
}
