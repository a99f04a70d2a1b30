//! Codes of two letters for words that stand in many clusters. JSON has no control characters in
//! it, so codes can begin with one.
//!
//! Links hold the places of words in this list: words may be added at its end, and no other change
//! is possible.

use std::collections::BTreeMap;
use taintlab_core::order::Order;

const WORDS: &str = include_str!("words.txt");

/// The first letters of codes; `\t`, `\n` and `\r` would not be told apart by people's editors.
const LEADS: [char; 5] = ['\u{1}', '\u{2}', '\u{3}', '\u{4}', '\u{5}'];
/// The number of second letters, from the first printable one on.
const LETTERS: usize = 94;

fn code(place: usize) -> Option<[char; 2]> {
    let letter = u32::try_from(place % LETTERS).ok()? + 0x21;
    Some([*LEADS.get(place / LETTERS)?, char::from_u32(letter)?])
}

/// A JSON text with codes in place of words.
pub(super) fn shorten(text: &str) -> String {
    let mut by_letter: BTreeMap<char, Vec<(&str, usize)>> = BTreeMap::new();
    for (place, word) in WORDS.split_whitespace().enumerate() {
        if let Some(first) = word.chars().next() {
            by_letter.entry(first).or_default().push((word, place));
        }
    }
    for words in by_letter.values_mut() {
        words.order_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    }
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let words = by_letter.get(&first).into_iter().flatten();
        let mut known = words.filter_map(|(word, place)| Some((rest.strip_prefix(word)?, *place)));
        match known.next().and_then(|(after, place)| Some((after, code(place)?))) {
            Some((after, code)) => {
                short.extend(code);
                rest = after;
            }
            None => {
                short.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    short
}

/// The text that [`shorten`] made short.
///
/// # Errors
/// The text holds an unknown code.
pub(super) fn lengthen(short: &str) -> Result<String, String> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut text = String::with_capacity(short.len() * 3);
    let mut letters = short.chars();
    while let Some(letter) = letters.next() {
        let Some(lead) = LEADS.iter().position(|lead| *lead == letter) else {
            text.push(letter);
            continue;
        };
        let place = letters.next().and_then(|letter| u32::from(letter).checked_sub(0x21));
        let place = place.and_then(|place| usize::try_from(place).ok());
        let place = place.filter(|place| *place < LETTERS).map(|place| lead * LETTERS + place);
        let word = place.and_then(|place| words.get(place));
        text += word.ok_or("a word in its packed part is not known; a newer version made it")?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_code_of_its_own() {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        assert!(words.len() <= LEADS.len() * LETTERS, "{}", words.len());
        let mut known = std::collections::BTreeSet::new();
        for word in &words {
            assert!(known.insert(word), "{word} is there twice");
            let short = shorten(word);
            assert!(short.chars().count() == 2, "{word}: {short:?}");
            assert_eq!(lengthen(&short).unwrap(), *word);
        }
        // The first and the last word of the list, as they are in links that were made.
        assert_eq!((words[0], words.len()), ("metadata", 259));
    }

    #[test]
    fn texts_come_back() {
        for text in ["", "{\"spec\":{}}", "Ω tolerations日 tolerationSeconds x", "metadatametadata"]
        {
            assert_eq!(lengthen(&shorten(text)).unwrap(), text);
        }
        for text in ["\u{1}", "\u{5}~", "\u{1} "] {
            assert!(lengthen(text).is_err(), "{text:?}");
        }
    }
}
