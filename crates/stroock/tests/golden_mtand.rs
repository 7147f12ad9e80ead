//! Multi-time attention networks against values and gradients of the published code.

mod golden_parts;
mod numbers;

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use golden_parts::{Comparison, Parameters, TOLERANCE, tensor};
use numbers::doubles;
use serde_json::Value;
use stroock::batch::{EncoderInput, InputPoints};
use stroock::decoder::MlpConfig;
use stroock::encoder::TimeViews;
use stroock::initial::InitialWeights;
use stroock::latent::NormalStart;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DecoderConfig, ModelSettings, MtandEncConfig, MtandFullConfig, ReferenceSizes, StandardDecoder,
    TimeViewsSizes,
};
use stroock::objective::importance_weighted_loss;
use stroock::series::Observation;
use stroock::task::{TaskConfig, TaskKind};
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

/// The points of the series of a file without their padding, and their features `[N, C]` in double precision.
fn input(file: &Value, device: &Device) -> (EncoderInput, Tensor<2>) {
    let [t, x, mask] = ["t", "x", "mask"].map(|key| array(&file["input"], key));
    let (padded, channels) = (x.shape[1], x.shape[2]);
    let lengths = match file["input"].get("length") {
        Some(_) => array(&file["input"], "length").entries.iter().map(|&length| length as usize).collect(),
        None => vec![padded; x.shape[0]],
    };
    let mut features = Vec::new();
    let mut series = Vec::new();
    for (b, &length) in lengths.iter().enumerate() {
        let rows = b * padded * channels..(b * padded + length) * channels;
        features.extend_from_slice(&x.entries[rows.clone()]);
        series.push(InputPoints {
            times: t.entries[b * padded..b * padded + length].to_vec(),
            values: x.entries[rows.clone()].iter().map(|&x| x as f32).collect(),
            seen: mask.entries[rows].iter().map(|&seen| seen > 0.0).collect(),
        });
    }
    let features = Array { shape: vec![features.len() / channels, channels], entries: features };
    (EncoderInput::new(Observation::Vector { channels }, &series), tensor(&features, device))
}

/// Attention with the parameters of a file.
fn views(of: Parameters<'_>, channels: usize) -> TimeViews {
    let mut values = of.some_inputs("value", 0..channels);
    values.bias = Some(of.vector("value.bias"));
    TimeViews {
        embedding: of.embedding(),
        query: of.linear("query"),
        key: of.linear("key"),
        values,
        presence: of.some_inputs("value", channels..2 * channels),
    }
}

fn compare_views(found: &mut Comparison<'_>, prefix: &str, views: &TimeViews) {
    found.embedding(prefix, &views.embedding);
    found.linear(&format!("{prefix}query"), &views.query);
    found.linear(&format!("{prefix}key"), &views.key);
    found.joined(&format!("{prefix}value"), &views.values, &views.presence);
}

#[test]
fn attention_and_a_recurrent_unit_at_the_observation_times() {
    let file = golden("mtand_enc.json");
    let device = Device::flex().autodiff();
    let of = Parameters { values: &file["parameters"], prefix: "", device: &device };
    let sizes = |key: &str| number(&file["sizes"], key) as usize;
    let (channels, classes) = (sizes("channels"), sizes("classes"));
    let config = MtandEncConfig {
        observation: Observation::Vector { channels },
        frames: None,
        encoder: TimeViewsSizes { embedding: sizes("embed"), hidden: sizes("hidden") },
        task: TaskConfig { output: TaskKind::ClassPerTime { classes }, network: Default::default() },
    };
    let mut model = config.init(&mut InitialWeights::new(1, &device)).unwrap();
    model.views = views(of, channels);
    model.recurrence = of.gru("");
    model.task.network.layers = vec![of.linear("head")];

    let (input, features) = input(&file, &device);
    let times: Vec<f64> = (0..input.points()).map(|point| input.time(point)).collect();
    let seen = model.views.at_own(&input, features.clone(), &input.point_offsets, &times).unwrap();
    let expected = |key: &str| array(&file["outputs"], key).entries;
    assert_close("attention", &doubles(seen), &expected("attention"), TOLERANCE);
    let states = model.observed_states(&input, features).unwrap();
    assert_close("gru", &doubles(states.clone()), &expected("gru"), TOLERANCE);
    let logits = model.task.network.forward(states);
    assert_close("logits", &doubles(logits.clone()), &expected("logits"), TOLERANCE);
    let labels: Vec<i64> =
        array(&file["target"], "label").entries.iter().map(|&label| label as i64).collect();
    let points = labels.len();
    let labels = Tensor::<2, Int>::from_data(TensorData::new(labels, [points, 1]), &device);
    let losses = log_softmax(logits, 1).gather(1, labels).neg();
    let per_point = array(&file["loss"], "per_point").entries;
    assert_close("per_point", &doubles(losses.clone()), &per_point, TOLERANCE);
    let total = losses.mean();
    assert_close("total", &doubles(total.clone()), &[number(&file["loss"], "total")], TOLERANCE);

    let gradients = total.backward();
    let mut found = Comparison::new(&file["gradients"], &gradients);
    compare_views(&mut found, "", &model.views);
    found.gru("", "", &model.recurrence);
    found.linear("head", &model.task.network.layers[0]);
    found.finish();
}

#[test]
fn a_variational_autoencoder_between_reference_points() {
    let file = golden("mtand_full.json");
    let device = Device::flex().autodiff();
    let [encoder, decoder] = ["encoder.", "decoder."].map(|prefix| Parameters {
        values: &file["parameters"],
        prefix,
        device: &device,
    });
    let sizes = |key: &str| number(&file["sizes"], key) as usize;
    let constants = |key: &str| number(&file["constants"], key);
    let (channels, references, latent) = (sizes("channels"), sizes("reference_points"), sizes("latent"));
    let width = 2 * sizes("generator");
    let config = MtandFullConfig {
        observation: Observation::Vector { channels },
        frames: None,
        latent: ReferenceSizes {
            embedding: sizes("embed"),
            reference_points: references,
            hidden: sizes("hidden"),
            head: encoder.array("head.hidden.bias").entries.len(),
            latent,
            generator: sizes("generator"),
        },
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![50], ..MlpConfig::default() }),
        likelihood: LikelihoodKind::Gaussian { scale: constants("std"), scale_kind: ScaleKind::Fixed },
        task: None,
    };
    let mut model = config.init(&mut InitialWeights::new(1, &device)).unwrap();
    model.posterior.views = views(encoder, channels);
    model.posterior.recurrence = encoder.both_grus();
    model.posterior.head.layers = vec![encoder.linear("head.hidden"), encoder.linear("head.out")];
    model.generator.recurrence = decoder.both_grus();
    model.generator.embedding = decoder.embedding();
    model.generator.query = decoder.linear("query");
    model.generator.key = decoder.linear("key");
    model.generator.values = decoder.linear("value");
    let StandardDecoder::Mlp(head) = &mut model.decoder else { panic!("linear maps") };
    head.layers = vec![decoder.linear("head.hidden"), decoder.linear("head.out")];

    let (input, features) = input(&file, &device);
    let series = input.series();
    let expected = |key: &str| array(&file["outputs"], key).entries;
    let at_references: Vec<f64> = array(&file["input"], "reference_times").entries;
    let seen = model.posterior.views.at(&input, features.clone(), &at_references).unwrap();
    assert_close("encoder_attention", &doubles(seen), &expected("encoder_attention"), TOLERANCE);
    let read = model.posterior.read(&input, features.clone()).unwrap();
    assert_close("encoder_gru", &doubles(read), &expected("encoder_gru"), TOLERANCE);
    let distribution = model.posterior.distribution(&input, features).unwrap();
    assert_close("mu", &doubles(distribution.mean.clone()), &expected("mu"), TOLERANCE);
    let ln_variance = doubles(distribution.ln_scale.clone().mul_scalar(2.0));
    assert_close("logvar", &ln_variance, &expected("logvar"), TOLERANCE);

    let noise = array(&file["noise"], "z");
    // The file has the samples first, or the series.
    let samples = sizes("samples");
    assert_eq!(noise.shape, [samples, series, references, latent]);
    let normals = Array { shape: vec![samples, series, references * latent], entries: noise.entries };
    let z = distribution.points(tensor(&normals, &device));
    assert_close("z", &doubles(z.clone()), &expected("z"), TOLERANCE);
    let read = model.generator.read(z.clone()).unwrap();
    assert_close("decoder_gru", &doubles(read), &expected("decoder_gru"), TOLERANCE);

    // Only what is asked is decoded: the points of the file without its padding.
    let [x, mask] = ["x", "mask"].map(|key| array(&file["target"], key));
    let padded = x.shape[1];
    let times: Vec<f64> = (0..input.points()).map(|point| input.time(point)).collect();
    let points = times.len();
    let kept = |all: &[f64], width: usize| -> Vec<f64> {
        let lengths = input.point_offsets.windows(2).map(|pair| pair[1] - pair[0]);
        lengths
            .enumerate()
            .flat_map(|(b, length)| all[b * padded * width..(b * padded + length) * width].to_vec())
            .collect()
    };
    let of_all_samples = |key: &str, width: usize| -> Vec<f64> {
        expected(key).chunks(series * padded * width).flat_map(|sample| kept(sample, width)).collect()
    };
    let states = model.generator.states(z.clone(), &input.point_offsets, &times).unwrap();
    let attention = of_all_samples("decoder_attention", width);
    assert_close("decoder_attention", &doubles(states.clone()), &attention, TOLERANCE);
    let StandardDecoder::Mlp(head) = &model.decoder else { panic!("linear maps") };
    let of_states = doubles(head.forward(states.reshape([samples * points, width])));
    assert_close("prediction", &of_states, &of_all_samples("prediction", channels), TOLERANCE);
    // As in training, without the states: values, and below all gradients.
    let mapped = model.generator.mapped_states(z, &input.point_offsets, &times, &head.layers[0]).unwrap();
    let mean = head.forward_behind_first(mapped.reshape([samples * points, 50]));
    let mean = mean.reshape([samples, points, channels]);
    assert_close("prediction", &doubles(mean.clone()), &of_all_samples("prediction", channels), TOLERANCE);

    // The observations of a batch are in single precision; those of the file are not.
    let of_points = |a: &Array| {
        let entries = kept(&a.entries, channels);
        tensor::<2>(&Array { shape: vec![points, channels], entries }, &device)
    };
    let (std, mask) = (constants("std"), of_points(&mask));
    let error = (mean - of_points(&x).unsqueeze_dim::<3>(0)).mul_scalar(1.0 / std);
    let constant = std.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
    let surprise = error.powi_scalar(2).mul_scalar(0.5).add_scalar(constant) * mask.clone().unsqueeze_dim(0);
    let of_series = |b: usize, per_point: Tensor<2>| {
        let [from, to] = [input.point_offsets[b], input.point_offsets[b + 1]];
        per_point.narrow(1, from, to - from).sum_dim(1)
    };
    let sums = |per_entry: Tensor<3>| {
        let [samples, points, _] = per_entry.dims();
        let per_point = per_entry.sum_dim(2).reshape([samples, points]);
        Tensor::cat((0..series).map(|b| of_series(b, per_point.clone())).collect(), 1)
    };
    let counts: Tensor<2> = sums(mask.unsqueeze_dim(0));
    let surprise: Tensor<2> = sums(surprise) / counts.clone();
    let divergence = distribution.divergence(&NormalStart::standard(series, references * latent, &counts));
    let divergence = divergence / counts.reshape([series]);
    let of_loss = |key: &str| array(&file["loss"], key).entries;
    assert_close("kl", &doubles(divergence.clone()), &of_loss("kl"), TOLERANCE);
    let log_likelihood = doubles(surprise.clone().neg());
    assert_close("log_likelihood", &log_likelihood, &of_loss("log_likelihood"), TOLERANCE);
    let losses = importance_weighted_loss(surprise, divergence.mul_scalar(constants("beta")));
    assert_close("per_series", &doubles(losses.clone()), &of_loss("per_series"), TOLERANCE);
    let total = losses.mean();
    assert_close("total", &doubles(total.clone()), &[number(&file["loss"], "total")], TOLERANCE);

    let gradients = total.backward();
    let mut found = Comparison::new(&file["gradients"], &gradients);
    compare_views(&mut found, "encoder.", &model.posterior.views);
    for (prefix, units) in
        [("encoder.", &model.posterior.recurrence), ("decoder.", &model.generator.recurrence)]
    {
        found.gru(prefix, "", &units.forward);
        found.gru(prefix, "_reverse", &units.backward);
    }
    found.linear("encoder.head.hidden", &model.posterior.head.layers[0]);
    found.linear("encoder.head.out", &model.posterior.head.layers[1]);
    found.embedding("decoder.", &model.generator.embedding);
    found.linear("decoder.query", &model.generator.query);
    found.linear("decoder.key", &model.generator.key);
    found.linear("decoder.value", &model.generator.values);
    found.linear("decoder.head.hidden", &head.layers[0]);
    found.linear("decoder.head.out", &head.layers[1]);
    found.finish();
}
