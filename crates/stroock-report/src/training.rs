//! The course of training.

use crate::ReportError;
use crate::error::{length, ordered};
use crate::fits::drawable;
use crate::thin::{Rounding, kept};

/// Longest curve on the page.
const MOST: usize = 1500;

/// A quantity in the course of training, such as the validation loss.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Epochs, in order.
    pub epochs: Vec<f64>,
    /// Its value after each of the epochs.
    pub values: Vec<f64>,
}

impl Curve {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        let epochs = format!("{field}.epochs");
        ordered(&epochs, &self.epochs)?;
        length(format!("{field}.values"), self.values.len(), epochs, self.epochs.len())
    }

    /// The curve without what cannot be drawn or seen, and how many of its values cannot be drawn.
    pub(crate) fn drawn(&self) -> (Curve, usize) {
        let pairs = self.epochs.iter().copied().zip(self.values.iter().copied());
        let (epochs, values): (Vec<f64>, Vec<f64>) =
            pairs.filter(|(epoch, value)| drawable(*epoch) && drawable(*value)).unzip();
        let lost = self.epochs.len() - epochs.len();
        let stay = kept(&values, MOST);
        let epochs = stay.iter().map(|&place| epochs[place]).collect();
        // The lowest size decides: a logarithmic axis shows it as well as the highest.
        let least =
            values.iter().map(|value| value.abs()).filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min);
        let rounding = Rounding::over([0.0, least].into_iter());
        let values = stay.iter().map(|&place| rounding.round(values[place])).collect();
        (Curve { name: self.name.clone(), epochs, values }, lost)
    }
}

/// The axis of the losses: whether it is logarithmic, and its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LossAxis {
    pub logarithmic: bool,
    pub limits: [f64; 2],
    /// Whether the first losses are so high that they are cut off.
    pub cut: bool,
}

impl LossAxis {
    /// Logarithmic where losses are positive and differ by a factor of ten. A linear axis leaves out the start
    /// of training where it would press all the rest together.
    pub(crate) fn of(curves: &[Curve]) -> LossAxis {
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let (low, high) = ends(&mut curves.iter().flat_map(|curve| curve.values.iter().copied()));
        if low > high {
            return LossAxis { logarithmic: false, limits: [0.0, 1.0], cut: false };
        }
        if low > 0.0 && high > 10.0 * low {
            let pad = (high / low).powf(0.05);
            return LossAxis { logarithmic: true, limits: [low / pad, high * pad], cut: false };
        }
        let late = curves.iter().flat_map(|curve| curve.values.iter().copied().skip(curve.values.len() / 20));
        let (late_low, late_high) = ends(&mut late.into_iter());
        let cut = late_low < late_high && high - late_low > 4.0 * (late_high - late_low);
        let (low, high) = if cut { (low, late_high) } else { (low, high) };
        let span = if high > low { high - low } else { high.abs().max(1.0) };
        LossAxis { logarithmic: false, limits: [low - 0.05 * span, high + 0.05 * span], cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: Vec<f64>) -> Curve {
        Curve { name: "loss".into(), epochs: (1..=values.len()).map(|epoch| epoch as f64).collect(), values }
    }

    #[test]
    fn a_wide_range_of_positive_losses_is_logarithmic() {
        let axis = LossAxis::of(&[curve(vec![20.0, 3.0, 0.5])]);
        assert!(axis.logarithmic && axis.limits[0] > 0.0 && axis.limits[0] < 0.5 && axis.limits[1] > 20.0);
    }

    #[test]
    fn the_start_of_training_does_not_hide_the_rest() {
        let values: Vec<f64> =
            (0..100).map(|epoch| if epoch < 3 { 1e4 } else { -1.0 / f64::from(epoch) }).collect();
        let axis = LossAxis::of(&[curve(values)]);
        assert!(!axis.logarithmic && axis.cut && axis.limits[1] < 1.0, "{axis:?}");
    }

    #[test]
    fn equal_losses_and_none_have_an_axis() {
        for curves in [vec![], vec![curve(vec![2.0, 2.0])], vec![curve(vec![0.0])]] {
            let [low, high] = LossAxis::of(&curves).limits;
            assert!(low < high);
        }
    }

    #[test]
    fn losses_that_are_not_finite_are_left_out_and_counted() {
        let (drawn, lost) = curve(vec![1.0, f64::NAN, f64::INFINITY, 0.123_456_789]).drawn();
        assert_eq!((drawn.epochs, lost), (vec![1.0, 4.0], 2));
        assert_eq!(drawn.values, [1.0, 0.123_46]);
    }
}
