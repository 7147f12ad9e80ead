//! The metric of a model on some of the series.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use stroock::batch::{Batch, Batcher};
use stroock::entries::entries;
use stroock::model::{ModelError, OutputParts, PathDraws, SeriesModel};
use stroock::score::{hits, squared_errors};
use stroock::series::Dataset;
use stroock::task::label_targets;
use stroock::training::{Scores, TrainingError, Validation, World};
use stroock_kernels::noise::NoiseKey;

use crate::protocol::{Metric, Over};

/// A metric and how much it is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The exact mean over entries, of whatever batch they were in.
    pub value: f64,
    /// Entries.
    pub entries: usize,
}

/// Scores models on some series of a data set.
///
/// Predictions are means over the draws. Random inputs are drawn by the key, the same for every model.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator<'a> {
    /// What is reported.
    pub metric: Metric,
    /// All series.
    pub data: &'a Dataset,
    /// Those that count.
    pub numbers: &'a [usize],
    /// How they become batches.
    pub batcher: Batcher,
    /// Series at a time.
    pub batch_size: usize,
    /// Seed and epoch of inputs and paths.
    pub key: NoiseKey,
    /// Paths a series.
    pub samples: usize,
}

impl Evaluator<'_> {
    /// The metric of a model that is ready for inference, its batches shared out among the processes of a world; all of
    /// them get the same.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn evaluate(&self, world: &dyn World, model: &impl SeriesModel) -> Result<Evaluation, TrainingError> {
        let batches: Vec<&[usize]> = self.numbers.chunks(self.batch_size.max(1)).collect();
        let of_batch = |index: usize| -> Result<Vec<f64>, TrainingError> {
            let batch = self.batcher.assemble(self.data, batches[index], self.key)?;
            let (part, count) = self.of_batch(model, &batch).map_err(|source| TrainingError::Model {
                epoch: 0,
                batch: index + 1,
                source,
            })?;
            Ok(vec![part, count as f64])
        };
        let (mut sum, mut entries) = (0.0, 0);
        for part in world.map_in_shares(batches.len(), of_batch)? {
            sum += part[0];
            entries += part[1] as usize;
        }
        Ok(Evaluation { value: sum / entries.max(1) as f64, entries })
    }

    /// The sum over the entries of a batch, and their number.
    fn of_batch(&self, model: &impl SeriesModel, batch: &Batch) -> Result<(f64, usize), ModelError> {
        let draws = PathDraws { key: self.key, samples: self.samples, first_sample: 0 };
        let parts = match self.metric {
            Metric::SquaredError { .. } => OutputParts::OBSERVATIONS,
            Metric::TaskSquaredError | Metric::Accuracy => OutputParts::TASK,
        };
        let outputs = model.outputs(batch, draws, parts)?;
        Ok(match (self.metric, outputs.mean, outputs.task) {
            (Metric::SquaredError { over }, Some(mean), _) => {
                let counted = self.counted(over, batch);
                squared_errors(&mean_of_draws(mean), &batch.targets, |point| counted[point])
            }
            (Metric::TaskSquaredError, _, Some((kind, prediction))) => {
                squared_errors(&mean_of_draws(prediction), &label_targets(kind, batch)?, |_| true)
            }
            (Metric::Accuracy, _, Some((kind, logits))) => {
                // Probabilities, not logits, are what can be averaged.
                let probabilities = mean_of_draws(burn::tensor::activation::softmax(logits, 2));
                hits(&probabilities, &label_targets(kind, batch)?, kind.outputs())
            }
            // The model does not say what the metric is about.
            _ => (f64::NAN, 1),
        })
    }

    /// Which points of a batch count.
    fn counted(&self, over: Over, batch: &Batch) -> Vec<bool> {
        match over {
            Over::All => vec![true; batch.seen.len()],
            Over::Unseen if batch.seen.iter().all(|&seen| seen) => vec![true; batch.seen.len()],
            Over::Unseen => batch.seen.iter().map(|seen| !seen).collect(),
            Over::Time { time } => {
                let index = self.batcher.grid_index(time);
                batch.requests.indices.iter().map(|&at| Some(at) == index).collect()
            }
        }
    }
}

fn mean_of_draws(output: Tensor<3>) -> Vec<f32> {
    entries(output.mean_dim(0))
}

impl<M: SeriesModel> Validation<M> for Evaluator<'_> {
    fn score(&self, model: &M, _: u64, world: &dyn World) -> Result<Option<Scores>, TrainingError> {
        if self.numbers.is_empty() {
            return Ok(None);
        }
        let value = self.evaluate(world, model)?.value;
        let selection = if self.metric.is_gain() { -value } else { value };
        Ok(Some(Scores { selection, metrics: vec![(format!("validation_{}", self.metric.name()), value)] }))
    }
}
