//! Values at times.

use crate::ReportError;
use crate::error::length;
use crate::fits::drawable;
use crate::thin::{Rounding, kept};

/// Values at times, in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Times.
    pub times: Vec<f64>,
    /// Values at the times.
    pub values: Vec<f64>,
}

impl Points {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        let (times, values) = (format!("{field}.times"), format!("{field}.values"));
        length(values, self.values.len(), times, self.times.len())
    }

    /// The points that can be drawn, in order of time, and how many cannot.
    pub(crate) fn finite(&self) -> (Points, usize) {
        let pairs = self.times.iter().copied().zip(self.values.iter().copied());
        let mut pairs: Vec<(f64, f64)> =
            pairs.filter(|(time, value)| drawable(*time) && drawable(*value)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lost = self.times.len() - pairs.len();
        let (times, values) = pairs.into_iter().unzip();
        (Points { times, values }, lost)
    }

    /// At most `most` of the points.
    pub(crate) fn thinned(&self, most: usize) -> Points {
        let stay = kept(&self.values, most);
        let pick = |list: &[f64]| stay.iter().map(|&index| list[index]).collect();
        Points { times: pick(&self.times), values: pick(&self.values) }
    }

    /// The points without digits that cannot be seen.
    pub(crate) fn rounded(&self, in_time: &Rounding, in_value: &Rounding) -> Points {
        Points {
            times: self.times.iter().map(|&time| in_time.round(time)).collect(),
            values: self.values.iter().map(|&value| in_value.round(value)).collect(),
        }
    }
}
