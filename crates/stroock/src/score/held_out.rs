//! Scores of the values that are held out of series, from what a model draws at their times.

use super::{HoldOut, Prediction, ScoreSums, VisibleSeries, gaussian_mixture_nll};
use crate::model::{PathDraws, SeriesModel, Variable};
use crate::predict::{Draws, PredictionError, Predictor};
use crate::residual::Shape;
use crate::series::{Dataset, Scaler, Series};

/// Sums over held-out values: the one evaluator of predictions.
#[derive(Clone, Debug)]
pub struct HeldOutScores<'a> {
    scaler: &'a Scaler,
    ahead: bool,
    /// What predictions are raised to, in the units of the model, `[C]`.
    lowest: Vec<f64>,
    /// All variables together, in the units of the model.
    pub overall: ScoreSums,
    /// Each variable in its own unit, `[C]`.
    pub variables: Vec<ScoreSums>,
}

impl<'a> HeldOutScores<'a> {
    /// No values yet of `channels` variables. The baselines are straight lines between visible neighbours (the last
    /// visible value, where the tail is held out) and the mean of the training data.
    pub fn new(scaler: &'a Scaler, channels: usize, hold_out: HoldOut) -> Self {
        let ahead = matches!(hold_out, HoldOut::Tail { .. });
        let neighbours = if ahead { "last value" } else { "straight lines" };
        let sums = ScoreSums::usual(&[neighbours, "training mean"]);
        let lowest = vec![f64::NEG_INFINITY; channels];
        Self { scaler, ahead, lowest, variables: vec![sums.clone(); channels], overall: sums }
    }

    /// The same for predictions that are raised to 0 where a variable is never negative, as they are written.
    pub fn raised(mut self, variables: &[Variable]) -> Self {
        for (channel, (lowest, variable)) in self.lowest.iter_mut().zip(variables).enumerate() {
            if variable.is_nonnegative && self.scaler.scale_of(channel) > 0.0 {
                *lowest = self.scaler.to_model(channel, 0.0);
            }
        }
        self
    }

    /// The scores of a model on what is withheld of the given series of a data set in model units.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn of<M: SeriesModel>(
        predictor: &Predictor<'_, M>,
        scaler: &'a Scaler,
        data: &Dataset,
        numbers: &[usize],
        hold_out: HoldOut,
        draws: PathDraws,
    ) -> Result<Self, PredictionError> {
        let channels = data.observation().len();
        let times = |&number: &usize| held_times(&data.series()[number], channels);
        let times: Vec<Vec<f64>> = numbers.iter().map(times).collect();
        let drawn = predictor.posterior(data, numbers, &times, draws)?;
        let mut scores = Self::new(scaler, channels, hold_out);
        numbers.iter().zip(&drawn).for_each(|(&number, drawn)| scores.add(&data.series()[number], drawn));
        Ok(scores)
    }

    /// Adds every value of a series in model units that is observed and withheld at one of the times of the draws.
    pub fn add(&mut self, series: &Series, drawn: &Draws) {
        let channels = drawn.channels;
        let visible = VisibleSeries::new(series, channels);
        let in_units = self.has_logarithms().then(|| {
            let in_units = Series {
                times: series.times.clone(),
                values: self.scaler.all_to_user(channels, &series.values),
                observed: series.observed.clone(),
                withheld: series.withheld.clone(),
                ..Series::default()
            };
            VisibleSeries::new(&in_units, channels)
        });
        for (index, &time) in drawn.times.iter().enumerate() {
            let at = series.times.partition_point(|&other| other < time);
            if series.times.get(at) != Some(&time) {
                continue;
            }
            for channel in (0..channels).filter(|&channel| is_held(series, channels, at, channel)) {
                let truth = f64::from(series.values[at * channels + channel]);
                match in_units.as_ref().filter(|_| self.scaler.logarithm(channel).is_some()) {
                    Some(visible) => self.add_of_logarithm(visible, truth, drawn, index, channel),
                    None => self.add_value(&visible, truth, drawn, index, channel),
                }
            }
        }
    }

    fn has_logarithms(&self) -> bool {
        self.scaler.logarithms.iter().any(Option::is_some)
    }

    /// A value that the model knows by its logarithm: scored as it is, and among all variables in its standard
    /// deviations.
    fn add_of_logarithm(
        &mut self,
        visible: &VisibleSeries,
        truth: f64,
        drawn: &Draws,
        index: usize,
        channel: usize,
    ) {
        let Some(logarithm) = self.scaler.logarithm(channel) else { return };
        let user = |value: f64| self.scaler.to_user(channel, value);
        let neighbours = self.neighbours(visible, drawn.times[index], channel);
        let baselines = [neighbours.unwrap_or(logarithm.mean), logarithm.mean];
        let nll = log_loss_at(drawn, index, channel, truth);
        let mut draws: Vec<f64> = drawn.observations_at(index, channel).map(user).collect();
        draws.sort_by(f64::total_cmp);
        let mean = match draws.is_empty() {
            true => user(drawn.mean_at(index, channel)),
            false => draws.iter().sum::<f64>() / draws.len() as f64,
        };
        let truth = user(truth);
        let nll = nll.map(|nll| nll + self.scaler.slope(channel, truth).ln());
        self.variables[channel].add(&Prediction { truth, mean, draws: &draws, nll, baselines: &baselines });
        let scaled = |value: f64| (value - logarithm.mean) / logarithm.sd;
        let draws: Vec<f64> = draws.into_iter().map(scaled).collect();
        self.overall.add(&Prediction {
            truth: scaled(truth),
            mean: scaled(mean),
            draws: &draws,
            nll: nll.map(|nll| nll - logarithm.sd.ln()),
            baselines: &baselines.map(scaled),
        });
    }

    fn neighbours(&self, visible: &VisibleSeries, time: f64, channel: usize) -> Option<f64> {
        match self.ahead {
            true => visible.carried_forward(time, channel),
            false => visible.linear(time, channel),
        }
    }

    fn add_value(
        &mut self,
        visible: &VisibleSeries,
        truth: f64,
        drawn: &Draws,
        index: usize,
        channel: usize,
    ) {
        let neighbours = self.neighbours(visible, drawn.times[index], channel);
        // In model units the mean of the training data is 0.
        let baselines = [neighbours.unwrap_or(0.0), 0.0];
        let lowest = self.lowest[channel];
        let mean = drawn.mean_at(index, channel).max(lowest);
        let nll = log_loss_at(drawn, index, channel, truth);
        let mut draws: Vec<f64> =
            drawn.observations_at(index, channel).map(|draw| draw.max(lowest)).collect();
        draws.sort_by(f64::total_cmp);
        self.overall.add(&Prediction { truth, mean, draws: &draws, nll, baselines: &baselines });
        let user = |value: f64| self.scaler.to_user(channel, value);
        let mut draws: Vec<f64> = draws.into_iter().map(user).collect();
        // A negative scale turns the order around.
        draws.sort_by(f64::total_cmp);
        self.variables[channel].add(&Prediction {
            truth: user(truth),
            mean: user(mean),
            draws: &draws,
            nll: nll.map(|nll| nll + self.scaler.scale_of(channel).abs().ln()),
            baselines: &baselines.map(user),
        });
    }
}

/// The times of a series at which a value is held out.
pub fn held_times(series: &Series, channels: usize) -> Vec<f64> {
    let is_held = |at: usize| (0..channels).any(|channel| is_held(series, channels, at, channel));
    let times = series.times.iter().enumerate();
    times.filter(|(at, _)| is_held(*at)).map(|(_, &time)| time).collect()
}

fn is_held(series: &Series, channels: usize, at: usize, channel: usize) -> bool {
    series.is_observed(channels, at, channel) && !series.is_visible(channels, at, channel)
}

/// `-ln p(truth)` of what is drawn at a place, in the units of the model.
fn log_loss_at(drawn: &Draws, index: usize, channel: usize, truth: f64) -> Option<f64> {
    let means: Vec<f64> = drawn.means_at(index, channel).collect();
    let sd = f64::from(drawn.sds[index * drawn.channels + channel]);
    negative_log_density(&means, sd, drawn.shapes[channel], truth)
}

/// `-ln p(truth)` under a mixture over draws and over the two processes of a shape; `None` where there is no density.
fn negative_log_density(means: &[f64], sd: f64, shape: Shape, truth: f64) -> Option<f64> {
    let logs = shape
        .components()
        .map(|(share, factor)| share.ln() - gaussian_mixture_nll(means, &[factor * sd], truth));
    let largest = f64::max(logs[0], logs[1]);
    let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    let nll = -(largest + sum.ln());
    nll.is_finite().then_some(nll)
}
