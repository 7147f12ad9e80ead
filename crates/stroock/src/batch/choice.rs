//! Which points of a series the encoder sees, and which it is scored on.

use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose};

/// Which points of the targets the encoder sees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum InputChoice {
    /// All points.
    All,
    /// The first points.
    First {
        /// How many.
        #[serde(default = "one")]
        count: usize,
    },
    /// Every point with a probability, drawn anew in every epoch.
    Random {
        /// The probability.
        #[serde(default = "half")]
        probability: f64,
        /// How many of the first points are always seen.
        #[serde(default)]
        always: usize,
    },
    /// Every value on its own, with gaps as real data have them, drawn anew in every epoch: values with a
    /// probability that is drawn between `least` and 1 for the series, and a run of times less of every second
    /// channel.
    Values {
        /// Least probability of a value.
        #[serde(default = "half")]
        least: f64,
    },
    /// The points up to one that is drawn anew in every epoch.
    Past {
        /// Least share of the points.
        #[serde(default = "quarter")]
        least: f64,
    },
}

fn one() -> usize {
    1
}

fn half() -> f64 {
    0.5
}

fn quarter() -> f64 {
    0.25
}

/// What the encoder sees of the points of a series.
pub(super) struct Seen {
    /// Which points, `[T]`.
    pub points: Vec<bool>,
    /// Which of their values, `[T, C]`; `None` means all of them.
    pub values: Option<Vec<bool>>,
}

impl Seen {
    /// All values of some points.
    pub fn whole(points: Vec<bool>) -> Self {
        Self { points, values: None }
    }
}

/// Longest run of times that is hidden from the encoder, as a share of all times of a series.
const LONGEST_GAP: f64 = 0.3;

/// Which points of a series are targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TargetChoice {
    /// All points.
    #[default]
    All,
    /// Some points less, drawn anew in every epoch.
    Drop {
        /// How many are left out.
        #[serde(default = "one")]
        count: usize,
        /// How many of the first points are never left out.
        #[serde(default)]
        never: usize,
    },
}

impl InputChoice {
    /// What the encoder sees of the `count` points of series `number`, with `channels` values each.
    pub(super) fn seen(self, count: usize, channels: usize, number: usize, key: NoiseKey) -> Seen {
        let mut stream = key.stream(Purpose::Inputs, number as u32, 0);
        Seen::whole(match self {
            InputChoice::All => vec![true; count],
            InputChoice::First { count: first } => (0..count).map(|i| i < first).collect(),
            InputChoice::Random { probability, always } => (0..count)
                .map(|i| {
                    let drawn = stream.uniform() < probability;
                    i < always || drawn
                })
                .collect(),
            InputChoice::Past { least } => {
                let share = least + (1.0 - least) * stream.uniform();
                let last = (share * count as f64).ceil() as usize;
                (0..count).map(|i| i < last).collect()
            }
            InputChoice::Values { least } => {
                let probability = least + (1.0 - least) * stream.uniform();
                let mut values: Vec<bool> =
                    (0..count * channels).map(|_| stream.uniform() < probability).collect();
                for channel in 0..channels {
                    let [chance, begin, length] = [(); 3].map(|()| stream.uniform());
                    if chance < 0.5 {
                        let begin = (begin * count as f64) as usize;
                        let end = begin + (length * LONGEST_GAP * count as f64) as usize;
                        (begin..end.min(count)).for_each(|i| values[i * channels + channel] = false);
                    }
                }
                return Seen { points: vec![true; count], values: Some(values) };
            }
        })
    }
}

impl TargetChoice {
    /// The `points` of series `number` that are targets, in their order.
    pub(super) fn targets(self, mut points: Vec<usize>, number: usize, key: NoiseKey) -> Vec<usize> {
        let TargetChoice::Drop { count, never } = self else { return points };
        let mut stream = key.stream(Purpose::Targets, number as u32, 0);
        for _ in 0..count {
            let Some(choices) = points.len().checked_sub(never).filter(|&choices| choices > 0) else { break };
            points.remove(never + (stream.next_u64() % choices as u64) as usize);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_one_by_one_and_in_runs() {
        let (count, channels) = (400, 6);
        let seen = InputChoice::Values { least: 0.9 }.seen(count, channels, 3, NoiseKey::new(1, 0));
        let values = seen.values.unwrap();
        let share = values.iter().filter(|&&seen| seen).count() as f64 / values.len() as f64;
        assert!((0.7..1.0).contains(&share), "{share}");
        let longest = |channel: usize| {
            let column: Vec<bool> = values.iter().skip(channel).step_by(channels).copied().collect();
            column.split(|&seen| seen).map(<[bool]>::len).max().unwrap()
        };
        let runs: Vec<usize> = (0..channels).map(longest).collect();
        assert!(runs.iter().any(|&run| run > 10) && runs.iter().any(|&run| run < 10), "{runs:?}");
    }

    #[test]
    fn the_past_ends_somewhere() {
        let cut = |epoch| {
            let seen = InputChoice::Past { least: 0.25 }.seen(100, 1, 0, NoiseKey::new(1, epoch)).points;
            let last = seen.iter().filter(|&&seen| seen).count();
            assert!(seen.iter().take(last).all(|&seen| seen) && last >= 25);
            last
        };
        assert_ne!(cut(0), cut(1));
    }

    #[test]
    fn dropped_points_differ_from_epoch_to_epoch_and_spare_the_first() {
        let choice = TargetChoice::Drop { count: 4, never: 1 };
        let at = |epoch| choice.targets((0..15).collect(), 3, NoiseKey::new(1, epoch));
        assert_eq!((at(0).len(), at(0)[0]), (11, 0));
        assert_eq!(at(0), at(0));
        assert_ne!(at(0), at(1));
        assert_eq!(choice.targets(vec![0, 1], 3, NoiseKey::new(1, 0)), [0]);
    }
}
