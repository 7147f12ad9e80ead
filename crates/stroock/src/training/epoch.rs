//! Means of the parts of the loss over an epoch.

use burn::tensor::Tensor;

use crate::entries::entries;
use crate::model::Bound;

/// Means over the series of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpochMeans {
    /// Weighted loss per observed entry.
    pub loss: f64,
    /// Divergence of the start point.
    pub kl_start: f64,
    /// Divergence of the path.
    pub kl_path: f64,
    /// Negative log likelihood.
    pub negative_log_likelihood: f64,
    /// Loss of the task, where there is one.
    pub task: Option<f64>,
    series: f64,
}

impl EpochMeans {
    /// Takes in a batch with the given loss of each series.
    pub fn add(&mut self, losses: &[f32], bound: &Bound) {
        let count = losses.len() as f64;
        self.series += count;
        let mean = |mean: &mut f64, sum: f64| *mean += (sum - count * *mean) / self.series;
        mean(&mut self.loss, losses.iter().map(|&x| f64::from(x)).sum());
        mean(&mut self.kl_start, sum(&bound.parts.kl_start));
        mean(&mut self.kl_path, sum(&bound.parts.kl_path));
        mean(&mut self.negative_log_likelihood, sum(&bound.parts.negative_log_likelihood));
        if let Some(task) = &bound.parts.task {
            mean(self.task.get_or_insert(0.0), sum(task));
        }
    }
}

fn sum(tensor: &Tensor<1>) -> f64 {
    entries(tensor.clone()).into_iter().map(f64::from).sum()
}
