//! A small model and a small data set that the tests share.

use burn::module::Module;
use burn::tensor::Device;
use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::{Mlp, MlpConfig};
use stroock::encoder::{TimeAttentionConfig, TimeAttentionEncoder};
use stroock::initial::InitialWeights;
use stroock::latent::{DriftKind, LatentConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::LatentSde;
use stroock::series::{Dataset, Observation, Series};

pub type Model = LatentSde<TimeAttentionEncoder, Mlp>;

/// Noisy oscillations at irregular times, some values missing.
pub fn oscillations(count: usize, channels: usize) -> Dataset {
    let series = (0..count).map(|b| {
        let times: Vec<f64> =
            (0..12).map(|i| (i as f64 + 0.5 * ((b * 7 + i * 3) as f64).sin()) / 12.0).collect();
        let phase = b as f64;
        let value = |t: f64, c: usize| ((6.0 + c as f64) * t + phase).sin() as f32;
        let values = times.iter().flat_map(|&t| (0..channels).map(move |c| (t, c))).map(|(t, c)| value(t, c));
        let observed = (0..12 * channels).map(|place| (place * 5 + b) % 4 != 0).collect();
        Series {
            id: format!("series {b}"),
            values: values.collect(),
            times: times.clone(),
            observed: Some(observed),
            ..Series::default()
        }
    });
    Dataset::new(Observation::Vector { channels }, series.collect()).unwrap()
}

pub fn batcher() -> Batcher {
    let axis = TimeAxis { start: -0.1, end: 1.1, horizon: 1.0 };
    Batcher {
        input_axis: axis,
        grid_axis: axis,
        grid: GridKind::Observations { largest_step: 0.05 },
        input: InputChoice::Random { probability: 0.7, always: 1 },
        targets: TargetChoice::All,
    }
}

pub fn model(channels: usize, dim: usize, hidden: usize, device: &Device) -> Model {
    let mut weights = InitialWeights::new(3, device);
    let encoder =
        TimeAttentionConfig { hidden, embedding: 6, reference_points: 8, stretched: true, local_heads: 0 };
    let drift = DriftKind::Chebyshev { terms: 3, interval: (0.0, 2.0) };
    let latent = LatentConfig { dim, drift, ..LatentConfig::default() };
    let decoder = MlpConfig { hidden: vec![12], ..MlpConfig::default() };
    let likelihood = LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::PerChannel };
    LatentSde::new(
        encoder.init(channels, &mut weights),
        hidden,
        latent,
        decoder.init(dim, channels, &mut weights),
        likelihood.init(channels, device),
        &mut weights,
    )
    .unwrap()
    .materialize()
}
