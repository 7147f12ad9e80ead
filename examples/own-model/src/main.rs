//! A model that is no latent SDE: a recurrent network that predicts every observation from the earlier ones. It is
//! trained, resumed, saved, loaded and evaluated by the code that does so for latent SDEs.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::gru::{Gru, GruConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use stroock::prelude::*;

/// Sizes of a [`Recurrent`] model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecurrentConfig {
    channels: usize,
    hidden: usize,
}

/// A gated recurrent unit over the times of a series; it reads values, which of them are seen, and the time between.
#[derive(Module, Debug)]
struct Recurrent {
    unit: Gru,
    output: Linear,
    likelihood: Likelihood,
}

impl ModelSettings for RecurrentConfig {
    type Model = Recurrent;

    fn kind(&self) -> &'static str {
        "recurrent"
    }

    fn observation(&self) -> Observation {
        Observation::Vector { channels: self.channels }
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<Recurrent, ModelConfigError> {
        let noise = LikelihoodKind::Gaussian { scale: 0.5, scale_kind: ScaleKind::PerChannel };
        Ok(Recurrent {
            unit: GruConfig::new(2 * self.channels + 1, self.hidden, true).init(weights.device()),
            output: weights.linear(self.hidden + 1, self.channels),
            likelihood: noise.init(self.channels, weights.device()),
        })
    }
}

impl Recurrent {
    /// Means `[1, Q, C]` at the points of a batch, each from what is seen before it.
    fn means(&self, batch: &Batch) -> Tensor<3> {
        let (input, seen, asked) = (&batch.input, batch.input.seen(), batch.point_times());
        let (series, channels, width) = (input.series(), input.channels(), 2 * input.channels() + 1);
        // Rows in the order of time; what is asked for at a time comes before what is seen there.
        let rows = |b: usize| {
            let requests = batch.requests.offsets[b]..batch.requests.offsets[b + 1];
            let given = input.point_offsets[b]..input.point_offsets[b + 1];
            let given = given.map(|p| (input.time(p) as f32, true, p));
            let mut rows: Vec<_> = requests.map(|q| (asked[q], false, q)).chain(given).collect();
            rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            rows
        };
        let rows: Vec<Vec<(f32, bool, usize)>> = (0..series).map(rows).collect();
        let steps = rows.iter().map(Vec::len).max().unwrap_or(0);
        let (mut x, mut places) = (vec![0f32; series * steps * width], vec![0i64; asked.len()]);
        for (b, rows) in rows.iter().enumerate() {
            for (i, &(time, is_given, point)) in rows.iter().enumerate() {
                let row = &mut x[(b * steps + i) * width..][..width];
                row[2 * channels] = time - rows[i.saturating_sub(1)].0;
                if !is_given {
                    places[point] = (b * steps + i) as i64;
                    continue;
                }
                row[..channels].copy_from_slice(&input.values[point * channels..][..channels]);
                (0..channels).for_each(|c| row[channels + c] = f32::from(seen[point * channels + c]));
            }
        }
        let device = self.output.weight.val().device();
        let x = Tensor::<3>::from_data(TensorData::new(x, [series, steps, width]), &device);
        let gap = x.clone().narrow(2, 2 * channels, 1);
        let after = self.unit.forward(x, None);
        let before = Tensor::cat(vec![after.zeros_like().narrow(1, 0, 1), after.narrow(1, 0, steps - 1)], 1);
        let output = self.output.forward(Tensor::cat(vec![before, gap], 2));
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [asked.len()]), &device);
        output.reshape([series * steps, channels]).select(0, places).unsqueeze_dim(0)
    }
}

impl SeriesModel for Recurrent {
    fn objective(&self, batch: &Batch, _: PathDraws, _: ElboWeights) -> Result<Objective, ModelError> {
        let nll = self.likelihood.negative_log_likelihood(self.means(batch), batch.targets.clone())?;
        let losses = nll.clone() / batch.targets.counts_like(&nll);
        Ok(Objective { losses, parts: vec![("negative_log_likelihood", nll)] })
    }

    fn outputs(&self, batch: &Batch, draws: PathDraws, _: OutputParts) -> Result<Outputs, ModelError> {
        let scale = self.likelihood.gaussian().map(|gaussian| gaussian.scale().unsqueeze_dim(0));
        let mean = self.means(batch).repeat_dim(0, draws.samples);
        Ok(Outputs { mean: Some(mean), scale, ..Outputs::default() })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let series = (0..96).map(|b| {
        let times: Vec<f64> = (0..30).map(|i| (f64::from(i) + f64::from(b * i).sin().abs()) / 30.0).collect();
        let values = times.iter().map(|t| (6.0 * t + f64::from(b)).sin() as f32).collect();
        Series { id: format!("wave {b}"), times, values, ..Series::default() }
    });
    let data = Dataset::new(Observation::Vector { channels: 1 }, series.collect())?;
    let split = Split { train: (0..64).collect(), validation: (64..80).collect(), test: (80..96).collect() };
    let axis = TimeAxis { start: 0.0, end: 1.1, horizon: 1.0 };
    let (grid, input) = (GridKind::Observations { largest_step: 1.0 }, InputChoice::Values { least: 0.5 });
    let batcher = Batcher { input_axis: axis, grid_axis: axis, grid, input, targets: TargetChoice::All };
    let model = RecurrentConfig { channels: 1, hidden: 24 };
    let description = Description { model, data: DataDescription::new(batcher, &["height"]) };
    let (metadata, scratch) = (description.metadata()?, tempfile::tempdir()?);
    // Twice to epoch 40: at once, and stopped at epoch 15 and resumed.
    let mut files = Vec::new();
    for (name, stops) in [("whole", vec![40]), ("resumed", vec![15, 40])] {
        let run = RunFolder::create(scratch.path().join(name))?;
        for epochs in stops {
            let device = Device::flex().autodiff();
            device.seed(1);
            let model = description.model.init(&mut InitialWeights::new(1, &device))?.materialize();
            let schedule = Schedule::CyclicCosine { period: 80 };
            let config = TrainingConfig { epochs, batch_size: 8, rate: 1e-2, schedule, ..Default::default() };
            let trainer = Trainer { config, data: &data, split: &split, batcher, metadata: Some(&metadata) };
            let mut progress = Progress::hidden(RunLength { epochs, steps_per_epoch: 8, done: 0 });
            trainer.run(model, &run, &StopFlag::new(), &mut progress)?;
        }
        files.push(run.paths().model());
    }
    assert_eq!(std::fs::read(&files[0])?, std::fs::read(&files[1])?, "a resumed run ends with the same bits");
    let (model, description) = Description::<RecurrentConfig>::load(&files[1], &Device::flex())?;
    let hold_out = HoldOut::Random { share: 0.3 };
    let held = withhold(data, &split.test, hold_out, &[], 1)?;
    let draws = PathDraws { key: NoiseKey::new(2, 0), samples: 100, first_sample: 0 };
    let (about, predictor) = (&description.data, Predictor::new(&model, &description.data));
    let scores = HeldOutScores::of(&predictor, &about.scaler, &held, &split.test, hold_out, draws)?;
    let scores = scores.overall.finish().ok_or("nothing was held out")?;
    let baseline = scores.baselines[1].mse;
    println!("values that were held out: MSE {:.4}; the training mean has {baseline:.4}", scores.mse);
    assert!(scores.mse < 0.5 * baseline, "the model has learned nothing");
    Ok(())
}

#[test]
fn it_is_trained_resumed_loaded_and_evaluated() {
    main().unwrap();
}
