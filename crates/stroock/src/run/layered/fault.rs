//! What serde finds wrong, in the words of a user.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::tree::{Node, Value, element, join, kind};
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
            let own = || {
                let child = self.name.as_ref().and_then(|name| child(node, name));
                let key = self.name.as_ref().map_or(key.to_owned(), |name| join(key, name));
                (key, child.unwrap_or(node).place.clone())
            };
            self.at = Some(self.culprit(key, node).unwrap_or_else(own));
        }
        self
    }

    /// The node below a table with a `kind` that is meant. Serde copies such a table before it reads it, and then
    /// speaks of keys and values without their tables: if exactly one node fits, that is the one.
    fn culprit(&self, key: &str, node: &Node) -> Option<(String, Place)> {
        let Value::Table(entries) = &node.value else { return None };
        if kind(entries).is_none() || self.name.as_ref().is_some_and(|name| entries.contains_key(name)) {
            return None;
        }
        let is_meant = |name: &str, value: &Value| match (&*self.problem, value) {
            (KeyProblem::Unknown { .. }, _) => self.name.as_deref() == Some(name),
            (KeyProblem::Choice { found, .. }, Value::Text(text)) => found == text,
            (KeyProblem::Type { found, .. }, value) => *found == in_words(value),
            _ => false,
        };
        let mut meant = Vec::new();
        find(key, node, &is_meant, &mut meant);
        if meant.len() > 1 {
            // Defaults are in order.
            meant.retain(|(_, place)| *place != Place::Default);
        }
        if meant.len() == 1 { meant.pop() } else { None }
    }

    /// The name of the key that is missing, if that is the problem.
    pub fn missing(&self) -> Option<&str> {
        self.name.as_deref().filter(|_| *self.problem == KeyProblem::Missing)
    }

    /// Whether a key of this name is missing or not known.
    pub fn is_about(&self, name: &str) -> bool {
        let key = self.at.as_ref().map(|(key, _)| key.rsplit('.').next().unwrap_or_default());
        let is_named = self.name.as_deref() == Some(name) || key == Some(name);
        is_named && matches!(*self.problem, KeyProblem::Missing | KeyProblem::Unknown { .. })
    }

    pub fn move_to(&mut self, key: String, place: Place) {
        self.at = Some((key, place));
    }

    pub fn into_error(self) -> ConfigError {
        let (key, place) = self.at.unwrap_or((String::new(), Place::Default));
        ConfigError::Key { place, key, problem: self.problem }
    }
}

/// The entry of a table.
fn child<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Table(entries) => entries.get(name),
        _ => None,
    }
}

/// Keys and places of the nodes below one that are meant.
fn find(key: &str, node: &Node, is_meant: &impl Fn(&str, &Value) -> bool, meant: &mut Vec<(String, Place)>) {
    let mut look = |name: &str, key: String, node: &Node| {
        if is_meant(name, &node.value) {
            meant.push((key.clone(), node.place.clone()));
        }
        find(&key, node, is_meant, meant);
    };
    match &node.value {
        Value::Table(entries) => entries.iter().for_each(|(name, node)| look(name, join(key, name), node)),
        Value::List(nodes) => nodes.iter().enumerate().for_each(|(i, node)| look("", element(key, i), node)),
        _ => {}
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
        words if words.starts_with("internally tagged enum ") => "a table with a `kind`",
        words => words,
    }
    .to_owned()
}
