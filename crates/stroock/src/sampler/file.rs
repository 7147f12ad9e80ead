//! A sampler as named tensors and text of a model file, and back.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CodeDensity, MarginalMap, Sampler, StationaryChannel, StationaryResidual};
use crate::run::{RunError, Tensor, TensorFile, TensorFileProblem};

/// Key of the metadata.
const KEY: &str = "sampler";
/// What the names of all its tensors begin with.
const PREFIX: &str = "sampler.";

/// What of a sampler is written as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SamplerDescription {
    /// Numbers of a code.
    width: usize,
    /// Residuals of the channels.
    residual: Vec<StationaryChannel>,
}

/// Why a file holds no usable sampler.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SamplerProblem {
    /// A tensor is missing or of another type.
    #[error(transparent)]
    File(#[from] RunError),
    /// A tensor cannot be stored.
    #[error("what new series are sampled from cannot be stored: {0}")]
    Tensor(#[from] TensorFileProblem),
    /// The description cannot be understood or written.
    #[error("the description of what new series are sampled from: {reason}")]
    Description {
        /// What is wrong.
        reason: String,
    },
    /// Tensors and description contradict each other.
    #[error("what new series are sampled from does not fit together: {what}")]
    Contradiction {
        /// What does not fit.
        what: &'static str,
    },
}

impl Sampler {
    /// Adds the sampler to a file.
    ///
    /// # Errors
    /// Never for a sampler that was fitted or read.
    pub fn note(&self, file: &mut TensorFile) -> Result<(), SamplerProblem> {
        let description =
            SamplerDescription { width: self.codes.width(), residual: self.residual.channels.clone() };
        let text = serde_json::to_string(&description)
            .map_err(|error| SamplerProblem::Description { reason: error.to_string() })?;
        file.metadata.insert(KEY.into(), text);
        let (codes, width) = (self.codes.codes().to_vec(), self.codes.width());
        let correlated = if self.residual.factor.is_empty() { 0 } else { self.residual.channels.len() };
        let sizes: Vec<u32> = self.marginals.iter().map(|map| map.quantiles().0.len() as u32).collect();
        let from: Vec<f64> = self.marginals.iter().flat_map(|map| map.quantiles().0).copied().collect();
        let to: Vec<f64> = self.marginals.iter().flat_map(|map| map.quantiles().1).copied().collect();
        let mut push = |name: &str, tensor: Result<Tensor, TensorFileProblem>| {
            file.push(format!("{PREFIX}{name}"), tensor?);
            Ok::<(), TensorFileProblem>(())
        };
        push("codes", Tensor::new(vec![codes.len() / width, width], codes))?;
        push("correlations", Tensor::new(vec![correlated, correlated], self.residual.factor.clone()))?;
        push("quantile_counts", Tensor::new(vec![sizes.len()], sizes))?;
        push("quantiles_drawn", Tensor::new(vec![from.len()], from))?;
        push("quantiles_observed", Tensor::new(vec![to.len()], to))?;
        Ok(())
    }

    /// Takes the sampler out of a file, where it has one.
    ///
    /// # Errors
    /// When its tensors are missing or do not fit together.
    pub fn take(file: &mut TensorFile) -> Result<Option<Self>, SamplerProblem> {
        let Some(text) = file.metadata.remove(KEY) else { return Ok(None) };
        let unreadable = |error: serde_json::Error| SamplerProblem::Description { reason: error.to_string() };
        let found = Self::read(file, serde_json::from_str(&text).map_err(unreadable)?)?;
        file.tensors.retain(|(name, _)| !name.starts_with(PREFIX));
        Ok(Some(found))
    }

    /// Checks that it is one of series of so many channels.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, channels: usize) -> Result<(), SamplerProblem> {
        match self.residual.is_valid(channels) && self.marginals.len() == channels {
            true => Ok(()),
            false => Err(SamplerProblem::Contradiction { what: "it has other channels than the model" }),
        }
    }

    fn read(file: &TensorFile, description: SamplerDescription) -> Result<Self, SamplerProblem> {
        let wrong = |what| SamplerProblem::Contradiction { what };
        let name = |name: &str| format!("{PREFIX}{name}");
        let codes = file.entries::<f32>(&name("codes"))?.to_vec();
        let codes = CodeDensity::of(codes, description.width).ok_or(wrong("its codes are not usable"))?;
        let factor = file.entries::<f64>(&name("correlations"))?.to_vec();
        let residual = StationaryResidual { channels: description.residual, factor };
        let mut from = file.entries::<f64>(&name("quantiles_drawn"))?;
        let mut to = file.entries::<f64>(&name("quantiles_observed"))?;
        let mut marginals = Vec::new();
        for &size in file.entries::<u32>(&name("quantile_counts"))? {
            let short = || wrong("it has fewer quantiles than it names");
            let (now, later) = from.split_at_checked(size as usize).ok_or_else(short)?;
            let (then, others) = to.split_at_checked(size as usize).ok_or_else(short)?;
            (from, to) = (later, others);
            let map = MarginalMap::new(now.to_vec(), then.to_vec());
            marginals.push(map.ok_or(wrong("its quantiles are not in order"))?);
        }
        Ok(Self { codes, residual, marginals })
    }
}
