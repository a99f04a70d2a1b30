//! Strings as Go prints them.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use core::fmt::Write;

/// Puts a string in double quotes as Go's `%q` does. Mirrors `strconv.Quote`.
pub fn go_quote(text: &str) -> String {
    quote(text, |out, c| match c {
        '\u{7}' => out.write_str("\\a"),
        '\u{b}' => out.write_str("\\v"),
        c if is_print(c) => out.write_char(c),
        c => match u32::from(c) {
            code @ ..0x80 => write!(out, "\\x{code:02x}"),
            code @ ..0x1_0000 => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        },
    })
}

/// A string as Go writes it in JSON. Mirrors `encoding/json`, which escapes what HTML could read.
pub(crate) fn json_quote(text: &str) -> String {
    quote(text, |out, c| match c {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | ..' ' => {
            write!(out, "\\u{:04x}", u32::from(c))
        }
        c => out.write_char(c),
    })
}

/// Puts a string in double quotes. `other` writes the characters without a short escape that Go
/// literals and JSON share.
fn quote(text: &str, other: fn(&mut String, char) -> core::fmt::Result) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                // Writing to a string cannot fail.
                let _ = other(&mut out, c);
            }
        }
    }
    out.push('"');
    out
}

/// Whether Go prints a character unescaped. Mirrors `strconv.IsPrint`.
///
/// Rust uses the same Unicode tables when it escapes a string for debugging, except that it also
/// escapes a leading combining character; hence the letter in front.
fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = 1 + buffer.get_mut(1..).map_or(0, |rest| c.encode_utf8(rest).len());
    let text = buffer.get(..length).and_then(|bytes| core::str::from_utf8(bytes).ok());
    text.is_some_and(|text| text.escape_debug().nth(1) == Some(c))
}

/// Longest part of an invalid text to repeat in an error: no name, key or value of Kubernetes is
/// longer.
const LONGEST_ECHO: usize = 1_000;

/// An invalid text, or its beginning.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => Cow::Owned(text.get(..end).unwrap_or("").to_owned() + "…"),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_json_as_in_go() {
        for (text, quoted) in [
            ("plain é 世界", r#""plain é 世界""#),
            ("\"\\\n\r\t", r#""\"\\\n\r\t""#),
            ("\u{8}\u{c}\0\u{1f}", r#""\b\f\u0000\u001f""#),
            ("<a>&\u{2028}", r#""\u003ca\u003e\u0026\u2028""#),
        ] {
            assert_eq!(json_quote(text), quoted);
        }
    }

    #[test]
    fn strings_are_quoted_as_in_go() {
        for (text, quoted) in [
            ("", r#""""#),
            ("plain é 世界", r#""plain é 世界""#),
            ("\"\\", r#""\"\\""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
            ("\0\u{1}\u{7f}", r#""\x00\x01\x7f""#),
            ("\u{85}\u{a0}\u{200b}\u{2028}\u{feff}", r#""\u0085\u00a0\u200b\u2028\ufeff""#),
            ("\u{301}'", "\"\u{301}'\""),
            ("\u{10ffff}", r#""\U0010ffff""#),
        ] {
            assert_eq!(go_quote(text), quoted);
        }
    }
}
