//! The pendulum: its angle from noisy images, and images that are missing.

use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::{Activation, ImageDecoderConfig, MlpConfig};
use stroock::encoder::{
    FrameEncoderConfig, FrameFeaturesConfig, KnotEncoderConfig, KnotPositions, TimeAttentionConfig,
};
use stroock::image::{ConvolutionConfig, Follow, ImageLayerConfig, ImageNetworkConfig, ImageShape};
use stroock::latent::{DriftKind, LatentConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, KnotLatentConfig, LatentSdeConfig};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::task::{TaskConfig, TaskKind};
use stroock::training::TrainingConfig;

use super::{Metric, Over, Protocol, recipe, with_knots};

/// Rows and columns of a frame.
pub const SIDE: usize = 24;
/// Features of a frame.
const FEATURES: usize = 32;
/// Recorded steps.
pub const STEPS: usize = 100;

/// Regression of the angle from noisy images.
pub fn angle() -> Protocol {
    let network = MlpConfig { hidden: vec![32], activation: Activation::Tanh };
    let mut protocol = with_task(Some(TaskConfig { output: TaskKind::Angle, network }));
    protocol.training.weights.task = 10.0;
    protocol.training.weights.task_ramp = 60;
    protocol.metric = Metric::TaskSquaredError;
    protocol
}

/// Interpolation of images.
pub fn images() -> Protocol {
    with_task(None)
}

/// The angle by steered paths: frames are left out at random in training, and the reconstruction of the noisy images is
/// a side matter.
pub fn best_angle() -> Protocol {
    let mut protocol = following(angle(), 40);
    protocol.training.weights.task_ramp = 0;
    protocol.training_input = Some(InputChoice::Random { probability: 0.8, always: 0 });
    protocol
}

/// Images by steered paths; which frames are inputs is drawn anew in every epoch.
pub fn best_images() -> Protocol {
    let mut protocol = following(images(), 150);
    protocol.training_input = Some(InputChoice::Random { probability: 0.5, always: 2 });
    protocol
}

/// The same experiment with a posterior that follows the observations; knots are the recorded steps.
fn following(mut protocol: Protocol, epochs: u64) -> Protocol {
    let encoder = KnotEncoderConfig {
        frames: Some(FrameFeaturesConfig { network: network(), features: FEATURES }),
        positions: KnotPositions { observed: true, even: STEPS, end: 0.99 },
        ..KnotEncoderConfig::default()
    };
    if let Some(model) = protocol.model.as_latent_sde_mut() {
        // Near the errors that are to come: it takes long to fall from 1.
        model.likelihood = LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::Learned };
    }
    protocol.model = with_knots(protocol.model, encoder, KnotLatentConfig::default());
    // Twice as many steps as with the published batches, at the same cost.
    protocol.training = recipe(epochs, 0.995, TrainingConfig { batch_size: 32, ..protocol.training });
    protocol
}

/// Convolutions of a frame.
fn network() -> ImageNetworkConfig {
    ImageNetworkConfig {
        layers: vec![
            layer(convolution(12, 5, 1, 2), Follow::ReluPool),
            layer(convolution(12, 3, 2, 1), Follow::ReluPool),
        ],
    }
}

fn with_task(task: Option<TaskConfig>) -> Protocol {
    let axis = TimeAxis { start: 0.0, end: (STEPS - 1) as f64, horizon: 0.99 };
    Protocol {
        model: LatentSdeConfig {
            observation: Observation::Image { channels: 1, height: SIDE, width: SIDE },
            encoder: EncoderConfig::Frames(FrameEncoderConfig {
                network: network(),
                features: FEATURES,
                attention: TimeAttentionConfig {
                    hidden: 32,
                    stretched: true,
                    ..TimeAttentionConfig::default()
                },
            }),
            latent: LatentConfig {
                drift: DriftKind::Chebyshev { terms: 6, interval: (0.0, 1.98) },
                ..LatentConfig::default()
            },
            decoder: DecoderConfig::Image(ImageDecoderConfig {
                first: ImageShape { channels: 16, height: 3, width: 3 },
                relu: true,
                network: ImageNetworkConfig {
                    layers: vec![
                        layer(transposed(16, 5, 4, 2), Follow::GroupNormRelu),
                        layer(transposed(12, 3, 2, 1), Follow::GroupNormRelu),
                        layer(transposed(1, 2, 2, 5), Follow::Nothing),
                    ],
                },
                sigmoid: true,
            }),
            likelihood: LikelihoodKind::Gaussian { scale: 1.0, scale_kind: ScaleKind::Learned },
            task,
        }
        .into(),
        batcher: Batcher {
            input_axis: axis,
            grid_axis: axis,
            grid: GridKind::Regular { points: STEPS },
            input: InputChoice::All,
            targets: TargetChoice::All,
        },
        training_input: None,
        training: TrainingConfig {
            epochs: 990,
            batch_size: 64,
            // The published divergence lacks the factor 1/2.
            weights: ElboWeights { kl_start: 1e-5, kl_path: 2e-6, ..ElboWeights::default() },
            ..TrainingConfig::default()
        },
        metric: Metric::SquaredError { over: Over::All },
    }
}

fn convolution(channels: usize, kernel: usize, stride: usize, padding: usize) -> ConvolutionConfig {
    ConvolutionConfig { channels, kernel, stride, padding, output_padding: 0, transposed: false }
}

fn transposed(channels: usize, kernel: usize, stride: usize, padding: usize) -> ConvolutionConfig {
    ConvolutionConfig { transposed: true, ..convolution(channels, kernel, stride, padding) }
}

fn layer(convolution: ConvolutionConfig, then: Follow) -> ImageLayerConfig {
    ImageLayerConfig { convolution, then }
}
