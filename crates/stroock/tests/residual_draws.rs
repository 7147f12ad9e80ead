//! Predictions under a residual process: pulled to what is seen, as wide as the process says, alone or in a batch.

use burn::module::Module;
use burn::tensor::Device;
use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::TimeAttentionConfig;
use stroock::initial::InitialWeights;
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DecoderConfig, EncoderConfig, LatentSdeConfig, ModelSettings, PathDraws, StandardLatentSde,
};
use stroock::predict::{Draws, Predictor};
use stroock::residual::{ChannelResidual, ResidualProcess, Shape};
use stroock::series::{Dataset, Observation, Series};
use stroock_kernels::noise::NoiseKey;

const SAMPLES: usize = 2000;

fn model() -> StandardLatentSde {
    let attention =
        TimeAttentionConfig { hidden: 6, embedding: 4, reference_points: 5, stretched: true, local_heads: 0 };
    let config = LatentSdeConfig {
        observation: Observation::Vector { channels: 2 },
        encoder: EncoderConfig::TimeAttention(attention),
        latent: LatentConfig { dim: 3, ..LatentConfig::default() },
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![5], ..MlpConfig::default() }),
        likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
        task: None,
    };
    config.init(&mut InitialWeights::new(3, &Device::flex())).unwrap().materialize()
}

/// Two series; the second value of the second channel is withheld.
fn data() -> Dataset {
    let series = |id: &str, shift: f32| Series {
        id: id.into(),
        times: vec![0.0, 0.5, 2.0],
        values: [1.0, -1.0, 2.0, 3.0, 0.5, -2.0].map(|x| x + shift).to_vec(),
        observed: None,
        withheld: Some(vec![false, false, false, true, false, false]),
        ..Series::default()
    };
    Dataset::new(Observation::Vector { channels: 2 }, vec![series("a", 0.0), series("b", 0.3)]).unwrap()
}

fn posterior(process: &ResidualProcess, numbers: &[usize], times: &[f64]) -> Vec<Draws> {
    let axis = TimeAxis { start: 0.0, end: 4.0, horizon: 1.0 };
    let batcher = Batcher {
        input_axis: axis,
        grid_axis: axis,
        grid: GridKind::Observations { largest_step: 0.05 },
        input: InputChoice::All,
        targets: TargetChoice::All,
    };
    let model = model();
    let predictor = Predictor { model: &model, batcher: &batcher, residual: Some(process) };
    let draws = PathDraws { key: NoiseKey::new(1, 0), samples: SAMPLES, first_sample: 0 };
    predictor.posterior(&data(), numbers, &vec![times.to_vec(); numbers.len()], draws).unwrap()
}

fn process(shrinkage: f64, shape: Shape) -> ResidualProcess {
    let channel =
        ChannelResidual { amplitude: 1.0, length: 0.5, shape, shrinkage, ..ChannelResidual::white(1e-3) };
    ResidualProcess { channels: vec![channel; 2] }
}

/// Mean and variance of the draws of a channel at a time.
fn moments(draws: &Draws, time: usize, channel: usize) -> (f64, f64) {
    let values: Vec<f64> = draws.observations_at(time, channel).collect();
    assert_eq!(values.len(), SAMPLES);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64)
}

#[test]
fn draws_go_through_what_is_seen_and_not_through_what_is_withheld() {
    let drawn = posterior(&process(1.0, Shape::default()), &[0], &[0.0, 0.5, 2.0, 3.9]);
    for (time, value) in [(0, 1.0), (1, 2.0), (2, 0.5)] {
        let (mean, variance) = moments(&drawn[0], time, 0);
        assert!((mean - value).abs() < 0.01, "{mean}");
        assert!(variance < 0.00025, "{variance}");
    }
    let (mean, variance) = moments(&drawn[0], 1, 1);
    assert!((mean - 3.0).abs() > 0.5 && variance > 0.1, "{mean} {variance}");
    // Far from everything: the process itself, of which the differences among paths are a part.
    let (_, far) = moments(&drawn[0], 3, 1);
    assert!((0.8..1.3).contains(&far), "{far}");
}

#[test]
fn with_a_shrinkage_of_zero_the_decoder_has_no_say() {
    let shape = Shape { spread: 0.5, tail_share: 0.1, tail_spread: 2.0 };
    let process = process(0.0, shape);
    let drawn = posterior(&process, &[0], &[1.0, 3.9]);
    let known = process.channels[0].condition(&[0.0, 0.5, 2.0], &[1.0, 2.0, 0.5], &[1.0, 3.9]);
    for time in 0..2 {
        let (mean, variance) = moments(&drawn[0], time, 0);
        let expected = (known.mean[time], known.variance[time] * shape.variance());
        assert!((mean - expected.0).abs() < 5.0 * (expected.1 / SAMPLES as f64).sqrt(), "{mean}");
        assert!((variance / expected.1).ln().abs() < 0.25, "{variance}, expected {expected:?}");
    }
}

#[test]
fn a_series_is_predicted_alike_alone_and_in_a_batch() {
    let process = process(0.75, Shape::default());
    let together = posterior(&process, &[0, 1], &[0.2, 0.7]);
    assert_eq!(posterior(&process, &[1], &[0.2, 0.7])[0], together[1]);
}
