//! Configuration in layers: defaults, then a TOML file, then overrides `key.path=value`.
//!
//! Works for any structure that serde can write and read. What it asks of the structure:
//!
//! - a choice without further keys is an enum of unit variants, and its value a text: `solver = "geometric"`;
//! - a choice with keys of its own is an enum tagged by `kind` (`#[serde(tag = "kind")]`): a layer that names
//!   another `kind` starts that table afresh, because the keys of the old kind mean nothing to the new one. All
//!   overrides together are one layer, so that their order does not matter;
//! - an `Option` is `None` by default: TOML has no way to say "nothing" over a default of `Some`.

mod error;
mod fault;
mod reader;
mod tree;

use std::marker::PhantomData;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::{ConfigError, KeyProblem, Place, nearest};

use fault::Fault;
use reader::Reader;
use tree::{Node, Value};

/// Resolves a configuration: `C::default()`, changed by a TOML text (with the path that errors name), changed
/// by overrides (key path, value), of which the last one of a key holds.
///
/// The value of an override is TOML where it can be, and a text where it cannot: `name=pendulum` needs no
/// quotes. A key that does not exist is an error that names the nearest one that does; a value of the wrong type names
/// the key, what it should be, what it is, and the line or the override.
///
/// ```
/// use std::path::Path;
/// use stroock::run::resolve;
///
/// #[derive(serde::Serialize, serde::Deserialize, Default)]
/// struct Config {
///     seed: u64,
///     encoder: Encoder,
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize, Default)]
/// struct Encoder {
///     hidden: usize,
///     layers: usize,
/// }
///
/// let file = "seed = 3\n[encoder]\nhidden = 64\n";
/// let over = [("encoder.layers".to_string(), "2".to_string())];
/// let config: Config = resolve(Some((Path::new("run.toml"), file)), &over)?;
/// assert_eq!((config.seed, config.encoder.hidden, config.encoder.layers), (3, 64, 2));
///
/// let error = resolve::<Config>(Some((Path::new("run.toml"), "[encoder]\nhiden = 64\n")), &[]).err().unwrap();
/// assert_eq!(error.to_string(), "run.toml:2: `encoder.hiden` is not a known key; did you mean `hidden`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolve<C: Serialize + DeserializeOwned + Default>(
    toml: Option<(&Path, &str)>,
    overrides: &[(String, String)],
) -> Result<C, ConfigError> {
    resolve_over(&C::default(), toml, overrides)
}

/// [`resolve`] over a configuration of the caller in place of `C::default()`.
pub fn resolve_over<C: Serialize + DeserializeOwned>(
    default: &C,
    toml: Option<(&Path, &str)>,
    overrides: &[(String, String)],
) -> Result<C, ConfigError> {
    let tree = Node::of_default(&written(default)?);
    resolve_tree(tree, toml, overrides)
}

/// A configuration that has no defaults of its own, from the text of a file that has every key.
///
/// # Errors
/// When a key lacks, is not known, or has a value of the wrong type.
pub fn parse<C: Serialize + DeserializeOwned>(path: &Path, text: &str) -> Result<C, ConfigError> {
    resolve_tree(Node::of_default(&toml::Table::new()), Some((path, text)), &[])
}

fn resolve_tree<C: Serialize + DeserializeOwned>(
    mut tree: Node,
    toml: Option<(&Path, &str)>,
    overrides: &[(String, String)],
) -> Result<C, ConfigError> {
    if let Some((path, text)) = toml {
        tree.merge(Node::of_file(path, text)?);
    }
    let overrides = overrides.iter().map(|(key, value)| Node::of_override(key, value));
    let overrides = overrides.reduce(|first, second| {
        let mut first = first?;
        first.lay(second?);
        Ok(first)
    });
    if let Some(overrides) = overrides {
        tree.merge(overrides?);
    }
    let config = read::<C>(&tree).map_err(|fault| located::<C>(fault, &tree).into_error())?;
    // Serde ignores unknown keys where it cannot tell the reader which keys it knows (an enum with a tag): what
    // the configuration does not write again, it has not read.
    match first_ignored(&tree, &toml::Value::Table(written(&config)?), "") {
        None => Ok(config),
        Some(error) => Err(error),
    }
}

fn read<C: DeserializeOwned>(tree: &Node) -> Result<C, Fault> {
    Reader::new(tree).read(PhantomData::<C>)
}

/// Tables that are tried for a key that is missing: each trial copies the tree and reads it again.
const MOST_TABLES: usize = 256;

/// A fault about a missing key with the table that lacks it. Serde does not tell which one it is below a table with a
/// `kind`; it is the one where giving the key makes another fault, or none.
fn located<C: DeserializeOwned>(mut fault: Fault, tree: &Node) -> Fault {
    let Some(name) = fault.missing().map(str::to_owned) else { return fault };
    for count in 0..MOST_TABLES {
        let mut tree = tree.clone();
        let Some((key, place)) = tree.give(&name, count) else { break };
        if read::<C>(&tree).err().is_none_or(|other| !other.is_about(&name)) {
            fault.move_to(tree::join(&key, &name), place);
            break;
        }
    }
    fault
}

/// A configuration as TOML with every key, such that resolving it gives the same configuration.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Config {
///     seed: u64,
/// }
/// assert_eq!(stroock::run::to_toml(&Config { seed: 3 })?, "seed = 3\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_toml<C: Serialize>(config: &C) -> Result<String, ConfigError> {
    toml::to_string(config).map_err(|error| ConfigError::NotWritable { reason: error.to_string() })
}

fn written<C: Serialize>(config: &C) -> Result<toml::Table, ConfigError> {
    toml::Table::try_from(config).map_err(|error| ConfigError::NotWritable { reason: error.to_string() })
}

/// An error for the first key of a file or an override that is not in the resolved configuration.
fn first_ignored(node: &Node, written: &toml::Value, key: &str) -> Option<ConfigError> {
    match (&node.value, written) {
        (Value::Table(entries), toml::Value::Table(written)) => {
            let mut given = entries.iter().filter(|(_, child)| child.place != Place::Default);
            given.find_map(|(name, child)| {
                let key = tree::join(key, name);
                match written.get(name) {
                    Some(written) => first_ignored(child, written, &key),
                    None => Some(ConfigError::Key {
                        place: child.place.clone(),
                        key,
                        problem: Box::new(KeyProblem::unknown(name, written.keys().map(String::as_str))),
                    }),
                }
            })
        }
        (Value::List(nodes), toml::Value::Array(written)) => {
            let mut elements = nodes.iter().zip(written).enumerate();
            elements.find_map(|(i, (node, written))| first_ignored(node, written, &tree::element(key, i)))
        }
        _ => None,
    }
}
