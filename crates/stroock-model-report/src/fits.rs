//! The series that a report shows, with what is said about them.

use stroock::estimator::{EvaluateOptions, Model, Subject};
use stroock::model::PathDraws;
use stroock::predict::{Draws, Summary};
use stroock::score::{HoldOut, withhold_of};
use stroock::series::Dataset;
use stroock_kernels::noise::{NoiseKey, Stage};
use stroock_report::{Band, Fit, Points};

use crate::ModelReportError;

/// Ends of the 50 % and of the 90 % intervals.
pub const LEVELS: [f64; 4] = [0.05, 0.25, 0.75, 0.95];
const SAMPLES: usize = 200;
/// Times between which lines are drawn.
const POINTS: usize = 121;

/// Series with values held out, and draws on a fine grid.
pub struct Shown {
    data: Dataset,
    pub series: Vec<ShownSeries>,
    forecast: bool,
}

/// One of them.
pub struct ShownSeries {
    number: usize,
    pub name: String,
    pub origin: f64,
    pub drawn: Draws,
}

impl Shown {
    /// The series with the most values among those that are tested on.
    pub fn choose(
        model: &Model,
        subject: &Subject,
        options: &EvaluateOptions,
        count: usize,
    ) -> Result<Self, ModelReportError> {
        let about = &model.description.data;
        let data = &subject.prepared.data;
        let channels = data.observation().len();
        let all: Vec<usize> = (0..data.series().len()).collect();
        let mut numbers = subject.numbers.clone().unwrap_or(all);
        let values = |number: &usize| {
            let series = &data.series()[*number];
            let places = 0..series.values.len();
            places.filter(|place| series.is_observed(channels, place / channels, place % channels)).count()
        };
        numbers.sort_by_key(|number| std::cmp::Reverse(values(number)));
        numbers.truncate(count);
        let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
        let streams = subject.streams(&numbers);
        let data = withhold_of(data.clone(), &streams, options.hold_out, &statics, options.seed)?;
        let scale = &model.table()?.time;
        let windows = model.table()?.sampling.window.is_some();
        let times: Vec<Vec<f64>> = numbers.iter().map(|&number| fine(&data.series()[number].times)).collect();
        let draws = PathDraws {
            key: NoiseKey::of(options.seed, Stage::Prediction),
            samples: SAMPLES,
            first_sample: 0,
        };
        let drawn = model.predictor().posterior(&data, &numbers, &times, draws)?;
        let series = numbers.iter().zip(drawn).map(|(&number, drawn)| {
            let (id, origin) = (&data.series()[number].id, subject.prepared.origins[number]);
            let name = match windows {
                true => format!("{id} from {}", scale.write(origin)),
                false => id.clone(),
            };
            ShownSeries { number, name, origin, drawn }
        });
        let forecast = matches!(options.hold_out, HoldOut::Tail { .. });
        Ok(Self { series: series.collect(), data, forecast })
    }

    /// Observed values of a channel.
    fn values(&self, channel: usize) -> usize {
        let channels = self.data.observation().len();
        let of_series = |shown: &ShownSeries| {
            let series = &self.data.series()[shown.number];
            (0..series.times.len()).filter(|&i| series.is_observed(channels, i, channel)).count()
        };
        self.series.iter().map(of_series).sum()
    }

    /// Every variable of every series, those with the most values first.
    pub fn fits(&self, model: &Model) -> Vec<Fit> {
        let about = &model.description.data;
        let dynamic = |&channel: &usize| !about.variables[channel].is_static;
        let mut order: Vec<usize> = (0..about.variables.len()).filter(dynamic).collect();
        order.sort_by_key(|&channel| std::cmp::Reverse(self.values(channel)));
        let mut fits = Vec::new();
        for shown in &self.series {
            let (series, channels) = (&self.data.series()[shown.number], shown.drawn.channels);
            for &channel in &order {
                let variable = &about.variables[channel];
                let points = |visible: bool| {
                    let chosen = (0..series.times.len()).filter(|&i| {
                        series.is_observed(channels, i, channel)
                            && series.is_visible(channels, i, channel) == visible
                    });
                    let value = |i: usize| {
                        about.scaler.to_user(channel, f64::from(series.values[i * channels + channel]))
                    };
                    let (times, values) = chosen.map(|i| (shown.origin + series.times[i], value(i))).unzip();
                    Points { times, values }
                };
                let column = |draws: &[f32]| -> Vec<f64> {
                    let draws = draws.iter().skip(channel).step_by(channels);
                    draws.map(|&value| about.scaler.to_user(channel, f64::from(value))).collect()
                };
                let times = &shown.drawn.times;
                let mean = Summary::of(&column(&shown.drawn.means), times.len(), &[]).mean;
                let process = Summary::of(&column(&shown.drawn.observations), times.len(), &LEVELS);
                let band = |level, lower: usize, upper: usize| Band {
                    level,
                    lower: process.quantiles[lower].clone(),
                    upper: process.quantiles[upper].clone(),
                };
                let (seen, withheld) = (points(true), points(false));
                fits.push(Fit {
                    series: shown.name.clone(),
                    variable: variable.name.clone(),
                    unit: variable.unit.clone(),
                    forecast_from: self.forecast.then(|| seen.times.last().copied()).flatten(),
                    seen,
                    withheld,
                    times: times.iter().map(|time| shown.origin + time).collect(),
                    mean,
                    bands: vec![band(0.9, 0, 3), band(0.5, 1, 2)],
                });
            }
        }
        fits
    }
}

/// Times on a fine grid together with the times that are there.
fn fine(times: &[f64]) -> Vec<f64> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Vec::new() };
    let grid = (0..POINTS).map(|i| first + (last - first) * i as f64 / (POINTS - 1) as f64);
    let mut all: Vec<f64> = grid.chain(times.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}
