//! What predictions and fits take of the memory: not what the layers of all draws or of all series would.
//! The counters are those of the process, so that the tests take turns.

use std::sync::Mutex;

use burn::module::Module;
use burn::tensor::Device;
use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::TimeAttentionConfig;
use stroock::estimator::{FitConfig, Goal};
use stroock::initial::InitialWeights;
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, LatentSdeConfig, ModelSettings, PathDraws};
use stroock::predict::{Draws, Predictor};
use stroock::run::{Progress, RunFolder, StopFlag};
use stroock::series::table::{Align, Sampling, Table};
use stroock::series::{Dataset, Observation, Series};
use stroock_kernels::noise::NoiseKey;
use stroock_testing::allocation::{self, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static TURN: Mutex<()> = Mutex::new(());

/// Width of the decoder's hidden layer.
const HIDDEN: usize = 64;
const TIMES: usize = 8000;

/// Draws of a series of [`TIMES`] times, and the most bytes that it takes.
fn drawn(samples: usize) -> (usize, Draws) {
    let config = LatentSdeConfig {
        observation: Observation::Vector { channels: 1 },
        encoder: EncoderConfig::TimeAttention(TimeAttentionConfig {
            hidden: 4,
            embedding: 4,
            reference_points: 4,
            ..TimeAttentionConfig::default()
        }),
        latent: LatentConfig { dim: 3, ..LatentConfig::default() },
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![HIDDEN], ..MlpConfig::default() }),
        likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::Fixed },
        task: None,
    };
    let model = config.init(&mut InitialWeights::new(3, &Device::flex())).unwrap().materialize();
    let times: Vec<f64> = (0..TIMES).map(|i| i as f64).collect();
    let values = times.iter().map(|t| (0.01 * t).sin() as f32).collect();
    let series = Series { times: times.clone(), values, ..Series::default() };
    let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series]).unwrap();
    let axis = TimeAxis { start: 0.0, end: TIMES as f64, horizon: 1.0 };
    let batcher = Batcher {
        input_axis: axis,
        grid_axis: axis,
        grid: GridKind::Observations { largest_step: 0.1 },
        input: InputChoice::All,
        targets: TargetChoice::All,
    };
    let predictor = Predictor { model: &model, batcher: &batcher, residual: None };
    let draws = PathDraws { key: NoiseKey::new(1, 0), samples, first_sample: 0 };
    let (peak, mut drawn) =
        allocation::peak_of(|| predictor.posterior(&data, &[0], &[times], draws).unwrap());
    (peak, drawn.remove(0))
}

#[test]
fn layers_of_all_draws_are_not_in_memory_at_once() {
    let _turn = TURN.lock();
    let (few, of_few) = drawn(16);
    let (many, of_many) = drawn(160);
    // A layer of all draws would be 330 MB.
    assert!(many < 160 * TIMES * HIDDEN * 4, "{few} and {many} bytes");
    // Draws do not depend on how they are shared out.
    assert_eq!(of_many.observations[..of_few.observations.len()], of_few.observations);
    assert_eq!(of_many.states[..of_few.states.len()], of_few.states);
}

/// The most bytes that a fit of one epoch to 12 whole series of so many irregular times takes.
fn fitted(times: usize) -> usize {
    let series = |number: usize| {
        let time = |i: usize| i as f64 + 0.3 * ((i * 7 + number) as f64).sin();
        let times: Vec<f64> = (0..times).map(time).collect();
        let values = times.iter().map(|t| (0.05 * t + number as f64).sin()).collect();
        Series { id: number.to_string(), times, values, ..Series::default() }
    };
    let table = Table::from_series(["wave"], (0..12).map(series).collect()).unwrap();
    let sampling = Sampling { window: None, align: Align::Start };
    let table = table.sampled(sampling);
    let config = FitConfig::suggest(&table, sampling, Goal::Impute).unwrap().with_epochs(1);
    let folder = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(folder.path().join("run")).unwrap();
    allocation::peak_of(|| config.fit(&table, &folder, &StopFlag::new(), Progress::hidden).unwrap()).0
}

#[test]
fn fits_to_long_series_take_little_more_than_the_series() {
    let _turn = TURN.lock();
    let (short, long) = (fitted(1500), fitted(6000));
    // Hidden layers of 16 paths at every time of all series would be 295 MB each.
    assert!(long < 3 * short.max(40 << 20), "{short} and {long} bytes");
    assert!(long < 250 << 20, "{short} and {long} bytes");
}
