//! Training runs: epochs over shuffled batches, validation, and a state that can be resumed exactly.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use stroock_kernels::noise::NoiseKey;

use super::checkpoint::{Checkpoint, State};
use super::epoch::EpochMeans;
use super::step::BatchGradient;
use super::validation::ValidationLoss;
use super::{Adam, AdamConfig, Alone, Average, Schedule, Scores, TrainingError, Validation, World};
use crate::batch::Batcher;
use crate::model::{FileMetadata, SeriesModel, TrainingSeries};
use crate::objective::ElboWeights;
use crate::run::{EventFile, MetricsLog, MetricsRow, Progress, RunFolder, StopFlag};
use crate::series::{SeriesSource, Split, shuffled};

/// Settings of a training run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingConfig {
    /// Passes over the training series.
    pub epochs: u64,
    /// Series a step.
    pub batch_size: usize,
    /// Pieces that a batch is cut into, whose gradients are added up in a fixed order: as many processes at most can train
    /// together, and any number of them gets the same bits. 1 leaves batches whole.
    pub chunks: usize,
    /// How many of the training series, drawn anew, make an epoch; `None` is all of them.
    pub series_per_epoch: Option<usize>,
    /// Full learning rate.
    pub rate: f64,
    /// How the rate changes.
    pub schedule: Schedule,
    /// Optimiser.
    pub adam: AdamConfig,
    /// Memory per step of the exponential moving average of the parameters ([`Average`]), in `[0, 1)`: validation, the
    /// best model and predictions use the averaged parameters. `None` uses the parameters themselves.
    pub average: Option<f64>,
    /// Weights of the parts of the loss.
    pub weights: ElboWeights,
    /// Paths a series in training.
    pub samples: usize,
    /// Paths a series in validation.
    pub validation_samples: usize,
    /// Epochs between two saves of the model and of the state to resume from: what a kill can lose.
    pub save_every: u64,
    /// Whether the metrics are written as TensorBoard events, too.
    pub tensorboard: bool,
    /// Epochs without a better validation loss after which training stops; 0 is never.
    pub patience: u64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            epochs: 60,
            batch_size: 64,
            chunks: 1,
            series_per_epoch: None,
            rate: 1e-3,
            schedule: Schedule::CyclicCosine { period: 60 },
            adam: AdamConfig::default(),
            average: None,
            weights: ElboWeights::default(),
            samples: 1,
            validation_samples: 1,
            save_every: 1,
            tensorboard: false,
            patience: 0,
            seed: 1,
        }
    }
}

impl TrainingConfig {
    /// Plans for so many epochs: a schedule that falls once ends with them.
    pub fn run_for(&mut self, epochs: u64) {
        self.epochs = epochs;
        if let Schedule::WarmCosine { epochs: until, .. } = &mut self.schedule {
            *until = usize::try_from(epochs).unwrap_or(usize::MAX);
        }
    }

    /// Keeps to the schedule of a run that is resumed, whatever epochs are planned now: the rate never climbs again.
    pub fn keep_schedule_of(&mut self, run: &Self) {
        if let (Schedule::WarmCosine { epochs, .. }, Schedule::WarmCosine { epochs: planned, .. }) =
            (&mut self.schedule, run.schedule)
        {
            *epochs = planned;
        }
    }

    /// Series of an epoch, where there are `series` for training.
    pub fn series_of_epoch(&self, series: usize) -> usize {
        self.series_per_epoch.map_or(series, |some| some.clamp(1, series.max(1)))
    }

    /// Steps of an epoch, where there are `series` for training.
    pub fn steps_of_epoch(&self, series: usize) -> u64 {
        self.series_of_epoch(series).div_ceil(self.batch_size.max(1)) as u64
    }

    fn check(&self, world: &dyn World) -> Result<(), TrainingError> {
        if self.batch_size == 0 {
            return Err(TrainingError::BatchSize);
        }
        if self.chunks < world.size() {
            return Err(TrainingError::Chunks { chunks: self.chunks, processes: world.size() });
        }
        if let Some(average) = self.average.filter(|average| !(0.0..1.0).contains(average)) {
            return Err(TrainingError::Average { average });
        }
        match self.schedule {
            Schedule::WarmCosine { warm_up, .. } if !(0.0..f64::INFINITY).contains(&warm_up) => {
                Err(TrainingError::WarmUp { warm_up })
            }
            _ => Ok(()),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All epochs were done.
    Finished,
    /// Validation did not get better for long enough.
    EarlyStop,
    /// It was asked to stop, and can be resumed.
    Stopped,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Trained<M> {
    /// The model after the last complete epoch; averaged if [`TrainingConfig::average`] says so.
    pub model: M,
    /// The model with the least validation loss (training loss without validation series); averaged likewise.
    pub best_model: M,
    /// How the run ended.
    pub outcome: Outcome,
    /// Epochs that are complete.
    pub epochs: u64,
    /// Best validation loss (training loss without validation series), and its epoch counted from 1.
    pub best: Option<(u64, f64)>,
}

/// What is trained on what.
#[derive(Clone, Copy, Debug)]
pub struct Trainer<'a> {
    /// Settings.
    pub config: TrainingConfig,
    /// All series, wherever they are.
    pub data: &'a dyn SeriesSource,
    /// Which of them are for what.
    pub split: &'a Split,
    /// How they become batches.
    pub batcher: Batcher,
    /// What the model files say beside the parameters; without it they cannot be loaded on their own.
    pub metadata: Option<&'a FileMetadata>,
}

/// A model after an epoch, and the means over it.
type Epoch<M> = (M, Option<EpochMeans>);

impl Trainer<'_> {
    /// Epochs that a run folder has complete.
    ///
    /// # Errors
    /// When the state of the run cannot be read.
    pub fn done(&self, folder: &RunFolder) -> Result<u64, TrainingError> {
        Ok(folder.load_state::<State>()?.map_or(0, |state| state.epochs))
    }

    /// Trains a model: in a run folder, from where the folder's last state ends, or in memory where there is none.
    ///
    /// After every epoch (or every so many, [`TrainingConfig::save_every`]) the metrics, the best model and the state
    /// to resume from are on disk. A request to stop ends the run after the current step; the epoch that was under
    /// way is done again when resumed.
    ///
    /// The best model is that with the least validation loss. Where parameters are averaged, it is the averaged model
    /// that is validated, kept and returned; the state to resume from has both.
    ///
    /// # Errors
    /// When a loss or gradient is not finite, a batch does not fit the model, or the folder cannot be written.
    pub fn run<'f, M: SeriesModel>(
        &self,
        model: M,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: &mut Progress,
    ) -> Result<Trained<M>, TrainingError> {
        self.run_with(model, &self.by_loss(), folder, stop, progress)
    }

    /// Models compared by their loss on the validation series, as [`run`](Self::run) does it.
    pub fn by_loss<M: SeriesModel>(&self) -> impl Validation<M> {
        ValidationLoss(self)
    }

    /// [`run`](Self::run) with another way to compare models.
    ///
    /// # Errors
    /// As for [`run`](Self::run), and when the validation fails.
    pub fn run_with<'f, M: SeriesModel>(
        &self,
        model: M,
        validation: &impl Validation<M>,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: &mut Progress,
    ) -> Result<Trained<M>, TrainingError> {
        self.run_over(&Alone, model, validation, folder, stop, progress)
    }

    /// [`run_with`](Self::run_with) in one of several processes that train together: all of them call this with the same
    /// model, data and settings, and all get the same models, to the last bit those that one process gets.
    ///
    /// The first process has the folder, if there is one; the others have none, and take its state from the first one.
    /// A request to stop in any process stops all of them after the same step.
    ///
    /// # Errors
    /// As for [`run_with`](Self::run_with), when there are more processes than [`TrainingConfig::chunks`], and when another
    /// process fails.
    pub fn run_over<'f, M: SeriesModel>(
        &self,
        world: &dyn World,
        model: M,
        validation: &impl Validation<M>,
        folder: impl Into<Option<&'f RunFolder>>,
        stop: &StopFlag,
        progress: &mut Progress,
    ) -> Result<Trained<M>, TrainingError> {
        if self.split.train.is_empty() {
            return Err(TrainingError::NoSeries);
        }
        self.config.check(world)?;
        let (adam, average) = (Adam::new(self.config.adam), self.config.average.map(Average::new));
        let folder = folder.into();
        let (mut checkpoint, mut model, mut adam, mut average) =
            Checkpoint::open(world, folder, self.metadata, model, adam, average)?;
        let log = folder.map(|folder| EpochLog::resume(folder, &self.config, &checkpoint.state)).transpose();
        let mut log = world.agree(log)?;
        let mut began = Instant::now();
        let outcome = loop {
            let epoch = checkpoint.state.epochs;
            if epoch >= self.config.epochs {
                break Outcome::Finished;
            }
            let since_best = checkpoint.state.best.map_or(0, |(best, _)| epoch - best);
            if self.config.patience > 0 && since_best >= self.config.patience {
                break Outcome::EarlyStop;
            }
            let (trained, train) =
                match self.epoch(world, model, &mut adam, &mut average, epoch, stop, progress) {
                    Ok(epoch) => epoch,
                    Err(error) => {
                        // The last good model is kept.
                        checkpoint.save()?;
                        return Err(error);
                    }
                };
            model = trained;
            let Some(train) = train else {
                // The half epoch is dropped, so that a resumed run is the same as one that was not stopped.
                break Outcome::Stopped;
            };
            let mut valid = match &average {
                Some(average) => average.apply(model.valid()),
                None => model.valid(),
            };
            let shown = self.show(&mut valid, epoch + 1);
            let scored = shown.and_then(|()| validation.score(&valid, epoch + 1, world));
            let scores = match world.agree(scored) {
                Ok(scores) => scores,
                Err(error) => {
                    // The last good model is kept here, too.
                    checkpoint.save()?;
                    return Err(error);
                }
            };
            let score = scores.as_ref().map_or(train.loss, |scores| scores.selection);
            let last_step = self.config.steps_of_epoch(self.split.train.len()) - 1;
            let rate = self.rate(epoch, last_step);
            let row = metrics_row(epoch + 1, &train, scores.as_ref(), rate, began, world.size());
            // What is stored from here on takes its time as well, and counts for the next epoch.
            began = Instant::now();
            let mut store = || -> Result<(), TrainingError> {
                if let Some(log) = &mut log {
                    log.append(&row)?;
                }
                checkpoint.note(&model, &adam, average.as_ref(), (&valid, score))?;
                if (epoch + 1).is_multiple_of(self.config.save_every.max(1)) {
                    log.iter_mut().try_for_each(EpochLog::sync)?;
                    checkpoint.save()?;
                }
                Ok(())
            };
            let stored = store();
            checkpoint.compare(world, stored)?;
            let shown = scores.map(|scores| ("validation", scores.selection));
            let shown: Vec<(&str, f64)> = [("loss", train.loss)].into_iter().chain(shown).collect();
            progress.end_epoch(&shown);
        };
        let stored = log.iter_mut().try_for_each(EpochLog::sync).and_then(|()| checkpoint.save());
        world.agree(stored)?;
        let (mut model, best_model) = (checkpoint.last_model(&model)?, checkpoint.best_model(&model)?);
        let State { epochs, best, .. } = checkpoint.state;
        self.show(&mut model, epochs)?;
        Ok(Trained { model, best_model, outcome, epochs, best })
    }

    /// Shows a model all training series after so many epochs.
    fn show(&self, model: &mut impl SeriesModel, epochs: u64) -> Result<(), TrainingError> {
        let series = TrainingSeries {
            data: self.data,
            numbers: &self.split.train,
            batcher: &self.batcher,
            batch_size: self.config.batch_size,
            key: NoiseKey::new(self.config.seed, epochs),
            epochs,
        };
        model
            .see_training(&series)
            .map_err(|source| TrainingError::TrainingSeries { epoch: epochs + 1, source })
    }

    /// The learning rate of a step of an epoch, both counted from 0: that of the middle of the step, so that the first
    /// one moves.
    fn rate(&self, epoch: u64, step: u64) -> f64 {
        let steps = self.config.steps_of_epoch(self.split.train.len());
        let time = epoch as f64 + (step as f64 + 0.5) / steps as f64;
        self.config.schedule.rate_at(self.config.rate, time)
    }

    /// One pass over the training series; without means where it was asked to stop.
    #[expect(clippy::too_many_arguments, reason = "the state of a run is in four of them")]
    fn epoch<M: SeriesModel>(
        &self,
        world: &dyn World,
        mut model: M,
        adam: &mut Adam,
        average: &mut Option<Average>,
        epoch: u64,
        stop: &StopFlag,
        progress: &mut Progress,
    ) -> Result<Epoch<M>, TrainingError> {
        self.show(&mut model, epoch)?;
        let key = NoiseKey::new(self.config.seed, epoch);
        let mut order = shuffled(self.split.train.len(), key);
        order.truncate(self.config.series_of_epoch(order.len()));
        let numbers: Vec<usize> = order.into_iter().map(|i| self.split.train[i]).collect();
        let mut means = EpochMeans::default();
        for (index, numbers) in numbers.chunks(self.config.batch_size).enumerate() {
            if world.any(stop.is_requested())? {
                return Ok((model, None));
            }
            let rate = self.rate(epoch, index as u64);
            let (epoch, batch) = (epoch + 1, index + 1);
            let computed = self.batch_gradient(world, model, numbers, key, (epoch, batch))?;
            let BatchGradient { model: moved, losses, gradient } = computed;
            self.check_finite(&losses.numbers[..numbers.len()], numbers, epoch, batch)?;
            means.add(&losses, numbers.len());
            let norm = gradient.norm();
            if !norm.is_finite() {
                let series = self.name(numbers[0]);
                return Err(TrainingError::GradientNotFinite { epoch, batch, series });
            }
            model = adam.step_of_norm(moved, &gradient, rate, norm);
            average.iter_mut().for_each(|average| average.update(&model));
            progress.step(numbers.len() as u64, means.loss);
        }
        Ok((model, Some(means)))
    }

    pub(super) fn check_finite(
        &self,
        losses: &[f64],
        numbers: &[usize],
        epoch: u64,
        batch: usize,
    ) -> Result<(), TrainingError> {
        match losses.iter().zip(numbers).find(|(loss, _)| !loss.is_finite()) {
            Some((&loss, &number)) => {
                Err(TrainingError::NotFinite { epoch, batch, series: self.name(number), loss: loss as f32 })
            }
            None => Ok(()),
        }
    }

    pub(super) fn name(&self, number: usize) -> String {
        // An error is told also where its series cannot be read any more.
        self.data.get(number).map_or_else(|_| "?".into(), |series| series.id.clone())
    }
}

/// The metrics of a run in its folder.
struct EpochLog {
    metrics: MetricsLog,
    events: Option<EventFile>,
}

impl EpochLog {
    fn resume(folder: &RunFolder, config: &TrainingConfig, state: &State) -> Result<Self, TrainingError> {
        let done = state.epochs;
        let metrics = MetricsLog::resume(&folder.paths().metrics(), (done > 0).then_some(done))?.log;
        let events = match config.tensorboard {
            true => Some(EventFile::resume(folder.paths().folder(), done as i64 + 1)?),
            false => None,
        };
        Ok(Self { metrics, events })
    }

    fn append(&mut self, row: &MetricsRow) -> Result<(), TrainingError> {
        if let Some(events) = &mut self.events {
            events.scalars(row.epoch as i64, &row.numbers())?;
        }
        Ok(self.metrics.append(row)?)
    }

    fn sync(&mut self) -> Result<(), TrainingError> {
        Ok(self.metrics.sync()?)
    }
}

fn metrics_row(
    epoch: u64,
    train: &EpochMeans,
    scores: Option<&Scores>,
    rate: f64,
    began: Instant,
    processes: usize,
) -> MetricsRow {
    let parts = train
        .parts
        .iter()
        .fold(MetricsRow::new(epoch).with("loss", train.loss), |row, (name, value)| row.with(*name, *value));
    let scores = scores.iter().flat_map(|scores| &scores.metrics);
    let row = scores.fold(parts, |row, (name, value)| row.with(name.as_str(), *value));
    let threads = rayon::current_num_threads() as i64;
    let row = row.with("rate", rate).with("seconds", began.elapsed().as_secs_f64()).with("threads", threads);
    match processes {
        1 => row,
        more => row.with("processes", more as i64),
    }
}
