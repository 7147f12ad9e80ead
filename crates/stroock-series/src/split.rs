//! Seeded orders and splits of series.

use rand_core::Rng;
use stroock_kernels::noise::{NoiseKey, Purpose, Stage};

/// The numbers `0..count` in an order that depends on the key alone.
///
/// ```
/// use stroock_series::shuffled;
/// use stroock_kernels::noise::NoiseKey;
/// let order = shuffled(5, NoiseKey::new(1, 0));
/// assert_eq!(order, shuffled(5, NoiseKey::new(1, 0)));
/// let mut sorted = order.clone();
/// sorted.sort();
/// assert_eq!(sorted, [0, 1, 2, 3, 4]);
/// ```
pub fn shuffled(count: usize, key: NoiseKey) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut stream = key.stream(Purpose::Order, 0, 0);
    for i in (1..count).rev() {
        // The bias of the remainder is below 2^-32 for any number of series that fits a machine.
        order.swap(i, (stream.next_u64() % (i as u64 + 1)) as usize);
    }
    order
}

/// Numbers of the series for training, validation and testing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// For training.
    pub train: Vec<usize>,
    /// For choosing among models.
    pub validation: Vec<usize>,
    /// For the final figure.
    pub test: Vec<usize>,
}

impl Split {
    /// A random split of `count` series, with the given shares of validation and test.
    ///
    /// ```
    /// use stroock_series::Split;
    /// let split = Split::random(100, 0.16, 0.2, 1);
    /// assert_eq!((split.train.len(), split.validation.len(), split.test.len()), (64, 16, 20));
    /// ```
    pub fn random(count: usize, validation: f64, test: f64, seed: u64) -> Self {
        let mut train = shuffled(count, NoiseKey::of(seed, Stage::Split));
        let share = |share: f64| ((count as f64 * share.clamp(0.0, 1.0)).round() as usize).min(count);
        let test = train.split_off(count - share(test));
        let validation = train.split_off(train.len().saturating_sub(share(validation)));
        Self { train, validation, test }
    }
}
