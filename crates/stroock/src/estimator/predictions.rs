//! What a fitted model is to predict, and its predictions in the units of the user.

use std::collections::HashMap;

use stroock_kernels::noise::{NoiseKey, Stage};

use super::{EstimatorError, Model, Prepared};
use crate::model::{DataDescription, ModelSettings, PathDraws, Variable};
use crate::predict::Summary;
use crate::residual::Shape;
use crate::series::Scaler;
use crate::series::table::{Column, DataFrame, TimeScale};

/// How much of a predictive distribution is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictOptions {
    /// Levels of quantiles, between 0 and 1.
    pub quantiles: Vec<f64>,
    /// Draws that means and quantiles are taken over. Where quantiles are known in closed form, and no samples are
    /// wanted, fewer serve for the means.
    pub draws: usize,
    /// Draws that are given out, too.
    pub samples: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { quantiles: vec![0.05, 0.5, 0.95], draws: 200, samples: 0, seed: 1 }
    }
}

/// Predictive distributions of single values, one a row; observation noise included.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Series of each row.
    pub ids: Vec<String>,
    /// Time of each row, as the user counts it.
    pub times: Vec<f64>,
    /// Channel of each row.
    pub channels: Vec<usize>,
    /// Predictive means.
    pub mean: Vec<f64>,
    /// Predictive standard deviations.
    pub sd: Vec<f64>,
    /// Quantiles, `[levels][rows]`.
    pub quantiles: Vec<Vec<f64>>,
    /// Draws, `[samples][rows]`.
    pub samples: Vec<Vec<f64>>,
    /// Levels of the quantiles.
    pub levels: Vec<f64>,
    /// Names of the channels.
    pub variables: Vec<String>,
    /// Name of the column of ids, name of the column of times.
    pub names: (String, String),
    /// How times are written.
    pub time: TimeScale,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// How the predictions came about, where there is more to say than that the model made them.
    pub notes: Vec<String>,
}

/// What is to be predicted of one series.
#[derive(Default)]
pub(super) struct Wanted {
    /// Number of the series.
    pub number: usize,
    /// Increasing times, counted from the origin of the series.
    pub times: Vec<f64>,
    /// The same as the user has them.
    pub user_times: Vec<f64>,
    /// For each wanted value the index of its time, and its channel.
    pub entries: Vec<(usize, usize)>,
}

/// Wanted values, gathered by the windows that answer for them, in the order in which these are first asked.
#[derive(Default)]
pub(super) struct Gathered {
    wanted: Vec<Wanted>,
    places: HashMap<usize, usize>,
}

impl Gathered {
    /// Adds values of some channels at one time of a window, once for each time.
    pub fn add(
        &mut self,
        (number, time): (usize, f64),
        user_time: f64,
        channels: impl Iterator<Item = usize>,
    ) {
        let mut channels = channels.peekable();
        if channels.peek().is_none() {
            return;
        }
        let place = *self.places.entry(number).or_insert_with(|| {
            self.wanted.push(Wanted { number, ..Wanted::default() });
            self.wanted.len() - 1
        });
        let wanted = &mut self.wanted[place];
        let index = wanted.times.len();
        wanted.times.push(time);
        wanted.user_times.push(user_time);
        wanted.entries.extend(channels.map(|channel| (index, channel)));
    }

    /// What was gathered, each window with increasing times.
    pub fn finish(self) -> Vec<Wanted> {
        self.wanted.into_iter().map(Wanted::in_order).collect()
    }
}

impl Wanted {
    fn in_order(self) -> Self {
        if self.times.is_sorted() {
            return self;
        }
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        order.sort_by(|&a, &b| self.times[a].total_cmp(&self.times[b]));
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &index)| ranks[index] = rank);
        let sorted = |values: &[f64]| order.iter().map(|&index| values[index]).collect();
        let mut entries: Vec<(usize, usize)> =
            self.entries.iter().map(|&(index, channel)| (ranks[index], channel)).collect();
        entries.sort_unstable();
        Wanted {
            number: self.number,
            times: sorted(&self.times),
            user_times: sorted(&self.user_times),
            entries,
        }
    }
}

/// Points times draws that are simulated at once.
const AT_ONCE: usize = 1 << 18;

/// Paths that a predictive mean is taken over where its distribution is known in closed form.
const MEAN_PATHS: usize = 32;

/// Times of all series together that may be asked for, and times of one series times draws: what does not fit into
/// the memory of a usual computer is refused before it is begun.
pub(super) const MOST_TIMES: usize = 1 << 24;

impl PredictOptions {
    pub(super) fn check(&self) -> Result<(), EstimatorError> {
        if let Some(&level) = self.quantiles.iter().find(|level| !(0.0..=1.0).contains(*level)) {
            return Err(EstimatorError::Quantile { level });
        }
        if self.draws == 0 || self.samples > self.draws {
            return Err(EstimatorError::Samples { samples: self.samples, draws: self.draws });
        }
        Ok(())
    }

    pub(super) fn path_draws(&self) -> PathDraws {
        PathDraws { key: NoiseKey::of(self.seed, Stage::Prediction), samples: self.draws, first_sample: 0 }
    }
}

/// `first + every * k` up to `last`, for whole `k` from `from` on.
///
/// # Errors
/// When there would be more times than can be predicted, with so many draws at each.
pub(super) fn steps(
    first: f64,
    last: f64,
    every: f64,
    from: usize,
    draws: usize,
) -> Result<Vec<f64>, EstimatorError> {
    // A whole number of steps stays one although it is rounded.
    let count = ((last - first) / every * (1.0 + 1e-12)).floor();
    let most = MOST_TIMES / draws.max(1);
    if count > most as f64 || count.is_nan() {
        return Err(EstimatorError::TooManyTimes { times: count, most, draws: Some(draws) });
    }
    // A step may be too short for the times that it leads to.
    if first + every == first || last + every == last {
        return Err(EstimatorError::Step { every });
    }
    // A negative count is 0.
    Ok((from..(count + 1.0) as usize).map(|step| first + every * step as f64).collect())
}

/// Refuses more times than predictions of all series together may have.
pub(super) fn check_total(wanted: &[Wanted]) -> Result<(), EstimatorError> {
    let times: usize = wanted.iter().map(|wanted| wanted.times.len()).sum();
    match times > MOST_TIMES {
        true => Err(EstimatorError::TooManyTimes { times: times as f64, most: MOST_TIMES, draws: None }),
        false => Ok(()),
    }
}

impl Model {
    /// The name of the column of ids, and that of the column of times.
    pub(super) fn names(&self) -> Result<(String, String), EstimatorError> {
        let columns = &self.table()?.columns;
        let time = match columns.time.as_slice() {
            [time] => time.clone(),
            _ => "time".into(),
        };
        Ok((columns.id.clone().unwrap_or_else(|| "id".into()), time))
    }

    /// Predictions without a row yet.
    pub(super) fn no_predictions(&self, options: &PredictOptions) -> Result<Predictions, EstimatorError> {
        let variables = self.description.data.variables.iter();
        Ok(Predictions {
            ids: Vec::new(),
            times: Vec::new(),
            channels: Vec::new(),
            mean: Vec::new(),
            sd: Vec::new(),
            quantiles: vec![Vec::new(); options.quantiles.len()],
            samples: vec![Vec::new(); options.samples],
            levels: options.quantiles.clone(),
            variables: variables.map(|variable| variable.name.clone()).collect(),
            names: self.names()?,
            time: self.table()?.time.clone(),
            warnings: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Predicts values of series.
    pub(super) fn predict(
        &self,
        prepared: &Prepared,
        wanted: &[Wanted],
        options: &PredictOptions,
    ) -> Result<Predictions, EstimatorError> {
        options.check()?;
        self.check_reach(prepared, wanted)?;
        let about = &self.description.data;
        let mut predictions = self.no_predictions(options)?;
        predictions.warnings.clone_from(&prepared.warnings);
        predictions.warnings.extend(self.beyond(wanted));
        // Under a residual process, and without samples, predictive distributions are known without drawing from them.
        let is_closed = about.residual.is_some() && options.samples == 0;
        let paths = match is_closed {
            true => PathDraws { samples: options.draws.min(MEAN_PATHS), ..options.path_draws() },
            false => options.path_draws(),
        };
        let closed = ClosedForm::new(about, &options.quantiles);
        for wanted in chunks(prepared, wanted, paths.samples) {
            let numbers: Vec<usize> = wanted.iter().map(|wanted| wanted.number).collect();
            let times: Vec<Vec<f64>> = wanted.iter().map(|wanted| wanted.times.clone()).collect();
            let (predictor, streams) = (self.predictor(), prepared.streams(&numbers));
            let drawn = match is_closed {
                true => predictor.marginals_of(&prepared.data, &numbers, &streams, &times, paths)?,
                false => predictor.posterior_of(&prepared.data, &numbers, &streams, &times, paths)?,
            };
            for (wanted, drawn) in wanted.iter().zip(&drawn) {
                let id = &prepared.data.series()[wanted.number].id;
                for &(time, channel) in &wanted.entries {
                    predictions.ids.push(id.clone());
                    predictions.times.push(wanted.user_times[time]);
                    predictions.channels.push(channel);
                    let user = |value: f64| about.scaler.to_user(channel, value);
                    let mean = drawn.mean_at(time, channel);
                    if is_closed {
                        let sd = f64::from(drawn.sds[time * drawn.channels + channel]);
                        closed.push(&mut predictions, channel, mean, sd);
                        continue;
                    }
                    let values: Vec<f64> = drawn.observations_at(time, channel).map(user).collect();
                    let summary = Summary::of(&values, 1, &options.quantiles);
                    match about.scaler.logarithm(channel) {
                        // The mean of logarithms is not the logarithm of the mean.
                        Some(_) => predictions.mean.extend(&summary.mean),
                        // Means given the paths have less noise than means of observations.
                        None => predictions.mean.push(user(mean)),
                    }
                    predictions.sd.extend(summary.sd);
                    for (all, quantiles) in predictions.quantiles.iter_mut().zip(summary.quantiles) {
                        all.extend(quantiles);
                    }
                    for (all, value) in predictions.samples.iter_mut().zip(values) {
                        all.push(value);
                    }
                }
            }
        }
        predictions.raise(&about.variables);
        Ok(predictions)
    }

    /// Refuses times at which the drift of the model means nothing: polynomials grow without bound outside of the
    /// interval that they are taken on.
    fn check_reach(&self, prepared: &Prepared, wanted: &[Wanted]) -> Result<(), EstimatorError> {
        let axis = self.description.data.batcher.grid_axis;
        let Some(reach) = self.description.model.reach() else { return Ok(()) };
        let last = axis.to_user(reach.max(axis.horizon));
        let too_far = |wanted: &&Wanted| wanted.times.last().is_some_and(|&time| time > last);
        let Some(wanted) = wanted.iter().find(too_far) else { return Ok(()) };
        let series = prepared.data.series()[wanted.number].id.clone();
        let last = self.table()?.time.write(prepared.origins[wanted.number] + last);
        Err(EstimatorError::TooFar { series, last })
    }

    /// A sentence about times that the model was not trained on.
    fn beyond(&self, wanted: &[Wanted]) -> Option<String> {
        let axis = self.description.data.batcher.grid_axis;
        let slack = 1e-9 * (axis.end - axis.start);
        let inside = axis.start - slack..=axis.end + slack;
        let all = wanted.iter().map(|wanted| wanted.times.len()).sum::<usize>();
        let times = wanted.iter().flat_map(|wanted| &wanted.times);
        let outside = times.filter(|time| !inside.contains(*time)).count();
        let time = self.description.data.table.as_ref().map_or(TimeScale::Number, |table| table.time.clone());
        let length = time.write_length(axis.end - axis.start);
        (outside > 0).then(|| {
            format!(
                "{outside} of {all} times lie outside the span of {length} that the model was trained on: \
                 do not rely on its predictions there"
            )
        })
    }
}

/// Values at evenly spaced levels that expectations of values with a logarithm are taken over. The exact expectation of
/// heavy tails in logarithms is decided by values that nobody ever sees.
const LEVELS: usize = 64;

/// Predictive distributions from their means and standard deviations in model units, and the shapes of residuals.
struct ClosedForm<'a> {
    scaler: &'a Scaler,
    /// Standard deviation of each shape.
    sds: Vec<f64>,
    /// Quantiles of each shape at the levels of the user, `[C][levels]`.
    quantiles: Vec<Vec<f64>>,
    /// Quantiles of each shape at evenly spaced levels; empty for channels without a logarithm.
    even: Vec<Vec<f64>>,
}

impl<'a> ClosedForm<'a> {
    fn new(about: &'a DataDescription, levels: &[f64]) -> Self {
        let residuals = about.residual.iter().flat_map(|process| &process.channels);
        let shapes: Vec<Shape> = residuals.map(|residual| residual.shape).collect();
        let quantiles = |shape: &Shape| levels.iter().map(|&level| shape.quantile(level)).collect();
        let even = |(channel, shape): (usize, &Shape)| {
            let levels = (0..LEVELS).map(|k| (k as f64 + 0.5) / LEVELS as f64);
            let logarithm = about.scaler.logarithm(channel);
            logarithm.map_or_else(Vec::new, |_| levels.map(|level| shape.quantile(level)).collect())
        };
        Self {
            scaler: &about.scaler,
            sds: shapes.iter().map(|shape| shape.variance().sqrt()).collect(),
            quantiles: shapes.iter().map(quantiles).collect(),
            even: shapes.iter().enumerate().map(even).collect(),
        }
    }

    /// Appends mean, standard deviation and quantiles in the units of the user.
    fn push(&self, predictions: &mut Predictions, channel: usize, mean: f64, sd: f64) {
        let user = |value: f64| self.scaler.to_user(channel, value);
        let quantiles = predictions.quantiles.iter_mut().zip(&self.quantiles[channel]);
        if self.scaler.logarithm(channel).is_some() {
            let values: Vec<f64> =
                self.even[channel].iter().map(|quantile| user(mean + sd * quantile)).collect();
            let summary = Summary::of(&values, 1, &[]);
            predictions.mean.extend(summary.mean);
            predictions.sd.extend(summary.sd);
            quantiles.for_each(|(all, quantile)| all.push(user(mean + sd * quantile)));
            return;
        }
        let (mean, unit) = (user(mean), self.scaler.scale_of(channel).abs() * sd);
        predictions.mean.push(mean);
        predictions.sd.push(unit * self.sds[channel]);
        quantiles.for_each(|(all, quantile)| all.push(mean + unit * quantile));
    }
}

/// Parts that are small enough to be simulated at once.
pub(super) fn chunks<'a>(
    prepared: &Prepared,
    mut wanted: &'a [Wanted],
    draws: usize,
) -> impl Iterator<Item = &'a [Wanted]> {
    let sizes: Vec<usize> =
        prepared.data.series().iter().map(|series| series.times.len() * draws.max(1)).collect();
    std::iter::from_fn(move || {
        let mut points = 0;
        let fits = |wanted: &&Wanted| {
            points += wanted.times.len() * draws.max(1) + sizes[wanted.number];
            points <= AT_ONCE
        };
        let count = wanted.iter().take_while(fits).count().max(1).min(wanted.len());
        let (now, later) = wanted.split_at(count);
        wanted = later;
        (!now.is_empty()).then_some(now)
    })
}

/// A column of times as the user writes them.
pub(super) fn time_column(scale: &TimeScale, times: &[f64]) -> Column {
    match scale {
        TimeScale::Number => Column::Number(times.to_vec()),
        TimeScale::Date { .. } => Column::Text(scale.write_all(times)),
    }
}

impl Predictions {
    /// Raises what is said of variables that are never negative to 0.
    pub(super) fn raise(&mut self, variables: &[Variable]) {
        let lists = [&mut self.mean].into_iter().chain(&mut self.quantiles).chain(&mut self.samples);
        for list in lists {
            for (value, &channel) in list.iter_mut().zip(&self.channels) {
                *value = variables[channel].raised(*value);
            }
        }
    }

    /// As a table with one value a row: id, time, variable, mean, standard deviation, quantiles, samples.
    pub fn data_frame(&self) -> DataFrame {
        let mut data_frame = DataFrame { names: Vec::new(), columns: Vec::new() };
        let mut push = |name: String, column: Column| {
            data_frame.names.push(name);
            data_frame.columns.push(column);
        };
        push(self.names.0.clone(), Column::Text(self.ids.clone()));
        push(self.names.1.clone(), time_column(&self.time, &self.times));
        let variables = self.channels.iter().map(|&channel| self.variables[channel].clone());
        push("variable".into(), Column::Text(variables.collect()));
        push("mean".into(), Column::Number(self.mean.clone()));
        push("sd".into(), Column::Number(self.sd.clone()));
        for (level, quantiles) in self.levels.iter().zip(&self.quantiles) {
            push(format!("q{level}"), Column::Number(quantiles.clone()));
        }
        for (number, samples) in self.samples.iter().enumerate() {
            push(format!("sample_{}", number + 1), Column::Number(samples.clone()));
        }
        data_frame
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
