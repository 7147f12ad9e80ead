//! Normal observations around the output.

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::entrywise::{EntryLoss, LossAt, entrywise_loss};
use crate::batch::{Targets, TargetsError};
use crate::fused::FusedReal;

/// Which scales a Gaussian likelihood has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleKind {
    /// One, which stays as it is.
    Fixed,
    /// One, learned.
    Learned,
    /// One for each channel, learned.
    #[default]
    PerChannel,
}

/// Settings of a [`Gaussian`] likelihood.
#[derive(Clone, Copy, Debug)]
pub struct GaussianConfig {
    /// Standard deviation to start from.
    pub scale: f64,
    /// Which scales there are.
    pub kind: ScaleKind,
    /// Channels `C`.
    pub channels: usize,
}

/// `x ~ N(output, s^2)` for every observed entry:
/// `-ln p(x) = ((x - output) / s)^2 / 2 + ln s + ln(2 pi) / 2`.
#[derive(Module, Debug)]
pub struct Gaussian {
    /// `ln s`, `[1]` or `[C]`.
    pub ln_scale: Param<Tensor<1>>,
}

impl GaussianConfig {
    /// Initialises the likelihood.
    pub fn init(&self, device: &Device) -> Gaussian {
        let scales = if self.kind == ScaleKind::PerChannel { self.channels } else { 1 };
        let ln_scale = Param::from_tensor(Tensor::full([scales], self.scale.ln(), device));
        Gaussian { ln_scale: ln_scale.set_require_grad(self.kind != ScaleKind::Fixed) }
    }
}

impl Gaussian {
    /// Standard deviations, `[1]` or `[C]`.
    pub fn scale(&self) -> Tensor<1> {
        self.ln_scale.val().exp()
    }

    /// Negative log likelihood of each series, `[B]`, from means `[S, Q, C]`.
    ///
    /// # Errors
    /// When the means do not have the shape of the targets.
    pub fn negative_log_likelihood(
        &self,
        mean: Tensor<3>,
        targets: Arc<Targets>,
    ) -> Result<Tensor<1>, TargetsError> {
        entrywise_loss(GaussianLoss, targets, mean, self.ln_scale.val())
    }
}

#[derive(Debug)]
struct GaussianLoss;

impl EntryLoss for GaussianLoss {
    /// `1 / scale` and `ln(scale sqrt(2 pi))`.
    type Prepared<T: FusedReal> = (T, T);

    fn prepare<T: FusedReal>(&self, ln_scale: T) -> (T, T) {
        ((-ln_scale).exp(), ln_scale + T::of(0.5) * T::TAU().ln())
    }

    fn at<T: FusedReal>(&self, x: T, mean: T, (inverse_scale, ln_normaliser): (T, T)) -> LossAt<T> {
        let standardised = (mean - x) * inverse_scale;
        let square = standardised * standardised;
        LossAt {
            value: T::of(0.5) * square + ln_normaliser,
            by_output: standardised * inverse_scale,
            by_parameter: T::one() - square,
        }
    }
}
