//! Every variable to about `[0, 1]`.

use serde::{Deserialize, Serialize};
use stroock::series::Series;

use super::VARIABLE_COUNT;
use crate::data::error::DataError;

/// Which stays the extremes are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ScaleOver<'a> {
    /// All stays, those for testing included, as published.
    All,
    /// The stays of these numbers, such as those for training.
    Stays(&'a [usize]),
}

/// Extremes of every variable, and the published scaling `(x - min) / max`, with 1 for a maximum of 0.
///
/// It is not `(x - min) / (max - min)`: for most variables the minimum is small beside the maximum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Least value of every variable.
    pub minimum: Vec<f32>,
    /// Greatest value of every variable, 1 where it is 0.
    pub maximum: Vec<f32>,
}

impl Scaling {
    /// The extremes of observed values; variables that are never observed keep their values.
    ///
    /// # Errors
    /// When there is no series of a given number.
    pub fn fit(series: &[Series], over: ScaleOver<'_>) -> Result<Self, DataError> {
        let mut scaling = Scaling {
            minimum: vec![f32::INFINITY; VARIABLE_COUNT],
            maximum: vec![f32::NEG_INFINITY; VARIABLE_COUNT],
        };
        match over {
            ScaleOver::All => series.iter().for_each(|series| scaling.widen(series)),
            ScaleOver::Stays(numbers) => {
                for &number in numbers {
                    let count = series.len();
                    scaling.widen(series.get(number).ok_or(DataError::NoSuchStay { number, count })?);
                }
            }
        }
        for (minimum, maximum) in scaling.minimum.iter_mut().zip(&mut scaling.maximum) {
            if *minimum > *maximum {
                (*minimum, *maximum) = (0.0, 1.0);
            } else if *maximum == 0.0 {
                *maximum = 1.0;
            }
        }
        Ok(scaling)
    }

    /// Scales the observed values of a series.
    pub fn apply(&self, series: &mut Series) {
        let Series { values, observed, .. } = series;
        for (place, value) in values.iter_mut().enumerate() {
            if observed.as_ref().is_none_or(|observed| observed[place]) {
                *value = self.scale(place % VARIABLE_COUNT, *value);
            }
        }
    }

    /// A value of a variable, scaled.
    pub fn scale(&self, variable: usize, value: f32) -> f32 {
        (value - self.minimum[variable]) / self.maximum[variable]
    }

    /// A scaled value of a variable, in the units of the publisher.
    ///
    /// ```
    /// use stroock_experiments::data::physionet::Scaling;
    /// let scaling = Scaling { minimum: vec![10.0], maximum: vec![40.0] };
    /// assert_eq!(scaling.scale(0, 30.0), 0.5);
    /// assert_eq!(scaling.restore(0, 0.5), 30.0);
    /// ```
    pub fn restore(&self, variable: usize, scaled: f32) -> f32 {
        scaled * self.maximum[variable] + self.minimum[variable]
    }

    fn widen(&mut self, series: &Series) {
        for (place, &value) in series.values.iter().enumerate() {
            if series.observed.as_ref().is_none_or(|observed| observed[place]) {
                let variable = place % VARIABLE_COUNT;
                self.minimum[variable] = self.minimum[variable].min(value);
                self.maximum[variable] = self.maximum[variable].max(value);
            }
        }
    }
}
