//! What a model that was fitted to a table has to say about itself: from a fit and its evaluation to the [`Report`] that
//! `stroock-report` makes a page of.

mod error;
mod fits;
mod forecasts;
mod number;
mod paths;
mod tables;

use stroock::estimator::{Evaluation, Model, Part, RunConfig, Subject};
use stroock::run::{MetricsRow, to_toml};
use stroock::score::HoldOut;
use stroock::series::table::TimeScale;
use stroock_report::{Calibration, CalibrationPoint, Confusion, Curve, Report};

pub use error::ModelReportError;
pub use number::short;

/// Series that a report shows, if nobody says how many.
pub const SERIES: usize = 8;

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct ModelReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// How it was fitted, where that is known.
    pub config: Option<&'a RunConfig>,
    /// The metrics of its epochs; empty where they are not known.
    pub rows: &'a [MetricsRow],
    /// The series that it was tested on.
    pub subject: &'a Subject,
    /// What that has found out.
    pub evaluation: &'a Evaluation,
    /// Series to show.
    pub series: usize,
}

impl ModelReport<'_> {
    /// The contents of the page.
    ///
    /// # Errors
    /// When a series to be shown cannot be predicted.
    pub fn report(&self) -> Result<Report, ModelReportError> {
        let Self { model, config, rows, subject, evaluation, series: count } = *self;
        let shown = fits::Shown::choose(model, subject, &evaluation.options, count)?;
        let fits = match evaluation.options.hold_out {
            HoldOut::Tail { .. } => forecasts::fits(model, subject, &evaluation.options, count)?,
            _ => shown.fits(model),
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
        let files = config.map_or(&[][..], |config| &config.data.files);
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        Ok(Report {
            title: "A latent SDE fitted to time series".into(),
            subtitle: files.join(", "),
            facts: tables::facts(model, config, subject, rows),
            warnings: warnings(evaluation, subject),
            time: String::new(),
            time_is_date,
            time_zone,
            curves: curves.into_iter().filter(|curve| !curve.values.is_empty()).collect(),
            best_epoch: best,
            fits,
            tables: tables::scores(evaluation, &evaluation.options.hold_out.in_words()),
            calibration: calibration(evaluation),
            confusion: evaluation.classes.as_ref().map(|classes| Confusion {
                classes: classes.classes.clone(),
                counts: classes.scores.confusion.counts.clone(),
            }),
            paths: paths::paths(&shown),
            configuration: config.map(to_toml).transpose()?.unwrap_or_default(),
            command: config.map(|config| config.command.clone()).unwrap_or_default(),
        })
    }
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
