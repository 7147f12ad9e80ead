//! From numbers to places along one direction.

use super::Limits;

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
}

/// An axis of a panel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub scale: Scale,
    pub limits: Limits,
    /// Place of the lower limit.
    pub from: f64,
    /// Place of the upper limit.
    pub to: f64,
}

impl Axis {
    /// Place of a number.
    pub fn place(&self, value: f64) -> f64 {
        let Limits { low, high } = self.limits;
        let share = match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Logarithmic => (value / low).ln() / (high / low).ln(),
        };
        self.from + share * (self.to - self.from)
    }

    pub fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }
}
