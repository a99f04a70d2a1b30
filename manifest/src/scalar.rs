//! The meaning of unquoted scalars, as `kubectl` reads them.
//!
//! Mirrors `resolve` of `sigs.k8s.io/yaml/goyaml.v2`, which follows YAML 1.1: `yes`, `on` and `y`
//! are booleans, `0644` is octal. JSON's literals mean the same there.

/// The meaning of an unquoted scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// A whole number too large for `Int`.
    Uint(u64),
    /// A fraction or a very large number; `kubectl` sends `300.0` as `300`, an `Int`.
    Float(f64),
    /// A string: the text itself.
    Str,
}

/// The meaning of the unquoted scalar `text`.
pub(crate) fn resolve(text: &str) -> Scalar {
    match text.as_bytes().first() {
        None => Scalar::Null,
        Some(b'+' | b'-' | b'0'..=b'9') => signed_special(text).unwrap_or_else(|| number(text)),
        Some(b'.') => match text {
            ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
            _ => float(text),
        },
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            word(text)
        }
        Some(_) => Scalar::Str,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        _ => Scalar::Str,
    }
}

fn signed_special(text: &str) -> Option<Scalar> {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => Some(Scalar::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => Some(Scalar::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

fn number(text: &str) -> Scalar {
    if text.contains('_') {
        let plain = text.replace('_', "");
        return int(&plain).unwrap_or_else(|| float(&plain));
    }
    int(text).unwrap_or_else(|| float(text))
}

/// Mirrors `strconv.ParseInt(text, 0, 64)` and `ParseUint`: base prefixes, and a leading zero for
/// octal.
fn int(text: &str) -> Option<Scalar> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let lower_prefix = |prefix: &str| {
        let (head, tail) = digits.split_at_checked(2)?;
        head.eq_ignore_ascii_case(prefix).then_some(tail)
    };
    let (radix, digits) = if let Some(digits) = lower_prefix("0x") {
        (16, digits)
    } else if let Some(digits) = lower_prefix("0o") {
        (8, digits)
    } else if let Some(digits) = lower_prefix("0b") {
        (2, digits)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, digits)
    } else {
        (10, digits)
    };
    // `from_str_radix` would accept a second sign.
    if !digits.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return 0_i64.checked_sub_unsigned(magnitude).map(Scalar::Int);
    }
    Some(i64::try_from(magnitude).map_or(Scalar::Uint(magnitude), Scalar::Int))
}

/// Mirrors `yamlStyleFloat` and `strconv.ParseFloat`.
fn float(text: &str) -> Scalar {
    let Some(value) = as_json(text).and_then(|json| serde_json::from_str::<f64>(&json).ok()) else {
        return Scalar::Str;
    };
    if value.fract() == 0.0 && value.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        return Scalar::Int(value as i64);
    }
    Scalar::Float(value)
}

/// Rewrites a number of YAML in the grammar of JSON: `.5` as `0.5`, `+08.` as `8.0`.
///
/// The standard library reads such numbers directly, but brings tables of 10 KB that the page would
/// have to load. Numbers of more than 15 digits may lose the last one here.
fn as_json(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (number, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let whole = whole.trim_start_matches('0');
    // `serde_json` refuses an exponent without digits.
    Some(format!("{sign}{:0>1}.{fraction:0<1}e{exponent}", whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_resolve_as_in_kubectl() {
        for (text, meaning) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("null", Scalar::Null),
            ("nULL", Scalar::Str),
            ("yes", Scalar::Bool(true)),
            ("y", Scalar::Bool(true)),
            ("On", Scalar::Bool(true)),
            ("TRUE", Scalar::Bool(true)),
            ("tRue", Scalar::Str),
            ("off", Scalar::Bool(false)),
            ("N", Scalar::Bool(false)),
            ("node", Scalar::Str),
            ("0", Scalar::Int(0)),
            ("-0", Scalar::Int(0)),
            ("+12", Scalar::Int(12)),
            ("-12", Scalar::Int(-12)),
            ("0644", Scalar::Int(0o644)),
            ("0o17", Scalar::Int(15)),
            ("0x1F", Scalar::Int(31)),
            ("-0b11", Scalar::Int(-3)),
            ("1_000", Scalar::Int(1000)),
            ("0x-5", Scalar::Str),
            ("08", Scalar::Int(8)),
            ("300.0", Scalar::Int(300)),
            ("1e3", Scalar::Int(1000)),
            ("1.30", Scalar::Float(1.3)),
            (".5", Scalar::Float(0.5)),
            ("5.", Scalar::Int(5)),
            (".", Scalar::Str),
            ("-", Scalar::Str),
            ("1.2.3", Scalar::Str),
            ("+inf", Scalar::Str),
            ("-.inf", Scalar::Float(f64::NEG_INFINITY)),
            ("1e999", Scalar::Str),
            ("9223372036854775807", Scalar::Int(i64::MAX)),
            ("-9223372036854775808", Scalar::Int(i64::MIN)),
            ("9223372036854775808", Scalar::Uint(1 << 63)),
            ("36893488147419103232", Scalar::Float(36_893_488_147_419_103_232.0)),
            ("2020-01-01", Scalar::Str),
            ("2020-01-01T00:00:00Z", Scalar::Str),
            ("10.0.0.1", Scalar::Str),
            ("100m", Scalar::Str),
            ("12:30:45", Scalar::Str),
            ("é", Scalar::Str),
            ("=", Scalar::Str),
        ] {
            assert_eq!(resolve(text), meaning, "{text:?}");
        }
        assert!(matches!(resolve(".nan"), Scalar::Float(f) if f.is_nan()));
    }
}
