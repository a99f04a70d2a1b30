//! Trees made of values that are not text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::diagnostic::{Position, Problem};
use crate::tree::{Entry, Spanned, Value};

/// The tree of a value of another format, nested at most `depth` levels deep. It has no positions.
///
/// # Errors
/// The format reports an error, or the value is nested more deeply.
pub(crate) fn tree<'de, D: Deserializer<'de>>(
    value: D,
    depth: usize,
) -> Result<Spanned<'static>, Problem> {
    let read = Tree { depth }.deserialize(value);
    read.map_err(|error| Problem::new(Position::START, error.to_string()))
}

/// Builds a tree of at most this depth.
#[derive(Clone, Copy)]
struct Tree {
    depth: usize,
}

impl Tree {
    fn inner<E: de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        depth.map(|depth| Self { depth }).ok_or_else(|| E::custom("it is nested too deeply"))
    }
}

fn at_start<E>(value: Value<'static>) -> Result<Spanned<'static>, E> {
    Ok(Spanned { value, position: Position::START })
}

fn plain<E>(scalar: impl fmt::Display) -> Result<Spanned<'static>, E> {
    at_start(Value::Plain(Cow::Owned(scalar.to_string())))
}

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Spanned<'static>;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Spanned<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        plain("null")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        // JavaScript writes numbers below 1e21 without an exponent.
        if value.abs() < 1e21 { plain(value) } else { plain(format_args!("{value:e}")) }
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        at_start(Value::Str(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        at_start(Value::Str(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let inner = self.inner()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(inner)? {
            items.push(item);
        }
        at_start(Value::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let inner = self.inner()?;
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(inner)?;
            entries.push(Entry { key: Cow::Owned(key), key_position: Position::START, value });
        }
        at_start(Value::Map(entries))
    }
}
