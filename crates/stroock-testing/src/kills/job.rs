//! What is killed, and what it leaves.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command that trains in a run folder.
#[derive(Clone, Debug)]
pub struct Job {
    /// What it is called in reports.
    pub name: &'static str,
    /// The program.
    pub program: PathBuf,
    /// Arguments that begin a run; the folder follows as `--out FOLDER`.
    pub begin: Vec<String>,
    /// Arguments that go on with a run.
    pub resume: Vec<String>,
    /// A file of the run in JSON, and the part of it that the numbers are in.
    pub scores: (&'static str, &'static str),
}

impl Job {
    /// `fit` of a table, for so many epochs.
    pub fn fit(program: &Path, table: &Path, epochs: u32) -> Self {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let table = table.to_string_lossy();
        Self {
            name: "fit",
            program: program.to_owned(),
            begin: words(&["fit", &table, "--epochs", &epochs.to_string()]),
            resume: words(&["fit", "--resume"]),
            scores: ("evaluation.json", "scores"),
        }
    }

    /// `reproduce` of the smallest experiment, for so many epochs, each of which is saved.
    pub fn reproduce(program: &Path, epochs: u32) -> Self {
        let epochs = epochs.to_string();
        let begin = ["reproduce", "sine", "--limit", "8", "--epochs", &epochs];
        let settings =
            ["--set", "protocol.training.save_every=1", "--set", "protocol.training.tensorboard=true"];
        let begin: Vec<String> = begin.iter().chain(&settings).map(|&word| word.to_owned()).collect();
        let resume = begin.iter().cloned().chain(["--resume".to_owned()]).collect();
        Self {
            name: "reproduce",
            program: program.to_owned(),
            begin,
            resume,
            scores: ("result.json", "test"),
        }
    }

    /// The command that a user gives next: to go on where there is something to go on with.
    pub fn next(&self, run: &Path) -> Command {
        let mut command = Command::new(&self.program);
        let arguments = if run.join("config.toml").exists() { &self.resume } else { &self.begin };
        command.args(arguments).arg("--out").arg(run);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// What must be the same whatever happened on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// `metrics.jsonl` without the wall time of each epoch.
    pub metrics: String,
    /// `model.safetensors`.
    pub model: Vec<u8>,
    /// The numbers of the test, as they are written.
    pub scores: String,
    /// The names of all files.
    pub files: BTreeSet<PathBuf>,
}

impl Finished {
    /// What a run folder has.
    ///
    /// # Errors
    /// When a file is missing or cannot be read.
    pub fn read(job: &Job, run: &Path) -> io::Result<Self> {
        let metrics = fs::read_to_string(run.join("metrics.jsonl"))?;
        let (file, part) = job.scores;
        let text = fs::read_to_string(run.join(file))?;
        let record: serde_json::Value = serde_json::from_str(&text)?;
        let scores = record.get(part).ok_or_else(|| io::Error::other(format!("`{file}` lacks `{part}`")))?;
        let mut files = BTreeSet::new();
        list(run, Path::new(""), &mut files)?;
        let model = fs::read(run.join("model.safetensors"))?;
        let metrics = metrics.lines().map(without_time).collect::<Vec<_>>().join("\n");
        Ok(Self { metrics, model, scores: scores.to_string(), files })
    }

    /// In which parts two of them differ; empty where they are the same to the last bit.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.metrics != other.metrics {
            found.push(format!("metrics.jsonl:\n{}\nand\n{}", self.metrics, other.metrics));
        }
        if self.model != other.model {
            found.push(format!("model.safetensors: {} and {} bytes", self.model.len(), other.model.len()));
        }
        if self.scores != other.scores {
            found.push(format!("scores: {} and {}", self.scores, other.scores));
        }
        if self.files != other.files {
            let names: Vec<_> = self.files.symmetric_difference(&other.files).collect();
            found.push(format!("files that only one of them has: {names:?}"));
        }
        found
    }
}

/// A line of the metrics as it is, without the number after `"seconds":`.
fn without_time(line: &str) -> String {
    const KEY: &str = "\"seconds\":";
    match line.split_once(KEY) {
        Some((before, after)) => format!("{before}{KEY}{}", &after[after.find([',', '}']).unwrap_or(0)..]),
        None => line.to_owned(),
    }
}

fn list(folder: &Path, below: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        // Each part of a run that was resumed has its own file of events.
        let is_events = entry.file_name().to_string_lossy().starts_with("events.out.");
        match entry.file_type()?.is_dir() {
            true => list(&entry.path(), &name, files)?,
            false if is_events => {}
            false => drop(files.insert(name)),
        }
    }
    Ok(())
}
