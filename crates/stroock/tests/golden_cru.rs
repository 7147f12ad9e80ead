//! Continuous recurrent units end to end, against values and gradients of the published code in double precision.

mod numbers;

use std::sync::Arc;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, Gradients, Tensor, TensorData};
use numbers::doubles;
use serde_json::Value;
use stroock::initial::InitialWeights;
use stroock::model::{
    Cru, CruConfig, CruDecoder, CruDecoderConfig, CruEncoderConfig, CruFeatures, CruLatent, CruLatentConfig,
    FastCruLatentConfig, FilterPoints, Layers, LayersConfig, ModelSettings, NormalHead, NormalHeadConfig,
    VarianceKind,
};
use stroock::series::Observation;
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

const TOLERANCE: f64 = 1e-9;

fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

fn parameter<const D: usize>(a: &Array, device: &Device) -> Param<Tensor<D>> {
    Param::from_tensor(tensor(a, device))
}

fn linear(parameters: &Value, name: &str, device: &Device) -> Linear {
    let [weight, bias] = ["weight", "bias"].map(|kind| array(parameters, &format!("{name}.{kind}")));
    Linear {
        weight: Param::from_tensor(tensor::<2>(&weight, device).transpose()),
        bias: Some(parameter(&bias, device)),
    }
}

fn set_layers(layers: &mut Layers, parameters: &Value, name: &str, device: &Device) {
    for (l, map) in layers.maps.iter_mut().enumerate() {
        *map = linear(parameters, &format!("{name}.linear{l}"), device);
    }
    for (l, norm) in layers.norms.iter_mut().enumerate() {
        norm.gamma = parameter(&array(parameters, &format!("{name}.norm{l}.scale")), device);
        norm.beta = Some(parameter(&array(parameters, &format!("{name}.norm{l}.shift")), device));
    }
}

fn of<const D: usize>(parameter: &Param<Tensor<D>>, gradients: &Gradients) -> Vec<f64> {
    doubles(parameter.val().grad(gradients).expect("a gradient"))
}

/// The entries below the diagonal, row by row.
fn below_diagonal(a: &Array) -> Array {
    let n = a.shape[0];
    let entries: Vec<f64> =
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a.entries[i * n + j]).collect();
    Array { shape: vec![entries.len()], entries }
}

/// The entries of all matrices that are inside the bands, row by row.
fn inside(a: &Array, mask: &Array) -> Array {
    let extent = mask.entries.len();
    let entries: Vec<f64> = a
        .entries
        .iter()
        .enumerate()
        .filter(|(place, _)| mask.entries[place % extent] > 0.0)
        .map(|(_, entry)| *entry)
        .collect();
    Array { shape: vec![a.shape[0], entries.len() / a.shape[0]], entries }
}

/// Compares with the golden gradients.
struct Check<'a> {
    case: &'a Value,
    gradients: &'a Gradients,
}

impl Check<'_> {
    fn close(&self, name: &str, actual: &[f64]) {
        assert_close(name, actual, &array(&self.case["gradients"], name).entries, TOLERANCE);
    }

    fn map(&self, name: &str, map: &Linear) {
        let of_weight = map.weight.val().grad(self.gradients).expect("a gradient").transpose();
        self.close(&format!("{name}.weight"), &doubles(of_weight));
        self.close(&format!("{name}.bias"), &of(map.bias.as_ref().expect("a bias"), self.gradients));
    }

    fn layers(&self, name: &str, layers: &Layers) {
        for (l, map) in layers.maps.iter().enumerate() {
            self.map(&format!("{name}.linear{l}"), map);
        }
        for (l, norm) in layers.norms.iter().enumerate() {
            self.close(&format!("{name}.norm{l}.scale"), &of(&norm.gamma, self.gradients));
            let shift = norm.beta.as_ref().expect("a shift");
            self.close(&format!("{name}.norm{l}.shift"), &of(shift, self.gradients));
        }
    }
}

fn variance_kind(case: &Value, part: &str) -> VarianceKind {
    match case["activations"][part].as_str() {
        Some("elu_plus_one") => VarianceKind::EluPlusOne,
        Some("square") => VarianceKind::Square,
        Some("exp") => VarianceKind::Exponential,
        Some("softplus") => VarianceKind::Softplus,
        Some("relu") => VarianceKind::Relu,
        other => panic!("{other:?}"),
    }
}

/// How many layers a part has.
fn depth(case: &Value, name: &str) -> usize {
    (0..).find(|l| case["parameters"].get(format!("{name}.linear{l}.weight")).is_none()).expect("an end")
}

fn widths(case: &Value, name: &str) -> Vec<usize> {
    let of = |l| array(&case["parameters"], &format!("{name}.linear{l}.bias")).entries.len();
    (0..depth(case, name)).map(of).collect()
}

fn model<L: CruLatent>(case: &Value, latent: L, device: &Device) -> Cru {
    let parameters = &case["parameters"];
    let layers = |name: &str| {
        let hidden = widths(case, name);
        match parameters.get(format!("{name}.norm0.scale")) {
            Some(_) => LayersConfig::ReluNorm { hidden },
            None => LayersConfig::Tanh { hidden },
        }
    };
    let size = |key: &str| case["sizes"][key].as_u64().expect("a size") as usize;
    let config = CruConfig {
        // Features and outputs are of different widths in the file; the decoder is made for the outputs.
        observation: Observation::Vector { channels: size("output") },
        encoder: CruEncoderConfig::Vector {
            layers: layers("encoder"),
            variance: variance_kind(case, "encoder"),
        },
        latent,
        decoder: Some(CruDecoderConfig::Normal(NormalHeadConfig {
            mean: layers("decoder_mean"),
            variance: layers("decoder_variance"),
            variance_kind: variance_kind(case, "decoder"),
        })),
        task: None,
    };
    let mut model = config.init(&mut InitialWeights::new(1, device)).unwrap();
    let CruFeatures::Vector(features) = &mut model.encoder.features else { panic!("layers") };
    set_layers(features, parameters, "encoder", device);
    model.encoder.observation = linear(parameters, "encoder.y", device);
    model.encoder.variance = linear(parameters, "encoder.r", device);
    let initial = ["initial_u_raw", "initial_l_raw"].map(|key| array(parameters, key).entries).concat();
    model.filter.initial = parameter(&Array { shape: vec![initial.len()], entries: initial }, device);
    model.filter.noise = parameter(&array(parameters, "q_raw"), device);
    model.filter.mixture = linear(parameters, "mixture", device);
    match model.filter.rotation {
        None => {
            let mask = array(case, "band_mask");
            model.filter.coefficients = parameter(&inside(&array(parameters, "A"), &mask), device);
        }
        Some(_) => {
            model.filter.coefficients = parameter(&array(parameters, "lambda"), device);
            let lower = below_diagonal(&array(parameters, "skew_lower"));
            model.filter.rotation = Some(parameter(&lower, device));
        }
    }
    let Some(CruDecoder::Normal(head)) = &mut model.decoder else { panic!("a head") };
    set_layers(&mut head.mean, parameters, "decoder_mean", device);
    set_layers(&mut head.variance, parameters, "decoder_variance", device);
    head.mean_output = linear(parameters, "decoder_mean.out", device);
    head.variance_output = linear(parameters, "decoder_variance.out", device);
    model
}

/// The points of all series twice: before and after the update, no time apart.
fn points(case: &Value) -> FilterPoints {
    let [t, valid] = ["t", "valid"].map(|key| array(&case["input"], key));
    let (series, times) = (t.shape[0], t.shape[1]);
    let gap = |b: usize, i: usize| {
        if i == 0 { 0.0 } else { t.entries[b * times + i] - t.entries[b * times + i - 1] }
    };
    FilterPoints {
        offsets: (0..=series).map(|b| 2 * b * times).collect(),
        gaps: (0..series).flat_map(|b| (0..times).flat_map(move |i| [gap(b, i), 0.0])).collect(),
        observed: valid.entries.iter().flat_map(|valid| [false, *valid > 0.0]).collect(),
        requests: (0..series * times).map(|point| 2 * point + 1).collect(),
    }
}

fn check<L: CruLatent>(case: &Value, latent: L) {
    let device = Device::flex().autodiff();
    let model = model(case, latent, &device);
    let expected = |key: &str| array(&case["outputs"], key).entries;
    let [x, valid] = ["x", "valid"].map(|key| array(&case["input"], key));
    let (rows, features) = (valid.entries.len(), x.shape[2]);

    let CruFeatures::Vector(layers) = &model.encoder.features else { panic!("layers") };
    let observe = |rows: usize, entries: Vec<f64>| {
        let x = tensor::<2>(&Array { shape: vec![rows, features], entries }, &device);
        model.encoder.observations(layers.forward(x))
    };
    let all = observe(rows, x.entries.clone());
    let half = all.dims()[1] / 2;
    assert_close("y", &doubles(all.clone().narrow(1, 0, half)), &expected("y"), TOLERANCE);
    assert_close("r", &doubles(all.narrow(1, half, half)), &expected("r"), TOLERANCE);
    let seen: Vec<f64> = (x.entries.chunks(features).zip(&valid.entries))
        .filter(|(_, valid)| **valid > 0.0)
        .flat_map(|(row, _)| row.to_vec())
        .collect();
    let observations = observe(seen.len() / features, seen);

    let points = points(case);
    let beliefs = model.filter.beliefs(&points, observations).unwrap();
    if let Some(basis) = model.filter.basis() {
        assert_close("E", &doubles(basis), &expected("E"), TOLERANCE);
    }
    let before = FilterPoints { requests: (0..rows).map(|row| 2 * row).collect(), ..points.clone() };
    for (name, beliefs) in
        [("prior", before.requested(beliefs.clone())), ("posterior", points.requested(beliefs.clone()))]
    {
        let parts =
            [("mean", 0, 2 * half), ("u", 2 * half, half), ("l", 3 * half, half), ("s", 4 * half, half)];
        for (part, first, width) in parts {
            let name = format!("{name}_{part}");
            let actual = doubles(beliefs.clone().narrow(1, first, width));
            assert_close(&name, &actual, &expected(&name), TOLERANCE);
        }
    }

    let Some(CruDecoder::Normal(head)) = &model.decoder else { panic!("a head") };
    let head: &NormalHead = head;
    let (mean, variance) = head.forward(points.requested(beliefs), &model.filter);
    assert_close("mean", &doubles(mean.clone()), &expected("mean"), TOLERANCE);
    assert_close("variance", &doubles(variance.clone()), &expected("variance"), TOLERANCE);
    // The likelihood of the crate reads targets in single precision; its own test compares it with this.
    let [y, mask] = ["y", "mask"].map(|key| {
        let a = array(&case["target"], key);
        tensor::<2>(&Array { shape: vec![rows, a.shape[2]], entries: a.entries }, &device)
    });
    let floored = variance.clamp_min(number(&case["constants"], "variance_floor"));
    let constant = (2.0 * std::f64::consts::PI).ln();
    let twice = floored.clone().log() + (y - mean).powi_scalar(2) / floored;
    let per_point = (twice.add_scalar(constant) * mask).sum_dim(1).mul_scalar(0.5);
    assert_close(
        "per_point",
        &doubles(per_point.clone()),
        &array(&case["loss"], "per_point").entries,
        TOLERANCE,
    );
    let total = per_point.mean();
    assert_close("total", &doubles(total.clone()), &[number(&case["loss"], "total")], TOLERANCE);

    let gradients = total.backward();
    let check = Check { case, gradients: &gradients };
    check.layers("encoder", layers);
    check.map("encoder.y", &model.encoder.observation);
    check.map("encoder.r", &model.encoder.variance);
    check.layers("decoder_mean", &head.mean);
    check.layers("decoder_variance", &head.variance);
    check.map("decoder_mean.out", &head.mean_output);
    check.map("decoder_variance.out", &head.variance_output);
    check.map("mixture", &model.filter.mixture);
    check.close("q_raw", &of(&model.filter.noise, &gradients));
    let of_initial = of(&model.filter.initial, &gradients);
    check.close("initial_u_raw", &of_initial[..half]);
    check.close("initial_l_raw", &of_initial[half..]);
    let of_coefficients = of(&model.filter.coefficients, &gradients);
    match &model.filter.rotation {
        None => {
            let inside = inside(&array(&case["gradients"], "A"), &array(case, "band_mask"));
            assert_close("A", &of_coefficients, &inside.entries, TOLERANCE);
        }
        Some(rotation) => {
            check.close("lambda", &of_coefficients);
            let expected = below_diagonal(&array(&case["gradients"], "skew_lower"));
            assert_close("skew_lower", &of(rotation, &gradients), &expected.entries, TOLERANCE);
        }
    }
}

fn cases(name: &str) -> Vec<Value> {
    let cases = golden(name)["cases"].as_object().expect("cases").values().cloned().collect::<Vec<_>>();
    assert!(!cases.is_empty(), "{name}: no cases");
    cases
}

fn size(case: &Value, key: &str) -> usize {
    case["sizes"][key].as_u64().expect("a size") as usize
}

#[test]
fn banded_matrices() {
    for case in cases("cru.json") {
        let latent = CruLatentConfig {
            half: size(&case, "d"),
            sets: size(&case, "basis"),
            bandwidth: size(&case, "bandwidth"),
            time_scale: number(&case["constants"], "time_factor"),
            noise: variance_kind(&case, "q"),
        };
        check(&case, latent);
    }
}

#[test]
fn eigenvalues_in_a_shared_basis() {
    for case in cases("fcru.json") {
        let latent = FastCruLatentConfig {
            half: size(&case, "d"),
            sets: size(&case, "basis"),
            time_scale: number(&case["constants"], "time_factor"),
            noise: variance_kind(&case, "q"),
        };
        check(&case, latent);
    }
}

#[test]
fn the_likelihood_of_the_crate_is_the_same() {
    let device = Device::flex().autodiff();
    let data = |values: [f64; 6]| {
        Tensor::<2>::from_data(TensorData::new(values.to_vec(), [3, 2]), (&device, DType::F64))
    };
    let [mean, variance] = [data([0.5, 0.0, -1.0, 2.0, 0.25, 1.0]), data([0.5, 1.0, 2.0, 1e-7, 0.1, 3.0])];
    let [mean, variance] = [mean.require_grad(), variance.require_grad()];
    let x = [1.0, 0.0, 0.5, 1.998, -1.0, 4.0];
    let mask = [true, false, true, true, true, true];
    let values = x.map(|x| x as f32).to_vec();
    let targets = stroock::batch::Targets::new(2, vec![0, 2, 3], values.clone(), Some(&mask)).unwrap();
    let losses =
        stroock::likelihood::varying_gaussian(Arc::new(targets), mean.clone(), variance.clone()).unwrap();
    let [m, v] = [doubles(mean.clone()), doubles(variance.clone())];
    let entry = |i: usize| {
        let (x, v) = (f64::from(values[i]), v[i].max(1e-6));
        0.5 * (v.ln() + (x - m[i]).powi(2) / v + (2.0 * std::f64::consts::PI).ln())
    };
    let expected = [entry(0) + entry(2) + entry(3), entry(4) + entry(5)];
    assert_close("losses", &doubles(losses.clone()), &expected, 1e-12);
    let gradients = losses.sum().backward();
    let [of_mean, of_variance] = [mean, variance].map(|leaf| doubles(leaf.grad(&gradients).unwrap()));
    for i in 0..6 {
        let (x, floored) = (f64::from(values[i]), v[i].max(1e-6));
        let ratio = (x - m[i]) / floored;
        let seen = f64::from(u8::from(mask[i]));
        assert_close("of mean", &of_mean[i..=i], &[-seen * ratio], 1e-12);
        let above = if v[i] > 1e-6 { seen } else { 0.0 };
        let slope = 0.5 * above * (1.0 / floored - ratio * ratio);
        assert_close("of variance", &of_variance[i..=i], &[slope], 1e-12);
    }
}
