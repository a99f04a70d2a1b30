//! Parses YAML text into trees.

use std::borrow::Cow;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use taintlab_core::slices::Pace;

use crate::builder::{Builder, Stop};
use crate::diagnostic::{Position, Problem};
use crate::limits::ImportOptions;
use crate::scalar::{Scalar, resolve};
use crate::tree::{Sink, Split, Value};

/// The consequence for a text that is not read to its end.
const REST_OF_TEXT: &str = "the rest of the text is left out";

/// Documents with errors that are read before the rest of the text is given up.
const MOST_BROKEN: usize = 20;

/// Pauses after each 500 parser events.
const PACE: Pace = Pace::every(500);

/// Reads all documents of `text`. After an error it goes on with the next document.
pub(crate) async fn parse<'t>(
    text: &'t str,
    options: &ImportOptions,
    split: Split,
    sink: &mut dyn Sink<'t>,
) {
    let mut builder = Builder::new(options, split, sink);
    let mut rest = text;
    let mut lines_before = 0;
    for _ in 0..MOST_BROKEN {
        let problem = match parse_documents(rest, lines_before, &mut builder).await {
            Ok(()) | Err(Stop::End(None)) => return,
            Err(Stop::End(Some(problem))) => {
                builder.report(problem.consequence(REST_OF_TEXT));
                return;
            }
            Err(Stop::Syntax(problem)) => problem,
        };
        let line = problem.position.line;
        if !builder.report(problem.consequence("the rest of this document is left out")) {
            return;
        }
        builder.reset();
        let Some((skipped, next)) = next_document(rest, line.saturating_sub(lines_before)) else {
            return;
        };
        rest = next;
        lines_before = lines_before.saturating_add(skipped);
    }
    let position = Position { line: lines_before.saturating_add(1), column: 1 };
    let message = format!("there are more than {MOST_BROKEN} documents with errors");
    builder.report(Problem::new(position, message).consequence(REST_OF_TEXT));
}

/// The text from the next `---` on, and the number of lines before it. The search begins at `line`,
/// but never finds the first line again.
fn next_document(text: &str, line: u32) -> Option<(u32, &str)> {
    let mut offset = 0;
    for (number, content) in (1_u32..).zip(text.split_inclusive('\n')) {
        let marker = content.strip_prefix("---");
        if number >= line.max(2) && marker.is_some_and(|t| t.trim_start() != t || t.is_empty()) {
            return Some((number - 1, text.get(offset..)?));
        }
        offset += content.len();
    }
    None
}

async fn parse_documents<'t>(
    text: &'t str,
    lines_before: u32,
    builder: &mut Builder<'t, '_>,
) -> Result<(), Stop> {
    let position = |mark: &Marker| Position {
        line: u32::try_from(mark.line()).unwrap_or(u32::MAX).saturating_add(lines_before),
        column: u32::try_from(mark.col()).unwrap_or(u32::MAX).saturating_add(1),
    };
    let mut parser = Parser::new_from_str(text);
    let mut pace = PACE;
    while let Some(event) = parser.next_event() {
        pace.step().await;
        let (event, span) = event.map_err(|error| {
            let problem = Problem::new(position(error.marker()), error.info());
            Stop::syntax(explain(problem.at(builder.path()), text, error.marker()))
        })?;
        let start = position(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(text, style, tag.as_deref()).map_err(|message| {
                    Stop::syntax(Problem::new(start, message).at(builder.path()))
                })?;
                builder.scalar(value, start, anchor)?;
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(tag.as_deref(), "seq", start, builder)?;
                builder.begin_seq(start, anchor)?;
            }
            Event::MappingStart(anchor, tag) => {
                check_tag(tag.as_deref(), "map", start, builder)?;
                builder.begin_map(start, anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.end()?,
            Event::Alias(id) => builder.alias(id, start)?,
            Event::DocumentEnd => builder.reset(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
    }
    Ok(())
}

fn check_tag(
    tag: Option<&Tag>,
    expected: &str,
    position: Position,
    builder: &Builder<'_, '_>,
) -> Result<(), Stop> {
    match tag {
        Some(tag) if !is_core(tag, expected) && !is_non_specific(tag) => {
            Err(Stop::syntax(Problem::new(position, unknown_tag(tag)).at(builder.path())))
        }
        _ => Ok(()),
    }
}

fn is_core(tag: &Tag, suffix: &str) -> bool {
    tag.is_yaml_core_schema() && tag.suffix == suffix
}

/// Whether the tag is a lone `!`, which means: do not resolve.
fn is_non_specific(tag: &Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!" || tag.handle == "!" && tag.suffix.is_empty()
}

fn unknown_tag(tag: &Tag) -> String {
    let name = if tag.is_yaml_core_schema() {
        format!("!!{}", tag.suffix)
    } else {
        format!("{}{}", tag.handle, tag.suffix)
    };
    format!("the tag `{name}` does not fit here; Kubernetes needs none, leave it out")
}

/// Makes a value of a scalar, its style and its tag. Mirrors `resolve` of goyaml with a tag.
fn scalar<'t>(
    text: Cow<'t, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<Value<'t>, String> {
    let Some(tag) = tag else {
        return Ok(match style {
            ScalarStyle::Plain => Value::Plain(text),
            _ => Value::Str(text),
        });
    };
    if is_non_specific(tag) || is_core(tag, "str") {
        return Ok(Value::Str(text));
    }
    let fits = match resolve(&text) {
        Scalar::Null => is_core(tag, "null"),
        Scalar::Bool(_) => is_core(tag, "bool"),
        Scalar::Int(_) | Scalar::Uint(_) => is_core(tag, "int") || is_core(tag, "float"),
        Scalar::Float(_) => is_core(tag, "float"),
        Scalar::Str => is_core(tag, "timestamp"),
    };
    if fits { Ok(Value::Plain(text)) } else { Err(unknown_tag(tag)) }
}

/// Adds help to the parser's message, for mistakes that people often make.
fn explain(problem: Problem, text: &str, mark: &Marker) -> Problem {
    let line = text.lines().nth(mark.line().saturating_sub(1)).unwrap_or("");
    let said = |words: &[&str]| words.iter().any(|word| problem.message.contains(word));
    let help = if line.contains("{{") {
        "a `{{ … }}` in a file is a template: import what it renders to (`helm template …`)"
    } else if said(&["tab"]) {
        "YAML is indented with spaces; replace the tab"
    } else if said(&["anchor"]) {
        "an anchor `&name` must come before `*name`; a text with a `*` in front needs quotes"
    } else if said(&["mapping values are not allowed"]) {
        "put a value that contains `: ` in quotes; if this line has none, check its indentation"
    } else if said(&["quoted scalar"]) {
        "close the quote; inside of \"…\" a backslash is written twice"
    } else if said(&["unexpected character"]) {
        "a value that begins with this character must be in quotes"
    } else if said(&["flow"]) {
        "check that the brackets before this are closed, and the commas between"
    } else {
        "check the indentation of this line and of the ones before it"
    };
    problem.help(help)
}
