//! A latent SDE with an encoder and a decoder of one's own: any burn module will do.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, TensorData};
use stroock::batch::{Batcher, EncoderInput, GridKind, InputChoice, InputEntries, TargetChoice, TimeAxis};
use stroock::decoder::{Decoder, DecoderError};
use stroock::encoder::{Encoder, EncoderError};
use stroock::initial::InitialWeights;
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::LatentSde;
use stroock::objective::ElboWeights;
use stroock::run::{Progress, RunFolder, RunLength, StopFlag};
use stroock::series::{Dataset, Observation, Series, Split};
use stroock::training::{Schedule, Trainer, TrainingConfig};

const WIDTH: usize = 32;
const DIM: usize = 4;

/// Encodes a series by the Fourier coefficients of its observed values.
#[derive(Module, Debug)]
struct FourierEncoder {
    hidden: Linear,
    output: Linear,
}

impl Encoder for FourierEncoder {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let InputEntries::PerChannel { offsets, points } = &input.entries else {
            return Err(EncoderError::Channels { expected: 1, actual: input.channels() });
        };
        let coefficients: Vec<f32> = (0..input.series())
            .flat_map(|b| (0..8).map(move |k| (b, k)))
            .map(|(b, k)| {
                let seen = &points[offsets[b]..offsets[b + 1]];
                let term = |&p: &u32| {
                    let t = input.distinct_times[input.times[p as usize] as usize];
                    let angle = std::f64::consts::PI * (k / 2) as f64 * t + (k % 2) as f64;
                    angle.cos() as f32 * input.values[p as usize]
                };
                seen.iter().map(term).sum::<f32>() / seen.len().max(1) as f32
            })
            .collect();
        let coefficients = TensorData::new(coefficients, [input.series(), 8]);
        let x = Tensor::from_data(coefficients, &self.output.weight.val().device());
        Ok(self.output.forward(self.hidden.forward(x).tanh()))
    }
}

/// Decodes a state by sines of its projections.
#[derive(Module, Debug)]
struct SineDecoder {
    phase: Linear,
    output: Linear,
}

impl Decoder for SineDecoder {
    fn decode(&self, z: Tensor<2>) -> Result<Tensor<2>, DecoderError> {
        Ok(self.output.forward(self.phase.forward(z).sin()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let series = (0..64).map(|b| {
        let times: Vec<f64> = (0..20).map(|i| (i as f64 + ((b * i) as f64).sin().abs()) / 20.0).collect();
        let values = times.iter().map(|t| (6.0 * t + b as f64).sin() as f32).collect();
        Series { id: format!("wave {b}"), times, values, ..Series::default() }
    });
    let data = Dataset::new(Observation::Vector { channels: 1 }, series.collect())?;
    let device = Device::flex().autodiff();
    device.seed(1);
    let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&device);
    let encoder = FourierEncoder { hidden: linear(8, WIDTH), output: linear(WIDTH, WIDTH) };
    let decoder = SineDecoder { phase: linear(DIM, 16), output: linear(16, 1) };
    let latent = LatentConfig { dim: DIM, ..LatentConfig::default() };
    let likelihood = LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::Learned }.init(1, &device);
    let mut weights = InitialWeights::new(1, &device);
    let model = LatentSde::new(encoder, WIDTH, latent, decoder, likelihood, &mut weights)?.materialize();

    let axis = TimeAxis { start: 0.0, end: 1.0, horizon: 1.0 };
    let (grid, input) = (GridKind::Regular { points: 41 }, InputChoice::All);
    let batcher = Batcher { input_axis: axis, grid_axis: axis, grid, input, targets: TargetChoice::All };
    let weights = ElboWeights { kl_start: 1e-3, kl_path: 1e-3, ..ElboWeights::default() };
    let (epochs, rate, schedule) = (100, 5e-3, Schedule::CyclicCosine { period: 200 });
    let config =
        TrainingConfig { epochs, batch_size: 16, rate, schedule, weights, ..TrainingConfig::default() };
    let split = Split { train: (0..48).collect(), validation: (48..64).collect(), test: Vec::new() };
    let trainer = Trainer { config, data: &data, split: &split, batcher, metadata: None };
    let scratch = tempfile::tempdir()?;
    let run = RunFolder::create(scratch.path().join("run"))?;
    let mut progress = Progress::on_stderr(RunLength { epochs, steps_per_epoch: 3, done: 0 });
    let trained = trainer.run(model, &run, &StopFlag::new(), &mut progress)?;
    println!("best validation loss and its epoch: {:?}", trained.best);
    Ok(())
}
