//! The latent ordinary differential equation with an encoder of its kind, against values and gradients of the code of its
//! authors.

mod numbers;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::activation::log_softmax;
use burn::tensor::{DType, Device, Gradients, Int, Tensor, TensorData};
use numbers::doubles;
use serde_json::Value;
use stroock::decoder::MlpConfig;
use stroock::encoder::{OdeRnnConfig, PointTimes};
use stroock::initial::InitialWeights;
use stroock::latent::{NormalStart, PathGrid, PathRequests};
use stroock::model::{
    DecoderConfig, ImportanceBound, ModelSettings, OdeConfig, OdeOde, OdeOdeConfig, ScoredEntries,
    StandardDecoder, importance_bound,
};
use stroock::series::Observation;
use stroock::task::{TaskConfig, TaskKind};
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

const TOLERANCE: f64 = 1e-9;

fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

/// A linear map from weights in the layout `[outputs, inputs]`.
fn linear(parameters: &Value, name: &str, device: &Device) -> Linear {
    let [weight, bias] = ["weight", "bias"].map(|kind| array(parameters, &format!("{name}.{kind}")));
    Linear {
        weight: Param::from_tensor(tensor::<2>(&weight, device).transpose()),
        bias: Some(Param::from_tensor(tensor(&bias, device))),
    }
}

fn layers(parameters: &Value, name: &str, count: usize, device: &Device) -> Vec<Linear> {
    (0..count).map(|l| linear(parameters, &format!("{name}.layer{l}"), device)).collect()
}

/// Names of networks in the file, and how many layers they have.
const NETWORKS: [(&str, usize); 6] = [
    ("encoder.update_gate", 2),
    ("encoder.reset_gate", 2),
    ("encoder.new_state_net", 2),
    ("encoder.ode", 3),
    ("encoder.to_z0", 2),
    ("generator.ode", 3),
];

fn networks(model: &OdeOde) -> [&Vec<Linear>; 6] {
    let encoder = &model.encoder;
    [
        &encoder.update.layers,
        &encoder.reset.layers,
        &encoder.candidate.layers,
        &encoder.drift.layers,
        &model.start.network.layers,
        &model.drift.layers,
    ]
}

fn model(case: &Value, device: &Device) -> OdeOde {
    let size = |name: &str| number(&case["sizes"], name) as usize;
    let output = TaskKind::ClassPerTime { classes: size("classes") };
    let config = OdeOdeConfig {
        encoder: OdeRnnConfig {
            frames: None,
            state: size("recognition"),
            hidden: vec![size("units"); size("encoder_hidden_layers")],
            gates: size("gru_units"),
        },
        latent: OdeConfig {
            dim: size("latent"),
            hidden: vec![size("units"); size("generator_hidden_layers")],
        },
        scale: number(&case["constants"], "std"),
        task: Some(TaskConfig { output, network: MlpConfig::default() }),
        ..OdeOdeConfig::new(
            Observation::Vector { channels: size("channels") },
            DecoderConfig::Mlp(MlpConfig::default()),
        )
    };
    let mut model = config.init(&mut InitialWeights::new(1, device)).unwrap();
    let of = |index: usize| layers(&case["parameters"], NETWORKS[index].0, NETWORKS[index].1, device);
    model.encoder.update.layers = of(0);
    model.encoder.reset.layers = of(1);
    model.encoder.candidate.layers = of(2);
    model.encoder.drift.layers = of(3);
    model.start.network.layers = of(4);
    model.drift.layers = of(5);
    let StandardDecoder::Mlp(decoder) = &mut model.decoder else { panic!("linear maps") };
    decoder.layers = vec![linear(&case["parameters"], "decoder", device)];
    let task = model.task.as_mut().unwrap();
    task.network.layers = vec![linear(&case["parameters"], "classifier", device)];
    model
}

/// States `[S, Q, n]` at all points, and the distributions of the start points.
fn states(case: &Value, model: &OdeOde, device: &Device) -> (Tensor<3>, NormalStart) {
    let [times, x, mask] = ["t", "x", "mask"].map(|name| array(&case["input"], name));
    let (series, points, channels) = (x.shape[0], x.shape[1], x.shape[2]);
    let both = Tensor::cat(vec![tensor::<3>(&x, device) * tensor(&mask, device), tensor(&mask, device)], 2);
    let offsets: Vec<usize> = (0..=series).map(|b| b * points).collect();
    let at = PointTimes {
        offsets: offsets.clone(),
        times: times.entries.repeat(series),
        observed: mask.entries.chunks(channels).map(|row| row.contains(&1.0)).collect(),
    };
    assert!(at.observed.contains(&false), "points without values are to be seen");
    let h = model.encoder.encode_points(&at, both.reshape([series * points, 2 * channels]));
    let state = h.dims()[1] / 2;
    // Points are gone through from the last to the first.
    for (name, part) in [("encoder_mean_after_update", 0), ("encoder_std_after_update", state)] {
        let after = tensor::<3>(&array(&case["outputs"], name), device).narrow(1, 0, 1);
        assert_close(name, &doubles(h.clone().narrow(1, part, state)), &doubles(after), TOLERANCE);
    }
    let start = model.start.distributions(h);
    let expected = |name: &str| array(&case["outputs"], name).entries;
    assert_close("z0_mean", &doubles(start.mean.clone()), &expected("z0_mean"), TOLERANCE);
    assert_close("z0_std", &doubles(start.ln_scale.clone().exp()), &expected("z0_std"), TOLERANCE);
    let start_points = start.points(tensor(&array(&case["noise"], "z0"), device));
    assert_close("z0", &doubles(start_points.clone()), &expected("z0"), TOLERANCE);
    let requests = PathRequests { offsets, indices: (0..series).flat_map(|_| 0..points).collect() };
    let states = model.states(start_points, PathGrid::Shared(times.entries.clone()), requests).unwrap();
    assert_close("path", &doubles(states.clone()), &expected("path"), TOLERANCE);
    (states, start)
}

fn assert_gradients(model: &OdeOde, gradients: &Gradients, expected: &Value, head: (&str, &Linear)) {
    let named = NETWORKS.iter().zip(networks(model)).flat_map(|((name, _), layers)| {
        layers.iter().enumerate().map(move |(l, layer)| (format!("{name}.layer{l}"), layer))
    });
    for (name, layer) in named.chain([(head.0.to_owned(), head.1)]) {
        let of_weight = layer.weight.val().grad(gradients).expect("a gradient").transpose();
        let of_bias = layer.bias.as_ref().unwrap().val().grad(gradients).expect("a gradient");
        for (kind, actual) in [("weight", doubles(of_weight)), ("bias", doubles(of_bias))] {
            let name = format!("{name}.{kind}");
            assert_close(&name, &actual, &array(expected, &name).entries, TOLERANCE);
        }
    }
}

#[test]
fn the_bound_and_its_gradients() {
    let file = golden("latent_ode.json");
    let case = &file["cases"]["ode_rnn"];
    let device = Device::flex().autodiff();
    let model = model(case, &device);
    let (states, start) = states(case, &model, &device);
    let [samples, points, n] = states.dims();
    let [x, mask] = ["x", "mask"].map(|name| array(&case["target"], name));
    let (series, channels) = (x.shape[0], x.shape[2]);

    let prediction = model.decode(states).unwrap();
    assert_close(
        "prediction",
        &doubles(prediction.clone()),
        &array(&case["outputs"], "prediction").entries,
        TOLERANCE,
    );
    let mask = tensor::<3>(&mask, &device);
    let counts = mask.clone().sum_dim(1).clamp_min(1.0).mul_scalar(channels as f64);
    let entries = ScoredEntries {
        values: tensor::<3>(&x, &device).reshape([points, channels]),
        shares: (mask / counts).reshape([points, channels]),
        offsets: (0..=series).map(|b| b * points / series).collect(),
    };
    let ln_p = entries.ln_likelihoods(prediction, number(&case["constants"], "std")).unwrap();
    let of_samples = doubles(ln_p.clone().mean_dim(1));
    let expected = array(&case["loss"], "log_likelihood_per_sample").entries;
    assert_eq!(expected.len(), samples);
    assert_close("log likelihoods", &of_samples, &expected, TOLERANCE);
    let kl = start.divergence(&NormalStart::standard(series, n, &start.mean)).mul_scalar(1.0 / n as f64);
    assert_close("kl", &doubles(kl.clone().mean()), &[number(&case["loss"], "kl")], TOLERANCE);

    let weighted = kl.mul_scalar(number(&case["constants"], "beta"));
    let of_series = importance_bound(ImportanceBound::Series, ln_p.clone(), weighted.clone());
    // Of one sample, the bound is its log likelihood less the divergence.
    let one = importance_bound(ImportanceBound::Series, ln_p.clone().narrow(0, 0, 1), weighted.clone());
    let difference = doubles(ln_p.clone().narrow(0, 0, 1).reshape([series]) - weighted.clone());
    assert_close("one sample", &doubles(one), &difference, TOLERANCE);
    let by_hand: Vec<f64> = (0..series)
        .map(|b| {
            let ln_p = doubles(ln_p.clone());
            let sum: f64 = (0..samples).map(|s| (ln_p[s * series + b] - ln_p[b]).exp()).sum();
            (sum / samples as f64).ln() + ln_p[b] - doubles(weighted.clone())[b]
        })
        .collect();
    assert_close("bounds of series", &doubles(of_series), &by_hand, TOLERANCE);

    let loss = importance_bound(ImportanceBound::Released, ln_p, weighted).mean().neg();
    assert_close(
        "reconstruction",
        &doubles(loss.clone()),
        &[number(&case["loss"], "reconstruction")],
        TOLERANCE,
    );
    let StandardDecoder::Mlp(decoder) = &model.decoder else { panic!("linear maps") };
    let expected = &case["gradients_of_reconstruction"];
    assert_gradients(&model, &loss.backward(), expected, ("decoder", &decoder.layers[0]));
}

#[test]
fn the_cross_entropy_and_its_gradients() {
    let file = golden("latent_ode.json");
    let case = &file["cases"]["ode_rnn"];
    let device = Device::flex().autodiff();
    let model = model(case, &device);
    let (states, _) = states(case, &model, &device);
    let [samples, points, n] = states.dims();
    let classifier = &model.task.as_ref().unwrap().network;
    let logits = classifier.forward(states.reshape([samples * points, n]));
    let expected = array(&case["outputs"], "logits").entries;
    assert_close("logits", &doubles(logits.clone()), &expected, TOLERANCE);

    let [labels, mask] = ["label", "mask"].map(|name| array(&case["target"], name));
    let labels: Vec<i64> = labels.entries.repeat(samples).iter().map(|&label| label as i64).collect();
    let labels = Tensor::<1, Int>::from_data(TensorData::new(labels, [samples * points]), &device);
    let channels = mask.shape[2];
    let known: Vec<f64> =
        mask.entries.chunks(channels).map(|row| f64::from(u8::from(row.contains(&1.0)))).collect();
    let count = known.iter().sum::<f64>() * samples as f64;
    let known = TensorData::new(known.repeat(samples), [samples * points, 1]);
    let known = Tensor::<2>::from_data(known, (&device, DType::F64));
    let chosen = log_softmax(logits, 1).gather(1, labels.unsqueeze_dim(1));
    let loss = (chosen * known).sum().mul_scalar(-1.0 / count);
    let expected = [number(&case["loss"], "cross_entropy")];
    assert_close("cross_entropy", &doubles(loss.clone()), &expected, TOLERANCE);
    let head = ("classifier", &classifier.layers[0]);
    assert_gradients(&model, &loss.backward(), &case["gradients_of_cross_entropy"], head);
}
