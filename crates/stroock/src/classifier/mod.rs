//! Classes of whole series, in closed form: random convolutions, ridge regression, calibrated probabilities.
//!
//! 1. A series is put on a regular grid, on lines between its observations ([`GridPlan`]).
//! 2. Several [`View`]s of it, with its level and scale and without, are convolved with many kernels, and the
//!    convolutions are pooled to a row of numbers ([`FeatureMap`]). The idea is that of ROCKET (Dempster, Petitjean and
//!    Webb 2020), the kernels are those of MiniRocket, the pooling is that of MultiRocket.
//! 3. A ridge regression on the classes gives scores. Its strength, and which views it sees, are chosen by the scores
//!    that every series would have had, had it been left out: these are known in closed form.
//! 4. The same scores tell how sharp probabilities may be.
//!
//! Few labelled series are enough, and nothing is trained by steps.

mod calibration;
mod convolution;
mod features;
mod file;
mod fit;
mod grid;
mod kernel;
mod ridge;
mod standard;
mod summary;
mod view;

pub use features::{FeatureMap, FeaturePlan};
pub use file::{Choice, ClassifierDescription, ClassifierProblem};
pub use fit::ClassifierConfig;
pub use grid::{Clock, GridPlan};
pub use view::{View, ViewKind};

use rayon::prelude::*;

use crate::series::Series;
use standard::Standard;

/// A classifier of whole series.
///
/// ```
/// use stroock::classifier::{ClassifierConfig, SeriesClassifier};
/// use stroock::series::Series;
///
/// // Waves that go up first, and waves that go down first, at times of their own.
/// let wave = |number: usize| {
///     let sign = if number % 2 == 0 { 1.0 } else { -1.0 };
///     let times: Vec<f64> = (0..30).map(|i| i as f64 + 0.03 * (number * i % 7) as f64).collect();
///     let values = times.iter().map(|t| sign * (0.2 * t).sin() as f32).collect();
///     Series { times, values, ..Series::default() }
/// };
/// let series: Vec<Series> = (0..12).map(wave).collect();
/// let (known, new) = series.split_at(8);
/// let truths: Vec<usize> = (0..8).map(|number| number % 2).collect();
/// let known: Vec<&Series> = known.iter().collect();
/// let classifier = ClassifierConfig::default().fit(&known, &truths, 2, 1, &[]);
/// for (number, series) in new.iter().enumerate() {
///     assert!(classifier.probabilities(series)[number % 2] > 0.5);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesClassifier {
    map: FeatureMap,
    standard: Standard,
    /// Of the standardised features, `[K, P]`.
    weights: Vec<f32>,
    /// Scores of a series whose features are all as usual, `[K]`.
    intercepts: Vec<f64>,
    sharpness: f64,
    description: ClassifierDescription,
}

impl SeriesClassifier {
    /// What it is made of and how it was chosen.
    pub fn description(&self) -> &ClassifierDescription {
        &self.description
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.intercepts.len()
    }

    /// Probabilities of the classes of a series in the units that the classifier was fitted in, `[K]`. They depend on
    /// this series alone.
    pub fn probabilities(&self, series: &Series) -> Vec<f64> {
        calibration::probabilities(&self.scores(series), self.sharpness)
    }

    /// Probabilities of the classes of many series.
    pub fn all_probabilities(&self, series: &[&Series]) -> Vec<Vec<f64>> {
        series.par_iter().map(|series| self.probabilities(series)).collect()
    }

    /// The same with another share of the answer.
    pub fn with_choice(mut self, choice: Choice) -> Self {
        self.description.choice = choice;
        self
    }

    fn scores(&self, series: &Series) -> Vec<f64> {
        let mut row = self.map.row(series);
        self.standard.apply(&mut row);
        let weights = self.weights.chunks(row.len().max(1));
        let scores = self.intercepts.iter().zip(weights);
        scores.map(|(intercept, weights)| intercept + ridge::dot(&row, weights)).collect()
    }
}
