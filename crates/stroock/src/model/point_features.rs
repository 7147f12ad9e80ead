//! What models that read the points of a series one by one make of a point: its values, or features of a frame.

use burn::tensor::Tensor;

use super::ModelConfigError;
use super::latent_sde::{image_shape, network, size};
use crate::batch::EncoderInput;
use crate::encoder::{EncoderError, FrameFeatures, FrameFeaturesConfig, values_like};
use crate::initial::InitialWeights;
use crate::series::Observation;

/// Checks the sizes; the number of features of a point.
pub(super) fn check(
    observation: Observation,
    frames: Option<&FrameFeaturesConfig>,
) -> Result<usize, ModelConfigError> {
    let observed = size("observation", observation.len(), 1)?;
    match frames {
        Some(frames) => {
            network("frames.network", &frames.network)?;
            size("frames.features", frames.features, 1)
        }
        None => Ok(observed),
    }
}

/// The map from frames to features, where frames are observed.
pub(super) fn init(
    observation: Observation,
    frames: Option<&FrameFeaturesConfig>,
    encoder: &'static str,
    weights: &mut InitialWeights,
) -> Result<Option<FrameFeatures>, ModelConfigError> {
    match (frames, observation) {
        (Some(frames), observation) => {
            let frame = image_shape(observation, encoder)?;
            let layers = |source| ModelConfigError::Layers { part: "frames", source };
            frames.init(frame, weights).map(Some).map_err(layers)
        }
        (None, Observation::Vector { .. }) => Ok(None),
        (None, Observation::Image { .. }) => {
            Err(ModelConfigError::Encoder { encoder, reads: "vectors", found: "images" })
        }
    }
}

/// Features `[N, F]` of the points of an input, on the device and in the precision of a tensor.
pub(super) fn features<const D: usize>(
    frames: Option<&FrameFeatures>,
    input: &EncoderInput,
    like: &Tensor<D>,
) -> Result<Tensor<2>, EncoderError> {
    match frames {
        Some(frames) => frames.forward(input),
        None => Ok(values_like(input, like)),
    }
}
