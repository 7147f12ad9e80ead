//! How observations scatter around the output of a decoder.
//!
//! A likelihood turns decoder outputs `[S, Q, C]` at the points of the targets into the negative log
//! likelihood of each series, averaged over the samples. Only observed entries are visited.

mod bernoulli;
mod categorical;
mod continuous_bernoulli;
mod entrywise;
mod gaussian;
mod squared_error;
mod varying_gaussian;

pub use bernoulli::Bernoulli;
pub use categorical::Categorical;
pub use continuous_bernoulli::ContinuousBernoulli;
pub use entrywise::{EntryLoss, LossAt, entrywise_loss};
pub use gaussian::{Gaussian, GaussianConfig, ScaleKind};
pub use squared_error::squared_error;
pub(crate) use varying_gaussian::VARIANCE_FLOOR;
pub use varying_gaussian::varying_gaussian;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::batch::{Targets, TargetsError};

/// Which likelihood observations have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LikelihoodKind {
    /// Normal around the output.
    Gaussian {
        /// Standard deviation to start from.
        #[serde(default = "default_scale")]
        scale: f64,
        /// Which scales there are.
        #[serde(default)]
        scale_kind: ScaleKind,
    },
    /// Cross entropy on grey values, with the output as logit.
    Bernoulli,
    /// Normalised likelihood of grey values, with the output as logit.
    ContinuousBernoulli,
    /// Classes, counted from 0, with an output for each as logits.
    Categorical {
        /// Number of classes of every channel.
        classes: usize,
    },
}

/// The scale that fits start from, in standard deviations of the data.
fn default_scale() -> f64 {
    0.5
}

/// A likelihood of one of the kinds.
#[derive(Module, Debug)]
pub struct Likelihood {
    gaussian: Option<Gaussian>,
    #[module(skip)]
    kind: LikelihoodKind,
}

impl LikelihoodKind {
    /// Initialises the likelihood of observations with `channels` numbers.
    pub fn init(self, channels: usize, device: &Device) -> Likelihood {
        let gaussian = match self {
            LikelihoodKind::Gaussian { scale, scale_kind: kind } => {
                Some(GaussianConfig { scale, kind, channels }.init(device))
            }
            _ => None,
        };
        Likelihood { gaussian, kind: self }
    }

    /// Outputs of a decoder for observations with `channels` numbers.
    pub fn outputs(self, channels: usize) -> usize {
        match self {
            LikelihoodKind::Categorical { classes } => channels * classes,
            _ => channels,
        }
    }
}

impl Likelihood {
    /// Which likelihood it is.
    pub fn kind(&self) -> LikelihoodKind {
        self.kind
    }

    /// The means of observations, from outputs of a decoder; classes have none.
    pub fn mean<const D: usize>(&self, output: Tensor<D>) -> Option<Tensor<D>> {
        match self.kind {
            LikelihoodKind::Gaussian { .. } => Some(output),
            LikelihoodKind::Bernoulli | LikelihoodKind::ContinuousBernoulli => Some(sigmoid(output)),
            LikelihoodKind::Categorical { .. } => None,
        }
    }

    /// The scales of a Gaussian likelihood.
    pub fn gaussian(&self) -> Option<&Gaussian> {
        self.gaussian.as_ref()
    }

    /// Negative log likelihood of each series, `[B]`, from outputs `[S, Q, C]` (`[S, Q, C classes]` where
    /// observations are classes).
    ///
    /// # Errors
    /// When the outputs do not have the shape of the targets.
    pub fn negative_log_likelihood(
        &self,
        output: Tensor<3>,
        targets: Arc<Targets>,
    ) -> Result<Tensor<1>, TargetsError> {
        match (&self.gaussian, self.kind) {
            (Some(gaussian), _) => gaussian.negative_log_likelihood(output, targets),
            (None, LikelihoodKind::Categorical { classes }) => {
                Categorical { classes }.negative_log_likelihood(output, targets)
            }
            (None, LikelihoodKind::ContinuousBernoulli) => {
                ContinuousBernoulli.negative_log_likelihood(output, targets)
            }
            (None, _) => Bernoulli.negative_log_likelihood(output, targets),
        }
    }
}
