//! Values in the units of the user and of the model.

use serde::{Deserialize, Serialize};

use crate::{Dataset, Observation, Series, SeriesError, SeriesSource};

/// `model = (user - shift) / scale` for each channel, or `(ln(user + offset) - shift) / scale` for channels that have a
/// [`Logarithm`]; images have one shift and one scale for all pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaler {
    /// `[C]`, or `[1]` for all channels.
    pub shift: Vec<f64>,
    /// `[C]`, or `[1]` for all channels; not 0.
    pub scale: Vec<f64>,
    /// The logarithms of channels, `[C]`; empty where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logarithms: Vec<Option<Logarithm>>,
}

/// The logarithm `ln(user + offset)` of the values of a channel, none of which is negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logarithm {
    /// What is added: 0, or half of the smallest positive value where there are zeros.
    pub offset: f64,
    /// The smallest positive value. What has no logarithm is taken for half of it.
    pub least: f64,
    /// Mean of the values themselves.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
}

impl Logarithm {
    /// `ln(value + offset)`.
    fn of(&self, value: f64) -> f64 {
        let shifted = value + self.offset;
        if shifted > 0.0 { shifted.ln() } else { (0.5 * self.least).ln() }
    }

    fn is_valid(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        self.offset >= 0.0
            && self.offset.is_finite()
            && positive(self.least)
            && positive(self.sd)
            && self.mean.is_finite()
    }
}

impl Default for Scaler {
    fn default() -> Self {
        Self::identity()
    }
}

impl Scaler {
    /// Whether it has a finite shift and a scale that is not 0 for each of so many channels.
    pub fn fits(&self, channels: usize) -> bool {
        let lengths = [self.shift.len(), self.scale.len()];
        lengths.into_iter().all(|length| length == 1 || length == channels)
            && self.shift.iter().all(|shift| shift.is_finite())
            && self.scale.iter().all(|scale| scale.is_finite() && *scale != 0.0)
            && (self.logarithms.is_empty() || self.logarithms.len() == channels)
            && self.logarithms.iter().flatten().all(Logarithm::is_valid)
    }

    /// Leaves values as they are.
    pub fn identity() -> Self {
        Self { shift: vec![0.0], scale: vec![1.0], logarithms: Vec::new() }
    }

    /// Mean 0 and standard deviation 1 of every channel over the observed values of the given series. A channel
    /// that is constant or never observed keeps its scale. One series is in memory at a time.
    ///
    /// ```
    /// use stroock_series::{Dataset, Observation, Scaler, Series};
    /// let series = Series { times: vec![0.0, 1.0], values: vec![10.0, 14.0], ..Series::default() };
    /// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
    /// let scaler = Scaler::standard(&data, &[0])?;
    /// assert_eq!((scaler.shift[0], scaler.scale[0]), (12.0, 2.0));
    /// assert_eq!(scaler.apply(&data)?.series()[0].values, [-1.0, 1.0]);
    /// # Ok::<(), stroock_series::SeriesError>(())
    /// ```
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn standard<V: Copy + Into<f64>, S: SeriesSource<V> + ?Sized>(
        data: &S,
        numbers: &[usize],
    ) -> Result<Self, SeriesError> {
        Self::with_logarithms(data, numbers, Vec::new())
    }

    /// The same with logarithms of the channels that are marked, `[C]`. A marked channel without a positive value, or
    /// with a negative one, keeps its values.
    ///
    /// ```
    /// use stroock_series::{Dataset, Observation, Scaler, Series};
    /// let series = Series { times: vec![0.0, 1.0], values: vec![1.0, 100.0], ..Series::default() };
    /// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
    /// let scaler = Scaler::standard_of_logarithms(&data, &[0], &[true])?;
    /// assert_eq!(scaler.apply(&data)?.series()[0].values, [-1.0, 1.0]);
    /// assert!((scaler.to_user(0, 0.0) - 10.0).abs() < 1e-9);
    /// # Ok::<(), stroock_series::SeriesError>(())
    /// ```
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn standard_of_logarithms<V: Copy + Into<f64>, S: SeriesSource<V> + ?Sized>(
        data: &S,
        numbers: &[usize],
        marked: &[bool],
    ) -> Result<Self, SeriesError> {
        let plain = Self::standard(data, numbers)?;
        let channels = data.observation().len();
        let mut least = vec![(f64::INFINITY, f64::INFINITY); channels];
        for &number in numbers {
            for_each_observed(&*data.get(number)?, channels, |channel, value| {
                let (smallest, positive) = &mut least[channel];
                *smallest = smallest.min(value);
                *positive = if value > 0.0 { positive.min(value) } else { *positive };
            });
        }
        let logarithm = |(channel, &(smallest, positive)): (usize, &(f64, f64))| {
            let is_log = marked.get(channel) == Some(&true) && smallest >= 0.0 && positive.is_finite();
            is_log.then(|| Logarithm {
                offset: if smallest > 0.0 { 0.0 } else { 0.5 * positive },
                least: positive,
                mean: plain.shift[channel],
                sd: plain.scale[channel],
            })
        };
        Self::with_logarithms(data, numbers, least.iter().enumerate().map(logarithm).collect())
    }

    fn with_logarithms<V: Copy + Into<f64>, S: SeriesSource<V> + ?Sized>(
        data: &S,
        numbers: &[usize],
        logarithms: Vec<Option<Logarithm>>,
    ) -> Result<Self, SeriesError> {
        let channels = data.observation().len();
        let mut moments = vec![(0.0, 0.0, 0.0); channels];
        for &number in numbers {
            for_each_observed(&*data.get(number)?, channels, |channel, value| {
                let value = match logarithms.get(channel) {
                    Some(Some(logarithm)) => logarithm.of(value),
                    _ => value,
                };
                // Welford's update: exact for values far from 0.
                let (count, mean, squares) = &mut moments[channel];
                *count += 1.0;
                let before = value - *mean;
                *mean += before / *count;
                *squares += before * (value - *mean);
            });
        }
        let shift = moments.iter().map(|&(_, mean, _)| mean).collect();
        let scale = moments.iter().map(|&(count, _, squares)| {
            let sd = (squares / f64::max(count, 1.0)).sqrt();
            if sd > 0.0 { sd } else { 1.0 }
        });
        Ok(Self { shift, scale: scale.collect(), logarithms })
    }

    /// The logarithm of a channel, where it has one.
    pub fn logarithm(&self, channel: usize) -> Option<&Logarithm> {
        self.logarithms.get(channel)?.as_ref()
    }

    /// The value of the model.
    pub fn to_model(&self, channel: usize, value: f64) -> f64 {
        let value = self.logarithm(channel).map_or(value, |logarithm| logarithm.of(value));
        (value - self.shift[channel % self.shift.len()]) / self.scale[channel % self.scale.len()]
    }

    /// The value of the user.
    pub fn to_user(&self, channel: usize, value: f64) -> f64 {
        let value = value * self.scale[channel % self.scale.len()] + self.shift[channel % self.shift.len()];
        // Nothing that has a logarithm is negative.
        self.logarithm(channel).map_or(value, |logarithm| (value.exp() - logarithm.offset).max(0.0))
    }

    /// What one unit of the model is in units of the user; the standard deviation of values that have a logarithm, which
    /// have no such unit.
    pub fn scale_of(&self, channel: usize) -> f64 {
        self.logarithm(channel).map_or(self.scale[channel % self.scale.len()], |logarithm| logarithm.sd)
    }

    /// How fast a value of the user grows with that of the model there: what densities are divided by.
    pub fn slope(&self, channel: usize, user: f64) -> f64 {
        let scale = self.scale[channel % self.scale.len()].abs();
        self.logarithm(channel).map_or(scale, |logarithm| {
            let shifted = user + logarithm.offset;
            scale * if shifted > 0.0 { shifted } else { 0.5 * logarithm.least }
        })
    }

    /// Values `[.., C]` of the model in the units of the user, in double precision.
    ///
    /// ```
    /// use stroock_series::Scaler;
    /// let scaler = Scaler { shift: vec![1e9, 0.0], scale: vec![0.5, 1.0], ..Scaler::identity() };
    /// assert_eq!(scaler.all_to_user(2, &[1.0f32, 3.0]), [1e9 + 0.5, 3.0]);
    /// ```
    pub fn all_to_user<V: Copy + Into<f64>>(&self, channels: usize, values: &[V]) -> Vec<f64> {
        let values = values.iter().enumerate();
        values.map(|(place, &value)| self.to_user(place % channels.max(1), value.into())).collect()
    }

    /// A data set in the units of the model: scaled in double precision, then narrowed.
    ///
    /// # Errors
    /// When a value becomes infinite.
    pub fn apply<V: Copy + Into<f64>>(&self, data: &Dataset<V>) -> Result<Dataset, SeriesError> {
        let observation = data.observation();
        let channels = observation.len();
        Dataset::new(observation, data.series().iter().map(|series| self.scaled(series, channels)).collect())
    }

    /// One series in the units of the model.
    ///
    /// # Errors
    /// When a value becomes infinite.
    pub fn apply_to<V: Copy + Into<f64>>(
        &self,
        series: &Series<V>,
        observation: Observation,
    ) -> Result<Series, SeriesError> {
        let scaled = self.scaled(series, observation.len());
        scaled.check(observation)?;
        Ok(scaled)
    }

    fn scaled<V: Copy + Into<f64>>(&self, series: &Series<V>, channels: usize) -> Series {
        let values = series.values.iter().enumerate();
        let to_model = |(place, &value): (usize, &V)| self.to_model(place % channels, value.into()) as f32;
        Series {
            id: series.id.clone(),
            times: series.times.clone(),
            values: values.map(to_model).collect(),
            observed: series.observed.clone(),
            withheld: series.withheld.clone(),
            labels: series.labels.clone(),
        }
    }
}

fn for_each_observed<V: Copy + Into<f64>>(
    series: &Series<V>,
    channels: usize,
    mut f: impl FnMut(usize, f64),
) {
    for index in 0..series.times.len() {
        for channel in 0..channels {
            if series.is_observed(channels, index, channel) {
                f(channel, series.values[index * channels + channel].into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(values: &[f64]) -> Dataset<f64> {
        let times = (0..values.len()).map(|time| time as f64).collect();
        let series = Series { times, values: values.to_vec(), ..Series::default() };
        Dataset::new(Observation::Vector { channels: 1 }, vec![series]).unwrap()
    }

    #[test]
    fn logarithms_lead_to_the_model_and_back() {
        let values = [0.0, 0.2, 3.0, 50.0];
        let scaler = Scaler::standard_of_logarithms(&data(&values), &[0], &[true]).unwrap();
        assert_eq!(scaler.logarithm(0).map(|logarithm| logarithm.offset), Some(0.1));
        assert!(scaler.fits(1));
        for value in values {
            assert!((scaler.to_user(0, scaler.to_model(0, value)) - value).abs() < 1e-9);
        }
        // Nothing becomes negative or infinite.
        assert_eq!(scaler.to_user(0, -50.0), 0.0);
        assert!(scaler.to_model(0, -3.0).is_finite());
        // The slope is the derivative.
        let (at, step) = (scaler.to_model(0, 3.0), 1e-6);
        let difference = (scaler.to_user(0, at + step) - scaler.to_user(0, at - step)) / (2.0 * step);
        assert!((scaler.slope(0, 3.0) - difference).abs() < 1e-5);
    }

    #[test]
    fn what_has_no_logarithm_keeps_its_values() {
        for values in [[-1.0, 2.0], [0.0, 0.0]] {
            let data = data(&values);
            let scaler = Scaler::standard_of_logarithms(&data, &[0], &[true]).unwrap();
            assert_eq!(scaler.logarithm(0), None);
            assert_eq!(scaler.to_model(0, 2.0), Scaler::standard(&data, &[0]).unwrap().to_model(0, 2.0));
        }
    }
}
