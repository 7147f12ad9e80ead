//! `stroock fit`: from a table to a model, an evaluation and a report.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stroock::estimator::{EvaluateOptions, Evaluation, FitConfig, Goal};
use stroock::run::{Progress, RunFolder, RunPaths, StopFlag, parse, to_toml};
use stroock::score::HoldOut;
use stroock::series::table::{Align, ReadOptions, Sampling, Table};
use stroock::training::Outcome;

use crate::arguments::{FitArguments, GoalName};
use crate::evaluate::{self, Subject};
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::predict::length;
use crate::record::Record;
use crate::{report, tables};

/// What a run of `fit` depends on, as it stands in `config.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    pub data: DataConfig,
    pub fit: FitConfig,
}

/// Which tables were read, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    pub files: Vec<PathBuf>,
    /// Series and values that were found, to notice when the files have changed.
    pub series: usize,
    pub values: u64,
    pub read: ReadOptions,
}

#[derive(Serialize)]
struct Results<'a> {
    run: String,
    model: String,
    epochs: u64,
    best_epoch: Option<u64>,
    evaluation: &'a Evaluation,
    report: String,
}

impl RunConfig {
    /// The configuration of a run folder.
    pub fn of(run: &Path) -> Result<Self, Failure> {
        if !run.is_dir() {
            let run = run.display();
            return Err(Failure::from(format!(
                "`{run}` is no folder of a run; name the data to use the model file on"
            )));
        }
        // Without taking hold of the folder: looking at a run does not disturb it.
        let path = RunPaths::new(run).config();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::from(format!("cannot read `{}`: {error}", path.display())))?;
        Ok(parse(&path, &text)?)
    }

    /// Refuses tables that are not those that the model was fitted to.
    pub fn check_series(&self, table: &Table) -> Result<(), Failure> {
        let (series, values) = (table.data.series().len(), table.account.values);
        if (series, values) == (self.data.series, self.data.values) {
            return Ok(());
        }
        Err(Failure::from(format!(
            "the data have changed since the fit: {series} series with {values} values, {} with {} then; name the \
             data to test on",
            self.data.series, self.data.values
        )))
    }
}

pub fn run(arguments: &FitArguments) -> Result<(), Failure> {
    let (folder, config, table) = if arguments.resume { resume(arguments)? } else { begin(arguments)? };
    let stop = StopFlag::on_signals()?;
    let fitted = config.fit.fit(&table, &folder, &stop, Progress::on_stderr)?;
    if fitted.outcome == Outcome::Stopped {
        let out = arguments.out.display();
        eprintln!("stopped after epoch {}; go on with: stroock fit --out {out} --resume", fitted.epochs);
        return Ok(());
    }
    let model = fitted.model;
    let subject = Subject::of_split(fitted.split, fitted.prepared);
    let options = default_options(config.fit.goal);
    let evaluation = model.evaluate(&subject.prepared, subject.numbers.as_deref(), &options)?;
    Record::new(&config, &subject, &evaluation, folder.paths())?
        .write(&folder.paths().folder().join("evaluation.json"))?;
    let page = folder.paths().report();
    report::write(&model, &config, folder.paths(), &subject, &evaluation, report::SERIES, &page)?;
    if arguments.json {
        return print_json(&Results {
            run: arguments.out.display().to_string(),
            model: folder.paths().model().display().to_string(),
            epochs: fitted.epochs,
            best_epoch: fitted.best.map(|(epoch, _)| epoch),
            evaluation: &evaluation,
            report: page.display().to_string(),
        });
    }
    print(&format!("{} epochs. On series that were kept for testing:", fitted.epochs))?;
    print(&evaluate::text(&evaluation))?;
    print(&format!("The model: {}", folder.paths().model().display()))?;
    print(&format!("The report: {}", page.display()))
}

/// What is held out to test a model of this goal.
pub fn default_options(goal: Goal) -> EvaluateOptions {
    match goal {
        Goal::Impute | Goal::Classify => EvaluateOptions::default(),
        Goal::Forecast => {
            EvaluateOptions { hold_out: HoldOut::Tail { share: 0.25 }, ..EvaluateOptions::default() }
        }
    }
}

/// A new folder with settings from the data and the arguments.
fn begin(arguments: &FitArguments) -> Result<(RunFolder, RunConfig, Table), Failure> {
    if arguments.task == GoalName::Classify && arguments.target.is_none() {
        return Err(Failure::from("--task classify needs the column of classes: --target COLUMN"));
    }
    let read = ReadOptions { label: arguments.target.clone(), ..arguments.table.options() };
    let table = tables::read(&arguments.data, &read)?;
    let sampling = sampling(arguments, &table)?;
    let table = table.sampled(sampling);
    let mut fit = FitConfig::suggest(&table, sampling, arguments.task.into())?;
    fit.training.seed = arguments.seed;
    if let Some(epochs) = arguments.epochs {
        fit = fit.with_epochs(epochs);
    }
    let data = DataConfig {
        files: arguments.data.clone(),
        series: table.data.series().len(),
        values: table.account.values,
        read,
    };
    let config = RunConfig { data, fit: arguments.settings.over(&fit)? };
    let folder = RunFolder::create(&arguments.out)?;
    folder.write_config(&to_toml(&config)?)?;
    Ok((folder, config, table))
}

/// Windows as the arguments say, or as suits the data.
fn sampling(arguments: &FitArguments, table: &Table) -> Result<Sampling, Failure> {
    let suggestion = Sampling::suggest(table);
    match arguments.window.as_deref() {
        None => {
            suggestion.reasons.iter().for_each(|reason| eprintln!("{reason}"));
            Ok(suggestion.sampling)
        }
        Some("none") => Ok(Sampling { window: None, align: suggestion.sampling.align }),
        Some(text) => {
            let window = length(&table.time, "--window", text)?;
            Ok(Sampling { window: Some(window), align: Align::Start })
        }
    }
}

/// A folder that is there, with its own settings.
fn resume(arguments: &FitArguments) -> Result<(RunFolder, RunConfig, Table), Failure> {
    let folder = RunFolder::open(&arguments.out)?;
    let mut config: RunConfig = parse(&folder.paths().config(), &folder.read_config()?)?;
    config.fit = arguments.settings.over(&config.fit)?;
    if let Some(epochs) = arguments.epochs {
        // The schedule stays: beyond the epochs that were planned the rate is the lowest one.
        config.fit.training.epochs = epochs;
    }
    let table = tables::read(&config.data.files, &config.data.read)?.sampled(config.fit.sampling);
    config.check_series(&table)?;
    folder.write_config(&to_toml(&config)?)?;
    Ok((folder, config, table))
}
