//! Values of training series that are kept from training.
//!
//! How far decoded means are to be shrunk, and how wide intervals are, shows on values that the model was not trained on.
//! Where series for validation are few, for instance windows of one series, values of the others serve beside them: a
//! decoder overfits what it is trained on, and would look better there than it is.

use super::gap_length::usual_run;
use super::residuals::FEWEST_SERIES;
use super::{EstimatorError, Goal};
use crate::score::{HoldOut, withhold};
use crate::series::{Dataset, Series, SeriesSource, Split};

/// Share of the values that is kept back.
const SHARE: f64 = 0.2;
const SEED: u64 = 17;

/// Series of which some values are kept from training.
pub(super) struct KeptBack {
    /// All series, with the values that are kept back withheld.
    pub data: Dataset,
    /// For each series the way in which values were kept back.
    pub ways: Vec<Option<usize>>,
}

impl KeptBack {
    /// `None` where there are enough series for validation, or gaps are not what the model is for.
    ///
    /// # Errors
    /// When few series do not fit into memory.
    pub fn choose(
        data: &dyn SeriesSource,
        split: &Split,
        goal: Goal,
        statics: &[bool],
    ) -> Result<Option<Self>, EstimatorError> {
        if goal != Goal::Impute || split.validation.len() >= FEWEST_SERIES {
            return Ok(None);
        }
        let whole = data.in_memory().ok_or(EstimatorError::FewLongSeries { series: data.len() })?;
        let mut kept = Self { data: whole.clone(), ways: vec![None; data.len()] };
        // One by one, and in runs, by turns.
        let length = usual_run(data, statics)?;
        let ways = [HoldOut::Random { share: SHARE }, HoldOut::Blocks { share: SHARE, length }];
        for (way, &how) in ways.iter().enumerate() {
            let part: Vec<usize> = split.train.iter().copied().skip(way).step_by(ways.len()).collect();
            part.iter().for_each(|&number| kept.ways[number] = Some(way));
            kept.data = withhold(kept.data, &part, how, statics, SEED)?;
        }
        Ok(Some(kept))
    }

    /// What is trained on: the series without what is kept back.
    ///
    /// # Errors
    /// Never for valid series.
    pub fn rest(&self) -> Result<Dataset, EstimatorError> {
        let channels = self.data.observation().len();
        let without = |series: &Series| {
            let entries = (0..series.times.len()).flat_map(|i| (0..channels).map(move |c| (i, c)));
            let observed = entries.map(|(i, channel)| series.is_visible(channels, i, channel)).collect();
            Series { observed: Some(observed), withheld: None, ..series.clone() }
        };
        let rest = |(series, way): (&Series, &Option<usize>)| match way {
            Some(_) => without(series),
            None => series.clone(),
        };
        let series = self.data.series().iter().zip(&self.ways).map(rest).collect();
        Ok(Dataset::new(self.data.observation(), series)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Observation;

    fn windows(count: usize) -> (Dataset, Split) {
        let times: Vec<f64> = (0..40).map(f64::from).collect();
        let one = Series { values: vec![1.0; times.len()], times, ..Series::default() };
        let data = Dataset::new(Observation::Vector { channels: 1 }, vec![one; count]).unwrap();
        let split = Split { train: (4..count).collect(), validation: vec![0, 1], test: vec![2, 3] };
        (data, split)
    }

    #[test]
    fn a_fifth_of_the_training_values_is_kept_from_training() {
        let (data, split) = windows(24);
        let kept = KeptBack::choose(&data, &split, Goal::Impute, &[false]).unwrap().unwrap();
        let rest = kept.rest().unwrap();
        let count = |number: usize, data: &Dataset| {
            (0..40).filter(|&i| data.series()[number].is_visible(1, i, 0)).count()
        };
        for number in 0..4 {
            assert_eq!((count(number, &rest), kept.ways[number]), (40, None));
        }
        let left: usize = (4..24).map(|number| count(number, &rest)).sum();
        assert!((600..680).contains(&left), "{left} of 800");
        for number in 4..24 {
            assert_eq!(kept.ways[number], Some(number % 2));
            assert_eq!(count(number, &rest), count(number, &kept.data));
            assert!((0..40).all(|i| kept.data.series()[number].is_observed(1, i, 0)));
        }
    }

    #[test]
    fn nothing_is_kept_back_where_it_is_not_needed() {
        let (data, mut split) = windows(40);
        assert!(KeptBack::choose(&data, &split, Goal::Forecast, &[false]).unwrap().is_none());
        split.validation = (0..FEWEST_SERIES).collect();
        assert!(KeptBack::choose(&data, &split, Goal::Impute, &[false]).unwrap().is_none());
    }
}
