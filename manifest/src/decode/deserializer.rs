//! A tree as a `serde` deserializer.
//!
//! Generic code is compiled once for every decoded type, so as little as possible is generic here:
//! the size of the page depends on it.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Visitor};

use super::error::DecodeError;
use super::path::Path;
use crate::dropped::Dropped;
use crate::fields::Rule;
use crate::image::without_credentials;
use crate::newest::Newest;
use crate::scalar::{Scalar, resolve};
use crate::tree::{Entry, Spanned, Value};

/// A field that does not exist in its object.
#[derive(Debug)]
pub(super) struct Ignored {
    pub(super) path: Vec<usize>,
    /// The fields that exist.
    pub(super) known: &'static [&'static str],
}

/// Observations made while an object is decoded.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) ignored: RefCell<Vec<Ignored>>,
    pub(super) dropped: RefCell<Dropped>,
    pub(super) newest: RefCell<Newest>,
    /// Whether fields that do not enter stay as well.
    pub(super) keep_all: bool,
}

/// Decodes one node.
pub(super) struct Decoder<'n, 't, 'p> {
    pub(super) node: &'n Spanned<'t>,
    pub(super) path: Path<'p>,
    pub(super) context: &'p Context,
    /// The fields of the object around this node; empty if they are not all known.
    pub(super) known: &'static [&'static str],
    /// The rule that says which part of this node enters.
    pub(super) rule: Rule,
}

impl<'n, 't> Decoder<'n, 't, '_> {
    fn child(&self, index: usize, node: &'n Spanned<'t>) -> Decoder<'n, 't, '_> {
        let path = Path::Child { parent: &self.path, index };
        Decoder { node, path, context: self.context, known: &[], rule: self.rule }
    }

    /// Adds the place to an error that has none yet.
    #[cold]
    pub(super) fn locate(&self, error: DecodeError) -> DecodeError {
        error.locate(Some(self.node), self.node.position, self.path)
    }

    /// Adds the key of an entry as the place of an error.
    #[cold]
    fn locate_key(&self, error: DecodeError, index: usize) -> DecodeError {
        match self.entries().and_then(|entries| entries.get(index)) {
            Some(entry) => {
                let path = Path::Child { parent: &self.path, index };
                error.locate(None, entry.key_position, path)
            }
            None => self.locate(error),
        }
    }

    fn meaning(&self) -> Scalar {
        match &self.node.value {
            Value::Plain(text) => resolve(text),
            _ => Scalar::Str,
        }
    }

    fn items(&self) -> Option<&'n [Spanned<'t>]> {
        match &self.node.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    fn entries(&self) -> Option<&'n [Entry<'t>]> {
        match &self.node.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self.node.value, Value::Removed) || self.node.is_null()
    }

    /// The rule for the entries of this node.
    fn rule_of_entries(&self) -> Rule {
        let Rule::Object = self.rule else { return self.rule };
        let text = |key: &str| self.node.get(key).and_then(Spanned::as_str).unwrap_or("");
        Rule::of_kind(text("apiVersion"), text("kind"))
    }

    /// Notes a text that enters, without its credentials if it names an image.
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.rule {
            Rule::Time => self.context.newest.borrow_mut().see(text),
            Rule::Image if !self.context.keep_all => {
                let clean = without_credentials(text);
                if *clean != *text {
                    self.context.dropped.borrow_mut().credentials += 1;
                }
                return clean;
            }
            _ => {}
        }
        Cow::Borrowed(text)
    }

    #[cold]
    fn ignore(&self) {
        let ignored = Ignored { path: self.path.to_vec(), known: self.known };
        self.context.ignored.borrow_mut().push(ignored);
    }
}

/// The error that something other than `expected` was found; the place adds what it was.
#[cold]
fn mismatch(expected: &dyn de::Expected) -> DecodeError {
    DecodeError::mismatch(expected)
}

impl<'de> de::Deserializer<'de> for &Decoder<'_, '_, '_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Seq(items) => visitor.visit_seq(Items { around: self, items, index: 0 }),
            Value::Map(entries) => visitor.visit_map(Entries::new(self, entries, &[], true)),
            Value::Str(text) => visitor.visit_str(&self.text(text)),
            Value::Plain(text) => match resolve(text) {
                Scalar::Null => visitor.visit_unit(),
                Scalar::Bool(value) => visitor.visit_bool(value),
                Scalar::Int(value) => match u64::try_from(value) {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => visitor.visit_i64(value),
                },
                Scalar::Uint(value) => visitor.visit_u64(value),
                Scalar::Float(value) => visitor.visit_f64(value),
                Scalar::Str => visitor.visit_str(&self.text(text)),
            },
            Value::Removed => visitor.visit_unit(),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.items() {
            Some(items) => visitor.visit_seq(Items { around: self, items, index: 0 }),
            None => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.entries() {
            Some(entries) => visitor.visit_map(Entries::new(self, entries, &[], false)),
            None => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.entries() {
            Some(entries) => visitor.visit_map(Entries::new(self, entries, fields, false)),
            None => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match Variant::new(self) {
            Some(variant) => visitor.visit_enum(variant),
            None => Err(mismatch(&"one name, or a mapping with one name as its only key")),
        }
    }

    /// A field that no type asks for is a mistake if all fields of its object are known.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if !self.known.is_empty() {
            self.ignore();
        }
        visitor.visit_unit()
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.node.as_str() {
            Some(text) => visitor.visit_str(&self.text(text)),
            None => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.meaning() {
            Scalar::Bool(value) => visitor.visit_bool(value),
            _ => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.meaning() {
            Scalar::Int(value) => visitor.visit_i64(value),
            _ => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

/// The elements of a list.
struct Items<'n, 't, 'p> {
    around: &'p Decoder<'n, 't, 'p>,
    items: &'n [Spanned<'t>],
    index: usize,
}

impl<'n, 't, 'p> Items<'n, 't, 'p> {
    /// The next element that was not removed.
    #[inline(never)]
    fn next(&mut self) -> Option<Decoder<'n, 't, 'p>> {
        loop {
            let (index, node) = (self.index, self.items.get(self.index)?);
            self.index += 1;
            if !matches!(node.value, Value::Removed) {
                return Some(self.around.child(index, node));
            }
        }
    }
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_, '_> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        let Some(decoder) = self.next() else { return Ok(None) };
        match seed.deserialize(&decoder) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(decoder.locate(error)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.items.len().checked_sub(self.index)
    }
}

/// The entries of a mapping.
struct Entries<'n, 't, 'p> {
    around: &'p Decoder<'n, 't, 'p>,
    entries: &'n [Entry<'t>],
    known: &'static [&'static str],
    /// Whether entries that are `null` are kept; in objects of Kubernetes they mean nothing.
    keep_nulls: bool,
    index: usize,
    /// The rule of all entries; `present` is that of the current entry.
    rule: Rule,
    present: Rule,
}

impl<'n, 't, 'p> Entries<'n, 't, 'p> {
    fn new(
        around: &'p Decoder<'n, 't, 'p>,
        entries: &'n [Entry<'t>],
        known: &'static [&'static str],
        keep_nulls: bool,
    ) -> Self {
        let rule = around.rule_of_entries();
        Self { around, entries, known, keep_nulls, index: 0, rule, present: rule }
    }

    /// The key of the next entry that enters.
    #[inline(never)]
    fn next_key(&mut self) -> Option<StrDeserializer<'n, DecodeError>> {
        loop {
            let Entry { key, value, .. } = self.entries.get(self.index)?;
            let gone = matches!(value.value, Value::Removed);
            if !gone && (self.keep_nulls || !value.is_null()) {
                let rule = self.rule.field(key).map(|(rule, _)| rule);
                match rule.filter(|rule| rule.admits(value.as_str())) {
                    Some(rule) => self.present = rule,
                    None if self.around.context.keep_all => self.present = Rule::All,
                    None if self.known.is_empty() => {
                        self.around.context.dropped.borrow_mut().count(self.rule, key);
                        self.index += 1;
                        continue;
                    }
                    // A type whose fields are all known has no such field.
                    None => {
                        let decoder = self.around.child(self.index, value);
                        Decoder { known: self.known, ..decoder }.ignore();
                        self.index += 1;
                        continue;
                    }
                }
                return Some(de::IntoDeserializer::into_deserializer(&**key));
            }
            self.index += 1;
        }
    }

    /// The value of the key returned last.
    #[inline(never)]
    fn next_value(&mut self) -> Result<Decoder<'n, 't, 'p>, DecodeError> {
        match self.entries.get(self.index) {
            Some(entry) => {
                let decoder = self.around.child(self.index, &entry.value);
                self.index += 1;
                Ok(Decoder { known: self.known, rule: self.present, ..decoder })
            }
            None => Err(mismatch(&"a value after the key")),
        }
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_, '_> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        let Some(key) = self.next_key() else { return Ok(None) };
        match seed.deserialize(key) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(self.around.locate_key(error, self.index)),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        let decoder = self.next_value()?;
        seed.deserialize(&decoder).map_err(|error| decoder.locate(error))
    }
}

/// An enum value: `name`, or `name: value`.
struct Variant<'n, 't, 'p> {
    around: &'p Decoder<'n, 't, 'p>,
    name: &'n str,
    /// The entry in the mapping around it, by index, and its value; none for `name` alone.
    content: Option<(usize, &'n Spanned<'t>)>,
}

impl<'n, 't, 'p> Variant<'n, 't, 'p> {
    fn new(around: &'p Decoder<'n, 't, 'p>) -> Option<Self> {
        let Some(entries) = around.entries() else {
            return Some(Self { around, name: around.node.as_str()?, content: None });
        };
        let is_there = |entry: &Entry<'_>| !matches!(entry.value.value, Value::Removed);
        let mut there = entries.iter().enumerate().filter(|(_, entry)| is_there(entry));
        match (there.next(), there.next()) {
            (Some((index, entry)), None) => {
                Some(Self { around, name: &entry.key, content: Some((index, &entry.value)) })
            }
            _ => None,
        }
    }

    fn value(&self) -> Result<Decoder<'n, 't, 'p>, DecodeError> {
        match self.content {
            Some((index, node)) => {
                let rule = self.around.rule.field(self.name).map_or(Rule::All, |(rule, _)| rule);
                Ok(Decoder { rule, ..self.around.child(index, node) })
            }
            None => Err(mismatch(&"a mapping with this name as its only key")),
        }
    }

    #[cold]
    fn locate_name(&self, error: DecodeError) -> DecodeError {
        match self.content {
            Some((index, _)) => self.around.locate_key(error, index),
            None => self.around.locate(error),
        }
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_, '_, '_> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self), DecodeError> {
        let name: StrDeserializer<'_, DecodeError> =
            de::IntoDeserializer::into_deserializer(self.name);
        match seed.deserialize(name) {
            Ok(value) => Ok((value, self)),
            Err(error) => Err(self.locate_name(error)),
        }
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, '_, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        let Some((_, node)) = self.content else { return Ok(()) };
        let empty = node.is_null() || matches!(&node.value, Value::Map(map) if map.is_empty());
        if empty { Ok(()) } else { Err(self.value()?.locate(mismatch(&"nothing (`{}`)"))) }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        let decoder = self.value()?;
        seed.deserialize(&decoder).map_err(|error| decoder.locate(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, v: V) -> Result<V::Value, DecodeError> {
        let decoder = self.value()?;
        de::Deserializer::deserialize_seq(&decoder, v).map_err(|error| decoder.locate(error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let decoder = self.value()?;
        let result = de::Deserializer::deserialize_struct(&decoder, "", fields, visitor);
        result.map_err(|error| decoder.locate(error))
    }
}
