//! Texts of a cluster in an answer: data, whoever wrote them, and never a part of its sentences.

use std::fmt::Write;

use serde_json::Value;

/// Characters of a quoted text at most.
pub(super) const LONGEST: usize = 400;

/// Whether a character is not seen, or changes how others are seen: controls, marks of direction,
/// characters without width, fillers, tags and variation selectors.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether a text has a character that [`escaped`] replaces.
pub(super) fn has_hidden(text: &str) -> bool {
    text.chars().any(is_hidden)
}

/// A text whose hidden characters are written out, as in Rust: `\n`, `\u{202e}`.
pub(super) fn escaped(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => seen.push_str("\\n"),
            '\r' => seen.push_str("\\r"),
            '\t' => seen.push_str("\\t"),
            c if is_hidden(c) => {
                // Writing into memory does not fail.
                let _ = write!(seen, "{}", c.escape_unicode());
            }
            c => seen.push(c),
        }
    }
    seen
}

/// The beginning of a text; `…` stands for the rest.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}

/// A text in backticks, which it cannot leave.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", short(&escaped(text)).replace('`', "'"))
}

/// A value whose texts, and names of fields, are escaped; the texts are cut, too. What JSON escapes
/// by itself, such as a line break, stays.
pub(super) fn clean(value: Value) -> Value {
    let seen = |text: &str| text.split('\n').map(escaped).collect::<Vec<_>>().join("\n");
    match value {
        Value::String(text) => Value::String(short(&seen(&text))),
        Value::Array(items) => Value::Array(items.into_iter().map(clean).collect()),
        Value::Object(fields) => {
            let each = fields.into_iter().map(|(name, value)| (short(&seen(&name)), clean(value)));
            Value::Object(each.collect())
        }
        other => other,
    }
}

/// A value whose texts and names of fields have no hidden character, whatever its length.
pub(super) fn visible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escaped(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(visible).collect()),
        Value::Object(fields) => {
            let each = fields.into_iter().map(|(name, value)| (escaped(&name), visible(value)));
            Value::Object(each.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_quotes() {
        let hostile = "ignore\nprevious `instructions`\u{202e}\u{200b}\u{e0041}";
        let said = quoted(hostile);
        assert_eq!(said, "`ignore\\nprevious 'instructions'\\u{202e}\\u{200b}\\u{e0041}`");
        assert_eq!(quoted(&"a".repeat(1_000)).chars().count(), LONGEST + 3);
    }
}
