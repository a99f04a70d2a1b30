//! Writes values as YAML text.
//!
//! This writer is made by hand for its size: 2 KB in the page, where `serde_norway`, reader and
//! writer, has 62 KB after brotli.
//!
//! Every string that a reader of YAML 1.1 or 1.2 could take for something else is in double quotes.
//! Mirrors the look of `kubectl get -o yaml`: two spaces, and lists indented no further than their
//! key.

use serde_json::{Map, Value};

use crate::json_writer::{is_printable, push_spaces, write_number, write_quoted};
use crate::scalar::{Scalar, resolve};

/// Keys that come before all others, in this order, because people expect them first.
const FIRST: [&str; 20] = [
    "apiVersion",
    "kind",
    "metadata",
    "kubernetes",
    "start",
    "objects",
    "steps",
    "until",
    "expect",
    "bookmarks",
    "nodes",
    "pods",
    "name",
    "namespace",
    "title",
    "question",
    "answer",
    "at",
    "do",
    "note",
];

/// Length in bytes above which a key is written with `? `; YAML's own limit is 1024 characters.
const LONGEST_SIMPLE_KEY: usize = 512;

/// The reader for whom YAML is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// For people and for every parser: some keys first, and quotes around whatever could be
    /// misread.
    Plain,
    /// As `kubectl` prints it: all keys in order, quoted as `sigs.k8s.io/yaml` does.
    Kubectl,
}

/// Writes `value` as a document.
pub(crate) fn write_document(out: &mut String, value: &Value, style: Style) {
    match value {
        Value::Object(map) if !map.is_empty() => write_map(out, map, 0, false, style),
        Value::Array(items) if !items.is_empty() => write_seq(out, items, 0, false, style),
        scalar => {
            write_scalar(out, scalar, 0, style);
            out.push('\n');
        }
    }
}

/// Writes `value` as an element of a list, including its `- `.
pub(crate) fn write_element(out: &mut String, value: &Value, indent: usize, style: Style) {
    out.push_str("- ");
    match value {
        Value::Object(map) if !map.is_empty() => write_map(out, map, indent + 2, true, style),
        Value::Array(items) if !items.is_empty() => write_seq(out, items, indent + 2, true, style),
        scalar => {
            write_scalar(out, scalar, indent, style);
            out.push('\n');
        }
    }
}

fn write_map(
    out: &mut String,
    map: &Map<String, Value>,
    indent: usize,
    mut on_line: bool,
    style: Style,
) {
    let first: &[&str] = if style == Style::Kubectl { &[] } else { &FIRST };
    let others = map.iter().filter(|(key, _)| !first.contains(&key.as_str()));
    let first = first.iter().filter_map(|key| map.get_key_value(*key));
    for (key, value) in first.chain(others) {
        begin_line(out, indent, &mut on_line);
        if key.len() > LONGEST_SIMPLE_KEY {
            out.push_str("? ");
            write_quoted(out, key);
            out.push('\n');
            begin_line(out, indent, &mut on_line);
        } else {
            write_text(out, key, style);
        }
        out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                out.push('\n');
                write_map(out, map, indent + 2, false, style);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                write_seq(out, items, indent, false, style);
            }
            scalar => {
                out.push(' ');
                write_scalar(out, scalar, indent, style);
                out.push('\n');
            }
        }
    }
}

fn write_seq(out: &mut String, items: &[Value], indent: usize, mut on_line: bool, style: Style) {
    for item in items {
        begin_line(out, indent, &mut on_line);
        write_element(out, item, indent, style);
    }
}

fn begin_line(out: &mut String, indent: usize, on_line: &mut bool) {
    if !std::mem::take(on_line) {
        push_spaces(out, indent);
    }
}

fn write_scalar(out: &mut String, value: &Value, indent: usize, style: Style) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) if is_literal(text) => write_literal(out, text, indent),
        Value::String(text) => write_text(out, text, style),
        // Only empty ones get here.
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

/// Writes a text, in quotes if necessary.
fn write_text(out: &mut String, text: &str, style: Style) {
    if is_plain(text) {
        out.push_str(text);
    } else if style == Style::Plain || resolve(text) != Scalar::Str || is_like_a_number(text) {
        write_quoted(out, text);
    } else if is_plain_to_kubectl(text) {
        out.push_str(text);
    } else if text.chars().all(is_printable) && !text.starts_with(' ') && !text.ends_with(' ') {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    } else {
        write_quoted(out, text);
    }
}

/// Whether a text that is not a number needs no quotes. Mirrors `yaml_emitter_analyze_scalar`.
fn is_plain_to_kubectl(text: &str) -> bool {
    let begins_plainly = match text.as_bytes() {
        [b'-' | b'?' | b':', next, ..] => *next != b' ',
        [b'-' | b'?' | b':'] | [] => false,
        [first, ..] => !b"#,[]{}&*!|>'\"%@` ".contains(first),
    };
    begins_plainly
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
        && text.chars().all(is_printable)
}

/// Whether the text looks like a date (`2020-01-01`), a time (`12:30`) or a number in scientific
/// notation without a point.
fn is_like_a_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b"-:+_eE.TZ".contains(&b))
}

/// Whether every reader takes the unquoted text for this string.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let digit_first = first.is_ascii_digit();
    (first.is_ascii_alphanumeric() || matches!(first, b'/' | b'_'))
        && *last != b' '
        && bytes.iter().zip(bytes.iter().skip(1).chain([&b' '])).all(|(byte, next)| match byte {
            b':' => *next != b' ' && !digit_first,
            b' ' => *next != b' ',
            byte => byte.is_ascii_alphanumeric() || b"_-./+@=(),;'".contains(byte),
        })
        && (!is_like_a_number(text) || bytes.iter().filter(|b| **b == b'.').count() > 1)
        && resolve(text) == Scalar::Str
}

/// Whether a text of several lines can be written as a block after `|`.
fn is_literal(text: &str) -> bool {
    let line_is_fine = |line: &str| {
        !line.ends_with(' ') && line.chars().all(|c| is_printable(c) && c != '\t' && c != '\r')
    };
    text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\n'])
        && !text.ends_with("\n\n")
        && text.split('\n').all(line_is_fine)
}

fn write_literal(out: &mut String, text: &str, indent: usize) {
    let content = text.strip_suffix('\n');
    out.push_str(if content.is_some() { "|" } else { "|-" });
    for line in content.unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            push_spaces(out, indent + 2);
            out.push_str(line);
        }
    }
}
