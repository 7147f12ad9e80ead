//! How far intervals can be trusted.

use crate::ReportError;

/// Calibration of one variable, or of all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The variable, or `all variables`.
    pub name: String,
    /// Its points, by rising nominal probability.
    pub points: Vec<CalibrationPoint>,
}

/// How often an interval (or a quantile) of some probability held the value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CalibrationPoint {
    /// The probability that it claims, between 0 and 1.
    pub nominal: f64,
    /// The share of values for which it was right, between 0 and 1; one that is not finite is not drawn.
    pub observed: f64,
}

impl Calibration {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        let requirement = "between 0 and 1";
        for (index, point) in self.points.iter().enumerate() {
            let ends = [("nominal", point.nominal), ("observed", point.observed)];
            let wrong = ends.into_iter().find(|(_, value)| *value < 0.0 || *value > 1.0);
            if let Some((name, value)) = wrong {
                let field = format!("{field}.points[{index}].{name}");
                return Err(ReportError::Invalid { field, value, requirement });
            }
        }
        Ok(())
    }

    /// The points that can be drawn.
    pub(crate) fn finite(&self) -> impl Iterator<Item = &CalibrationPoint> {
        self.points.iter().filter(|point| point.nominal.is_finite() && point.observed.is_finite())
    }
}
