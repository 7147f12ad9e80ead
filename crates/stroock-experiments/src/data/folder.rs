//! Where data live.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::DataError;
use super::source::{DataFile, DataSet};

/// Environment variable that names the data folder.
pub const DATA_FOLDER_VARIABLE: &str = "STROOCK_DATA_DIR";

/// The folder that holds the data sets, one folder each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// The given folder; else the one that `STROOCK_DATA_DIR` names; else `stroock` in the data folder of the
    /// platform (`$XDG_DATA_HOME`, `~/.local/share`, or `%LOCALAPPDATA%`). It need not exist.
    ///
    /// # Errors
    /// When none of them is known.
    pub fn find(given: Option<&Path>) -> Result<Self, DataError> {
        Self::find_in(given, |name| std::env::var_os(name))
    }

    /// As [`find`](Self::find), in an environment of your own.
    ///
    /// ```
    /// use stroock_experiments::data::DataFolder;
    /// let folder = DataFolder::find_in(None, |name| (name == "HOME").then(|| "ada".into()))?;
    /// assert_eq!(folder.path(), std::path::Path::new("ada/.local/share/stroock"));
    /// # Ok::<(), stroock_experiments::data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// When no folder is known.
    pub fn find_in(
        given: Option<&Path>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, DataError> {
        let named = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let platform = || platform_folder(&named, "XDG_DATA_HOME", ".local/share");
        let path = given.map(Path::to_owned).or_else(|| named(DATA_FOLDER_VARIABLE)).or_else(platform);
        path.map(|path| DataFolder { path }).ok_or(DataError::NoDataFolder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of a data set.
    pub fn of(&self, data_set: &DataSet) -> PathBuf {
        self.path.join(data_set.folder)
    }

    /// Where a file of a data set is, under the first of its names that exists; `None` where there is none.
    pub fn locate(&self, data_set: &DataSet, file: &DataFile) -> Option<PathBuf> {
        let names = std::iter::once(&file.name).chain(file.also);
        names.map(|name| self.of(data_set).join(name)).find(|path| path.exists())
    }

    /// Where the file `name` of a data set is.
    ///
    /// # Errors
    /// When it is not there, with the command that gets it; when the data set has no such file.
    pub fn require(&self, data_set: &DataSet, name: &str) -> Result<PathBuf, DataError> {
        let file = data_set.file(name)?;
        self.locate(data_set, file).ok_or_else(|| DataError::Missing {
            path: self.of(data_set).join(file.name),
            data_set: data_set.name,
        })
    }
}

/// `stroock` in the folder that the platform has for `variable`, by default `fallback` in the home folder.
pub(super) fn platform_folder(
    named: &impl Fn(&'static str) -> Option<PathBuf>,
    variable: &'static str,
    fallback: &str,
) -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(named("LOCALAPPDATA")?.join("stroock"));
    }
    // The specification has it that relative paths are ignored.
    let given = named(variable).filter(|path| path.is_absolute());
    Some(given.or_else(|| Some(named("HOME")?.join(fallback)))?.join("stroock"))
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;
    use crate::data::source;

    fn find(given: Option<&str>, environment: &[(&str, &str)]) -> Result<PathBuf, DataError> {
        let lookup = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        DataFolder::find_in(given.map(Path::new), lookup).map(|folder| folder.path)
    }

    #[test]
    fn the_nearest_wish_wins() {
        let all = [("STROOCK_DATA_DIR", "/env"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/home/ada")];
        assert_eq!(find(Some("given"), &all).unwrap(), Path::new("given"));
        assert_eq!(find(None, &all).unwrap(), Path::new("/env"));
        assert_eq!(find(None, &all[1..]).unwrap(), Path::new("/xdg/stroock"));
        assert_eq!(find(None, &all[2..]).unwrap(), Path::new("/home/ada/.local/share/stroock"));
        let empty = [("STROOCK_DATA_DIR", ""), ("XDG_DATA_HOME", "relative"), ("HOME", "/home/ada")];
        assert_eq!(find(None, &empty).unwrap(), Path::new("/home/ada/.local/share/stroock"));
        assert!(find(None, &[]).unwrap_err().to_string().contains("STROOCK_DATA_DIR"));
    }

    #[test]
    fn a_missing_file_comes_with_the_command_that_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::find(Some(folder.path())).unwrap();
        let activity = source::find("activity").unwrap();
        let error = data.require(activity, "ConfLongDemo_JSI.txt").unwrap_err().to_string();
        assert!(error.contains("activity/ConfLongDemo_JSI.txt"), "{error}");
        assert!(error.contains("`stroock data fetch activity`"), "{error}");

        std::fs::create_dir(data.of(activity)).unwrap();
        let packed = data.of(activity).join("ConfLongDemo_JSI.txt.gz");
        std::fs::write(&packed, "").unwrap();
        assert_eq!(data.require(activity, "ConfLongDemo_JSI.txt").unwrap(), packed);
    }
}
