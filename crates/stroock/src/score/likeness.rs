//! How the values of a variable look in some series: moments, profile over time, autocorrelation.

use serde::{Deserialize, Serialize};

use crate::series::Series;

/// Parts of the time span that a profile has a mean for.
const PARTS: usize = 12;
/// Numbers of observations between which correlations are taken.
const LAGS: [usize; 4] = [1, 2, 4, 8];
/// Values or pairs without which there is no mean of them.
const ENOUGH: usize = 5;

/// What the values of one variable look like in some series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableLook {
    /// Values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// The mean over series of the standard deviation within a series.
    pub sd_within: f64,
    /// Means in equal parts of the time span; `None` where there are too few values.
    pub profile: Vec<Option<f64>>,
    /// Correlations between values of a series that are 1, 2, 4 and 8 observations apart, around the mean of all values.
    pub autocorrelation: Vec<Option<f64>>,
}

impl VariableLook {
    /// The look of a channel of series with `channels` channels, whose times lie in `span`; `None` where nothing of it
    /// is observed.
    ///
    /// ```
    /// use stroock::score::VariableLook;
    /// use stroock::series::Series;
    /// let times: Vec<f64> = (0..100).map(f64::from).collect();
    /// let values = times.iter().map(|time| if time % 2.0 == 0.0 { 1.0 } else { -1.0 }).collect();
    /// let series = [Series { times, values, ..Series::default() }];
    /// let look = VariableLook::of(&series, 1, 0, (0.0, 100.0)).unwrap();
    /// assert_eq!((look.mean, look.sd, look.sd_within), (0.0, 1.0, 1.0));
    /// assert_eq!(look.autocorrelation, [Some(-1.0), Some(1.0), Some(1.0), Some(1.0)]);
    /// ```
    pub fn of(series: &[Series<f64>], channels: usize, channel: usize, span: (f64, f64)) -> Option<Self> {
        let seen: Vec<Vec<(f64, f64)>> =
            series.iter().map(|series| seen(series, channels, channel)).collect();
        let all = || seen.iter().flatten().map(|(_, value)| *value);
        let count = all().count();
        let mean = average(all(), 1)?;
        let sd = average(all().map(|x| (x - mean).powi(2)), 1)?.sqrt();
        let within = seen.iter().filter(|series| series.len() > 1).filter_map(|series| sd_of(series));
        let profile = (0..PARTS).map(|part| {
            let inside = |time: f64| {
                let place = (time - span.0) / (span.1 - span.0) * PARTS as f64;
                (place.max(0.0) as usize).min(PARTS - 1) == part
            };
            average(seen.iter().flatten().filter(|(time, _)| inside(*time)).map(|pair| pair.1), ENOUGH)
        });
        let autocorrelation = LAGS.iter().map(|&lag| {
            let pairs = seen.iter().flat_map(|series| series.iter().zip(series.iter().skip(lag)));
            let products = pairs.map(|(a, b)| (a.1 - mean) * (b.1 - mean));
            average(products, ENOUGH).map(|product| product / (sd * sd)).filter(|x| x.is_finite())
        });
        Some(Self {
            count,
            mean,
            sd,
            sd_within: average(within, 1).unwrap_or(0.0),
            profile: profile.collect(),
            autocorrelation: autocorrelation.collect(),
        })
    }

    /// The root mean square of the differences between two profiles, in standard deviations of this one's values;
    /// `None` where they have no part in common.
    pub fn profile_difference(&self, other: &Self) -> Option<f64> {
        let unit = if self.sd > 0.0 { self.sd } else { 1.0 };
        root_mean_square(&self.profile, &other.profile).map(|difference| difference / unit)
    }

    /// The root mean square of the differences between autocorrelations; `None` where there are none.
    pub fn autocorrelation_difference(&self, other: &Self) -> Option<f64> {
        root_mean_square(&self.autocorrelation, &other.autocorrelation)
    }
}

/// What one series is compared by: of every channel its mean, its standard deviation, its mean absolute step from one
/// observation to the next, and the difference between the means of its second and its first half; not a number where
/// too little is observed.
pub fn series_features(series: &Series<f64>, channels: usize) -> Vec<f64> {
    let of_channel = |channel: usize| -> [f64; 4] {
        let seen = seen(series, channels, channel);
        let mean = |part: &[(f64, f64)]| average(part.iter().map(|pair| pair.1), 1).unwrap_or(f64::NAN);
        if seen.len() < 2 {
            return [mean(&seen), f64::NAN, f64::NAN, f64::NAN];
        }
        let steps = seen.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs());
        let (first, second) = seen.split_at(seen.len() / 2);
        [
            mean(&seen),
            sd_of(&seen).unwrap_or(f64::NAN),
            average(steps, 1).unwrap_or(f64::NAN),
            mean(second) - mean(first),
        ]
    };
    (0..channels).flat_map(of_channel).collect()
}

/// Times and values of what is observed of a channel.
fn seen(series: &Series<f64>, channels: usize, channel: usize) -> Vec<(f64, f64)> {
    let observed = |index: &usize| series.is_observed(channels, *index, channel);
    let pair = |index: usize| (series.times[index], series.values[index * channels + channel]);
    (0..series.times.len()).filter(observed).map(pair).collect()
}

fn sd_of(seen: &[(f64, f64)]) -> Option<f64> {
    let mean = average(seen.iter().map(|pair| pair.1), 1)?;
    Some(average(seen.iter().map(|pair| (pair.1 - mean).powi(2)), 1)?.sqrt())
}

/// The mean of at least so many numbers.
fn average(numbers: impl Iterator<Item = f64>, least: usize) -> Option<f64> {
    let (count, sum) = numbers.fold((0usize, 0.0), |(count, sum), number| (count + 1, sum + number));
    (count >= least.max(1)).then(|| sum / count as f64)
}

fn root_mean_square(a: &[Option<f64>], b: &[Option<f64>]) -> Option<f64> {
    let squares = a.iter().zip(b).filter_map(|(a, b)| Some((a.as_ref()? - b.as_ref()?).powi(2)));
    average(squares, 1).map(f64::sqrt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waves(amplitude: f64) -> Vec<Series<f64>> {
        let wave = |number: u32| {
            let times: Vec<f64> = (0..240).map(|i| f64::from(i) / 10.0).collect();
            let level = f64::from(number % 2);
            let value = |time: &f64| level + amplitude * (std::f64::consts::TAU * time / 24.0).sin();
            Series { values: times.iter().map(value).collect(), times, ..Series::default() }
        };
        (0..10).map(wave).collect()
    }

    #[test]
    fn looks_have_the_moments_and_the_profile_of_a_wave() {
        let look = VariableLook::of(&waves(2.0), 1, 0, (0.0, 24.0)).unwrap();
        assert!((look.mean - 0.5).abs() < 1e-9);
        // The variance of a wave of amplitude 2 is 2, that of the levels 1 / 4.
        assert!((look.sd - 2.25f64.sqrt()).abs() < 1e-9 && (look.sd_within - 2f64.sqrt()).abs() < 1e-9);
        let hour = |hour: f64| 0.5 + 2.0 * (std::f64::consts::TAU * hour / 24.0).sin();
        for (part, mean) in look.profile.iter().enumerate() {
            assert!((mean.unwrap() - hour(2.0 * part as f64 + 1.0)).abs() < 0.05);
        }
        assert!(look.autocorrelation.iter().all(|correlation| correlation.unwrap() > 0.9));

        // Twice the amplitude differs from it by an amplitude of 2: root mean square sqrt(2).
        let other = VariableLook::of(&waves(4.0), 1, 0, (0.0, 24.0)).unwrap();
        let difference = look.profile_difference(&other).unwrap();
        assert!((difference - 2f64.sqrt() / look.sd).abs() < 0.03, "{difference}");
        assert_eq!(look.profile_difference(&look), Some(0.0));
        assert!(look.autocorrelation_difference(&other).unwrap() < 0.1);
    }

    #[test]
    fn what_is_not_observed_has_no_look() {
        let mut series = waves(1.0);
        series.iter_mut().for_each(|series| series.observed = Some(vec![false; 240]));
        assert_eq!(VariableLook::of(&series, 1, 0, (0.0, 24.0)), None);
        assert!(series_features(&series[0], 1).iter().all(|feature| feature.is_nan()));
    }
}
