//! Values in the units of the user and of the model.

use serde::{Deserialize, Serialize};

use crate::{Dataset, Series, SeriesError};

/// `model = (user - shift) / scale` for each channel; images have one shift and one scale for all pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaler {
    /// `[C]`, or `[1]` for all channels.
    pub shift: Vec<f64>,
    /// `[C]`, or `[1]` for all channels; not 0.
    pub scale: Vec<f64>,
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
    }

    /// Leaves values as they are.
    pub fn identity() -> Self {
        Self { shift: vec![0.0], scale: vec![1.0] }
    }

    /// Mean 0 and standard deviation 1 of every channel over the observed values of the given series. A channel
    /// that is constant or never observed keeps its scale.
    ///
    /// ```
    /// use stroock_series::{Dataset, Observation, Scaler, Series};
    /// let series = Series { times: vec![0.0, 1.0], values: vec![10.0, 14.0], ..Series::default() };
    /// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
    /// let scaler = Scaler::standard(&data, &[0]);
    /// assert_eq!((scaler.shift[0], scaler.scale[0]), (12.0, 2.0));
    /// assert_eq!(scaler.apply(&data)?.series()[0].values, [-1.0, 1.0]);
    /// # Ok::<(), stroock_series::SeriesError>(())
    /// ```
    pub fn standard<V: Copy + Into<f64>>(data: &Dataset<V>, numbers: &[usize]) -> Self {
        let channels = data.observation().len();
        let mut moments = vec![(0.0, 0.0, 0.0); channels];
        for &number in numbers {
            let series = &data.series()[number];
            for_each_observed(series, channels, |channel, value| {
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
        Self { shift, scale: scale.collect() }
    }

    /// The value of the model.
    pub fn to_model(&self, channel: usize, value: f64) -> f64 {
        (value - self.shift[channel % self.shift.len()]) / self.scale[channel % self.scale.len()]
    }

    /// The value of the user.
    pub fn to_user(&self, channel: usize, value: f64) -> f64 {
        value * self.scale[channel % self.scale.len()] + self.shift[channel % self.shift.len()]
    }

    /// What one unit of the model is in units of the user.
    pub fn scale_of(&self, channel: usize) -> f64 {
        self.scale[channel % self.scale.len()]
    }

    /// Values `[.., C]` of the model in the units of the user, in double precision.
    ///
    /// ```
    /// use stroock_series::Scaler;
    /// let scaler = Scaler { shift: vec![1e9, 0.0], scale: vec![0.5, 1.0] };
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
        let channels = observation.len().max(1);
        let scaled = |series: &Series<V>| Series {
            id: series.id.clone(),
            times: series.times.clone(),
            values: (series.values.iter().enumerate())
                .map(|(place, &value)| self.to_model(place % channels, value.into()) as f32)
                .collect(),
            observed: series.observed.clone(),
            withheld: series.withheld.clone(),
            labels: series.labels.clone(),
        };
        Dataset::new(observation, data.series().iter().map(scaled).collect())
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
