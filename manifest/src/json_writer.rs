//! Writes values as JSON text, as `kubectl get -o json` prints them.
//!
//! `serde_json` could do this, but would bring its own printing of floating-point numbers, with
//! tables of 10 KB that the page would have to load.

use serde_json::{Number, Value};

use crate::yaml_writer::{push_spaces, write_quoted};

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
