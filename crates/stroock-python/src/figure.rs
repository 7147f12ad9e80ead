//! Pictures of what a model makes of series: observed values, means and intervals, and what may come after them.

use std::collections::HashMap;

use pyo3::prelude::*;
use stroock::estimator::{EstimatorError, Horizon, Model as Fitted, PredictOptions, Predictions};
use stroock::series::table::{Table, TimeScale};
use stroock::series::{Dataset, Series};
use stroock_figures::{Band, FitFigure, FitPanel, Points};

use crate::arguments::{Given, horizon, time};
use crate::error::exceptions::ModelError;
use crate::error::{Failure, wrong};
use crate::model::Model;

/// Ends of the 50 % and of the 90 % intervals.
const LEVELS: [f64; 4] = [0.05, 0.25, 0.75, 0.95];
/// Times between which lines are drawn.
const POINTS: usize = 241;
/// Panels beside each other.
const COLUMNS: usize = 3;
/// Width of a panel with its axis, and of the narrowest picture.
const PANEL_WIDTH: f64 = 340.0;
const NARROWEST: f64 = 640.0;

/// What a picture is to show.
#[derive(FromPyObject)]
struct Wish {
    /// Names of series; the first ones without them.
    series: Option<Vec<String>>,
    count: usize,
    /// Names of variables; all without them.
    variables: Option<Vec<String>>,
    since: Option<String>,
    until: Option<String>,
    steps: Option<usize>,
    length_of_time: Option<String>,
    draws: usize,
    seed: u64,
}

/// Points with the lines around them, for one variable of one series; times are those of the user.
#[derive(Default)]
struct Fit {
    seen: (Vec<f64>, Vec<f64>),
    times: Vec<f64>,
    mean: Vec<f64>,
    quantiles: [Vec<f64>; LEVELS.len()],
    forecast_from: Option<f64>,
}

impl Fit {
    /// Adds the row of predictions.
    fn add(&mut self, predictions: &Predictions, row: usize) {
        self.times.push(predictions.times[row]);
        self.mean.push(predictions.mean[row]);
        for (level, quantiles) in self.quantiles.iter_mut().zip(&predictions.quantiles) {
            level.push(quantiles[row]);
        }
    }
}

/// A picture as SVG, and what the user should know.
#[pyfunction]
pub fn figure(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    given: Given<'_>,
    wish: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let (model, wish): (_, Wish) = (model.get(), wish.extract()?);
    let scale = model.scale(py)?;
    let limit =
        |name: &str, text: &Option<String>| text.as_ref().map(|text| time(&scale, name, text)).transpose();
    let range = (limit("since", &wish.since)?, limit("until", &wish.until)?);
    let ahead = match (wish.steps, &wish.length_of_time) {
        (None, None) => None,
        (steps, length) => Some(horizon(&scale, steps, length.clone(), None)?),
    };
    let (table, _) = model.read(py, given)?;
    let chosen = choose(&table, &wish)?;
    let options =
        PredictOptions { quantiles: LEVELS.to_vec(), draws: wish.draws, samples: 0, seed: wish.seed };
    let mut warnings: Vec<String> = Vec::new();
    let mut rows: Vec<(String, HashMap<usize, Fit>)> = Vec::new();
    for number in chosen {
        let alone = alone(&table, number).map_err(|error| ModelError::new_err(error.to_string()))?;
        let fits = model.with(py, |model| fits(model, &alone, range, ahead, &options))?;
        let (fits, said) = fits.map_err(Failure::from)?;
        warnings.extend(said.into_iter().filter(|new| !warnings.contains(new)).collect::<Vec<_>>());
        rows.push((table.data.series()[number].id.clone(), fits));
    }
    let variables = model.with(py, |model| variables(model, &wish))??;
    Ok((draw(&rows, &variables, &scale)?, warnings))
}

/// Numbers of the series that are to be shown.
fn choose(table: &Table, wish: &Wish) -> PyResult<Vec<usize>> {
    let all = table.data.series();
    let Some(names) = &wish.series else {
        let has_values = |series: &&(usize, &Series<f64>)| !series.1.times.is_empty();
        let some: Vec<(usize, &Series<f64>)> = all.iter().enumerate().collect();
        return Ok(some.iter().filter(has_values).take(wish.count).map(|(number, _)| *number).collect());
    };
    let number = |name: &String| {
        all.iter().position(|series| series.id == *name).ok_or_else(|| {
            let known: Vec<&str> = all.iter().take(5).map(|series| series.id.as_str()).collect();
            wrong(format!(
                "series: the table has no series `{name}`; it has {} of them: {}",
                all.len(),
                known.join(", ")
            ))
        })
    };
    names.iter().map(number).collect()
}

/// A table of one of the series.
fn alone(table: &Table, number: usize) -> Result<Table, stroock::series::SeriesError> {
    let series = table.data.series()[number].clone();
    Ok(Table {
        data: Dataset::new(table.data.observation(), vec![series])?,
        origins: vec![table.origins[number]],
        variables: table.variables.clone(),
        classes: table.classes.clone(),
        time: table.time.clone(),
        columns: table.columns.clone(),
        account: table.account.clone(),
    })
}

/// Channels of the model that are to be shown, with their names and units.
fn variables(model: &Fitted, wish: &Wish) -> PyResult<Vec<(usize, String, String)>> {
    let all = &model.description.data.variables;
    let dynamic = || all.iter().enumerate().filter(|(_, variable)| !variable.is_static);
    let shown = |(channel, variable): (usize, &stroock::model::Variable)| {
        (channel, variable.name.clone(), variable.unit.clone())
    };
    let Some(names) = &wish.variables else { return Ok(dynamic().map(shown).collect()) };
    let of_name = |name: &String| {
        dynamic().find(|(_, variable)| variable.name == *name).map(shown).ok_or_else(|| {
            let known: Vec<&str> = dynamic().map(|(_, variable)| variable.name.as_str()).collect();
            wrong(format!(
                "variables: the model has no variable `{name}` that changes in time; it has {}",
                known.join(", ")
            ))
        })
    };
    names.iter().map(of_name).collect()
}

/// For every channel what the model says about the one series of a table.
fn fits(
    model: &Fitted,
    table: &Table,
    (since, until): (Option<f64>, Option<f64>),
    ahead: Option<Horizon>,
    options: &PredictOptions,
) -> Result<(HashMap<usize, Fit>, Vec<String>), EstimatorError> {
    let (series, origin) = (&table.data.series()[0], table.origins[0]);
    let user: Vec<f64> = series.times.iter().map(|time| origin + time).collect();
    let is_shown =
        |time: f64| since.is_none_or(|since| time >= since) && until.is_none_or(|until| time <= until);
    let first = since.or(user.first().copied()).unwrap_or(0.0);
    let last = until.or(user.last().copied()).unwrap_or(first);
    let grid = (0..POINTS).map(|i| first + (last - first) * i as f64 / (POINTS - 1) as f64);
    // Intervals are narrow at single times: these are among the points of the lines.
    let mut times: Vec<f64> = grid.chain(user.iter().copied().filter(|time| is_shown(*time))).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let within = model.impute(table, Some(&times), options)?;
    let mut warnings = within.warnings.clone();
    let mut fits: HashMap<usize, Fit> = HashMap::new();
    for (row, &channel) in within.channels.iter().enumerate() {
        fits.entry(channel).or_default().add(&within, row);
    }
    let channels = table.variables.len();
    for (channel, variable) in model.description.data.variables.iter().enumerate() {
        let Some(place) = table.variables.iter().position(|known| known.name == variable.name) else {
            continue;
        };
        let observed =
            (0..user.len()).filter(|&i| series.is_observed(channels, i, place) && is_shown(user[i]));
        if let Some(fit) = fits.get_mut(&channel) {
            fit.seen = observed.map(|i| (user[i], series.values[i * channels + place])).unzip();
        }
    }
    if let Some(horizon) = ahead {
        let beyond = model.forecast(table, horizon, None, options)?;
        warnings.extend(beyond.warnings.clone());
        for (row, &channel) in beyond.channels.iter().enumerate() {
            let fit = fits.entry(channel).or_default();
            let from = *fit.forecast_from.get_or_insert(last);
            if beyond.times[row] > from {
                fit.add(&beyond, row);
            }
        }
    }
    Ok((fits, warnings))
}

/// A panel for every variable of every series.
fn draw(
    rows: &[(String, HashMap<usize, Fit>)],
    variables: &[(usize, String, String)],
    scale: &TimeScale,
) -> PyResult<String> {
    let all = || rows.iter().flat_map(|(_, fits)| fits.values().flat_map(|fit| fit.times.iter().copied()));
    let (first, last) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let (axis, unit, first) = axis(scale, first, last);
    let on_axis = |times: &[f64]| -> Vec<f64> {
        times.iter().map(|time| if unit == 0.0 { *time } else { (time - first) / unit }).collect()
    };
    let mut moved = Vec::new();
    for (id, fits) in rows {
        for (channel, name, unit) in variables {
            if let Some(fit) = fits.get(channel) {
                let from = fit.forecast_from.map(|from| on_axis(&[from])[0]);
                moved.push((id, name, unit, fit, on_axis(&fit.seen.0), on_axis(&fit.times), from));
            }
        }
    }
    if moved.is_empty() {
        return Err(wrong("there is nothing to show: the table has no series with times"));
    }
    let panels = moved.iter().map(|(id, name, unit, fit, seen, times, from)| {
        let band = |level, lower: usize, upper: usize| Band {
            level,
            lower: (&fit.quantiles[lower]).into(),
            upper: (&fit.quantiles[upper]).into(),
        };
        FitPanel {
            series: id,
            variable: name,
            unit,
            seen: Points { times: seen.into(), values: (&fit.seen.1).into() },
            times: times.into(),
            mean: (&fit.mean).into(),
            bands: vec![band(0.9, 0, 3), band(0.5, 1, 2)],
            forecast_from: *from,
            ..FitPanel::default()
        }
    });
    let columns = variables.len().min(COLUMNS).min(moved.len());
    let width = (columns as f64 * PANEL_WIDTH).max(NARROWEST);
    let figure = FitFigure { panels: panels.collect(), columns, time: &axis, width, ..FitFigure::default() };
    let svg = figure.picture().and_then(|picture| picture.to_svg());
    svg.map_err(|error| ModelError::new_err(error.to_string()))
}

/// The name of the time axis, the seconds of its unit, and where it begins; no unit where times are numbers.
fn axis(scale: &TimeScale, first: f64, last: f64) -> (String, f64, f64) {
    if matches!(scale, TimeScale::Number) {
        return ("time".into(), 0.0, first);
    }
    let units = [("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)];
    let fits = |(_, seconds): &&(&str, f64)| last - first >= 3.0 * seconds;
    let (name, seconds) = units.iter().find(fits).copied().unwrap_or(("seconds", 1.0));
    // Days begin at different hours in different zones, hours nearly everywhere at the same minute.
    let whole = f64::min(seconds, 3_600.0);
    let first = (first / whole).floor() * whole;
    (format!("{name} from {}", scale.write(first)), seconds, first)
}
