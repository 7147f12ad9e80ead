//! Fitting: split, scale, train, and learn how observations scatter around what was learned.

use std::path::PathBuf;

use burn::module::Module;
use burn::tensor::Device;

use super::bridge::{Bridges, WithBridges};
use super::config::least_values;
use super::kept_back::KeptBack;
use super::residuals::residual_process;
use super::scaled::Scaled;
use super::some_of_many::labelled_sample;
use super::{DataConfig, EstimatorError, FitConfig, Goal, Model, Prepared, RunConfig};
use crate::forecast::Forecaster;
use crate::initial::InitialWeights;
use crate::model::{DataDescription, Description, ModelSettings, StandardModel, TableDescription, Variable};
use crate::run::{Progress, RunFolder, RunLength, StopFlag, to_toml};
use crate::sampler::Sampler;
use crate::series::table::{ReadOptions, StoredTable, Table};
use crate::series::{Dataset, Scaler, SeriesSource, Split};
use crate::training::{Alone, Outcome, Trained, Trainer, World};

/// A fit that has ended.
#[derive(Debug)]
pub struct Fitted<P = Prepared> {
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
    /// The series as the model was trained on them; nothing where they are in a file.
    pub prepared: P,
}

impl Fitted<()> {
    /// With the series that it was trained on.
    fn with(self, prepared: Prepared) -> Fitted {
        let Self { model, outcome, epochs, best, split, .. } = self;
        Fitted { model, outcome, epochs, best, split, prepared }
    }
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
            data: DataConfig::of(&table, Vec::new(), ReadOptions::default())?,
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
        let plan = self.plan(table)?;
        let data = plan.scaler().apply(&table.data)?;
        let learnt = plan.train_over(&Alone, (table, Some(table), &data), folder.into(), stop, progress)?;
        Ok(learnt.complete(stop)?.with(Prepared::new(data, table.origins.clone())))
    }

    /// What can be known of a fit to a table before training, and needs a look at all of its values: what cannot be learned
    /// from is refused here, before there is a folder.
    ///
    /// # Errors
    /// When the table lacks a variable that is named, has too few series, or values that cannot be brought to a scale.
    pub fn plan<D: SeriesSource<f64>>(&self, table: &Table<D>) -> Result<FitPlan, EstimatorError> {
        let known = self.known_channels(table)?;
        let split = self.split(table)?;
        let mut description = Description { model: self.model.clone(), data: self.about(table) };
        description.data.scaler = self.scaler(table, &split)?;
        let least = least_values(&table.data, &split.train)?;
        for (variable, least) in description.data.variables.iter_mut().zip(least) {
            variable.is_nonnegative = least.is_some_and(|least| least >= 0.0);
        }
        Ok(FitPlan { config: self.clone(), known, split, description })
    }

    /// What the model file says about the data.
    fn about<D>(&self, table: &Table<D>) -> DataDescription {
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

/// A fit that is about to begin: see [`FitConfig::plan`].
#[derive(Debug)]
pub struct FitPlan {
    config: FitConfig,
    /// The numbers of the variables that are known ahead of time.
    known: Vec<usize>,
    split: Split,
    description: Description,
}

impl FitPlan {
    /// Fits as [`FitConfig::fit`] does, to the table of the plan, in one of several processes that train together, all of
    /// which call this with the same table; the first one has the folder, if there is one. Training is shared out, and what
    /// comes after it is done by the first process alone: the others get nothing.
    ///
    /// # Errors
    /// As for [`FitConfig::fit`], when there are more processes than [`TrainingConfig::chunks`], and when another process
    /// fails.
    ///
    /// [`TrainingConfig::chunks`]: crate::training::TrainingConfig::chunks
    pub fn fit_over<'f>(
        self,
        world: &dyn World,
        table: &Table,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: impl FnOnce(RunLength) -> Progress,
    ) -> Result<Option<Fitted>, EstimatorError> {
        let data = self.scaler().apply(&table.data)?;
        let learnt = self.train_over(world, (table, Some(table), &data), folder.into(), stop, progress)?;
        if !world.is_first() {
            return Ok(None);
        }
        Ok(Some(learnt.complete(stop)?.with(Prepared::new(data, table.origins.clone()))))
    }

    /// [`fit_over`](Self::fit_over) for a table in a file, of which a batch is in memory at a time; [`Alone`] is the world of
    /// a single process. The metrics and the model file are those of the table in memory, to the last bit; classes of whole
    /// series alone are learnt in closed form from some of the series where there are very many.
    ///
    /// # Errors
    /// As [`fit_over`](Self::fit_over), and when the file cannot be read, or the table has very few series.
    pub fn fit_stored_over<'f>(
        self,
        world: &dyn World,
        table: &StoredTable,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: impl FnOnce(RunLength) -> Progress,
    ) -> Result<Option<Fitted<()>>, EstimatorError> {
        let scaler = self.scaler().clone();
        let data = Scaled { data: &table.data, scaler: &scaler };
        let learnt = self.train_over(world, (table, None, &data), folder.into(), stop, progress)?;
        if world.is_first() { learnt.complete(stop).map(Some) } else { Ok(None) }
    }

    fn scaler(&self) -> &Scaler {
        &self.description.data.scaler
    }

    /// Trains. The table comes with itself where it is in memory, and with its series in model units.
    fn train_over<'a, D: SeriesSource<f64>>(
        self,
        world: &dyn World,
        (table, whole, data): (&'a Table<D>, Option<&'a Table>, &'a dyn SeriesSource),
        folder: Option<&'a RunFolder>,
        stop: &StopFlag,
        progress: impl FnOnce(RunLength) -> Progress,
    ) -> Result<Learnt<'a, D>, EstimatorError> {
        let (config, split) = (&self.config, &self.split);
        let metadata = self.description.metadata()?;
        let device = Device::flex().autodiff();
        let model = config.model.init(&mut InitialWeights::new(config.training.seed, &device))?.materialize();
        let kept = KeptBack::choose(data, split, config.goal, &table.statics())?;
        let rest = kept.as_ref().map(KeptBack::rest).transpose()?;
        let rest: &dyn SeriesSource = rest.as_ref().map_or(data, |rest| rest);
        let (bridged, learned) = config.with_bridges(rest, table, split)?;
        let trainer = Trainer {
            config: config.training,
            data: bridged.as_ref().map_or(rest, |bridged| bridged),
            split: &learned,
            batcher: config.batcher,
            metadata: Some(&metadata),
        };
        let steps_per_epoch = config.training.steps_of_epoch(learned.train.len());
        let done = world.agree(folder.map_or(Ok(0), |folder| trainer.done(folder)))?;
        let length = RunLength { epochs: config.training.epochs, steps_per_epoch, done };
        let mut progress = progress(length);
        let trained = trainer.run_over(world, model, &trainer.by_loss(), folder, stop, &mut progress)?;
        Ok(Learnt { plan: self, table, whole, data, folder, kept, trained, progress })
    }
}

/// A model that has been trained, and what else a fit needs to complete it.
struct Learnt<'a, D> {
    plan: FitPlan,
    table: &'a Table<D>,
    whole: Option<&'a Table>,
    data: &'a dyn SeriesSource,
    folder: Option<&'a RunFolder>,
    kept: Option<KeptBack>,
    trained: Trained<StandardModel>,
    progress: Progress,
}

impl<D: SeriesSource<f64>> Learnt<'_, D> {
    /// Learns what is not part of the network, where training has come to an end. A request to stop in a folder leaves the
    /// run as training has left it.
    fn complete(self, stop: &StopFlag) -> Result<Fitted<()>, EstimatorError> {
        let Self { plan, table, whole, data, folder, kept, trained, mut progress } = self;
        let FitPlan { config, known, split, mut description } = plan;
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
            let process = residual_process(&model, about, data, kept.as_ref(), &split, config.goal)?;
            description.data.residual = Some(process);
        }
        let mut model = Model { model, description, classifier: None, sampler: None };
        if goes_on() {
            progress.phase("learning what sampled series are made of");
            model.sampler = Sampler::fit(&model.predictor(), data, &split)?;
        }
        if goes_on() {
            progress.phase("comparing methods that forecast");
            // Whatever the goal: what answers for a series must not depend on the table that it is asked about in.
            let sample = config.forecast_sample(table, whole)?;
            if let Some(mut forecaster) = Forecaster::choose(&sample, &known) {
                if config.goal == Goal::Forecast {
                    let related = config.judged_ahead(table, whole, &split)?;
                    model.compare_latent(&mut forecaster, &related, (data, &table.origins), &split)?;
                }
                model.description.data.forecast = Some(forecaster);
            }
        }
        if config.learns_series() && goes_on() {
            progress.phase("learning classes of whole series");
            model.classifier = match data.in_memory() {
                Some(data) => model.learn_series(data, &table.origins, &split, config.classifier())?,
                None => {
                    let (numbers, split) = labelled_sample(&split);
                    let origins: Vec<f64> = numbers.iter().map(|&number| table.origins[number]).collect();
                    let some = Dataset::gather(data, &numbers)?;
                    model.learn_series(&some, &origins, &split, config.classifier())?
                }
            };
        }
        progress.finish();
        if let (Some(folder), true) = (folder, goes_on()) {
            model.save(&folder.paths().model())?;
        }
        let Trained { epochs, best, .. } = trained;
        Ok(Fitted { model, outcome, epochs, best, split, prepared: () })
    }
}

impl FitConfig {
    /// The windows across the borders of those for training, where these are learned from as well, and the split with them.
    fn with_bridges<'d, D>(
        &self,
        data: &'d dyn SeriesSource,
        table: &'d Table<D>,
        split: &Split,
    ) -> Result<(Option<WithBridges<'d>>, Split), EstimatorError> {
        let bridges = Bridges::new(self.sampling, &table.variables).filter(|_| self.goal == Goal::Impute);
        let Some(bridges) = bridges else { return Ok((None, split.clone())) };
        let mut is_training = vec![false; data.len()];
        split.train.iter().for_each(|&number| is_training[number] = true);
        let mut pairs = match data.in_memory() {
            Some(data) => bridges.pairs_with_bridge(data, &table.origins),
            None => bridges.neighbours(data, &table.origins)?,
        };
        pairs.retain(|&(first, second)| is_training[first] && is_training[second]);
        let mut split = split.clone();
        split.train.extend(data.len()..data.len() + pairs.len());
        Ok((Some(WithBridges { data, origins: &table.origins, bridges, pairs }), split))
    }
}
