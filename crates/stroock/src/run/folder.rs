//! The folder of a run: who may write to it, and where things are.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{is_temporary, remove_file, write_atomic};
use super::last::{self, LastState, Recovery};
use super::{RunError, TensorFile};

const CONFIG: &str = "config.toml";
const METRICS: &str = "metrics.jsonl";
const MODEL: &str = "model.safetensors";
const REPORT: &str = "report.html";
const LAST: &str = "last";
const LOCK: &str = ".lock";

/// Where the files of a run are. Needs no lock: for everyone who only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPaths {
    folder: PathBuf,
}

impl RunPaths {
    /// The paths of the run in `folder`, which need not exist.
    ///
    /// ```
    /// let run = stroock::run::RunPaths::new("runs/pendulum");
    /// assert_eq!(run.model(), std::path::Path::new("runs/pendulum/model.safetensors"));
    /// ```
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        RunPaths { folder: folder.into() }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `config.toml`: the resolved configuration.
    pub fn config(&self) -> PathBuf {
        self.folder.join(CONFIG)
    }

    /// `metrics.jsonl`: one JSON object per epoch.
    pub fn metrics(&self) -> PathBuf {
        self.folder.join(METRICS)
    }

    /// `model.safetensors`: the best model so far.
    pub fn model(&self) -> PathBuf {
        self.folder.join(MODEL)
    }

    /// `report.html`: the report.
    pub fn report(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// `last/`: the state to resume from.
    pub fn last(&self) -> PathBuf {
        self.folder.join(LAST)
    }
}

/// The folder of a run that this process may write to. No other process can open it until this is dropped
/// (or the process ends, in whatever way).
///
/// ```
/// use stroock::run::{RunError, RunFolder};
/// # let scratch = tempfile::tempdir()?;
/// # let path = scratch.path().join("pendulum");
///
/// let run = RunFolder::create(&path)?;
/// run.write_config("seed = 1\n")?;
/// drop(run);
///
/// assert!(matches!(RunFolder::create(&path), Err(RunError::Occupied { .. })));
/// let run = RunFolder::open(&path)?;
/// assert_eq!(run.read_config()?, "seed = 1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RunFolder {
    paths: RunPaths,
    recovery: Recovery,
    _lock: Lock,
}

impl RunFolder {
    /// Makes the folder of a new run, with the folders above it.
    ///
    /// A folder that holds a run already is refused with [`RunError::Occupied`]; files that have nothing to do
    /// with a run are no obstacle.
    pub fn create(folder: impl Into<PathBuf>) -> Result<Self, RunError> {
        let paths = RunPaths::new(folder);
        fs::create_dir_all(&paths.folder).map_err(RunError::io("create the folder", &paths.folder))?;
        let lock = Lock::take(&paths.folder)?;
        let traces = [CONFIG, METRICS, MODEL, REPORT, LAST, last::NEW, last::OLD];
        let is_there = |name: &&str| fs::symlink_metadata(paths.folder.join(name)).is_ok();
        if let Some(found) = traces.into_iter().find(is_there) {
            return Err(RunError::Occupied { folder: paths.folder, found });
        }
        remove_leftovers(&paths.folder)?;
        Ok(RunFolder { paths, recovery: Recovery::Nothing, _lock: lock })
    }

    /// Opens the folder of a run to continue it.
    ///
    /// If the run was killed while it replaced `last/`, the swap is finished or taken back; see
    /// [`RunFolder::recovery`].
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, RunError> {
        let paths = RunPaths::new(folder);
        // Checked before the lock, which would leave a file in a folder that is not ours.
        if !paths.config().is_file() {
            return Err(RunError::NoRun { folder: paths.folder });
        }
        let lock = Lock::take(&paths.folder)?;
        remove_leftovers(&paths.folder)?;
        let recovery = last::recover(&paths.folder)?;
        Ok(RunFolder { paths, recovery, _lock: lock })
    }

    /// Where the files of the run are.
    pub fn paths(&self) -> &RunPaths {
        &self.paths
    }

    /// What opening the folder had to put right.
    pub fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Writes `config.toml`, which makes the folder one that can be opened again.
    pub fn write_config(&self, toml: &str) -> Result<(), RunError> {
        write_atomic(&self.paths.config(), toml.as_bytes())
    }

    /// Reads `config.toml`.
    pub fn read_config(&self) -> Result<String, RunError> {
        let path = self.paths.config();
        fs::read_to_string(&path).map_err(RunError::io("read", &path))
    }

    /// Writes `model.safetensors`, the best model so far, in place of the one before.
    pub fn save_best(&self, model: &TensorFile) -> Result<(), RunError> {
        model.save(&self.paths.model())
    }

    /// Writes `last/`, the state to resume from, in place of the one before.
    ///
    /// `state` is whatever else the training loop must know: epoch, best loss, random state. A number in it that is
    /// not finite is an error, because JSON could not give it back. A kill at any instant leaves the old state or
    /// the new one, complete.
    pub fn save_last<S: Serialize + DeserializeOwned>(
        &self,
        model: &TensorFile,
        optimiser: &TensorFile,
        state: &S,
    ) -> Result<(), RunError> {
        last::save(&self.paths.folder, model, optimiser, state)
    }

    /// Reads `last/state.json` alone; `None` if the run was stopped before it saved a state.
    pub fn load_state<S: DeserializeOwned>(&self) -> Result<Option<S>, RunError> {
        last::load_state(&self.paths.folder)
    }

    /// Reads `last/`; `None` if the run was stopped before it saved a state.
    pub fn load_last<S: DeserializeOwned>(&self) -> Result<Option<LastState<S>>, RunError> {
        last::load(&self.paths.folder)
    }
}

/// The right to write to a run. The operating system takes it back when the process ends.
#[derive(Debug)]
struct Lock(File);

impl Lock {
    fn take(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(LOCK);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(RunError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(RunError::InUse { folder: folder.to_owned() }),
            // Some network file systems have no locks: train there all the same.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Lock(file)),
            Err(TryLockError::Error(error)) => Err(RunError::io("lock", &path)(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is just being started may have it open, too.
        let _ = self.0.unlock();
    }
}

/// Removes the temporary files of a run that was killed while it wrote one of its files.
fn remove_leftovers(folder: &Path) -> Result<(), RunError> {
    for entry in fs::read_dir(folder).map_err(RunError::io("list", folder))? {
        let entry = entry.map_err(RunError::io("list", folder))?;
        if entry.file_name().to_str().is_some_and(is_temporary) {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}
