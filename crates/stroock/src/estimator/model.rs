//! A fitted model, and new tables in its terms.

use std::path::Path;

use burn::tensor::Device;

use super::EstimatorError;
use crate::model::{Description, ModelSettings, StandardModel, TableDescription};
use crate::predict::Predictor;
use crate::run::RunPaths;
use crate::series::table::Table;
use crate::series::{Dataset, Series};

/// A fitted model with all that it knows about the data: the contents of a model file.
#[derive(Debug)]
pub struct Model {
    /// The model, ready for inference.
    pub model: StandardModel,
    /// What it is made of and what it reads.
    pub description: Description,
}

/// Series of a table in the terms of a model.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// In model units, cut as the model needs them.
    pub data: Dataset,
    /// For each series what is to be added to its times to have the times of the user.
    pub origins: Vec<f64>,
    /// Differences between the table and the model that the user should know.
    pub warnings: Vec<String>,
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
        let (model, description) = Description::load(&path, &Device::flex())?;
        if description.data.table.is_none() {
            return Err(EstimatorError::NoTable);
        }
        Ok(Self { model, description })
    }

    /// Draws in the units of the user.
    pub fn predictor(&self) -> Predictor<'_, StandardModel> {
        Predictor::new(&self.model, &self.description.data)
    }

    /// How tables become series of this model.
    pub fn table(&self) -> Result<&TableDescription, EstimatorError> {
        self.description.data.table.as_ref().ok_or(EstimatorError::NoTable)
    }

    /// A table in the terms of the model: its variables in order, its series cut and scaled.
    ///
    /// # Errors
    /// When the table has none of the variables, or a value becomes infinite.
    pub fn prepare(&self, table: Table) -> Result<Prepared, EstimatorError> {
        let (table, warnings) = self.arranged(table)?;
        let table = table.sampled(self.table()?.sampling);
        self.scaled(table, warnings)
    }

    /// A table with the channels of the model that has been cut already.
    pub(super) fn scaled(&self, table: Table, warnings: Vec<String>) -> Result<Prepared, EstimatorError> {
        let data = self.description.data.scaler.apply(table.data)?;
        Ok(Prepared { data, origins: table.origins, warnings })
    }

    /// The table with the channels of the model, in its order; those that lack are never observed.
    pub(super) fn arranged(&self, mut table: Table) -> Result<(Table, Vec<String>), EstimatorError> {
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
        if !unchanged || table.variables.len() != variables.len() {
            let before = table.variables.len();
            let observation = self.description.model.observation();
            let arrange = |series: &Series| arrange(series, before, &places);
            let series = table.data.series().iter().map(arrange).collect();
            table.data = Dataset::new(observation, series)?;
            table.variables = self.variables();
        }
        Ok((table, warnings))
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
fn arrange(series: &Series, before: usize, places: &[Option<usize>]) -> Series {
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
