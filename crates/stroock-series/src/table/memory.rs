//! Tables of series that are in memory already.

use std::collections::HashMap;

use super::{Account, Columns, Form, LabelColumn, Table, TableError, TableVariable, TimeScale};
use crate::{Dataset, Labels, Observation, Series, SeriesError};

impl Table {
    /// A table of series with the given variables, one for each channel. Its columns are called `id` and `time`.
    ///
    /// ```
    /// use stroock_series::Series;
    /// use stroock_series::table::Table;
    /// let series = Series {
    ///     id: "a".into(),
    ///     times: vec![0.0, 0.7],
    ///     values: vec![36.6, 80.0, 37.1, f64::NAN],
    ///     observed: Some(vec![true, true, true, false]),
    ///     ..Series::default()
    /// };
    /// let table = Table::from_series(["temperature", "pulse"], vec![series])?;
    /// assert_eq!(table.variables[1].name, "pulse");
    /// # Ok::<(), stroock_series::SeriesError>(())
    /// ```
    ///
    /// # Errors
    /// When the lengths of a series do not match, its times do not increase, or an observed value is not finite.
    pub fn from_series<N: Into<String>>(
        variables: impl IntoIterator<Item = N>,
        series: Vec<Series<f64>>,
    ) -> Result<Table, SeriesError> {
        let variable = |name: N| TableVariable { name: name.into(), is_static: false };
        let variables: Vec<TableVariable> = variables.into_iter().map(variable).collect();
        let channels = variables.len();
        let data = Dataset::new(Observation::Vector { channels }, series)?;
        let count = |series: &Series<f64>| match &series.observed {
            Some(observed) => observed.iter().filter(|&&observed| observed).count(),
            None => series.values.len(),
        };
        let account = Account {
            rows: data.series().iter().map(|series| series.times.len() as u64).sum(),
            values: data.series().iter().map(|series| count(series) as u64).sum(),
            ..Account::default()
        };
        let columns = Columns {
            id: Some("id".into()),
            time: vec!["time".into()],
            form: Form::Wide { variables: variables.iter().map(|variable| variable.name.clone()).collect() },
            statics: Vec::new(),
            label: None,
            ignored: Vec::new(),
            looks_like: None,
        };
        let origins = vec![0.0; data.series().len()];
        Ok(Table { data, origins, variables, classes: Vec::new(), time: TimeScale::Number, columns, account })
    }

    /// A table from columns of equal length, as a data frame has them: the series and the time of every row, and a
    /// value for each variable, NaN where it is missing. Rows may be in any order.
    ///
    /// ```
    /// use stroock_series::table::Table;
    /// let ids = ["a", "b", "a"];
    /// let times = [1.0, 0.5, 0.0];
    /// let pulse = [80.0, 75.0, f64::NAN];
    /// let table = Table::from_columns(&ids, &times, &[("pulse", &pulse)])?;
    /// assert_eq!(table.data.series()[0].times, [0.0, 1.0]);
    /// assert_eq!(table.data.series()[0].observed, Some(vec![false, true]));
    /// # Ok::<(), stroock_series::table::TableError>(())
    /// ```
    ///
    /// # Errors
    /// When columns differ in length, a series has a time twice, or a value is infinite.
    pub fn from_columns(
        ids: &[impl AsRef<str>],
        times: &[f64],
        variables: &[(&str, &[f64])],
    ) -> Result<Table, TableError> {
        let lengths = variables.iter().map(|(name, values)| (*name, values.len()));
        let mut lengths = [("time", times.len())].into_iter().chain(lengths);
        if let Some((column, actual)) = lengths.find(|(_, length)| *length != ids.len()) {
            return Err(TableError::ColumnLength { column: column.into(), expected: ids.len(), actual });
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for (row, id) in ids.iter().enumerate() {
            let place = *places.entry(id.as_ref()).or_insert(rows.len());
            match rows.get_mut(place) {
                Some(rows) => rows.push(row),
                None => rows.push(vec![row]),
            }
        }
        let series = |mut rows: Vec<usize>| {
            rows.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
            let cells = rows.iter().flat_map(|&row| variables.iter().map(move |(_, values)| values[row]));
            let observed: Vec<bool> = cells.clone().map(|value| !value.is_nan()).collect();
            Series {
                id: ids[rows[0]].as_ref().to_owned(),
                times: rows.iter().map(|&row| times[row]).collect(),
                values: cells.map(|value| if value.is_nan() { 0.0 } else { value }).collect(),
                observed: observed.contains(&false).then_some(observed),
                ..Series::default()
            }
        };
        let series = rows.into_iter().map(series).collect();
        Ok(Table::from_series(variables.iter().map(|(name, _)| *name), series)?)
    }

    /// The same table with names for the classes in the [`Labels`] of its series.
    pub fn with_classes<N: Into<String>>(mut self, classes: impl IntoIterator<Item = N>) -> Table {
        self.classes = classes.into_iter().map(Into::into).collect();
        let per_time = |series: &Series<f64>| matches!(series.labels, Labels::ClassPerTime(_));
        let per_time = self.data.series().iter().any(per_time);
        self.columns.label = Some(LabelColumn { column: "class".into(), per_time });
        self
    }
}
