//! How well values that are held out are predicted, and how well their intervals hold.

use serde::{Deserialize, Serialize};

use super::predictions::{PredictOptions, Wanted, chunks};
use super::{EstimatorError, Model, Prepared};
use crate::score::{ClassScores, ClassSums, HeldOutScores, HoldOut, Scores, held_times, withhold};
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
}

impl Default for EvaluateOptions {
    /// Runs of six: single values between neighbours hardly need a model.
    fn default() -> Self {
        Self { hold_out: HoldOut::Blocks { share: 0.2, length: 6 }, draws: 100, seed: 1 }
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
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Model {
    /// Holds values of the given series out (of all series, if none are given), and compares them with the
    /// predictions, with lines between their neighbours (or the last value, where the tail is held out) and with the
    /// mean of the training data.
    ///
    /// # Errors
    /// When there is nothing to hold out.
    pub fn evaluate(
        &self,
        prepared: &Prepared,
        numbers: Option<&[usize]>,
        options: &EvaluateOptions,
    ) -> Result<Evaluation, EstimatorError> {
        let all: Vec<usize> = (0..prepared.data.series().len()).collect();
        let numbers = numbers.unwrap_or(&all);
        let about = &self.description.data;
        let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
        let data = withhold(prepared.data.clone(), numbers, options.hold_out, &statics, options.seed)?;
        let held = Prepared { data, ..prepared.clone() };
        let channels = held.data.observation().len();
        let mut sums = HeldOutScores::new(&about.scaler, channels, options.hold_out);
        let wanted = numbers.iter().map(|&number| {
            let times = held_times(&held.data.series()[number], channels);
            Wanted { number, times, ..Wanted::default() }
        });
        let wanted: Vec<Wanted> = wanted.filter(|wanted| !wanted.times.is_empty()).collect();
        let draws = PredictOptions { draws: options.draws, seed: options.seed, ..PredictOptions::default() };
        for wanted in chunks(&held, &wanted, options.draws) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let drawn = self.predictor().posterior(&held.data, &numbers, &times, draws.path_draws())?;
            for (wanted, drawn) in wanted.iter().zip(&drawn) {
                sums.add(&held.data.series()[wanted.number], drawn);
            }
        }
        let overall = sums.overall.finish().ok_or(EstimatorError::NothingToHoldOut)?;
        let variables = about.variables.iter().zip(&sums.variables).filter_map(|(variable, sums)| {
            Some(VariableEvaluation { name: variable.name.clone(), scores: sums.finish()? })
        });
        Ok(Evaluation {
            options: *options,
            series: numbers.len(),
            overall,
            variables: variables.collect(),
            classes: self.evaluate_classes(prepared, numbers, &draws)?,
            warnings: prepared.warnings.clone(),
        })
    }

    /// Scores of classes, where the model predicts them and the series have them. Nothing is held out for these.
    fn evaluate_classes(
        &self,
        prepared: &Prepared,
        numbers: &[usize],
        draws: &PredictOptions,
    ) -> Result<Option<ClassEvaluation>, EstimatorError> {
        let classes = &self.description.data.classes;
        if classes.is_empty() {
            return Ok(None);
        }
        let chosen = numbers.iter().map(|&number| prepared.data.series()[number].clone()).collect();
        let origins = numbers.iter().map(|&number| prepared.origins[number]).collect();
        let chosen = Prepared::new(Dataset::new(prepared.data.observation(), chosen)?, origins);
        let mut sums = ClassSums::new(classes.len());
        let probabilities = self.class_probabilities(&chosen, draws)?;
        for (series, rows) in chosen.data.series().iter().zip(&probabilities) {
            let truths: Vec<Option<u32>> = match &series.labels {
                Labels::Class(class) => vec![Some(*class)],
                Labels::ClassPerTime(classes) => classes.clone(),
                Labels::None | Labels::RealPerTime { .. } => Vec::new(),
            };
            for (truth, row) in truths.iter().zip(rows) {
                if let Some(truth) = truth.filter(|truth| (*truth as usize) < classes.len()) {
                    sums.add(truth as usize, row)?;
                }
            }
        }
        Ok(sums.finish().map(|scores| ClassEvaluation { classes: classes.clone(), scores }))
    }
}
