//! Reads a structure from a tree, such that every error knows its key and its place.

use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::KeyProblem;
use super::error::list;
use super::fault::{Fault, in_words};
use super::tree::{Node, Value, element, join};

/// A node of the tree and its full key.
pub(super) struct Reader<'a> {
    node: &'a Node,
    key: String,
}

impl<'a> Reader<'a> {
    pub fn new(tree: &'a Node) -> Self {
        Reader { node: tree, key: String::new() }
    }

    /// Reads the node. What is wrong with it gets its key and place here, and not earlier, because serde may
    /// look at a copy of the node that it has made.
    pub fn read<'de, T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        let (key, node) = (self.key.clone(), self.node);
        seed.deserialize(self).map_err(|fault| fault.at(&key, node))
    }

    fn child(&self, name: &str, node: &'a Node) -> Self {
        Reader { node, key: join(&self.key, name) }
    }

    fn fault(&self, problem: KeyProblem) -> Fault {
        Fault::new(problem).at(&self.key, self.node)
    }

    fn type_fault(&self, expected: String) -> Fault {
        self.fault(KeyProblem::Type { expected, found: in_words(&self.node.value) })
    }

    fn visit_list<'de, V: Visitor<'de>>(&self, nodes: &'a [Node], visitor: V) -> Result<V::Value, Fault> {
        let mut elements = Elements { list: self, rest: nodes.iter(), read: 0 };
        let value = visitor.visit_seq(&mut elements)?;
        match elements.read {
            read if read == nodes.len() => Ok(value),
            read => Err(self.fault(KeyProblem::Type {
                expected: format!("a list of {read}"),
                found: format!("a list of {}", nodes.len()),
            })),
        }
    }

    /// The value as a text, if it can be one.
    fn text(&self) -> Option<&'a str> {
        match (&self.node.typed, &self.node.value) {
            (Some(text), _) | (None, Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::List(nodes) => self.visit_list(nodes, visitor),
            Value::Table(entries) => {
                visitor.visit_map(Entries { table: &self, rest: entries.iter(), value: None })
            }
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text() {
            Some(text) => visitor.visit_str(text),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        // A key that is given has a value: TOML knows no null.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Value::Table(entries) = &self.node.value else {
            return Err(self.type_fault("a table".to_owned()));
        };
        match entries.iter().find(|(name, _)| !fields.contains(&name.as_str())) {
            None => self.deserialize_any(visitor),
            Some((name, node)) => {
                let problem = KeyProblem::unknown(name, fields.iter().copied());
                Err(self.child(name, node).fault(problem))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let (name, content) = match (self.text(), &self.node.value) {
            (Some(name), _) => (name, None),
            (None, Value::Table(entries)) if entries.len() == 1 => {
                let first = entries.iter().next();
                first.map_or(("", None), |(name, node)| (name.as_str(), Some(self.child(name, node))))
            }
            _ => return Err(self.type_fault(format!("one of {}", list(variants)))),
        };
        if !variants.contains(&name) {
            return Err(self.fault(KeyProblem::choice(name, variants)));
        }
        visitor.visit_enum(Choice { name, content })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// The elements of a list.
struct Elements<'a, 'r> {
    list: &'r Reader<'a>,
    rest: slice::Iter<'a, Node>,
    read: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        let key = element(&self.list.key, self.read);
        self.read += 1;
        Reader { node, key }.read(seed).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The entries of a table.
struct Entries<'a, 'r> {
    table: &'r Reader<'a>,
    rest: std::collections::btree_map::Iter<'a, String, Node>,
    /// The value that belongs to the name read last.
    value: Option<Reader<'a>>,
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((name, node)) = self.rest.next() else { return Ok(None) };
        let value = self.table.child(name, node);
        let name: StrDeserializer<'_, Fault> = name.as_str().into_deserializer();
        let name = seed.deserialize(name).map_err(|fault| fault.at(&value.key, node));
        self.value = Some(value);
        name.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let value = self.value.take().ok_or_else(|| self.table.fault(KeyProblem::Missing))?;
        value.read(seed)
    }
}

/// The choice of an enum, with its content if it was given any.
struct Choice<'a> {
    name: &'a str,
    content: Option<Reader<'a>>,
}

impl<'a, 'de> EnumAccess<'de> for Choice<'a> {
    type Error = Fault;
    type Variant = Content<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content<'a>), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.content)))
    }
}

struct Content<'a>(Option<Reader<'a>>);

impl<'a> Content<'a> {
    fn given(self) -> Result<Reader<'a>, Fault> {
        self.0.ok_or_else(|| {
            let (expected, found) =
                ("a table with this choice and its content".into(), "its name alone".into());
            Fault::new(KeyProblem::Type { expected, found })
        })
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.0 {
            None => Ok(()),
            Some(content) => Err(content.type_fault("a choice without content".to_owned())),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        self.given()?.read(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.given()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.given()?.deserialize_struct("", fields, visitor)
    }
}
