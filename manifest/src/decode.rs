//! Trees into typed values, with all errors at once and where they are.

mod error;

use std::cell::RefCell;

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};

use self::error::{DecodeError, Mistake};
use crate::diagnostic::{Problem, did_you_mean};
use crate::scalar::{Scalar, resolve};
use crate::tree::{Entry, Spanned, Value, push_index, push_key};

/// How many errors are reported of one object.
const MOST_ERRORS: usize = 20;
/// How often an object is decoded. What is taken out can leave gaps that take a round of their own.
const MOST_ROUNDS: usize = 3 * MOST_ERRORS;

/// What was found in an object besides its value.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// Decodes an object. Paths in the findings are those inside of it.
///
/// Decoding stops at the first error; what is wrong is then taken out of the tree and the object
/// decoded again, until nothing is wrong. There is a value only when there was no error.
pub(crate) fn decode<T: DeserializeOwned>(
    node: &mut Spanned<'_>,
    findings: &mut Findings,
) -> Option<T> {
    let mut removed: Vec<Vec<usize>> = Vec::new();
    let reported = findings.errors.len();
    for _ in 0..MOST_ROUNDS {
        if findings.errors.len() - reported >= MOST_ERRORS {
            return None;
        }
        let context = Context::default();
        let decoder = Decoder { node, path: &Path::Root, context: &context, known: &[] };
        let error = match T::deserialize(decoder).map_err(|error| decoder.locate(error)) {
            Ok(value) => {
                for path in context.ignored.into_inner() {
                    findings.warnings.push(ignored_field(node, &path));
                }
                return removed.is_empty().then_some(value);
            }
            Err(error) => error,
        };
        let path = error.path().to_vec();
        if !is_consequence(&error, node, &removed) {
            findings.errors.push(error.into_problem(node));
        }
        remove(node, &path);
        // An error about the whole object leaves nothing to decode.
        if path.is_empty() {
            return None;
        }
        removed.push(path);
    }
    None
}

/// Whether an error only says that something is missing which was taken out before.
fn is_consequence(error: &DecodeError, root: &Spanned<'_>, removed: &[Vec<usize>]) -> bool {
    let inside = |path: &&Vec<usize>| path.starts_with(error.path());
    match error.mistake() {
        Mistake::UnknownField => false,
        Mistake::Missing(field) => removed.iter().filter(inside).any(|path| {
            path.len() == error.path().len() + 1
                && path.last().and_then(|last| entry_name(root, error.path(), *last)) == Some(field)
        }),
        Mistake::Other => removed.iter().any(|path| inside(&path)),
    }
}

fn entry_name<'n>(root: &'n Spanned<'_>, path: &[usize], index: usize) -> Option<&'n str> {
    match &descend(root, path)?.value {
        Value::Map(entries) => Some(&entries.get(index)?.key),
        _ => None,
    }
}

fn descend<'n, 't>(root: &'n Spanned<'t>, path: &[usize]) -> Option<&'n Spanned<'t>> {
    path.iter().try_fold(root, |node, index| match &node.value {
        Value::Seq(items) => items.get(*index),
        Value::Map(entries) => entries.get(*index).map(|entry| &entry.value),
        _ => None,
    })
}

fn remove(node: &mut Spanned<'_>, path: &[usize]) {
    let child = match (path, &mut node.value) {
        ([], value) => {
            *value = Value::Removed;
            return;
        }
        ([index, ..], Value::Seq(items)) => items.get_mut(*index),
        ([index, ..], Value::Map(entries)) => entries.get_mut(*index).map(|e| &mut e.value),
        _ => None,
    };
    if let Some(child) = child {
        remove(child, path.get(1..).unwrap_or(&[]));
    }
}

/// The field path of a node.
fn field_path(root: &Spanned<'_>, path: &[usize]) -> String {
    let mut text = String::new();
    let mut node = root;
    for index in path {
        let child = match &node.value {
            Value::Seq(items) => {
                push_index(&mut text, *index);
                items.get(*index)
            }
            Value::Map(entries) => entries.get(*index).map(|entry| {
                push_key(&mut text, &entry.key);
                &entry.value
            }),
            _ => None,
        };
        match child {
            Some(child) => node = child,
            None => break,
        }
    }
    text
}

/// The warning about a field that its object does not have.
fn ignored_field(root: &Spanned<'_>, ignored: &Ignored) -> Problem {
    let path = &ignored.path;
    let parent = path.split_last().and_then(|(last, parents)| {
        Some((descend(root, parents)?, *last)).filter(|(node, _)| node.position.line > 0)
    });
    let (name, position) = match parent {
        Some((Spanned { value: Value::Map(entries), .. }, last)) => {
            entries.get(last).map(|entry| (&*entry.key, entry.key_position))
        }
        _ => None,
    }
    .unwrap_or(("", root.position));
    let message = format!("Kubernetes has no field `{name}` here, so it has no effect");
    let problem = Problem::new(position, message).at(field_path(root, path));
    problem.help(field_help(name, ignored.known))
}

/// Says which field was probably meant, or which there are.
fn field_help(name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the fields here are `{}`", known.join("`, `")),
    }
}

/// The way from the object to a node, as the numbers of its children.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Child { parent: &'p Path<'p>, index: usize },
}

impl Path<'_> {
    fn to_vec(self) -> Vec<usize> {
        let mut indexes = Vec::new();
        let mut path = &self;
        while let Path::Child { parent, index } = path {
            indexes.push(*index);
            path = parent;
        }
        indexes.reverse();
        indexes
    }
}

/// A field that no type asked for.
#[derive(Debug)]
struct Ignored {
    path: Vec<usize>,
    /// The fields there are.
    known: &'static [&'static str],
}

#[derive(Debug, Default)]
struct Context {
    ignored: RefCell<Vec<Ignored>>,
}

/// Decodes one node.
#[derive(Clone, Copy)]
struct Decoder<'n, 't, 'p> {
    node: &'n Spanned<'t>,
    path: &'p Path<'p>,
    context: &'p Context,
    /// The fields that the object around this node has.
    known: &'static [&'static str],
}

impl Decoder<'_, '_, '_> {
    /// Adds to an error where it happened, unless that is known already.
    #[cold]
    fn locate(&self, error: DecodeError) -> DecodeError {
        error.locate(Some(self.node), self.node.position, *self.path)
    }

    fn scalar<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Str(text) => visitor.visit_str(text),
            Value::Plain(text) => match resolve(text) {
                Scalar::Null => visitor.visit_unit(),
                Scalar::Bool(value) => visitor.visit_bool(value),
                Scalar::Int(value) => match u64::try_from(value) {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => visitor.visit_i64(value),
                },
                Scalar::Uint(value) => visitor.visit_u64(value),
                Scalar::Float(value) => visitor.visit_f64(value),
                Scalar::Str => visitor.visit_str(text),
            },
            Value::Seq(_) | Value::Map(_) | Value::Removed => Err(mismatch(&visitor)),
        }
    }
}

/// Something else than `expected` was found. What it is, is added with the place.
fn mismatch(expected: &dyn de::Expected) -> DecodeError {
    DecodeError::mismatch(expected)
}

impl<'de> de::Deserializer<'de> for Decoder<'_, '_, '_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Seq(items) => visitor.visit_seq(Items { around: self, items, index: 0 }),
            Value::Map(entries) => visitor.visit_map(Entries::new(self, entries, &[], true)),
            _ => self.scalar(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.node.is_null() || matches!(self.node.value, Value::Removed) {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Seq(items) => visitor.visit_seq(Items { around: self, items, index: 0 }),
            _ => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Map(entries) => visitor.visit_map(Entries::new(self, entries, &[], false)),
            _ => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Map(entries) => visitor.visit_map(Entries::new(self, entries, fields, false)),
            _ => Err(mismatch(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Map(entries) => match one_entry(entries) {
                Some(index) => visitor.visit_enum(Variant { around: self, index: Some(index) }),
                None => Err(mismatch(&"exactly one key, which says what is meant")),
            },
            _ if self.node.as_str().is_some() => {
                visitor.visit_enum(Variant { around: self, index: None })
            }
            _ => Err(mismatch(&visitor)),
        }
    }

    /// What nobody asked for is a mistake in an object whose fields are all known.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if !self.known.is_empty() {
            let ignored = Ignored { path: self.path.to_vec(), known: self.known };
            self.context.ignored.borrow_mut().push(ignored);
        }
        visitor.visit_unit()
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.scalar(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.scalar(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.scalar(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.scalar(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.scalar(visitor)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

fn one_entry(entries: &[Entry<'_>]) -> Option<usize> {
    let mut there = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| !matches!(entry.value.value, Value::Removed))
        .map(|(index, _)| index);
    let first = there.next()?;
    there.next().is_none().then_some(first)
}

/// The elements of a list.
struct Items<'n, 't, 'p> {
    around: Decoder<'n, 't, 'p>,
    items: &'n [Spanned<'t>],
    index: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_, '_> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        while let Some(node) = self.items.get(self.index) {
            let path = Path::Child { parent: self.around.path, index: self.index };
            self.index += 1;
            if !matches!(node.value, Value::Removed) {
                let decoder = Decoder { node, path: &path, known: &[], ..self.around };
                let result = seed.deserialize(decoder).map(Some);
                return result.map_err(|error| decoder.locate(error));
            }
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.index.min(self.items.len()))
    }
}

/// The entries of a mapping.
struct Entries<'n, 't, 'p> {
    around: Decoder<'n, 't, 'p>,
    entries: &'n [Entry<'t>],
    known: &'static [&'static str],
    /// Whether entries that are `null` are there; in Kubernetes' objects they mean nothing.
    keep_nulls: bool,
    index: usize,
}

impl<'n, 't, 'p> Entries<'n, 't, 'p> {
    fn new(
        around: Decoder<'n, 't, 'p>,
        entries: &'n [Entry<'t>],
        known: &'static [&'static str],
        keep_nulls: bool,
    ) -> Self {
        Self { around, entries, known, keep_nulls, index: 0 }
    }

    /// The next entry that is there.
    fn next(&mut self) -> Option<&'n Entry<'t>> {
        loop {
            let entry = self.entries.get(self.index)?;
            let gone = matches!(entry.value.value, Value::Removed);
            if !gone && (self.keep_nulls || !entry.value.is_null()) {
                return Some(entry);
            }
            self.index += 1;
        }
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_, '_> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        let Some(entry) = self.next() else { return Ok(None) };
        let key = CowStrDeserializer::<DecodeError>::new(entry.key.as_ref().into());
        match seed.deserialize(key) {
            Ok(key) => Ok(Some(key)),
            Err(error) => {
                let path = Path::Child { parent: self.around.path, index: self.index };
                Err(error.locate(None, entry.key_position, path))
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        let path = Path::Child { parent: self.around.path, index: self.index };
        let Some(entry) = self.entries.get(self.index) else {
            return Err(de::Error::custom("a key has no value"));
        };
        self.index += 1;
        let decoder = Decoder { node: &entry.value, path: &path, known: self.known, ..self.around };
        seed.deserialize(decoder).map_err(|error| decoder.locate(error))
    }
}

/// A value that is one of several: `name`, or `name: value`.
struct Variant<'n, 't, 'p> {
    around: Decoder<'n, 't, 'p>,
    /// Which entry of the mapping around it; none for `name` alone.
    index: Option<usize>,
}

impl<'de, 'n, 't, 'p> de::EnumAccess<'de> for Variant<'n, 't, 'p> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self), DecodeError> {
        let around = self.around;
        let value = match (&around.node.value, self.index) {
            (Value::Map(entries), Some(index)) => match entries.get(index) {
                Some(entry) => seed
                    .deserialize(CowStrDeserializer::<DecodeError>::new(entry.key.as_ref().into()))
                    .map_err(|error| {
                        let path = Path::Child { parent: around.path, index };
                        error.locate(None, entry.key_position, path)
                    }),
                None => Err(mismatch(&"a name")),
            },
            _ => {
                let text = around.node.as_str().unwrap_or("");
                seed.deserialize(CowStrDeserializer::<DecodeError>::new(text.into()))
                    .map_err(|error| around.locate(error))
            }
        }?;
        Ok((value, self))
    }
}

impl<'n, 't> Variant<'n, 't, '_> {
    fn content(&self) -> Option<(usize, &'n Spanned<'t>)> {
        match (&self.around.node.value, self.index) {
            (Value::Map(entries), Some(index)) => Some((index, &entries.get(index)?.value)),
            _ => None,
        }
    }

    fn with<R>(
        &self,
        expected: &dyn de::Expected,
        read: impl FnOnce(Decoder<'n, 't, '_>) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let Some((index, node)) = self.content() else {
            return Err(mismatch(expected));
        };
        let path = Path::Child { parent: self.around.path, index };
        let decoder = Decoder { node, path: &path, known: &[], context: self.around.context };
        read(decoder).map_err(|error| decoder.locate(error))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, '_, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        let Some((_, node)) = self.content() else { return Ok(()) };
        let empty = node.is_null() || matches!(&node.value, Value::Map(map) if map.is_empty());
        if empty {
            Ok(())
        } else {
            self.with(&"nothing (`{}`)", |_| Err(mismatch(&"nothing (`{}`)")))
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        self.with(&"a mapping of one key", |decoder| seed.deserialize(decoder))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, v: V) -> Result<V::Value, DecodeError> {
        self.with(&"a mapping of one key", |decoder| de::Deserializer::deserialize_seq(decoder, v))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.with(&"a mapping of one key", |decoder| {
            de::Deserializer::deserialize_struct(decoder, "", fields, visitor)
        })
    }
}
