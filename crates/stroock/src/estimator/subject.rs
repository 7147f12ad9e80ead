//! The series that a model is tested on.

use super::some_of_many::{cut_split, most_series, spread};
use super::{
    EstimatorError, EvaluateOptions, Evaluation, Goal, Model, Prepared, SampleSource, SamplesEvaluation,
};
use crate::score::HoldOut;
use crate::series::table::{StoredTable, Table};
use crate::series::{SeriesSource, Split};

/// The series that a model is tested on.
#[derive(Clone, Debug)]
pub struct Subject {
    /// As they were read, whole or cut.
    pub table: Table,
    /// The same in the terms of the model.
    pub prepared: Prepared,
    /// Numbers of the series; all of them if not given.
    pub numbers: Option<Vec<usize>>,
    /// Which series they are.
    pub part: Part,
    /// Numbers of other series that the model was trained on.
    pub training: Vec<usize>,
}

/// Which series a model is tested on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those that were named.
    Given,
    /// Those that were kept for testing.
    Test,
    /// There are none for testing.
    Validation,
    /// There are no others.
    Training,
}

impl Part {
    /// Which series they are.
    pub fn in_words(self) -> &'static str {
        match self {
            Part::Given => "the given series",
            Part::Test => "series that were kept for testing",
            Part::Validation => {
                "series that the best epoch was chosen on, as there are too few to keep some for testing"
            }
            Part::Training => {
                "the series that the model was trained on, as there are too few to keep some for testing: on new series \
                 the errors are larger"
            }
        }
    }
}

impl Subject {
    /// All series of a table.
    ///
    /// # Errors
    /// When the table does not fit the model.
    pub fn given(model: &Model, table: Table) -> Result<Self, EstimatorError> {
        let prepared = model.prepare(&table)?;
        Ok(Self { prepared, table, numbers: None, part: Part::Given, training: Vec::new() })
    }

    /// The series that a fit has kept for testing; those of validation where it has none, and those of training where
    /// there are no others.
    pub fn of_split(split: Split, prepared: Prepared, table: Table) -> Self {
        let Split { train, validation, test } = split;
        let parts = [(Part::Test, test), (Part::Validation, validation), (Part::Training, train.clone())];
        let found = parts.into_iter().find(|(_, numbers)| !numbers.is_empty());
        let (part, numbers) = found.unwrap_or((Part::Training, Vec::new()));
        let training = if part == Part::Training { Vec::new() } else { train };
        Self { table, prepared, numbers: Some(numbers), part, training }
    }

    /// The same of a fit to a table in a file: all of its series where they fit into memory well, and otherwise
    /// [some](super::MOST_SERIES) of those for testing and of those for training.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_stored(model: &Model, split: Split, table: &StoredTable) -> Result<Self, EstimatorError> {
        let most = most_series(table);
        let subject = |numbers: &[usize], split: Split| -> Result<Self, EstimatorError> {
            let some = table.gather(numbers)?;
            let data = model.description.data.scaler.apply(&some.data)?;
            let prepared = Prepared::new(data, some.origins.clone());
            Ok(Self::of_split(split, prepared, some))
        };
        if table.data.len() <= most {
            return subject(&(0..table.data.len()).collect::<Vec<_>>(), split);
        }
        let (split, numbers) = cut_split(&split, most);
        subject(&numbers, split)
    }

    /// All series of a table in a file where they fit into memory well, and otherwise [some](super::MOST_SERIES), spread over it.
    ///
    /// # Errors
    /// When the table does not fit the model, or the file cannot be read.
    pub fn given_stored(model: &Model, table: &StoredTable) -> Result<Self, EstimatorError> {
        Self::given(model, table.gather(&spread(table.data.len(), most_series(table)))?)
    }

    /// The scores of a model: of forecasts, where the last part of every series is held out.
    ///
    /// # Errors
    /// When there is nothing to hold out.
    pub fn evaluate(&self, model: &Model, options: &EvaluateOptions) -> Result<Evaluation, EstimatorError> {
        let numbers = self.numbers.as_deref();
        match options.hold_out {
            HoldOut::Tail { .. } => model.evaluate_forecasts(&self.table, numbers, options),
            _ => model.evaluate(&self.prepared, numbers, options),
        }
    }

    /// For each of the series with these numbers, its number and the stream that [`evaluate`](Self::evaluate) chooses by
    /// what it holds out of the series.
    pub fn streams(&self, numbers: &[usize]) -> Vec<(usize, u32)> {
        let streams = self.prepared.test_streams(numbers, self.numbers.is_none());
        numbers.iter().copied().zip(streams).collect()
    }

    /// Sampled series beside those of the test.
    ///
    /// # Errors
    /// When series cannot be sampled.
    pub fn samples(
        &self,
        model: &Model,
        source: SampleSource,
        seed: u64,
    ) -> Result<SamplesEvaluation, EstimatorError> {
        let all: Vec<usize> = (0..self.prepared.data.series().len()).collect();
        let numbers = self.numbers.as_deref().unwrap_or(&all);
        model.evaluate_samples(&self.prepared, numbers, &self.training, source, seed)
    }
}

impl EvaluateOptions {
    /// What is held out to test a model of a goal.
    pub fn of(goal: Goal) -> Self {
        match goal {
            Goal::Impute | Goal::Classify => Self::default(),
            Goal::Forecast => Self { hold_out: HoldOut::Tail { share: 0.2 }, ..Self::default() },
        }
    }
}
