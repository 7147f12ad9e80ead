//! Sizes that a model can have.

use super::parts::Parts;
use super::{DecoderConfig, EncoderConfig, LatentSdeConfig};
use crate::encoder::TimeAttentionConfig;
use crate::image::ImageNetworkConfig;
use crate::likelihood::LikelihoodKind;
use crate::model::ModelConfigError;
use crate::task::TaskConfig;

/// Largest extent of anything.
const LARGEST: usize = 1 << 20;
/// Most parameters of one map: a gigabyte of them.
const MOST_PARAMETERS: usize = 1 << 28;
/// Most reference points: they are no parameters, and every series has a state at each.
const MOST_REFERENCE_POINTS: usize = 1 << 14;

impl LatentSdeConfig {
    /// Checks every size.
    pub(super) fn check_sizes(&self) -> Result<(), ModelConfigError> {
        self.latent.check()?;
        size("latent.dim", self.latent.dim, 2)?;
        let heads = [self.latent.dim, self.latent.dim, self.latent.terms()];
        parameters("latent.dim", &heads)?;
        let width = self.parts().check(self.latent.dim)?;
        if !matches!(self.encoder, EncoderConfig::FirstFrame(_)) {
            parameters("latent.dim", &[width, self.latent.drift_len(), self.latent.terms()])?;
        }
        Ok(())
    }
}

impl Parts<'_> {
    /// Checks every size around a process of states of dimension `dim`. The width of the representation, or a bound of it.
    pub(in crate::model) fn check(&self, dim: usize) -> Result<usize, ModelConfigError> {
        let observed = size("observation", self.observation.len(), 1)?;
        let width = match self.encoder {
            EncoderConfig::TimeAttention(config) => attention(config, observed)?,
            EncoderConfig::Frames(config) => {
                network("encoder.network", &config.network)?;
                size("encoder.features", config.features, 1)?;
                attention(&config.attention, config.features)?
            }
            EncoderConfig::FirstFrame(config) => {
                network("encoder.network", &config.network)?;
                LARGEST.min(observed * 64)
            }
            EncoderConfig::LearnedEmbedding { width } => size("encoder.width", *width, 1)?,
        };
        if let LikelihoodKind::Categorical { classes } = self.likelihood {
            size("likelihood.classes", classes, 1)?;
        }
        decoder(self.decoder, dim, self.likelihood.outputs(observed))?;
        task(self.task)?;
        Ok(width)
    }
}

/// Checks the sizes of a network from `inputs` to `outputs` numbers with these widths between them.
pub(in crate::model) fn layers(
    key: &'static str,
    inputs: usize,
    hidden: &[usize],
    outputs: usize,
) -> Result<(), ModelConfigError> {
    hidden.iter().try_for_each(|&width| size(key, width, 1).map(|_| ()))?;
    let widths = [&[inputs], hidden, &[outputs]].concat();
    widths.windows(2).try_for_each(|pair| parameters(key, pair))
}

/// Checks the sizes of a decoder of states of dimension `dim`.
pub(in crate::model) fn decoder(
    config: &DecoderConfig,
    dim: usize,
    outputs: usize,
) -> Result<(), ModelConfigError> {
    match config {
        DecoderConfig::Mlp(config) => {
            let widths = [&[dim], &config.hidden[..], &[outputs]].concat();
            for pair in widths.windows(2) {
                size("decoder.hidden", pair[1], 1)?;
                parameters("decoder.hidden", pair)?;
            }
        }
        DecoderConfig::Image(config) => {
            network("decoder.network", &config.network)?;
            let first = config.first;
            for extent in [first.channels, first.height, first.width] {
                size("decoder.first", extent, 1)?;
            }
            parameters("decoder.first", &[dim, first.channels, first.height, first.width])?;
        }
    }
    Ok(())
}

/// Checks the sizes of a task.
pub(in crate::model) fn task(task: Option<&TaskConfig>) -> Result<(), ModelConfigError> {
    let Some(task) = task else { return Ok(()) };
    size("task.output", task.output.outputs(), 1)?;
    let widths = [&task.network.hidden[..], &[task.output.outputs()]].concat();
    widths.iter().try_for_each(|&width| size("task.network.hidden", width, 1).map(|_| ()))?;
    widths.windows(2).try_for_each(|pair| parameters("task.network.hidden", pair))
}

fn attention(config: &TimeAttentionConfig, channels: usize) -> Result<usize, ModelConfigError> {
    size("encoder.embedding", config.embedding, 2)?;
    if !(1..=MOST_REFERENCE_POINTS).contains(&config.reference_points) {
        let (key, size) = ("encoder.reference_points", config.reference_points);
        return Err(ModelConfigError::Size { key, size, least: 1, most: MOST_REFERENCE_POINTS });
    }
    let views = 1 + size("encoder.local_heads", config.local_heads, 0)?;
    parameters("encoder.embedding", &[config.embedding, config.embedding])?;
    parameters("encoder.hidden", &[config.hidden, channels, views])?;
    parameters("encoder.hidden", &[3, config.hidden, config.hidden])?;
    size("encoder.hidden", config.hidden, 1)
}

pub(in crate::model) fn network(
    key: &'static str,
    config: &ImageNetworkConfig,
) -> Result<(), ModelConfigError> {
    let mut channels = 1;
    for layer in &config.layers {
        let convolution = layer.convolution;
        size(key, convolution.channels, 1)?;
        size(key, convolution.kernel, 1)?;
        size(key, convolution.stride, 1)?;
        size(key, convolution.padding, 0)?;
        size(key, convolution.output_padding, 0)?;
        parameters(key, &[channels, convolution.channels, convolution.kernel, convolution.kernel])?;
        channels = convolution.channels;
    }
    Ok(())
}

pub(in crate::model) fn size(
    key: &'static str,
    size: usize,
    least: usize,
) -> Result<usize, ModelConfigError> {
    match (least..=LARGEST).contains(&size) {
        true => Ok(size),
        false => Err(ModelConfigError::Size { key, size, least, most: LARGEST }),
    }
}

pub(in crate::model) fn parameters(key: &'static str, extents: &[usize]) -> Result<(), ModelConfigError> {
    let product = extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    match product {
        Some(product) if product <= MOST_PARAMETERS => Ok(()),
        _ => Err(ModelConfigError::Parameters { key, most: MOST_PARAMETERS }),
    }
}
