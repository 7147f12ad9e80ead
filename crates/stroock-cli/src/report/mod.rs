//! `stroock report`: a page about a fitted model.

mod fits;
mod forecasts;
mod paths;
mod tables;

use std::path::Path;

use serde::Serialize;
use stroock::estimator::{Evaluation, Model, RunConfig};
use stroock::run::{Metrics, RunPaths, to_toml, write_atomic};
use stroock::score::HoldOut;
use stroock::series::table::TimeScale;
use stroock_report::{Calibration, CalibrationPoint, Confusion, Curve, Report};

use crate::arguments::ReportArguments;
use crate::evaluate::{Part, Subject, evaluate, held_out};
use crate::failure::Failure;
use crate::fit::{config_of, default_options};
use crate::output::{print, print_json};
use crate::tables::load;

/// Series that a report shows.
pub const SERIES: usize = 8;

#[derive(Serialize)]
struct Written {
    report: String,
}

pub fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let paths = RunPaths::new(&arguments.run);
    let config = config_of(&arguments.run)?;
    let model = load(&arguments.run)?;
    let subject = match arguments.data.is_empty() {
        true => Subject::of_run(&model, &arguments.run)?,
        false => Subject::given(&model, &arguments.data, &arguments.table)?,
    };
    let options = default_options(config.fit.goal);
    let evaluation = evaluate(&model, &subject, &options)?;
    let path = arguments.output.clone().unwrap_or_else(|| paths.report());
    write(&model, &config, &paths, &subject, &evaluation, arguments.series, &path)?;
    let report = path.display().to_string();
    match arguments.json {
        true => print_json(&Written { report }),
        false => print(&format!("The report: {report}")),
    }
}

/// Writes the page.
pub fn write(
    model: &Model,
    config: &RunConfig,
    run: &RunPaths,
    subject: &Subject,
    evaluation: &Evaluation,
    count: usize,
    path: &Path,
) -> Result<(), Failure> {
    let rows = Metrics::read(&run.metrics())?.rows;
    let shown = fits::Shown::choose(model, subject, &evaluation.options, count)?;
    let fits = match evaluation.options.hold_out {
        HoldOut::Tail { .. } => forecasts::fits(model, subject, &evaluation.options, count)?,
        _ => shown.fits(model)?,
    };
    let scale = &model.table()?.time;
    let (time_is_date, time_zone) = match scale {
        TimeScale::Number => (false, String::new()),
        TimeScale::Date { zone, .. } => (true, zone.clone()),
    };
    let curve = |name: &str, key: &str| {
        let points = rows.iter().filter_map(|row| Some((row.epoch as f64, row.get(key)?.as_number()?)));
        let (epochs, values): (Vec<f64>, Vec<f64>) = points.unzip();
        Curve { name: name.into(), epochs, values }
    };
    let curves = [curve("training loss", "loss"), curve("validation loss", "validation_loss")];
    let best = rows.iter().filter_map(|row| Some((row.epoch, row.get("validation_loss")?.as_number()?)));
    let best = best.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(epoch, _)| epoch as f64);
    let files: Vec<String> = config.data.files.iter().map(|file| file.display().to_string()).collect();
    let report = Report {
        title: "A latent SDE fitted to time series".into(),
        subtitle: files.join(", "),
        facts: tables::facts(model, config, subject, &rows),
        warnings: warnings(evaluation, subject),
        time: String::new(),
        time_is_date,
        time_zone,
        curves: curves.into_iter().filter(|curve| !curve.values.is_empty()).collect(),
        best_epoch: best,
        fits,
        tables: tables::scores(evaluation, &held_out(evaluation.options.hold_out)),
        calibration: calibration(evaluation),
        confusion: evaluation.classes.as_ref().map(|classes| Confusion {
            classes: classes.classes.clone(),
            counts: classes.scores.confusion.counts.clone(),
        }),
        paths: paths::paths(&shown),
        configuration: to_toml(config)?,
        command: config.command.clone(),
    };
    Ok(write_atomic(path, report.html()?.as_bytes())?)
}

/// What the reader of the page should know.
fn warnings(evaluation: &Evaluation, subject: &Subject) -> Vec<String> {
    // Forecasts are made anew from what came before, whatever the model was trained on.
    let ahead = matches!(evaluation.options.hold_out, HoldOut::Tail { .. });
    let few = !ahead && matches!(subject.part, Part::Validation | Part::Training);
    let few = few.then(|| format!("The scores are about {}.", subject.part.in_words()));
    evaluation.warnings.iter().cloned().chain(few).collect()
}

/// How often values lie below their quantiles, for all variables and for each.
fn calibration(evaluation: &Evaluation) -> Vec<Calibration> {
    let of = |name: &str, points: &[(f64, f64)]| Calibration {
        name: name.into(),
        points: points.iter().map(|&(nominal, observed)| CalibrationPoint { nominal, observed }).collect(),
    };
    let each = evaluation.variables.iter().map(|variable| of(&variable.name, &variable.scores.calibration));
    std::iter::once(of("all variables", &evaluation.overall.calibration)).chain(each).collect()
}
