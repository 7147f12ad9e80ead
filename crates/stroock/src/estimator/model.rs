//! A fitted model, and new tables in its terms.

use std::borrow::Cow;
use std::path::Path;

use burn::tensor::Device;

use super::EstimatorError;
use super::stream::stream;
use crate::classifier::SeriesClassifier;
use crate::model::{Description, ModelConfig, ModelSettings, StandardModel, TableDescription};
use crate::predict::Predictor;
use crate::run::RunPaths;
use crate::sampler::Sampler;
use crate::series::table::{Expectation, Table};
use crate::series::{Dataset, Series};

/// A fitted model with all that it knows about the data: the contents of a model file.
#[derive(Debug)]
pub struct Model {
    /// The model, ready for inference.
    pub model: StandardModel,
    /// What it is made of and what it reads.
    pub description: Description,
    /// Classes of whole series in closed form, where these are learnt, and its share of the answer.
    pub classifier: Option<SeriesClassifier>,
    /// What new series are drawn from; `None` in files of earlier versions, and before a fit has ended.
    pub sampler: Option<Sampler>,
}

/// Series of a table in the terms of a model.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// In model units, cut as the model needs them.
    pub data: Dataset,
    /// For each series what is to be added to its times to have the times of the user.
    pub origins: Vec<f64>,
    /// The times of each series as the user has them.
    pub user_times: Vec<Vec<f64>>,
    /// Differences between the table and the model that the user should know.
    pub warnings: Vec<String>,
}

impl Prepared {
    /// Series in model units whose times count from the given origins.
    pub(super) fn new(data: Dataset, origins: Vec<f64>) -> Self {
        let of_series =
            |(series, origin): (&Series, &f64)| series.times.iter().map(|time| origin + time).collect();
        let user_times = data.series().iter().zip(&origins).map(of_series).collect();
        Self { data, origins, user_times, warnings: Vec::new() }
    }

    /// For each of the given series the number that its noise depends on.
    pub(super) fn streams(&self, numbers: &[usize]) -> Vec<u32> {
        numbers.iter().map(|&number| stream(&self.data.series()[number].id, self.origins[number])).collect()
    }

    /// The same for a test of the model: their names where all series are tested on, so that parts of a table can be
    /// tested apart; their numbers where some were kept for it, so that published figures stay what they are.
    pub(super) fn test_streams(&self, numbers: &[usize], is_whole: bool) -> Vec<u32> {
        match is_whole {
            true => self.streams(numbers),
            false => numbers.iter().map(|&number| number as u32).collect(),
        }
    }
}

impl Model {
    /// Reads a model file, or the best model of a run folder.
    ///
    /// # Errors
    /// When there is none, it is damaged, or it was not fitted to tables.
    pub fn load(path: &Path) -> Result<Self, EstimatorError> {
        let path = match path.is_dir() {
            true => RunPaths::new(path).model(),
            false => path.to_path_buf(),
        };
        let mut file = Description::<ModelConfig>::read(&path)?;
        let classifier = SeriesClassifier::take(&mut file)?;
        let sampler = Sampler::take(&mut file)?;
        let (model, description): (_, Description) =
            Description::from_tensors(&file, &path, &Device::flex())?;
        if description.data.table.is_none() {
            return Err(EstimatorError::NoTable);
        }
        let channels = description.model.observation().len();
        sampler.iter().try_for_each(|sampler| sampler.check(channels))?;
        if let Some(classifier) = &classifier {
            classifier.check(channels, description.data.classes.len())?;
        }
        Ok(Self { model, description, classifier, sampler })
    }

    /// Writes a model file.
    ///
    /// # Errors
    /// When a parameter is not finite or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), EstimatorError> {
        let mut file = self.description.to_tensors(&self.model)?;
        self.classifier.iter().try_for_each(|classifier| classifier.note(&mut file))?;
        self.sampler.iter().try_for_each(|sampler| sampler.note(&mut file))?;
        Ok(file.save(path)?)
    }

    /// Whether the fit has ended. A model of a run that was stopped, or that goes on, does not know yet how observations
    /// scatter around its paths.
    pub fn is_finished(&self) -> bool {
        self.description.data.residual.is_some()
    }

    /// Draws of the model, in its units.
    pub fn predictor(&self) -> Predictor<'_, StandardModel> {
        Predictor::new(&self.model, &self.description.data)
    }

    /// How tables become series of this model.
    pub fn table(&self) -> Result<&TableDescription, EstimatorError> {
        self.description.data.table.as_ref().ok_or(EstimatorError::NoTable)
    }

    /// What the model expects of a new table, for the [options](crate::series::table::ReadOptions::expect) of reading it.
    ///
    /// # Errors
    /// When the model was not fitted to a table.
    pub fn expectation(&self) -> Result<Expectation, EstimatorError> {
        let about = self.table()?;
        Ok(Expectation {
            variables: self.variables(),
            classes: self.description.data.classes.clone(),
            columns: about.columns.clone(),
            time: about.time.clone(),
        })
    }

    /// A table in the terms of the model: its variables in order, its series scaled and cut.
    ///
    /// # Errors
    /// When the table has none of the variables, or a value becomes infinite.
    pub fn prepare(&self, table: &Table) -> Result<Prepared, EstimatorError> {
        let (table, warnings) = self.arranged(table)?;
        let data = self.description.data.scaler.apply(&table.data)?;
        let (data, origins) = self.table()?.sampling.cut(data, &table.origins, &table.variables);
        let mut prepared = Prepared::new(data, origins);
        // As they were given: a time that is counted from an origin may be rounded.
        let whole = table.data.series().iter().zip(&table.origins);
        let mut given = whole.flat_map(|(series, origin)| series.times.iter().map(move |time| origin + time));
        for times in &mut prepared.user_times {
            times.iter_mut().zip(&mut given).for_each(|(time, given)| *time = given);
        }
        prepared.warnings = warnings;
        Ok(prepared)
    }

    /// The table with the channels of the model, in its order; those that lack are never observed.
    pub(super) fn arranged<'a>(
        &self,
        table: &'a Table,
    ) -> Result<(Cow<'a, Table>, Vec<String>), EstimatorError> {
        let variables = &self.description.data.variables;
        let place = |name: &str| table.variables.iter().position(|variable| variable.name == name);
        let places: Vec<Option<usize>> = variables.iter().map(|variable| place(&variable.name)).collect();
        let names = |names: &mut dyn Iterator<Item = &String>| -> String {
            names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        if places.iter().all(Option::is_none) {
            let found = names(&mut table.variables.iter().map(|variable| &variable.name));
            let expected = names(&mut variables.iter().map(|variable| &variable.name));
            return Err(EstimatorError::Variables { found, expected });
        }
        let mut warnings = Vec::new();
        let lacking = variables.iter().zip(&places).filter(|(_, place)| place.is_none());
        let lacking: Vec<&String> = lacking.map(|(variable, _)| &variable.name).collect();
        if !lacking.is_empty() {
            let names = names(&mut lacking.into_iter());
            warnings.push(format!("the table lacks {names}: nothing of that is observed"));
        }
        let known = |name: &String| variables.iter().any(|variable| &variable.name == name);
        let extra: Vec<&String> =
            table.variables.iter().map(|variable| &variable.name).filter(|name| !known(name)).collect();
        if !extra.is_empty() {
            let names = names(&mut extra.into_iter());
            warnings.push(format!("the model does not know {names}: left out"));
        }
        let unchanged = places.iter().enumerate().all(|(i, &place)| place == Some(i));
        if unchanged && table.variables.len() == variables.len() {
            return Ok((Cow::Borrowed(table), warnings));
        }
        let before = table.variables.len();
        let arrange = |series: &Series<f64>| arrange(series, before, &places);
        let series = table.data.series().iter().map(arrange).collect();
        let data = Dataset::new(self.description.model.observation(), series)?;
        let table = Table {
            data,
            origins: table.origins.clone(),
            variables: self.variables(),
            classes: table.classes.clone(),
            time: table.time.clone(),
            columns: table.columns.clone(),
            account: table.account.clone(),
        };
        Ok((Cow::Owned(table), warnings))
    }

    /// The variables as those of a table.
    pub fn variables(&self) -> Vec<crate::series::table::TableVariable> {
        let variable = |variable: &crate::model::Variable| crate::series::table::TableVariable {
            name: variable.name.clone(),
            is_static: variable.is_static,
        };
        self.description.data.variables.iter().map(variable).collect()
    }
}

/// A series with other channels: each from a place among `before` channels, or from nowhere.
fn arrange(series: &Series<f64>, before: usize, places: &[Option<usize>]) -> Series<f64> {
    let entries = (0..series.times.len()).flat_map(|i| places.iter().map(move |place| (i, place)));
    let values = entries.clone().map(|(i, place)| place.map_or(0.0, |c| series.values[i * before + c]));
    let observed = entries.map(|(i, place)| place.is_some_and(|c| series.is_observed(before, i, c)));
    Series {
        id: series.id.clone(),
        times: series.times.clone(),
        values: values.collect(),
        observed: Some(observed.collect()),
        withheld: None,
        labels: series.labels.clone(),
    }
}
