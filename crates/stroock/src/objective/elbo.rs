//! The weighted evidence lower bound of a batch.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Weights of the parts of the objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ElboWeights {
    /// Of the divergence of the start point.
    pub kl_start: f64,
    /// Of the divergence of the path (with the factor 1/2 of the paper).
    pub kl_path: f64,
    /// Of the negative log likelihood.
    pub likelihood: f64,
    /// Of the loss of the task.
    pub task: f64,
    /// Epochs `R` over which the weight of the task grows as `(epoch / R)^2`; 0 has it whole from the start.
    pub task_ramp: u64,
    /// Epochs without divergences: from then on, their weights grow as `1 - kl_memory^(epoch - kl_wait)`.
    pub kl_wait: u64,
    /// How slowly they grow, in `[0, 1)`; 0 has them whole at once.
    pub kl_memory: f64,
}

impl Default for ElboWeights {
    fn default() -> Self {
        Self {
            kl_start: 1.0,
            kl_path: 1.0,
            likelihood: 1.0,
            task: 1.0,
            task_ramp: 0,
            kl_wait: 0,
            kl_memory: 0.0,
        }
    }
}

impl ElboWeights {
    /// The loss of the task and nothing else.
    pub fn task_alone() -> Self {
        Self { kl_start: 0.0, kl_path: 0.0, likelihood: 0.0, ..Self::default() }
    }

    /// The weights of an epoch, counted from 1, with the weights of task and divergences as they are then.
    ///
    /// ```
    /// use stroock::objective::ElboWeights;
    /// let weights = ElboWeights { task: 10.0, task_ramp: 60, ..ElboWeights::default() };
    /// assert_eq!(weights.at(30).task, 2.5);
    /// assert_eq!(weights.at(61).task, 10.0);
    /// let weights = ElboWeights { kl_wait: 10, kl_memory: 0.5, ..ElboWeights::default() };
    /// assert_eq!([9, 10, 11, 12].map(|epoch| weights.at(epoch).kl_start), [0.0, 0.0, 0.5, 0.75]);
    /// ```
    pub fn at(self, epoch: u64) -> Self {
        let ramp = if epoch >= self.task_ramp { 1.0 } else { epoch as f64 / self.task_ramp as f64 };
        let grown = match epoch.saturating_sub(self.kl_wait) {
            0 if self.kl_wait == 0 => 1.0,
            since => 1.0 - self.kl_memory.clamp(0.0, 1.0).powf(since as f64),
        };
        let (kl_start, kl_path) = (grown * self.kl_start, grown * self.kl_path);
        Self { task: self.task * ramp * ramp, kl_start, kl_path, ..self }
    }
}

/// The parts of the bound for each series, `[B]` each, divergences and likelihood averaged over samples.
#[derive(Clone, Debug)]
pub struct ElboParts {
    /// `KL(start || prior start)`.
    pub kl_start: Tensor<1>,
    /// `KL(path || prior path)`.
    pub kl_path: Tensor<1>,
    /// `-E ln p(x | z)`.
    pub negative_log_likelihood: Tensor<1>,
    /// Loss of the task, where there is one.
    pub task: Option<Tensor<1>>,
}

/// The loss of a batch.
#[derive(Clone, Debug)]
pub struct Objective {
    /// What is minimised, for each series, `[B]`.
    pub losses: Tensor<1>,
    /// What it is made of, by name, `[B]` each: what the metrics of a run show.
    pub parts: Vec<(&'static str, Tensor<1>)>,
}

impl ElboParts {
    /// The parts by the names that they have in metrics.
    pub fn named(self) -> Vec<(&'static str, Tensor<1>)> {
        let parts = [
            ("kl_start", Some(self.kl_start)),
            ("kl_path", Some(self.kl_path)),
            ("negative_log_likelihood", Some(self.negative_log_likelihood)),
            ("task", self.task),
        ];
        parts.into_iter().filter_map(|(name, part)| Some((name, part?))).collect()
    }

    /// The loss of each series, `[w0 KL0 + wp KLp + wx NLL] / count + wt task`, with the numbers `counts` (`[B]`) of
    /// observed entries, at least 1: a series without any has only its divergences.
    pub fn loss(&self, weights: ElboWeights, counts: Tensor<1>) -> Tensor<1> {
        let sum = self.kl_start.clone().mul_scalar(weights.kl_start)
            + self.kl_path.clone().mul_scalar(weights.kl_path)
            + self.negative_log_likelihood.clone().mul_scalar(weights.likelihood);
        let bound = sum / counts;
        match &self.task {
            Some(task) => bound + task.clone().mul_scalar(weights.task),
            None => bound,
        }
    }
}
