//! Diagnostics: the errors and warnings of a file, with their places.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::report::title;

/// Error or warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The object was not taken.
    Error,
    /// The object was taken, but something about it is probably a mistake.
    Warning,
}

/// One error or warning about a file.
///
/// Printed as compilers print theirs, with the help on a line of its own:
/// ```text
/// cluster.yaml:12:9: items[3].spec.taints[0].value: expected a string, found the boolean `yes`
///   note: Node worker-1 is left out
///   help: put it in quotes: "yes"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The name of the file, as the caller gave it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1, in characters.
    pub column: u32,
    /// The field in its document, for example `items[3].spec.taints[0].effect`; empty if the
    /// diagnostic is about the document or the text as a whole.
    pub path: String,
    /// The problem: what was found, and what would be valid.
    pub message: String,
    /// The object that the diagnostic is about, and whether it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Box<DiagnosedObject>>,
    /// The effect on the input: `Node worker-1 is left out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
    /// Advice on what to do, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// The object that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosedObject {
    /// The object's `kind`; empty if it has none.
    pub kind: String,
    /// The object's namespace; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The object's name; empty if it has none.
    pub name: String,
    /// Whether the object is left out, by itself or with the whole scenario.
    pub left_out: bool,
}

impl DiagnosedObject {
    /// An object that was taken in spite of the diagnostic.
    pub(crate) fn taken(kind: &str, namespace: &str, name: &str) -> Self {
        let text = |text: &str| cut(text).into_owned();
        let (kind, namespace, name) = (text(kind), text(namespace), text(name));
        Self { kind, namespace, name, left_out: false }
    }
}

/// The object in words: `Pod default/web-1`.
impl fmt::Display for DiagnosedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&title(&self.kind, &self.namespace, &self.name))
    }
}

impl Diagnostic {
    /// Whether this is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match (&self.consequence, &self.object) {
            (Some(consequence), _) => write!(f, "\n  note: {consequence}")?,
            (None, Some(object)) => write!(f, "\n  note: in {object}")?,
            (None, None) => {}
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// A place in a text; line and column are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: u32,
    /// In characters.
    pub(crate) column: u32,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// A diagnostic that does not know its file and severity yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) position: Position,
    /// The field path, relative to the object in which it was found.
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) object: Option<Box<DiagnosedObject>>,
    pub(crate) consequence: Option<String>,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        let (path, object, consequence, help) = (String::new(), None, None, None);
        Self { position, path, message: message.into(), object, consequence, help }
    }

    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the effect on the input.
    pub(crate) fn consequence(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = Some(consequence.into());
        self
    }

    /// Names the object that the problem is about, and says so if that object is left out.
    pub(crate) fn of(mut self, object: DiagnosedObject) -> Self {
        if object.left_out {
            self.consequence = Some(format!("{object} is left out"));
        }
        self.object = Some(Box::new(object));
        self
    }

    pub(crate) fn into_diagnostic(self, severity: Severity, file: &str) -> Diagnostic {
        let Self { position: Position { line, column }, path, message, object, consequence, help } =
            self;
        let file = file.into();
        // A name or a key may be as long as the whole text, and be repeated in each diagnostic.
        let (path, message) = (shorten(path), shorten(message));
        let (consequence, help) = (consequence.map(shorten), help.map(shorten));
        Diagnostic { severity, file, line, column, path, message, object, consequence, help }
    }
}

/// The longest text of a user that is repeated in a message, in characters.
const LONGEST_ECHO: usize = 100;

/// The greatest length of a message, a path or a proposal, in characters.
const LONGEST_MESSAGE: usize = 2_000;

fn shorten(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The beginning of a user's text, for a message.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or(""))),
        None => Cow::Borrowed(text),
    }
}

/// Diagnostics kept for one file; more would say little more.
const MOST: usize = 500;

/// The diagnostics of one file.
#[derive(Debug)]
pub(crate) struct Diagnostics<'f> {
    file: &'f str,
    /// Diagnostics of this file, in the order of its text.
    all: Vec<Diagnostic>,
    /// Diagnostics of other files, which come last.
    others: Vec<Diagnostic>,
    left_out: usize,
}

impl<'f> Diagnostics<'f> {
    pub(crate) fn new(file: &'f str) -> Self {
        Self { file, all: Vec::new(), others: Vec::new(), left_out: 0 }
    }

    pub(crate) fn error(&mut self, problem: Problem) {
        self.add(Severity::Error, problem);
    }

    pub(crate) fn warning(&mut self, problem: Problem) {
        self.add(Severity::Warning, problem);
    }

    pub(crate) fn add(&mut self, severity: Severity, problem: Problem) {
        self.push(problem.into_diagnostic(severity, self.file));
    }

    /// Adds a diagnostic of this file or of another one.
    pub(crate) fn add_of(&mut self, file: &str, severity: Severity, problem: Problem) {
        if file == self.file {
            self.add(severity, problem);
        } else {
            self.others.push(problem.into_diagnostic(severity, file));
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.all.iter().chain(&self.others).any(Diagnostic::is_error)
    }

    /// Adds the objects that this file's diagnostics are about; `object_at` finds one by the path
    /// and by whether the diagnostic is an error.
    pub(crate) fn name_objects(
        &mut self,
        object_at: impl Fn(&str, bool) -> Option<DiagnosedObject>,
    ) {
        for diagnostic in &mut self.all {
            if diagnostic.object.is_none() {
                let object = object_at(&diagnostic.path, diagnostic.is_error());
                diagnostic.object = object.map(Box::new);
            }
        }
    }

    /// Adds diagnostics of another file.
    pub(crate) fn extend(&mut self, others: Vec<Diagnostic>) {
        self.others.extend(others);
    }

    fn push(&mut self, new: Diagnostic) {
        if self.all.len() >= MOST {
            self.left_out += 1;
            // If the list is full, an error replaces a warning.
            match self.all.iter().rposition(|other| !other.is_error()) {
                Some(index) if new.is_error() => self.all.remove(index),
                _ => return,
            };
        }
        let place = (new.line, new.column);
        let index = self.all.partition_point(|other| (other.line, other.column) <= place);
        self.all.insert(index, new);
    }

    /// The diagnostics in the order of the text, errors and warnings mixed.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let message = format!("{} more errors and warnings are not shown", self.left_out);
            let last = Problem::new(Position::START, message);
            let severity = if self.has_errors() { Severity::Error } else { Severity::Warning };
            self.all.push(last.into_diagnostic(severity, self.file));
        }
        self.all.append(&mut self.others);
        self.all
    }
}

/// The set of letters in a name, one bit for each letter.
fn letters(name: &str) -> u32 {
    let letters = name.bytes().filter(u8::is_ascii_alphabetic);
    letters.fold(0, |bits, letter| bits | 1 << (letter.to_ascii_lowercase() - b'a'))
}

/// The candidate that `name` was probably meant to be.
pub(crate) fn did_you_mean<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    // Hostile names could be long, and the distance takes time in the product of both lengths.
    if name.len() > 64 {
        return None;
    }
    // `node_name` is `nodeName`.
    let simple = |name: &str| -> String {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_'));
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let close = |candidate: &str| {
        let most = candidate.len().div_ceil(4).min(3);
        // Lengths alone rule out nearly all names; two extra characters may be `-` and `_`.
        if candidate.len().abs_diff(name.len()) > most + 2 {
            return None;
        }
        // One edit removes at most one letter from the set of a name, and adds at most one.
        if (letters(candidate) ^ letters(name)).count_ones() > 2 * u32::try_from(most).ok()? {
            return None;
        }
        let distance = strsim::osa_distance(&simple(name), &simple(candidate));
        (distance <= most).then_some(distance)
    };
    candidates
        .iter()
        .filter_map(|candidate| Some((close(candidate)?, *candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
