//! What is varied, how far, and how time should grow with it.

use serde::Serialize;

/// A quantity that time grows with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    Steps,
    Series,
    Samples,
    Dimension,
    Channels,
}

/// The exponent that an algorithm promises.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Expected {
    pub exponent: f64,
    /// Whether less is as good: a part of the work does not grow.
    pub at_most: bool,
}

/// How far a quantity is varied.
pub struct Reach {
    pub values: Vec<usize>,
    /// The power law is fitted to this value and those above it.
    pub fit_from: usize,
    /// Least number of measured passes at a value.
    pub runs: usize,
    /// Least time of the passes at a value, unless they are very many.
    pub seconds: f64,
}

impl Quantity {
    pub const ALL: [Quantity; 5] =
        [Quantity::Steps, Quantity::Series, Quantity::Samples, Quantity::Dimension, Quantity::Channels];

    pub fn name(self) -> &'static str {
        match self {
            Quantity::Steps => "steps",
            Quantity::Series => "series",
            Quantity::Samples => "samples",
            Quantity::Dimension => "n",
            Quantity::Channels => "channels",
        }
    }

    /// What is computed, and what stays the same.
    pub fn work(self) -> &'static str {
        match self {
            Quantity::Steps => "paths forward and backward: 32 series, n = 16, over the same interval",
            Quantity::Series => "paths forward and backward: 100 steps, n = 16",
            Quantity::Samples => "paths forward and backward: 10 series, 100 steps, n = 16",
            Quantity::Dimension => "paths forward and backward: 32 series, 100 steps, equally fast drifts",
            Quantity::Channels => "a training step of the PhysioNet model: 16 series, 480 steps",
        }
    }

    pub fn expected(self) -> Expected {
        match self {
            Quantity::Steps | Quantity::Series | Quantity::Samples => {
                Expected { exponent: 1.0, at_most: false }
            }
            Quantity::Dimension => Expected { exponent: 2.0, at_most: false },
            // The path does not know of channels.
            Quantity::Channels => Expected { exponent: 1.0, at_most: true },
        }
    }

    pub fn reach(self, quick: bool) -> Reach {
        // Smallest, largest, from where on fixed costs are small beside the rest; and the largest if time is short.
        let (least, most, fit_from, quick_most) = match self {
            Quantity::Steps => (10, 100_000, 1_000, 100),
            Quantity::Series => (10, 10_000, 100, 50),
            Quantity::Samples => (1, 1_000, 10, 5),
            Quantity::Dimension => (3, 64, 16, 8),
            Quantity::Channels => (1, 1_000, 100, 5),
        };
        let most = if quick { quick_most } else { most };
        let values = match self {
            Quantity::Dimension => vec![3, 4, 6, 8, 12, 16, 24, 32, 48, 64],
            _ => round_numbers().take_while(|&value| value <= most).collect(),
        };
        Reach {
            values: values.into_iter().filter(|value| (least..=most).contains(value)).collect(),
            fit_from: if quick { least } else { fit_from },
            runs: if quick { 1 } else { 5 },
            seconds: if quick { 0.0 } else { 0.5 },
        }
    }
}

/// 1, 2, 5, 10, 20, 50, ..
fn round_numbers() -> impl Iterator<Item = usize> {
    (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10usize.pow(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_laws_are_fitted_to_enough_values_within_the_reach() {
        for quantity in Quantity::ALL {
            for quick in [false, true] {
                let reach = quantity.reach(quick);
                assert!(reach.values.is_sorted());
                let fitted = reach.values.iter().filter(|&&value| value >= reach.fit_from).count();
                assert!(fitted >= 3, "{quantity:?}: {fitted}");
            }
        }
    }
}
