//! Moments and different values of numbers that come one by one.

use std::collections::BTreeSet;

/// Mean, standard deviation and skewness of numbers that come one by one.
///
/// The sums of powers of deviations are updated with the mean, so that values far from 0 lose nothing (Welford 1962; the
/// third one as by Terriberry).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub count: f64,
    pub mean: f64,
    squares: f64,
    cubes: f64,
}

impl Moments {
    #[inline]
    pub fn add(&mut self, x: f64) {
        let before = self.count;
        self.count += 1.0;
        let deviation = x - self.mean;
        let share = deviation / self.count;
        let square = deviation * share * before;
        self.mean += share;
        self.cubes += square * share * (self.count - 2.0) - 3.0 * share * self.squares;
        self.squares += square;
    }

    /// The standard deviation with `n - 1`; zero for a single number.
    pub fn sd(&self) -> f64 {
        (self.squares / (self.count - 1.0).max(1.0)).sqrt()
    }

    /// The third standardised moment.
    pub fn skewness(&self) -> f64 {
        self.cubes / self.count / (self.squares / self.count).powf(1.5)
    }
}

/// Hashes that are kept to count different numbers.
const KEPT: usize = 4096;

/// How many different numbers there are: exactly up to 4 095 of them, and beyond that within a few percent, from the
/// smallest hashes (Bar-Yossef et al. 2002).
#[derive(Clone, Debug)]
pub(super) struct Distinct {
    smallest: BTreeSet<u64>,
    /// The largest hash that may enter.
    bound: u64,
}

impl Default for Distinct {
    fn default() -> Self {
        Self { smallest: BTreeSet::new(), bound: u64::MAX }
    }
}

impl Distinct {
    #[inline]
    pub fn add(&mut self, x: f64) {
        // Minus zero is zero.
        let hash = mixed((x + 0.0).to_bits());
        if hash <= self.bound && self.smallest.insert(hash) && self.smallest.len() > KEPT {
            self.smallest.pop_last();
            self.bound = self.smallest.last().copied().unwrap_or(u64::MAX);
        }
    }

    pub fn count(&self) -> usize {
        match self.smallest.len() < KEPT {
            true => self.smallest.len(),
            false => ((KEPT - 1) as f64 / ((self.bound as f64 + 1.0) / 2.0_f64.powi(64))).round() as usize,
        }
    }
}

/// A hash whose bits all depend on all of the number's (the finaliser of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_two_passes() {
        let numbers: Vec<f64> = (0..1000).map(|i| 1e6 + f64::from(i * i % 97).exp2() * 1e-20).collect();
        let mut moments = Moments::default();
        numbers.iter().for_each(|&x| moments.add(x));
        let mean = numbers.iter().sum::<f64>() / 1000.0;
        let moment = |power| numbers.iter().map(|x| (x - mean).powi(power)).sum::<f64>();
        assert!((moments.mean / mean - 1.0).abs() < 1e-13);
        assert!((moments.sd() / (moment(2) / 999.0).sqrt() - 1.0).abs() < 1e-9);
        let skewness = moment(3) / 1000.0 / (moment(2) / 1000.0).powf(1.5);
        assert!((moments.skewness() / skewness - 1.0).abs() < 1e-9, "{} {skewness}", moments.skewness());
    }

    #[test]
    fn different_numbers_are_counted_exactly_where_they_are_few() {
        for (count, slack) in [(0, 0.0), (1, 0.0), (4000, 0.0), (100_000, 0.06)] {
            let mut distinct = Distinct::default();
            for i in (0..count).chain(0..count) {
                distinct.add(f64::from(i) * 0.1);
            }
            let error = (distinct.count() as f64 - f64::from(count)).abs();
            assert!(error <= slack * f64::from(count), "{} of {count}", distinct.count());
        }
    }
}
