//! Texts made from seeds by bytes: random bytes alone hardly ever get past a parser's first line.

use arbtest::arbitrary::Unstructured;

/// Bytes that say what to do; without any left, each choice is the first one.
pub struct Bytes<'a>(Unstructured<'a>);

impl<'a> Bytes<'a> {
    /// Choices made by these bytes.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Eight bytes as a number.
    pub fn number(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// A number below a limit, 0 if the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        match limit {
            0 => 0,
            1..=256 => usize::from(self.0.arbitrary::<u8>().unwrap_or_default()) % limit,
            _ => self.0.arbitrary::<u32>().unwrap_or_default() as usize % limit,
        }
    }

    /// Whether one in so many cases is at hand.
    pub fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == number - 1
    }

    /// One of a list, which is not empty.
    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// A short text of any characters.
    pub fn text(&mut self) -> String {
        let length = self.below(6);
        (0..length).map(|_| self.character()).collect()
    }

    fn character(&mut self) -> char {
        if self.one_in(4) {
            return char::from_u32(self.number() as u32 % 0x11_0000).unwrap_or('\u{fffd}');
        }
        char::from(self.0.arbitrary::<u8>().unwrap_or_default() & 0x7f)
    }
}

/// Numbers and words that parsers often get wrong.
const WORDS: &[&str] = &[
    "",
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e400",
    "0.1",
    "1e-9",
    "100%",
    "null",
    "true",
    "yes",
    "~",
    "[]",
    "{}",
    "\"\"",
    "''",
    "-",
    "--",
    "/",
    ":",
    "*",
    "&a",
    "*a",
    "<<",
    "|",
    ">-",
    "!!str",
    "1s",
    "292y",
    "1h1h",
    "1Ki",
    "1m",
    "999999999999999999999999999999999999999",
    "2020-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
    "NoExecute",
    "\u{feff}",
    "\u{85}",
    "é",
    "\0",
    "\r\n",
    "\t",
    "a/b/c",
    "\\",
    "\"",
    "'",
    "#",
    ",",
    "[",
    "]",
    "{",
    "}",
    "---\n",
];

/// Whether a character belongs to a word.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_.-/%".contains(c)
}

/// The words of a text, by their places.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut begin = None;
    for (index, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (begin, is_of_word(c)) {
            (None, true) => begin = Some(index),
            (Some(from), false) => {
                words.push((from, index));
                begin = None;
            }
            _ => {}
        }
    }
    words
}

/// The beginnings of the lines of a text, and its end.
fn lines(text: &str) -> Vec<usize> {
    let begins = text.match_indices('\n').map(|(index, _)| index + 1);
    let mut lines: Vec<usize> = [0].into_iter().chain(begins).collect();
    if lines.last() != Some(&text.len()) {
        lines.push(text.len());
    }
    lines
}

/// Some whole lines of a text, by their places.
fn some_lines(bytes: &mut Bytes<'_>, text: &str) -> (usize, usize) {
    let lines = lines(text);
    let from = bytes.below(lines.len());
    // Mostly few: what is left of a seed should still be read.
    let count = if bytes.one_in(4) { bytes.below(lines.len() - from + 1) } else { bytes.below(4) };
    (lines[from], lines[(from + count).min(lines.len() - 1)])
}

fn place(bytes: &mut Bytes<'_>, text: &str) -> usize {
    text.floor_char_boundary(bytes.below(text.len() + 1))
}

/// A text made from seeds: one of them, or some of its lines, with changes for as long as bytes are
/// left. `vocabulary` has the words that are put in place of others; `most` is the greatest length.
pub fn text<S: AsRef<str>>(
    bytes: &mut Bytes<'_>,
    seeds: &[S],
    vocabulary: &[&str],
    most: usize,
) -> String {
    let mut text = bytes.pick(seeds).as_ref().to_owned();
    while !bytes.is_empty() {
        change(bytes, &mut text, seeds, vocabulary);
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
        }
    }
    text
}

/// One change to a text.
fn change<S: AsRef<str>>(
    bytes: &mut Bytes<'_>,
    text: &mut String,
    seeds: &[S],
    vocabulary: &[&str],
) {
    match bytes.below(16) {
        // Lines are left out, repeated, moved, taken from another seed.
        0 => {
            let (from, to) = some_lines(bytes, text);
            text.replace_range(from..to, "");
        }
        1 | 2 => {
            let (from, to) = some_lines(bytes, text);
            let (copy, at) = (text[from..to].to_owned(), *bytes.pick(&lines(text)));
            text.insert_str(at, &copy);
        }
        3 => {
            let other = bytes.pick(seeds).as_ref();
            let (from, to) = some_lines(bytes, other);
            let at = *bytes.pick(&lines(text));
            text.insert_str(at, &other[from..to]);
        }
        4 => {
            let (from, to) = some_lines(bytes, text);
            let spaces = " ".repeat(1 + bytes.below(4));
            let more = bytes.one_in(2);
            let moved = text[from..to].split_inclusive('\n').map(|line| {
                if more {
                    format!("{spaces}{line}")
                } else {
                    line.strip_prefix(&spaces).unwrap_or(line).to_owned()
                }
            });
            let moved: String = moved.collect();
            text.replace_range(from..to, &moved);
        }
        // A word is replaced by another one.
        5..13 => {
            let words = words(text);
            if words.is_empty() {
                text.push_str(bytes.pick::<&str>(WORDS));
                return;
            }
            let (from, to) = *bytes.pick(&words);
            let new = match bytes.below(4) {
                0 => (*bytes.pick(WORDS)).to_owned(),
                1 if !vocabulary.is_empty() => (*bytes.pick(vocabulary)).to_owned(),
                2 => {
                    let (from, to) = *bytes.pick(&words);
                    text[from..to].to_owned()
                }
                _ => {
                    let other = bytes.pick(seeds).as_ref();
                    let words = self::words(other);
                    let (from, to) = *bytes.pick(if words.is_empty() { &[(0, 0)] } else { &words });
                    other[from..to].to_owned()
                }
            };
            text.replace_range(from..to, &new);
        }
        13 => {
            let at = place(bytes, text);
            let new = if bytes.one_in(2) { bytes.text() } else { (*bytes.pick(WORDS)).to_owned() };
            text.insert_str(at, &new);
        }
        14 => {
            let from = place(bytes, text);
            let to = text.floor_char_boundary((from + bytes.below(8)).min(text.len()));
            text.replace_range(from.min(to)..to, "");
        }
        _ if bytes.one_in(4) => text.truncate(place(bytes, text)),
        _ => {}
    }
}
