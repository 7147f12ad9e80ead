//! Settings that fit the data.

use super::model_kind::{ModelKind, Sizes};
use super::{EstimatorError, FitConfig, Goal};
use crate::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use crate::decoder::MlpConfig;
use crate::objective::ElboWeights;
use crate::series::table::{Align, AnyTable, Columns, Sampling, Suggestion, Table};
use crate::series::{Selection, SeriesError, SeriesSource, quantile};
use crate::task::{TaskConfig, TaskKind};
use crate::training::{AdamConfig, TrainingConfig};

/// Steps of the optimiser that a fit aims at, and the bounds of its epochs.
const STEPS: usize = 5000;
const EPOCHS: (usize, usize) = (20, 300);
/// Fewer where classes of series are learnt: the classifier in closed form does not wait for them.
const STEPS_OF_CLASSES: usize = 1500;

/// Series from which on gaps are filled by a model that follows the observations: it overfits 913 windows of the Beijing
/// table, and gains most on 8 000 stays of PhysioNet.
const MANY_SERIES: usize = 2000;

/// Times of a batch, all series together, where a series has fewer: what a step takes of the memory does not grow with the
/// length of series.
const TIMES_OF_BATCH: usize = 1 << 15;

/// Longest regular grid; data that need a longer one have a grid through their own times.
const REGULAR_POINTS: usize = 257;

impl FitConfig {
    /// The sampling that suits a table and a goal. Series that have a class each are not cut: what tells classes apart
    /// may take their whole length.
    pub fn sampling(table: &Table, goal: Goal) -> Suggestion {
        suited(Sampling::suggest(table), &table.columns, goal)
    }

    /// The same, wherever the series of the table are.
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn sampling_of(table: &AnyTable, goal: Goal) -> Result<Suggestion, SeriesError> {
        Ok(suited(table.suggest_sampling()?, table.columns(), goal))
    }

    /// Settings for a table that has been cut by the given sampling, with the model that suits it.
    ///
    /// # Errors
    /// When there is nothing to learn from, or no classes where these are the goal.
    pub fn suggest<D: SeriesSource<f64>>(
        table: &Table<D>,
        sampling: Sampling,
        goal: Goal,
    ) -> Result<Self, EstimatorError> {
        let follows = goal == Goal::Impute && table.data.len() >= MANY_SERIES;
        let kind = if follows { ModelKind::KnotSde } else { ModelKind::LatentSde };
        Self::suggest_with(kind, table, sampling, goal)
    }

    /// The same with a model of one's own choice.
    ///
    /// # Errors
    /// When there is nothing to learn from, or no classes where these are the goal.
    pub fn suggest_with<D: SeriesSource<f64>>(
        kind: ModelKind,
        table: &Table<D>,
        sampling: Sampling,
        goal: Goal,
    ) -> Result<Self, EstimatorError> {
        let facts = Facts::of(&table.data)?;
        let (series, values) = (table.data.len(), facts.values);
        if values == 0 {
            return Err(EstimatorError::NoValues { series });
        }
        let task = match goal {
            Goal::Classify => Some(task(table)?),
            Goal::Impute | Goal::Forecast => None,
        };
        let axis = axis(facts.range, sampling);
        let step = facts.step.unwrap_or(axis.end - axis.start);
        let points = (facts.length.unwrap_or(0.0) as usize).clamp(16, 64);
        let small = values < 5000;
        let most = (TIMES_OF_BATCH as f64 / facts.mean_length.max(1.0)) as usize;
        let batch_size = if series < 256 { 16 } else { 32 }.min(most.max(1));
        // Windows are learned from with those across their borders.
        let bridged = goal == Goal::Impute && sampling.window.is_some();
        let learned_from = if bridged { 2 * series } else { series };
        let steps_per_epoch = (learned_from * 4 / 5).div_ceil(batch_size).max(1);
        let is_per_series = task.as_ref().is_some_and(|task| !task.output.is_per_time());
        let steps = if is_per_series { STEPS_OF_CLASSES } else { STEPS };
        let epochs = (steps / steps_per_epoch).clamp(EPOCHS.0, EPOCHS.1) as u64;
        let width = if small { 32 } else { 64 };
        let recipe = match kind {
            ModelKind::KnotSde => TrainingConfig {
                rate: 1e-3,
                adam: AdamConfig { clip: Some(1.0), weight_decay: 0.03, ..AdamConfig::default() },
                average: Some(0.99),
                ..TrainingConfig::default()
            },
            _ => TrainingConfig { rate: 3e-3, ..TrainingConfig::default() },
        };
        let weights = ElboWeights { kl_start: 1e-3, kl_path: 1e-3, task: 10.0, ..ElboWeights::default() };
        let config = Self {
            goal,
            sampling,
            validation_share: 0.1,
            test_share: 0.1,
            step,
            known: Vec::new(),
            logarithms: Vec::new(),
            model: kind.config(&Sizes { observation: table.data.observation(), width, points }, task),
            batcher: Batcher {
                input_axis: TimeAxis { horizon: 1.0, ..axis },
                grid_axis: axis,
                grid: grid(&table.data, axis, step)?,
                input: match goal {
                    Goal::Impute => InputChoice::Values { least: 0.5 },
                    Goal::Forecast => InputChoice::Past { least: 0.25 },
                    Goal::Classify => InputChoice::Values { least: 0.7 },
                },
                targets: TargetChoice::All,
            },
            training: TrainingConfig { batch_size, weights, ..recipe },
        };
        Ok(config.with_epochs(epochs))
    }
}

/// A sampling for a goal.
fn suited(suggestion: Suggestion, columns: &Columns, goal: Goal) -> Suggestion {
    let is_per_series = columns.label.as_ref().is_some_and(|label| !label.per_time);
    if goal != Goal::Classify || !is_per_series || suggestion.sampling.window.is_none() {
        return suggestion;
    }
    let reason = "No windows: every series has a class, and is seen as a whole.".into();
    Suggestion { sampling: Sampling { window: None, align: Align::Start }, reasons: vec![reason] }
}

/// The classes of a table as a task.
fn task<D>(table: &Table<D>) -> Result<TaskConfig, EstimatorError> {
    let classes = table.classes.len();
    let label = table.columns.label.as_ref().filter(|_| classes >= 2).ok_or(EstimatorError::NoClasses)?;
    let output = match label.per_time {
        true => TaskKind::ClassPerTime { classes },
        false => TaskKind::ClassPerSeries { classes },
    };
    Ok(TaskConfig { output, network: MlpConfig { hidden: vec![32], ..MlpConfig::default() } })
}

/// The time that series live in.
fn axis(range: Option<(f64, f64)>, sampling: Sampling) -> TimeAxis {
    let (start, end) = match sampling.window {
        Some(window) => (0.0, window),
        None => range.unwrap_or((0.0, 1.0)),
    };
    let end = if end > start { end } else { start + 1.0 };
    TimeAxis { start, end, horizon: 1.0 }
}

/// What settings depend on, gathered in bounded memory.
struct Facts {
    /// Observed values.
    values: usize,
    /// Median number of times of a series.
    length: Option<f64>,
    /// Mean number of times of a series.
    mean_length: f64,
    /// Median step between neighbouring times.
    step: Option<f64>,
    /// Earliest and latest time.
    range: Option<(f64, f64)>,
}

/// Steps between times that are kept to find their median.
const KEPT: usize = 1 << 22;

impl Facts {
    fn of<D: SeriesSource<f64>>(data: &D) -> Result<Self, SeriesError> {
        let (mut values, mut range) = (0, None::<(f64, f64)>);
        let mut lengths = Vec::with_capacity(data.len());
        data.for_each(&mut |_, series| {
            values += match &series.observed {
                Some(observed) => observed.iter().filter(|&&observed| observed).count(),
                None => series.values.len(),
            };
            lengths.push(series.times.len() as f64);
            if let (Some(&first), Some(&last)) = (series.times.first(), series.times.last()) {
                let (start, end) = range.unwrap_or((first, last));
                range = Some((start.min(first), end.max(last)));
            }
            Ok(())
        })?;
        lengths.sort_by(f64::total_cmp);
        let mean_length = lengths.iter().sum::<f64>() / lengths.len() as f64;
        Ok(Self { values, length: quantile(&lengths, 0.5), mean_length, step: usual_step(data)?, range })
    }
}

/// The median step between neighbouring times.
pub(super) fn usual_step<D: SeriesSource<f64>>(data: &D) -> Result<Option<f64>, SeriesError> {
    let mut steps = Selection::new(&[0.5], KEPT);
    while steps.wants_more() {
        data.for_each(&mut |_, series| {
            series.times.windows(2).for_each(|pair| steps.add(pair[1] - pair[0]));
            Ok(())
        })?;
        steps.end_pass();
    }
    Ok(steps.quantiles().map(|quantiles| quantiles[0]).filter(|step| step.is_finite()))
}

/// A regular grid where the times lie on one; otherwise a grid through the times of each series.
fn grid<D: SeriesSource<f64>>(data: &D, axis: TimeAxis, step: f64) -> Result<GridKind, SeriesError> {
    let points = ((axis.end - axis.start) / step).round() as usize + 1;
    let (mut all, mut on_grid) = (0u64, 0u64);
    if (2..=REGULAR_POINTS).contains(&points) {
        data.for_each(&mut |_, series| {
            for time in &series.times {
                let place = (time - axis.start) / step;
                all += 1;
                on_grid += u64::from((place - place.round()).abs() < 1e-3);
            }
            Ok(())
        })?;
        if on_grid as f64 >= 0.95 * all as f64 {
            // The end of the axis is moved onto the grid by the rounding of its length only.
            return Ok(GridKind::Regular { points });
        }
    }
    Ok(GridKind::Observations { largest_step: axis.horizon / 64.0 })
}
