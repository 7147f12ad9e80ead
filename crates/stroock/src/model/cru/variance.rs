//! From any number to a variance.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How a number becomes a variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceKind {
    /// `e^x` below 0 and `x + 1` above.
    EluPlusOne,
    /// `x^2`.
    Square,
    /// `e^x`.
    Exponential,
    /// `ln(1 + e^x)`.
    Softplus,
    /// `max(x, 0)`.
    Relu,
}

impl VarianceKind {
    /// The variances of numbers.
    pub fn apply<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            VarianceKind::EluPlusOne => x.clone().clamp_min(0.0) + x.clamp_max(0.0).exp(),
            VarianceKind::Square => x.clone() * x,
            VarianceKind::Exponential => x.exp(),
            VarianceKind::Softplus => x.clone().clamp_min(0.0) + x.abs().neg().exp().add_scalar(1.0).log(),
            VarianceKind::Relu => x.clamp_min(0.0),
        }
    }

    /// A number with the given variance, which is positive.
    ///
    /// ```
    /// use stroock::model::VarianceKind;
    /// assert!((VarianceKind::Softplus.number(10.0) - 9.99995459903963).abs() < 1e-12);
    /// assert_eq!(VarianceKind::EluPlusOne.number(3.0), 2.0);
    /// ```
    pub fn number(self, variance: f64) -> f64 {
        match self {
            VarianceKind::EluPlusOne if variance >= 1.0 => variance - 1.0,
            VarianceKind::EluPlusOne | VarianceKind::Exponential => variance.ln(),
            VarianceKind::Square => variance.sqrt(),
            VarianceKind::Softplus => variance + (-(-variance).exp_m1()).ln(),
            VarianceKind::Relu => variance,
        }
    }
}
