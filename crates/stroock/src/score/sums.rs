//! Scores of many predictions of one variable.

use serde::{Deserialize, Serialize};

use super::{ScoreError, crps};
use crate::series::quantile;

/// What was said of one value that was held back.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The value.
    pub truth: f64,
    /// The point prediction.
    pub mean: f64,
    /// Sorted draws of the prediction, `[S]`; may be empty.
    pub draws: &'a [f64],
    /// Negative log density of the value, where there is one.
    pub nll: Option<f64>,
    /// What each baseline says; not a number where it says nothing.
    pub baselines: &'a [f64],
}

/// Sums from which [`Scores`] follow. One for each variable; merged, they give the scores of all.
///
/// Sums in floating point depend on their order in the last digits: add and merge in a fixed order where
/// results are to be the same to the bit.
///
/// ```
/// # use stroock::score::{Prediction, ScoreSums};
/// let mut sums = ScoreSums::new(&[0.5], &[0.5], &["linear"]);
/// for truth in [0.0, 2.0] {
///     let draws = [-1.0, 0.0, 1.0];
///     sums.add(&Prediction { truth, mean: 0.0, draws: &draws, nll: None, baselines: &[truth + 1.0] });
/// }
/// let scores = sums.finish().unwrap();
/// assert_eq!((scores.mse, scores.mae, scores.nll), (2.0, 1.0, None));
/// assert_eq!(scores.coverage, [(0.5, 0.5)]);
/// assert_eq!(scores.baselines[0].mse, 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreSums {
    count: u64,
    squared: f64,
    absolute: f64,
    /// Number and sum.
    nll: (u64, f64),
    /// Number and sum.
    crps: (u64, f64),
    intervals: Vec<IntervalSum>,
    quantiles: Vec<QuantileSum>,
    baselines: Vec<BaselineSum>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct IntervalSum {
    level: f64,
    covered: u64,
    width: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct QuantileSum {
    nominal: f64,
    /// Twice the number of values below, so that a value on the quantile is a half.
    below: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BaselineSum {
    name: String,
    count: u64,
    squared: f64,
    absolute: f64,
}

/// Scores of predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scores {
    /// Number of values.
    pub count: u64,
    /// Mean squared error.
    pub mse: f64,
    /// Its root, in the units of the values.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Mean negative log density, over the predictions that have one.
    pub nll: Option<f64>,
    /// Mean continuous ranked probability score, over the predictions with draws.
    pub crps: Option<f64>,
    /// For each level, the share of the values inside the central interval of that level.
    pub coverage: Vec<(f64, f64)>,
    /// For each level, the mean width of the central interval.
    pub width: Vec<(f64, f64)>,
    /// For each nominal share, the share of the values below that quantile: the same number for a calibrated
    /// prediction.
    pub calibration: Vec<(f64, f64)>,
    /// Scores of the baselines on the same values.
    pub baselines: Vec<BaselineScore>,
}

/// Scores of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineScore {
    /// Name of the baseline.
    pub name: String,
    /// Number of values of which it said something.
    pub count: u64,
    /// Mean squared error.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
}

/// Central intervals whose coverage is measured.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.9];

impl ScoreSums {
    /// Empty sums for central intervals of 50, 80 and 90 %, every twentieth quantile, and baselines of the given names:
    /// what every evaluation reports.
    pub fn usual(baselines: &[&str]) -> Self {
        let nominal: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
        Self::new(&LEVELS, &nominal, baselines)
    }

    /// Empty sums for central intervals of the given levels, quantiles of the given nominal shares, and
    /// baselines of the given names.
    pub fn new(levels: &[f64], nominal: &[f64], baselines: &[&str]) -> Self {
        let interval = |&level: &f64| IntervalSum { level, covered: 0, width: 0.0 };
        let quantile = |&nominal: &f64| QuantileSum { nominal, below: 0 };
        let baseline =
            |name: &&str| BaselineSum { name: (*name).to_owned(), count: 0, squared: 0.0, absolute: 0.0 };
        ScoreSums {
            count: 0,
            squared: 0.0,
            absolute: 0.0,
            nll: (0, 0.0),
            crps: (0, 0.0),
            intervals: levels.iter().map(interval).collect(),
            quantiles: nominal.iter().map(quantile).collect(),
            baselines: baselines.iter().map(baseline).collect(),
        }
    }

    /// Adds one prediction. The baselines are taken in the order of their names; those that are left out said
    /// nothing.
    pub fn add(&mut self, prediction: &Prediction) {
        let &Prediction { truth, mean, draws, nll, baselines } = prediction;
        let error = mean - truth;
        self.count += 1;
        self.squared += error * error;
        self.absolute += error.abs();
        if let Some(nll) = nll {
            self.nll.0 += 1;
            self.nll.1 += nll;
        }
        for (sum, said) in self.baselines.iter_mut().zip(baselines).filter(|(_, said)| said.is_finite()) {
            sum.count += 1;
            sum.squared += (said - truth) * (said - truth);
            sum.absolute += (said - truth).abs();
        }
        if draws.is_empty() {
            return;
        }
        self.crps.0 += 1;
        self.crps.1 += crps(draws, truth);
        for sum in &mut self.intervals {
            let outside = 0.5 * (1.0 - sum.level);
            if let (Some(low), Some(high)) = (quantile(draws, outside), quantile(draws, 1.0 - outside)) {
                sum.covered += u64::from((low..=high).contains(&truth));
                sum.width += high - low;
            }
        }
        for sum in &mut self.quantiles {
            if let Some(bound) = quantile(draws, sum.nominal) {
                sum.below += u64::from(truth < bound) + u64::from(truth <= bound);
            }
        }
    }

    /// Adds the sums of other predictions.
    ///
    /// # Errors
    /// When levels, quantiles or baselines differ; nothing is added then.
    pub fn merge(&mut self, other: &ScoreSums) -> Result<(), ScoreError> {
        let same = |list, same: bool| if same { Ok(()) } else { Err(ScoreError::Settings { list }) };
        same("levels", self.intervals.iter().map(|s| s.level).eq(other.intervals.iter().map(|s| s.level)))?;
        let nominal = |sums: &ScoreSums| sums.quantiles.iter().map(|s| s.nominal).collect::<Vec<_>>();
        same("quantiles", nominal(self) == nominal(other))?;
        same(
            "baselines",
            self.baselines.iter().map(|s| &s.name).eq(other.baselines.iter().map(|s| &s.name)),
        )?;

        self.count += other.count;
        self.squared += other.squared;
        self.absolute += other.absolute;
        self.nll = (self.nll.0 + other.nll.0, self.nll.1 + other.nll.1);
        self.crps = (self.crps.0 + other.crps.0, self.crps.1 + other.crps.1);
        for (sum, more) in self.intervals.iter_mut().zip(&other.intervals) {
            sum.covered += more.covered;
            sum.width += more.width;
        }
        for (sum, more) in self.quantiles.iter_mut().zip(&other.quantiles) {
            sum.below += more.below;
        }
        for (sum, more) in self.baselines.iter_mut().zip(&other.baselines) {
            sum.count += more.count;
            sum.squared += more.squared;
            sum.absolute += more.absolute;
        }
        Ok(())
    }

    /// The scores; `None` where nothing was added.
    ///
    /// What needs draws is left empty where no prediction had any, and a baseline that never said anything is
    /// left out.
    pub fn finish(&self) -> Option<Scores> {
        let mean = |count: u64, sum: f64| (count > 0).then(|| sum / count as f64);
        let mse = mean(self.count, self.squared)?;
        let drawn = |sum: f64| mean(self.crps.0, sum);
        let intervals = || self.intervals.iter();
        Some(Scores {
            count: self.count,
            mse,
            rmse: mse.sqrt(),
            mae: mean(self.count, self.absolute)?,
            nll: mean(self.nll.0, self.nll.1),
            crps: drawn(self.crps.1),
            coverage: intervals().filter_map(|s| Some((s.level, drawn(s.covered as f64)?))).collect(),
            width: intervals().filter_map(|s| Some((s.level, drawn(s.width)?))).collect(),
            calibration: (self.quantiles.iter())
                .filter_map(|s| Some((s.nominal, drawn(0.5 * s.below as f64)?)))
                .collect(),
            baselines: (self.baselines.iter())
                .filter_map(|s| {
                    let (mse, mae) = (mean(s.count, s.squared)?, mean(s.count, s.absolute)?);
                    Some(BaselineScore { name: s.name.clone(), count: s.count, mse, mae })
                })
                .collect(),
        })
    }
}
