//! A configuration as a tree of which every node knows where it comes from.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::{ConfigError, Place};

/// Key of a table that says which kind of thing it describes.
const KIND: &str = "kind";
/// Most parts of the key of an override.
const DEEPEST: usize = 80;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub value: Value,
    pub place: Place,
    /// The value of an override as it was typed, for keys that hold texts: `name=1e3` names a thing `1e3`.
    pub typed: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Entries),
}

pub(super) type Entries = BTreeMap<String, Node>;

impl Node {
    fn new(value: Value, place: Place) -> Self {
        Node { value, place, typed: None }
    }

    pub fn of_default(table: &toml::Table) -> Self {
        let entries = table.iter().map(|(name, value)| (name.clone(), Self::of_default_value(value)));
        Node::new(Value::Table(entries.collect()), Place::Default)
    }

    fn of_default_value(value: &toml::Value) -> Self {
        let value = match value {
            toml::Value::Table(table) => return Self::of_default(table),
            toml::Value::Boolean(value) => Value::Boolean(*value),
            toml::Value::Integer(value) => Value::Integer(*value),
            toml::Value::Float(value) => Value::Float(*value),
            toml::Value::String(value) => Value::Text(value.clone()),
            toml::Value::Datetime(value) => Value::Text(value.to_string()),
            toml::Value::Array(values) => Value::List(values.iter().map(Self::of_default_value).collect()),
        };
        Node::new(value, Place::Default)
    }

    pub fn of_file(path: &Path, text: &str) -> Result<Self, ConfigError> {
        // Found once: every key asks for its line.
        let ends: Vec<usize> =
            text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect();
        let place = |span: Range<usize>| Place::File {
            path: path.to_owned(),
            line: 1 + ends.partition_point(|end| *end < span.start),
        };
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            place: place(error.span().unwrap_or_default()),
            reason: error.message().to_owned(),
        })?;
        of_table(table.get_ref(), place(0..0), &place)
    }

    pub fn of_override(key: &str, text: &str) -> Result<Self, ConfigError> {
        let place = Place::Override { text: format!("{key}={text}") };
        let parsed = DeValue::parse(text).ok();
        let parsed =
            parsed.and_then(|value| of_value(value.get_ref(), place.clone(), &|_| place.clone()).ok());
        let mut node = parsed.unwrap_or_else(|| Node::new(Value::Text(text.to_owned()), place.clone()));
        if !matches!(node.value, Value::Text(_) | Value::Table(_)) {
            node.typed = Some(text.to_owned());
        }
        // A tree is walked by recursion: one from a file is no deeper, because its reader refuses that.
        if key.split('.').count() > DEEPEST {
            return Err(ConfigError::OverrideKey { place });
        }
        for name in key.split('.').rev() {
            let name = name.trim();
            if name.is_empty() {
                return Err(ConfigError::OverrideKey { place });
            }
            node = Node::new(Value::Table([(name.to_owned(), node)].into()), place.clone());
        }
        Ok(node)
    }

    /// Lays the tree of a later layer over this one: tables are merged key by key unless they are of different
    /// kinds, everything else is replaced.
    pub fn merge(&mut self, over: Node) {
        self.combine(over, same_kind);
    }

    /// Adds a tree of the same layer: tables are merged key by key, everything else is replaced.
    pub fn lay(&mut self, over: Node) {
        self.combine(over, |_, _| true);
    }

    /// Gives a key to the table that is the `count`-th of those without it. Its own key and place; `None` if there
    /// are not so many.
    pub fn give(&mut self, name: &str, mut count: usize) -> Option<(String, Place)> {
        self.give_below(String::new(), name, &mut count)
    }

    fn give_below(&mut self, key: String, name: &str, count: &mut usize) -> Option<(String, Place)> {
        match &mut self.value {
            Value::Table(entries) if *count == 0 && !entries.contains_key(name) => {
                entries.insert(name.to_owned(), Node::new(Value::Boolean(true), self.place.clone()));
                Some((key, self.place.clone()))
            }
            Value::Table(entries) => {
                *count -= usize::from(!entries.contains_key(name));
                let mut entries = entries.iter_mut();
                entries.find_map(|(below, node)| node.give_below(join(&key, below), name, count))
            }
            Value::List(nodes) => {
                let mut nodes = nodes.iter_mut().enumerate();
                nodes.find_map(|(i, node)| node.give_below(element(&key, i), name, count))
            }
            _ => None,
        }
    }

    fn combine(&mut self, over: Node, alike: fn(&Entries, &Entries) -> bool) {
        match (&mut self.value, over) {
            (Value::Table(old), Node { value: Value::Table(new), place, .. }) if alike(old, &new) => {
                for (name, node) in new {
                    match old.get_mut(&name) {
                        Some(below) => below.combine(node, alike),
                        None => _ = old.insert(name, node),
                    }
                }
                self.place = place;
            }
            (_, over) => *self = over,
        }
    }
}

/// The full key of `name` in a table.
pub(super) fn join(table: &str, name: &str) -> String {
    if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") }
}

/// The full key of an element of a list.
pub(super) fn element(list: &str, place: usize) -> String {
    format!("{list}[{place}]")
}

/// The kind that a table names.
pub(super) fn kind(table: &Entries) -> Option<&str> {
    match table.get(KIND) {
        Some(Node { value: Value::Text(kind), .. }) => Some(kind),
        _ => None,
    }
}

/// Whether two tables describe the same kind of thing, as far as they say.
fn same_kind(old: &Entries, new: &Entries) -> bool {
    kind(old).zip(kind(new)).is_none_or(|(old, new)| old == new)
}

/// Places nodes by the bytes they come from.
type PlaceOf<'a> = &'a dyn Fn(Range<usize>) -> Place;

fn of_table(table: &DeTable<'_>, place: Place, place_of: PlaceOf<'_>) -> Result<Node, ConfigError> {
    let entries = table.iter().map(|(name, value)| {
        let node = of_value(value.get_ref(), place_of(name.span()), place_of)?;
        Ok((name.get_ref().to_string(), node))
    });
    Ok(Node::new(Value::Table(entries.collect::<Result<_, ConfigError>>()?), place))
}

fn of_value(value: &DeValue<'_>, place: Place, place_of: PlaceOf<'_>) -> Result<Node, ConfigError> {
    let out_of_range = |number: &str| ConfigError::Syntax {
        place: place.clone(),
        reason: format!("the number `{number}` is out of range"),
    };
    let value = match value {
        DeValue::Table(table) => return of_table(table, place, place_of),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Integer(value) => {
            let number = i64::from_str_radix(value.as_str(), value.radix());
            Value::Integer(number.map_err(|_| out_of_range(value.as_str()))?)
        }
        DeValue::Float(value) => match value.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() || !value.as_str().contains(|c: char| c.is_ascii_digit()) => {
                Value::Float(number)
            }
            _ => return Err(out_of_range(value.as_str())),
        },
        DeValue::String(value) => Value::Text(value.to_string()),
        DeValue::Datetime(value) => Value::Text(value.to_string()),
        DeValue::Array(values) => {
            let nodes =
                values.iter().map(|value| of_value(value.get_ref(), place_of(value.span()), place_of));
            Value::List(nodes.collect::<Result<_, ConfigError>>()?)
        }
    };
    Ok(Node::new(value, place))
}
