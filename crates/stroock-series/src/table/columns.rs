//! Which column of a table is what.

use serde::{Deserialize, Serialize};

use super::DateFormat;

/// Where the values are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A row has one value, with the name of its variable beside it.
    Long {
        /// Column of the names of variables.
        variable: String,
        /// Column of the values.
        value: String,
    },
    /// A row has a value for each variable, any of which may be missing.
    Wide {
        /// Columns of the variables.
        variables: Vec<String>,
    },
}

/// A column of classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelColumn {
    /// Its name.
    pub column: String,
    /// Whether every time has a class of its own, and not the series as a whole.
    pub per_time: bool,
}

/// Which column of a table is what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// Names of the series; `None` where a table is one series.
    pub id: Option<String>,
    /// Times: one column, or the parts of a date from the year down.
    pub time: Vec<String>,
    /// Where the values are.
    pub form: Form,
    /// Numbers that belong to a whole series.
    pub statics: Vec<String>,
    /// Classes.
    pub label: Option<LabelColumn>,
    /// Columns that are not read, each with the reason.
    pub ignored: Vec<(String, String)>,
    /// What the times look like although they are read as numbers, because their name does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks_like: Option<DateFormat>,
}
