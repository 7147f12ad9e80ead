//! S5: layers of diagonal complex linear recurrences between the observations (Smith, Warrington and Linderman, Simplified
//! state space layers for sequence modeling, 2023), with a gap before every step.
//!
//! What is observed at a point goes through a linear map to `u` (for frames, through convolutions and ReLU before it), and
//! through layers
//!
//! ```text
//! x_k = exp(l d g_k) x_{k-1} + (exp(l d g_k) - 1) / l B u_k,   y_k = 2 Re(C x_k) + D u_k,
//! u_k <- LayerNorm(u_k + y_k sigmoid(W gelu(y_k) + b)),
//! ```
//!
//! with complex states and eigenvalues `l`, a step `d` for each of them, and the gap `g_k` since the observation before, in
//! steps of the record; the first gap is 1. Heads of the last layer predict: numbers with a mean and a variance `ELU + 1` by
//! their normal likelihood, classes by cross entropy. It filters: what is said about a time knows the past alone. At a time
//! without an observation it is what is said at the last one before.
//!
//! Published runs train `l`, `B` and `d` at a quarter of the rate of the other parameters. Steps of Adam do not depend on the
//! size of gradients: a parameter `q` with `l = q / 4` moves `l` at a quarter of the rate, and that is how they are kept.

mod config;
mod layer;
mod noise;
mod recurrence;

pub use config::{S5Config, S5Sizes};
pub use layer::S5Layer;
pub use noise::normal_loss;
pub use recurrence::recur;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Int, Tensor, TensorData};

use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::batch::{Batch, EncoderInput, Place};
use crate::decoder::Mlp;
use crate::encoder::{EncoderError, FrameFeatures, values_like};
use crate::objective::{ElboWeights, Objective};
use crate::task::{TaskHead, label_targets};

/// Least variance of a prediction.
const LEAST_VARIANCE: f64 = 1e-6;

/// Layers of diagonal complex recurrences, and heads.
#[derive(Module, Debug)]
pub struct S5 {
    /// Frames to features, where frames are observed.
    pub frames: Option<FrameFeatures>,
    /// Features of a point to what the first layer reads.
    pub front: Linear,
    /// The layers, first to last.
    pub layers: Vec<S5Layer>,
    /// To the means of predictions, or to the logits of classes.
    pub task: TaskHead,
    /// To the variances of predictions; none for classes.
    pub variance: Option<Mlp>,
    /// Model time of a step of the record.
    #[module(skip)]
    unit: f64,
}

impl S5 {
    /// Features `[N, F]` of the points of an input: those of frames, or values (0 where there is none) and which are there.
    fn features(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        if let Some(frames) = &self.frames {
            return Ok(relu(frames.linear(input)?));
        }
        let values = values_like(input, &self.front.weight.val());
        let seen: Vec<f32> = input.seen().iter().map(|&seen| f32::from(u8::from(seen))).collect();
        let seen = TensorData::new(seen, values.dims());
        let seen = Tensor::from_data(seen, (&values.device(), values.dtype()));
        Ok(Tensor::cat(vec![values, seen], 1))
    }

    /// The gap before every point of an input, in steps of the record.
    fn gaps(&self, input: &EncoderInput) -> Vec<f64> {
        let gap = |first: usize, point: usize| match point == first {
            true => 1.0,
            false => ((input.time(point) - input.time(point - 1)) / self.unit).max(0.0),
        };
        let of_series =
            |pair: &[usize]| (pair[0]..pair[1]).map(|point| gap(pair[0], point)).collect::<Vec<_>>();
        input.point_offsets.windows(2).flat_map(of_series).collect()
    }

    /// Outputs `[N, H]` of the last layer from features `[N, F]` of points with these gaps before them.
    ///
    /// # Errors
    /// When the features do not fit, or a state overflows.
    pub fn through_layers(
        &self,
        features: Tensor<2>,
        offsets: &[usize],
        gaps: &[f64],
    ) -> Result<Tensor<2>, ModelError> {
        let (expected, actual) = (self.front.weight.val().dims()[0], features.dims()[1]);
        if expected != actual {
            return Err(EncoderError::Channels { expected, actual }.into());
        }
        if features.dims()[0] == 0 {
            let width = self.front.weight.val().dims()[1];
            return Ok(Tensor::zeros([0, width], (&features.device(), features.dtype())));
        }
        let mut u = self.front.forward(features);
        for layer in &self.layers {
            u = layer.forward(u, offsets, gaps)?;
        }
        Ok(u)
    }

    /// Variances of predictions `[M, outputs]` at outputs `[M, H]` of the last layer; `None` for classes.
    pub fn variances(&self, outputs: Tensor<2>) -> Option<Tensor<2>> {
        let raw = self.variance.as_ref()?.forward(outputs);
        // `ELU + 1` without exponentials of large numbers.
        let variance = relu(raw.clone()) + raw.clamp_max(0.0).exp();
        Some(variance.clamp_min(LEAST_VARIANCE))
    }

    /// Outputs `[Q, H]` of the last layer at the points of a batch.
    fn states(&self, batch: &Batch) -> Result<Tensor<2>, ModelError> {
        let input = &batch.input;
        let outputs = self.through_layers(self.features(input)?, &input.point_offsets, &self.gaps(input))?;
        let [rows, width] = outputs.dims();
        let places = batch.places();
        if places.len() == rows && places.iter().enumerate().all(|(q, place)| *place == Place::At(q)) {
            return Ok(outputs);
        }
        let row = |place: &Place| match *place {
            Place::At(point) | Place::Behind(Some(point)) => point as i64,
            // Before anything is known.
            Place::Behind(None) => rows as i64,
        };
        let chosen: Vec<i64> = places.iter().map(row).collect();
        let device = outputs.device();
        let nothing = Tensor::zeros([1, width], (&device, outputs.dtype()));
        let chosen = Tensor::<1, Int>::from_data(TensorData::new(chosen, [places.len()]), &device);
        Ok(Tensor::cat(vec![outputs, nothing], 0).select(0, chosen))
    }
}

impl SeriesModel for S5 {
    fn objective(&self, batch: &Batch, _: PathDraws, weights: ElboWeights) -> Result<Objective, ModelError> {
        let states = self.states(batch)?;
        let prediction = self.task.predict(states.clone().unsqueeze_dim(0), batch);
        let task = match self.variances(states) {
            Some(variances) => {
                let [_, points, width] = prediction.dims();
                let targets = label_targets(self.task.kind(), batch)?;
                normal_loss(prediction.reshape([points, width]), variances, &targets)
            }
            None => self.task.loss(prediction, batch)?,
        };
        Ok(Objective { losses: task.clone().mul_scalar(weights.task), parts: vec![("task", task)] })
    }

    /// The same prediction in every sample.
    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        if !parts.task {
            return Ok(Outputs::default());
        }
        let prediction = self.task.predict(self.states(batch)?.unsqueeze_dim(0), batch);
        let [_, rows, outputs] = prediction.dims();
        let task = Some((self.task.kind(), prediction.expand([draws.samples, rows, outputs])));
        Ok(Outputs { task, ..Outputs::default() })
    }
}
