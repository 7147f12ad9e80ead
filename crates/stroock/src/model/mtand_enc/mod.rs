//! mTAND-Enc: time attention at the observation times, a recurrent unit over them, and a prediction from each of its states
//! (Shukla and Marlin, Multi-time attention networks for irregularly sampled time series, 2021).
//!
//! With the views `x_i` that multi-time attention has of a series at its own observation times `t_i`,
//!
//! ```text
//! h_i = GRU(x_i, h_{i-1}),   h_0 = 0,   prediction at t_i = head(h_i).
//! ```
//!
//! Attention sees the whole series, the recurrent unit what lies behind. Nothing is random, and observations are not
//! modelled: there is a task, and its loss is the objective. At a time `t` without an observation the prediction is that of
//! one further step, `head(GRU(x(t), h_i))` from the last observation before `t`, so that what is said about a time does
//! not depend on which other times are asked for.

mod config;

pub use config::{MtandEncConfig, TimeViewsSizes};

use burn::module::Module;
use burn::tensor::{Int, Tensor, TensorData};
use stroock_kernels::gru::Direction;

use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel, point_features};
use crate::batch::{Batch, EncoderInput, Place};
use crate::encoder::{EncoderError, FrameFeatures, Gru, TimeViews};
use crate::objective::{ElboWeights, Objective};
use crate::task::TaskHead;

/// Time attention at the observation times, a recurrent unit over them, and a head.
#[derive(Module, Debug)]
pub struct MtandEnc {
    /// Frames to features, where frames are observed.
    pub frames: Option<FrameFeatures>,
    /// Attention over the observed entries.
    pub views: TimeViews,
    /// Over the views at the observation times.
    pub recurrence: Gru,
    /// From a state to a prediction.
    pub task: TaskHead,
}

impl MtandEnc {
    /// The states `[N, hidden]` of the recurrent unit at the points of an input, from their features `[N, F]`.
    ///
    /// # Errors
    /// When the features do not fit the input.
    pub fn observed_states(
        &self,
        input: &EncoderInput,
        features: Tensor<2>,
    ) -> Result<Tensor<2>, EncoderError> {
        let times: Vec<f64> = (0..input.points()).map(|point| input.time(point)).collect();
        let views = self.views.at_own(input, features, &input.point_offsets, &times)?;
        Ok(self.recurrence.states(views, &input.point_offsets, Direction::Forward)?)
    }

    /// The states `[Q, hidden]` at the points of a batch.
    ///
    /// # Errors
    /// When the batch does not fit the model.
    pub fn states(&self, batch: &Batch) -> Result<Tensor<2>, ModelError> {
        let weight = self.views.key.weight.val();
        let features = point_features::features(self.frames.as_ref(), &batch.input, &weight)?;
        let observed = self.observed_states(&batch.input, features.clone())?;
        let (rows, hidden) = (observed.dims()[0], observed.dims()[1]);
        let places = batch.places();
        if places.len() == rows && places.iter().enumerate().all(|(q, place)| *place == Place::At(q)) {
            return Ok(observed);
        }
        // Steps from an observation, or from the zero state, to times without one.
        let times = batch.request_times();
        let (mut offsets, mut own, mut before, mut chosen) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        for asked in batch.requests.offsets.windows(2) {
            for q in asked[0]..asked[1] {
                match places[q] {
                    Place::At(point) => chosen.push(point as i64),
                    Place::Behind(last) => {
                        chosen.push((rows + own.len()) as i64);
                        own.push(times[q]);
                        before.push(last.unwrap_or(rows) as i64);
                    }
                }
            }
            offsets.push(own.len());
        }
        let device = observed.device();
        let index = |list: Vec<i64>| {
            let count = list.len();
            Tensor::<1, Int>::from_data(TensorData::new(list, [count]), &device)
        };
        let mut all = observed;
        if !own.is_empty() {
            let views = self.views.at_own(&batch.input, features, &offsets, &own)?;
            let zero = Tensor::zeros([1, hidden], (&device, all.dtype()));
            let from = Tensor::cat(vec![all.clone(), zero], 0).select(0, index(before));
            all = Tensor::cat(vec![all, self.recurrence.step(views, from)], 0);
        }
        Ok(all.select(0, index(chosen)))
    }
}

impl SeriesModel for MtandEnc {
    fn objective(&self, batch: &Batch, _: PathDraws, weights: ElboWeights) -> Result<Objective, ModelError> {
        let prediction = self.task.predict(self.states(batch)?.unsqueeze_dim(0), batch);
        let task = self.task.loss(prediction, batch)?;
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
