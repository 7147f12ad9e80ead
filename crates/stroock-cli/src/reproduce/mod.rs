//! `stroock reproduce`: train and test an experiment of the paper.

mod all;
mod figures;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stroock::model::ModelSettings;
use stroock::run::{RunError, RunFolder, StopFlag, resolve_over, write_atomic};
use stroock_experiments::data::Cache;
use stroock_experiments::protocol::{Experiment, Options};
use stroock_experiments::reproduce::{
    PreparedData, Preset, RunConfig, RunResult, RunStatus, published::counterpart, reproduce, table,
};
use stroock_experiments::rival::Rival;

use crate::arguments::{PresetName, ReproduceArguments, Seeds, Which};
use crate::data::folder as data_folder;
use crate::failure::{Failure, Interrupted};
use crate::output::{print, print_json, say};
use crate::processes::Processes;
use crate::rivals::no_model;

const RESULTS: &str = "RESULTS.md";
/// What a launcher of MPI sets.
const CHUNKS: &str = "protocol.training.chunks";
/// How a stopped run goes on.
const GOES_ON: &str = "the same command with --resume goes on";

pub fn run(arguments: &ReproduceArguments, processes: &Processes) -> Result<(), Failure> {
    if processes.world().size() > 1 && !matches!(arguments.experiment, Some(Which::One(_))) {
        return Err(
            "only single experiments run in several processes: start this without the launcher of MPI".into(),
        );
    }
    if let Some(runs) = &arguments.table {
        return write_table(runs);
    }
    let experiment = match arguments.experiment {
        Some(Which::All) => return all::run(arguments),
        Some(Which::One(_)) if arguments.plan.is_some() => {
            return Err("a plan has its own experiments: write `stroock reproduce all --plan FILE`".into());
        }
        Some(Which::One(experiment)) => experiment,
        None => return Ok(()),
    };
    let options = Options { observed: arguments.observed, ..arguments.minutes.options() };
    let (preset, presets) = (Preset::from(arguments.preset), Preset::of(experiment));
    if !presets.contains(&preset) {
        let there: Vec<&str> = presets.iter().map(|preset| preset.name()).collect();
        let (name, wanted) = (experiment.name(), preset.name());
        return Err(format!("{name} has no preset `{wanted}`, but {}", there.join(", ")).into());
    }
    let mut config = match arguments.model {
        None => RunConfig::new(experiment, preset, options),
        Some(rival) => RunConfig::of_rival(rival, experiment, preset, options)
            .ok_or_else(|| no_preset(rival, experiment, preset))?,
    };
    config.limit = arguments.limit;
    processes.open_chunks(&mut config.protocol.training);
    if let Some(epochs) = arguments.epochs {
        config.protocol.training.run_for(epochs);
    }
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("runs").join(config.folder_name()));
    let stop = StopFlag::on_signals()?;
    match arguments.seeds {
        None => one(config, arguments.seed.unwrap_or(1), &out, arguments, processes, &stop),
        Some(Seeds(first, last)) => (first..=last).try_for_each(|seed| {
            let out = out.join(format!("seed-{seed}"));
            // Where the first process stops or fails after the training, the others must not begin with the next run.
            processes.world().agree(one(config.clone(), seed, &out, arguments, processes, &stop))
        }),
    }
}

/// What a model has presets for, where it has none for an experiment or its preset.
fn no_preset(rival: Rival, experiment: Experiment, preset: Preset) -> Failure {
    if !Rival::of(experiment).any(|other| other == rival) {
        return no_model(rival, experiment);
    }
    let presets: Vec<&str> = Preset::of_rivals().iter().map(|preset| preset.name()).collect();
    let (model, wanted, presets) = (rival.name(), preset.name(), presets.join(", "));
    format!("the model `{model}` has its own settings: it has no preset `{wanted}`, but {presets}").into()
}

/// One run, in a folder of its own.
fn one(
    mut config: RunConfig,
    seed: u64,
    out: &Path,
    arguments: &ReproduceArguments,
    processes: &Processes,
    stop: &StopFlag,
) -> Result<(), Failure> {
    config.protocol.training.seed = seed;
    let mut config = arguments.settings.over(&config)?;
    processes.settle_chunks(&mut config.protocol.training);
    let world = processes.world();
    let opened = processes.is_first().then(|| open(config, out, arguments)).transpose();
    let opened = world.agree(opened)?;
    let (folder, config) = opened.unzip();
    let config = processes.config_of_first(config)?;
    // The first process may have to read the raw data, and fills the cache.
    let load = || -> Result<PreparedData, Failure> {
        Ok(PreparedData::load(&config, &data_folder(arguments.data_dir.as_deref())?, &Cache::find())?)
    };
    let prepared = world.first_before_others(load)?;
    let command = command(arguments, seed, config.protocol.training.chunks);
    let done = reproduce(world, &config, &prepared, folder.as_ref(), command, stop, processes.progress())?;
    // The other processes have helped with training and testing, and are done.
    let (Some(folder), Some(done)) = (folder, done) else { return Ok(()) };
    if done.result.status == RunStatus::Stopped {
        return Err(Interrupted::after_epoch(done.result.epochs, GOES_ON).into());
    }
    figures::draw(&done, &prepared, folder.paths().folder())?;
    show(&done.result, out, arguments.json)
}

/// Prints a result.
fn show(result: &RunResult, out: &Path, json: bool) -> Result<(), Failure> {
    if json { print_json(result) } else { print(&summary(result, out)) }
}

/// A new folder, or one that is there with its own settings: only the number of epochs can be another one.
fn open(
    config: RunConfig,
    out: &Path,
    arguments: &ReproduceArguments,
) -> Result<(RunFolder, RunConfig), Failure> {
    if !arguments.resume {
        // Settings that cannot be are found before there is a folder.
        config.protocol.model.check()?;
        return Ok((RunFolder::create(out)?, config));
    }
    let folder = match RunFolder::open(out) {
        Ok(folder) => folder,
        // With several seeds, the run was stopped before this one.
        Err(RunError::NoRun { .. }) => return Ok((RunFolder::create(out)?, config)),
        Err(error) => return Err(error.into()),
    };
    let (path, text) = (folder.paths().config(), folder.read_config()?);
    let stored: RunConfig = resolve_over(&config, Some((&path, &text)), &[])?;
    let mut wanted = config;
    if arguments.epochs.is_none() {
        wanted.protocol.training.epochs = stored.protocol.training.epochs;
    }
    // Another number of processes must not change the numbers.
    wanted.protocol.training.chunks = stored.protocol.training.chunks;
    wanted.protocol.training.keep_schedule_of(&stored.protocol.training);
    let mut as_wanted = stored;
    as_wanted.protocol.training.epochs = wanted.protocol.training.epochs;
    if as_wanted != wanted {
        return Err(format!(
            "the run in `{}` was started with other settings than this command has (see its config.toml): \
             resume it with the command that started it, or choose another folder",
            out.display()
        )
        .into());
    }
    Ok((folder, wanted))
}

/// The command that gives the same result, in one process.
fn command(arguments: &ReproduceArguments, seed: u64, chunks: usize) -> String {
    let mut words = vec!["stroock reproduce".to_owned()];
    if let Some(Which::One(experiment)) = arguments.experiment {
        words.push(experiment.name().to_owned());
    }
    if arguments.preset != PresetName::Clean {
        words.push(format!("--preset {}", Preset::from(arguments.preset).name()));
    }
    words.extend(arguments.model.map(|rival| format!("--model {}", rival.name())));
    if arguments.experiment == Some(Which::One(Experiment::Physionet)) {
        let minutes = arguments.minutes.options().resolution.minutes();
        words.push(format!("--observed {} --minutes {minutes}", arguments.observed));
    }
    words.extend(arguments.epochs.map(|epochs| format!("--epochs {epochs}")));
    words.push(format!("--seed {seed}"));
    if arguments.limit > 0 {
        words.push(format!("--limit {}", arguments.limit));
    }
    words.extend(arguments.settings.config.iter().map(|path| format!("--config {}", path.display())));
    words.extend(arguments.settings.set.iter().map(|(key, value)| format!("--set {key}={value}")));
    if chunks > 1 && !arguments.settings.set.iter().any(|(key, _)| key == CHUNKS) {
        words.push(format!("--set {CHUNKS}={chunks}"));
    }
    words.join(" ")
}

fn summary(result: &RunResult, out: &Path) -> String {
    let metric = result.config.protocol.metric;
    let system = result.config.system();
    let mut lines = vec![format!(
        "{}{}, preset {}, {} epochs, seed {}: test {} {:.6} over {} entries (model of epoch {}: {})",
        result.config.name(),
        system.map(|system| format!(", {system}")).unwrap_or_default(),
        result.config.preset.name(),
        result.epochs,
        result.config.protocol.training.seed,
        metric.name(),
        result.test.value,
        result.test.entries,
        result.tested_epoch,
        result.selection,
    )];
    if let Some((draws, evaluation)) = result.test_with_draws {
        lines.push(format!("  mean of {draws} draws: {:.6}", evaluation.value));
    }
    if let Some(same) = counterpart(&result.config) {
        lines.push(format!("  published, after all epochs: {}", same.mean));
    }
    lines.push(format!("  data: {}", result.coverage));
    lines.push(format!("  training took {:.1} min; the run is in {}", result.seconds / 60.0, out.display()));
    lines.join("\n")
}

fn write_table(runs: &Path) -> Result<(), Failure> {
    let path = PathBuf::from(RESULTS);
    match fs::read(&path) {
        Ok(there) if there.starts_with(table::BEGINNING.as_bytes()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ => {
            let what = "is here already and is not a table of runs: move it away first";
            return Err(format!("`{RESULTS}` {what}").into());
        }
    }
    let results = table::collect(runs)?;
    if results.is_empty() {
        return Err(format!("no runs with results below `{}`", runs.display()).into());
    }
    write_atomic(&path, table::markdown(&results).as_bytes())?;
    say(&format!("{} runs -> {}", results.len(), path.display()));
    Ok(())
}
