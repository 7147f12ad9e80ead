//! Fitted models of tables: predictions and scores. The same functions of the library as the command calls.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Mutex;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use stroock::estimator::{
    EstimatorError, EvaluateOptions, EvaluationSums, Goal, Model as Fitted, Part, PredictOptions, RunConfig,
    SampleSource, Subject,
};
use stroock::model::ModelSettings;
use stroock::run::{MetricsRow, to_toml};
use stroock::score::HoldOut;
use stroock::series::table::{Column, Form, ReadOptions, Table, TimeScale};
use stroock_model_report::{ModelReport, ModelReportError};

use crate::arguments::{Given, horizon, length, options, read_options, time};
use crate::error::exceptions::ModelError;
use crate::error::{Failure, wrong};
use crate::frame::{Frame, Kinds};
use crate::run;

/// How training ended.
#[derive(Clone, Copy)]
pub(crate) struct Training {
    /// Epochs that are complete.
    pub epochs: u64,
    /// The best of them with its loss.
    pub best: Option<(u64, f64)>,
    /// Whether it was stopped before its end.
    pub is_stopped: bool,
}

impl Training {
    /// What the metrics of a run say.
    fn of(rows: &[MetricsRow], is_stopped: bool) -> Self {
        let losses =
            rows.iter().filter_map(|row| Some((row.epoch, row.get("validation_loss")?.as_number()?)));
        let best = losses.min_by(|a, b| a.1.total_cmp(&b.1));
        Self { epochs: rows.len() as u64, best, is_stopped }
    }
}

/// A fitted model.
#[pyclass(frozen, module = "stroock._stroock")]
pub struct Model {
    /// One call at a time: the threads of the library are busy with it anyway.
    pub(crate) model: Mutex<Fitted>,
    /// The series that it is tested on, where the fit has left them behind.
    pub(crate) subject: Option<Subject>,
    pub(crate) kinds: Kinds,
    /// How training ended.
    pub(crate) training: Option<Training>,
    /// How it was fitted, and the metrics of its epochs.
    pub(crate) run: Option<(RunConfig, Vec<MetricsRow>)>,
}

/// A table of results, warnings, notes.
type Answer = (Frame, Vec<String>, Vec<String>);

impl Model {
    /// Does something with the model while other threads of Python run.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Fitted) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let model = self
                .model
                .lock()
                .map_err(|_| wrong("an earlier call has failed halfway: load the model again"))?;
            Ok(work(&model))
        })
    }

    /// The time scale of the model.
    pub(crate) fn scale(&self, py: Python<'_>) -> PyResult<TimeScale> {
        let scale = self.with(py, |model| model.table().map(|table| table.time.clone()))?;
        Ok(scale.map_err(Failure::from)?)
    }

    /// A table for the model.
    pub(crate) fn read(&self, py: Python<'_>, (frame, name, read): Given<'_>) -> PyResult<(Table, Kinds)> {
        let (frame, options) = (frame.get(), read_options(&read)?);
        let table = self.with(py, |model| {
            let options = ReadOptions { expect: Some(model.expectation()?), ..options };
            Ok(Table::from_batches(&name, &frame.schema, frame.batches.clone(), &options)?)
        })?;
        let table = table.map_err(|failure: ReadFailure| PyErr::from(Failure::from(failure)))?;
        let kinds = frame.kinds(&table);
        Ok((table, kinds))
    }

    /// The series that the model is tested on: those of a table; or those that its fit has kept for testing.
    fn subject(&self, py: Python<'_>, given: Option<Given<'_>>) -> PyResult<Cow<'_, Subject>> {
        let table = match (given, &self.subject, &self.run) {
            (Some(given), _, _) => self.read(py, given)?.0,
            (None, Some(subject), _) => return Ok(Cow::Borrowed(subject)),
            (None, None, Some((config, _))) => {
                let table = py.detach(|| run::table(config))?;
                let subject = self.with(py, |model| run::subject(model, config, table))?;
                return Ok(Cow::Owned(subject.map_err(Failure::from)?));
            }
            (None, None, None) => return Err(run::without_data()),
        };
        let subject = self.with(py, |model| Subject::given(model, table))?;
        Ok(Cow::Owned(subject.map_err(Failure::from)?))
    }

    /// What is held out to test the model.
    fn hold_out(&self, name: Option<&str>, share: f64, block: usize) -> PyResult<HoldOut> {
        match name.unwrap_or(self.usual_hold_out()) {
            "random" => Ok(HoldOut::Random { share }),
            "tail" => Ok(HoldOut::Tail { share }),
            "blocks" => Ok(HoldOut::Blocks { share, length: block }),
            other => Err(wrong(format!(
                "hold_out=\"{other}\": what is held out is \"random\", \"blocks\" or \"tail\""
            ))),
        }
    }

    /// What is held out where nobody says.
    fn usual_hold_out(&self) -> &'static str {
        let ahead = self.run.as_ref().is_some_and(|(config, _)| config.fit.goal == Goal::Forecast);
        if ahead { "tail" } else { "blocks" }
    }
}

fn check_hold_out(share: f64, block: usize, draws: usize) -> PyResult<()> {
    if !(share > 0.0 && share < 1.0) {
        return Err(wrong(format!("share={share}: a share lies between 0 and 1")));
    }
    if draws == 0 || block == 0 {
        return Err(wrong("draws and block must be at least 1"));
    }
    Ok(())
}

/// Values that are held out, and how many after each other, if nobody says.
const SHARE: f64 = 0.2;
const BLOCK: usize = 6;

/// Why a table cannot be read for a model.
enum ReadFailure {
    Model(EstimatorError),
    Table(stroock::series::table::TableError),
}

impl From<EstimatorError> for ReadFailure {
    fn from(error: EstimatorError) -> Self {
        Self::Model(error)
    }
}

impl From<stroock::series::table::TableError> for ReadFailure {
    fn from(error: stroock::series::table::TableError) -> Self {
        Self::Table(error)
    }
}

impl From<ReadFailure> for Failure {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Model(error) => error.into(),
            ReadFailure::Table(error) => error.into(),
        }
    }
}

#[pymethods]
impl Model {
    /// Reads a model file, or the best model of a run folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py.detach(|| Fitted::load(&path)).map_err(Failure::from)?;
        let kinds = model.table().map(|table| Kinds::of_scale(&table.time)).map_err(Failure::from)?;
        let run = run::noted(&path)?;
        let training = run.as_ref().map(|(_, rows)| Training::of(rows, !model.is_finished()));
        Ok(Self { model: Mutex::new(model), subject: None, kinds, training, run })
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(self.with(py, |model| model.save(&path))?.map_err(Failure::from)?)
    }

    /// What may stand in the gaps of a table, or at given times.
    #[pyo3(signature = (given, at, quantiles, draws, samples, seed))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
    fn impute(
        &self,
        py: Python<'_>,
        given: Given<'_>,
        at: Option<Vec<String>>,
        quantiles: Vec<f64>,
        draws: usize,
        samples: usize,
        seed: u64,
    ) -> PyResult<Answer> {
        let scale = self.scale(py)?;
        let at = at.map(|at| at.iter().map(|text| time(&scale, "at", text)).collect::<PyResult<Vec<f64>>>());
        let at = at.transpose()?;
        let (table, kinds) = self.read(py, given)?;
        let options = options(quantiles, draws, samples, seed);
        let predictions = self.with(py, |model| model.impute(&table, at.as_deref(), &options))?;
        let predictions = predictions.map_err(Failure::from)?;
        let frame = kinds.frame(predictions.data_frame(), &predictions.names, &predictions.time)?;
        Ok((frame, predictions.warnings, predictions.notes))
    }

    /// The columns of a wide table with their gaps filled by predictive means, in the order of its rows; a long table as a
    /// wide one.
    #[pyo3(signature = (given, draws, seed))]
    #[allow(clippy::type_complexity, reason = "what Python takes apart")]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        given: Given<'py>,
        draws: usize,
        seed: u64,
    ) -> PyResult<(Option<Frame>, Vec<(String, Bound<'py, PyAny>)>, Vec<String>)> {
        let (frame, name, read) = given;
        let (frame, options_of_reading) = (frame.get(), read_options(&read)?);
        let options = options(Vec::new(), draws, 0, seed);
        let done = self.with(py, |model| -> Result<_, ReadFailure> {
            let read = ReadOptions { expect: Some(model.expectation()?), ..options_of_reading };
            let (table, mut cells) =
                Table::from_batches_with_cells(&name, &frame.schema, frame.batches.clone(), &read)?;
            let predictions = model.impute(&table, None, &options)?;
            let filled = match table.columns.form {
                Form::Long { .. } => model.filled(&table, &predictions)?,
                Form::Wide { .. } => {
                    predictions.fill(&mut cells);
                    cells.data_frame(true)
                }
            };
            Ok((table, predictions, filled))
        })?;
        let (table, predictions, filled) = done.map_err(Failure::from)?;
        if let Form::Long { .. } = table.columns.form {
            let kinds = frame.kinds(&table);
            let frame = kinds.frame(filled, &predictions.names, &predictions.time)?;
            return Ok((Some(frame), Vec::new(), predictions.warnings));
        }
        let mut columns = Vec::new();
        for (name, column) in filled.names.into_iter().zip(filled.columns) {
            if let (true, Column::Number(numbers)) = (predictions.variables.contains(&name), column) {
                columns.push((name, numbers.into_pyarray(py).into_any()));
            }
        }
        Ok((None, columns, predictions.warnings))
    }

    /// What may come after the last times of the series.
    #[pyo3(signature = (given, steps, length_of_time, until, every, quantiles, draws, samples, seed))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
    fn forecast(
        &self,
        py: Python<'_>,
        given: Given<'_>,
        steps: Option<usize>,
        length_of_time: Option<String>,
        until: Option<String>,
        every: Option<String>,
        quantiles: Vec<f64>,
        draws: usize,
        samples: usize,
        seed: u64,
    ) -> PyResult<Answer> {
        let scale = self.scale(py)?;
        let horizon = horizon(&scale, steps, length_of_time, until)?;
        let every = every.map(|text| length(&scale, "every", &text)).transpose()?;
        let (table, kinds) = self.read(py, given)?;
        let options = options(quantiles, draws, samples, seed);
        let predictions = self.with(py, |model| model.forecast(&table, horizon, every, &options))?;
        let predictions = predictions.map_err(Failure::from)?;
        let frame = kinds.frame(predictions.data_frame(), &predictions.names, &predictions.time)?;
        Ok((frame, predictions.warnings, predictions.notes))
    }

    /// Classes of series or of their times.
    fn classify(&self, py: Python<'_>, given: Given<'_>, draws: usize, seed: u64) -> PyResult<Answer> {
        let (table, kinds) = self.read(py, given)?;
        let options = PredictOptions { draws, seed, ..PredictOptions::default() };
        let classes = self.with(py, |model| model.classify(&table, &options))?.map_err(Failure::from)?;
        let frame = kinds.frame(classes.data_frame(), &classes.names, &classes.time)?;
        Ok((frame, classes.warnings, Vec::new()))
    }

    /// New series, or possible courses of given ones.
    #[pyo3(signature = (given, count, every, seed, prior))]
    fn sample(
        &self,
        py: Python<'_>,
        given: Option<Given<'_>>,
        count: usize,
        every: Option<String>,
        seed: u64,
        prior: bool,
    ) -> PyResult<Answer> {
        let scale = self.scale(py)?;
        let every = every.map(|text| length(&scale, "every", &text)).transpose()?;
        let source = if prior { SampleSource::Prior } else { SampleSource::Posterior };
        let (data_frame, kinds) = match given {
            None => {
                let drawn = self.with(py, |model| model.sample_from(source, count, every, seed))?;
                (drawn, self.kinds.clone())
            }
            Some(given) => {
                let (table, kinds) = self.read(py, given)?;
                (self.with(py, |model| model.sample_given(&table, count, every, seed))?, kinds)
            }
        };
        let columns = self.with(py, |model| model.table().map(|table| table.columns.clone()))?;
        let columns = columns.map_err(Failure::from)?;
        let time = match columns.time.as_slice() {
            [time] => time.clone(),
            _ => "time".into(),
        };
        let names = (columns.id.unwrap_or_else(|| "id".into()), time);
        let frame = kinds.frame(data_frame.map_err(Failure::from)?, &names, &scale)?;
        let without_sampler = self.with(py, |model| model.sampler.is_none())?;
        let warning = "the model does not hold what series that look like the training data are sampled from: they are \
                       sampled from the prior";
        let warnings = if without_sampler && !prior { vec![warning.to_owned()] } else { Vec::new() };
        Ok((frame, warnings, Vec::new()))
    }

    /// Scores on a table, or on what the fit has kept for testing: which series they are about, and the scores as JSON.
    #[pyo3(signature = (given, hold_out, share, block, origins, draws, seed, samples))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
    fn evaluate(
        &self,
        py: Python<'_>,
        given: Option<Given<'_>>,
        hold_out: Option<&str>,
        share: f64,
        block: usize,
        origins: usize,
        draws: usize,
        seed: u64,
        samples: Option<&str>,
    ) -> PyResult<(String, String)> {
        check_hold_out(share, block, draws)?;
        let hold_out = self.hold_out(hold_out, share, block)?;
        let source = match samples {
            None => None,
            Some("posterior") => Some(SampleSource::Posterior),
            Some("prior") => Some(SampleSource::Prior),
            Some(other) => {
                return Err(wrong(format!(
                    "samples=\"{other}\": they are of the \"posterior\" or the \"prior\""
                )));
            }
        };
        let options = EvaluateOptions { hold_out, draws, seed, origins };
        let subject = self.subject(py, given)?;
        let evaluation = self.with(py, |model| -> Result<_, EstimatorError> {
            let mut evaluation = subject.evaluate(model, &options)?;
            if let Some(source) = source {
                evaluation.samples = Some(subject.samples(model, source, seed)?);
            }
            Ok((subject.part.in_words(), evaluation))
        })?;
        let (words, evaluation) = evaluation.map_err(Failure::from)?;
        let json = serde_json::to_string(&evaluation).map_err(|error| wrong(error.to_string()))?;
        Ok((words.to_owned(), json))
    }

    /// What scores on a part of a table are made of, as JSON; [`evaluation`](Self::evaluation) puts the parts together.
    #[pyo3(signature = (given, hold_out, share, block, draws, seed))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
    fn evaluate_part(
        &self,
        py: Python<'_>,
        given: Given<'_>,
        hold_out: &str,
        share: f64,
        block: usize,
        draws: usize,
        seed: u64,
    ) -> PyResult<String> {
        check_hold_out(share, block, draws)?;
        let hold_out = self.hold_out(Some(hold_out), share, block)?;
        let options = EvaluateOptions { hold_out, draws, seed, origins: 1 };
        let (table, _) = self.read(py, given)?;
        let sums = self.with(py, |model| {
            let prepared = model.prepare(&table)?;
            model.evaluation_sums(&prepared, None, &options)
        })?;
        serde_json::to_string(&sums.map_err(Failure::from)?).map_err(|error| wrong(error.to_string()))
    }

    /// The scores that follow from all parts of a table, as [`evaluate`](Self::evaluate) has them.
    fn evaluation(&self, py: Python<'_>, parts: Vec<String>) -> PyResult<(String, String)> {
        let mut whole: Option<EvaluationSums> = None;
        for part in &parts {
            let part: EvaluationSums =
                serde_json::from_str(part).map_err(|error| wrong(error.to_string()))?;
            match &mut whole {
                Some(whole) => whole.merge(&part).map_err(|error| wrong(error.to_string()))?,
                None => whole = Some(part),
            }
        }
        let whole = whole.ok_or_else(|| wrong("the table has no rows"))?;
        let evaluation = self.with(py, |model| model.evaluation(&whole))?.map_err(Failure::from)?;
        let json = serde_json::to_string(&evaluation).map_err(|error| wrong(error.to_string()))?;
        Ok((Part::Given.in_words().to_owned(), json))
    }

    /// A page about the model and its scores, and about its fit where that is known: HTML that needs nothing else.
    #[pyo3(signature = (given, hold_out, series))]
    fn report(
        &self,
        py: Python<'_>,
        given: Option<Given<'_>>,
        hold_out: Option<&str>,
        series: usize,
    ) -> PyResult<String> {
        let usual = EvaluateOptions::default();
        let options = EvaluateOptions { hold_out: self.hold_out(hold_out, SHARE, BLOCK)?, ..usual };
        let subject = self.subject(py, given)?;
        let report = self.with(py, |model| -> Result<_, ModelReportError> {
            let evaluation = subject.evaluate(model, &options)?;
            let (config, rows) = match &self.run {
                Some((config, rows)) => (Some(config), rows.as_slice()),
                None => (None, &[][..]),
            };
            ModelReport { model, config, rows, subject: &subject, evaluation: &evaluation, series }.report()
        })?;
        let of_report = |error: &dyn std::error::Error| ModelError::new_err(error.to_string());
        report.map_err(|error| of_report(&error))?.html().map_err(|error| of_report(&error))
    }

    /// What the model is about, as JSON.
    fn facts(&self, py: Python<'_>) -> PyResult<String> {
        let facts = self.with(py, |model| {
            let about = &model.description.data;
            let time = model.table().map(|table| table.time.in_words()).unwrap_or_default();
            let window = model
                .table()
                .ok()
                .and_then(|table| table.sampling.window.map(|window| table.time.write_length(window)));
            let names = |is_static: bool| -> Vec<&str> {
                let of_kind = about.variables.iter().filter(|variable| variable.is_static == is_static);
                of_kind.map(|variable| variable.name.as_str()).collect()
            };
            let columns = model.table().ok().map(|table| &table.columns);
            serde_json::json!({
                "id": columns.and_then(|columns| columns.id.clone()),
                "time_columns": columns.map(|columns| columns.time.clone()),
                // The columns of variables and values of a long table.
                "long": columns.and_then(|columns| match &columns.form {
                    Form::Long { variable, value } => Some([variable, value]),
                    Form::Wide { .. } => None,
                }),
                "is_dated": model.table().is_ok_and(|table| matches!(table.time, TimeScale::Date { .. })),
                "is_per_time": columns.and_then(|columns| columns.label.as_ref()).map(|label| label.per_time),
                "forecasts": about.forecast.is_some(),
                "hold_out": self.usual_hold_out(),
                "not_read": columns.map(|columns| columns.ignored.clone()),
                "model": model.description.model.kind(),
                "variables": names(false),
                "statics": names(true),
                "classes": about.classes,
                "time": time,
                "window": window,
                "is_finished": model.is_finished(),
                "epochs": self.training.map(|training| training.epochs),
                "best_epoch": self.training.and_then(|training| training.best).map(|best| best.0),
                "best_loss": self.training.and_then(|training| training.best).map(|best| best.1),
                "is_stopped": self.training.is_some_and(|training| training.is_stopped),
            })
        })?;
        Ok(facts.to_string())
    }

    /// The settings of the fit in TOML; empty where they are not known.
    #[getter]
    fn config(&self) -> PyResult<String> {
        match &self.run {
            Some((config, _)) => to_toml(config).map_err(|error| wrong(error.to_string())),
            None => Ok(String::new()),
        }
    }
}
