//! Numbers and durations as Go's standard library reads them, with its errors.

use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use taintlab_rules::quote::go_quote;

/// Reads a number of 32 bits. Mirrors `strconv.ParseFloat(text, 32)`.
pub(super) fn parse_float32(text: &str) -> Result<f32, String> {
    let wrong = |why: &str| format!("strconv.ParseFloat: parsing {}: {why}", go_quote(text));
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let is = |name: &str| body.eq_ignore_ascii_case(name);
    if is("inf") || is("infinity") {
        return Ok(if negative { f32::NEG_INFINITY } else { f32::INFINITY });
    }
    if text.eq_ignore_ascii_case("nan") {
        return Ok(f32::NAN);
    }
    let value = if body.starts_with("0x") || body.starts_with("0X") {
        hexadecimal(body.get(2..).unwrap_or(""))
    } else {
        decimal(body)
    };
    let value = value.ok_or_else(|| wrong("invalid syntax"))?;
    if value.is_infinite() {
        return Err(wrong("value out of range"));
    }
    Ok(if negative { -value } else { value })
}

/// Removes underscores that stand between digits; `None` if one stands elsewhere.
fn without_underscores(text: &str, is_digit: fn(&char) -> bool, start: bool) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut before = start;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '_' {
            if !before || !chars.peek().is_some_and(is_digit) {
                return None;
            }
            before = false;
        } else {
            before = is_digit(&c);
            out.push(c);
        }
    }
    Some(out)
}

fn decimal(text: &str) -> Option<f32> {
    let text = without_underscores(text, char::is_ascii_digit, false)?;
    // Rust reads the same grammar and more words.
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if is_number { text.parse().ok() } else { None }
}

/// The part after `0x`: digits, a point among them, and `p` with a power of two.
fn hexadecimal(text: &str) -> Option<f32> {
    let text = without_underscores(text, char::is_ascii_hexdigit, true)?;
    let (digits, power) = text.split_once(['p', 'P'])?;
    let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let mut power: i32 =
        power.parse().unwrap_or(if power.starts_with('-') { -4_096 } else { 4_096 });
    let mut mantissa = 0_f64;
    for (index, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        mantissa = mantissa * 16.0 + f64::from(digit.to_digit(16)?);
        if index >= whole.len() {
            power = power.saturating_sub(4);
        }
    }
    let step = if power < 0 { 0.5 } else { 2.0 };
    for _ in 0..power.unsigned_abs().min(8_192) {
        mantissa *= step;
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounds, as it should")]
    let value = mantissa as f32;
    Some(value)
}

/// Reads a duration in nanoseconds, which may have a sign. Mirrors `time.ParseDuration`.
pub(super) fn parse_signed_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", time_quote(text));
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let most = 1_u64 << 63;
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let (whole, tail) = take_digits(rest);
        let (fraction, tail) = match tail.strip_prefix('.') {
            Some(tail) => take_digits(tail),
            None => ("", tail),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let end = tail.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end).unwrap_or((tail, ""));
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", time_quote(text)));
        }
        let Some(scale) = unit_of(unit) else {
            let (unit, text) = (time_quote(unit), time_quote(text));
            return Err(format!("time: unknown unit {unit} in duration {text}"));
        };
        let value: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let value = value.checked_mul(scale).filter(|value| *value <= most).ok_or_else(invalid)?;
        sum = value
            .checked_add(fraction_of(fraction, scale))
            .and_then(|value| sum.checked_add(value))
            .filter(|sum| *sum <= most)
            .ok_or_else(invalid)?;
        rest = tail;
    }
    if negative {
        return Ok(0_i64.wrapping_sub_unsigned(sum));
    }
    i64::try_from(sum).map_err(|_| invalid())
}

fn take_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

const fn unit_of(unit: &str) -> Option<u64> {
    match unit.as_bytes() {
        b"ns" => Some(1),
        b"us" | [0xc2, 0xb5, b's'] | [0xce, 0xbc, b's'] => Some(1_000),
        b"ms" => Some(1_000_000),
        b"s" => Some(1_000_000_000),
        b"m" => Some(60_000_000_000),
        b"h" => Some(3_600_000_000_000),
        _ => None,
    }
}

/// The fraction of a unit, cut off to whole nanoseconds.
fn fraction_of(digits: &str, scale: u64) -> u64 {
    let (mut value, mut divisor) = (0_u128, 1_u128);
    for digit in digits.bytes().take(18) {
        value = value * 10 + u128::from(digit.wrapping_sub(b'0'));
        divisor *= 10;
    }
    u64::try_from(value * u128::from(scale) / divisor).unwrap_or(u64::MAX)
}

/// Quotes as package `time` does: bytes outside ASCII in hexadecimal.
fn time_quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='\u{7f}' => out.push(c),
            _ => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// Turns a float into an integer as Go does on x86-64, where what does not fit is the least one.
pub(super) fn float_to_int64(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) {
        #[expect(clippy::cast_possible_truncation, reason = "it is in range; the fraction goes")]
        let value = value as i64;
        value
    } else {
        i64::MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_go() {
        for (text, value) in [
            ("10", 10.0),
            ("0.5", 0.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("-0", -0.0),
            ("+1e2", 100.0),
            ("1_0", 10.0),
            ("3.4e38", 3.4e38),
            ("1e-50", 0.0),
            ("0x1p-2", 0.25),
            ("0X_1F.8p0", 31.5),
            ("iNf", f32::INFINITY),
            ("-Infinity", f32::NEG_INFINITY),
        ] {
            assert_eq!(parse_float32(text), Ok(value), "{text}");
        }
        assert!(parse_float32("NaN").unwrap().is_nan());
        for text in ["", "5 ", " 5", "0x10", "1__0", "_1", "1_", "e5", "+nan", "1e", "..", "٣"] {
            let error = format!("strconv.ParseFloat: parsing {}: invalid syntax", go_quote(text));
            assert_eq!(parse_float32(text), Err(error));
        }
        let error = "strconv.ParseFloat: parsing \"3.5e38\": value out of range";
        assert_eq!(parse_float32("3.5e38").unwrap_err(), error);
    }

    #[test]
    fn durations_read_as_in_go() {
        for (text, nanos) in [
            ("0", 0),
            ("-0s", 0),
            ("+5s", 5_000_000_000),
            ("5.s", 5_000_000_000),
            (".5s", 500_000_000),
            ("1m30s", 90_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("1µs", 1_000),
            ("2562047h47m16.854775807s", i64::MAX),
            ("-2562047h47m16.854775808s", i64::MIN),
        ] {
            assert_eq!(parse_signed_duration(text), Ok(nanos), "{text}");
        }
        for (text, error) in [
            ("", "invalid duration \"\""),
            ("abc", "invalid duration \"abc\""),
            (" 1s", "invalid duration \" 1s\""),
            (".s", "invalid duration \".s\""),
            ("2562047h47m16.854775808s", "invalid duration \"2562047h47m16.854775808s\""),
            ("1", "missing unit in duration \"1\""),
            ("1d", "unknown unit \"d\" in duration \"1d\""),
            ("1é", "unknown unit \"\\xc3\\xa9\" in duration \"1\\xc3\\xa9\""),
        ] {
            assert_eq!(parse_signed_duration(text), Err(format!("time: {error}")), "{text}");
        }
    }

    #[test]
    fn floats_become_integers_as_on_x86() {
        assert_eq!(float_to_int64(1.9), 1);
        assert_eq!(float_to_int64(-1.9), -1);
        assert_eq!(float_to_int64(f64::NAN), i64::MIN);
        assert_eq!(float_to_int64(1e19), i64::MIN);
    }
}
