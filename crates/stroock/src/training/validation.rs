//! How models are compared at the end of an epoch.

use stroock_kernels::noise::{NoiseKey, Stage};

use super::epoch::{EpochMeans, SeriesLosses};
use super::{Alone, Trainer, TrainingError, World};
use crate::model::{PathDraws, SeriesModel};

/// What a validation has found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// What the best model has least of.
    pub selection: f64,
    /// Everything that goes into the metrics, by name.
    pub metrics: Vec<(String, f64)>,
}

/// How models are compared at the end of an epoch.
pub trait Validation<M> {
    /// Scores a model that is ready for inference; `None` where there is nothing to compare by, and the training
    /// loss decides. All processes of the world ask, and must get the same scores.
    ///
    /// # Errors
    /// When the validation series do not fit the model.
    fn score(&self, model: &M, epoch: u64, world: &dyn World) -> Result<Option<Scores>, TrainingError>;
}

pub(super) struct ValidationLoss<'a, 'b>(pub &'a Trainer<'b>);

impl<M: SeriesModel> Validation<M> for ValidationLoss<'_, '_> {
    fn score(&self, model: &M, epoch: u64, world: &dyn World) -> Result<Option<Scores>, TrainingError> {
        Ok(self.0.validate_over(world, model, epoch)?.map(|means| {
            let parts = [("loss", means.loss)].into_iter().chain(means.parts);
            let metrics = parts.map(|(name, value)| (format!("validation_{name}"), value)).collect();
            Scores { selection: means.loss, metrics }
        }))
    }
}

impl Trainer<'_> {
    /// The parts of the loss over the validation series, with the same noise in every epoch and the task at its
    /// full weight; `None` where there are no such series.
    ///
    /// # Errors
    /// When a batch does not fit the model.
    pub fn validate(
        &self,
        model: &impl SeriesModel,
        epoch: u64,
    ) -> Result<Option<EpochMeans>, TrainingError> {
        self.validate_over(&Alone, model, epoch)
    }

    /// [`validate`](Self::validate) with the batches shared out among the processes of a world.
    fn validate_over(
        &self,
        world: &dyn World,
        model: &impl SeriesModel,
        epoch: u64,
    ) -> Result<Option<EpochMeans>, TrainingError> {
        if self.split.validation.is_empty() {
            return Ok(None);
        }
        let key = NoiseKey::of(self.config.seed, Stage::Validation);
        let draws = PathDraws { key, samples: self.config.validation_samples, first_sample: 0 };
        let batches: Vec<&[usize]> = self.split.validation.chunks(self.config.batch_size).collect();
        let mut names = Vec::new();
        let of_batch = |index: usize| -> Result<Vec<f64>, TrainingError> {
            let batch = self.batcher.assemble(self.data, batches[index], key)?;
            let objective = model.objective(&batch, draws, self.config.weights);
            let place = (epoch, index + 1);
            let objective = objective.map_err(|source| self.refused(model, batches[index], place, source))?;
            let losses = SeriesLosses::of(&objective);
            self.check_finite(&losses.numbers[..batches[index].len()], batches[index], epoch, index + 1)?;
            names = losses.names;
            Ok(losses.numbers)
        };
        let all = world.map_in_shares(batches.len(), of_batch)?;
        let mut means = EpochMeans::default();
        for (numbers, batch) in all.into_iter().zip(batches) {
            means.add(&SeriesLosses { names: names.clone(), numbers }, batch.len());
        }
        Ok(Some(means))
    }
}
