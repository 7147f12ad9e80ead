//! Series of tables as histories, and which methods forecast them.

mod track;

use serde::{Deserialize, Serialize};

use crate::series::table::{Step, Table, TimeScale};

pub use stroock_forecast::{
    Choice, Explained, Forecast, History, Kind, Method, MethodScore, Regression, Rung, Settings, Weight,
};
pub use track::{Track, tracks};

/// How the variables of a table are forecast: what backtests on it found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecaster {
    /// The usual step between times.
    pub step: Step,
    /// A choice for each variable that is to be forecast.
    pub variables: Vec<Option<VariableForecaster>>,
    /// The numbers of the variables that are known ahead of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<usize>,
}

/// How one variable is forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableForecaster {
    /// Methods, their errors in backtests, and the widths of their intervals.
    pub choice: Choice,
    /// What the latent model did on series that it was not trained on, where it was tried.
    #[serde(default)]
    pub latent: Option<LatentScore>,
    /// The effect of the variables that are known ahead of time, where it did better with it in backtests: methods then
    /// forecast what it leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
}

/// Share of the squared error without known variables below which a regression on them must come.
const WORTHWHILE: f64 = 0.95;
/// Series that this is compared on, and the tenths of each that are forecast from what comes before.
const COMPARED: usize = 24;
const EARLIER: [usize; 4] = [6, 7, 8, 9];

/// The latent model beside the methods, on the same values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentScore {
    /// Mean over series of the root mean squared error of the latent model, in standard deviations of the variable.
    pub latent: f64,
    /// The same of the methods.
    pub methods: f64,
    /// Longest horizon that was compared, in steps.
    pub horizon: f64,
    /// Series that were compared on.
    pub series: usize,
}

impl LatentScore {
    /// Whether the latent model answers up to its horizon: where it is better by more than chance would have it.
    pub fn answers(&self) -> bool {
        self.latent < 0.97 * self.methods
    }
}

impl Forecaster {
    /// Compares the methods on the series of a table, whole or cut into windows, with and without the variables whose
    /// numbers are `known` ahead of time; `None` where no series has two times.
    pub fn choose(table: &Table, known: &[usize]) -> Option<Self> {
        let step = usual_step(table)?;
        Some(Self::of_tracks(&tracks(table, step, known), step, &table.time))
    }

    /// The same on tracks.
    pub fn of_tracks(tracks: &[Track], step: Step, time: &TimeScale) -> Self {
        let first = tracks.first();
        let channels = first.map_or(0, |track| track.histories.len());
        let known =
            first.map_or_else(Vec::new, |track| track.known.iter().map(|(channel, _)| *channel).collect());
        let settings = Settings { periods: step.calendar_periods(time) };
        let choose = |channel: usize| VariableForecaster::choose(tracks, channel, &settings);
        Self { step, variables: (0..channels).map(choose).collect(), known }
    }

    /// The forecast of one variable of a track at the given times of the user, which increase from its end on; `None`
    /// where it is not to be forecast, or what is known ahead of time is not known there.
    pub fn forecast(
        &self,
        track: &Track,
        channel: usize,
        times: &[f64],
        scale: &TimeScale,
    ) -> Option<Forecast> {
        let places: Vec<f64> = times.iter().map(|&time| self.step.place(scale, time)).collect();
        let end = self.step.place(scale, track.end);
        self.variables.get(channel)?.as_ref()?.forecast(track, channel, &places, end)
    }

    /// The first variable that is not known at a time of the user at which a forecast of a track needs it, and the time.
    pub fn unknown(&self, track: &Track, times: &[f64], scale: &TimeScale) -> Option<(usize, f64)> {
        let is_needed = |i: usize| {
            let mut regressions =
                self.variables.iter().flatten().filter_map(|found| found.regression.as_ref());
            regressions.any(|regression| regression.coefficients.get(i).is_some_and(|&b| b != 0.0))
        };
        let needed = track.known.iter().enumerate().filter(|(i, _)| is_needed(*i));
        let needed: Vec<&(usize, History)> = needed.map(|(_, known)| known).collect();
        times.iter().find_map(|&time| {
            let place = self.step.place(scale, time);
            let missing = needed.iter().find(|(_, history)| history.at(place).is_none());
            missing.map(|(channel, _)| (*channel, time))
        })
    }
}

impl VariableForecaster {
    /// What does best: methods alone, or what they make of the remainder of a regression on the known variables.
    fn choose(tracks: &[Track], channel: usize, settings: &Settings) -> Option<Self> {
        let series: Option<Vec<Explained>> = tracks.iter().map(|track| track.explained(channel)).collect();
        let series = series?;
        let whole: Vec<History> = series.iter().map(|one| one.history.clone()).collect();
        let choice = Choice::from_backtests(&whole, settings);
        let alone = Self { choice, latent: None, regression: None };
        let Some(regression) = Regression::fit(&series) else { return Some(alone) };
        let left: Vec<History> =
            series.iter().map(|one| regression.remainder(one.history, &one.known)).collect();
        // Values without a known effect are lost to the regression: most must have one.
        let count = |histories: &[History]| histories.iter().map(History::len).sum::<usize>();
        if 10 * count(&left) < 9 * count(&whole) {
            return Some(alone);
        }
        let choice = Choice::from_backtests(&left, settings);
        let with_known = Self { choice, latent: None, regression: Some(regression) };
        let errors = [&with_known, &alone].map(|one| one.error(&series));
        Some(if errors[0] < WORTHWHILE * errors[1] { with_known } else { alone })
    }

    /// The mean squared error of forecasts from earlier places of some series, in variances of each.
    fn error(&self, series: &[Explained]) -> f64 {
        let every = series.len().div_ceil(COMPARED).max(1);
        let (mut sum, mut values) = (0.0, 0.0);
        for Explained { history, known } in series.iter().step_by(every) {
            let (count, all) = (history.len(), history.values());
            let mean = all.iter().sum::<f64>() / count.max(1) as f64;
            let variance = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count.max(1) as f64;
            if variance <= 0.0 {
                continue;
            }
            for tenths in EARLIER {
                let (from, to) = (count * tenths / 10, count * (tenths + 1) / 10);
                let places = &history.places()[from..to];
                let forecast = self.project(&history.first(from), known, places, 0.0);
                let Some(forecast) = forecast.filter(|_| from > 2) else { continue };
                for (k, value) in all[from..to].iter().enumerate() {
                    sum += (forecast.mean(k) - value).powi(2) / variance;
                    values += 1.0;
                }
            }
        }
        sum / values
    }

    /// The forecast of a track at increasing places, from the end of its history on, or from `end` where it has none.
    pub fn forecast(&self, track: &Track, channel: usize, places: &[f64], end: f64) -> Option<Forecast> {
        let history = track.histories.get(channel)?.as_ref()?;
        self.project(history, &track.known_histories(), places, end)
    }

    fn project(&self, history: &History, known: &[&History], places: &[f64], end: f64) -> Option<Forecast> {
        let ahead = |history: &History| -> Vec<f64> {
            let from = history.end().unwrap_or(end);
            places.iter().map(|place| place - from).collect()
        };
        let Some(regression) = &self.regression else {
            return Some(self.choice.forecast(history, &ahead(history)));
        };
        let shift: Option<Vec<f64>> = places.iter().map(|&place| regression.effect(known, place)).collect();
        let left = regression.remainder(history, known);
        let is_positive = history.values().iter().all(|&value| value >= 0.0);
        let floor = if is_positive { 0.0 } else { f64::NEG_INFINITY };
        Some(self.choice.forecast(&left, &ahead(&left)).shifted(shift?, floor))
    }
}

/// The usual step of a table.
pub fn usual_step(table: &Table) -> Option<Step> {
    let joined = track::joined_times(table);
    Step::usual(joined.iter().map(Vec::as_slice), &table.time)
}
