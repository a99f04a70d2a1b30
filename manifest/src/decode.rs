//! Decodes trees into typed values, and reports all errors with their positions.

mod deserializer;
mod error;
mod path;

use serde::de::DeserializeOwned;

use self::deserializer::{Context, Decoder, Ignored};
use self::error::{DecodeError, Mistake};
use self::path::{Path, descend, entry_name, field_path, remove};
use crate::diagnostic::{Problem, did_you_mean};
use crate::dropped::Dropped;
use crate::fields::Rule;
use crate::newest::Newest;
use crate::tree::{Spanned, Value};

/// Errors reported for one object at most.
const MOST_ERRORS: usize = 20;
/// Decoding rounds for one object at most. A removed value can leave a gap that takes a round of
/// its own.
const MOST_ROUNDS: usize = 3 * MOST_ERRORS;

/// Findings about an object besides its value.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
    /// Counts of the fields that did not enter.
    pub(crate) dropped: Dropped,
    pub(crate) newest: Newest,
}

/// The fields that enter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    pub(crate) rule: Rule,
    /// Whether all other fields stay as well.
    pub(crate) keep_all: bool,
}

impl Entering {
    /// Every field enters.
    pub(crate) const ALL: Self = Self { rule: Rule::All, keep_all: true };
}

/// Decodes an object. Paths in the findings are relative to it.
///
/// Decoding stops at the first error. The wrong part is then removed from the tree and the object
/// is decoded again, until no error is left. A value is returned only if there was no error at all.
pub(crate) fn decode<T: DeserializeOwned>(
    node: &mut Spanned<'_>,
    entering: Entering,
    findings: &mut Findings,
) -> Option<T> {
    let mut value = None;
    let complete = rounds(node, entering, findings, &mut |decoder| {
        value = Some(T::deserialize(decoder)?);
        Ok(())
    });
    value.filter(|_| complete)
}

/// Decodes until no error is left; returns whether there was none at all.
fn rounds(
    node: &mut Spanned<'_>,
    entering: Entering,
    findings: &mut Findings,
    decode: &mut dyn FnMut(&Decoder<'_, '_, '_>) -> Result<(), DecodeError>,
) -> bool {
    let mut removed: Vec<Vec<usize>> = Vec::new();
    let reported = findings.errors.len();
    for _ in 0..MOST_ROUNDS {
        if findings.errors.len() - reported >= MOST_ERRORS {
            break;
        }
        let Entering { rule, keep_all } = entering;
        let context = Context { keep_all, ..Context::default() };
        let decoder = Decoder { node, path: Path::Root, context: &context, known: &[], rule };
        let Err(error) = decode(&decoder).map_err(|error| decoder.locate(error)) else {
            findings.dropped = context.dropped.into_inner();
            findings.newest = context.newest.into_inner();
            for ignored in context.ignored.into_inner() {
                findings.warnings.push(ignored_field(node, &ignored));
            }
            return removed.is_empty();
        };
        let path = error.path().to_vec();
        if !is_consequence(&error, node, &removed) {
            findings.errors.push(error.into_problem(node));
        }
        remove(node, &path);
        // An error about the whole object leaves nothing to decode.
        if path.is_empty() {
            break;
        }
        removed.push(path);
    }
    false
}

/// Whether an error only reports as missing something that was removed before.
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

/// Suggests the field that was probably meant, or lists the valid fields.
fn field_help(name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the fields here are `{}`", known.join("`, `")),
    }
}
