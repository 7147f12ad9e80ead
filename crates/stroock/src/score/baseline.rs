//! What plain interpolation says, from what an encoder may see.

use crate::series::Series;

/// The visible values of a series, channel by channel: made once, asked at any time in `O(log T)`.
///
/// ```
/// # use stroock::score::VisibleSeries;
/// use stroock::series::Series;
/// let series = Series {
///     times: vec![0.0, 1.0, 4.0],
///     values: vec![2.0, 9.0, 6.0],
///     withheld: Some(vec![false, true, false]),
///     ..Series::default()
/// };
/// let visible = VisibleSeries::new(&series, 1);
/// assert_eq!(visible.linear(1.0, 0), Some(3.0));
/// assert_eq!(visible.carried_forward(1.0, 0), Some(2.0));
/// assert_eq!(visible.linear(9.0, 0), Some(6.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VisibleSeries {
    channels: Vec<Visible>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Visible {
    times: Vec<f64>,
    values: Vec<f64>,
}

impl VisibleSeries {
    /// The visible values of a series with observations of `channels` numbers.
    pub fn new<V: Copy + Into<f64>>(series: &Series<V>, channels: usize) -> Self {
        let visible = |channel| {
            let mut found = Visible::default();
            for (index, &time) in series.times.iter().enumerate() {
                if series.is_visible(channels, index, channel) {
                    found.times.push(time);
                    found.values.push(series.values[index * channels + channel].into());
                }
            }
            found
        };
        VisibleSeries { channels: (0..channels).map(visible).collect() }
    }

    /// The straight line between the visible neighbours in time; beyond the ends, the nearest visible value.
    /// `None` where nothing of the channel is visible.
    pub fn linear(&self, time: f64, channel: usize) -> Option<f64> {
        let [before, after] = self.channels.get(channel)?.neighbours(time);
        let (Some((start, low)), Some((end, high))) = (before, after) else {
            return Some(before.or(after)?.1);
        };
        // Weights, and not a slope: a slope overflows where times are close.
        let share = (time - start) / (end - start);
        Some((1.0 - share) * low + share * high)
    }

    /// The last visible value at or before `time`; the first one where there is none before. `None` where
    /// nothing of the channel is visible.
    pub fn carried_forward(&self, time: f64, channel: usize) -> Option<f64> {
        let [before, after] = self.channels.get(channel)?.neighbours(time);
        Some(before.or(after)?.1)
    }
}

impl Visible {
    /// The last (time, value) at or before `time`, and the first after it.
    fn neighbours(&self, time: f64) -> [Option<(f64, f64)>; 2] {
        let after = self.times.partition_point(|t| *t <= time);
        let place = |k: usize| Some((*self.times.get(k)?, *self.values.get(k)?));
        [after.checked_sub(1).and_then(place), place(after)]
    }
}

/// [`VisibleSeries::linear`] at time `index` of the series itself. For more than one place, make a
/// [`VisibleSeries`].
pub fn linear<V: Copy + Into<f64>>(
    series: &Series<V>,
    channels: usize,
    index: usize,
    channel: usize,
) -> Option<f64> {
    VisibleSeries::new(series, channels).linear(*series.times.get(index)?, channel)
}

/// [`VisibleSeries::carried_forward`] at time `index` of the series itself. For more than one place, make a
/// [`VisibleSeries`].
pub fn carried_forward<V: Copy + Into<f64>>(
    series: &Series<V>,
    channels: usize,
    index: usize,
    channel: usize,
) -> Option<f64> {
    VisibleSeries::new(series, channels).carried_forward(*series.times.get(index)?, channel)
}
