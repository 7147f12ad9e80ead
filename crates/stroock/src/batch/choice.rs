//! Which points of a series the encoder sees, and which it is scored on.

use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose};

/// Which points of the evidence the encoder sees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputChoice {
    /// All points.
    All,
    /// The first points.
    First {
        /// How many.
        count: usize,
    },
    /// Every point with a probability, drawn anew in every epoch.
    Random {
        /// The probability.
        probability: f64,
        /// How many of the first points are always seen.
        always: usize,
    },
}

/// Which points of a series are evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceChoice {
    /// All points.
    #[default]
    All,
    /// Some points less, drawn anew in every epoch.
    Drop {
        /// How many are left out.
        count: usize,
        /// How many of the first points are never left out.
        never: usize,
    },
}

/// Samples of a stream of a series: one for the evidence, one for the input.
const INPUT: u32 = 0;
const EVIDENCE: u32 = 1;

impl InputChoice {
    /// Which of the `count` points of series `number` the encoder sees.
    pub(super) fn seen(self, count: usize, number: usize, key: NoiseKey) -> Vec<bool> {
        match self {
            InputChoice::All => vec![true; count],
            InputChoice::First { count: first } => (0..count).map(|i| i < first).collect(),
            InputChoice::Random { probability, always } => {
                let mut stream = key.stream(Purpose::Other, number as u32, INPUT);
                (0..count)
                    .map(|i| {
                        let drawn = stream.uniform() < probability;
                        i < always || drawn
                    })
                    .collect()
            }
        }
    }
}

impl EvidenceChoice {
    /// The `points` of series `number` that are evidence, in their order.
    pub(super) fn evidence(self, mut points: Vec<usize>, number: usize, key: NoiseKey) -> Vec<usize> {
        let EvidenceChoice::Drop { count, never } = self else { return points };
        let mut stream = key.stream(Purpose::Other, number as u32, EVIDENCE);
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
    fn dropped_points_differ_from_epoch_to_epoch_and_spare_the_first() {
        let choice = EvidenceChoice::Drop { count: 4, never: 1 };
        let at = |epoch| choice.evidence((0..15).collect(), 3, NoiseKey::new(1, epoch));
        assert_eq!((at(0).len(), at(0)[0]), (11, 0));
        assert_eq!(at(0), at(0));
        assert_ne!(at(0), at(1));
        assert_eq!(choice.evidence(vec![0, 1], 3, NoiseKey::new(1, 0)), [0]);
    }
}
