//! `stroock reproduce all`: every run of a plan, each in its folder and as a process of its own.
//!
//! Processes keep runs apart: each has the threads that the plan gives it, and one that fails takes no other with it.
//! Whatever ends them, a run goes on from its last epoch when the same command is given with `--resume`.

mod child;
mod time_left;

use std::collections::VecDeque;
use std::fs;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use stroock::run::{RunError, RunFolder, StopFlag, parse, to_toml, write_atomic};
use stroock_experiments::reproduce::{Plan, PlannedRun, RunResult, RunStatus, table};

use crate::arguments::{PresetName, ReproduceArguments};
use crate::failure::{Failure, Interrupted};
use crate::output::{print, say};

use super::show;
use child::Child;
use time_left::TimeLeft;

/// How often processes are looked at, and how often a log gets a line.
const LOOK: Duration = Duration::from_millis(200);
const LINE: Duration = Duration::from_secs(60);

/// Does all runs of a plan that are not finished, and writes their table.
pub fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    refuse_what_a_plan_says(arguments)?;
    let plan = read(arguments.plan.as_deref())?;
    let runs = plan.runs()?;
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("runs").join("all"));
    let stop = StopFlag::on_signals()?;
    let folder = open(&out, arguments.resume)?;
    folder.write_config(&to_toml(&plan)?)?;

    let (finished, open): (Vec<&PlannedRun>, Vec<&PlannedRun>) =
        runs.iter().partition(|run| is_finished(run, &out));
    say(&format!(
        "{} runs, {} of them finished already; they are in {}",
        runs.len(),
        finished.len(),
        out.display()
    ));
    let all = All {
        out: &out,
        arguments,
        threads: threads(&plan),
        finished: finished.len(),
        waiting: open.into(),
        running: Vec::new(),
        failed: Vec::new(),
        time_left: TimeLeft::new(plan.at_once),
    };
    let failed = all.run(plan.at_once.max(1), &stop)?;

    let results = table::collect(&out)?;
    if !results.is_empty() {
        let path = out.join(super::RESULTS);
        write_atomic(&path, table::markdown(&results).as_bytes())?;
        print(&format!("{} of {} runs are in {}", count_finished(&results), runs.len(), path.display()))?;
    }
    if stop.is_requested() {
        let done = format!("with {} of {} runs finished", count_finished(&results), runs.len());
        return Err(Interrupted { done, how: super::GOES_ON.to_owned() }.into());
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => {
            Err(format!("{} of {} runs failed: {}", failed.len(), runs.len(), failed.join("; ")).into())
        }
    }
}

/// What runs are is written in the plan, so that the plan is all that one must keep.
fn refuse_what_a_plan_says(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let ReproduceArguments { preset, model, epochs, seed, seeds, limit, settings, .. } = arguments;
    let given = [
        ("preset", *preset != PresetName::Clean),
        ("model", model.is_some()),
        ("epochs", epochs.is_some()),
        ("seed", seed.is_some()),
        ("seeds", seeds.is_some()),
        ("limit", *limit > 0),
        ("config", settings.config.is_some()),
        ("set", !settings.set.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => {
            Err(format!("`--{name}` is for one experiment: with `all`, write it into the plan").into())
        }
        None => Ok(()),
    }
}

fn read(path: Option<&Path>) -> Result<Plan, Failure> {
    let Some(path) = path else { return Ok(parse(Path::new("tables.toml"), Plan::TABLES)?) };
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read the plan `{}`: {error}", path.display()))?;
    Ok(parse(path, &text)?)
}

/// The folder of all runs. No other process can work on it meanwhile.
fn open(out: &Path, resume: bool) -> Result<RunFolder, Failure> {
    if resume {
        match RunFolder::open(out) {
            Err(RunError::NoRun { .. }) => {}
            folder => return Ok(folder?),
        }
    }
    Ok(RunFolder::create(out)?)
}

/// Threads of a run.
fn threads(plan: &Plan) -> usize {
    match plan.threads {
        0 => (rayon::current_num_threads() / plan.at_once.max(1)).max(1),
        threads => threads,
    }
}

/// Whether a run has done all its epochs. One with other settings has not: its process will say so.
fn is_finished(run: &PlannedRun, out: &Path) -> bool {
    let result = RunResult::read(&out.join(run.name()));
    matches!(result, Ok(Some(result)) if result.status == RunStatus::Finished && result.config == run.config)
}

fn count_finished(results: &[RunResult]) -> usize {
    results.iter().filter(|result| result.status == RunStatus::Finished).count()
}

/// Runs that wait, runs that go on, and what became of the others.
struct All<'a> {
    out: &'a Path,
    arguments: &'a ReproduceArguments,
    threads: usize,
    finished: usize,
    waiting: VecDeque<&'a PlannedRun>,
    running: Vec<Child<'a>>,
    failed: Vec<String>,
    time_left: TimeLeft,
}

impl All<'_> {
    /// Runs so many at once until none is left, or a stop is asked for. Gives what failed, in words.
    fn run(mut self, at_once: usize, stop: &StopFlag) -> Result<Vec<String>, Failure> {
        let line = line();
        let mut said = Instant::now();
        while !self.running.is_empty() || !self.waiting.is_empty() {
            if stop.is_requested() {
                line.finish_and_clear();
                let asked = Instant::now();
                self.running.drain(..).for_each(|child| child.end(asked));
                break;
            }
            while self.running.len() < at_once
                && let Some(run) = self.waiting.pop_front()
            {
                self.running.push(Child::start(run, self.out, self.threads, self.arguments)?);
            }
            std::thread::sleep(LOOK);
            line.suspend(|| self.look())?;
            line.set_message(self.words());
            if line.is_hidden() && said.elapsed() > LINE {
                say(&self.words());
                said = Instant::now();
            }
        }
        line.finish_and_clear();
        Ok(self.failed)
    }

    /// Takes out the runs that have ended.
    fn look(&mut self) -> Result<(), Failure> {
        let mut running = Vec::new();
        for mut child in self.running.drain(..) {
            match child.ended()? {
                None => running.push(child),
                Some(Ok(())) => {
                    self.finished += 1;
                    let folder: PathBuf = self.out.join(child.run.name());
                    if let Some(result) = RunResult::read(&folder)? {
                        self.time_left.note(result.seconds);
                        show(&result, &folder, self.arguments.json)?;
                    }
                }
                Some(Err(words)) => {
                    say(&words);
                    self.failed.push(words);
                }
            }
        }
        self.running = running;
        Ok(())
    }

    /// How far everything is.
    fn words(&mut self) -> String {
        let all = self.finished + self.failed.len() + self.running.len() + self.waiting.len();
        let mut words = vec![format!("{} of {all} runs done", self.finished + self.failed.len())];
        let paces: Vec<_> = self.running.iter_mut().map(Child::pace).collect();
        words.extend(self.running.iter().zip(&paces).map(|(child, pace)| child.words(*pace)));
        words.extend(self.time_left.words(&paces, self.waiting.len()));
        words.join("; ")
    }
}

/// A line that is drawn in place on a terminal, and nothing elsewhere.
fn line() -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let line = ProgressBar::new_spinner();
    // A template that cannot be parsed would be a mistake in this line; the spinner then keeps its usual looks.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        line.set_style(style);
    }
    line
}
