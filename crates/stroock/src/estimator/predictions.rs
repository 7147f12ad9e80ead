//! What a fitted model is to predict, and its predictions in the units of the user.

use stroock_kernels::noise::{NoiseKey, Stage};

use super::closed_form::ClosedForm;
use super::wanted::{Wanted, chunks};
use super::{EstimatorError, Model, Prepared};
use crate::model::{ModelSettings, PathDraws, Variable};
use crate::predict::Summary;
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

/// Paths that a predictive mean is taken over where its distribution is known in closed form.
const MEAN_PATHS: usize = 32;

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
        let mut predictions = self.predict_part(prepared, wanted, options)?;
        predictions.warnings.extend(self.beyond(self.outside(wanted)));
        Ok(predictions)
    }

    /// Predicts values of some of many series, without a word about times that the model was not trained on.
    pub(super) fn predict_part(
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

    /// The last time at which the drift of the model means anything, as series count it: polynomials grow without bound
    /// outside of the interval that they are taken on.
    fn reach(&self) -> f64 {
        let axis = self.description.data.batcher.grid_axis;
        let reach = self.description.model.reach();
        reach.map_or(f64::INFINITY, |reach| axis.to_user(reach.max(axis.horizon)))
    }

    /// Whether the model means anything at all wanted times.
    pub(super) fn reaches(&self, wanted: &Wanted) -> bool {
        wanted.times.last().is_none_or(|&time| time <= self.reach())
    }

    /// Refuses times that the model does not reach.
    fn check_reach(&self, prepared: &Prepared, wanted: &[Wanted]) -> Result<(), EstimatorError> {
        let Some(wanted) = wanted.iter().find(|wanted| !self.reaches(wanted)) else { return Ok(()) };
        let series = prepared.data.series()[wanted.number].id.clone();
        let last = self.table()?.time.write(prepared.origins[wanted.number] + self.reach());
        Err(EstimatorError::TooFar { series, last })
    }

    /// How many of the wanted times the model was not trained on, and how many there are.
    pub(super) fn outside(&self, wanted: &[Wanted]) -> [usize; 2] {
        let axis = self.description.data.batcher.grid_axis;
        let slack = 1e-9 * (axis.end - axis.start);
        let inside = axis.start - slack..=axis.end + slack;
        let times = || wanted.iter().flat_map(|wanted| &wanted.times);
        [times().filter(|time| !inside.contains(*time)).count(), times().count()]
    }

    /// A sentence about times that the model was not trained on.
    pub(super) fn beyond(&self, [outside, all]: [usize; 2]) -> Option<String> {
        let axis = self.description.data.batcher.grid_axis;
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
