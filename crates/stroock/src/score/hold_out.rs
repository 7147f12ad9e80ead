//! Entries of a series that are held back, to be predicted from the rest.

use crate::series::{Dataset, Observation, Series, SeriesError};
use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage, Stream};

/// Which entries of a series are held back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum HoldOut {
    /// Each entry by itself: interpolation over short gaps.
    Random {
        /// Probability of an entry to be held back.
        #[serde(default = "fifth")]
        share: f64,
    },
    /// In each channel, runs of entries that follow one another: interpolation over long gaps.
    Blocks {
        /// Share of the entries of a channel, right in the mean where it does not come out even.
        #[serde(default = "fifth")]
        share: f64,
        /// Observed entries of the channel in one run. Runs may touch.
        #[serde(default = "six")]
        length: usize,
    },
    /// Everything after a time: forecasts.
    Tail {
        /// Share of the time span of the series.
        #[serde(default = "quarter")]
        share: f64,
    },
}

impl HoldOut {
    /// What is held out, in words.
    pub fn in_words(self) -> String {
        match self {
            HoldOut::Random { share } => format!("{:.0} % of the values, one by one", 100.0 * share),
            HoldOut::Blocks { share, length } => {
                format!("{:.0} % of the values, in runs of {length}", 100.0 * share)
            }
            HoldOut::Tail { share } => format!("the last {:.0} % of every series", 100.0 * share),
        }
    }
}

fn fifth() -> f64 {
    0.2
}

fn quarter() -> f64 {
    0.25
}

fn six() -> usize {
    6
}

/// Holds back observed entries of the series with the given `numbers`; those withheld before stay withheld.
///
/// What is chosen in a series depends on the seed and its number alone. Channels marked in `is_static` `[C]`
/// are never held back (an empty list marks none), and one entry of the others always stays visible: the
/// first. Images are held back as a whole. Shares are cut to `[0, 1]`, and numbers beyond the last series
/// mean nothing.
///
/// ```
/// # use stroock::score::{HoldOut, withhold};
/// use stroock::series::{Dataset, Observation, Series};
/// let series = Series { times: vec![0.0, 1.0, 2.0, 3.0], values: vec![1.0; 4], ..Series::default() };
/// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
/// let data = withhold(data, &[0], HoldOut::Tail { share: 0.5 }, &[], 7)?;
/// assert_eq!(data.series()[0].withheld, Some(vec![false, false, true, true]));
/// # Ok::<(), stroock::series::SeriesError>(())
/// ```
///
/// # Errors
/// When `is_static` has another length than an observation.
pub fn withhold(
    data: Dataset,
    numbers: &[usize],
    how: HoldOut,
    is_static: &[bool],
    seed: u64,
) -> Result<Dataset, SeriesError> {
    let streams: Vec<(usize, u32)> = numbers.iter().map(|&number| (number, number as u32)).collect();
    withhold_of(data, &streams, how, is_static, seed)
}

/// [`withhold`] where what is chosen depends on a stream that is given with the number of each series, in place of the
/// number itself: it then does not depend on the place of a series among others.
///
/// # Errors
/// When `is_static` has another length than an observation.
pub fn withhold_of(
    data: Dataset,
    streams: &[(usize, u32)],
    how: HoldOut,
    is_static: &[bool],
    seed: u64,
) -> Result<Dataset, SeriesError> {
    let observation = data.observation();
    let channels = observation.len();
    if !is_static.is_empty() && is_static.len() != channels {
        return Err(SeriesError::Length {
            series: "(all)".into(),
            list: "is_static",
            expected: channels,
            actual: is_static.len(),
        });
    }
    let mut all = data.into_series();
    let mut chosen = streams.to_vec();
    chosen.sort_unstable();
    chosen.dedup_by_key(|(number, _)| *number);
    for (number, stream) in chosen {
        if let Some(series) = all.get_mut(number) {
            hold_back(series, stream, observation, how, is_static, seed);
        }
    }
    Dataset::new(observation, all)
}

/// Holds back observed entries of a series, as [`withhold_of`] does.
pub(crate) fn hold_back(
    series: &mut Series,
    stream: u32,
    observation: Observation,
    how: HoldOut,
    is_static: &[bool],
    seed: u64,
) {
    let channels = observation.len();
    let entries = Entries::new(series, observation, is_static);
    let held = entries.choose(series, how, NoiseKey::of(seed, Stage::HoldOut), stream);
    let mask = series.withheld.get_or_insert_with(|| vec![false; series.times.len() * channels]);
    for (index, group) in held {
        let start = index * channels + group * entries.width;
        mask[start..start + entries.width].fill(true);
    }
}

/// The entries that may be held back: for each group of numbers that is observed together, the indices of its
/// times.
struct Entries {
    /// Numbers of one group: one channel of a vector, or a whole image.
    width: usize,
    times: Vec<Vec<usize>>,
}

impl Entries {
    fn new(series: &Series, observation: Observation, is_static: &[bool]) -> Self {
        let channels = observation.len();
        let (groups, width) = match observation {
            Observation::Vector { channels } => (channels, 1),
            Observation::Image { .. } => (usize::from(channels > 0), channels),
        };
        let times = |group: usize| {
            let stays = is_static.get(group * width).copied().unwrap_or(false);
            let visible = |index: &usize| !stays && series.is_visible(channels, *index, group * width);
            (0..series.times.len()).filter(visible).collect()
        };
        Entries { width, times: (0..groups).map(times).collect() }
    }

    /// The chosen (index of time, group), without the first of all where it would leave nothing visible.
    fn choose(&self, series: &Series, how: HoldOut, key: NoiseKey, of_series: u32) -> Vec<(usize, usize)> {
        let mut held = Vec::new();
        for (group, times) in self.times.iter().enumerate() {
            let mut stream = key.stream(Purpose::HoldOut, of_series, group as u32);
            let chosen = match how {
                HoldOut::Random { share } => random(times, series.times.len(), share, &mut stream),
                HoldOut::Blocks { share, length } => blocks(times, share, length, &mut stream),
                HoldOut::Tail { share } => tail(times, &series.times, share),
            };
            held.extend(chosen.into_iter().map(|index| (index, group)));
        }
        if held.len() == self.times.iter().map(Vec::len).sum::<usize>() {
            let first = held.iter().copied().min();
            held.retain(|entry| Some(*entry) != first);
        }
        held
    }
}

/// One number of the stream for every time, observed or not: the fate of an entry does not depend on the
/// others.
fn random(times: &[usize], count: usize, share: f64, stream: &mut Stream) -> Vec<usize> {
    let held: Vec<bool> = (0..count).map(|_| stream.uniform() < share).collect();
    times.iter().copied().filter(|index| held[*index]).collect()
}

/// The entries are cut into runs from a random first cut on; runs are taken in a random order until there are
/// enough.
fn blocks(times: &[usize], share: f64, length: usize, stream: &mut Stream) -> Vec<usize> {
    let length = length.clamp(1, times.len().max(1));
    let wanted = (times.len() as f64 * share.clamp(0.0, 1.0) + stream.uniform()).floor() as usize;
    let mut missing = wanted.min(times.len());
    let (head, rest) = times.split_at(((stream.next_u64() % length as u64) as usize).min(times.len()));
    let mut runs: Vec<&[usize]> = std::iter::once(head).chain(rest.chunks(length)).collect();
    for i in (1..runs.len()).rev() {
        runs.swap(i, (stream.next_u64() % (i as u64 + 1)) as usize);
    }
    let mut held = Vec::with_capacity(missing);
    for run in runs {
        let run = &run[..run.len().min(missing)];
        held.extend_from_slice(run);
        missing -= run.len();
    }
    held
}

/// The entries in the last part of the time span.
fn tail(times: &[usize], all: &[f64], share: f64) -> Vec<usize> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let bound = last - share.clamp(0.0, 1.0) * (last - first);
    times.iter().copied().filter(|index| all[*index] > bound).collect()
}
