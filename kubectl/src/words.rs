//! Splits a line into words, as a shell does.

use crate::failure::Failure;

/// Splits a line at its spaces. Quotes and backslashes work as in a POSIX shell; its other features
/// (variables, pipes, redirections, several commands) are refused.
pub(crate) fn split(line: &str) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // A backslash at the end of a line continues it.
                Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err(Failure::plain("the line ends with a backslash")),
            },
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err(unclosed('\'')),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some('\n') => {}
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                            None => return Err(unclosed('"')),
                        },
                        Some(c) => word.push(c),
                        None => return Err(unclosed('"')),
                    }
                }
            }
            '#' if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            c if c.is_whitespace() => words.extend(word.take()),
            '|' | '&' | ';' | '<' | '>' | '`' => {
                return Err(Failure::plain(format!(
                    "`{c}` means something to a shell, and there is none here: write one command, \
                     or put the text in quotes"
                )));
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn unclosed(quote: char) -> Failure {
    Failure::plain(format!("the quote {quote} is not closed"))
}

/// Separates a here document (`<<EOF`) from the line before it.
pub(crate) fn here_document(text: &str) -> Result<(&str, Option<String>), Failure> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let Some((command, mark)) = line.rsplit_once("<<") else { return Ok((text, None)) };
    if split(command).is_err() {
        return Ok((text, None));
    }
    let mark = mark.trim().trim_start_matches('-').trim_matches(['\'', '"']);
    if mark.is_empty() || mark.contains(char::is_whitespace) {
        return Err(Failure::plain("a word is missing after `<<`, for example `<<EOF`"));
    }
    let mut document = String::new();
    for line in rest.lines() {
        if line == mark {
            return Ok((command, Some(document)));
        }
        document.push_str(line);
        document.push('\n');
    }
    Err(Failure::plain(format!("the line `{mark}` that ends the text after `<<{mark}` is missing")))
}

/// A word quoted for a shell, if it needs quotes.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_as_in_a_shell() {
        for (line, words) in [
            ("", &[][..]),
            ("  get  nodes ", &["get", "nodes"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            ("a'b'\"c\"d", &["abcd"]),
            (r#"a\ b "\"\\\n" '' "#, &["a b", "\"\\\\n", ""]),
            ("get nodes # all of them", &["get", "nodes"]),
            ("a#b", &["a#b"]),
            ("get \\\n nodes", &["get", "nodes"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for line in ["'a", "\"a", "a\\", "a | b", "a > b", "a; b", "a && b", "\"a\\"] {
            assert!(split(line).is_err(), "{line}");
        }
    }

    #[test]
    fn quoting_is_undone_by_splitting() {
        for word in ["", "a", "a b", "it's", "$HOME", "a\nb", "\\", "a=b:NoSchedule", "#", "é"] {
            assert_eq!(split(&quoted(word)).unwrap(), [word], "{word}");
        }
    }

    #[test]
    fn here_documents() {
        let (line, text) = here_document("apply -f - <<EOF\na: 1\n\nb: 2\nEOF\n").unwrap();
        assert_eq!((line, text.as_deref()), ("apply -f - ", Some("a: 1\n\nb: 2\n")));
        let (line, text) = here_document("label node a 'x=<<y'").unwrap();
        assert_eq!((line, text), ("label node a 'x=<<y'", None));
        assert!(here_document("apply -f - <<EOF\na: 1\n").is_err());
        assert!(here_document("apply -f - <<\n").is_err());
    }
}
