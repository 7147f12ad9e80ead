//! Seeded orders and splits of series.

use std::cmp::Ordering;
use std::collections::BTreeMap;

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

    /// A random split in which every class has about the same share of each part, and one of its series is for
    /// training whatever the shares are. Series without a class are a class of their own.
    ///
    /// ```
    /// use stroock_series::Split;
    /// let classes: Vec<Option<u32>> = (0..40).map(|i| Some(if i < 30 { 0 } else { 1 })).collect();
    /// let split = Split::stratified(&classes, 0.2, 0.2, 1);
    /// let rare = |part: &[usize]| part.iter().filter(|&&i| i >= 30).count();
    /// assert_eq!([rare(&split.train), rare(&split.validation), rare(&split.test)], [6, 2, 2]);
    /// ```
    pub fn stratified(classes: &[Option<u32>], validation: f64, test: f64, seed: u64) -> Self {
        let count = classes.len();
        let order = shuffled(count, NoiseKey::of(seed, Stage::Split));
        let mut members: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        order.iter().for_each(|&number| members.entry(classes[number]).or_default().push(number));
        // Series of a class have places spread over [0, 1]; a part is what lies in an interval of them.
        let mut places = vec![0.0; count];
        let mut kept = vec![false; count];
        for members in members.values() {
            kept[members[0]] = true;
            for (rank, &number) in members.iter().enumerate() {
                places[number] = (rank as f64 + 0.5) / members.len() as f64;
            }
        }
        let mut train = order;
        train.sort_by(|&a, &b| {
            (!kept[a], places[a]).partial_cmp(&(!kept[b], places[b])).unwrap_or(Ordering::Equal)
        });
        let spare = count - members.len();
        let share = |share: f64| (count as f64 * share.clamp(0.0, 1.0)).round() as usize;
        let test = train.split_off(count - share(test).min(spare));
        let spare = spare - test.len();
        let validation = train.split_off(train.len() - share(validation).min(spare));
        Self { train, validation, test }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stratified_split_has_every_series_once_and_every_class_in_training() {
        for seed in 0..20 {
            let classes: Vec<Option<u32>> = (0..57)
                .map(|i: u32| if i.is_multiple_of(9) { None } else { Some(i * i % 5) })
                .chain([Some(77), Some(78), Some(78)])
                .collect();
            for (validation, test) in [(0.1, 0.1), (0.5, 0.5), (0.0, 0.3), (1.0, 1.0), (0.0, 0.0)] {
                let Split { train, validation, test } = Split::stratified(&classes, validation, test, seed);
                let mut all = [&train[..], &validation, &test].concat();
                all.sort_unstable();
                assert_eq!(all, (0..60).collect::<Vec<_>>());
                for class in &classes {
                    assert!(train.iter().any(|&number| classes[number] == *class), "{class:?}");
                }
            }
        }
        let split = Split::stratified(&[], 0.1, 0.1, 1);
        assert!(split.train.is_empty() && split.validation.is_empty() && split.test.is_empty());
    }
}
