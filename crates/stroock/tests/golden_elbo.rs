//! One small evidence lower bound end to end, against values of an independent implementation.

use std::sync::Arc;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, Tensor, TensorData};
use stroock::batch::Targets;
use stroock::decoder::{Decoder, MlpConfig};
use stroock::initial::InitialWeights;
use stroock::latent::{
    DriftKind, LatentConfig, PathDrift, PathGrid, PathNoise, PathPlan, PathProcess, PathRequests, simulate,
};
use stroock::likelihood::{GaussianConfig, ScaleKind};
use stroock::objective::{ElboParts, ElboWeights};
use stroock_geometry::PowerSpherical;
use stroock_kernels::path::{PathSolver, Space};
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

fn doubles<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().try_to_vec().expect("double precision")
}

/// A linear map from weights in the layout `[outputs, inputs]`.
fn linear(weight: &Array, bias: &Array, device: &Device) -> Linear {
    let mut linear = burn::nn::LinearConfig::new(weight.shape[1], weight.shape[0]).init(device);
    linear.weight = Param::from_tensor(tensor::<2>(weight, device).transpose());
    linear.bias = Some(Param::from_tensor(tensor::<1>(bias, device)));
    linear
}

#[test]
fn golden_elbo_in_value_and_gradient() {
    let file = golden("elbo.json");
    let device = Device::flex().autodiff();
    let parameters = &file["parameters"];
    let of = |name: &str| array(parameters, name);
    let n = number(&file, "n") as usize;
    let [h, z0, times, noise] = ["h", "z0", "t", "noise"].map(|key| array(&file, key));
    let (samples, series) = (z0.shape[0], z0.shape[1]);
    let m = Space::Sphere.algebra_dim(n);
    let drift_weight = of("q._time_fn.map.weight");
    let terms = drift_weight.shape[0] / m;

    let drift = DriftKind::Chebyshev { terms, interval: (0.0, 2.0) };
    let mut initial = InitialWeights::new(1, &device);
    let mut process = PathProcess::new(
        h.shape[1],
        &LatentConfig { dim: n, drift, ..LatentConfig::default() },
        &mut initial,
    );
    process.mu = linear(&of("q._loc_map.weight"), &of("q._loc_map.bias"), &device);
    process.kappa = linear(&of("q._scl_map.weight"), &of("q._scl_map.bias"), &device);
    process.drift = linear(&drift_weight, &of("q._time_fn.map.bias"), &device);
    let scalar = |x: f64| {
        Param::from_tensor(Tensor::<1>::from_data(TensorData::new(vec![x], [1]), (&device, DType::F64)))
    };
    process.sigma = scalar(number(parameters, "q._sigma"));
    let mut decoder = MlpConfig { hidden: vec![1], ..MlpConfig::default() }.init(n, 1, &mut initial);
    for (layer, i) in decoder.layers.iter_mut().zip(["0", "2"]) {
        let [weight, bias] = ["weight", "bias"].map(|kind| of(&format!("dec.mu_map.map.{i}.{kind}")));
        *layer = linear(&weight, &bias, &device);
    }
    // The standard deviation of the reference is the square of its parameter.
    let root_scale = number(parameters, "dec.sigma");
    let scale = root_scale * root_scale;
    let mut likelihood = GaussianConfig { scale, kind: ScaleKind::Learned, channels: 1 }.init(&device);
    likelihood.ln_scale = scalar(scale.ln());

    let [indices, values, mask] = ["evd_tid", "evd_obs", "evd_mask"].map(|key| array(&file, key));
    let (points, channels) = (values.shape[1], values.shape[2]);
    let offsets: Vec<usize> = (0..=series).map(|b| b * points).collect();
    let observed: Vec<bool> = mask.entries.iter().map(|&x| x > 0.5).collect();
    let single: Vec<f32> = values.entries.iter().map(|&x| x as f32).collect();
    let targets = Arc::new(Targets::new(channels, offsets.clone(), single, Some(&observed)).unwrap());

    let of_process = process.parameters(tensor::<2>(&h, &device));
    assert_close("mu", &doubles(of_process.location.clone()), &array(&file, "mu").entries, 1e-12);
    assert_close("kappa", &doubles(of_process.spread.clone()), &array(&file, "kappa").entries, 1e-12);

    // The start points are given, so the divergence of their distributions is all that depends on `mu` and `kappa`.
    let last = *times.entries.last().expect("a time");
    let plan = PathPlan {
        space: Space::Sphere,
        dim: n,
        samples,
        grid: PathGrid::Shared(times.entries.clone()),
        drift: PathDrift::Chebyshev { terms, interval: (0.0, 2.0 * last) },
        noise: PathNoise::Given(noise.entries.clone()),
        requests: PathRequests {
            offsets,
            indices: indices.entries.iter().map(|&index| index as usize).collect(),
        },
        solver: PathSolver::default(),
    };
    let path = simulate(plan, tensor::<3>(&z0, &device), of_process.drift, of_process.sigma, None).unwrap();
    let kl_path = path.kl.mean_dim(0).reshape([series]);
    let twice: Vec<f64> = doubles(kl_path.clone()).iter().map(|kl| 2.0 * kl).collect();
    assert_close("klp", &twice, &array(&file, "klp_reference").entries, 1e-10);

    let rows = samples * targets.points();
    let mean = decoder.decode(path.states.reshape([rows, n])).unwrap();
    let mean = mean.reshape([samples, targets.points(), channels]);
    let nll = likelihood.negative_log_likelihood(mean, Arc::clone(&targets)).unwrap();
    // Targets are single precision.
    assert_close("nll", &doubles(nll.clone()), &array(&file, "nll").entries, 1e-6);

    let kl_start = kl_to_uniform(of_process.location, of_process.spread);
    // The reference rounds the entropy of the uniform distribution to single precision: all its values are
    // 6.444e-8 below those of arbitrary precision, which ours agree with.
    assert_close("kl0", &doubles(kl_start.clone()), &array(&file, "kl0").entries, 1e-7);
    let parts = ElboParts { kl_start, kl_path, negative_log_likelihood: nll, task: None };
    let counts: Vec<f64> = targets.counts().iter().map(|&count| count as f64).collect();
    let counts = Tensor::<1>::from_data(TensorData::new(counts, [series]), (&device, DType::F64));
    let weights = ElboWeights { kl_start: 0.01, kl_path: 2.0 * 0.02, ..ElboWeights::default() };
    let loss = parts.loss(weights, counts);
    assert_close("loss", &doubles(loss.clone()), &array(&file, "loss").entries, 1e-6);

    let gradients = loss.mean().backward();
    let expected = |name: &str| array(&file["gradients"], name).entries;
    let of_weight =
        |linear: &Linear| doubles(linear.weight.val().grad(&gradients).expect("a gradient").transpose());
    let of_bias = |linear: &Linear| {
        let bias = linear.bias.as_ref().expect("a bias");
        doubles(bias.val().grad(&gradients).expect("a gradient"))
    };
    for (name, linear) in [
        ("q._scl_map", &process.kappa),
        ("q._time_fn.map", &process.drift),
        ("dec.mu_map.map.0", &decoder.layers[0]),
        ("dec.mu_map.map.2", &decoder.layers[1]),
    ] {
        assert_close(name, &of_weight(linear), &expected(&format!("{name}.weight")), 1e-6);
        assert_close(name, &of_bias(linear), &expected(&format!("{name}.bias")), 1e-6);
    }
    let of_sigma = doubles(process.sigma.val().grad(&gradients).expect("a gradient"));
    assert_close("sigma", &of_sigma, &[number(&file["gradients"], "q._sigma")], 1e-6);
    // d/d(root scale) = d/d(ln scale) * 2 / (root scale).
    let of_ln_scale = doubles(likelihood.ln_scale.val().grad(&gradients).expect("a gradient"))[0];
    assert_close(
        "scale",
        &[of_ln_scale * 2.0 / root_scale],
        &[number(&file["gradients"], "dec.sigma")],
        1e-6,
    );
}

/// The divergence of the start distributions as a differentiable tensor, through draws that are thrown away.
fn kl_to_uniform(mu: Tensor<2>, kappa: Tensor<1>) -> Tensor<1> {
    let [series, dim] = mu.dims();
    let plan = stroock::latent::StartPlan {
        kind: stroock_kernels::start::StartKind::PowerSpherical,
        dim,
        key: stroock_kernels::noise::NoiseKey::new(0, 0),
        series: (0..series as u32).collect(),
        samples: 1,
        first_sample: 0,
    };
    let check = doubles(kappa.clone());
    let start = stroock::latent::start_points(plan, mu.clone(), kappa).unwrap();
    let direction = doubles(mu);
    for (b, kl) in doubles(start.kl.clone()).into_iter().enumerate() {
        let process = PowerSpherical::new(&direction[b * dim..(b + 1) * dim], check[b]).unwrap();
        assert!((kl - process.kl_to_uniform()).abs() < 1e-12);
    }
    start.kl
}
