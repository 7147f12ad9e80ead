//! Tables that do not fit into memory.

use super::{Account, Columns, Sampling, Suggestion, Table, TableError, TableVariable, TimeScale};
use crate::{Dataset, Series, SeriesError, SeriesSource, SeriesStore, StoreWriter};

/// A table whose series are in a temporary file: see [`SeriesStore`].
pub type StoredTable = Table<SeriesStore>;

/// A table, wherever its series are.
#[derive(Clone, Debug)]
pub enum AnyTable {
    /// In memory.
    Memory(Table),
    /// In a temporary file.
    Stored(StoredTable),
}

/// Does the same with a table in memory and with one in a file.
macro_rules! on_either {
    ($any:expr, $table:ident => $body:expr) => {
        match $any {
            AnyTable::Memory($table) => $body,
            AnyTable::Stored($table) => $body,
        }
    };
}

impl AnyTable {
    /// Series.
    pub fn series(&self) -> usize {
        on_either!(self, table => SeriesSource::len(&table.data))
    }

    /// How times are written.
    pub fn time(&self) -> &TimeScale {
        on_either!(self, table => &table.time)
    }

    /// Which column is what.
    pub fn columns(&self) -> &Columns {
        on_either!(self, table => &table.columns)
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        on_either!(self, table => &table.classes)
    }

    /// What became of the rows.
    pub fn account(&self) -> &Account {
        on_either!(self, table => &table.account)
    }

    /// The sampling that suits the table: see [`Sampling::suggest`].
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn suggest_sampling(&self) -> Result<Suggestion, SeriesError> {
        match self {
            AnyTable::Memory(table) => Ok(Sampling::suggest(table)),
            AnyTable::Stored(table) => Sampling::suggest_stored(table),
        }
    }

    /// The same observations, cut: see [`Table::sampled`].
    ///
    /// # Errors
    /// When there is no room for a temporary file.
    pub fn sampled(self, sampling: Sampling) -> Result<Self, TableError> {
        Ok(match self {
            AnyTable::Memory(table) => AnyTable::Memory(table.sampled(sampling)),
            AnyTable::Stored(table) => AnyTable::Stored(table.sampled_stored(sampling)?),
        })
    }
}

impl<D: SeriesSource<f64>> Table<D> {
    /// Everything about the table but its series, with others in their place.
    pub fn with_data<E>(&self, data: E, origins: Vec<f64>) -> Table<E> {
        Table {
            data,
            origins,
            variables: self.variables.clone(),
            classes: self.classes.clone(),
            time: self.time.clone(),
            columns: self.columns.clone(),
            account: self.account.clone(),
        }
    }

    /// The series with the given numbers, as a table in memory.
    ///
    /// # Errors
    /// When a series cannot be read.
    pub fn gather(&self, numbers: &[usize]) -> Result<Table, SeriesError> {
        let data = Dataset::gather(&self.data, numbers)?;
        Ok(self.with_data(data, numbers.iter().map(|&number| self.origins[number]).collect()))
    }

    /// Whether a variable has one value for a whole series, `[C]`.
    pub fn statics(&self) -> Vec<bool> {
        self.variables.iter().map(|variable: &TableVariable| variable.is_static).collect()
    }
}

impl StoredTable {
    /// The same observations in another temporary file, cut as [`Table::sampled`] cuts those in memory.
    ///
    /// # Errors
    /// When there is no room for the file.
    pub fn sampled_stored(self, sampling: Sampling) -> Result<StoredTable, TableError> {
        if sampling == Sampling::default() {
            return Ok(self);
        }
        let mut writer = StoreWriter::new(self.data.folder(), self.data.observation())?;
        let mut origins = Vec::new();
        let cut = sampling.cutter(self.data.observation(), &self.variables);
        self.data.for_each(&mut |number, series: &Series<f64>| {
            cut.pieces(series.clone(), self.origins[number]).into_iter().try_for_each(|(piece, origin)| {
                origins.push(origin);
                writer.push(&piece)
            })
        })?;
        let data = writer.finish()?;
        Ok(self.with_data(data, origins))
    }
}
