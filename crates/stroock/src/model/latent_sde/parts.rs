//! What stands around the process of a latent model: encoder, decoder, likelihood and task.

use super::{DecoderConfig, EncoderConfig, LatentSde, StandardDecoder, StandardEncoder};
use crate::initial::InitialWeights;
use crate::likelihood::LikelihoodKind;
use crate::model::ModelConfigError;
use crate::series::Observation;
use crate::task::TaskConfig;

/// Everything of a latent model but its process, for processes that read a representation of a series.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Parts<'a> {
    pub observation: Observation,
    pub encoder: &'a EncoderConfig,
    pub decoder: &'a DecoderConfig,
    pub likelihood: LikelihoodKind,
    pub task: Option<&'a TaskConfig>,
}

impl Parts<'_> {
    /// The model around the process that is made for representations of a width, with states of dimension `dim`.
    pub fn init<P>(
        &self,
        dim: usize,
        process: impl FnOnce(usize, &mut InitialWeights) -> P,
        weights: &mut InitialWeights,
    ) -> Result<LatentSde<StandardEncoder, StandardDecoder, P>, ModelConfigError> {
        let observed = self.observation.len();
        let (encoder, width) = self.encoder.init(self.observation, weights)?;
        let decoder = self.decoder.init(dim, self.likelihood.outputs(observed), weights)?;
        let likelihood = self.likelihood.init(observed, weights.device());
        let process = process(width, weights);
        let task = self.task.map(|task| task.init(dim, weights));
        Ok(LatentSde { encoder, process, decoder, likelihood, task })
    }
}
