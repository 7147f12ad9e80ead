//! CRU: the continuous recurrent unit of Schirmer et al. (2022), a Kalman filter with banded drift matrices.
//!
//! Sizes, activations, batches of 50 and the clipping of PhysioNet are the published ones. It filters: an output
//! knows the inputs before it and none after, also where the experiment interpolates. Ours: 60 epochs with one cosine to
//! zero and averaged weights, as for the other rivals here (published: 100 epochs at a constant rate), from 4e-3 on the
//! pendulum, where 1e-3 is published (the validation error of the angle after 10 epochs is 4 and 18 thousandths); on PhysioNet
//! 1e-3 stays (4e-3 has a better likelihood and a worse squared error); single precision
//! (published: double); series without padding, so that the mean over the points of a series is that of its own points;
//! and 41 variables of PhysioNet, as the paper has them, of which its code has 37.

use stroock::decoder::ImageDecoderConfig;
use stroock::image::{Follow, ImageNetworkConfig};
use stroock::model::{
    CruConfig, CruDecoderConfig, CruEncoderConfig, CruLatent, CruLatentConfig, CruTaskConfig, DecoderConfig,
    EncoderConfig, LatentSdeConfig, LayersConfig, ModelConfig, NormalHeadConfig, VarianceKind,
};
use stroock::training::AdamConfig;

use super::{Entry, in_the_place_of_the_papers};
use crate::protocol::{Experiment, Options};

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    protocol(System { name: "CRU", pendulum_rate: 4e-3 }, experiment, options, |latent| latent)
}

/// What is not the same for both of them.
#[derive(Clone, Copy)]
pub(super) struct System {
    /// Its name in the tables of the paper.
    pub name: &'static str,
    /// Learning rate on the pendulum.
    pub pendulum_rate: f64,
}

/// Features of a frame, and units of the heads of the angle.
const FEATURES: usize = 30;
/// Units of the layers for vectors.
const UNITS: usize = 50;

pub(super) fn protocol<L: CruLatent>(
    system: System,
    experiment: Experiment,
    options: Options,
    latent: impl Fn(CruLatentConfig) -> L,
) -> Option<Entry>
where
    ModelConfig: From<CruConfig<L>>,
{
    let time_factor = match experiment {
        // Gaps in recorded steps.
        Experiment::PendulumAngle | Experiment::PendulumImages => 1.0,
        // Gaps in fifths of hours.
        Experiment::Physionet => 0.2,
        _ => return None,
    };
    let axis = experiment.paper(options).batcher.grid_axis;
    let time_scale = time_factor * (axis.end - axis.start) / axis.horizon;
    let mut protocol = in_the_place_of_the_papers(experiment, options, |paper| {
        let LatentSdeConfig { observation, encoder, decoder, .. } = paper;
        match (encoder, decoder) {
            (EncoderConfig::Frames(frames), DecoderConfig::Image(image)) => {
                let is_angle = experiment == Experiment::PendulumAngle;
                let network = if is_angle { frames.network } else { normalised(frames.network) };
                let variance = VarianceKind::EluPlusOne;
                CruConfig {
                    observation,
                    encoder: CruEncoderConfig::Frames { network, features: FEATURES, variance },
                    latent: latent(CruLatentConfig { time_scale, ..CruLatentConfig::default() }),
                    // The likelihood of grey values reads logits.
                    decoder: (!is_angle)
                        .then_some(CruDecoderConfig::Image(ImageDecoderConfig { sigmoid: false, ..image })),
                    task: is_angle.then(|| CruTaskConfig { width: 2, head: head_of_angle() }),
                }
            }
            _ => CruConfig {
                observation,
                encoder: CruEncoderConfig::Vector { layers: blocks(3), variance: VarianceKind::Square },
                latent: latent(CruLatentConfig {
                    half: 10,
                    sets: 20,
                    bandwidth: 10,
                    time_scale,
                    noise: VarianceKind::Relu,
                }),
                decoder: Some(CruDecoderConfig::Normal(NormalHeadConfig {
                    mean: blocks(3),
                    variance: blocks(1),
                    variance_kind: VarianceKind::Exponential,
                })),
                task: None,
            },
        }
        .into()
    })?;
    let training = &mut protocol.training;
    training.batch_size = 50;
    training.weights.task = 1.0;
    if experiment == Experiment::Physionet {
        training.rate = 1e-3;
    } else {
        training.rate = system.pendulum_rate;
        training.adam = AdamConfig { clip: None, ..training.adam };
    }
    Some(Entry { system: system.name, protocol })
}

/// Hidden layers for vectors.
fn blocks(count: usize) -> LayersConfig {
    LayersConfig::ReluNorm { hidden: vec![UNITS; count] }
}

fn head_of_angle() -> NormalHeadConfig {
    let layers = LayersConfig::Tanh { hidden: vec![FEATURES] };
    NormalHeadConfig { mean: layers.clone(), variance: layers, variance_kind: VarianceKind::EluPlusOne }
}

/// The same convolutions with every frame normalised between convolution and activation, as they are for images.
fn normalised(mut network: ImageNetworkConfig) -> ImageNetworkConfig {
    for layer in network.layers.iter_mut().filter(|layer| layer.then == Follow::ReluPool) {
        layer.then = Follow::GroupNormReluPool;
    }
    network
}
