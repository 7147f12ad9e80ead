//! Parameters of golden files as those of modules, and gradients back.

#![allow(dead_code, reason = "every test file uses some of these")]

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, Gradients, Tensor, TensorData};
use serde_json::Value;
use stroock::encoder::{BidirectionalGru, Gru, TimeEmbedding};
use stroock_testing::golden::{Array, array};

use crate::numbers::doubles;

pub const TOLERANCE: f64 = 1e-9;

pub fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

pub fn parameter<const D: usize>(a: &Array, device: &Device) -> Param<Tensor<D>> {
    Param::from_tensor(tensor(a, device))
}

/// The parameters of a golden file below a prefix.
#[derive(Clone, Copy)]
pub struct Parameters<'a> {
    pub values: &'a Value,
    pub prefix: &'a str,
    pub device: &'a Device,
}

impl Parameters<'_> {
    pub fn array(&self, name: &str) -> Array {
        array(self.values, &format!("{}{name}", self.prefix))
    }

    pub fn vector(&self, name: &str) -> Param<Tensor<1>> {
        parameter(&self.array(name), self.device)
    }

    pub fn matrix(&self, name: &str) -> Param<Tensor<2>> {
        parameter(&self.array(name), self.device)
    }

    /// A linear map from weights in the layout `[outputs, inputs]`.
    pub fn linear(&self, name: &str) -> Linear {
        let weight = self.array(&format!("{name}.weight"));
        Linear {
            weight: Param::from_tensor(tensor::<2>(&weight, self.device).transpose()),
            bias: Some(self.vector(&format!("{name}.bias"))),
        }
    }

    /// The columns of a map that read some of its inputs, without its bias.
    pub fn some_inputs(&self, name: &str, inputs: std::ops::Range<usize>) -> Linear {
        let all = self.array(&format!("{name}.weight"));
        let rows = all.entries.chunks(all.shape[1]);
        let entries: Vec<f64> = rows.flat_map(|row| row[inputs.clone()].to_vec()).collect();
        let some = Array { shape: vec![all.shape[0], inputs.len()], entries };
        Linear { weight: Param::from_tensor(tensor::<2>(&some, self.device).transpose()), bias: None }
    }

    pub fn embedding(&self) -> TimeEmbedding {
        let join = |kind: &str| {
            let parts =
                ["time_linear", "time_periodic"].map(|part| self.array(&format!("{part}.{kind}")).entries);
            let entries = parts.concat();
            parameter(&Array { shape: vec![entries.len()], entries }, self.device)
        };
        TimeEmbedding { frequency: join("weight"), phase: join("bias") }
    }

    /// A recurrent unit; `suffix` is that of its direction.
    pub fn gru(&self, suffix: &str) -> Gru {
        let name = |kind: &str| format!("gru.{kind}{suffix}");
        Gru {
            w_ih: self.matrix(&name("weight_ih")),
            w_hh: self.matrix(&name("weight_hh")),
            b_ih: self.vector(&name("bias_ih")),
            b_hh: self.vector(&name("bias_hh")),
        }
    }

    pub fn both_grus(&self) -> BidirectionalGru {
        BidirectionalGru { forward: self.gru(""), backward: self.gru("_reverse") }
    }
}

/// Gradients to compare with those of a golden file, relative to the largest of them: some are zero but for rounding.
pub struct Comparison<'a> {
    pub expected: &'a Value,
    pub gradients: &'a Gradients,
    pub largest: f64,
    pub compared: usize,
}

impl<'a> Comparison<'a> {
    pub fn new(expected: &'a Value, gradients: &'a Gradients) -> Self {
        let all = expected.as_object().expect("gradients");
        let entries = all.keys().flat_map(|name| array(expected, name).entries);
        let largest = entries.fold(0f64, |largest, x| largest.max(x.abs()));
        Self { expected, gradients, largest, compared: 0 }
    }

    pub fn entries(&mut self, name: &str, actual: &[f64]) {
        let expected = array(self.expected, name).entries;
        assert_eq!(actual.len(), expected.len(), "{name}");
        for (i, (a, e)) in actual.iter().zip(&expected).enumerate() {
            assert!((a - e).abs() <= TOLERANCE * self.largest, "{name}[{i}]: {a} is not {e}");
        }
        self.compared += 1;
    }

    pub fn of<const D: usize>(&self, parameter: &Param<Tensor<D>>) -> Tensor<D> {
        parameter.val().grad(self.gradients).expect("a gradient")
    }

    pub fn parameter<const D: usize>(&mut self, name: &str, parameter: &Param<Tensor<D>>) {
        self.entries(name, &doubles(self.of(parameter)));
    }

    pub fn linear(&mut self, name: &str, map: &Linear) {
        self.entries(&format!("{name}.weight"), &doubles(self.of(&map.weight).transpose()));
        self.parameter(&format!("{name}.bias"), map.bias.as_ref().expect("a bias"));
    }

    /// Two maps that are one in the file.
    pub fn joined(&mut self, name: &str, first: &Linear, second: &Linear) {
        let both = Tensor::cat(vec![self.of(&first.weight), self.of(&second.weight)], 0);
        self.entries(&format!("{name}.weight"), &doubles(both.transpose()));
        self.parameter(&format!("{name}.bias"), first.bias.as_ref().expect("a bias"));
    }

    pub fn embedding(&mut self, prefix: &str, embedding: &TimeEmbedding) {
        for (kind, parameter) in [("weight", &embedding.frequency), ("bias", &embedding.phase)] {
            let all = doubles(self.of(parameter));
            self.entries(&format!("{prefix}time_linear.{kind}"), &all[..1]);
            self.entries(&format!("{prefix}time_periodic.{kind}"), &all[1..]);
        }
    }

    pub fn gru(&mut self, prefix: &str, suffix: &str, gru: &Gru) {
        let name = |kind: &str| format!("{prefix}gru.{kind}{suffix}");
        self.parameter(&name("weight_ih"), &gru.w_ih);
        self.parameter(&name("weight_hh"), &gru.w_hh);
        self.parameter(&name("bias_ih"), &gru.b_ih);
        self.parameter(&name("bias_hh"), &gru.b_hh);
    }

    /// That nothing of the file was left out.
    pub fn finish(self) {
        assert_eq!(self.compared, self.expected.as_object().expect("gradients").len(), "compared gradients");
    }
}
