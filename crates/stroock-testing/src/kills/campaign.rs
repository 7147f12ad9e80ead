//! A job, killed at calls and at instants.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::{Finished, Job, Tally};
use crate::faults::{Call, Fault, Shim};

/// Longer than any of these commands takes: who is not done by then hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Exit code of a command that was asked to stop.
const INTERRUPTED: i32 = 130;

/// A job that was done once without interruption, to be compared with.
#[derive(Debug)]
pub struct Campaign {
    job: Job,
    shim: Shim,
    scratch: PathBuf,
    /// The end of the run without interruption, and how long it took.
    whole: Finished,
    duration: Duration,
    /// Every content that `model.safetensors` had on the way.
    models: HashSet<Vec<u8>>,
    calls: Vec<Call>,
    random: u64,
    /// What has been seen so far.
    pub tally: Tally,
}

/// A process that has ended.
struct Ended {
    /// `None`: it had to be ended.
    status: Option<ExitStatus>,
    said: String,
}

impl Campaign {
    /// Does the job once, in a folder for scratch that exists.
    ///
    /// # Errors
    /// When the job fails by itself.
    pub fn begin(job: Job, shim: &Shim, scratch: &Path, seed: u64) -> io::Result<Self> {
        let scratch = scratch.canonicalize()?.join(job.name);
        let kept = scratch.join("kept");
        fs::create_dir_all(&kept)?;
        let run = scratch.join("whole");
        let mut command = job.next(&run);
        shim.load(&mut command, &run);
        shim.log(&mut command, &scratch.join("calls"));
        shim.keep(&mut command, &kept);
        command.stderr(File::create(scratch.join("said"))?);
        let began = Instant::now();
        if !command.status()?.success() {
            let said = fs::read_to_string(scratch.join("said"))?;
            return Err(io::Error::other(format!("{}: {said}", job.name)));
        }
        let duration = began.elapsed();
        let calls = Call::read(&scratch.join("calls"))?;
        let model = run.join("model.safetensors");
        let mut models = HashSet::new();
        for (number, call) in calls.iter().enumerate() {
            if call.name == "rename" && call.path == model {
                models.insert(fs::read(kept.join((number + 1).to_string()))?);
            }
        }
        let whole = Finished::read(&job, &run)?;
        let (shim, tally) = (shim.clone(), Tally::default());
        Ok(Self { job, shim, scratch, whole, duration, models, calls, random: seed, tally })
    }

    /// With how many calls the job changes its folder.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Lets a fault come at one call after the other, in steps of `stride` from the call `first`, counted from 1. Each
    /// time the run is gone on with until it is done.
    ///
    /// # Errors
    /// When a process cannot be started; what goes wrong in the job is a defect of the tally.
    pub fn sweep(&mut self, fault: Fault, first: usize, stride: usize) -> io::Result<()> {
        for at in (first..=self.calls.len()).step_by(stride) {
            // Only a write can be done by half.
            if matches!(fault, Fault::Half | Fault::KillHalf) && self.calls[at - 1].name != "write" {
                continue;
            }
            self.at_call(fault, at)?;
        }
        Ok(())
    }

    fn at_call(&mut self, fault: Fault, at: usize) -> io::Result<()> {
        let (run, log) = self.fresh()?;
        let mut command = self.job.next(&run);
        self.shim.fault(&mut command, &run, fault, at);
        self.shim.log(&mut command, &log);
        let (child, said) = self.start(command)?;
        let ended = wait(child, PATIENCE, &said)?;
        let calls = Call::read(&log)?;
        let place = calls.get(at - 1).map_or_else(|| "?".into(), |call| call.about(&run));
        let place = if place.starts_with("tmp") { "figures".into() } else { place };
        let what = format!("{} {fault} at call {at} ({place})", self.job.name);
        self.check_kind(fault, &ended, &what, place);
        self.check_model(&run, &calls, &what)?;
        self.go_on(&run, &what)
    }

    /// Whether a process ended as the fault has it.
    fn check_kind(&mut self, fault: Fault, ended: &Ended, what: &str, place: String) {
        let Ended { status, said } = ended;
        if said.contains("panicked") {
            self.tally.defects.push(format!("{what}: {said}"));
        }
        let code = status.map(|status| status.code());
        if fault.kills() {
            match code {
                Some(None) => {
                    *self.tally.at_calls.entry(fault.to_string()).or_default().entry(place).or_default() += 1
                }
                _ => self
                    .tally
                    .defects
                    .push(format!("{what}: it was not killed, but ended with {status:?}: {said}")),
            }
            return;
        }
        let sentence = match code {
            Some(Some(0)) => "(it went on to the end)".to_owned(),
            // Before the command listens to signals there is nothing to be saved.
            Some(None) if matches!(fault, Fault::Signal(_)) => "(ended by the signal)".to_owned(),
            Some(Some(INTERRUPTED)) if matches!(fault, Fault::Signal(_)) => {
                let last = said.lines().last().unwrap_or_default();
                if !last.starts_with("stopped after epoch ") || !last.contains("--resume") {
                    self.tally.defects.push(format!("{what}: it stopped without a sentence: {said}"));
                }
                last.replace(&*self.scratch.to_string_lossy(), "…")
            }
            Some(Some(1)) => {
                let sentence = said.lines().find(|line| line.starts_with("error: "));
                let sentence = sentence.map(|line| line.replace(&*self.scratch.to_string_lossy(), "…"));
                sentence.unwrap_or_else(|| {
                    self.tally.defects.push(format!("{what}: it failed without a sentence: {said}"));
                    "(nothing)".into()
                })
            }
            _ => {
                self.tally.defects.push(format!("{what}: it ended with {status:?}: {said}"));
                return;
            }
        };
        *self.tally.failures.entry(fault.to_string()).or_default().entry(sentence).or_default() += 1;
    }

    /// Kills the job at random instants, and each time goes on with it, until it was killed so often; a run that comes
    /// to its end is compared, and the next one begins.
    ///
    /// # Errors
    /// When a process cannot be started.
    pub fn at_instants(&mut self, kills: usize) -> io::Result<()> {
        let wanted = self.tally.at_instants.values().sum::<usize>() + kills;
        let mut chain = 0_u32;
        let (mut run, mut log) = self.fresh()?;
        while self.tally.at_instants.values().sum::<usize>() < wanted {
            // Now and then long enough for a run to come to its end.
            let until = self.duration.mul_f64(1.3 * self.uniform());
            let mut command = self.job.next(&run);
            self.shim.load(&mut command, &run);
            self.shim.log(&mut command, &log);
            let (mut child, said) = self.start(command)?;
            let began = Instant::now();
            while began.elapsed() < until && child.try_wait()?.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if chain == 0 && child.try_wait()?.is_some() {
                // The machine has become faster: instants behind the end kill nobody.
                self.duration = self.duration.min(began.elapsed());
            }
            child.kill()?;
            let ended = wait(child, PATIENCE, &said)?;
            let what = format!("{} killed {chain} times, then after {until:?}", self.job.name);
            if ended.said.contains("panicked") {
                self.tally.defects.push(format!("{what}: {}", ended.said));
            }
            self.check_model(&run, &Call::read(&log)?, &what)?;
            match ended.status.and_then(|status| status.code()) {
                None => {
                    chain += 1;
                    *self.tally.at_instants.entry(phase(&ended.said)).or_default() += 1;
                }
                Some(0) => {
                    self.compare(&run, &what)?;
                    (run, log) = self.fresh()?;
                    chain = 0;
                }
                Some(code) => {
                    self.tally.defects.push(format!("{what}: ended with {code}: {}", ended.said));
                    (run, log) = self.fresh()?;
                    chain = 0;
                }
            }
        }
        self.go_on(&run, "the last run")
    }

    /// Goes on with a run to its end, and compares it.
    fn go_on(&mut self, run: &Path, what: &str) -> io::Result<()> {
        let (child, said) = self.start(self.job.next(run))?;
        let ended = wait(child, PATIENCE, &said)?;
        match ended.status.map(|status| status.code()) {
            Some(Some(0)) => self.compare(run, what),
            other => {
                let said = ended.said;
                self.tally.defects.push(format!("{what}: going on ended with {other:?}: {said}"));
                Ok(())
            }
        }
    }

    fn compare(&mut self, run: &Path, what: &str) -> io::Result<()> {
        self.tally.compared += 1;
        match Finished::read(&self.job, run) {
            Err(error) => self.tally.defects.push(format!("{what}: the run is not complete: {error}")),
            Ok(finished) => {
                let differences = finished.differences(&self.whole);
                self.tally.defects.extend(differences.into_iter().map(|found| format!("{what}: {found}")));
            }
        }
        Ok(())
    }

    /// Once there is a model, there is one that the run without interruption had at some time, complete.
    fn check_model(&mut self, run: &Path, calls: &[Call], what: &str) -> io::Result<()> {
        let model = run.join("model.safetensors");
        match fs::read(&model) {
            Ok(bytes) if self.models.contains(&bytes) => {}
            Ok(bytes) => {
                self.tally.defects.push(format!("{what}: a model of {} bytes that is none", bytes.len()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The last call may not have been made, or have failed; a later one shows that it was.
                let place = calls.iter().position(|call| {
                    call.name == "fsync" && call.path == run && {
                        let before = calls.iter().take_while(|other| *other != call);
                        before.last().is_some_and(|before| before.name == "rename" && before.path == model)
                    }
                });
                if place.is_some_and(|place| place + 1 < calls.len()) {
                    self.tally.defects.push(format!("{what}: the model is lost"));
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// An empty place for a run, and one for its log.
    fn fresh(&self) -> io::Result<(PathBuf, PathBuf)> {
        let (run, log) = (self.scratch.join("run"), self.scratch.join("calls"));
        if run.exists() {
            fs::remove_dir_all(&run)?;
        }
        if log.exists() {
            fs::remove_file(&log)?;
        }
        Ok((run, log))
    }

    fn start(&self, mut command: std::process::Command) -> io::Result<(Child, PathBuf)> {
        let said = self.scratch.join("said");
        command.stderr(File::create(&said)?);
        Ok((command.spawn()?, said))
    }

    /// Between 0 and 1, by the generator splitmix64.
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn wait(mut child: Child, patience: Duration, said: &Path) -> io::Result<Ended> {
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if began.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    Ok(Ended { status, said: String::from_utf8_lossy(&fs::read(said)?).into_owned() })
}

/// What a command was about to do after what it said last.
fn phase(said: &str) -> String {
    let Some(last) = said.lines().last() else { return "starting".into() };
    match last.split_once(' ') {
        Some(("epoch", _)) => "training, or just after".into(),
        Some(("learning", _)) | Some(("comparing", _)) => last.to_owned(),
        _ => "reading, or the first epoch".into(),
    }
}
