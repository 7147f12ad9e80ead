//! Fitting: split, scale, train, and learn how observations scatter around what was learned.

use std::borrow::Cow;
use std::path::PathBuf;

use burn::module::Module;
use burn::tensor::Device;

use super::bridge::Bridges;
use super::config::least_value;
use super::kept_back::KeptBack;
use super::residuals::residual_process;
use super::{DataConfig, EstimatorError, FitConfig, Goal, Model, Prepared, RunConfig};
use crate::forecast::Forecaster;
use crate::initial::InitialWeights;
use crate::model::{DataDescription, Description, ModelSettings, StandardModel, TableDescription, Variable};
use crate::run::{Progress, RunFolder, RunLength, StopFlag, to_toml};
use crate::sampler::Sampler;
use crate::series::table::{ReadOptions, Table};
use crate::series::{Dataset, Split};
use crate::training::{Alone, Outcome, Trained, Trainer, World};

/// A fit that has ended.
#[derive(Debug)]
pub struct Fitted {
    /// The best model.
    pub model: Model,
    /// How training ended.
    pub outcome: Outcome,
    /// Epochs that are complete.
    pub epochs: u64,
    /// Best validation loss, and its epoch counted from 1.
    pub best: Option<(u64, f64)>,
    /// Which series were for what.
    pub split: Split,
    /// The series as the model was trained on them.
    pub prepared: Prepared,
}

impl Model {
    /// Fits a model to a table with settings that suit it, in a new run folder, which `stroock report` and `stroock
    /// evaluate` read when they are given the data.
    ///
    /// # Errors
    /// When there is nothing to learn from, or the folder holds a run already.
    pub fn fit(table: &Table, goal: Goal, folder: impl Into<PathBuf>) -> Result<Self, EstimatorError> {
        let sampling = FitConfig::sampling(table, goal).sampling;
        let table = table.clone().sampled(sampling);
        let config = FitConfig::suggest(&table, sampling, goal)?;
        let folder = RunFolder::create(folder)?;
        let run = RunConfig {
            command: format!("Model::fit(table, Goal::{goal:?}, {:?})", folder.paths().folder()),
            data: DataConfig::of(&table, Vec::new(), ReadOptions::default()),
            fit: config.clone(),
        };
        folder.write_config(&to_toml(&run)?)?;
        Ok(config.fit(&table, &folder, &StopFlag::new(), Progress::hidden)?.model)
    }
}

impl FitConfig {
    /// Fits a model to a table that has been cut by the configuration's sampling: in a run folder, from where the
    /// folder ends, or in memory where there is none ([`Model::save`] then writes the model).
    ///
    /// A fit that is stopped in a folder is left as it is, to be resumed. One in memory cannot be resumed: if it has at
    /// least one complete epoch, what comes after training is done for the best model so far.
    ///
    /// # Errors
    /// When the table does not fit the configuration, training diverges, or the folder cannot be written.
    pub fn fit<'f>(
        &self,
        table: &Table,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: impl FnOnce(RunLength) -> Progress,
    ) -> Result<Fitted, EstimatorError> {
        self.train_over(&Alone, table, folder.into(), stop, progress)?.complete(stop)
    }

    /// [`fit`](Self::fit) in one of several processes that train together, all of which call this with the same table; the
    /// first one has the folder, if there is one. Training is shared out, and what comes after it is done by the first
    /// process alone: the others get nothing.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit), when there are more processes than [`TrainingConfig::chunks`], and when another process
    /// fails.
    ///
    /// [`TrainingConfig::chunks`]: crate::training::TrainingConfig::chunks
    pub fn fit_over<'f>(
        &self,
        world: &dyn World,
        table: &Table,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: impl FnOnce(RunLength) -> Progress,
    ) -> Result<Option<Fitted>, EstimatorError> {
        let learnt = self.train_over(world, table, folder.into(), stop, progress)?;
        if world.is_first() { learnt.complete(stop).map(Some) } else { Ok(None) }
    }

    /// Everything up to the end of training.
    fn train_over<'a>(
        &'a self,
        world: &dyn World,
        table: &'a Table,
        folder: Option<&'a RunFolder>,
        stop: &StopFlag,
        progress: impl FnOnce(RunLength) -> Progress,
    ) -> Result<Learnt<'a>, EstimatorError> {
        let known = self.known_channels(table)?;
        let split = self.split(table);
        let scaler = self.scaler(table, &split)?;
        let mut description = Description { model: self.model.clone(), data: self.about(table) };
        description.data.scaler = scaler.clone();
        let is_nonnegative =
            |channel: usize| least_value(table, &split.train, channel).is_some_and(|least| least >= 0.0);
        for (channel, variable) in description.data.variables.iter_mut().enumerate() {
            variable.is_nonnegative = is_nonnegative(channel);
        }
        let metadata = description.metadata()?;
        let data = scaler.apply(&table.data)?;
        let device = Device::flex().autodiff();
        let model = self.model.init(&mut InitialWeights::new(self.training.seed, &device))?.materialize();
        let statics: Vec<bool> = table.variables.iter().map(|variable| variable.is_static).collect();
        let kept = KeptBack::choose(&data, &split, self.goal, &statics)?;
        let rest = kept.as_ref().map(KeptBack::rest).transpose()?;
        let (learned_from, learned) = self.with_bridges(rest.as_ref().unwrap_or(&data), table, &split)?;
        let trainer = Trainer {
            config: self.training,
            data: &learned_from,
            split: &learned,
            batcher: self.batcher,
            metadata: Some(&metadata),
        };
        let steps_per_epoch = self.training.steps_of_epoch(learned.train.len());
        let done = world.agree(folder.map_or(Ok(0), |folder| trainer.done(folder)))?;
        let length = RunLength { epochs: self.training.epochs, steps_per_epoch, done };
        let mut progress = progress(length);
        let trained = trainer.run_over(world, model, &trainer.by_loss(), folder, stop, &mut progress)?;
        Ok(Learnt { config: self, table, folder, known, split, description, data, kept, trained, progress })
    }

    /// The series to learn from: windows of long series, and the windows across the borders of those for training.
    fn with_bridges<'d>(
        &self,
        data: &'d Dataset,
        table: &Table,
        split: &Split,
    ) -> Result<(Cow<'d, Dataset>, Split), EstimatorError> {
        let bridges = Bridges::new(self.sampling, &table.variables).filter(|_| self.goal == Goal::Impute);
        let Some(bridges) = bridges else { return Ok((Cow::Borrowed(data), split.clone())) };
        let mut is_training = vec![false; data.series().len()];
        split.train.iter().for_each(|&number| is_training[number] = true);
        let (mut all, mut split) = (data.series().to_vec(), split.clone());
        for (first, second) in bridges.pairs(data, &table.origins) {
            let windows = [first, second].map(|number| (&data.series()[number], table.origins[number]));
            if let (true, true) = (is_training[first], is_training[second])
                && let Some(bridge) = bridges.between(windows[0], windows[1])
            {
                split.train.push(all.len());
                all.push(bridge);
            }
        }
        Ok((Cow::Owned(Dataset::new(data.observation(), all)?), split))
    }

    /// What the model file says about the data.
    fn about(&self, table: &Table) -> DataDescription {
        let variable = |variable: &crate::series::table::TableVariable| Variable {
            name: variable.name.clone(),
            unit: String::new(),
            is_static: variable.is_static,
            is_nonnegative: false,
        };
        DataDescription {
            variables: table.variables.iter().map(variable).collect(),
            time_unit: table.time.unit().into(),
            scaler: Default::default(),
            batcher: self.batcher,
            classes: if self.model.task().is_some() { table.classes.clone() } else { Vec::new() },
            residual: None,
            table: Some(TableDescription {
                columns: table.columns.clone(),
                time: table.time.clone(),
                sampling: self.sampling,
                step: self.step,
            }),
            forecast: None,
        }
    }
}

/// A model that has been trained, and what else a fit needs to complete it.
struct Learnt<'a> {
    config: &'a FitConfig,
    table: &'a Table,
    folder: Option<&'a RunFolder>,
    known: Vec<usize>,
    split: Split,
    description: Description,
    data: Dataset,
    kept: Option<KeptBack>,
    trained: Trained<StandardModel>,
    progress: Progress,
}

impl Learnt<'_> {
    /// Learns what is not part of the network, where training has come to an end. A request to stop in a folder leaves the
    /// run as training has left it.
    fn complete(self, stop: &StopFlag) -> Result<Fitted, EstimatorError> {
        let Self { config, table, folder, known, split, mut description, data, kept, trained, mut progress } =
            self;
        let model = trained.best_model.valid();
        let mut outcome = trained.outcome;
        let mut goes_on = || {
            if folder.is_some() && stop.is_requested() {
                outcome = Outcome::Stopped;
            }
            outcome != Outcome::Stopped || (folder.is_none() && trained.epochs > 0)
        };
        if goes_on() {
            progress.phase("learning how observations scatter around the paths");
            let about = &description.data;
            let process = residual_process(&model, about, &data, kept.as_ref(), &split, config.goal)?;
            description.data.residual = Some(process);
        }
        let mut model = Model { model, description, classifier: None, sampler: None };
        if goes_on() {
            progress.phase("learning what sampled series are made of");
            model.sampler = Sampler::fit(&model.predictor(), &data, &split)?;
        }
        if goes_on() {
            progress.phase("comparing methods that forecast");
            // Whatever the goal: what answers for a series must not depend on the table that it is asked about in.
            if let Some(mut forecaster) = Forecaster::choose(table, &known) {
                if config.goal == Goal::Forecast {
                    model.compare_latent(&mut forecaster, table, &data, &split)?;
                }
                model.description.data.forecast = Some(forecaster);
            }
        }
        let prepared = Prepared::new(data, table.origins.clone());
        if config.learns_series() && goes_on() {
            progress.phase("learning classes of whole series");
            model.classifier = model.learn_series(&prepared, &split, config.classifier())?;
        }
        progress.finish();
        if let (Some(folder), true) = (folder, goes_on()) {
            model.save(&folder.paths().model())?;
        }
        Ok(Fitted { model, outcome, epochs: trained.epochs, best: trained.best, prepared, split })
    }
}
