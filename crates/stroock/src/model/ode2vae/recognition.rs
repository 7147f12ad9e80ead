//! From what is seen of a series to the distribution of its start point.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;

use crate::batch::{Batch, EncoderInput, Targets, target_points};
use crate::encoder::{Encoder, EncoderError};
use crate::initial::InitialWeights;
use crate::latent::NormalStart;
use crate::model::ModelConfigError;
use crate::model::latent_sde::{EncoderConfig, StandardEncoder};
use crate::series::Observation;

/// Two encoders, of the velocity and of the position, each with linear maps to means and logarithms of variances.
#[derive(Module, Debug)]
pub struct Recognition {
    /// What is seen to the velocity.
    pub velocity: Head,
    /// What is seen to the position.
    pub position: Head,
}

/// An encoder and the distribution that it tells of.
#[derive(Module, Debug)]
pub struct Head {
    /// Series to representation.
    pub encoder: StandardEncoder,
    /// Representation to means.
    pub mean: Linear,
    /// Representation to logarithms of variances.
    pub ln_variance: Linear,
}

impl Recognition {
    pub(super) fn new(
        config: &EncoderConfig,
        observation: Observation,
        q: usize,
        weights: &mut InitialWeights,
    ) -> Result<Self, ModelConfigError> {
        let mut head = || Head::new(config, observation, q, weights);
        Ok(Self { velocity: head()?, position: head()? })
    }

    /// The distributions of `(v, s)` of every series of an input.
    ///
    /// # Errors
    /// When the input does not fit the encoders.
    pub fn distributions(&self, input: &EncoderInput) -> Result<NormalStart, EncoderError> {
        let heads = [&self.velocity, &self.position].map(|head| head.distribution(input));
        let [(v, v_ln), (s, s_ln)] = match heads {
            [Ok(velocity), Ok(position)] => [velocity, position],
            [Err(error), _] | [_, Err(error)] => return Err(error),
        };
        let ln_scale = Tensor::cat(vec![v_ln, s_ln], 1).mul_scalar(0.5);
        Ok(NormalStart { mean: Tensor::cat(vec![v, s], 1), ln_scale })
    }

    /// The distributions of the start points of a batch, and of the states at every point of its targets, each taken for
    /// the first and only one that is seen of a series.
    ///
    /// # Errors
    /// When the batch does not fit the encoders.
    pub fn starts_and_points(&self, batch: &Batch) -> Result<[NormalStart; 2], EncoderError> {
        // One pass, so that layers that are normalised over the batch see both alike.
        let all = self.distributions(&with_targets(&batch.input, &batch.targets))?;
        let (series, points) = (batch.input.series(), batch.targets.points());
        let part = |first, count| NormalStart {
            mean: all.mean.clone().narrow(0, first, count),
            ln_scale: all.ln_scale.clone().narrow(0, first, count),
        };
        Ok([part(0, series), part(series, points)])
    }
}

impl Head {
    pub(in crate::model) fn new(
        config: &EncoderConfig,
        observation: Observation,
        dim: usize,
        weights: &mut InitialWeights,
    ) -> Result<Self, ModelConfigError> {
        let (encoder, width) = config.init(observation, weights)?;
        Ok(Self { encoder, mean: weights.linear(width, dim), ln_variance: weights.linear(width, dim) })
    }

    /// Means and logarithms of variances of every series of an input.
    ///
    /// # Errors
    /// When the input does not fit the encoder.
    pub fn distribution(&self, input: &EncoderInput) -> Result<(Tensor<2>, Tensor<2>), EncoderError> {
        let h = self.encoder.encode(input)?;
        Ok((self.mean.forward(h.clone()), self.ln_variance.forward(h)))
    }
}

/// The series of an input and, behind them, every point of the targets as a series of its own, at time 0.
fn with_targets(input: &EncoderInput, targets: &Targets) -> EncoderInput {
    let mut series = input.collected(&input.point_offsets);
    series.extend(target_points(targets));
    EncoderInput::new(input.observation, &series)
}
