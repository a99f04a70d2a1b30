//! Parses JSON text into trees.
//!
//! `serde_json` reads strings and numbers. This module finds where they begin and end, because
//! `serde_json` does not tell the position of a value. A YAML parser would not do: it refuses the
//! escapes `\ud83d\ude00` and holds a whole bracketed value in memory.

use std::borrow::Cow;

use taintlab_core::slices::pause;

use crate::builder::{Builder, Stop};
use crate::diagnostic::{Position, Problem};
use crate::limits::ImportOptions;
use crate::tree::{Sink, Split, Value};

/// Parser steps between two pauses.
const PAUSE: usize = 2_000;

/// Reads all values of `text`, one after another.
pub(crate) async fn parse<'t>(
    text: &'t str,
    options: &ImportOptions,
    split: Split,
    sink: &mut dyn Sink<'t>,
) {
    let mut builder = Builder::new(options, split, sink);
    let mut reader = Reader { rest: text, position: Position::START };
    loop {
        reader.skip_space();
        if reader.rest.is_empty() {
            return;
        }
        let mut open = Open { expected: Expected::Value, objects: Vec::new() };
        let read = loop {
            match reader.go_on(&mut open, &mut builder) {
                Ok(false) => pause().await,
                read => break read,
            }
        };
        match read {
            Ok(_) => builder.reset(),
            Err(Stop::End(None)) => return,
            Err(Stop::End(Some(problem)) | Stop::Syntax(problem)) => {
                builder.report(problem.consequence("the rest of the text is left out"));
                return;
            }
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
    position: Position,
}

/// The state of a value that is partly read.
struct Open {
    expected: Expected,
    /// The open brackets, `true` for those of an object; the builder limits their number.
    objects: Vec<bool>,
}

/// The token that may come next.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`.
    KeyOrEnd,
    /// After a comma in an object.
    Key,
    /// After a value in a list or an object.
    CommaOrEnd,
}

impl<'t> Reader<'t> {
    /// Reads on until it is time for a pause; returns `true` at the end of a top-level value.
    fn go_on(&mut self, open: &mut Open, builder: &mut Builder<'t, '_>) -> Result<bool, Stop> {
        let Open { expected, objects } = open;
        for _ in 0..PAUSE {
            let in_object = objects.last() == Some(&true);
            self.skip_space();
            let at = self.position;
            let Some(next) = self.rest.bytes().next() else {
                let message = "the text ends here, but brackets are still open";
                return Err(self.problem(at, message, builder));
            };
            let can_end = matches!(
                expected,
                Expected::ValueOrEnd | Expected::KeyOrEnd | Expected::CommaOrEnd
            );
            let takes_value = matches!(expected, Expected::Value | Expected::ValueOrEnd);
            let takes_key = matches!(expected, Expected::Key | Expected::KeyOrEnd);
            match next {
                b'}' if can_end && in_object => {
                    self.advance(1);
                    objects.pop();
                    builder.end()?;
                }
                b']' if can_end && !in_object => {
                    self.advance(1);
                    objects.pop();
                    builder.end()?;
                }
                b',' if *expected == Expected::CommaOrEnd => {
                    self.advance(1);
                    *expected = if in_object { Expected::Key } else { Expected::Value };
                    continue;
                }
                b'"' if takes_key => {
                    let key = self.string(builder)?;
                    builder.scalar(Value::Str(key), at, 0)?;
                    self.skip_space();
                    if !self.rest.starts_with(':') {
                        return Err(self.problem(
                            self.position,
                            "expected `:` after a key",
                            builder,
                        ));
                    }
                    self.advance(1);
                    *expected = Expected::Value;
                    continue;
                }
                b'{' if takes_value => {
                    self.advance(1);
                    builder.begin_map(at, 0)?;
                    objects.push(true);
                    *expected = Expected::KeyOrEnd;
                    continue;
                }
                b'[' if takes_value => {
                    self.advance(1);
                    builder.begin_seq(at, 0)?;
                    objects.push(false);
                    *expected = Expected::ValueOrEnd;
                    continue;
                }
                b'"' if takes_value => {
                    let text = self.string(builder)?;
                    builder.scalar(Value::Str(text), at, 0)?;
                }
                _ if takes_value => {
                    let text = self.literal(builder)?;
                    builder.scalar(Value::Plain(Cow::Borrowed(text)), at, 0)?;
                }
                _ => return Err(self.problem(at, wanted(*expected, in_object), builder)),
            }
            if objects.is_empty() {
                return Ok(true);
            }
            *expected = Expected::CommaOrEnd;
        }
        Ok(false)
    }

    fn string(&mut self, builder: &Builder<'t, '_>) -> Result<Cow<'t, str>, Stop> {
        let at = self.position;
        let bytes = self.rest.as_bytes();
        let mut end = 1;
        let mut escaped = false;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    end += 2;
                }
                Some(b'\n') | None => {
                    return Err(self.problem(at, "this string is not closed on its line", builder));
                }
                Some(0..0x20) => {
                    let message = "a string holds a control character; write it as `\\u00XX`";
                    return Err(self.problem(at, message, builder));
                }
                Some(_) => end += 1,
            }
        }
        let token = self.rest.get(..=end).unwrap_or(self.rest);
        let text = if escaped {
            match serde_json::from_str::<String>(token) {
                Ok(text) => Cow::Owned(text),
                Err(_) => {
                    let message = if holds_surrogate(token) {
                        "a string holds half of a surrogate pair (`\\ud800` to `\\udfff`), which is \
                         no character"
                    } else {
                        "a string holds an escape that JSON does not have"
                    };
                    return Err(self.problem(at, message, builder));
                }
            }
        } else {
            Cow::Borrowed(token.get(1..end).unwrap_or(""))
        };
        self.advance(end + 1);
        Ok(text)
    }

    /// Reads a number, `true`, `false` or `null`.
    fn literal(&mut self, builder: &Builder<'t, '_>) -> Result<&'t str, Stop> {
        let ends = |c: char| matches!(c, ',' | ']' | '}' | ':' | '"' | '[' | '{') || is_space(c);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let token = self.rest.get(..end).unwrap_or("");
        let known = matches!(token, "true" | "false" | "null")
            || serde_json::from_str::<serde_json::Number>(token).is_ok();
        if !known {
            let shown: String = token.chars().take(40).collect();
            let message = if shown.is_empty() {
                "expected a value".to_owned()
            } else {
                format!(
                    "`{shown}` is not a value; JSON has strings in double quotes, numbers, true, \
                     false, null, lists and objects"
                )
            };
            return Err(self.problem(self.position, message, builder));
        }
        self.advance(end);
        Ok(token)
    }

    fn skip_space(&mut self) {
        let mut bytes = self.rest.bytes();
        let mut skipped = 0;
        loop {
            match bytes.next() {
                Some(b'\n') => {
                    self.position.line = self.position.line.saturating_add(1);
                    self.position.column = 1;
                }
                Some(b' ' | b'\t' | b'\r') => {
                    self.position.column = self.position.column.saturating_add(1);
                }
                _ => break,
            }
            skipped += 1;
        }
        self.rest = self.rest.get(skipped..).unwrap_or("");
    }

    /// Moves past `length` bytes, none of which ends a line.
    fn advance(&mut self, length: usize) {
        let (token, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        let characters = u32::try_from(token.chars().count()).unwrap_or(u32::MAX);
        self.position.column = self.position.column.saturating_add(characters);
        self.rest = rest;
    }

    fn problem(
        &self,
        position: Position,
        message: impl Into<String>,
        builder: &Builder<'t, '_>,
    ) -> Stop {
        Stop::syntax(Problem::new(position, message).at(builder.path()))
    }
}

/// Whether the token contains an escape from `\ud800` to `\udfff`.
fn holds_surrogate(token: &str) -> bool {
    token.split("\\u").skip(1).any(|escape| {
        let begin = escape.as_bytes();
        matches!(begin, [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..])
    })
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn wanted(expected: Expected, in_object: bool) -> &'static str {
    match (expected, in_object) {
        (Expected::Value | Expected::ValueOrEnd, _) => "expected a value",
        (Expected::KeyOrEnd, _) => "expected a key in double quotes or `}`",
        (Expected::Key, _) => "expected a key in double quotes",
        (Expected::CommaOrEnd, true) => "expected `,` or `}`",
        (Expected::CommaOrEnd, false) => "expected `,` or `]`",
    }
}
