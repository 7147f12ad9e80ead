//! How observations scatter around the output of a decoder.
//!
//! A likelihood turns decoder outputs `[S, Q, C]` at the points of the evidence into the negative log
//! likelihood of each series, averaged over the samples. Only observed entries are visited.

mod bernoulli;
mod continuous_bernoulli;
mod entrywise;
mod gaussian;

pub use bernoulli::Bernoulli;
pub use continuous_bernoulli::ContinuousBernoulli;
pub use entrywise::{EntryLoss, LossAt, entrywise_loss};
pub use gaussian::{Gaussian, GaussianConfig, ScaleKind};

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::batch::{Evidence, EvidenceError};

/// Which likelihood observations have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikelihoodKind {
    /// Normal around the output.
    Gaussian {
        /// Standard deviation to start from.
        scale: f64,
        /// Which scales there are.
        kind: ScaleKind,
    },
    /// Cross entropy on grey values, with the output as logit.
    Bernoulli,
    /// Normalised likelihood of grey values, with the output as logit.
    ContinuousBernoulli,
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
            LikelihoodKind::Gaussian { scale, kind } => {
                Some(GaussianConfig { scale, kind, channels }.init(device))
            }
            LikelihoodKind::Bernoulli | LikelihoodKind::ContinuousBernoulli => None,
        };
        Likelihood { gaussian, kind: self }
    }
}

impl Likelihood {
    /// Negative log likelihood of each series, `[B]`, from outputs `[S, Q, C]`.
    ///
    /// # Errors
    /// When the outputs do not have the shape of the evidence.
    pub fn negative_log_likelihood(
        &self,
        output: Tensor<3>,
        evidence: Arc<Evidence>,
    ) -> Result<Tensor<1>, EvidenceError> {
        match (&self.gaussian, self.kind) {
            (Some(gaussian), _) => gaussian.negative_log_likelihood(output, evidence),
            (None, LikelihoodKind::ContinuousBernoulli) => {
                ContinuousBernoulli.negative_log_likelihood(output, evidence)
            }
            (None, _) => Bernoulli.negative_log_likelihood(output, evidence),
        }
    }
}
