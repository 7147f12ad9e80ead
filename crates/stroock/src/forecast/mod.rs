//! Series of tables as histories, and which methods forecast them.

mod track;

use serde::{Deserialize, Serialize};

use crate::series::table::{Step, Table, TimeScale};

pub use stroock_forecast::{Choice, Forecast, History, Kind, Method, MethodScore, Rung, Settings, Weight};
pub use track::{Track, tracks};

/// How the variables of a table are forecast: what backtests on it found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecaster {
    /// The usual step between times.
    pub step: Step,
    /// A choice for each variable that changes in time.
    pub variables: Vec<Option<VariableForecaster>>,
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
}

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
    /// Compares the methods on the series of a table, whole or cut into windows; `None` where no series has two times.
    pub fn choose(table: &Table) -> Option<Self> {
        let step = usual_step(table)?;
        Some(Self::of_tracks(&tracks(table, step), step, &table.time))
    }

    /// The same on tracks.
    pub fn of_tracks(tracks: &[Track], step: Step, time: &TimeScale) -> Self {
        let channels = tracks.first().map_or(0, |track| track.histories.len());
        let settings = Settings { periods: step.calendar_periods(time) };
        let choose = |channel: usize| {
            let histories = tracks.iter().map(|track| track.histories[channel].clone());
            let histories: Option<Vec<History>> = histories.collect();
            let choice = Choice::from_backtests(&histories?, &settings);
            Some(VariableForecaster { choice, latent: None })
        };
        Self { step, variables: (0..channels).map(choose).collect() }
    }

    /// The forecast of one variable of a track at the given times of the user, which increase from its end on.
    pub fn forecast(
        &self,
        track: &Track,
        channel: usize,
        times: &[f64],
        scale: &TimeScale,
    ) -> Option<Forecast> {
        let choice = &self.variables.get(channel)?.as_ref()?.choice;
        let history = track.histories[channel].as_ref()?;
        let from = history.end().unwrap_or_else(|| self.step.place(scale, track.end));
        let ahead: Vec<f64> = times.iter().map(|&time| self.step.place(scale, time) - from).collect();
        Some(choice.forecast(history, &ahead))
    }
}

/// The usual step of a table.
pub fn usual_step(table: &Table) -> Option<Step> {
    let joined = track::joined_times(table);
    Step::usual(joined.iter().map(Vec::as_slice), &table.time)
}
