//! What can be wrong with a configuration.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Where a value of a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The default of the configuration.
    Default,
    /// A line of a file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An override.
    Override {
        /// The override as it was given, `key=value`.
        text: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Default => f.write_str("the defaults"),
            Place::File { path, line } => write!(f, "{}:{line}", path.display()),
            Place::Override { text } => write!(f, "override `{text}`"),
        }
    }
}

/// Why a configuration cannot be resolved or written.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("{place}: {reason}")]
    Syntax {
        /// File and line.
        place: Place,
        /// What the parser says.
        reason: String,
    },
    /// The key of an override has an empty part.
    #[error("{place}: a key looks like `name` or `table.name`")]
    OverrideKey {
        /// The override.
        place: Place,
    },
    /// Something is wrong with a key.
    #[error("{place}: `{key}` {problem}")]
    Key {
        /// Where the key was given.
        place: Place,
        /// The key with all tables it is in, joined by dots.
        key: String,
        /// What is wrong with it.
        problem: Box<KeyProblem>,
    },
    /// The configuration has a value that TOML cannot hold.
    #[error("the configuration cannot be written as TOML: {reason}")]
    NotWritable {
        /// What the writer says.
        reason: String,
    },
}

/// What is wrong with a key of a configuration.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum KeyProblem {
    /// There is no such key.
    #[error("is not a known key{}", hint(nearest, known))]
    Unknown {
        /// The key that may have been meant.
        nearest: Option<String>,
        /// All keys of the table.
        known: Vec<String>,
    },
    /// There is no such choice.
    #[error("must be one of {}, but it is `{found}`{}", list(choices), did_you_mean(nearest))]
    Choice {
        /// Given value.
        found: String,
        /// The choice that may have been meant.
        nearest: Option<String>,
        /// All choices.
        choices: Vec<String>,
    },
    /// The value has another type or is out of range.
    #[error("must be {expected}, but it is {found}")]
    Type {
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The key has no default, and no layer gives it.
    #[error("is missing")]
    Missing,
    /// The type of the value has a condition of its own.
    #[error("is not accepted: {reason}")]
    Rejected {
        /// What the type says.
        reason: String,
    },
}

impl KeyProblem {
    pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<String> = known.map(str::to_owned).collect();
        KeyProblem::Unknown { nearest: nearest_of(name, &known), known }
    }

    pub(super) fn choice(found: &str, choices: &[&str]) -> Self {
        let choices: Vec<String> = choices.iter().map(|choice| choice.to_string()).collect();
        KeyProblem::Choice { found: found.to_owned(), nearest: nearest_of(found, &choices), choices }
    }
}

/// The known name with the fewest edits from `name`, if they are so few that a slip of the finger explains them.
///
/// ```
/// use stroock::run::nearest;
/// assert_eq!(nearest("Glucos", ["Glucose", "Lactate", "HR"]), Some("Glucose"));
/// assert_eq!(nearest("hr", ["Glucose", "Lactate", "HR"]), Some("HR"));
/// assert_eq!(nearest("Temperature", ["Glucose", "Lactate", "HR"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let most = (name.chars().count() / 3).max(1);
    let (edits, nearest) = known.into_iter().map(|other| (distance(other), other)).min()?;
    (edits <= most).then_some(nearest)
}

fn nearest_of(name: &str, known: &[String]) -> Option<String> {
    nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
}

fn hint(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(_) => did_you_mean(nearest),
        None if known.is_empty() => "; there are none here".to_owned(),
        None => format!("; there are {}", list(known)),
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

pub(super) fn list<S: fmt::Display>(names: &[S]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
