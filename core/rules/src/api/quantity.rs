//! Amounts of a resource, as `resource.Quantity` reads, compares and prints them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::cmp::Ordering;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An amount of memory, storage, CPU or inodes: `100Mi`, `1.5Gi`, `500m`, `1e3`.
///
/// Mirrors `k8s.io/apimachinery/pkg/api/resource.Quantity`. It prints in Go's canonical form: `0Mi`
/// is `0`, `1.5` is `1500m`, `1024Mi` is `1Gi`. Only what upstream takes to be in that form already
/// prints as it was written: `1.500`, `5.`, `+1`. It is serialised as it was written.
// Equality (`==`) asks for the same text; `Quantity::compare` compares amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify), tsify(type = "number | string"))]
pub struct Quantity {
    amount: Amount,
    format: Format,
    /// The text that was read.
    text: Option<Box<str>>,
    /// Whether it prints as that text.
    prints_text: bool,
}

/// An exact decimal number: `unscaled · 10^exponent`.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    unscaled: i128,
    exponent: i32,
    /// Whether upstream holds it as `inf.Dec` rather than `int64Amount`, which matters for what
    /// does not fit 64 bits.
    is_dec: bool,
}

/// How an amount without a text is printed. Mirrors `resource.Format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `12Mi`.
    BinarySI,
    /// `12M`.
    #[default]
    DecimalSI,
    /// `12e6`.
    DecimalExponent,
}

/// Why a text is not a quantity; the messages are upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// It does not look like one.
    Format,
    /// The number is too long.
    Numeric,
    /// There is no such suffix.
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => {
                "quantities must match the regular expression \
                 '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Numeric => "unable to parse numeric part of quantity",
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl core::error::Error for QuantityError {}

/// Suffixes of powers of ten.
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
/// Suffixes of powers of two.
const BINARY: [(&str, i32); 6] =
    [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
/// The smallest unit: nothing below a nano can be said.
const NANO: i32 = -9;
/// Digits that always fit `int64`.
const MAX_INT64_FACTORS: i32 = 18;

/// The pieces of a quantity's text. Mirrors the result of `parseQuantityString`.
struct Pieces<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl Quantity {
    /// `value` as it is. Mirrors `resource.NewQuantity`.
    #[must_use]
    pub const fn new(value: i64, format: Format) -> Self {
        let amount = Amount { unscaled: value as i128, exponent: 0, is_dec: false };
        Self { amount, format, text: None, prints_text: false }
    }

    /// Reads a quantity. Mirrors `resource.ParseQuantity`.
    ///
    /// Exact to 38 digits, where upstream has no end.
    ///
    /// # Errors
    /// Upstream's.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let pieces = Pieces::split(text)?;
        let (base, exponent, format) = interpret(pieces.suffix)?;
        if let Some(amount) = pieces.fast(base, exponent) {
            let prints_text = pieces.is_canonical(format, exponent);
            return Ok(Self { amount, format, text: Some(text.into()), prints_text });
        }
        let mut amount = pieces.slow(base, exponent);
        let mut format = format;
        if format == Format::BinarySI {
            let most = Amount::whole(i64::MAX.into());
            if amount.magnitude().cmp(most) == Ordering::Greater {
                amount = Amount { unscaled: most.unscaled * amount.unscaled.signum(), ..most };
                amount.is_dec = true;
            }
            if amount.unscaled != 0 && amount.magnitude().cmp(Amount::whole(1)) == Ordering::Less {
                format = Format::DecimalSI;
            }
        }
        Ok(Self { amount, format, text: Some(text.into()), prints_text: false })
    }

    /// The amount in whole units, rounded away from zero. Mirrors `Quantity.Value`, which says 0
    /// for what is too large.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.amount.scaled(0)
    }

    /// The amount in thousandths, rounded away from zero. Mirrors `Quantity.MilliValue`.
    #[must_use]
    pub fn milli_value(&self) -> i64 {
        self.amount.scaled(-3)
    }

    /// Less than zero, zero, or more: -1, 0, 1. Mirrors `Quantity.Sign`.
    #[must_use]
    pub fn sign(&self) -> i32 {
        match self.amount.unscaled {
            ..0 => -1,
            0 => 0,
            1.. => 1,
        }
    }

    /// Compares amounts. Mirrors `Quantity.Cmp`.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        self.amount.cmp(other.amount)
    }

    /// Adds an amount. Mirrors `Quantity.Add`: the format of a zero is replaced.
    pub fn add(&mut self, other: &Self) {
        self.text = None;
        if self.amount.unscaled == 0 {
            self.format = other.format;
        }
        self.amount = self.amount.plus(other.amount);
    }

    /// This amount less another. Mirrors `Quantity.Sub`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let negative = Amount { unscaled: other.amount.unscaled.saturating_neg(), ..other.amount };
        let format = if self.amount.unscaled == 0 { other.format } else { self.format };
        Self { amount: self.amount.plus(negative), format, text: None, prints_text: false }
    }

    /// Rounds up to thousandths, as the API server does with the resources of a pod. Mirrors
    /// `Quantity.RoundUp`, called by `SetDefaults_ResourceList`.
    pub fn round_up_to_milli(&mut self) {
        if self.amount.exponent < -3 {
            self.text = None;
            let unscaled = self.amount.rounded(-3);
            self.amount = Amount { unscaled, exponent: -3, ..self.amount };
        }
    }

    /// Prints the amount, without what is remembered of its text. Mirrors
    /// `Quantity.CanonicalizeBytes`.
    fn write_canonical(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amount { mut unscaled, mut exponent, .. } = self.amount;
        if unscaled == 0 {
            return f.write_str("0");
        }
        while exponent < 0 && unscaled % 10 == 0 {
            unscaled /= 10;
            exponent += 1;
        }
        if self.format == Format::BinarySI
            && let Some(whole) = whole(unscaled, exponent)
            && whole.unsigned_abs() >= 1024
        {
            let (mut number, mut power) = (whole, 0);
            while number % 1024 == 0 {
                number /= 1024;
                power += 10;
            }
            let suffix = BINARY.iter().find(|(_, exponent)| *exponent == power);
            return write!(f, "{number}{}", suffix.map_or("", |(suffix, _)| suffix));
        }
        while unscaled % 10 == 0 {
            unscaled /= 10;
            exponent += 1;
        }
        // A multiple of three: the suffixes have no others.
        while exponent.rem_euclid(3) != 0 {
            unscaled = unscaled.saturating_mul(10);
            exponent -= 1;
        }
        let suffix = DECIMAL.iter().find(|(_, known)| *known == exponent);
        match suffix {
            Some((suffix, _)) if self.format != Format::DecimalExponent => {
                write!(f, "{unscaled}{suffix}")
            }
            _ if exponent == 0 => write!(f, "{unscaled}"),
            _ => write!(f, "{unscaled}e{exponent}"),
        }
    }
}

/// `unscaled · 10^exponent` if that is a whole number that fits.
fn whole(unscaled: i128, exponent: i32) -> Option<i128> {
    unscaled.checked_mul(10_i128.checked_pow(u32::try_from(exponent).ok()?)?)
}

impl<'a> Pieces<'a> {
    /// Mirrors `parseQuantityString`, oddities and all: a sign alone is zero, and so is a suffix
    /// alone.
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        let wrong = QuantityError::Format;
        if text.is_empty() {
            return Err(wrong);
        }
        let negative = text.starts_with('-');
        let rest = text.strip_prefix(['-', '+']).unwrap_or(text).trim_start_matches('0');
        let (whole, rest) = split_at(rest, |c| !c.is_ascii_digit());
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_at(rest, |c| !c.is_ascii_digit()),
            None => ("", rest),
        };
        let (_, tail) = split_at(suffix, |c| !"eEinumkKMGTP".contains(c));
        let digits = tail.strip_prefix(['-', '+']).unwrap_or(tail);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong);
        }
        Ok(Self { negative, whole, fraction, suffix })
    }

    fn sign(&self) -> i128 {
        if self.negative { -1 } else { 1 }
    }

    /// What upstream can hold in an `int64` with a scale.
    fn fast(&self, base: i32, exponent: i32) -> Option<Amount> {
        let digits = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
        let (whole, fraction) = (digits(self.whole).max(1), digits(self.fraction));
        let (precision, mantissa, scale) = match base {
            10 => (MAX_INT64_FACTORS - whole.saturating_add(fraction), 1, exponent),
            _ if self.fraction.is_empty() => {
                (15 - whole - exponent * 3 / 10 - 1, 1_i64.checked_shl(exponent.unsigned_abs())?, 0)
            }
            _ => return None,
        };
        let scale = scale.checked_sub(fraction)?;
        if precision < 0 || scale < NANO {
            return None;
        }
        let mut value = 0_i64;
        for digit in self.digits() {
            value = value.checked_mul(10)?.checked_add(digit.into())?;
        }
        let value = value.checked_mul(mantissa)?;
        Some(Amount { unscaled: i128::from(value) * self.sign(), exponent: scale, is_dec: false })
    }

    /// What needs `inf.Dec`: rounded up to nanos.
    fn slow(&self, base: i32, exponent: i32) -> Amount {
        let mut amount = Amount { is_dec: true, ..Amount::default() };
        let fraction = i32::try_from(self.fraction.len()).unwrap_or(i32::MAX);
        amount.exponent = exponent_of(base, exponent).saturating_sub(fraction);
        for digit in self.digits() {
            let next = amount.unscaled.checked_mul(10);
            match next.and_then(|next| next.checked_add(digit.into())) {
                Some(next) => amount.unscaled = next,
                None => amount.exponent = amount.exponent.saturating_add(1),
            }
        }
        if base == 2 {
            for _ in 0..exponent {
                match amount.unscaled.checked_mul(2) {
                    Some(next) => amount.unscaled = next,
                    None => {
                        amount.unscaled = amount.unscaled / 10 * 2;
                        amount.exponent = amount.exponent.saturating_add(1);
                    }
                }
            }
        }
        if amount.exponent < NANO {
            amount.unscaled = amount.rounded(NANO);
            amount.exponent = NANO;
        }
        amount.unscaled *= self.sign();
        amount
    }

    /// Whether upstream takes the text to be in canonical form, which it tells at a glance. Mirrors
    /// the end of the fast path of `ParseQuantity`.
    fn is_canonical(&self, format: Format, exponent: i32) -> bool {
        if format == Format::BinarySI {
            return self
                .digits()
                .fold(0_u64, |value, digit| value.wrapping_mul(10).wrapping_add(digit.into()))
                % 8
                != 0;
        }
        let fraction = i32::try_from(self.fraction.len()).unwrap_or(i32::MAX);
        let zeros = self.fraction.bytes().rev().chain(self.whole.bytes().rev());
        let zeros = zeros.take_while(|digit| *digit == b'0').count();
        // A whole part of zeros is empty here, and stands as `0` before the fraction there.
        exponent.saturating_sub(fraction) % 3 == 0 && zeros < 3 && !self.whole.is_empty()
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.bytes().chain(self.fraction.bytes()).map(|byte| byte.wrapping_sub(b'0'))
    }
}

fn exponent_of(base: i32, exponent: i32) -> i32 {
    if base == 10 { exponent } else { 0 }
}

fn split_at(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at_checked(text.find(ends).unwrap_or(text.len())).unwrap_or((text, ""))
}

/// Mirrors `suffixHandler.interpret`: base, exponent, format.
fn interpret(suffix: &str) -> Result<(i32, i32, Format), QuantityError> {
    let find = |list: &[(&str, i32)]| {
        list.iter().find(|(known, _)| *known == suffix).map(|(_, exponent)| *exponent)
    };
    if let Some(exponent) = find(&DECIMAL) {
        return Ok((10, exponent, Format::DecimalSI));
    }
    if let Some(exponent) = find(&BINARY) {
        return Ok((2, exponent, Format::BinarySI));
    }
    let digits = suffix.strip_prefix(['e', 'E']).filter(|digits| !digits.is_empty());
    let exponent = digits.and_then(|digits| digits.parse().ok()).ok_or(QuantityError::Suffix)?;
    Ok((10, exponent, Format::DecimalExponent))
}

impl Amount {
    const fn whole(unscaled: i128) -> Self {
        Self { unscaled, exponent: 0, is_dec: false }
    }

    const fn magnitude(self) -> Self {
        Self { unscaled: self.unscaled.saturating_abs(), ..self }
    }

    /// In units of `10^exponent`, rounded away from zero.
    fn rounded(self, exponent: i32) -> i128 {
        let shift = u32::try_from(exponent.saturating_sub(self.exponent)).unwrap_or(0);
        let Some(divisor) = 10_i128.checked_pow(shift) else { return self.unscaled.signum() };
        let rest = self.unscaled % divisor;
        self.unscaled / divisor + rest.signum()
    }

    /// Mirrors `ScaledValue`: what does not fit is 0 in `int64Amount`, and the low 64 bits in
    /// `inf.Dec`.
    fn scaled(self, exponent: i32) -> i64 {
        let value = if self.exponent <= exponent {
            Some(self.rounded(exponent))
        } else {
            whole(self.unscaled, self.exponent.saturating_sub(exponent))
        };
        match value {
            #[expect(clippy::cast_possible_truncation, reason = "as upstream's big.Int.Int64 does")]
            Some(value) if self.is_dec => value as i64,
            Some(value) => i64::try_from(value).unwrap_or(0),
            None => 0,
        }
    }

    fn cmp(self, other: Self) -> Ordering {
        if self.unscaled.signum() != other.unscaled.signum() || self.unscaled == 0 {
            return self.unscaled.cmp(&other.unscaled);
        }
        if self.exponent < other.exponent {
            return other.cmp(self).reverse();
        }
        match whole(self.unscaled, self.exponent.saturating_sub(other.exponent)) {
            Some(unscaled) => unscaled.cmp(&other.unscaled),
            // Further from zero than any number with the other's exponent.
            None => self.unscaled.cmp(&0),
        }
    }

    fn plus(self, other: Self) -> Self {
        if self.exponent < other.exponent {
            return other.plus(self);
        }
        let is_dec = self.is_dec || other.is_dec;
        let aligned = whole(self.unscaled, self.exponent.saturating_sub(other.exponent));
        if let Some(unscaled) = aligned.and_then(|aligned| aligned.checked_add(other.unscaled)) {
            let fits = i64::try_from(unscaled).is_ok();
            return Self { unscaled, exponent: other.exponent, is_dec: is_dec || !fits };
        }
        // The smaller one loses its last digits.
        let rounded = other.rounded(self.exponent);
        let unscaled = self.unscaled.saturating_add(rounded);
        Self { unscaled, exponent: self.exponent, is_dec: true }
    }
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(*other) == Ordering::Equal
    }
}

impl Eq for Amount {}

/// As upstream's `Quantity.String`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) if self.prints_text => f.write_str(text),
            _ => self.write_canonical(f),
        }
    }
}

/// As it was read.
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Quantity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as `100Mi`, `1.5Gi`, `500m` or a number")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                Quantity::parse(text.trim())
                    .map_err(|error| E::custom(format!("`{text}` is not a quantity: {error}")))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Quantity, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
                let text: String = value.to_string();
                self.visit_str(&text)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Quantity {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Quantity".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An amount such as `100Mi`, `1.5Gi`, `500m`, or a number.",
            "anyOf": [
                {
                    "type": "string",
                    "pattern": "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
                },
                { "type": "number" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_and_print_as_upstream() {
        for (text, value, milli, printed) in [
            ("0", 0, 0, "0"),
            ("1Gi", 1 << 30, 1_073_741_824_000, "1Gi"),
            ("1024Mi", 1 << 30, 1_073_741_824_000, "1Gi"),
            ("0.5Gi", 1 << 29, 536_870_912_000, "512Mi"),
            ("1.5Gi", 1_610_612_736, 1_610_612_736_000, "1536Mi"),
            ("100Ti", 109_951_162_777_600, 109_951_162_777_600_000, "100Ti"),
            ("-1Gi", -(1 << 30), -1_073_741_824_000, "-1Gi"),
            ("500m", 1, 500, "500m"),
            ("-500m", -1, -500, "-500m"),
            ("1n", 1, 1, "1n"),
            ("5.", 5, 5_000, "5."),
            (".5", 1, 500, "500m"),
            ("1e3", 1_000, 1_000_000, "1e3"),
            ("1E3", 1_000, 1_000_000, "1E3"),
            ("1e-3", 1, 1, "1e-3"),
            ("1e30", 0, 0, "1e30"),
            ("0.1n", 1, 1, "1n"),
            ("0.5Ki", 512, 512_000, "512"),
            ("0.0001Ki", 1, 103, "102400u"),
            ("9Ei", i64::MAX, -1_000, "9223372036854775807"),
            ("1E", 1_000_000_000_000_000_000, 0, "1E"),
            ("+", 0, 0, "0"),
            ("Ki", 0, 0, "0"),
            ("007", 7, 7_000, "007"),
            ("0Mi", 0, 0, "0"),
            ("0.0", 0, 0, "0"),
            ("1.5", 2, 1_500, "1500m"),
            ("0.1", 1, 100, "100m"),
            ("0.100", 1, 100, "100m"),
            ("1.500", 2, 1_500, "1.500"),
            ("1.000", 1, 1_000, "1"),
            ("+1", 1, 1_000, "+1"),
            ("1000", 1_000, 1_000_000, "1k"),
            ("1000m", 1, 1_000, "1"),
            ("1200", 1_200, 1_200_000, "1200"),
            ("100.035k", 100_035, 100_035_000, "100.035k"),
            ("0.0005k", 1, 500, "500m"),
            ("1024", 1_024, 1_024_000, "1024"),
            ("8Mi", 8 << 20, 8_388_608_000, "8Mi"),
            ("1000Ki", 1_024_000, 1_024_000_000, "1000Ki"),
            ("1023Ki", 1_047_552, 1_047_552_000, "1023Ki"),
            ("1.1Ki", 1_127, 1_126_400, "1126400m"),
            ("100.035Ki", 102_436, 102_435_840, "102435840m"),
            ("1e6", 1_000_000, 1_000_000_000, "1e6"),
            ("1e5", 100_000, 100_000_000, "100e3"),
            ("1000e3", 1_000_000, 1_000_000_000, "1e6"),
            ("0.5e-9", 1, 1, "1e-9"),
            ("3.001n", 1, 1, "4n"),
            ("-0.5Gi", -(1 << 29), -536_870_912_000, "-512Mi"),
            ("-0.0000000001", -1, -1, "-1n"),
            ("12E", 0, 0, "12E"),
        ] {
            let quantity = Quantity::parse(text).unwrap();
            assert_eq!(
                (quantity.value(), quantity.milli_value(), quantity.to_string().as_str()),
                (value, milli, printed),
                "{text}"
            );
        }
    }

    #[test]
    fn quantities_are_serialised_as_they_were_written() {
        for text in ["1024Mi", "1.5Gi", "0.1", "0Mi", "1000m", "1e3"] {
            let quantity = Quantity::parse(text).unwrap();
            assert_eq!(serde_json::to_value(&quantity).unwrap(), *text);
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_in_upstreams_words() {
        for (text, error) in [
            ("", QuantityError::Format),
            ("abc", QuantityError::Format),
            ("100MiB", QuantityError::Format),
            ("1Zi", QuantityError::Format),
            (" 1", QuantityError::Format),
            ("1 Gi", QuantityError::Format),
            ("--1", QuantityError::Suffix),
            ("1.2.3", QuantityError::Format),
            ("1K", QuantityError::Suffix),
            ("1e", QuantityError::Suffix),
            ("1mi", QuantityError::Suffix),
            ("1e99999999999", QuantityError::Suffix),
        ] {
            assert_eq!(Quantity::parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn sums_are_exact_and_canonical() {
        let q = |text: &str| Quantity::parse(text).unwrap();
        let mut sum = q("1Gi");
        sum.add(&q("512Mi"));
        assert_eq!(sum.to_string(), "1536Mi");
        sum.add(&q("1"));
        assert_eq!(sum.to_string(), "1610612737");
        assert_eq!(q("100M").minus(&q("1Gi")).to_string(), "-973741824");
        let mut zero = Quantity::default();
        zero.add(&q("64Mi"));
        assert_eq!(zero.to_string(), "64Mi");
        assert_eq!(Quantity::new(419_430_400, Format::BinarySI).to_string(), "400Mi");
        assert_eq!(Quantity::new(419_430_401, Format::BinarySI).to_string(), "419430401");
        assert_eq!(Quantity::new(1_000, Format::BinarySI).to_string(), "1k");
        assert_eq!(Quantity::new(50_000, Format::DecimalSI).to_string(), "50k");
        for (less, more) in [
            ("1", "1.5"),
            ("999m", "1"),
            ("1G", "1Gi"),
            ("-1Gi", "-1G"),
            ("9E", "1e30"),
            ("-1e30", "0"),
            ("1e30", "1e31"),
        ] {
            assert_eq!(q(less).compare(&q(more)), Ordering::Less, "{less} {more}");
            assert_eq!(q(more).compare(&q(less)), Ordering::Greater, "{less} {more}");
        }
        assert_eq!(q("1024Mi").compare(&q("1Gi")), Ordering::Equal);
        assert_eq!(q("1e3").compare(&q("1k")), Ordering::Equal);
        let mut rounded = q("1234567u");
        rounded.round_up_to_milli();
        assert_eq!(rounded.to_string(), "1235m");
        let mut rounded = q("1.500");
        rounded.round_up_to_milli();
        assert_eq!(rounded.to_string(), "1.500");
        let mut rounded = q("1024Mi");
        rounded.round_up_to_milli();
        assert_eq!(rounded.to_string(), "1Gi");
    }
}
