//! Some series of very many: what is learnt and tested after training needs a sample, not all of them.

use std::borrow::Cow;

use super::forecast::judged;
use super::{EstimatorError, FitConfig};
use crate::series::table::Table;
use crate::series::{SeriesError, SeriesSource, Split};

/// Series at most that methods of forecasting are compared on, and that a model of a table in a file is tested on.
pub const MOST_SERIES: usize = 10_000;
/// Times of these together, about.
const MOST_TIMES: u64 = 1 << 24;
/// Labelled series that classes of whole series are learnt from at most, where the table is in a file.
const MOST_LABELLED: usize = 20_000;

/// How many series of a table are enough.
pub(super) fn most_series<D: SeriesSource<f64>>(table: &Table<D>) -> usize {
    let length = table.account.rows / table.data.len().max(1) as u64 + 1;
    usize::try_from(MOST_TIMES / length).unwrap_or(MOST_SERIES).clamp(1, MOST_SERIES)
}

/// At most so many numbers below `count`, spread evenly.
pub(super) fn spread(count: usize, most: usize) -> Vec<usize> {
    (0..count).step_by(count.div_ceil(most).max(1)).collect()
}

/// A split with at most so many series in each part, by their places among the numbers that are returned with it.
pub(super) fn cut_split(split: &Split, most: usize) -> (Split, Vec<usize>) {
    let mut numbers = Vec::new();
    // Each part is in a random order, or in that of time from which the first ones are as good as others.
    let mut part = |all: &[usize]| -> Vec<usize> {
        let begin = numbers.len();
        numbers.extend(all.iter().take(most));
        (begin..numbers.len()).collect()
    };
    let (train, validation, test) = (part(&split.train), part(&split.validation), part(&split.test));
    (Split { train, validation, test }, numbers)
}

/// The series that classes of whole series are learnt from, and their split.
pub(super) fn labelled_sample(split: &Split) -> (Vec<usize>, Split) {
    let (split, numbers) = cut_split(&Split { test: Vec::new(), ..split.clone() }, MOST_LABELLED);
    (numbers, split)
}

impl FitConfig {
    /// The series that methods of forecasting are compared on: all of them, or some of very many. Of windows these are the
    /// first ones, since those of a series belong together.
    pub(super) fn forecast_sample<'t, D: SeriesSource<f64>>(
        &self,
        table: &Table<D>,
        whole: Option<&'t Table>,
    ) -> Result<Cow<'t, Table>, EstimatorError> {
        let (count, most) = (table.data.len(), most_series(table));
        Ok(match (whole, self.sampling.window) {
            (Some(whole), _) if count <= most => Cow::Borrowed(whole),
            (_, Some(_)) => Cow::Owned(table.gather(&(0..count.min(most)).collect::<Vec<_>>())?),
            (_, None) => Cow::Owned(table.gather(&spread(count, most))?),
        })
    }

    /// A table with the whole series that the latent model is compared on as a forecaster.
    pub(super) fn judged_ahead<'t, D: SeriesSource<f64>>(
        &self,
        table: &Table<D>,
        whole: Option<&'t Table>,
        split: &Split,
    ) -> Result<Cow<'t, Table>, EstimatorError> {
        if let Some(whole) = whole {
            return Ok(Cow::Borrowed(whole));
        }
        let mut numbers: Vec<usize> = judged(split).to_vec();
        if self.sampling.window.is_some() {
            for number in judged(split) {
                numbers.extend(windows_beside(table, *number)?);
            }
            numbers.sort_unstable();
            numbers.dedup();
        }
        Ok(Cow::Owned(table.gather(&numbers)?))
    }
}

/// The numbers of the other windows of the series of a window; they follow each other.
fn windows_beside<D: SeriesSource<f64>>(table: &Table<D>, number: usize) -> Result<Vec<usize>, SeriesError> {
    let id = table.data.get(number)?.id.clone();
    let mut found = Vec::new();
    let is_same = |other: usize| Ok::<bool, SeriesError>(table.data.get(other)?.id == id);
    let mut before = number;
    while before > 0 && is_same(before - 1)? {
        before -= 1;
        found.push(before);
    }
    let mut after = number + 1;
    while after < table.data.len() && is_same(after)? {
        found.push(after);
        after += 1;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_split_are_cut_and_numbered_anew() {
        let split = Split { train: vec![7, 1, 4], validation: vec![0], test: vec![9, 2] };
        let (cut, numbers) = cut_split(&split, 2);
        assert_eq!(numbers, [7, 1, 0, 9, 2]);
        assert_eq!(cut, Split { train: vec![0, 1], validation: vec![2], test: vec![3, 4] });
        assert_eq!(spread(10, 4), [0, 3, 6, 9]);
        assert_eq!(spread(3, 4), [0, 1, 2]);
    }
}
