//! Series of a table in model units, wherever they are.

use std::borrow::Cow;

use crate::series::{Observation, Scaler, Series, SeriesError, SeriesSource, Visitor};

/// Series that are scaled when they are asked for: to the last bit as [`Scaler::apply`] scales all of them at once.
#[derive(Debug)]
pub(super) struct Scaled<'a, D> {
    pub data: &'a D,
    pub scaler: &'a Scaler,
}

impl<D: SeriesSource<f64>> SeriesSource for Scaled<'_, D> {
    fn observation(&self) -> Observation {
        self.data.observation()
    }

    fn len(&self) -> usize {
        self.data.len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Series>, SeriesError> {
        let series = self.data.get(number)?;
        Ok(Cow::Owned(self.scaler.apply_to(series.as_ref(), self.observation())?))
    }

    fn for_each(&self, f: &mut Visitor<'_, f32>) -> Result<(), SeriesError> {
        let observation = self.observation();
        self.data.for_each(&mut |number, series| f(number, &self.scaler.apply_to(series, observation)?))
    }
}
