//! The gradient of a batch that several processes compute together.

use stroock_kernels::noise::NoiseKey;

use super::buffers::Buffers;
use super::epoch::SeriesLosses;
use super::pairwise::PairwiseSum;
use super::world::{World, share};
use super::{Gradient, Trainer, TrainingError};
use crate::model::{PathDraws, SeriesModel};

/// What the series of a batch have to say about a model.
pub(super) struct BatchGradient<M> {
    /// The model, with the running moments that the batch leaves behind.
    pub model: M,
    /// Of every series of the batch.
    pub losses: SeriesLosses,
    /// Of the mean loss.
    pub gradient: Gradient,
}

impl Trainer<'_> {
    /// Cuts a batch into chunks, has every process compute its share of them, and adds up their gradients in an order that
    /// depends on the number of chunks alone. `epoch` and `batch` are counted from 1.
    pub(super) fn batch_gradient<M: SeriesModel>(
        &self,
        world: &dyn World,
        model: M,
        numbers: &[usize],
        key: NoiseKey,
        (epoch, batch): (u64, usize),
    ) -> Result<BatchGradient<M>, TrainingError> {
        let count = numbers.len();
        let chunks = self.config.chunks.clamp(1, count);
        let counts: Vec<usize> = (0..chunks).map(|chunk| share(count, chunks, chunk).len()).collect();
        // A batch that is not cut leaves its moments to the module.
        let before = if self.config.chunks > 1 { Buffers::of(&model) } else { Buffers::default() };
        let draws = PathDraws { key, samples: self.config.samples, first_sample: 0 };
        let weights = self.config.weights.at(epoch);
        let mut sum = PairwiseSum::new(chunks);
        let mut names = Vec::new();
        let of_chunk = |chunk: usize| -> Result<Vec<f64>, TrainingError> {
            if !before.is_empty() {
                before.put(model.clone());
            }
            let numbers = &numbers[share(count, chunks, chunk)];
            let part = self.batcher.assemble(self.data, numbers, key)?;
            let objective = model.objective(&part, draws, weights);
            let objective =
                objective.map_err(|source| self.refused(&model, numbers, (epoch, batch), source))?;
            let losses = SeriesLosses::of(&objective);
            names.clone_from(&losses.names);
            let gradients = objective.losses.sum().mul_scalar(1.0 / count as f64).backward();
            let mut vector = Gradient::of(&model, &gradients).into_vector();
            if !before.is_empty() {
                let weight = counts[chunk] as f32 / count as f32;
                vector.extend(before.change(&Buffers::of(&model), weight));
            }
            sum.push(chunk..chunk + 1, vector);
            Ok(losses.numbers)
        };
        let pieces = world.map_in_shares(chunks, of_chunk)?;
        let losses = SeriesLosses::joined(names, &pieces, &counts);
        let vector = sum.over(world, Gradient::length(&model) + before.length())?;
        let (gradient, changes) = Gradient::from_vector(&model, vector);
        let model = if before.is_empty() { model } else { before.put_sum(model, &changes) };
        Ok(BatchGradient { model, losses, gradient })
    }
}
