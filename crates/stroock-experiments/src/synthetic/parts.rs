//! Training, validation and test series of a generated data set.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Split};
use stroock_kernels::noise::{NoiseKey, Stage};

use super::SyntheticError;
use super::error::require;

/// How many series to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// For training.
    pub train: usize,
    /// For choosing among models.
    pub validation: usize,
    /// For the final figure.
    pub test: usize,
}

/// Generated series and which of them are for what.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitData {
    /// The series: first those for training, then validation, then test.
    pub data: Dataset,
    /// Their numbers.
    pub split: Split,
}

/// What a series is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Train,
    Validation,
    Test,
}

impl Part {
    /// The name of a series of this part.
    pub(super) fn name(self, number: u32) -> String {
        let part = match self {
            Part::Train => "train",
            Part::Validation => "validation",
            Part::Test => "test",
        };
        format!("{part} {number}")
    }

    /// What tells the key of this part from those of the others.
    pub(super) fn stage(self) -> Stage {
        Stage::Epoch(self as u64)
    }
}

/// The key of a data set and a part of it. The tag keeps the numbers of different sets, and those of the
/// training with the same seed, apart.
pub(super) fn key(seed: u64, tag: &[u8; 8], stage: Stage) -> NoiseKey {
    NoiseKey::of(seed ^ u64::from_le_bytes(*tag), stage)
}

impl Sizes {
    /// Series of all parts.
    pub fn total(&self) -> usize {
        self.train.saturating_add(self.validation).saturating_add(self.test)
    }

    /// Numbers of the series of each part.
    pub(super) fn split(&self) -> Split {
        let tested = self.train + self.validation;
        Split {
            train: (0..self.train).collect(),
            validation: (self.train..tested).collect(),
            test: (tested..self.total()).collect(),
        }
    }

    pub(super) fn check(&self, set: &'static str) -> Result<(), SyntheticError> {
        require(self.total() <= u32::MAX as usize, set, "sizes", self, "fewer than 2^32 series")
    }

    /// What `make` gives for every series, from the key of its part and its number there.
    ///
    /// The parts have keys of their own, so that a size changes how many series there are and not which.
    pub(super) fn each<T: Send>(
        &self,
        seed: u64,
        tag: &[u8; 8],
        make: impl Fn(Part, NoiseKey, u32) -> T + Sync,
    ) -> Vec<T> {
        (0..self.total())
            .into_par_iter()
            .map(|number| {
                let (part, number) = if number < self.train {
                    (Part::Train, number)
                } else if number < self.train + self.validation {
                    (Part::Validation, number - self.train)
                } else {
                    (Part::Test, number - self.train - self.validation)
                };
                make(part, key(seed, tag, part.stage()), number as u32)
            })
            .collect()
    }
}
