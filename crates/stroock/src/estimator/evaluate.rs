//! How well values that are held out are predicted, and how well their intervals hold.

use serde::{Deserialize, Serialize};

use super::predictions::{PredictOptions, Wanted, chunks};
use super::{EstimatorError, Model, Prepared};
use crate::predict::Draws;
use crate::residual::Shape;
use crate::score::{
    ClassScores, ClassSums, HoldOut, Prediction, ScoreSums, Scores, VisibleSeries, gaussian_mixture_nll,
    withhold,
};
use crate::series::{Labels, Series};

/// Central intervals whose coverage is measured.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.9];

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
    /// Classes, where the model tells them and the table has them.
    pub classes: Option<ClassEvaluation>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Model {
    /// Holds values of the given series out (of all series, if none are given), and compares them with what the
    /// model says, with lines between their neighbours (or the last value, where the tail is held out) and with the
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
        let mut sums = Sums::new(self, options.hold_out);
        let wanted: Vec<Wanted> = numbers.iter().filter_map(|&number| held_entries(&held, number)).collect();
        let draws = PredictOptions { draws: options.draws, seed: options.seed, ..PredictOptions::default() };
        for wanted in chunks(&held, &wanted, options.draws) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let drawn = self.predictor().posterior(&held.data, &numbers, &times, draws.path_draws())?;
            for (wanted, drawn) in wanted.iter().zip(&drawn) {
                sums.add(&held.data.series()[wanted.number], wanted, drawn);
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

    /// Scores of classes, where the model tells them and the series have them. Nothing is held out for these.
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
        let chosen = Prepared {
            data: crate::series::Dataset::new(
                prepared.data.observation(),
                numbers.iter().map(|&number| prepared.data.series()[number].clone()).collect(),
            )?,
            origins: numbers.iter().map(|&number| prepared.origins[number]).collect(),
            warnings: Vec::new(),
        };
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
                    sums.add(truth as usize, row)
                        .map_err(|error| EstimatorError::Options(error.to_string()))?;
                }
            }
        }
        Ok(sums.finish().map(|scores| ClassEvaluation { classes: classes.clone(), scores }))
    }
}

/// The entries of a series that are held out.
fn held_entries(held: &Prepared, number: usize) -> Option<Wanted> {
    let (series, channels) = (&held.data.series()[number], held.data.observation().len());
    let mut wanted = Wanted { number, times: Vec::new(), entries: Vec::new() };
    for (i, &time) in series.times.iter().enumerate() {
        let is_held = |&channel: &usize| {
            series.is_observed(channels, i, channel) && !series.is_visible(channels, i, channel)
        };
        let (index, before) = (wanted.times.len(), wanted.entries.len());
        wanted.entries.extend((0..channels).filter(is_held).map(|channel| (index, channel)));
        if wanted.entries.len() > before {
            wanted.times.push(time);
        }
    }
    (!wanted.entries.is_empty()).then_some(wanted)
}

/// Sums over held-out values.
struct Sums<'a> {
    model: &'a Model,
    ahead: bool,
    overall: ScoreSums,
    variables: Vec<ScoreSums>,
}

impl<'a> Sums<'a> {
    fn new(model: &'a Model, hold_out: HoldOut) -> Self {
        let ahead = matches!(hold_out, HoldOut::Tail { .. });
        let neighbours = if ahead { "last value" } else { "straight lines" };
        let nominal: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
        let sums = ScoreSums::new(&LEVELS, &nominal, &[neighbours, "training mean"]);
        let variables = vec![sums.clone(); model.description.data.variables.len()];
        Self { model, ahead, overall: sums, variables }
    }

    fn add(&mut self, series: &Series, wanted: &Wanted, drawn: &Draws) {
        let scaler = &self.model.description.data.scaler;
        let (channels, row) = (drawn.channels, drawn.sds.len());
        let visible = VisibleSeries::new(series, channels);
        for &(index, channel) in &wanted.entries {
            let (time, place) = (wanted.times[index], index * channels + channel);
            let at = series.times.partition_point(|&other| other < time);
            let truth = f64::from(series.values[at * channels + channel]);
            let neighbours = match self.ahead {
                true => visible.carried_forward(time, channel),
                false => visible.linear(time, channel),
            };
            // In model units the mean of the training data is 0.
            let baselines = [neighbours.unwrap_or(0.0), 0.0];
            let to_model = |&value: &f32| scaler.to_model(channel, f64::from(value));
            let mut draws: Vec<f64> =
                drawn.observations.iter().skip(place).step_by(row).map(to_model).collect();
            draws.sort_by(f64::total_cmp);
            let means: Vec<f64> = drawn.means.iter().skip(place).step_by(row).map(to_model).collect();
            let scale = scaler.scale_of(channel).abs();
            let sd = f64::from(drawn.sds[place]) / scale;
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let nll = negative_log_density(&means, sd, drawn.shapes[channel], truth);
            self.overall.add(&Prediction { truth, mean, draws: &draws, nll, baselines: &baselines });
            let user = |value: f64| scaler.to_user(channel, value);
            let draws: Vec<f64> = draws.into_iter().map(user).collect();
            let baselines = baselines.map(user);
            self.variables[channel].add(&Prediction {
                truth: user(truth),
                mean: user(mean),
                draws: &draws,
                nll: nll.map(|nll| nll + scale.ln()),
                baselines: &baselines,
            });
        }
    }
}

/// `-ln p(truth)` under a mixture over draws and over the two processes of a shape; `None` where there is no density.
fn negative_log_density(means: &[f64], sd: f64, shape: Shape, truth: f64) -> Option<f64> {
    let logs = shape
        .components()
        .map(|(share, factor)| share.ln() - gaussian_mixture_nll(means, &[factor * sd], truth));
    let largest = f64::max(logs[0], logs[1]);
    let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    let nll = -(largest + sum.ln());
    nll.is_finite().then_some(nll)
}
