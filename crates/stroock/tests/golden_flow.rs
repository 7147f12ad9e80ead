//! Latent models in `R^n` end to end, against values and gradients of independent implementations.

mod numbers;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, Gradients, Tensor, TensorData};
use numbers::doubles;
use serde_json::Value;
use stroock::decoder::{Mlp, MlpConfig};
use stroock::encoder::{Direction, Gru};
use stroock::initial::InitialWeights;
use stroock::latent::{
    ContextTimes, NormalStart, PathGrid, PathNoise, PathRequests, RaggedTimes, VectorField,
};
use stroock::model::{OdeConfig, OdeProcess, SdeConfig, SdeProcess};
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

const TOLERANCE: f64 = 1e-9;

fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

fn parameter<const D: usize>(a: &Array, device: &Device) -> Param<Tensor<D>> {
    Param::from_tensor(tensor(a, device))
}

/// A linear map from weights in the layout `[outputs, inputs]`.
fn linear(parameters: &Value, name: &str, device: &Device) -> Linear {
    let [weight, bias] = ["weight", "bias"].map(|kind| array(parameters, &format!("{name}.{kind}")));
    Linear {
        weight: Param::from_tensor(tensor::<2>(&weight, device).transpose()),
        bias: Some(parameter(&bias, device)),
    }
}

fn layers(parameters: &Value, name: &str, count: usize, device: &Device) -> Vec<Linear> {
    (0..count).map(|l| linear(parameters, &format!("{name}.layer{l}"), device)).collect()
}

/// A linear map to some of the outputs of another one.
fn some_outputs(parameters: &Value, name: &str, outputs: std::ops::Range<usize>, device: &Device) -> Linear {
    let rows = |kind: &str| {
        let all = array(parameters, &format!("{name}.{kind}"));
        let row = all.entries.len() / all.shape[0];
        let mut shape = all.shape;
        shape[0] = outputs.len();
        Array { shape, entries: all.entries[outputs.start * row..outputs.end * row].to_vec() }
    };
    Linear {
        weight: Param::from_tensor(tensor::<2>(&rows("weight"), device).transpose()),
        bias: Some(parameter(&rows("bias"), device)),
    }
}

fn of<const D: usize>(parameter: &Param<Tensor<D>>, gradients: &Gradients) -> Vec<f64> {
    doubles(parameter.val().grad(gradients).expect("a gradient"))
}

fn assert_gradient(case: &Value, gradients: &Gradients, name: &str, map: &Linear) {
    let of_weight = map.weight.val().grad(gradients).expect("a gradient").transpose();
    let of_bias = map.bias.as_ref().expect("a bias").val().grad(gradients).expect("a gradient");
    for (kind, actual) in [("weight", doubles(of_weight)), ("bias", doubles(of_bias))] {
        let name = format!("{name}.{kind}");
        assert_close(&name, &actual, &array(&case["gradients"], &name).entries, TOLERANCE);
    }
}

/// `-ln N(x; mean, std^2)` summed over the observed entries of every series, averaged over samples, `[B]`.
fn negative_log_likelihood(mean: Tensor<4>, x: Tensor<3>, mask: Tensor<3>, std: f64) -> Tensor<1> {
    let series = x.dims()[0];
    let normalised = (mean - x.unsqueeze_dim::<4>(0)).mul_scalar(1.0 / std);
    let constant = std.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
    let entries =
        normalised.powi_scalar(2).mul_scalar(0.5).add_scalar(constant).mean_dim(0).squeeze_dim::<3>(0);
    (entries * mask).sum_dim(2).sum_dim(1).reshape([series])
}

/// The network of a drift, whose layers keep the gradients.
fn field(parameters: &Value, name: &str, device: &Device) -> VectorField {
    VectorField { layers: layers(parameters, name, 3, device) }
}

#[test]
fn an_ordinary_differential_equation() {
    let file = golden("latent_ode.json");
    let case = &file["cases"]["euler_mlp"];
    let (parameters, constants) = (&case["parameters"], &case["constants"]);
    let device = Device::flex().autodiff();
    let [times, h] = ["t", "h"].map(|key| array(&case["input"], key));
    let [indices, x, mask] = ["time_index", "x", "mask"].map(|key| array(&case["target"], key));
    let normals = array(&case["noise"], "z0");
    let [samples, series, n] = [0, 1, 2].map(|axis| normals.shape[axis]);
    let (points, channels) = (x.shape[1], x.shape[2]);

    let mut weights = InitialWeights::new(1, &device);
    let hidden = [0, 1].map(|l| array(parameters, &format!("drift.layer{l}.bias")).shape[0]).to_vec();
    let mut process = OdeProcess::new(h.shape[1], OdeConfig { dim: n, hidden }, &mut weights);
    process.mean = linear(parameters, "z0_mean", &device);
    process.ln_variance = linear(parameters, "z0_logvar", &device);
    process.drift = field(parameters, "drift", &device);
    let mut decoder: Mlp = MlpConfig { hidden: vec![1], ..MlpConfig::default() }.init(n, 1, &mut weights);
    decoder.layers = layers(parameters, "decoder", 2, &device);

    let start = process.start(tensor(&h, &device));
    let expected = |key: &str| array(&case["outputs"], key).entries;
    assert_close("z0_mean", &doubles(start.mean.clone()), &expected("z0_mean"), TOLERANCE);
    let ln_variance = doubles(start.ln_scale.clone().mul_scalar(2.0));
    assert_close("z0_logvar", &ln_variance, &expected("z0_logvar"), TOLERANCE);
    let start_points = start.points(tensor(&normals, &device));
    let grid = PathGrid::Shared(times.entries.clone());
    let all = PathRequests {
        offsets: (0..=series).map(|b| b * times.entries.len()).collect(),
        indices: (0..series).flat_map(|_| 0..times.entries.len()).collect(),
    };
    let path = process.states(start_points.clone(), grid.clone(), all).unwrap();
    assert_close("path", &doubles(path), &expected("path"), TOLERANCE);

    let requests = PathRequests {
        offsets: (0..=series).map(|b| b * points).collect(),
        indices: indices.entries.iter().map(|&index| index as usize).collect(),
    };
    let states = process.states(start_points, grid, requests).unwrap();
    let mean = decoder.forward(states.reshape([samples * series * points, n]));
    let mean = mean.reshape([samples, series, points, channels]);
    assert_close("prediction", &doubles(mean.clone()), &expected("prediction"), TOLERANCE);
    let std = number(constants, "std");
    let nll = negative_log_likelihood(mean, tensor(&x, &device), tensor(&mask, &device), std);
    let kl = start.divergence(&NormalStart::standard(series, n, &start.mean));
    let of_loss = |key: &str| array(&case["loss"], key).entries;
    assert_close("nll", &doubles(nll.clone()), &of_loss("nll"), TOLERANCE);
    assert_close("kl0", &doubles(kl.clone()), &of_loss("kl0"), TOLERANCE);
    let counts = tensor::<1>(&array(&case["loss"], "count"), &device);
    let losses = (nll + kl.mul_scalar(number(constants, "kl0_weight"))) / counts;
    assert_close("per_series", &doubles(losses.clone()), &of_loss("per_series"), TOLERANCE);

    let gradients = losses.mean().backward();
    assert_gradient(case, &gradients, "z0_mean", &process.mean);
    assert_gradient(case, &gradients, "z0_logvar", &process.ln_variance);
    for (name, layers) in [("drift", &process.drift.layers), ("decoder", &decoder.layers)] {
        for (l, layer) in layers.iter().enumerate() {
            assert_gradient(case, &gradients, &format!("{name}.layer{l}"), layer);
        }
    }
}

/// The diffusion of every coordinate from networks of their own, `[n, H]` and `[n]`.
fn diffusion(parameters: &Value, n: usize, kind: &str) -> Array {
    let of_coordinate = |i: usize| array(parameters, &format!("g.coordinate{i}.{kind}")).entries;
    let entries: Vec<f64> = (0..n).flat_map(of_coordinate).collect();
    let shape = if entries.len() == n { vec![n] } else { vec![n, entries.len() / n] };
    Array { shape, entries }
}

const DIFFUSION: [&str; 4] = ["layer0.weight", "layer0.bias", "layer1.weight", "layer1.bias"];

/// A case of the stochastic differential equation; without an encoder, its contexts are given, one for every series.
fn stochastic(case: &Value, encoder: Option<(Gru, Linear)>) {
    let (parameters, constants) = (&case["parameters"], &case["constants"]);
    let device = Device::flex().autodiff();
    let [times, at, x] = ["t", "step_of_observation", "x"].map(|key| array(&case["input"], key));
    let [normals, increments] = ["z0", "brownian_increments"].map(|key| array(&case["noise"], key));
    let (series, steps, n) = (increments.shape[0], increments.shape[1], increments.shape[2]);
    let (points, channels) = (x.shape[1], x.shape[2]);
    let dt = number(constants, "dt");

    // One context for every series, or one for every observation of every series, [B * points, C].
    let context: Tensor<2> = match &encoder {
        None => tensor(&array(&case["input"], "context"), &device),
        Some((gru, to_context)) => {
            let rows = tensor::<3>(&x, &device).reshape([series * points, channels]);
            let offsets: Vec<usize> = (0..=series).map(|b| b * points).collect();
            to_context.forward(gru.states(rows, &offsets, Direction::Backward).unwrap())
        }
    };
    let (of_start, contexts) = match &encoder {
        None => (context.clone(), ContextTimes::Constant),
        Some(_) => {
            let width = context.dims()[1];
            let all = context.clone().reshape([series, points, width]);
            assert_close(
                "context",
                &doubles(all.clone()),
                &array(&case["outputs"], "context").entries,
                TOLERANCE,
            );
            let first = all.narrow(1, 0, 1).reshape([series, width]);
            let offsets = (0..=series).map(|b| b * points).collect();
            let times = times.entries.repeat(series);
            (first, ContextTimes::Next(RaggedTimes { offsets, times }))
        }
    };

    let mut weights = InitialWeights::new(1, &device);
    let hidden = [0, 1].map(|l| array(parameters, &format!("f.layer{l}.bias")).shape[0]).to_vec();
    let diffusion_hidden = diffusion(parameters, n, DIFFUSION[0]).shape[1];
    let config = SdeConfig { dim: n, hidden, diffusion_hidden };
    let mut process = SdeProcess::new(context.dims()[1], config, &mut weights);
    process.mean = some_outputs(parameters, "z0_posterior", 0..n, &device);
    process.ln_scale = some_outputs(parameters, "z0_posterior", n..2 * n, &device);
    process.drift = field(parameters, "f", &device);
    process.prior = field(parameters, "h", &device);
    let [w, b, outer, outer_bias] = DIFFUSION.map(|kind| diffusion(parameters, n, kind));
    process.diffusion.weight = parameter(&w, &device);
    process.diffusion.bias = parameter(&b, &device);
    process.diffusion.outer_weight = parameter(&outer, &device);
    process.diffusion.outer_bias = parameter(&outer_bias, &device);
    process.prior_mean = parameter(&array(parameters, "z0_prior.mean"), &device);
    process.prior_ln_scale = parameter(&array(parameters, "z0_prior.logstd"), &device);
    let decoder = linear(parameters, "decoder", &device);

    let start = process.start(of_start);
    let expected = |key: &str| array(&case["outputs"], key).entries;
    assert_close("z0_mean", &doubles(start.mean.clone()), &expected("z0_mean"), TOLERANCE);
    assert_close("z0_logstd", &doubles(start.ln_scale.clone()), &expected("z0_logstd"), TOLERANCE);
    let start_points = start.points(tensor::<2>(&normals, &device).unsqueeze_dim(0));
    let plan = |requests: &[usize]| {
        let grid = PathGrid::Shared((0..=steps).map(|j| j as f64 * dt).collect());
        let of_all = PathRequests {
            offsets: (0..=series).map(|b| b * requests.len()).collect(),
            indices: requests.repeat(series),
        };
        let noise = increments.entries.iter().map(|increment| increment / dt.sqrt()).collect();
        process.plan(1, grid, of_all, PathNoise::Given(noise), contexts.clone())
    };
    let everywhere: Vec<usize> = (0..=steps).collect();
    let whole = process.posterior(plan(&everywhere), start_points.clone(), context.clone()).unwrap();
    assert_close("path", &doubles(whole.states), &expected("path"), TOLERANCE);
    let of_prior = process.prior_states(plan(&everywhere), start_points.clone()).unwrap();
    assert_close("prior_path", &doubles(of_prior), &expected("prior_path"), TOLERANCE);

    let observed: Vec<usize> = at.entries.iter().map(|&step| step as usize).collect();
    let paths = process.posterior(plan(&observed), start_points, context).unwrap();
    let mean = decoder.forward(paths.states.reshape([series * points, n]));
    assert_close("prediction", &doubles(mean.clone()), &expected("prediction"), TOLERANCE);
    let mean = mean.reshape([1, series, points, channels]);
    let std = number(constants, "std");
    let values = tensor::<3>(&x, &device);
    let nll = negative_log_likelihood(mean, values.clone(), values.ones_like(), std);
    let (kl_start, kl_path) = (start.divergence(&process.prior_start(series)), paths.kl.reshape([series]));
    let of_loss = |key: &str| array(&case["loss"], key).entries;
    assert_close("log_likelihood", &doubles(nll.clone().neg()), &of_loss("log_likelihood"), TOLERANCE);
    assert_close("kl0", &doubles(kl_start.clone()), &of_loss("kl0"), TOLERANCE);
    assert_close("path_kl", &doubles(kl_path.clone()), &of_loss("path_kl"), TOLERANCE);
    let total = (nll + (kl_start + kl_path).mul_scalar(number(constants, "beta"))).mean();
    assert_close("total", &doubles(total.clone()), &[number(&case["loss"], "total")], TOLERANCE);

    let gradients = total.backward();
    for (name, layers) in [("f", &process.drift.layers), ("h", &process.prior.layers)] {
        for (l, layer) in layers.iter().enumerate() {
            assert_gradient(case, &gradients, &format!("{name}.layer{l}"), layer);
        }
    }
    let diffusions = &process.diffusion;
    let of_diffusion = [
        of(&diffusions.weight, &gradients),
        of(&diffusions.bias, &gradients),
        of(&diffusions.outer_weight, &gradients),
        of(&diffusions.outer_bias, &gradients),
    ];
    for (kind, actual) in DIFFUSION.into_iter().zip(of_diffusion) {
        assert_close(kind, &actual, &diffusion(&case["gradients"], n, kind).entries, TOLERANCE);
    }
    for (name, parameter) in
        [("z0_prior.mean", &process.prior_mean), ("z0_prior.logstd", &process.prior_ln_scale)]
    {
        let expected = array(&case["gradients"], name).entries;
        assert_close(name, &of(parameter, &gradients), &expected, TOLERANCE);
    }
    // The two heads of the start are one map in the file.
    let expected = array(&case["gradients"], "z0_posterior.weight").entries;
    let heads = [&process.mean, &process.ln_scale];
    let of_weight =
        |map: &Linear| doubles(map.weight.val().grad(&gradients).expect("a gradient").transpose());
    assert_close("z0_posterior.weight", &heads.map(of_weight).concat(), &expected, TOLERANCE);
    let of_bias = |map: &Linear| of(map.bias.as_ref().expect("a bias"), &gradients);
    let expected = array(&case["gradients"], "z0_posterior.bias").entries;
    assert_close("z0_posterior.bias", &heads.map(of_bias).concat(), &expected, TOLERANCE);
    assert_gradient(case, &gradients, "decoder", &decoder);
    if let Some((gru, to_context)) = &encoder {
        assert_gradient(case, &gradients, "encoder.context", to_context);
        for (name, actual) in [
            ("weight_ih", of(&gru.w_ih, &gradients)),
            ("weight_hh", of(&gru.w_hh, &gradients)),
            ("bias_ih", of(&gru.b_ih, &gradients)),
            ("bias_hh", of(&gru.b_hh, &gradients)),
        ] {
            let expected = array(&case["gradients"], &format!("encoder.gru.{name}")).entries;
            assert_close(name, &actual, &expected, TOLERANCE);
        }
    }
}

#[test]
fn a_stochastic_differential_equation_with_a_constant_context() {
    stochastic(&golden("latent_sde.json")["cases"]["constant_context"], None);
}

#[test]
fn a_stochastic_differential_equation_with_a_context_for_every_observation() {
    let file = golden("latent_sde.json");
    let case = &file["cases"]["context_per_observation"];
    let (parameters, device) = (&case["parameters"], Device::flex().autodiff());
    let of = |name: &str| array(parameters, &format!("encoder.gru.{name}"));
    let gru = Gru {
        w_ih: parameter(&of("weight_ih"), &device),
        w_hh: parameter(&of("weight_hh"), &device),
        b_ih: parameter(&of("bias_ih"), &device),
        b_hh: parameter(&of("bias_hh"), &device),
    };
    let to_context = linear(parameters, "encoder.context", &device);
    stochastic(case, Some((gru, to_context)));
}
