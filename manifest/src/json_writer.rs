//! Writes values as JSON text, as `kubectl get -o json` prints them, and what YAML writes alike.
//!
//! `serde_json` could do this, but would bring its own printing of floating-point numbers, with
//! tables of 10 KB that the page would have to load.

use std::fmt::Write;

use serde_json::{Number, Value};

/// Writes `value`; its first line is indented already.
pub(crate) fn write(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_quoted(out, text),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                begin_line(out, index, indent + 4);
                write(out, item, indent + 4);
            }
            end_line(out, indent, ']');
        }
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                begin_line(out, index, indent + 4);
                write_quoted(out, key);
                out.push_str(": ");
                write(out, value, indent + 4);
            }
            end_line(out, indent, '}');
        }
    }
}

/// Writes a number in the grammar that JSON and YAML share.
pub(crate) fn write_number(out: &mut String, number: &Number) {
    if let Some(number) = number.as_i64() {
        out.push_str(&number.to_string());
    } else if let Some(number) = number.as_u64() {
        out.push_str(&number.to_string());
    } else if let Some(number) = number.as_f64() {
        out.push_str(&number.to_string());
    }
}

/// Writes a text in double quotes, with the escapes that JSON and YAML share.
pub(crate) fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out.push('"');
}

/// Whether YAML allows a character unescaped and no reader takes it for a line break.
pub(crate) fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn begin_line(out: &mut String, index: usize, indent: usize) {
    if index > 0 {
        out.push(',');
    }
    out.push('\n');
    push_spaces(out, indent);
}

fn end_line(out: &mut String, indent: usize, bracket: char) {
    out.push('\n');
    push_spaces(out, indent);
    out.push(bracket);
}

pub(crate) fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}
