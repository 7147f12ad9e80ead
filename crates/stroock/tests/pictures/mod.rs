//! Small images of a soft spot that moves, and two small models of them.

use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::ImageDecoderConfig;
use stroock::encoder::{FirstFrameConfig, FrameEncoderConfig, TimeAttentionConfig};
use stroock::image::{ConvolutionConfig, Follow, ImageLayerConfig, ImageNetworkConfig, ImageShape};
use stroock::latent::{DriftKind, LatentConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, LatentSdeConfig};
use stroock::series::{Dataset, Observation, Series};

pub const SIDE: usize = 8;

const OBSERVATION: Observation = Observation::Image { channels: 1, height: SIDE, width: SIDE };

/// Spots that turn around the centre, each from a place of its own; series have four to six frames.
pub fn pictures(count: usize) -> Dataset {
    let series = (0..count).map(|b| {
        let times: Vec<f64> =
            (0..4 + b % 3).map(|i| (i as f64 + 0.3 * (b as f64).sin()) / 6.0 + 0.05).collect();
        let pixel = |t: f64, row: usize, column: usize| {
            let angle = 5.0 * t + 1.7 * b as f64;
            let (y, x) = (3.5 + 2.0 * angle.sin(), 3.5 + 2.0 * angle.cos());
            let square = (row as f64 - y).powi(2) + (column as f64 - x).powi(2);
            (0.05 + 0.9 * (-square / 5.0).exp()) as f32
        };
        let values = times
            .iter()
            .flat_map(|&t| (0..SIDE * SIDE).map(move |place| pixel(t, place / SIDE, place % SIDE)))
            .collect();
        Series { id: format!("spot {b}"), times, values, ..Series::default() }
    });
    Dataset::new(OBSERVATION, series.collect()).unwrap()
}

pub fn batcher() -> Batcher {
    let axis = TimeAxis { start: 0.0, end: 1.2, horizon: 1.0 };
    Batcher {
        input_axis: axis,
        grid_axis: axis,
        grid: GridKind::Observations { largest_step: 0.1 },
        input: InputChoice::First { count: 3 },
        targets: TargetChoice::All,
    }
}

fn layer(channels: usize, [kernel, stride]: [usize; 2], transposed: bool, then: Follow) -> ImageLayerConfig {
    let convolution =
        ConvolutionConfig { channels, kernel, stride, padding: 1, output_padding: 0, transposed };
    ImageLayerConfig { convolution, then }
}

fn model(encoder: EncoderConfig, decoder: ImageDecoderConfig, likelihood: LikelihoodKind) -> LatentSdeConfig {
    let drift = DriftKind::Chebyshev { terms: 2, interval: (0.0, 2.0) };
    LatentSdeConfig {
        observation: OBSERVATION,
        encoder,
        latent: LatentConfig { dim: 4, drift, sigma: 0.2, ..LatentConfig::default() },
        decoder: DecoderConfig::Image(decoder),
        likelihood,
        task: None,
    }
}

/// Every frame, attention over time, normalised frames, grey values with normal noise.
pub fn of_frames() -> LatentSdeConfig {
    let network = ImageNetworkConfig {
        layers: vec![
            layer(2, [3, 1], false, Follow::ReluPool),
            layer(3, [3, 2], false, Follow::GroupNormRelu),
        ],
    };
    let attention =
        TimeAttentionConfig { hidden: 6, embedding: 4, reference_points: 5, stretched: true, local_heads: 0 };
    let decoder = ImageDecoderConfig {
        first: ImageShape { channels: 3, height: 2, width: 2 },
        relu: false,
        network: ImageNetworkConfig {
            layers: vec![
                layer(2, [4, 2], true, Follow::GroupNormRelu),
                layer(1, [4, 2], true, Follow::Nothing),
            ],
        },
        sigmoid: true,
    };
    let encoder = EncoderConfig::Frames(FrameEncoderConfig { network, features: 5, attention });
    model(encoder, decoder, LikelihoodKind::Gaussian { scale: 0.2, scale_kind: ScaleKind::Learned })
}

/// The first frame, layers that are normalised over the batch, grey values as black or white.
pub fn of_the_first_frame() -> LatentSdeConfig {
    let network = ImageNetworkConfig {
        layers: vec![
            layer(4, [3, 2], false, Follow::BatchNormRelu),
            layer(3, [3, 2], false, Follow::BatchNormRelu),
        ],
    };
    let decoder = ImageDecoderConfig {
        first: ImageShape { channels: 3, height: 2, width: 2 },
        relu: true,
        network: ImageNetworkConfig {
            layers: vec![
                layer(4, [4, 2], true, Follow::BatchNormRelu),
                layer(1, [4, 2], true, Follow::Nothing),
            ],
        },
        sigmoid: false,
    };
    model(EncoderConfig::FirstFrame(FirstFrameConfig { network }), decoder, LikelihoodKind::Bernoulli)
}
