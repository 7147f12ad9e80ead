//! What serde finds wrong, in the words of a user.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::tree::{Node, Value, join};
use super::{ConfigError, KeyProblem, Place};

/// An error on its way up from where serde noticed it. It gets its key and place from the first node that it
/// passes.
#[derive(Debug)]
pub(super) struct Fault {
    problem: Box<KeyProblem>,
    /// The key in the table that is being read, where serde names one.
    name: Option<String>,
    at: Option<(String, Place)>,
}

impl Fault {
    pub fn new(problem: KeyProblem) -> Self {
        Fault { problem: Box::new(problem), name: None, at: None }
    }

    /// The fault with the key and the place of a node, unless a node below has given its own.
    pub fn at(mut self, key: &str, node: &Node) -> Self {
        if self.at.is_none() {
            let child = self.culprit(node);
            let place = child.map_or(&node.place, |(_, child)| &child.place).clone();
            let name = self.name.as_deref().or(child.map(|(name, _)| name));
            self.at = Some((name.map_or(key.to_owned(), |name| join(key, name)), place));
        }
        self
    }

    /// The entry of a table that is meant. Serde copies a table whose `kind` it has yet to find, and then
    /// speaks of values without their keys: if exactly one entry has the value, that is the one.
    fn culprit<'a>(&self, node: &'a Node) -> Option<(&'a str, &'a Node)> {
        let Value::Table(entries) = &node.value else { return None };
        if let Some(name) = &self.name {
            return entries.get_key_value(name).map(|(name, child)| (name.as_str(), child));
        }
        let is_meant = |value: &Value| match (&*self.problem, value) {
            (KeyProblem::Choice { found, .. }, Value::Text(text)) => found == text,
            (KeyProblem::Type { found, .. }, value) => *found == in_words(value),
            _ => false,
        };
        let mut meant = entries.iter().filter(|(_, child)| is_meant(&child.value));
        match (meant.next(), meant.next()) {
            (Some((name, child)), None) => Some((name, child)),
            _ => None,
        }
    }

    pub fn into_error(self) -> ConfigError {
        let (key, place) = self.at.unwrap_or((String::new(), Place::Default));
        ConfigError::Key { place, key, problem: self.problem }
    }
}

impl Error for Fault {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Fault::new(KeyProblem::Rejected { reason: reason.to_string() })
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Fault::new(KeyProblem::Type { expected: expectation(expected), found: finding(found) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let found = format!("a list of {length}");
        Fault::new(KeyProblem::Type { expected: expectation(expected), found })
    }

    fn unknown_variant(found: &str, choices: &'static [&'static str]) -> Self {
        Fault::new(KeyProblem::choice(found, choices))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let problem = KeyProblem::unknown(name, known.iter().copied());
        Fault { name: Some(name.to_owned()), ..Fault::new(problem) }
    }

    fn missing_field(name: &'static str) -> Self {
        Fault { name: Some(name.to_owned()), ..Fault::new(KeyProblem::Missing) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for Fault {}

/// A value in words.
pub(super) fn in_words(value: &Value) -> String {
    finding(match value {
        Value::Boolean(value) => Unexpected::Bool(*value),
        Value::Integer(value) => Unexpected::Signed(*value),
        Value::Float(value) => Unexpected::Float(*value),
        Value::Text(value) => Unexpected::Str(value),
        Value::List(_) => Unexpected::Seq,
        Value::Table(_) => Unexpected::Map,
    })
}

fn finding(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value:?}`"),
        Unexpected::Str(value) => format!("the text {value:?}"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// What serde expects, in words that are not those of Rust.
fn expectation(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "u128" | "usize" => "a whole number that is not negative",
        "i8" => "a whole number from -128 to 127",
        "i16" => "a whole number from -32768 to 32767",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        words if words.starts_with("struct ") => "a table",
        words => words,
    }
    .to_owned()
}
