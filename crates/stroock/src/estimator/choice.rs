//! Whether a classifier in closed form or the latent SDE answers for classes of series.

use super::config::class_of;
use super::predictions::PredictOptions;
use super::{EstimatorError, FitConfig, Model, Prepared};
use crate::classifier::{Choice, ClassifierConfig, SeriesClassifier};
use crate::score::log_loss;
use crate::series::{Dataset, Series, Split};

/// Shares of the classifier that are tried beside 1.
const SHARES: [f64; 4] = [0.75, 0.5, 0.25, 0.0];
/// Draws of a path that the latent SDE is judged by.
const DRAWS: usize = 50;
/// With fewer validation series nothing is said about the latent SDE: its best epoch was chosen on them, too.
const FEWEST: usize = 30;
/// Standard errors of the difference by which a mixture must be better than the classifier alone.
const ERRORS: f64 = 2.0;

impl FitConfig {
    /// How classes of series are learnt in closed form.
    pub(super) fn classifier(&self) -> ClassifierConfig {
        ClassifierConfig { seed: self.training.seed, ..ClassifierConfig::default() }
    }
}

impl Model {
    /// A classifier of the labelled series for training and validation, with the share of the answer that it earns on
    /// the latter when it has not seen them; `None` where nothing is labelled.
    pub(super) fn learn_series(
        &self,
        data: &Dataset,
        origins: &[f64],
        split: &Split,
        config: ClassifierConfig,
    ) -> Result<Option<SeriesClassifier>, EstimatorError> {
        let about = &self.description.data;
        let all = data.series();
        let classes = about.classes.len();
        let channels = data.observation().len();
        let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
        let labelled = |numbers: &[usize]| -> (Vec<usize>, Vec<usize>) {
            let known = |&number: &usize| Some((number, class_of(&all[number])? as usize));
            numbers.iter().filter_map(known).filter(|(_, class)| *class < classes).unzip()
        };
        let fit = |numbers: &[usize], truths: &[usize]| {
            let series: Vec<&Series> = numbers.iter().map(|&number| &all[number]).collect();
            config.fit(&series, truths, classes, channels, &statics)
        };
        let (train, truths) = labelled(&split.train);
        let (validation, validation_truths) = labelled(&split.validation);
        if train.is_empty() {
            return Ok(None);
        }
        let mut choice = Choice::default();
        if validation.len() >= FEWEST {
            let classifier = fit(&train, &truths);
            let series: Vec<&Series> = validation.iter().map(|&number| &all[number]).collect();
            let origins = validation.iter().map(|&number| origins[number]).collect();
            let held = Dataset::new(data.observation(), series.iter().map(|&s| s.clone()).collect())?;
            let draws = PredictOptions { draws: DRAWS, ..PredictOptions::default() };
            let held = Prepared::new(held, origins);
            let streams = held.streams(&(0..validation.len()).collect::<Vec<_>>());
            let of_model = self.latent_probabilities(&held, &streams, &draws)?;
            let of_model: Vec<Vec<f64>> = of_model.into_iter().flatten().collect();
            choice = choose(&classifier.all_probabilities(&series), &of_model, &validation_truths);
        }
        let both = [train, validation].concat();
        let truths = [truths, validation_truths].concat();
        Ok(Some(fit(&both, &truths).with_choice(choice)))
    }
}

/// The share of the classifier with the least log loss. The classifier alone answers unless a mixture is better by more
/// than two standard errors of the difference: a handful of series proves little.
fn choose(classifier: &[Vec<f64>], model: &[Vec<f64>], truths: &[usize]) -> Choice {
    let losses = |share: f64| -> Vec<f64> {
        let rows = classifier.iter().zip(model).zip(truths);
        rows.map(|((a, b), &truth)| log_loss(&mixed(a, b, share), truth).unwrap_or(0.0)).collect()
    };
    let count = truths.len() as f64;
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / count;
    let alone = losses(1.0);
    let mut best = (1.0, mean(&alone));
    for share in SHARES {
        let losses = losses(share);
        let gains: Vec<f64> = alone.iter().zip(&losses).map(|(a, b)| a - b).collect();
        let gain = mean(&gains);
        let variance = gains.iter().map(|x| (x - gain).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        if gain > ERRORS * (variance / count).sqrt() && mean(&losses) < best.1 {
            best = (share, mean(&losses));
        }
    }
    Choice {
        share: best.0,
        series: truths.len(),
        classifier_log_loss: mean(&alone),
        model_log_loss: mean(&losses(0.0)),
    }
}

/// Probabilities of a classifier and of a model, the first with a share.
pub(super) fn mixed(classifier: &[f64], model: &[f64], share: f64) -> Vec<f64> {
    classifier.iter().zip(model).map(|(a, b)| share * a + (1.0 - share) * b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_one_answers() {
        let truths: Vec<usize> = (0..40).map(|i| i % 2).collect();
        let sure = |right: f64| -> Vec<Vec<f64>> {
            truths
                .iter()
                .map(|&t| if t == 0 { vec![right, 1.0 - right] } else { vec![1.0 - right, right] })
                .collect()
        };
        assert_eq!(choose(&sure(0.9), &sure(0.5), &truths).share, 1.0);
        assert_eq!(choose(&sure(0.5), &sure(0.9), &truths).share, 0.0);
        // Both are right about half of the series, each about another: a mixture is never far off.
        let halves = |first: bool| -> Vec<Vec<f64>> {
            let row = |(i, &t): (usize, &usize)| {
                let right = if (i < 20) == first { 0.95 } else { 0.05 };
                if t == 0 { vec![right, 1.0 - right] } else { vec![1.0 - right, right] }
            };
            truths.iter().enumerate().map(row).collect()
        };
        assert_eq!(choose(&halves(true), &halves(false), &truths).share, 0.5);
        // Better by chance only.
        let mut lucky = sure(0.8);
        lucky[0] = vec![0.99, 0.01];
        assert_eq!(choose(&sure(0.8), &lucky, &truths).share, 1.0);
    }
}
