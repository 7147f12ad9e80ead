//! From a table to a model, as the command chooses the settings.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use stroock::estimator::{DataConfig, FitConfig, RunConfig, Subject};
use stroock::run::{Metrics, Moment, Progress, RunFolder, StopFlag, parse, resolve_over, to_toml};
use stroock::series::table::{Align, Sampling, Table};
use stroock::training::Outcome;

use crate::arguments::{Given, goal_named, length, model_named, read_options};
use crate::error::exceptions::ModelError;
use crate::error::{Failure, wrong};
use crate::model::{Model, Training};

/// What the caller says about a fit; everything else comes from the data.
#[derive(FromPyObject)]
struct Wish {
    task: String,
    model: Option<String>,
    window: Option<String>,
    log: Vec<String>,
    known: Vec<String>,
    epochs: Option<u64>,
    seed: Option<u64>,
    settings: Vec<(String, String)>,
    out: Option<PathBuf>,
    resume: bool,
}

impl Wish {
    /// The cut table and the settings of a new fit, as the command chooses them.
    fn plan(&self, table: Table) -> PyResult<(Table, FitConfig)> {
        let goal = goal_named(&self.task)?;
        let suggested = FitConfig::sampling(&table, goal).sampling;
        let sampling = match self.window.as_deref() {
            None => suggested,
            Some("none") => Sampling { window: None, align: suggested.align },
            Some(text) => {
                let window = length(&table.time, "window", text)?;
                Sampling { window: Some(window), align: Align::Start }
            }
        };
        let table = table.sampled(sampling);
        let fit = match &self.model {
            None => FitConfig::suggest(&table, sampling, goal),
            Some(name) => FitConfig::suggest_with(model_named(name)?, &table, sampling, goal),
        };
        let mut fit = fit.map_err(Failure::from)?;
        fit.logarithms.clone_from(&self.log);
        fit.known.clone_from(&self.known);
        if let Some(seed) = self.seed {
            fit.training.seed = seed;
        }
        if let Some(epochs) = self.epochs {
            fit = fit.with_epochs(epochs);
        }
        let fit = self.over(&fit)?;
        fit.known_channels(&table).map_err(Failure::from)?;
        fit.logarithm_mask(&table).map_err(Failure::from)?;
        Ok((table, fit))
    }

    /// The settings with single ones over them.
    fn over(&self, fit: &FitConfig) -> PyResult<FitConfig> {
        let fit = resolve_over(fit, None, &self.settings).map_err(|error| wrong(error.to_string()))?;
        match fit.training.epochs {
            0 => Err(wrong(
                "`training.epochs` is 0: a model that is not trained knows nothing; choose at least 1",
            )),
            _ => Ok(fit),
        }
    }
}

/// The display of a fit that Python shows, which also listens to Ctrl-C.
fn progress(
    show: Option<Py<PyAny>>,
    stop: StopFlag,
    failed: Arc<Mutex<Option<PyErr>>>,
) -> impl FnMut(Moment<'_>) + Send + 'static {
    move |moment: Moment<'_>| {
        Python::attach(|py| {
            let told = py.check_signals().and_then(|()| match &show {
                Some(show) => {
                    let Moment { epoch, epochs, share, text, is_mark } = moment;
                    show.call1(py, (epoch, epochs, share, text, is_mark)).map(|_| ())
                }
                None => Ok(()),
            });
            if let Err(error) = told {
                stop.request();
                if let Ok(mut failed) = failed.lock() {
                    failed.get_or_insert(error);
                }
            }
        });
    }
}

/// Fits a model to a table.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    given: Given<'_>,
    wish: &Bound<'_, PyAny>,
    show: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (frame, name, read) = given;
    let (frame, read, wish): (_, _, Wish) = (frame.get(), read_options(&read)?, wish.extract()?);
    if wish.task == "classify" && read.label.is_none() {
        return Err(wrong("task=\"classify\" needs the column of classes: target=..."));
    }
    let table = py.detach(|| Table::from_batches(&name, &frame.schema, frame.batches.clone(), &read));
    let table = table.map_err(Failure::from)?;
    let kinds = frame.kinds(&table);
    let of_run = |error: stroock::run::RunError| ModelError::new_err(error.to_string());
    let of_series = |error: stroock::series::SeriesError| ModelError::new_err(error.to_string());
    let of_config = |error: stroock::run::ConfigError| ModelError::new_err(error.to_string());
    let (folder, table, config) = match (&wish.out, wish.resume) {
        (Some(out), true) => {
            let folder = RunFolder::open(out).map_err(of_run)?;
            let text = folder.read_config().map_err(of_run)?;
            let mut config: RunConfig = parse(&folder.paths().config(), &text).map_err(of_config)?;
            config.fit = wish.over(&config.fit)?;
            if let Some(epochs) = wish.epochs {
                config.fit.training.epochs = epochs;
            }
            let table = table.sampled(config.fit.sampling);
            if !config.data.is_of(&table).map_err(of_series)? {
                return Err(wrong(
                    "the data have changed since the fit; give the same, or fit in another folder",
                ));
            }
            (Some(folder), table, config)
        }
        (None, true) => return Err(wrong("resume=True needs the folder of the run: out=...")),
        (out, false) => {
            let (table, fit) = wish.plan(table)?;
            let folder = out.as_ref().map(RunFolder::create).transpose().map_err(of_run)?;
            let data = DataConfig::of(&table, Vec::new(), read).map_err(of_series)?;
            (folder, table, RunConfig { command: "stroock.fit(...)".into(), data, fit })
        }
    };
    if let Some(folder) = &folder {
        let text = to_toml(&config).map_err(of_config)?;
        folder.write_config(&text).map_err(of_run)?;
    }
    let (stop, failed) = (StopFlag::new(), Arc::new(Mutex::new(None)));
    let showing = progress(show, stop.clone(), failed.clone());
    let fitted = py.detach(|| {
        config.fit.fit(&table, folder.as_ref(), &stop, |length| Progress::called(length, showing))
    });
    let failed = failed.lock().ok().and_then(|mut failed| failed.take());
    let fitted = fitted.map_err(Failure::from)?;
    let is_stopped = fitted.outcome == Outcome::Stopped;
    match failed {
        // Ctrl-C leaves what has been learned, if that is anything.
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) || fitted.epochs == 0 => {
            return Err(error);
        }
        _ => {}
    }
    let rows = match &folder {
        Some(folder) => Metrics::read(&folder.paths().metrics()).map_err(of_run)?.rows,
        None => Vec::new(),
    };
    Ok(Model {
        model: Mutex::new(fitted.model),
        subject: Some(Subject::of_split(fitted.split, fitted.prepared, table)),
        kinds,
        training: Some(Training { epochs: fitted.epochs, best: fitted.best, is_stopped }),
        run: Some((config, rows)),
    })
}
