//! Series that are the same under different names.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Series;

/// Groups of series with the same times and the same values, as indices in order; series without a value are
/// not compared. Times are those since the origin: copies that were shifted in time are copies.
pub(super) fn alike(series: &[Series<f64>], channels: usize) -> Vec<Vec<usize>> {
    let mut groups: HashMap<u64, Vec<Vec<usize>>> = HashMap::new();
    for (index, one) in series.iter().enumerate() {
        if cells(one, channels).all(|cell| cell.is_none()) {
            continue;
        }
        let with_hash = groups.entry(content_hash(one, channels)).or_default();
        match with_hash.iter_mut().find(|group| is_same(&series[group[0]], one, channels)) {
            Some(group) => group.push(index),
            None => with_hash.push(vec![index]),
        }
    }
    let mut groups: Vec<Vec<usize>> =
        groups.into_values().flatten().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    groups
}

/// The values as bits, `None` where one is not observed.
fn cells(series: &Series<f64>, channels: usize) -> impl Iterator<Item = Option<u64>> {
    let is_observed = move |place| series.is_observed(channels, place / channels, place % channels);
    (0..series.values.len()).map(move |place| is_observed(place).then(|| series.values[place].to_bits()))
}

fn content_hash(series: &Series<f64>, channels: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    series.times.iter().for_each(|time| time.to_bits().hash(&mut hasher));
    cells(series, channels).for_each(|cell| cell.hash(&mut hasher));
    hasher.finish()
}

fn is_same(one: &Series<f64>, other: &Series<f64>, channels: usize) -> bool {
    one.times == other.times && cells(one, channels).eq(cells(other, channels))
}
