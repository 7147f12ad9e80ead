//! From files, or from batches in memory, to a table.

#[cfg(feature = "parquet")]
mod arrow_rows;
mod assemble;
mod block;
mod cell;
mod cells;
mod collect;
mod csv_rows;
mod decimal;
#[cfg(feature = "parquet")]
mod guarded;
mod guess;
mod guess_time;
mod intern;
mod labels;
#[cfg(feature = "parquet")]
mod parquet_headers;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod paths;
mod profile;
mod rows;
mod source;
mod spill;
mod statics;
mod vocabulary;
mod when;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
use arrow_schema::Schema;

use super::date::CalendarSearch;
use super::{
    AnyTable, Columns, Form, ReadOptions, Room, StoredTable, Table, TableError, TableVariable, TimeScale,
};
use crate::{Dataset, Observation, Series, SeriesSource, StoreWriter};
use assemble::{Assembler, Shape, Source};
use cell::Notation;
use cells::Recorder;
use collect::Collected;
use guess::Roles;
use profile::Profile;
use rows::{AHEAD, Rows};
use spill::{RowShape, Spill};

pub use cells::Cells;

/// Files that are opened at once to look at their first rows.
const LOOKED_AT: usize = 64;

impl Table {
    /// Reads the series of one or more files, CSV (plain or gzipped; `-` is the standard input) or Parquet.
    ///
    /// A path may also be that of a folder, which stands for all tables in it and below it, sorted by their paths; or a
    /// pattern such as `parts/*.parquet` or `data/**/20[12]?.csv`. All files together are one table.
    ///
    /// A row belongs to a series, has a time, and has a value for each variable (wide) or for the one that it
    /// names (long). Rows may be in any order, and a series may go on in the next file. A row whose values are all
    /// missing is a time of its series at which nothing is observed. Without a column of names every file is a
    /// series of its own.
    ///
    /// ```
    /// use stroock_series::table::{ReadOptions, Table};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("stays.csv");
    /// std::fs::write(&path, "patient,hours,pulse,temp\na,0,80,\na,1.5,92,37.1\nb,0.3,NA,36.5\n")?;
    ///
    /// let table = Table::read(&[path], &ReadOptions::default())?;
    /// assert_eq!(table.columns.id.as_deref(), Some("patient"));
    /// assert_eq!(table.data.series()[0].times, [0.0, 1.5]);
    /// assert_eq!(table.data.series()[1].observed, Some(vec![false, true]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a file cannot be read, a role of a column cannot be found, or (unless they are to be skipped) a row
    /// cannot be understood; the message says where and what to do.
    pub fn read(paths: &[PathBuf], options: &ReadOptions) -> Result<Table, TableError> {
        let (table, ..) = read(&paths::files(paths)?, &mut files(options), options, None)?;
        Ok(table)
    }

    /// As [`Table::read`], and takes the cells of the files down as they are written.
    ///
    /// # Errors
    /// Those of [`Table::read`].
    pub fn read_with_cells(paths: &[PathBuf], options: &ReadOptions) -> Result<(Table, Cells), TableError> {
        Self::read_cells(paths, options, u64::MAX)
    }

    /// As [`Table::read_with_cells`], where cells may take a quarter of the memory.
    ///
    /// # Errors
    /// Those of [`Table::read`], and when there are more cells than fit.
    pub fn read_with_cells_within(
        paths: &[PathBuf],
        options: &ReadOptions,
        room: &Room,
    ) -> Result<(Table, Cells), TableError> {
        Self::read_cells(paths, options, room.memory / 4)
    }

    fn read_cells(paths: &[PathBuf], options: &ReadOptions, most: u64) -> Result<(Table, Cells), TableError> {
        let (table, recorder, notation) =
            read(&paths::files(paths)?, &mut files(options), options, Some(most))?;
        let cells = recorder.unwrap_or_default().finish(&table, notation);
        Ok((table, cells))
    }

    /// Reads the series of batches that are in memory, as [`Table::read`] reads those of a Parquet file. `name` is the
    /// name of the table in errors, and of its series where it has no column of names.
    ///
    /// What the columns are is found out from the first thousand rows of the first batch.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{Array, Float64Array, RecordBatch, StringArray};
    /// use stroock_series::table::{ReadOptions, Table};
    /// let columns: Vec<(&str, Arc<dyn Array>)> = vec![
    ///     ("patient", Arc::new(StringArray::from(vec!["a", "a", "b"]))),
    ///     ("hours", Arc::new(Float64Array::from(vec![0.0, 1.5, 0.3]))),
    ///     ("pulse", Arc::new(Float64Array::from(vec![Some(80.0), Some(92.0), None]))),
    /// ];
    /// let batch = RecordBatch::try_from_iter(columns)?;
    /// let table = Table::from_batches("stays", &batch.schema(), vec![batch.clone()], &ReadOptions::default())?;
    /// assert_eq!(table.data.series()[0].times, [0.0, 1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Table::read`].
    #[cfg(feature = "parquet")]
    pub fn from_batches(
        name: &str,
        schema: &Schema,
        batches: Vec<RecordBatch>,
        options: &ReadOptions,
    ) -> Result<Table, TableError> {
        let (table, ..) = read(&[name.into()], &mut in_memory(schema, batches), options, None)?;
        Ok(table)
    }

    /// As [`Table::from_batches`], and takes the cells down.
    ///
    /// # Errors
    /// Those of [`Table::read`].
    #[cfg(feature = "parquet")]
    pub fn from_batches_with_cells(
        name: &str,
        schema: &Schema,
        batches: Vec<RecordBatch>,
        options: &ReadOptions,
    ) -> Result<(Table, Cells), TableError> {
        let (table, recorder, notation) =
            read(&[name.into()], &mut in_memory(schema, batches), options, Some(u64::MAX))?;
        let cells = recorder.unwrap_or_default().finish(&table, notation);
        Ok((table, cells))
    }
}

/// What opens a table by its name.
type Open<'a> = dyn FnMut(&Path) -> Result<Box<dyn Rows>, TableError> + 'a;

fn files(options: &ReadOptions) -> impl FnMut(&Path) -> Result<Box<dyn Rows>, TableError> {
    move |path| source::open(path, options.delimiter)
}

#[cfg(feature = "parquet")]
fn in_memory(
    schema: &Schema,
    batches: Vec<RecordBatch>,
) -> impl FnMut(&Path) -> Result<Box<dyn Rows>, TableError> {
    let mut batches = Some(batches);
    move |name| {
        // It is opened once.
        let batches = batches.take().unwrap_or_default().into_iter().map(Ok);
        let rows = arrow_rows::ArrowRows::new(name.display().to_string(), schema, Box::new(batches))?;
        Ok(Box::new(rows))
    }
}

/// The table of files, and their cells where these are asked for and take so many bytes at most.
fn read(
    paths: &[PathBuf],
    open: &mut Open<'_>,
    options: &ReadOptions,
    cells: Option<u64>,
) -> Result<(Table, Option<Recorder>, Notation), TableError> {
    let (mut all, roles, notation) = collect(paths, open, options, cells, None)?;
    let recorder = all.recorder.take();
    Ok((Ending::new(&all, roles, options, paths)?.in_memory(all)?, recorder, notation))
}

/// The rows of files, in memory as far as there is room.
fn collect(
    paths: &[PathBuf],
    open: &mut Open<'_>,
    options: &ReadOptions,
    cells: Option<u64>,
    room: Option<&Room>,
) -> Result<(Collected, Roles, Notation), TableError> {
    let (mut opened, notation, profile) = look(paths, open, options)?;
    let roles = guess::roles(options, &profile)?;
    let mut all = Collected::new(&roles, options);
    all.recorder = cells.map(|_| Recorder::default());
    all.most_cells = cells.unwrap_or(u64::MAX);
    all.spill = room.map(|room| {
        let (width, is_long) = (all.width(), all.is_long);
        let shape = RowShape { width, is_long, has_classes: roles.columns.label.is_some() };
        Spill::new(room.scratch.clone(), shape, room.for_rows())
    });
    let names = profile.names();
    for (index, path) in paths.iter().enumerate() {
        let mut rows = match opened.get_mut(index).and_then(Option::take) {
            Some(rows) => rows,
            None => open(path)?,
        };
        check_columns(rows.as_ref(), &names, &roles, options, &paths[0])?;
        all.file(rows.as_mut(), &stem(path), &roles, &notation, options.skip_bad_rows)?;
    }
    Ok((all, roles, notation))
}

impl AnyTable {
    /// Reads a table as [`Table::read`] does: into memory where it takes an eighth of the room at most, and otherwise
    /// into a temporary file. The series and their order are the same in both.
    ///
    /// # Errors
    /// Those of [`Table::read`], and when there is no room for the temporary file.
    pub fn read(paths: &[PathBuf], options: &ReadOptions, room: &Room) -> Result<Self, TableError> {
        let paths = paths::files(paths)?;
        let (all, roles, _) = collect(&paths, &mut files(options), options, None, Some(room))?;
        let ending = Ending::new(&all, roles, options, &paths)?;
        match all.spill.as_ref().is_some_and(Spill::is_used) {
            true => Ok(Self::Stored(ending.stored(all, room)?)),
            false => Ok(Self::Memory(ending.in_memory(all)?)),
        }
    }
}

impl StoredTable {
    /// Reads a table as [`Table::read`] does, into a temporary file however small it is.
    ///
    /// # Errors
    /// Those of [`AnyTable::read`].
    pub fn store(paths: &[PathBuf], options: &ReadOptions, room: &Room) -> Result<Self, TableError> {
        let paths = paths::files(paths)?;
        let (all, roles, _) = collect(&paths, &mut files(options), options, None, Some(room))?;
        Ending::new(&all, roles, options, &paths)?.stored(all, room)
    }
}

impl Dataset<f64> {
    /// Reads a table and guesses everything about it: [`Table::read`] with the default options.
    ///
    /// # Errors
    /// Those of [`Table::read`].
    pub fn read(path: impl AsRef<Path>) -> Result<Table, TableError> {
        Table::read(&[path.as_ref().to_owned()], &ReadOptions::default())
    }
}

type Opened = Vec<Option<Box<dyn Rows>>>;

/// Opens the first files, as many as are needed to see enough rows.
fn look(
    paths: &[PathBuf],
    open: &mut Open<'_>,
    options: &ReadOptions,
) -> Result<(Opened, Notation, Profile), TableError> {
    let (first, others) = paths.split_first().ok_or(TableError::NoFiles)?;
    let mut rows = open(first)?;
    let decimal = match options.decimal {
        Some(sign) => sign,
        None => decimal::decimal_sign(rows.as_mut())?,
    };
    let notation = Notation::new(&options.missing, decimal);
    let mut profile = Profile::of(rows.as_mut(), &notation)?;
    let mut opened = vec![Some(rows)];
    for path in others.iter().take(LOOKED_AT - 1) {
        if profile.rows >= AHEAD {
            profile.is_part = true;
            break;
        }
        let mut rows = open(path)?;
        profile.look_at(rows.as_mut(), &notation)?;
        opened.push(Some(rows));
    }
    match profile.rows {
        0 if profile.columns.is_empty() => Err(no_rows(paths)),
        _ => Ok((opened, notation, profile)),
    }
}

fn no_rows(paths: &[PathBuf]) -> TableError {
    TableError::NoRows { files: paths.iter().map(|path| path.display().to_string()).collect() }
}

/// Name of the series of a file that does not name any.
fn stem(path: &Path) -> String {
    if path == Path::new("-") {
        return "series".to_owned();
    }
    let name = path.file_name().map_or_else(|| "series".into(), |name| name.to_string_lossy());
    // `a.csv.gz` is `a`.
    let mut stem = name.as_ref();
    for end in [".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"] {
        stem = stem.strip_suffix(end).filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}

/// Checks that a further file has the columns of the first, in whatever order.
fn check_columns(
    rows: &dyn Rows,
    names: &[String],
    roles: &Roles,
    options: &ReadOptions,
    first: &Path,
) -> Result<(), TableError> {
    let Columns { id, time, form, statics, label, .. } = &roles.columns;
    let values: Vec<&String> = match form {
        Form::Long { variable, value } => vec![variable, value],
        Form::Wide { variables } => variables.iter().collect(),
    };
    let used =
        id.iter().chain(time).chain(values).chain(statics).chain(label.as_ref().map(|label| &label.column));
    let differs = |column: &String, lacks| TableError::Columns {
        file: rows.file().to_owned(),
        first: first.display().to_string(),
        column: column.clone(),
        lacks,
    };
    for column in used {
        if !rows.header().contains(column) {
            return Err(differs(column, true));
        }
    }
    let is_new = |column: &&String| !names.contains(column) && !options.ignore.contains(column);
    match rows.header().iter().find(is_new) {
        Some(column) if options.expect.is_none() => Err(differs(column, false)),
        _ => Ok(()),
    }
}

/// What is known after the last row, before there are series.
struct Ending<'o> {
    options: &'o ReadOptions,
    variables: Vec<TableVariable>,
    sources: Vec<Source>,
    classes: Vec<String>,
    /// For each class that came its place among the classes.
    places: Vec<u32>,
    time: TimeScale,
    columns: Columns,
}

impl<'o> Ending<'o> {
    fn new(
        all: &Collected,
        roles: Roles,
        options: &'o ReadOptions,
        paths: &[PathBuf],
    ) -> Result<Self, TableError> {
        let account = &all.account;
        if account.rows == 0 {
            return Err(no_rows(paths));
        }
        if account.rows == account.skipped && !options.is_part {
            let first = account.faults.first().cloned().unwrap_or_default();
            return Err(TableError::NoGoodRows { rows: account.rows, first });
        }
        check_names(all, &roles, options)?;
        let variables = variables(all, options);
        if variables.is_empty() {
            return Err(TableError::NoVariables { ignored: roles.columns.ignored.clone() });
        }
        let sources = sources(all, &variables);
        let time = roles.when.scale();
        let mut columns = roles.columns;
        for (name, rows, _) in all.variables().filter(|variable| variable.2) {
            columns
                .ignored
                .push((name.to_owned(), format!("a variable that is not asked for, in {rows} rows")));
        }
        let came: HashSet<&str> = all.variables().map(|variable| variable.0).collect();
        for (variable, source) in variables.iter().zip(&sources) {
            let is_there =
                !all.is_long || columns.statics.contains(&variable.name) || came.contains(&*variable.name);
            if *source == Source::Nowhere || !is_there {
                columns
                    .ignored
                    .push((variable.name.clone(), "the model knows it, but the table lacks it".to_owned()));
            }
        }
        if let Some(label) = &mut columns.label {
            label.per_time = all.labels.are_per_time();
        }
        let (classes, places) = all.labels.classes();
        Ok(Self { options, variables, sources, classes, places, time, columns })
    }

    fn shape(&self) -> Shape<'_> {
        Shape {
            sources: &self.sources,
            duplicates: self.options.duplicates,
            scale: &self.time,
            has_id: self.columns.id.is_some(),
            classes: &self.places,
        }
    }

    /// The table of rows that are all in memory.
    fn in_memory(self, mut all: Collected) -> Result<Table, TableError> {
        let (series, merged) = assemble::series(&all, &self.shape())?;
        all.account.merged = merged;
        let mut calendar = CalendarSearch::new(&self.time);
        series.iter().for_each(|series| calendar.add(&series.times));
        let data = Dataset::new(Observation::Vector { channels: self.variables.len() }, series)?;
        Ok(self.table(data, calendar, all))
    }

    /// The table of rows that need not be in memory.
    fn stored(self, mut all: Collected, room: &Room) -> Result<StoredTable, TableError> {
        let observation = Observation::Vector { channels: self.variables.len() };
        let mut calendar = CalendarSearch::new(&self.time);
        let mut writer = StoreWriter::new(&room.scratch, observation)?;
        let spill = all.spill.take().map(|mut spill| match all.rows.len() {
            0 => Ok(spill),
            _ => spill.write(&mut all.rows).map(|()| spill),
        });
        // Its memory is needed for what follows.
        all.rows = block::Block::default();
        let shape = self.shape();
        let mut assembler = Assembler::new(&all, &shape);
        if let Some(spill) = spill.transpose()? {
            spill.merge(|rows| {
                let series: Series<f64> = assembler.only_series(rows)?;
                calendar.add(&series.times);
                Ok(writer.push(&series)?)
            })?;
        }
        let merged = assembler.merged;
        all.account.merged = merged;
        Ok(self.table(writer.finish()?, calendar, all))
    }

    fn table<D: SeriesSource<f64>>(mut self, data: D, calendar: CalendarSearch, all: Collected) -> Table<D> {
        if let TimeScale::Date { calendar: step, .. } = &mut self.time {
            *step = calendar.finish();
        }
        let Self { variables, classes, time, columns, .. } = self;
        let origins = vec![0.0; data.len()];
        Table { data, origins, variables, classes, time, columns, account: all.account }
    }
}

/// Checks that names of variables of a long table that were asked for came.
fn check_names(all: &Collected, roles: &Roles, options: &ReadOptions) -> Result<(), TableError> {
    if !all.is_long {
        return Ok(());
    }
    let came = |name: &String| all.variables().any(|variable| variable.0 == name);
    let known = || all.variables().map(|variable| variable.0.to_owned()).collect::<Vec<_>>();
    if let Some(expect) = &options.expect {
        let expected: Vec<String> = expect.variables.iter().map(|variable| variable.name.clone()).collect();
        let is_there = |name: &String| came(name) || roles.columns.statics.contains(name);
        return match options.is_part || expected.iter().any(is_there) {
            true => Ok(()),
            false => Err(TableError::NoExpected { expected, known: known() }),
        };
    }
    let asked = options.variables.iter().map(|name| ("variables", name));
    let asked = asked.chain(roles.statics.iter().map(|name| ("statics", name)));
    let mut asked = asked.chain(roles.left_out.iter().map(|name| ("ignore", name)));
    match asked.find(|(_, name)| !came(name)) {
        None => Ok(()),
        Some((option, name)) => {
            let known = known();
            let nearest = vocabulary::nearest(name, &known);
            Err(TableError::UnknownName { option, name: name.clone(), nearest, known, long: true })
        }
    }
}

/// The channels in their order: those of the model; or those with a value a time, then those of whole series.
fn variables(all: &Collected, options: &ReadOptions) -> Vec<TableVariable> {
    if let Some(expect) = &options.expect {
        return expect.variables.clone();
    }
    let with = |is_static| move |name: &String| TableVariable { name: name.clone(), is_static };
    all.channels.iter().map(with(false)).chain(all.statics.names().iter().map(with(true))).collect()
}

/// Where the values of the channels are.
fn sources(all: &Collected, variables: &[TableVariable]) -> Vec<Source> {
    let channels: HashMap<&String, usize> = all.channels.iter().zip(0..).collect();
    let source = |variable: &TableVariable| match variable.is_static {
        true => all.statics.position(&variable.name).map(Source::Static),
        false => channels.get(&variable.name).copied().map(Source::Channel),
    };
    variables.iter().map(|variable| source(variable).unwrap_or(Source::Nowhere)).collect()
}
