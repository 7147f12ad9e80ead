//! What the folder of a fit says about it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::FitConfig;
use crate::series::table::{ReadOptions, Table};

/// What a fit depends on, as it stands in the `config.toml` of its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The command that started the fit; empty where it was not noted.
    #[serde(default)]
    pub command: String,
    /// Which tables were read, and how.
    pub data: DataConfig,
    /// Everything else.
    pub fit: FitConfig,
}

/// Which tables were read, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// The files; empty where the table did not come from files that are known.
    pub files: Vec<PathBuf>,
    /// Series that were found, to notice when the files have changed.
    pub series: usize,
    /// Values that were found.
    pub values: u64,
    /// How the files were read.
    pub read: ReadOptions,
}

impl DataConfig {
    /// What is noted about a table that was read from files and cut.
    pub fn of(table: &Table, files: Vec<PathBuf>, read: ReadOptions) -> Self {
        Self { files, series: table.data.series().len(), values: table.account.values, read }
    }

    /// Whether a table has as many series and values as the one that was fitted.
    pub fn is_of(&self, table: &Table) -> bool {
        (self.series, self.values) == (table.data.series().len(), table.account.values)
    }
}
