//! Everything that a fit depends on but the data.

use serde::{Deserialize, Serialize};

use super::EstimatorError;
use crate::batch::Batcher;
use crate::model::{ModelConfig, ModelSettings};
use crate::series::table::{Sampling, Table};
use crate::series::{Labels, Scaler, Series, SeriesError, SeriesSource, Split};
use crate::task::TaskKind;
use crate::training::{Schedule, TrainingConfig};

/// The rate that training ends with, as a share of the full one.
const FLOOR: f64 = 0.01;

/// What a model is fitted for. Any model can be used for everything; the goal decides what is hidden from the encoder
/// in training, and whether classes are learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// To fill gaps: values are hidden one by one and in runs.
    #[default]
    Impute,
    /// To look ahead: everything after a random time is hidden.
    Forecast,
    /// To tell classes.
    Classify,
}

/// Everything that a fit depends on but the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitConfig {
    /// What the model is fitted for.
    pub goal: Goal,
    /// How long series are cut, and where their times count from.
    pub sampling: Sampling,
    /// Share of the series that models are compared on.
    pub validation_share: f64,
    /// Share of the series that is kept for the final figures.
    pub test_share: f64,
    /// A usual step between times.
    pub step: f64,
    /// Variables that are known ahead of time, such as prices, holidays or planned work: forecasts may use them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Variables whose logarithms are learned.
    #[serde(default)]
    pub logarithms: Vec<String>,
    /// What the model is made of.
    pub model: ModelConfig,
    /// How series become batches.
    pub batcher: Batcher,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl FitConfig {
    /// Which series of a table, cut as the configuration says, are for what: a random split of whole series, in which
    /// classes of series keep their shares. Windows of a long series resemble their neighbours, so that there the last
    /// ones are for testing; those for validation are of all seasons.
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn split<D: SeriesSource<f64>>(&self, table: &Table<D>) -> Result<Split, SeriesError> {
        let (count, seed) = (table.data.len(), self.training.seed);
        if self.learns_series() && self.sampling.window.is_none() {
            let mut classes: Vec<Option<u32>> = Vec::with_capacity(count);
            table.data.for_each(&mut |_, series| {
                classes.push(class_of(series));
                Ok(())
            })?;
            return Ok(Split::stratified(&classes, self.validation_share, self.test_share, seed));
        }
        let random = Split::random(count, self.validation_share, self.test_share, seed);
        if self.sampling.window.is_none() {
            return Ok(random);
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| table.origins[a].total_cmp(&table.origins[b]));
        let test = order.split_off(count - random.test.len());
        let share = random.validation.len() as f64 / order.len().max(1) as f64;
        let rest = Split::random(order.len(), share, 0.0, seed);
        let named = |numbers: Vec<usize>| numbers.into_iter().map(|number| order[number]).collect();
        Ok(Split { train: named(rest.train), validation: named(rest.validation), test })
    }

    /// The same for another number of epochs of a new run: the rate falls once over all of them.
    ///
    /// To go on with a run beyond its end, change `training.epochs` alone: the rate then stays where it has come down
    /// to, and does not climb again.
    pub fn with_epochs(mut self, epochs: u64) -> Self {
        self.training.epochs = epochs;
        self.training.schedule = Schedule::Cosine { epochs: epochs.max(1) as usize, floor: FLOOR };
        self.training.patience = (epochs / 3).max(10);
        self
    }

    /// The numbers of the variables that are known ahead of time.
    ///
    /// # Errors
    /// When the table has no such variable, or no other one that could be forecast.
    pub fn known_channels<D>(&self, table: &Table<D>) -> Result<Vec<usize>, EstimatorError> {
        let names = || table.variables.iter().filter(|variable| !variable.is_static);
        let number = |name: &String| {
            let place =
                table.variables.iter().position(|variable| !variable.is_static && variable.name == *name);
            place.ok_or_else(|| EstimatorError::UnknownVariable {
                name: name.clone(),
                variables: names().map(|variable| variable.name.clone()).collect(),
            })
        };
        let known = self.known.iter().map(number).collect::<Result<Vec<usize>, _>>()?;
        let is_left = names().any(|variable| !self.known.contains(&variable.name));
        if is_left { Ok(known) } else { Err(EstimatorError::NothingToForecast) }
    }

    /// Whether classes of whole series are learnt.
    pub(super) fn learns_series(&self) -> bool {
        matches!(self.model.task(), Some(TaskKind::ClassPerSeries { .. }))
    }

    /// The scaler of the training series.
    pub(super) fn scaler<D: SeriesSource<f64>>(
        &self,
        table: &Table<D>,
        split: &Split,
    ) -> Result<Scaler, EstimatorError> {
        let scaler = match self.logarithms.is_empty() {
            true => Scaler::standard(&table.data, &split.train)?,
            false => {
                let marked = self.logarithm_mask(table)?;
                let scaler = Scaler::standard_of_logarithms(&table.data, &split.train, &marked)?;
                let lost = |&channel: &usize| marked[channel] && scaler.logarithm(channel).is_none();
                if let Some(channel) = (0..marked.len()).find(lost) {
                    let variable = table.variables[channel].name.clone();
                    return Err(EstimatorError::Logarithm {
                        variable,
                        reason: "no training value is positive",
                    });
                }
                scaler
            }
        };
        let is_finite =
            |channel: usize| scaler.shift[channel].is_finite() && scaler.scale[channel].is_finite();
        match (0..table.variables.len()).find(|&channel| !is_finite(channel)) {
            Some(channel) => Err(EstimatorError::Scale { variable: table.variables[channel].name.clone() }),
            None => Ok(scaler),
        }
    }

    /// Which variables of a table have their logarithms learned, `[C]`.
    ///
    /// # Errors
    /// When there is no such variable, or one has negative values.
    pub fn logarithm_mask<D: SeriesSource<f64>>(
        &self,
        table: &Table<D>,
    ) -> Result<Vec<bool>, EstimatorError> {
        let mut marked = vec![false; table.variables.len()];
        if self.logarithms.is_empty() {
            return Ok(marked);
        }
        let least = least_values(&table.data, &(0..table.data.len()).collect::<Vec<_>>())?;
        for name in &self.logarithms {
            let refused = |reason| EstimatorError::Logarithm { variable: name.clone(), reason };
            let channel = table.variables.iter().position(|variable| &variable.name == name);
            let channel = channel.ok_or_else(|| refused("the table has no such variable"))?;
            if least[channel].is_some_and(|least| least < 0.0) {
                return Err(refused("some values are negative"));
            }
            marked[channel] = true;
        }
        Ok(marked)
    }
}

/// The smallest value of each channel in some series; `None` where it has none.
pub(super) fn least_values<D: SeriesSource<f64>>(
    data: &D,
    numbers: &[usize],
) -> Result<Vec<Option<f64>>, SeriesError> {
    let channels = data.observation().len();
    let mut least: Vec<Option<f64>> = vec![None; channels];
    for &number in numbers {
        let series = data.get(number)?;
        for (place, &value) in series.values.iter().enumerate() {
            if series.is_observed(channels, place / channels, place % channels) {
                let least = &mut least[place % channels];
                *least = Some(least.map_or(value, |least| least.min(value)));
            }
        }
    }
    Ok(least)
}

/// The class of a whole series, where it has one.
pub(super) fn class_of<V>(series: &Series<V>) -> Option<u32> {
    match series.labels {
        Labels::Class(class) => Some(class),
        _ => None,
    }
}
