//! Codes of series, and outputs for codes in place of series.

#[allow(dead_code, reason = "other tests train the model")]
mod oscillations;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use oscillations::{batcher, model, oscillations};
use stroock::batch::Batch;
use stroock::decoder::MlpConfig;
use stroock::encoder::{KnotEncoderConfig, KnotPositions};
use stroock::entries::entries;
use stroock::initial::InitialWeights;
use stroock::latent::{KnotPrior, MarginalConfig, SteeredConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DecoderConfig, KnotLatentConfig, KnotSdeConfig, ModelError, ModelSettings, OutputParts, Outputs,
    PathDraws, SeriesModel,
};
use stroock::series::Observation;
use stroock_kernels::noise::NoiseKey;

const DRAWS: usize = 3;

fn draws() -> PathDraws {
    PathDraws { key: NoiseKey::new(4, 0), samples: DRAWS, first_sample: 0 }
}

fn batch() -> Batch {
    batcher().assemble(&oscillations(7, 2), &[0, 3, 4, 6], NoiseKey::new(9, 0)).unwrap()
}

fn means(outputs: Outputs) -> Vec<f32> {
    entries(outputs.mean.unwrap())
}

/// What is decoded for the series of a batch, and for their codes.
fn both(model: &impl SeriesModel) -> (Vec<f32>, Vec<f32>) {
    let batch = batch();
    let codes = model.codes(&batch).unwrap().expect("the model has codes");
    assert_eq!(codes.dims()[0], 4);
    let of_codes = model.outputs_of_codes(codes, &batch, draws(), OutputParts::OBSERVATIONS).unwrap();
    let of_series = model.outputs(&batch, draws(), OutputParts::OBSERVATIONS).unwrap();
    (means(of_series), means(of_codes))
}

#[test]
fn the_code_of_a_latent_sde_is_all_that_its_paths_depend_on() {
    let model = model(2, 4, 10, &Device::flex());
    let (of_series, of_codes) = both(&model);
    assert_eq!(of_series, of_codes);
    let short = Tensor::<2>::zeros([4, 9], &Device::flex());
    let refused = model.outputs_of_codes(short, &batch(), draws(), OutputParts::OBSERVATIONS);
    assert_eq!(refused.unwrap_err(), ModelError::CodeWidth { expected: 10, actual: 9 });
}

#[test]
fn codes_of_knots_are_exact_where_knots_are_even_and_close_where_they_are_not() {
    let steered = SteeredConfig { dim: 6, ..SteeredConfig::default() };
    let marginal = MarginalConfig { dim: 6, ..MarginalConfig::default() };
    let prior = KnotPrior::Attractor;
    for latent in [
        KnotLatentConfig::Steered(steered),
        KnotLatentConfig::Marginal(marginal),
        KnotLatentConfig::Steered(SteeredConfig { prior, ..steered }),
        KnotLatentConfig::Marginal(MarginalConfig { prior, ..marginal }),
    ] {
        for (observed, tolerance) in [(false, 1e-4), (true, 0.1)] {
            let config = KnotSdeConfig {
                observation: Observation::Vector { channels: 2 },
                encoder: KnotEncoderConfig {
                    hidden: 12,
                    width: 12,
                    positions: KnotPositions { observed, even: 17, end: 1.0 },
                    ..KnotEncoderConfig::default()
                },
                latent,
                decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![12], ..MlpConfig::default() }),
                likelihood: LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::PerChannel },
                task: None,
            };
            let model = config.init(&mut InitialWeights::new(3, &Device::flex())).unwrap().materialize();
            let (of_series, of_codes) = both(&model);
            let pairs = of_series.iter().zip(&of_codes);
            let farthest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(farthest < tolerance, "{latent:?}, knots at observed times: {observed}: {farthest}");
            let refused = Tensor::<2>::zeros([4, 3], &Device::flex());
            let refused = model.outputs_of_codes(refused, &batch(), draws(), OutputParts::OBSERVATIONS);
            assert!(matches!(refused, Err(ModelError::CodeWidth { actual: 3, .. })));
        }
    }
}
