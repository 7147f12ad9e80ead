//! Task heads: what they predict, how wrong that is, and which labels count.

mod numbers;
mod parameters;

use burn::tensor::{Device, Tensor};
use numbers::{doubles, tensor, uniform};
use parameters::{assert_gradients, double, gradients_by_name};
use stroock::batch::{Batch, Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::{Activation, MlpConfig};
use stroock::encoder::TimeAttentionConfig;
use stroock::initial::InitialWeights;
use stroock::latent::{DriftKind, LatentConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, LatentSdeConfig, ModelSettings, PathDraws};
use stroock::objective::ElboWeights;
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock::task::{TaskConfig, TaskHead, TaskKind};
use stroock_kernels::noise::NoiseKey;
use stroock_testing::finite_difference::assert_close;

const DIM: usize = 3;
const SAMPLES: usize = 2;
/// Points of the series.
const LENGTHS: [usize; 3] = [4, 1, 2];
const POINTS: usize = 7;

fn batch(labels: [Labels; 3]) -> Batch {
    let series = LENGTHS.into_iter().zip(labels).enumerate().map(|(b, (length, labels))| Series {
        id: format!("series {b}"),
        times: (0..length).map(|i| i as f64 / 5.0).collect(),
        values: (0..length).map(|i| (i + b) as f32 / 3.0).collect(),
        labels,
        ..Series::default()
    });
    let data = Dataset::new(Observation::Vector { channels: 1 }, series.collect()).unwrap();
    let axis = TimeAxis { start: 0.0, end: 1.0, horizon: 1.0 };
    let batcher = Batcher {
        input_axis: axis,
        grid_axis: axis,
        grid: GridKind::Regular { points: 6 },
        input: InputChoice::All,
        targets: TargetChoice::All,
    };
    batcher.assemble(&data, &[0, 1, 2], NoiseKey::new(1, 0)).unwrap()
}

fn head(kind: TaskKind) -> TaskHead {
    let network = MlpConfig { hidden: vec![4], activation: Activation::Tanh };
    double(
        &TaskConfig { output: kind, network }
            .init(DIM, &mut InitialWeights::new(5, &Device::flex().autodiff())),
    )
}

fn states() -> Tensor<3> {
    tensor(&uniform(SAMPLES * POINTS * DIM, 1), [SAMPLES, POINTS, DIM], &Device::flex().autodiff())
}

/// `ln sum_k exp(l_k) - l_class`.
fn cross_entropy(logits: &[f64], class: usize) -> f64 {
    logits.iter().map(|l| l.exp()).sum::<f64>().ln() - logits[class]
}

#[test]
fn a_class_at_every_time_point() {
    let labels = [vec![Some(2), None, Some(0), Some(1)], vec![Some(1)], vec![None, None]];
    let batch = batch(labels.clone().map(Labels::ClassPerTime));
    let head = head(TaskKind::ClassPerTime { classes: 3 });
    let prediction = head.predict(states(), &batch);
    assert_eq!(prediction.dims(), [SAMPLES, POINTS, 3]);
    let logits = doubles(prediction.clone());
    let at = |s: usize, point: usize| &logits[(s * POINTS + point) * 3..(s * POINTS + point + 1) * 3];
    let mean = |labelled: &[(usize, usize)]| {
        let of_sample = |s| labelled.iter().map(move |&(point, class)| cross_entropy(at(s, point), class));
        (0..SAMPLES).flat_map(of_sample).sum::<f64>() / (SAMPLES * labelled.len()) as f64
    };
    let expected = [mean(&[(0, 2), (2, 0), (3, 1)]), mean(&[(4, 1)]), 0.0];
    assert_close("loss", &doubles(head.loss(prediction, &batch).unwrap()), &expected, 1e-12);
}

#[test]
fn a_class_for_the_whole_series_from_its_mean_state() {
    let batch = batch([Labels::Class(1), Labels::None, Labels::Class(0)]);
    let head = head(TaskKind::ClassPerSeries { classes: 2 });
    let prediction = head.predict(states(), &batch);
    assert_eq!(prediction.dims(), [SAMPLES, 3, 2]);
    let numbers = doubles(states());
    let mut means = Vec::new();
    for s in 0..SAMPLES {
        let mut first = 0;
        for length in LENGTHS {
            let coordinate = |i: usize| {
                let of_point = |point: usize| numbers[(s * POINTS + point) * DIM + i];
                (first..first + length).map(of_point).sum::<f64>() / length as f64
            };
            means.extend((0..DIM).map(coordinate));
            first += length;
        }
    }
    let means = tensor(&means, [SAMPLES * 3, DIM], &Device::flex().autodiff());
    let logits = doubles(head.network.forward(means));
    assert_close("logits", &doubles(prediction.clone()), &logits, 1e-12);
    let at = |s: usize, b: usize| &logits[(s * 3 + b) * 2..(s * 3 + b + 1) * 2];
    let mean = |b, class| (cross_entropy(at(0, b), class) + cross_entropy(at(1, b), class)) / 2.0;
    let loss = doubles(head.loss(prediction, &batch).unwrap());
    assert_close("loss", &loss, &[mean(0, 1), 0.0, mean(2, 0)], 1e-12);
}

#[test]
fn numbers_at_every_time_point() {
    let (width, missing) = (2, [1, 6]);
    let mut numbers: Vec<f32> = uniform(POINTS * width, 2).into_iter().map(|x| x as f32).collect();
    missing.iter().for_each(|&place| numbers[place] = f32::NAN);
    let labels = |from: usize, to: usize| Labels::RealPerTime {
        width,
        values: numbers[from * width..to * width].to_vec(),
    };
    let batch = batch([labels(0, 4), labels(4, 5), Labels::None]);
    let head = head(TaskKind::RealPerTime { width });
    let prediction = head.predict(states(), &batch);
    assert_eq!(prediction.dims(), [SAMPLES, POINTS, width]);
    let found = doubles(prediction.clone());
    let mean = |places: std::ops::Range<usize>| {
        let known: Vec<usize> = places.filter(|place| !missing.contains(place)).collect();
        let error = |s: usize, place: usize| found[s * POINTS * width + place] - f64::from(numbers[place]);
        let of_sample = |s| known.iter().map(move |&place| error(s, place).powi(2));
        (0..SAMPLES).flat_map(of_sample).sum::<f64>() / (SAMPLES * known.len()) as f64
    };
    let expected = [mean(0..8), mean(8..10), 0.0];
    assert_close("loss", &doubles(head.loss(prediction, &batch).unwrap()), &expected, 1e-12);
}

#[test]
fn an_angle_is_a_point_of_the_unit_circle() {
    let angles: Vec<f32> = (0..POINTS).map(|i| i as f32).collect();
    let circle = |angles: &[f32]| Labels::RealPerTime {
        width: 2,
        values: angles.iter().flat_map(|angle| [angle.sin(), angle.cos()]).collect(),
    };
    let batch = batch([circle(&angles[..4]), circle(&angles[4..5]), circle(&angles[5..])]);
    let head = head(TaskKind::Angle);
    let prediction = head.predict(states(), &batch);
    assert_eq!(prediction.dims(), [SAMPLES, POINTS, 2]);
    let found = doubles(prediction.clone());
    let raw = doubles(head.network.forward(states().reshape([SAMPLES * POINTS, DIM])));
    let mut expected = [0.0; 3];
    for (row, (point, raw)) in found.chunks(2).zip(raw.chunks(2)).enumerate() {
        assert_close("norm", &[point[0].hypot(point[1])], &[1.0], 1e-14);
        assert_close("direction", &[point[0].atan2(point[1])], &[raw[0].atan2(raw[1])], 1e-14);
        // The squared chord between two angles is 2 - 2 cos of their difference.
        let difference = point[0].atan2(point[1]) - f64::from(angles[row % POINTS]);
        let b = [0, 0, 0, 0, 1, 2, 2][row % POINTS];
        expected[b] += (2.0 - 2.0 * difference.cos()) / (2 * SAMPLES * LENGTHS[b]) as f64;
    }
    // Labels are single precision.
    assert_close("loss", &doubles(head.loss(prediction, &batch).unwrap()), &expected, 1e-6);
}

#[test]
fn targets_of_another_kind_are_named() {
    let loss = |kind, labels: Labels| {
        let batch = batch([Labels::None, Labels::None, labels]);
        let head = head(kind);
        head.loss(head.predict(states(), &batch), &batch).map(|_| ()).map_err(|error| error.to_string())
    };
    let real = |width: usize| Labels::RealPerTime { width, values: vec![0.0; 2 * width] };
    let per_time = || Labels::ClassPerTime(vec![Some(0), Some(2)]);
    let (class, classes) = (TaskKind::ClassPerSeries { classes: 3 }, TaskKind::ClassPerTime { classes: 3 });
    let refused = [
        (classes, Labels::Class(1), "a class per time point", "a class for the whole series"),
        (class, per_time(), "a class per series", "classes per time point"),
        (
            TaskKind::RealPerTime { width: 2 },
            real(3),
            "numbers per time point",
            "another number of values per time point, or values instead of classes",
        ),
        (TaskKind::Angle, per_time(), "an angle per time point", "classes per time point"),
    ];
    for (kind, labels, task, found) in refused {
        let expected = format!("the task is {task}, but series 2 of the batch has {found}");
        assert_eq!(loss(kind, labels), Err(expected));
    }
    assert_eq!(loss(classes, per_time()), Ok(()));
    assert_eq!(loss(TaskKind::Angle, real(2)), Ok(()));
    // Point 6 is the last of the batch.
    let words = "labels: the value of channel 0 at point 6 is 2, but classes are the whole numbers below 2";
    assert_eq!(loss(TaskKind::ClassPerTime { classes: 2 }, per_time()), Err(words.to_owned()));
}

fn config(kind: TaskKind) -> LatentSdeConfig {
    let attention = TimeAttentionConfig {
        hidden: 4,
        embedding: 4,
        reference_points: 4,
        stretched: false,
        local_heads: 0,
    };
    LatentSdeConfig {
        observation: Observation::Vector { channels: 1 },
        encoder: EncoderConfig::TimeAttention(attention),
        latent: LatentConfig {
            dim: DIM,
            drift: DriftKind::Chebyshev { terms: 2, interval: (0.0, 2.0) },
            ..LatentConfig::default()
        },
        decoder: DecoderConfig::Mlp(MlpConfig::default()),
        likelihood: LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::Learned },
        task: Some(TaskConfig { output: kind, network: MlpConfig::default() }),
    }
}

#[test]
fn the_task_teaches_the_encoder() {
    let labels = [vec![Some(1), Some(0), None, Some(1)], vec![Some(0)], vec![Some(1), Some(1)]];
    let cases = [
        (TaskKind::ClassPerTime { classes: 2 }, batch(labels.map(Labels::ClassPerTime))),
        (
            TaskKind::ClassPerSeries { classes: 2 },
            batch([Labels::Class(0), Labels::Class(1), Labels::Class(1)]),
        ),
    ];
    for (kind, batch) in cases {
        let model = config(kind).init(&mut InitialWeights::new(2, &Device::flex().autodiff())).unwrap();
        // Nothing but the task is minimised.
        let weights =
            ElboWeights { kl_start: 0.0, kl_path: 0.0, likelihood: 0.0, task: 2.0, ..ElboWeights::default() };
        let draws = PathDraws { key: NoiseKey::new(1, 0), samples: 2, first_sample: 0 };
        let bound = model.bound(&batch, draws).unwrap();
        let task = doubles(bound.parts.task.clone().expect("a task"));
        let losses = doubles(bound.losses(weights, &batch));
        assert_close("losses", &losses, &task.iter().map(|loss| 2.0 * loss).collect::<Vec<_>>(), 1e-6);
        assert!(task.iter().all(|loss| *loss > 0.0));
        let loss = |model: &stroock::model::StandardLatentSde| {
            model.bound(&batch, draws).unwrap().losses(weights, &batch).mean()
        };
        let gradients = loss(&model).backward();
        for (name, _, gradient) in gradients_by_name(&model, &gradients) {
            let flows = gradient.iter().any(|g| *g != 0.0);
            let used = !name.starts_with("decoder") && !name.starts_with("likelihood");
            assert_eq!(flows, used, "{name}");
        }
        assert_gradients(&model, loss, |name| name.starts_with("task"), 6, 1e-8);
    }
}
