//! What the folder of a fit says about it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::FitConfig;
use crate::series::table::{ReadOptions, Table};
use crate::series::{Labels, SeriesError, SeriesSource};

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
    /// A hash of everything that was found; empty where it was not noted.
    #[serde(default)]
    pub fingerprint: String,
    /// How the files were read.
    pub read: ReadOptions,
}

impl DataConfig {
    /// What is noted about a table that was read from files and cut.
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn of<D: SeriesSource<f64>>(
        table: &Table<D>,
        files: Vec<PathBuf>,
        read: ReadOptions,
    ) -> Result<Self, SeriesError> {
        let (series, values) = (table.data.len(), table.account.values);
        Ok(Self { files, series, values, fingerprint: fingerprint(table)?, read })
    }

    /// Whether a table has as many series and values as the one that was fitted, and the same ones where that was noted.
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn is_of<D: SeriesSource<f64>>(&self, table: &Table<D>) -> Result<bool, SeriesError> {
        Ok(self.change(table)?.is_none())
    }

    /// What of a table is not as it was when it was fitted, in words.
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn change<D: SeriesSource<f64>>(&self, table: &Table<D>) -> Result<Option<String>, SeriesError> {
        let (series, values) = (table.data.len(), table.account.values);
        if (series, values) != (self.series, self.values) {
            return Ok(Some(format!(
                "{series} series with {values} values, {} with {} then",
                self.series, self.values
            )));
        }
        let is_same = self.fingerprint.is_empty() || self.fingerprint == fingerprint(table)?;
        Ok((!is_same).then(|| "as many values as then, but not the same".into()))
    }
}

/// SHA-256 of the series of a table in their order: names, times, values, gaps, labels.
fn fingerprint<D: SeriesSource<f64>>(table: &Table<D>) -> Result<String, SeriesError> {
    let mut hash = Sha256::new();
    let mut text = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    table.variables.iter().for_each(|variable| text(&variable.name));
    table.classes.iter().for_each(|class| text(class));
    let channels = table.data.observation().len();
    table.data.for_each(&mut |number, series| {
        let origin = table.origins[number];
        hash.update((series.id.len() as u64).to_le_bytes());
        hash.update(&series.id);
        hash.update((series.times.len() as u64).to_le_bytes());
        hash.update(origin.to_le_bytes());
        for (i, time) in series.times.iter().enumerate() {
            hash.update(time.to_le_bytes());
            for channel in 0..channels {
                match series.is_observed(channels, i, channel) {
                    true => hash.update(series.values[i * channels + channel].to_le_bytes()),
                    false => hash.update(f64::NAN.to_le_bytes()),
                }
            }
        }
        match &series.labels {
            Labels::None => {}
            Labels::Class(class) => hash.update(class.to_le_bytes()),
            Labels::ClassPerTime(classes) => {
                classes.iter().for_each(|class| hash.update(class.map_or(-1, i64::from).to_le_bytes()));
            }
            Labels::RealPerTime { values, .. } => {
                values.iter().for_each(|value| hash.update(value.to_le_bytes()));
            }
        }
        Ok(())
    })?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
