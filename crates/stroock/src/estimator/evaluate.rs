//! How well values that are held out are predicted, and how well their intervals hold.

use serde::{Deserialize, Serialize};

use super::bridge::Bridged;
use super::predictions::PredictOptions;
use super::wanted::{Gathered, chunks};
use super::{EstimatorError, EvaluationSums, Model, Prepared, SamplesEvaluation};
use crate::classifier::Choice;
use crate::score::{ClassScores, ClassSums, HeldOutScores, HoldOut, Scores, held_times, withhold_of};
use crate::series::{Dataset, Labels};

/// How a model is tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluateOptions {
    /// What is held out.
    pub hold_out: HoldOut,
    /// Draws that means and intervals are taken over.
    pub draws: usize,
    /// Seed of what is held out, and of the draws.
    pub seed: u64,
    /// Times that forecasts begin at, where the tail is held out; the last one leaves the whole tail.
    #[serde(default = "one")]
    pub origins: usize,
}

fn one() -> usize {
    1
}

impl Default for EvaluateOptions {
    /// Runs of six: single values between neighbours hardly need a model.
    fn default() -> Self {
        Self { hold_out: HoldOut::Blocks { share: 0.2, length: 6 }, draws: 100, seed: 1, origins: 1 }
    }
}

/// What was found out about one variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariableEvaluation {
    /// Its name.
    pub name: String,
    /// Scores in its own unit.
    pub scores: Scores,
}

/// What was found out about classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassEvaluation {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Scores.
    pub scores: ClassScores,
    /// How well the classifier did on labelled series that were left out one by one, and its share of the answer;
    /// `None` where the latent SDE answers alone.
    #[serde(default)]
    pub left_out: Option<LeftOut>,
}

/// What is known about a classifier from the series that it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Labelled series.
    pub series: usize,
    /// Share of right classes, each series left out in turn.
    pub accuracy: f64,
    /// Mean log loss of the same.
    pub log_loss: f64,
    /// How much of the answer is the classifier's.
    pub choice: Choice,
}

/// What was found out about a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// How it was found out.
    pub options: EvaluateOptions,
    /// Series that were tested on.
    pub series: usize,
    /// All variables together, each divided by its standard deviation in the training data.
    pub overall: Scores,
    /// Each variable in its own unit; those without a held-out value are left out.
    pub variables: Vec<VariableEvaluation>,
    /// Classes, where the model predicts them and the table has them.
    pub classes: Option<ClassEvaluation>,
    /// Sampled series beside observed ones, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesEvaluation>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Model {
    /// Holds values of the given series out (of all series, if none are given), and compares them with the
    /// predictions, with lines between their neighbours (or the last value, where the tail is held out) and with the
    /// mean of the training data.
    ///
    /// What is held out of a series, and the noise of its predictions, depends on its name where all series are tested
    /// on, and on its number where some are.
    ///
    /// # Errors
    /// When there is nothing to hold out.
    pub fn evaluate(
        &self,
        prepared: &Prepared,
        numbers: Option<&[usize]>,
        options: &EvaluateOptions,
    ) -> Result<Evaluation, EstimatorError> {
        self.evaluation(&self.evaluation_sums(prepared, numbers, options)?)
    }

    /// The sums that [`evaluate`](Self::evaluate) makes its scores of.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn evaluation_sums(
        &self,
        prepared: &Prepared,
        numbers: Option<&[usize]>,
        options: &EvaluateOptions,
    ) -> Result<EvaluationSums, EstimatorError> {
        let all: Vec<usize> = (0..prepared.data.series().len()).collect();
        let (numbers, is_whole) = (numbers.unwrap_or(&all), numbers.is_none());
        let about = &self.description.data;
        let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
        let streams = prepared.test_streams(numbers, is_whole);
        let streams: Vec<(usize, u32)> = numbers.iter().copied().zip(streams).collect();
        let data = withhold_of(prepared.data.clone(), &streams, options.hold_out, &statics, options.seed)?;
        // The next window would know the future.
        let ahead = matches!(options.hold_out, HoldOut::Tail { .. });
        let bridges = if ahead { None } else { self.bridges()? };
        let bridged = Bridged::new(bridges, Prepared { data, ..prepared.clone() })?;
        let held = &bridged.prepared;
        let channels = held.data.observation().len();
        let mut sums = HeldOutScores::new(&about.scaler, channels, options.hold_out).raised(&about.variables);
        let mut gathered = Gathered::default();
        for &number in numbers {
            for time in held_times(&held.data.series()[number], channels) {
                gathered.add(bridged.answering(number, time), held.origins[number] + time, 0..channels);
            }
        }
        let wanted = gathered.finish();
        let draws = PredictOptions { draws: options.draws, seed: options.seed, ..PredictOptions::default() };
        for wanted in chunks(held, &wanted, options.draws) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let streams = held.test_streams(&numbers, is_whole);
            let paths = draws.path_draws();
            let drawn = self.predictor().posterior_of(&held.data, &numbers, &streams, &times, paths)?;
            for (wanted, drawn) in wanted.iter().zip(&drawn) {
                sums.add(&held.data.series()[wanted.number], drawn);
            }
        }
        Ok(EvaluationSums {
            options: *options,
            series: numbers.len(),
            overall: sums.overall,
            variables: sums.variables,
            classes: self.class_sums(prepared, numbers, is_whole, &draws)?,
            warnings: prepared.warnings.clone(),
        })
    }

    /// The scores that follow from sums.
    ///
    /// # Errors
    /// When nothing was held out.
    pub fn evaluation(&self, sums: &EvaluationSums) -> Result<Evaluation, EstimatorError> {
        let about = &self.description.data;
        let overall = sums.overall.finish().ok_or(EstimatorError::NothingToHoldOut)?;
        let variables = about.variables.iter().zip(&sums.variables).filter_map(|(variable, sums)| {
            Some(VariableEvaluation { name: variable.name.clone(), scores: sums.finish()? })
        });
        let left_out = self.classifier.as_ref().map(|classifier| {
            let about = classifier.description();
            LeftOut {
                series: about.series,
                accuracy: about.accuracy,
                log_loss: about.log_loss,
                choice: about.choice,
            }
        });
        let scores = sums.classes.as_ref().and_then(ClassSums::finish);
        let classes =
            scores.map(|scores| ClassEvaluation { classes: about.classes.clone(), scores, left_out });
        Ok(Evaluation {
            options: sums.options,
            series: sums.series,
            overall,
            variables: variables.collect(),
            classes,
            samples: None,
            warnings: sums.warnings.clone(),
        })
    }

    /// Sums over classes, where the model predicts them and the series have them. Nothing is held out for these.
    fn class_sums(
        &self,
        prepared: &Prepared,
        numbers: &[usize],
        is_whole: bool,
        draws: &PredictOptions,
    ) -> Result<Option<ClassSums>, EstimatorError> {
        let classes = self.description.data.classes.len();
        if classes == 0 {
            return Ok(None);
        }
        let chosen = numbers.iter().map(|&number| prepared.data.series()[number].clone()).collect();
        let origins = numbers.iter().map(|&number| prepared.origins[number]).collect();
        let chosen = Prepared::new(Dataset::new(prepared.data.observation(), chosen)?, origins);
        let mut sums = ClassSums::new(classes);
        // By their places among those that are tested on, where these were chosen: published figures have them.
        let places: Vec<usize> = (0..chosen.data.series().len()).collect();
        let streams = chosen.test_streams(&places, is_whole);
        let probabilities = self.class_probabilities(&chosen, &streams, draws)?;
        for (series, rows) in chosen.data.series().iter().zip(&probabilities) {
            let truths: Vec<Option<u32>> = match &series.labels {
                Labels::Class(class) => vec![Some(*class)],
                Labels::ClassPerTime(classes) => classes.clone(),
                Labels::None | Labels::RealPerTime { .. } => Vec::new(),
            };
            for (truth, row) in truths.iter().zip(rows) {
                if let Some(truth) = truth.filter(|truth| (*truth as usize) < classes) {
                    sums.add(truth as usize, row)?;
                }
            }
        }
        Ok(Some(sums))
    }
}
