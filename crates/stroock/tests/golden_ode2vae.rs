//! ODE2VAE and ODE2VAE-KL against values and gradients of independent code.

mod numbers;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::activation::sigmoid;
use burn::tensor::{DType, Device, Gradients, Tensor, TensorData};
use numbers::doubles;
use serde_json::Value;
use stroock::initial::InitialWeights;
use stroock::latent::{NormalStart, PathGrid, PathRequests};
use stroock::model::{DensePaths, SecondOrderConfig, SecondOrderProcess, StartDensity};
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

const TOLERANCE: f64 = 1e-9;

fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

/// A matrix `[outputs, inputs]` of the file as `[inputs, outputs]`.
fn transposed(values: &Value, name: &str, device: &Device) -> Tensor<2> {
    tensor::<2>(&array(values, name), device).transpose()
}

fn linear(parameters: &Value, [weight, bias]: [String; 2], device: &Device) -> Linear {
    Linear {
        weight: Param::from_tensor(transposed(parameters, &weight, device)),
        bias: Some(Param::from_tensor(tensor(&array(parameters, &bias), device))),
    }
}

/// The names of weights and biases of a layer of the field.
fn names(layer: usize, suffix: &str) -> [String; 2] {
    ["weight", "bias"].map(|kind| format!("f.layer{layer}.{kind}{suffix}"))
}

/// Everything that the file gives.
struct Case {
    file: Value,
    device: Device,
    process: SecondOrderProcess,
    decoder: Linear,
    start: NormalStart,
    encoded: NormalStart,
    normals: Tensor<3>,
    of_field: Tensor<1>,
    kept: PathRequests,
}

fn case(density: StartDensity) -> Case {
    let file = golden("ode2vae.json");
    let device = Device::flex().autodiff();
    let size = |name: &str| number(&file["sizes"], name) as usize;
    let (series, q, kept) = (size("series"), size("q"), size("kept_frames"));
    let substeps = number(&file["constants"], "substeps") as usize;
    let config = SecondOrderConfig { dim: q, hidden: size("hidden"), variance: 1.0, substeps, density };
    assert_eq!(config.published_weight(), number(&file["constants"], "beta"));
    let mut process = SecondOrderProcess::new(config, &mut InitialWeights::new(1, &device));
    let parameters = &file["parameters"];
    process.field.layers = (0..3).map(|l| linear(parameters, names(l, "_mean"), &device)).collect();
    let ln_variance = TensorData::new(vec![number(parameters, "f.log_lambda2")], [1]);
    process.field.ln_variance = Param::from_tensor(Tensor::from_data(ln_variance, (&device, DType::F64)));
    let decoder = linear(parameters, ["decoder.weight".into(), "decoder.bias".into()], &device);
    let input = |name: &str| array(&file["input"], name);
    let leaf = |name: &str| tensor::<2>(&input(name), &device).require_grad();
    let start = NormalStart { mean: leaf("z0_mean"), ln_scale: leaf("z0_logvar") };
    let points =
        |name: &str| tensor::<3>(&input(name), &device).reshape([series * kept, 2 * q]).require_grad();
    let encoded = NormalStart { mean: points("enc_mean"), ln_scale: points("enc_logvar") };
    let normals = tensor::<2>(&array(&file["noise"], "z0"), &device).unsqueeze_dim(0);
    let of_layer = |l: usize| {
        let [weight, bias] = names(l, "");
        let weight = transposed(&file["noise"], &weight, &device);
        let count: usize = weight.dims().iter().product();
        [weight.reshape([count]), tensor::<1>(&array(&file["noise"], &bias), &device)]
    };
    let of_field = Tensor::cat((0..3).flat_map(of_layer).collect(), 0);
    let frames: Vec<usize> = input("frame").entries.iter().map(|&frame| frame as usize).collect();
    let kept = PathRequests { offsets: (0..=series).map(|b| b * kept).collect(), indices: frames };
    Case { file, device, process, decoder, start, encoded, normals, of_field, kept }
}

impl Case {
    fn grid(&self) -> PathGrid {
        let (frames, step) =
            (number(&self.file["sizes"], "frames"), number(&self.file["constants"], "frame_step"));
        PathGrid::Shared((0..frames as usize).map(|frame| frame as f64 * step).collect())
    }

    /// The distributions with standard deviations in the place of variances.
    fn scaled(distribution: &NormalStart) -> NormalStart {
        let NormalStart { mean, ln_scale } = distribution.clone();
        NormalStart { mean, ln_scale: ln_scale.mul_scalar(0.5) }
    }

    fn paths(&self, requests: &PathRequests) -> DensePaths {
        let field = self.process.field.drawn(self.of_field.clone());
        let start = Self::scaled(&self.start);
        self.process.paths(&start, self.normals.clone(), &[field], (&self.grid(), requests)).unwrap()
    }

    /// Grey values at the positions of states `[1, Q, 2q]`.
    fn decode(&self, states: Tensor<3>) -> Tensor<2> {
        let ([_, points, width], q) = (states.dims(), states.dims()[2] / 2);
        sigmoid(self.decoder.forward(states.reshape([points, width]).narrow(1, q, q)))
    }

    /// `ln p(x | s)` of each series, with the published constant inside the logarithms.
    fn ln_likelihood(&self, prediction: Tensor<2>) -> Tensor<1> {
        let x = tensor::<3>(&array(&self.file["input"], "x"), &self.device);
        let [series, points, pixels] = x.dims();
        let (p, epsilon) =
            (prediction.reshape([series, points, pixels]), number(&self.file["constants"], "pixel_epsilon"));
        let black = (p.clone().neg().add_scalar(1.0 + epsilon)).log() * (x.clone().neg().add_scalar(1.0));
        (x * p.add_scalar(epsilon).log() + black).sum_dim(2).sum_dim(1).reshape([series])
    }

    fn of_loss(&self, name: &str) -> Vec<f64> {
        match &self.file["loss"][name] {
            Value::Array(_) => array(&self.file["loss"], name).entries,
            _ => vec![number(&self.file["loss"], name)],
        }
    }

    /// The loss, with the divergence from the encoders where it is asked for.
    fn total(&self, with_encoders: bool) -> Tensor<1> {
        let paths = self.paths(&self.kept);
        let ln_likelihood = self.ln_likelihood(self.decode(paths.states.clone()));
        let beta = number(&self.file["constants"], "beta");
        let weights = self.process.field.divergence().mul_scalar(beta);
        let bound = (paths.divergence_from_prior(&self.kept.offsets) - ln_likelihood).mean() + weights;
        if !with_encoders {
            return bound;
        }
        let from_encoders = paths.divergence_from(&Self::scaled(&self.encoded), &self.kept.offsets);
        bound + from_encoders.mean().mul_scalar(number(&self.file["constants"], "gamma"))
    }

    fn assert_gradients(&self, gradients: &Gradients, expected: &Value, with_encoders: bool) {
        let close = |name: &str, actual: Vec<f64>| {
            assert_close(name, &actual, &array(expected, name).entries, TOLERANCE);
        };
        let of_matrix =
            |weight: &Param<Tensor<2>>| doubles(weight.val().grad(gradients).unwrap().transpose());
        let of_bias = |layer: &Linear| doubles(layer.bias.as_ref().unwrap().val().grad(gradients).unwrap());
        for (l, layer) in self.process.field.layers.iter().enumerate() {
            let [weight, bias] = names(l, "_mean");
            close(&weight, of_matrix(&layer.weight));
            close(&bias, of_bias(layer));
        }
        let of_variance = doubles(self.process.field.ln_variance.val().grad(gradients).unwrap());
        assert_close("ln_variance", &of_variance, &[number(expected, "f.log_lambda2")], TOLERANCE);
        close("decoder.weight", of_matrix(&self.decoder.weight));
        close("decoder.bias", of_bias(&self.decoder));
        let of = |leaf: &Tensor<2>| doubles(leaf.grad(gradients).unwrap());
        close("input.z0_mean", of(&self.start.mean));
        close("input.z0_logvar", of(&self.start.ln_scale));
        if with_encoders {
            close("input.enc_mean", of(&self.encoded.mean));
            close("input.enc_logvar", of(&self.encoded.ln_scale));
        }
    }
}

#[test]
fn paths_and_densities() {
    let case = case(StartDensity::Released);
    let [series, frames, width] = [0, 1, 2].map(|axis| array(&case.file["outputs"], "path").shape[axis]);
    let all = PathRequests {
        offsets: (0..=series).map(|b| b * frames).collect(),
        indices: (0..series).flat_map(|_| 0..frames).collect(),
    };
    let expected = |name: &str| array(&case.file["outputs"], name).entries;
    let paths = case.paths(&all);
    assert_eq!(paths.states.dims(), [1, series * frames, width]);
    assert_close("path", &doubles(paths.states), &expected("path"), TOLERANCE);
    assert_close("log_q", &doubles(paths.ln_density), &expected("log_q"), TOLERANCE);
    let kept = case.paths(&case.kept);
    assert_close("prediction", &doubles(case.decode(kept.states)), &expected("prediction"), TOLERANCE);
    let (mean, start) = (case.process.field.mean(), Case::scaled(&case.start));
    let nothing = case.normals.zeros_like();
    let along_mean = case.process.paths(&start, nothing, &[mean], (&case.grid(), &case.kept)).unwrap();
    let prediction = doubles(case.decode(along_mean.states));
    assert_close("mean_prediction", &prediction, &expected("mean_prediction"), TOLERANCE);
}

#[test]
fn parts_of_the_loss() {
    let case = case(StartDensity::Released);
    let (paths, offsets) = (case.paths(&case.kept), &case.kept.offsets);
    let ln_likelihood = doubles(case.ln_likelihood(case.decode(paths.states.clone())));
    assert_close("log_likelihood", &ln_likelihood, &case.of_loss("log_likelihood"), TOLERANCE);
    let difference = |minus: &str| -> Vec<f64> {
        let (q, p) = (case.of_loss("log_q"), case.of_loss(minus));
        q.iter().zip(p).map(|(q, p)| q - p).collect()
    };
    let from_prior = doubles(paths.divergence_from_prior(offsets));
    assert_close("prior", &from_prior, &difference("log_prior"), TOLERANCE);
    let from_encoders = doubles(paths.divergence_from(&Case::scaled(&case.encoded), offsets));
    assert_close("encoders", &from_encoders, &difference("log_q_encoder"), TOLERANCE);
    let weights = doubles(case.process.field.divergence());
    assert_close("weights", &weights, &case.of_loss("kl_weights"), TOLERANCE);
}

#[test]
fn losses_and_gradients() {
    for (with_encoders, total, gradients) in
        [(false, "total", "gradients"), (true, "total_kl", "gradients_kl")]
    {
        let case = case(StartDensity::Released);
        let loss = case.total(with_encoders);
        assert_close(total, &doubles(loss.clone()), &case.of_loss(total), TOLERANCE);
        case.assert_gradients(&loss.backward(), &case.file[gradients], with_encoders);
    }
}

#[test]
fn the_density_of_the_start_points_themselves() {
    let case = case(StartDensity::Exact);
    let name = "total_true_density";
    assert_close(name, &doubles(case.total(false)), &case.of_loss(name), TOLERANCE);
}
