//! Where inputs become files: a folder of this process, in memory where the system has such a place.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

/// A folder of a thread.
pub struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        // libFuzzer leaves without tidying up: who starts it names a folder, and removes that.
        let named = std::env::var_os("STROOCK_FUZZ_SCRATCH").map(PathBuf::from);
        let in_memory = || Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir());
        let parent = named.or_else(in_memory).unwrap_or_else(std::env::temp_dir);
        let folder = Builder::new().prefix("stroock-fuzz-").tempdir_in(parent);
        Scratch(folder.expect("a folder for inputs can be made"))
    }

    /// Writes a file, also below folders of this one.
    pub fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder for inputs can be made");
        }
        fs::write(&path, content).expect("an input can be written");
        path
    }

    /// A folder below this one without anything in it.
    #[cfg_attr(not(feature = "models"), allow(dead_code, reason = "run folders are those of models"))]
    pub fn empty(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for inputs can be made");
        path
    }

    /// The folder itself.
    #[cfg_attr(not(feature = "models"), allow(dead_code, reason = "caches are those of data sets"))]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

thread_local! {
    /// The folder of this thread.
    pub static FOLDER: Scratch = Scratch::new();
}
