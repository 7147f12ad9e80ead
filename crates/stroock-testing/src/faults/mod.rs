//! Faults of the disk and of the clock: a library that is loaded into a command before its own, counts the calls with
//! which it changes a folder, and lets one of them fail or be the last one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The numbers of Linux's errors that tests let come.
pub mod error_number {
    /// Input/output error.
    pub const EIO: i32 = 5;
    /// Permission denied.
    pub const EACCES: i32 = 13;
    /// No space left on device.
    pub const ENOSPC: i32 = 28;
    /// Read-only file system.
    pub const EROFS: i32 = 30;
}

/// The numbers of Linux's signals that tests send.
pub mod signal {
    /// Ctrl-C.
    pub const SIGINT: i32 = 2;
    /// A request to end.
    pub const SIGTERM: i32 = 15;
}

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed, and the call never made.
    KillBefore,
    /// The process is killed when the call is done.
    KillAfter,
    /// The process is killed when half of the bytes of a write are written (at other calls: before them).
    KillHalf,
    /// Half of the bytes of a write are written, and the call says so.
    Half,
    /// The process gets a signal, and the call is made.
    Signal(i32),
    /// The call fails with an error number.
    Once(i32),
    /// This call and all later ones fail. A full disk lets calls pass that need no room.
    From(i32),
}

impl Fault {
    /// Whether it ends the process.
    pub fn kills(self) -> bool {
        matches!(self, Fault::KillBefore | Fault::KillAfter | Fault::KillHalf)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::KillBefore => f.write_str("kill-before"),
            Fault::KillAfter => f.write_str("kill-after"),
            Fault::KillHalf => f.write_str("kill-half"),
            Fault::Half => f.write_str("half"),
            Fault::Signal(number) => write!(f, "signal-{number}"),
            Fault::Once(error) => write!(f, "once-{error}"),
            Fault::From(error) => write!(f, "from-{error}"),
        }
    }
}

/// The library, compiled.
#[derive(Clone, Debug)]
pub struct Shim {
    library: PathBuf,
}

impl Shim {
    /// Compiles the library into a folder.
    ///
    /// # Errors
    /// When there is no C compiler, or it fails.
    pub fn build(folder: &Path) -> io::Result<Self> {
        let (source, library) = (folder.join("shim.c"), folder.join("shim.so"));
        std::fs::write(&source, include_str!("shim.c"))?;
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let output = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output()?;
        match output.status.success() {
            true => Ok(Self { library }),
            false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
        }
    }

    /// Counts the calls of a command that change what is below a folder.
    pub fn load(&self, command: &mut Command, under: &Path) {
        command.env("LD_PRELOAD", &self.library).env("STROOCK_FAULT_UNDER", under);
    }

    /// Lets a fault come with the call of this number, counted from 1.
    pub fn fault(&self, command: &mut Command, under: &Path, fault: Fault, at: usize) {
        self.load(command, under);
        command.env("STROOCK_FAULT", format!("{fault}:{at}"));
    }

    /// Writes a line to a file before each call.
    pub fn log(&self, command: &mut Command, file: &Path) {
        command.env("STROOCK_FAULT_LOG", file);
    }

    /// Keeps every file that is given a name by renaming it, in a folder that exists.
    pub fn keep(&self, command: &mut Command, folder: &Path) {
        command.env("STROOCK_FAULT_KEEP", folder);
    }

    /// Lets the wall clock jump to and fro by so many seconds, whenever it is read.
    pub fn clock(&self, command: &mut Command, seconds: i64) {
        command.env("LD_PRELOAD", &self.library).env("STROOCK_FAULT_CLOCK", seconds.to_string());
    }
}

/// A call that changed a folder, or was about to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function: `write`, `rename`.
    pub name: String,
    /// What it was about.
    pub path: PathBuf,
}

impl Call {
    /// The calls of a log, in order; a last line that was cut off is left out.
    ///
    /// # Errors
    /// When the file cannot be read; none is a log without calls.
    pub fn read(log: &Path) -> io::Result<Vec<Self>> {
        let text = match std::fs::read_to_string(log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let call = |line: &str| {
            let mut parts = line.splitn(3, ' ').skip(1);
            Some(Self { name: parts.next()?.to_owned(), path: parts.next()?.into() })
        };
        Ok(lines.filter_map(call).collect())
    }

    /// Which file of a run it is about, whatever the name it is written under: `model.safetensors`, `last/`.
    pub fn about(&self, run: &Path) -> String {
        let below = self.path.strip_prefix(run).unwrap_or(&self.path).to_string_lossy();
        if below.is_empty() {
            return "the folder".into();
        }
        if below.starts_with("last") {
            return "last/".into();
        }
        match below.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")) {
            Some(name) => name.rsplit_once('.').map_or(name, |(name, _)| name).to_owned(),
            None => below.into_owned(),
        }
    }
}
