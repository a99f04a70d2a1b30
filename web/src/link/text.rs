//! Bytes and texts in the characters that an address may have.

/// The digits of base64url, RFC 4648.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes in base64url, without `=` at the end.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=chunk.len() {
            let value = word >> (18 - 6 * digit) & 63;
            text.extend(DIGITS.get(value as usize).map(|digit| char::from(*digit)));
        }
    }
    text
}

/// The bytes of base64url.
///
/// # Errors
/// A character is not of base64url, or the text ends in the middle of a byte; the message says
/// which.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut word, mut bits) = (0_u32, 0);
    for (index, character) in text.chars().enumerate() {
        let digit = DIGITS.iter().position(|digit| char::from(*digit) == character);
        let Some(digit) = digit.and_then(|digit| u32::try_from(digit).ok()) else {
            return Err(format!("character {}, `{character}`, is not valid in a link", index + 1));
        };
        (word, bits) = ((word << 6 | digit) & 0xffff, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from(word >> bits & 0xff));
        }
    }
    if bits >= 6 {
        return Err("wrong length: it was cut off or extended".to_owned());
    }
    Ok(bytes)
}

/// The text that was [escaped](taintlab_manifest::demo::escape_in_fragment), by us or by a browser.
///
/// # Errors
/// The text was not escaped that way.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not escaped as an address is");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
                u8::try_from(high << 4 | low).map_err(|_| wrong())?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use taintlab_manifest::demo::escape_in_fragment;

    use super::*;

    #[test]
    fn bytes_come_back() {
        let mut all: Vec<u8> = Vec::new();
        for length in 0..300_u32 {
            assert_eq!(bytes(&base64(&all)).unwrap(), all);
            all.push(u8::try_from(length.wrapping_mul(157) & 0xff).unwrap());
        }
        // RFC 4648, 10.
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(b"fo"), "Zm8");
        assert_eq!(base64(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn characters_outside_base64url_are_named() {
        assert_eq!(bytes("AA+A").unwrap_err(), "character 3, `+`, is not valid in a link");
        assert_eq!(bytes("AAAAA").unwrap_err(), "wrong length: it was cut off or extended");
    }

    #[test]
    fn texts_come_back() {
        for text in ["", "a b", "node worker-1", "pod shop/wéb", "50%&=#", "\u{1F680}"] {
            let escaped = escape_in_fragment(text);
            assert!(escaped.is_ascii() && !escaped.contains(['&', '#', ' ']), "{escaped}");
            assert_eq!(unescape(&escaped).unwrap(), text);
        }
        for text in ["%", "%4", "%zz", "%ff"] {
            assert!(unescape(text).is_err(), "{text}");
        }
    }
}
