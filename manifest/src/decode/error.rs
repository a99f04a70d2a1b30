//! An error of decoding.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::diagnostic::{Position, Problem};
use crate::scalar::{Scalar, resolve};
use crate::tree::{Spanned, Value};

use super::field_help;
use super::path::{Path, field_path};

/// An error that starts without a place, which the surrounding decoder adds.
///
/// Boxed, since every decoding function returns one in its result.
#[derive(Debug)]
pub(crate) struct DecodeError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    message: String,
    help: Option<String>,
    /// Description of the expected value, if something else was found.
    expected: Option<String>,
    position: Option<Position>,
    /// Path of the node to remove.
    path: Vec<usize>,
    mistake: Mistake,
}

/// Kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    UnknownField,
    Missing(&'static str),
    Other,
}

impl DecodeError {
    fn new(message: String, help: Option<String>, mistake: Mistake) -> Self {
        let (expected, position, path) = (None, None, Vec::new());
        Self(Box::new(Inner { message, help, expected, position, path, mistake }))
    }

    /// The error that something other than `expected` was found; [`locate`](Self::locate) adds what
    /// it was.
    pub(super) fn mismatch(expected: &dyn Expected) -> Self {
        let mut error = Self::new(String::new(), None, Mistake::Other);
        error.0.expected = Some(plain_words(&expected.to_string()));
        error
    }

    /// Adds the place, that of a node's value or of a key, unless the error has one.
    #[cold]
    pub(super) fn locate(
        mut self,
        node: Option<&Spanned<'_>>,
        position: Position,
        path: Path<'_>,
    ) -> Self {
        let inner = &mut *self.0;
        if inner.position.is_none() {
            inner.position = Some(position);
            inner.path = path.to_vec();
            if let (Some(expected), Some(node)) = (&inner.expected, node) {
                let why = beyond(node, expected);
                inner.message = format!("expected {expected}, found {}{why}", describe(node));
                inner.help = scalar_help(node, expected);
            }
        }
        self
    }

    /// Path of the node to remove.
    pub(super) fn path(&self) -> &[usize] {
        &self.0.path
    }

    pub(super) fn mistake(&self) -> Mistake {
        self.0.mistake
    }

    pub(super) fn into_problem(self, root: &Spanned<'_>) -> Problem {
        let inner = *self.0;
        let position = inner.position.unwrap_or(root.position);
        let path = field_path(root, &inner.path);
        let problem = Problem::new(position, inner.message).at(path);
        match inner.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

/// Serde's name for a type, in words for people who write YAML.
fn plain_words(expected: &str) -> String {
    match expected {
        "a map" => "a mapping (`key: value`)".into(),
        "a sequence" => "a list (lines that begin with `- `)".into(),
        "a boolean" => "true or false".into(),
        "i64" | "i32" | "i16" | "i8" => "an integer".into(),
        "u64" | "u32" | "u16" | "u8" | "usize" => "an integer that is not negative".into(),
        other if other.starts_with("struct ") => "a mapping (`key: value`)".into(),
        other if other.starts_with("enum ") || other.starts_with("variant ") => {
            "the name of one of them, or a mapping with it as the only key".into()
        }
        other => other.into(),
    }
}

/// Error for a whole number, where one was expected, that does not fit.
fn beyond(node: &Spanned<'_>, expected: &str) -> &'static str {
    let Value::Plain(text) = &node.value else { return "" };
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match (digits.len() < text.len(), expected) {
        (false, "an integer" | "an integer that is not negative") if is_whole => {
            ", which is too large"
        }
        (true, "an integer") if is_whole => ", which is too small",
        _ => "",
    }
}

fn describe(node: &Spanned<'_>) -> String {
    match &node.value {
        Value::Seq(_) => "a list".into(),
        Value::Map(entries) if entries.is_empty() => "an empty mapping".into(),
        Value::Map(entries) => {
            let keys: Vec<_> =
                entries.iter().take(3).map(|entry| format!("`{}`", shorten(&entry.key))).collect();
            let more = if entries.len() > 3 { ", …" } else { "" };
            format!("a mapping with {}{more}", keys.join(", "))
        }
        Value::Str(text) => format!("the string \"{}\"", shorten(text)),
        Value::Plain(text) => {
            let text = shorten(text);
            match resolve(&text) {
                Scalar::Null => "nothing (null)".into(),
                Scalar::Bool(_) => format!("the boolean `{text}`"),
                Scalar::Int(_) | Scalar::Uint(_) | Scalar::Float(_) => {
                    format!("the number `{text}`")
                }
                Scalar::Str => format!("the string \"{text}\""),
            }
        }
        Value::Removed => "nothing".into(),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text.into(),
    }
}

/// A proposal of a valid scalar.
fn scalar_help(node: &Spanned<'_>, expected: &str) -> Option<String> {
    let wants_integer = expected.starts_with("an integer");
    match &node.value {
        Value::Plain(text) if expected.contains("string") || expected.contains("in quotes") => {
            match resolve(text) {
                Scalar::Null | Scalar::Str => None,
                _ => Some(format!("put it in quotes: \"{}\"", shorten(text))),
            }
        }
        Value::Plain(text) | Value::Str(text) if wants_integer => {
            let number = text.trim();
            let digits = number.strip_prefix('-').unwrap_or(number);
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let (whole, unit) = digits.split_at_checked(length)?;
            if whole.is_empty() || whole.len() > 18 {
                return None;
            }
            let sign = if digits.len() < number.len() { "-" } else { "" };
            match unit {
                "" if matches!(node.value, Value::Str(_)) => {
                    Some(format!("write it without quotes: {sign}{whole}"))
                }
                "" => None,
                "s" => Some(format!("write only the number: {sign}{whole}")),
                "m" => minutes(whole).map(|seconds| format!("write {sign}{seconds} (seconds)")),
                _ => Some("write only a whole number".into()),
            }
        }
        Value::Plain(text) | Value::Str(text) if expected == "true or false" => {
            let meaning = match &*text.to_ascii_lowercase() {
                "true" | "yes" | "on" | "1" => "true",
                "false" | "no" | "off" | "0" => "false",
                _ => return None,
            };
            Some(format!("write {meaning} without quotes"))
        }
        Value::Map(_) if expected.starts_with("a list") => {
            Some("put `- ` in front of its first line, and indent the others".into())
        }
        Value::Seq(_) if expected.starts_with("a mapping") => Some("remove the `- `".into()),
        _ => None,
    }
}

fn minutes(whole: &str) -> Option<u64> {
    whole.parse::<u64>().ok()?.checked_mul(60)
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string(), None, Mistake::Other)
    }

    #[cold]
    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(expected)
    }

    #[cold]
    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(expected)
    }

    #[cold]
    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let message = format!("`{}` is not a valid value", shorten(variant));
        Self::new(message, Some(variant_help(variant, known)), Mistake::Other)
    }

    #[cold]
    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let message = format!("there is no field `{}` here", shorten(field));
        Self::new(message, Some(field_help(field, known)), Mistake::UnknownField)
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the field `{field}` is missing"), None, Mistake::Missing(field))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("duplicate field `{field}`"), None, Mistake::Other)
    }
}

fn variant_help(variant: &str, known: &[&str]) -> String {
    match crate::diagnostic::did_you_mean(variant, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("write one of `{}`", known.join("`, `")),
    }
}
