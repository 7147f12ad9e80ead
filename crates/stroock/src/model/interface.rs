//! What a model of ragged series must do, and nothing about how.
//!
//! Training, validation, prediction, evaluation, run folders and model files know a model by these two traits alone:
//! [`ModelSettings`] make it from a configuration, [`SeriesModel`] is what it then can do. The models of this crate
//! are registered by name in [`ModelConfig`](super::ModelConfig); a model of one's own needs no registration.

use std::fmt::Debug;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stroock_kernels::noise::NoiseKey;

use super::{ModelConfigError, ModelError};
use crate::batch::{Batch, Batcher, TargetsError};
use crate::initial::InitialWeights;
use crate::latent::Steering;
use crate::objective::{ElboWeights, Objective};
use crate::series::{Observation, SeriesSource};
use crate::task::TaskKind;

/// Which random samples are drawn for the series of a batch.
///
/// Sample `first_sample + s` of a series depends on the key and on the number of the series in its data set alone, so
/// that neither its neighbours in the batch nor the number of threads matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathDraws {
    /// Seed and epoch.
    pub key: NoiseKey,
    /// Samples `S` per series.
    pub samples: usize,
    /// The number of the first of them.
    pub first_sample: u32,
}

/// Which outputs a caller needs; a model may leave out the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputParts {
    /// The distribution of the observations.
    pub observations: bool,
    /// The predictions of the task.
    pub task: bool,
}

impl OutputParts {
    /// Everything.
    pub const ALL: Self = Self { observations: true, task: true };
    /// The distribution of the observations only.
    pub const OBSERVATIONS: Self = Self { observations: true, task: false };
    /// The predictions of the task only.
    pub const TASK: Self = Self { observations: false, task: true };
}

/// What a model says about the `Q` points of a batch, in `S` samples and in model units.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Means of the observations, `[S, Q, C]`; `None` where they were not asked for or observations are classes.
    pub mean: Option<Tensor<3>>,
    /// Standard deviations of the observations around the means, the same for all samples: `[1 or Q, 1 or C]`.
    /// `None` where observations have no noise.
    pub scale: Option<Tensor<2>>,
    /// Latent states, `[S, Q, n]`; `None` for a model without any.
    pub states: Option<Tensor<3>>,
    /// What the task predicts, `[S, Q, outputs]`, or `[S, B, outputs]` for whole series.
    pub task: Option<(TaskKind, Tensor<3>)>,
}

impl Outputs {
    /// Outputs of one sample, `[1, ..]`, as those of so many samples that are all the same.
    pub(super) fn in_samples(mut self, samples: usize) -> Self {
        let all = |tensor: Tensor<3>| {
            let [_, points, width] = tensor.dims();
            tensor.expand([samples, points, width])
        };
        self.mean = self.mean.map(all);
        self.states = self.states.map(all);
        self.task = self.task.map(|(kind, prediction)| (kind, all(prediction)));
        self
    }
}

/// The training series of a run, for models that must see them all at once.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSeries<'a> {
    /// All series.
    pub data: &'a dyn SeriesSource,
    /// Those for training.
    pub numbers: &'a [usize],
    /// How they become batches.
    pub batcher: &'a Batcher,
    /// Series at a time.
    pub batch_size: usize,
    /// Seed and epoch.
    pub key: NoiseKey,
    /// Epochs that are complete.
    pub epochs: u64,
}

impl TrainingSeries<'_> {
    /// All of them, in the order of their numbers here.
    ///
    /// An item is an error where series cannot be assembled to a batch.
    pub fn batches(&self) -> impl Iterator<Item = Result<Batch, TargetsError>> {
        let chunks = self.numbers.chunks(self.batch_size.max(1));
        chunks.map(|numbers| self.batcher.assemble(self.data, numbers, self.key))
    }
}

/// A model of ragged series: any burn module with an objective and outputs.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::Linear;
/// use burn::tensor::Tensor;
/// use stroock::batch::Batch;
/// use stroock::model::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
/// use stroock::objective::{ElboWeights, Objective};
///
/// /// A polynomial in time, the same for all series.
/// #[derive(Module, Debug)]
/// struct Polynomial { coefficients: Linear }
///
/// impl Polynomial {
///     fn means(&self, batch: &Batch) -> Tensor<3> {
///         let t = Tensor::<1>::from_floats(&batch.point_times()[..], &self.coefficients.weight.val().device());
///         let powers = Tensor::stack::<2>(vec![t.clone(), t.clone() * t], 1);
///         self.coefficients.forward(powers).unsqueeze_dim(0)
///     }
/// }
///
/// impl SeriesModel for Polynomial {
///     fn objective(&self, batch: &Batch, _: PathDraws, _: ElboWeights) -> Result<Objective, ModelError> {
///         let errors = stroock::likelihood::squared_error(self.means(batch), batch.targets.clone())?;
///         Ok(Objective { losses: errors.clone(), parts: vec![("squared_error", errors)] })
///     }
///
///     fn outputs(&self, batch: &Batch, _: PathDraws, _: OutputParts) -> Result<Outputs, ModelError> {
///         Ok(Outputs { mean: Some(self.means(batch)), ..Outputs::default() })
///     }
/// }
/// ```
pub trait SeriesModel: Module + ModuleDisplay {
    /// The loss of every series of a batch, with its named parts.
    ///
    /// # Errors
    /// When the batch does not fit the model, or a sample diverges.
    fn objective(
        &self,
        batch: &Batch,
        draws: PathDraws,
        weights: ElboWeights,
    ) -> Result<Objective, ModelError>;

    /// Outputs at the points of a batch, given what the encoder sees of its series.
    ///
    /// # Errors
    /// When the batch does not fit the model, or a sample diverges.
    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError>;

    /// Outputs at the points of a batch under the prior, whatever the series are.
    ///
    /// # Errors
    /// [`ModelError::NoPrior`] for a model that cannot generate series.
    fn prior_outputs(&self, _: &Batch, _: PathDraws, _: OutputParts) -> Result<Outputs, ModelError> {
        Err(ModelError::NoPrior)
    }

    /// What determines the posterior process of every series of a batch, given what the encoder sees of it: its *code*,
    /// `[B, width]`, of the same width for all batches; `None` for a model without codes.
    ///
    /// # Errors
    /// When the batch does not fit the model.
    fn codes(&self, _: &Batch) -> Result<Option<Tensor<2>>, ModelError> {
        Ok(None)
    }

    /// Outputs at the points of a batch for [`codes`](Self::codes) `[B, width]` in place of what the encoder sees.
    ///
    /// # Errors
    /// [`ModelError::NoCodes`] for a model without codes; otherwise when codes or batch do not fit the model.
    fn outputs_of_codes(
        &self,
        _: Tensor<2>,
        _: &Batch,
        _: PathDraws,
        _: OutputParts,
    ) -> Result<Outputs, ModelError> {
        Err(ModelError::NoCodes)
    }

    /// What steers the latent paths at the points of a batch, given what the encoder sees of its series; `None` for a
    /// model without paths, or whose paths follow nothing.
    ///
    /// # Errors
    /// When the batch does not fit the model.
    fn steering(&self, _: &Batch) -> Result<Option<Steering>, ModelError> {
        Ok(None)
    }

    /// Shows the model all training series: before every epoch, and before it is validated, kept or returned. Most models
    /// learn from batches alone and ignore them.
    ///
    /// What a model takes from them must follow from its parameters and the series, so that a run can be resumed to the same
    /// bits; and what its predictions need of it must be among its parameters, so that it is in its file.
    ///
    /// # Errors
    /// When the series do not fit the model.
    fn see_training(&mut self, _: &TrainingSeries<'_>) -> Result<(), ModelError> {
        Ok(())
    }
}

/// The configuration of a model: everything but its parameters, as a model file holds it.
pub trait ModelSettings: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// The model that it makes.
    type Model: SeriesModel;

    /// The name of the model in configurations and files.
    fn kind(&self) -> &'static str;

    /// What is observed at a time.
    fn observation(&self) -> Observation;

    /// What is predicted beside the observations.
    fn task(&self) -> Option<TaskKind> {
        None
    }

    /// The last model time at which the outputs mean anything, where there is one.
    fn reach(&self) -> Option<f64> {
        None
    }

    /// Checks every size before memory is taken: configurations come from files, and files from anywhere.
    ///
    /// # Errors
    /// When a size is zero or beyond all use.
    fn check(&self) -> Result<(), ModelConfigError> {
        Ok(())
    }

    /// Initialises the model.
    ///
    /// # Errors
    /// When the configuration fails its check, or its parts do not fit together.
    fn init(&self, weights: &mut InitialWeights) -> Result<Self::Model, ModelConfigError>;
}
