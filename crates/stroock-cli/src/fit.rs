//! `stroock fit`: from a table to a model, an evaluation and a report.

use std::path::Path;

use serde::Serialize;
use stroock::estimator::{
    DataConfig, EstimatorError, EvaluateOptions, Evaluation, FitConfig, FitPlan, Fitted, Goal, RunConfig,
    Subject,
};
use stroock::run::{RunFolder, RunPaths, StopFlag, parse, to_toml};
use stroock::score::HoldOut;
use stroock::series::SeriesSource;
use stroock::series::table::{Align, AnyTable, ReadOptions, Room, Sampling, Table};
use stroock::training::Outcome;

use crate::arguments::{FitArguments, GoalName, Layer};
use crate::busy::busy;
use crate::evaluate;
use crate::failure::{Failure, Interrupted};
use crate::output::{print, print_json, say};
use crate::predict::length;
use crate::processes::Processes;
use crate::record::{Coverage, Record, command_line};
use crate::{report, tables};

#[derive(Serialize)]
struct Results<'a> {
    run: String,
    model: String,
    epochs: u64,
    best_epoch: Option<u64>,
    /// Nothing where no series has two values.
    evaluation: Option<&'a Evaluation>,
    report: Option<String>,
}

/// The configuration of a run folder.
pub fn config_of(run: &Path) -> Result<RunConfig, Failure> {
    if !run.is_dir() {
        let run = run.display();
        return Err(Failure::from(format!(
            "`{run}` is not the folder of a run; to use a model file, name the data"
        )));
    }
    // Without taking hold of the folder: looking at a run does not disturb it.
    let path = RunPaths::new(run).config();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::from(format!("cannot read `{}`: {error}", path.display())))?;
    Ok(parse(&path, &text)?)
}

/// The tables that a model was fitted to, cut as the model needs them; `how` says what to do where they have changed.
pub fn tables_of(config: &RunConfig, room: &Room, how: &str) -> Result<AnyTable, Failure> {
    let RunConfig { data, fit, .. } = config;
    if data.files.is_empty() {
        return Err(Failure::from("the run does not say which files its data came from; name the data"));
    }
    let table = tables::read(&data.files, &data.read, room)?.sampled(fit.sampling)?;
    let change = match &table {
        AnyTable::Memory(table) => data.change(table)?,
        AnyTable::Stored(table) => busy("checking", || data.change(table))?,
    };
    match change {
        None => Ok(table),
        Some(change) => Err(Failure::from(format!("the data have changed since the fit: {change}; {how}"))),
    }
}

pub fn run(arguments: &FitArguments, processes: &Processes) -> Result<(), Failure> {
    let Opened { folder, config, table, plan } = open(arguments, processes)?;
    let stop = StopFlag::on_signals()?;
    let (world, progress) = (processes.world(), processes.progress());
    let stopped = |outcome, epochs| match outcome {
        Outcome::Stopped => {
            let how = format!("go on with: stroock fit --out {} --resume", arguments.out.display());
            Err(Failure::from(Interrupted::after_epoch(epochs, how)))
        }
        _ => Ok(()),
    };
    let fitted = match table {
        AnyTable::Memory(table) => match plan.fit_over(world, &table, folder.as_ref(), &stop, progress)? {
            Some(Fitted { model, outcome, epochs, best, split, prepared }) => {
                stopped(outcome, epochs)?;
                let subject = Subject::of_split(split, prepared, table);
                let coverage = Coverage::of(&subject.prepared.data, subject.table.account.files)?;
                Some((model, epochs, best, subject, coverage))
            }
            None => None,
        },
        AnyTable::Stored(table) => {
            match plan.fit_stored_over(world, &table, folder.as_ref(), &stop, progress)? {
                Some(Fitted { model, outcome, epochs, best, split, .. }) => {
                    stopped(outcome, epochs)?;
                    let subject = Subject::of_stored(&model, split, &table)?;
                    evaluate::say_of_some(&subject, table.data.len());
                    let coverage = Coverage::of(&table.data, table.account.files)?;
                    Some((model, epochs, best, subject, coverage))
                }
                None => None,
            }
        }
    };
    // The other processes have helped with the training, and are done.
    let (Some(folder), Some((model, epochs, best, subject, coverage))) = (folder, fitted) else {
        return Ok(());
    };
    let options = EvaluateOptions::of(config.fit.goal);
    let path = folder.paths().model().display().to_string();
    let results = |evaluation, report| Results {
        run: arguments.out.display().to_string(),
        model: path.clone(),
        epochs,
        best_epoch: best.map(|(epoch, _)| epoch),
        evaluation,
        report,
    };
    let evaluation = match evaluate::evaluate(&model, &subject, &options) {
        Err(failure) if matches!(failure.error(), Some(EstimatorError::NothingToHoldOut)) => {
            if arguments.json {
                return print_json(&results(None, None));
            }
            print(&format!("{epochs} epochs. There are no scores and no report: {failure}."))?;
            return print(&format!("The model: {path}"));
        }
        evaluation => evaluation?,
    };
    Record::new(&config, coverage, &evaluation, folder.paths())?
        .write(&folder.paths().folder().join("evaluation.json"))?;
    if stop.is_requested() {
        return stopped(Outcome::Stopped, epochs);
    }
    let page = folder.paths().report();
    busy("writing the report", || {
        report::write(&model, &config, folder.paths(), &subject, &evaluation, report::SERIES, &page)
    })?;
    if arguments.json {
        return print_json(&results(Some(&evaluation), Some(page.display().to_string())));
    }
    let tested = match options.hold_out {
        HoldOut::Tail { .. } => {
            format!(
                "On the last part of {}, with methods chosen on what came before",
                subject.part.in_words()
            )
        }
        _ => format!("On {}", subject.part.in_words()),
    };
    print(&format!("{epochs} epochs. {tested}:"))?;
    print(&evaluate::text(&evaluation))?;
    let forecaster = model.description.data.forecast.as_ref();
    if let Some(forecaster) = forecaster.filter(|_| config.fit.goal == Goal::Forecast) {
        let steps = forecaster.variables.iter().flatten().filter_map(|found| found.choice.rungs.last());
        let longest = steps.map(|rung| rung.horizon).fold(1.0, f64::max);
        model.forecast_sentences(forecaster, longest).iter().try_for_each(|note| print(note))?;
    }
    print(&format!("The model: {path}"))?;
    print(&format!("The report: {}", page.display()))
}

/// What training begins with: settings, data and a plan in all processes, and a folder in the first one.
struct Opened {
    folder: Option<RunFolder>,
    config: RunConfig,
    table: AnyTable,
    plan: FitPlan,
}

fn open(arguments: &FitArguments, processes: &Processes) -> Result<Opened, Failure> {
    let world = processes.world();
    let opened = match (processes.is_first(), arguments.resume) {
        (true, true) => resume(arguments).map(Some),
        (true, false) => begin(arguments, processes).map(Some),
        (false, _) => Ok(None),
    };
    let opened = world.agree(opened)?;
    let config = processes.config_of_first(opened.as_ref().map(|opened| opened.config.clone()))?;
    let opened = match opened {
        Some(opened) => Ok(opened),
        None => {
            let how = "all processes of a run need the same files";
            tables_of(&config, &arguments.table.room(Some(&arguments.out)), how).and_then(|table| {
                let plan = plan_of(&config.fit, &table)?;
                Ok(Opened { folder: None, config, table, plan })
            })
        }
    };
    world.agree(opened)
}

/// What needs a look at all of the data before training.
fn plan_of(fit: &FitConfig, table: &AnyTable) -> Result<FitPlan, Failure> {
    match table {
        AnyTable::Memory(table) => Ok(fit.plan(table)?),
        AnyTable::Stored(table) => Ok(busy("checking", || fit.plan(table))?),
    }
}

/// A new folder with settings from the data and the arguments.
fn begin(arguments: &FitArguments, processes: &Processes) -> Result<Opened, Failure> {
    if arguments.task == GoalName::Classify && arguments.target.is_none() {
        return Err(Failure::from("--task classify needs the column of classes: --target COLUMN"));
    }
    let read = ReadOptions { label: arguments.target.clone(), ..arguments.table.options() };
    let table = tables::read(&arguments.data, &read, &arguments.table.room(Some(&arguments.out)))?;
    let sampling = sampling(arguments, &table)?;
    let table = table.sampled(sampling)?;
    let (data, mut fit) = match &table {
        AnyTable::Memory(table) => settings_for(arguments, table, sampling, read)?,
        AnyTable::Stored(table) => {
            busy("looking at the data", || settings_for(arguments, table, sampling, read))?
        }
    };
    processes.open_chunks(&mut fit.training);
    let mut config = RunConfig { command: command_line(), data, fit };
    config.fit.known.clone_from(&arguments.known);
    let settings = &arguments.settings;
    config.fit = settings.over_run(&config, Layer::File)?;
    if let Some(seed) = arguments.seed {
        config.fit.training.seed = seed;
    }
    if let Some(epochs) = arguments.epochs {
        config.fit = config.fit.with_epochs(epochs);
    }
    config.fit = settings.over_run(&config, Layer::Single)?;
    processes.settle_chunks(&mut config.fit.training);
    check_epochs(&config)?;
    // What cannot be learned from leaves no folder behind.
    let plan = plan_of(&config.fit, &table)?;
    let folder = RunFolder::create(&arguments.out)?;
    folder.write_config(&to_toml(&config)?)?;
    Ok(Opened { folder: Some(folder), config, table, plan })
}

/// What is noted about a table, and settings that suit it.
fn settings_for<D: SeriesSource<f64>>(
    arguments: &FitArguments,
    table: &Table<D>,
    sampling: Sampling,
    read: ReadOptions,
) -> Result<(DataConfig, FitConfig), Failure> {
    let goal = arguments.task.into();
    let mut fit = match arguments.model {
        None => FitConfig::suggest(table, sampling, goal)?,
        Some(kind) => FitConfig::suggest_with(kind, table, sampling, goal)?,
    };
    fit.logarithms.clone_from(&arguments.log);
    Ok((DataConfig::of(table, arguments.data.clone(), read)?, fit))
}

fn check_epochs(config: &RunConfig) -> Result<(), Failure> {
    match config.fit.training.epochs {
        0 => Err(Failure::from(
            "`training.epochs` is 0: a model that is not trained knows nothing; choose at least 1",
        )),
        _ => Ok(()),
    }
}

/// Windows as the arguments say, or as suits the data.
fn sampling(arguments: &FitArguments, table: &AnyTable) -> Result<Sampling, Failure> {
    let suggestion = FitConfig::sampling_of(table, arguments.task.into())?;
    match arguments.window.as_deref() {
        None => {
            suggestion.reasons.iter().for_each(|reason| say(reason));
            Ok(suggestion.sampling)
        }
        Some("none") => Ok(Sampling { window: None, align: suggestion.sampling.align }),
        Some(text) => {
            let window = length(table.time(), "--window", text)?;
            Ok(Sampling { window: Some(window), align: Align::Start })
        }
    }
}

/// A folder that is there, with its own settings.
fn resume(arguments: &FitArguments) -> Result<Opened, Failure> {
    let folder = RunFolder::open(&arguments.out)?;
    let stored: RunConfig = parse(&folder.paths().config(), &folder.read_config()?)?;
    let mut config = stored.clone();
    config.fit = arguments.settings.over_run(&config, Layer::File)?;
    config.fit = arguments.settings.over_run(&config, Layer::Single)?;
    if let Some(epochs) = arguments.epochs {
        // The schedule stays: beyond the epochs that were planned the rate is the lowest one.
        config.fit.training.epochs = epochs;
    }
    check_epochs(&config)?;
    if config != stored {
        config.command = format!("{} && {}", stored.command, command_line());
    }
    let room = arguments.table.room(Some(&arguments.out));
    let table = tables_of(&config, &room, "put them back, or fit a new model in another folder")?;
    let plan = plan_of(&config.fit, &table)?;
    folder.write_config(&to_toml(&config)?)?;
    Ok(Opened { folder: Some(folder), config, table, plan })
}
