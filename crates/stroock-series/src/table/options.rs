//! How a table is to be read.

use serde::{Deserialize, Serialize};

use super::{Columns, DateFormat, TableVariable, TimeScale};

/// What to do with two values of one variable at one time of one series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Refuse the table and name the rows.
    #[default]
    Error,
    /// Take the mean of the values.
    Mean,
    /// Take the value of the last row.
    Last,
}

/// How a table is to be read. By default everything is guessed, and [`Table::columns`](super::Table::columns)
/// says what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadOptions {
    /// Column of the names of the series.
    pub id: Option<String>,
    /// Column of the times; or the parts of a date from the year down; or a date and a time of day.
    pub time: Vec<String>,
    /// Column of the names of variables, in the long form.
    pub variable: Option<String>,
    /// Column of the values, in the long form.
    pub value: Option<String>,
    /// Columns of the variables in the wide form, variables to keep in the long form; all when empty.
    pub variables: Vec<String>,
    /// Columns (in the long form also variables) with one number for a whole series.
    pub statics: Vec<String>,
    /// Column of the classes.
    pub label: Option<String>,
    /// Whether every time has a class of its own; `None` means so if a series has more than one class.
    pub label_per_time: Option<bool>,
    /// Columns (in the long form also variables) to leave out.
    pub ignore: Vec<String>,
    /// Zone of dates without one; UTC by default.
    pub time_zone: Option<String>,
    /// How dates are written; found out by default, where that is possible.
    pub date_format: Option<DateFormat>,
    /// What stands for a missing value, whatever its case, beside the empty cell. A number in this list also
    /// stands for equal numbers that are written differently.
    pub missing: Vec<String>,
    /// Byte between two fields of a CSV file; guessed among comma, semicolon, tab and bar by default.
    pub delimiter: Option<u8>,
    /// Sign before the decimals of numbers, `,` or `.`; found out by default: a comma where that is certain.
    pub decimal: Option<u8>,
    /// What to do with two values of one variable at one time of one series.
    pub duplicates: Duplicates,
    /// Leave out the rows that cannot be understood, and count them, instead of giving up.
    pub skip_bad_rows: bool,
    /// The table is a part of another one: it need not have what a model expects somewhere in a table, nor a row that can
    /// be understood.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
    /// What a model expects of the table.
    #[serde(skip)]
    pub expect: Option<Expectation>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            id: None,
            time: Vec::new(),
            variable: None,
            value: None,
            variables: Vec::new(),
            statics: Vec::new(),
            label: None,
            label_per_time: None,
            ignore: Vec::new(),
            time_zone: None,
            date_format: None,
            missing: ["NA", "N/A", "#N/A", "<NA>", "NaN", "null", "None"].map(String::from).to_vec(),
            delimiter: None,
            decimal: None,
            duplicates: Duplicates::Error,
            skip_bad_rows: false,
            is_part: false,
            expect: None,
        }
    }
}

/// What a model expects of a new table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The channels of the model in their order. Other variables are left out; channels that the table does not
    /// have stay without observations. Both are listed in [`Columns::ignored`].
    pub variables: Vec<TableVariable>,
    /// Classes of the model in their order; any are allowed when empty.
    pub classes: Vec<String>,
    /// Which column was what when the model was trained; holds again where the new table has the columns.
    pub columns: Columns,
    /// How times were written.
    pub time: TimeScale,
}
