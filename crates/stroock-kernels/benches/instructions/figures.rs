//! The committed figures, and the comparison with them.

use std::process::{Command, ExitCode};

use stroock_kernels::simd::Level;
use toml::{Table, Value};

use crate::cases::LEVEL;

pub const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.toml");

/// A case may take so much more than the committed figure.
const TOLERANCE: f64 = 0.02;

/// Counts by the names of the cases.
#[derive(Default)]
pub struct Figures {
    level: Option<String>,
    compiler: Option<String>,
    cases: Vec<(String, u64)>,
}

impl Figures {
    pub fn read() -> Result<Self, String> {
        let text = match std::fs::read_to_string(FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("cannot read {FILE}: {error}")),
        };
        let table: Table = text.parse().map_err(|error| format!("{FILE} is not TOML: {error}"))?;
        let word = |key| table.get(key).and_then(Value::as_str).map(str::to_owned);
        let cases = table.get("instructions").and_then(Value::as_table);
        let cases = cases.ok_or_else(|| format!("{FILE} has no table `instructions`"))?;
        let cases = cases.iter().map(|(name, count)| {
            let count = count.as_integer().and_then(|count| u64::try_from(count).ok());
            Ok((name.clone(), count.ok_or_else(|| format!("{FILE}: `{name}` is not a count"))?))
        });
        Ok(Self {
            level: word("level"),
            compiler: word("compiler"),
            cases: cases.collect::<Result<_, String>>()?,
        })
    }

    fn of(&self, name: &str) -> Option<u64> {
        self.cases.iter().find(|(case, _)| case == name).map(|&(_, count)| count)
    }

    /// Whether the figures were counted with the instructions that run here. Another compiler is only said.
    pub fn comparable(&self) -> Result<Result<(), String>, String> {
        let compiler = compiler()?;
        if let Some(committed) = self.compiler.as_ref().filter(|committed| **committed != compiler) {
            println!("the committed figures are of {committed}; this is {compiler}");
        }
        let running = level();
        Ok(match &self.level {
            Some(committed) if *committed != running => Err(format!(
                "the committed figures are of the instruction set {committed} and these of {running}: they cannot be \
                 compared"
            )),
            _ => Ok(()),
        })
    }

    /// A line of the table.
    pub fn row(&self, name: &str, now: u64) -> String {
        match self.of(name) {
            Some(committed) => {
                let change = 100.0 * change(committed, now);
                format!("{name:<63} {committed:>13} {now:>13} {change:>+8.2}%")
            }
            None => format!("{name:<63} {:>13} {now:>13} {:>9}", "-", "new"),
        }
    }

    /// Fails if a case takes more than it may.
    pub fn judge(&self, counted: &[(String, u64)]) -> Result<ExitCode, String> {
        let share = |name: &str, now| self.of(name).map(|committed| change(committed, now));
        let changes = || counted.iter().filter_map(|(name, now)| Some((name, share(name, *now)?)));
        let worse: Vec<&str> =
            changes().filter(|(_, by)| *by > TOLERANCE).map(|(name, _)| &name[..]).collect();
        if !worse.is_empty() {
            let percent = 100.0 * TOLERANCE;
            return Err(format!("more than {percent} % above the committed figures: {}", worse.join("; ")));
        }
        let new = counted.len() - changes().count();
        let better = changes().filter(|(_, by)| *by < -TOLERANCE).count();
        if new + better > 0 {
            println!("{better} cases have got better and {new} are new: `-- --accept` commits to that");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Replaces the figures of these cases; if these are `all`, others are left out.
    pub fn accept(&mut self, counted: Vec<(String, u64)>, all: bool) -> Result<(), String> {
        if !all {
            let kept = |name: &String| !counted.iter().any(|(other, _)| other == name);
            let mut cases: Vec<_> =
                std::mem::take(&mut self.cases).into_iter().filter(|(name, _)| kept(name)).collect();
            cases.extend(counted);
            self.cases = cases;
        } else {
            self.cases = counted;
        }
        self.cases.sort();
        let mut text = format!(
            "# Instructions of the kernels, counted by `cargo bench -p stroock-kernels --bench instructions -- --accept`.\n\
             level = \"{}\"\ncompiler = \"{}\"\n\n[instructions]\n",
            level(),
            compiler()?
        );
        for (name, count) in &self.cases {
            text += &format!("{name:?} = {count}\n");
        }
        std::fs::write(FILE, text).map_err(|error| format!("cannot write {FILE}: {error}"))
    }
}

fn change(committed: u64, now: u64) -> f64 {
    now as f64 / committed.max(1) as f64 - 1.0
}

/// The instruction set that the cases run with.
fn level() -> String {
    let level: Level = LEVEL.or_portable();
    format!("{}/{level:?}", std::env::consts::ARCH)
}

fn compiler() -> Result<String, String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(&rustc).arg("--version").output();
    let output = output.map_err(|error| format!("cannot ask {rustc} for its version: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
