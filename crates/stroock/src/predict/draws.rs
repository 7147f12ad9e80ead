//! Draws from a predictive distribution at times of the caller's choice.

use thiserror::Error;

use crate::batch::TargetsError;
use crate::model::ModelError;
use crate::residual::Shape;
use crate::series::SeriesError;

/// Draws for one series at `T` times, with `C` channels each, in the units of the model: a
/// [`Scaler`](crate::series::Scaler) takes them to those of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// Times, `[T]`.
    pub times: Vec<f64>,
    /// Channels `C`.
    pub channels: usize,
    /// Means of observations given the path, `[S, T, C]`; under a residual process, means given the observations of
    /// the series, over all paths: `[1, T, C]`.
    pub means: Vec<f32>,
    /// Standard deviations of observations around these means before their shape, `[T, C]`; 0 where the likelihood
    /// has none.
    pub sds: Vec<f32>,
    /// How observations are distributed around these means in units of the standard deviations, `[C]`.
    pub shapes: Vec<Shape>,
    /// Observations with their noise, `[S, T, C]`; empty where they were not drawn.
    pub observations: Vec<f32>,
    /// Dimension `n` of the latent states; 0 for a model without any.
    pub dim: usize,
    /// Latent states, `[S, T, n]`.
    pub states: Vec<f32>,
    /// Predictions of the task, `[S, T, outputs]`, or `[S, outputs]` for whole series; empty without a task.
    pub task: Vec<f32>,
}

impl Draws {
    /// The predictive mean at one time, of one channel.
    pub fn mean_at(&self, time: usize, channel: usize) -> f64 {
        let (count, sum) =
            self.means_at(time, channel).fold((0u32, 0.0), |(count, sum), mean| (count + 1, sum + mean));
        sum / f64::from(count)
    }

    /// The means given each path at one time, of one channel, `[S]` or `[1]`.
    pub fn means_at(&self, time: usize, channel: usize) -> impl Iterator<Item = f64> + '_ {
        self.over_paths(&self.means, time, channel)
    }

    /// The observations at one time, of one channel, `[S]`.
    pub fn observations_at(&self, time: usize, channel: usize) -> impl Iterator<Item = f64> + '_ {
        self.over_paths(&self.observations, time, channel)
    }

    fn over_paths<'a>(
        &self,
        values: &'a [f32],
        time: usize,
        channel: usize,
    ) -> impl Iterator<Item = f64> + use<'a> {
        let row = (self.times.len() * self.channels).max(1);
        values.iter().skip(time * self.channels + channel).step_by(row).map(|&value| f64::from(value))
    }
}

/// Why nothing can be predicted.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PredictionError {
    /// The series do not fit the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The series do not make a batch.
    #[error(transparent)]
    Targets(#[from] TargetsError),
    /// The series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// Observations are classes, which have no mean.
    #[error("observations that are classes have no means; ask for their probabilities")]
    Classes,
}
