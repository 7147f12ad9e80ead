//! What a model file says about itself: enough to use the model on new data without anything else.

use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ModelConfig, ModelConfigError, ModelSettings, from_file, to_file};
use crate::batch::Batcher;
use crate::forecast::Forecaster;
use crate::initial::InitialWeights;
use crate::residual::ResidualProcess;
use crate::run::{RunError, TensorFile, TensorFileProblem};
use crate::series::Scaler;
use crate::series::table::{Columns, Sampling, TimeScale};

const FORMAT: &str = "stroock-model";
const VERSION: u32 = 2;
const KIND: &str = "kind";
const MODEL: &str = "model";
const DATA: &str = "data";
/// Numbers that a model may draw beside those that its file holds.
const BESIDE: usize = 1 << 16;

/// A channel of the observations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Unit of its values; empty where it has none.
    #[serde(default)]
    pub unit: String,
    /// Whether it has one value for a whole series, observed at its first time.
    #[serde(default)]
    pub is_static: bool,
    /// Whether none of its training values is negative: then nothing that is said of it is.
    #[serde(default)]
    pub is_nonnegative: bool,
}

impl Variable {
    /// The value, or 0 where it is negative and values of this variable are not.
    ///
    /// ```
    /// use stroock::model::Variable;
    /// let load = Variable { name: "load".into(), is_nonnegative: true, ..Variable::default() };
    /// assert_eq!([-0.5, 2.0].map(|value| load.raised(value)), [0.0, 2.0]);
    /// ```
    pub fn raised(&self, value: f64) -> f64 {
        if self.is_nonnegative { value.max(0.0) } else { value }
    }
}

/// How the data of a model look in the units of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDescription {
    /// The channels, in order; empty for images.
    pub variables: Vec<Variable>,
    /// Unit of time; empty where it has none.
    pub time_unit: String,
    /// Values of the user to values of the model.
    pub scaler: Scaler,
    /// How series become batches: times of the user to times of the model, and the grid of the paths.
    pub batcher: Batcher,
    /// Names of the classes of the task, in order.
    #[serde(default)]
    pub classes: Vec<String>,
    /// How observations scatter around the decoded path together; without it as the likelihood says.
    #[serde(default)]
    pub residual: Option<ResidualProcess>,
    /// The tables that the series come in; without it they do not come in tables.
    #[serde(default)]
    pub table: Option<TableDescription>,
    /// How forecasts are made; without it that is found out on the series that are to be forecast.
    #[serde(default)]
    pub forecast: Option<Forecaster>,
}

impl DataDescription {
    /// Series of the named variables, without units and with the values that the model reads.
    pub fn new(batcher: Batcher, names: &[&str]) -> Self {
        let variable = |&name: &&str| Variable { name: name.into(), ..Variable::default() };
        Self {
            variables: names.iter().map(variable).collect(),
            time_unit: String::new(),
            scaler: Scaler::identity(),
            batcher,
            classes: Vec::new(),
            residual: None,
            table: None,
            forecast: None,
        }
    }
}

/// How tables become series of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDescription {
    /// Which column is what.
    pub columns: Columns,
    /// How times are written.
    pub time: TimeScale,
    /// How long series are cut, and where their times count from.
    pub sampling: Sampling,
    /// A usual step between times.
    pub step: f64,
}

/// Everything about a model but its parameters: a registered one, or one of the user's own with the configuration `C`.
#[derive(Clone, Debug, PartialEq)]
pub struct Description<C = ModelConfig> {
    /// What the model is made of.
    pub model: C,
    /// What it reads and writes.
    pub data: DataDescription,
}

/// Why a model file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file is damaged, of another kind or of another version.
    #[error(transparent)]
    File(#[from] RunError),
    /// Its metadata cannot be understood.
    #[error("`{path}`: the metadata `{key}` cannot be understood: {reason}")]
    Metadata {
        /// The file.
        path: String,
        /// Key of the metadata.
        key: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// It holds a model of another kind.
    #[error("`{path}`: holds a model of kind `{found}`, not `{expected}`")]
    Kind {
        /// The file.
        path: String,
        /// The kind that was asked for.
        expected: &'static str,
        /// The kind that it holds.
        found: String,
    },
    /// Its configuration does not make a model.
    #[error("`{path}`: {source}")]
    Config {
        /// The file.
        path: String,
        /// What is wrong.
        source: ModelConfigError,
    },
    /// Parameters cannot be stored.
    #[error("the parameters cannot be stored: {0}")]
    Parameters(#[from] TensorFileProblem),
}

/// What a model file says beside its parameters, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMetadata([(&'static str, String); 3]);

impl FileMetadata {
    /// Puts it into a file.
    pub fn note(&self, file: &mut TensorFile) {
        file.set_format(FORMAT, VERSION);
        file.metadata.extend(self.0.iter().map(|(key, text)| ((*key).into(), text.clone())));
    }
}

impl<C: ModelSettings> Description<C> {
    /// The description as text.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn metadata(&self) -> Result<FileMetadata, ModelFileError> {
        let unwritable = |key| {
            move |error: serde_json::Error| ModelFileError::Metadata {
                path: "unsaved model".into(),
                key,
                reason: error.to_string(),
            }
        };
        Ok(FileMetadata([
            (KIND, self.model.kind().into()),
            (MODEL, serde_json::to_string(&self.model).map_err(unwritable(MODEL))?),
            (DATA, serde_json::to_string(&self.data).map_err(unwritable(DATA))?),
        ]))
    }

    /// Writes a model file.
    ///
    /// # Errors
    /// When a parameter is not finite or the file cannot be written.
    pub fn save(&self, model: &C::Model, path: &Path) -> Result<(), ModelFileError> {
        Ok(self.to_tensors(model)?.save(path)?)
    }

    /// The contents of a model file.
    ///
    /// # Errors
    /// When a parameter cannot be stored.
    pub fn to_tensors(&self, model: &C::Model) -> Result<TensorFile, ModelFileError> {
        let mut file = to_file(model)?;
        self.metadata()?.note(&mut file);
        Ok(file)
    }

    /// Reads a model file: the model, ready for inference or (on a device with autodiff) for training, and its
    /// description.
    ///
    /// # Errors
    /// When the file is damaged, holds another model or version, or its tensors do not fit its configuration.
    pub fn load(path: &Path, device: &Device) -> Result<(C::Model, Self), ModelFileError> {
        Self::from_tensors(&Self::read(path)?, path, device)
    }

    /// The tensors of a model file, which is of a version that can be read.
    ///
    /// # Errors
    /// When the file is damaged, or of another kind or version.
    pub fn read(path: &Path) -> Result<TensorFile, ModelFileError> {
        let file = TensorFile::load(path)?;
        file.check_format(FORMAT, VERSION)?;
        Ok(file)
    }

    /// A model and what is known about its data from the tensors of its file, after whatever else it held was taken out of
    /// them.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_tensors(
        file: &TensorFile,
        path: &Path,
        device: &Device,
    ) -> Result<(C::Model, Self), ModelFileError> {
        file.check_format(FORMAT, VERSION)?;
        let name = || path.display().to_string();
        let kind = file.text(KIND)?;
        let model: C = read(file, MODEL, path).map_err(|error| match error {
            ModelFileError::Metadata { path, key, reason } => {
                ModelFileError::Metadata { path, key, reason: format!("{reason} (it holds a `{kind}`)") }
            }
            other => other,
        })?;
        if model.kind() != kind {
            return Err(ModelFileError::Kind { path: name(), expected: model.kind(), found: kind.into() });
        }
        let description = Description { model, data: read(file, DATA, path)? };
        let Description { model, data } = &description;
        let channels = model.observation().len();
        let residual = data.residual.as_ref().is_none_or(|process| process.is_valid(channels));
        if !data.scaler.fits(channels) || !data.batcher.is_valid() || !residual {
            let reason = "the scaler or the residual process does not fit the channels, or the grid has no usable steps";
            return Err(ModelFileError::Metadata { path: name(), key: DATA, reason: reason.into() });
        }
        let config = |source| ModelFileError::Config { path: name(), source };
        // The parameters are replaced at once; any seed does. A model whose sizes ask for more than the file holds is not
        // that of the file, and must not take memory before this is noticed.
        let held: usize = file.tensors.iter().map(|(_, tensor)| tensor.values().len()).sum();
        let mut weights = InitialWeights::within(held.saturating_add(BESIDE), 0, device);
        let model = description.model.init(&mut weights).map_err(config)?;
        weights.check().map_err(config)?;
        Ok((from_file(model.materialize(), file)?, description))
    }
}

fn read<T: for<'a> Deserialize<'a>>(
    file: &TensorFile,
    key: &'static str,
    path: &Path,
) -> Result<T, ModelFileError> {
    let unreadable = |error: serde_json::Error| ModelFileError::Metadata {
        path: path.display().to_string(),
        key,
        reason: error.to_string(),
    };
    serde_json::from_str(file.text(key)?).map_err(unreadable)
}
