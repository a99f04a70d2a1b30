//! Simulated time and wall-clock time, as plain values.
//!
//! Nothing in this crate reads a clock: every [`Timestamp`] comes from the caller.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::Sub;
use core::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One second in nanoseconds.
pub const SECOND: u64 = 1_000_000_000;

/// A moment of simulated time since the start of the scenario.
///
/// The range is zero to 292 years, that of Go's `time.Duration`, so that sums saturate exactly
/// where Kubernetes' own timers do.
///
/// Serialised in milliseconds, with fractions; exact to the nanosecond for 99 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify), tsify(type = "number"))]
pub struct Timestamp(#[cfg_attr(feature = "schema", schemars(with = "f64"))] u64);

impl Timestamp {
    /// Start of the scenario.
    pub const ZERO: Self = Self(0);
    /// The end of time: 2⁶³ − 1 nanoseconds.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// Moment `nanos` nanoseconds after the start, at most [`Timestamp::MAX`].
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        if nanos > Self::MAX.0 { Self::MAX } else { Self(nanos) }
    }

    /// Moment `millis` milliseconds after the start, at most [`Timestamp::MAX`].
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self::from_nanos(millis.saturating_mul(1_000_000))
    }

    /// Moment `secs` seconds after the start, at most [`Timestamp::MAX`].
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self::from_nanos(secs.saturating_mul(SECOND))
    }

    /// Moment `millis` milliseconds after the start, to the nearest nanosecond, at most
    /// [`Timestamp::MAX`]; `None` for a negative number or NaN.
    #[must_use]
    pub fn from_fractional_millis(millis: f64) -> Option<Self> {
        if millis.is_nan() || millis < 0.0 {
            return None;
        }
        // Whole milliseconds are converted separately, so that the fraction keeps all of its
        // digits.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let whole = millis as u64;
        #[expect(clippy::cast_precision_loss, reason = "it came from such a number")]
        let rest = (millis - whole as f64) * 1e6 + 0.5;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10^6")]
        Some(Self::from_nanos(whole.saturating_mul(1_000_000).saturating_add(rest as u64)))
    }

    /// Milliseconds since the start, with fractions.
    #[must_use]
    pub fn as_fractional_millis(self) -> f64 {
        fractional_millis(self.0.cast_signed())
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The millisecond that contains it, for displays without nanoseconds.
    #[must_use]
    pub const fn truncated_to_millis(self) -> Self {
        Self(self.0 / 1_000_000 * 1_000_000)
    }

    /// Seconds since the start, with fractions; for display only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.since_zero().as_secs_f64()
    }

    /// Time since the start.
    #[must_use]
    pub const fn since_zero(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// This moment plus `duration`, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self::from_nanos(self.0.saturating_add(nanos))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_fractional_millis())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let millis = f64::deserialize(deserializer)?;
        let wrong = || de::Error::custom("a moment is not before the beginning");
        Self::from_fractional_millis(millis).ok_or_else(wrong)
    }
}

/// Time from the right moment to the left one, zero if the right one is later.
impl Sub for Timestamp {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Printed like a Go duration: `1m30s`, `350ms`, `0s`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(self.since_zero()))
    }
}

/// Wall-clock time in an object (`metav1.Time`, `metav1.MicroTime`), for example
/// `2020-01-01T00:00:00Z`.
///
/// The engine compares such values and writes them; it never computes a deadline from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify), tsify(type = "string"))]
pub struct Time(DateTime<Utc>);

impl Time {
    /// 2020-01-01T00:00:00Z, the default wall-clock time at which a scenario begins.
    pub const DEFAULT_START: Self = Self::from_unix_seconds(1_577_836_800);

    /// 0001-01-01T00:00:00Z, the zero value of Go's `time.Time`, which Go prints for an absent
    /// time.
    pub const ZERO_OF_GO: Self = Self::from_unix_seconds(-62_135_596_800);

    /// The last second whose year has four digits, 9999-12-31T23:59:59Z.
    const LAST_SECOND: i64 = 253_402_300_799;

    /// Whether the year of a moment in UTC has four digits: others cannot be written so that they are
    /// read again, and RFC 1123 has no text for them.
    const fn has_four_digits(unix_seconds: i64) -> bool {
        const FIRST_SECOND: i64 = -62_167_219_200;
        unix_seconds >= FIRST_SECOND && unix_seconds <= Self::LAST_SECOND
    }

    /// Moment `seconds` seconds after 1970-01-01T00:00:00Z, or that moment itself if the year of the
    /// result has not four digits.
    #[must_use]
    pub const fn from_unix_seconds(seconds: i64) -> Self {
        match DateTime::from_timestamp(seconds, 0) {
            Some(time) if Self::has_four_digits(seconds) => Self(time),
            _ => Self(DateTime::UNIX_EPOCH),
        }
    }

    /// Reads RFC 3339 text. Like Go, it knows no leap seconds.
    ///
    /// # Errors
    /// Describes the expected format.
    pub fn parse(text: &str) -> Result<Self, String> {
        match DateTime::parse_from_rfc3339(text) {
            Ok(time)
                if Self::has_four_digits(time.timestamp())
                    && time.timestamp_subsec_nanos() < 1_000_000_000 =>
            {
                Ok(Self(time.to_utc()))
            }
            _ => Err(format!(
                "`{text}` is not a time in RFC 3339, for example `2020-01-01T00:00:00Z`"
            )),
        }
    }

    /// This time plus `duration`, at most the last second of the year 9999.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let delta = TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX);
        let sum = self.0.checked_add_signed(delta).map(Self);
        let sum = sum.filter(|sum| Self::has_four_digits(sum.unix_seconds()));
        sum.unwrap_or(const { Self::from_unix_seconds(Self::LAST_SECOND) })
    }

    /// Time since `earlier`, zero if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        (self.0 - earlier.0).to_std().unwrap_or(Duration::ZERO)
    }

    /// This time without fractions of a second, as `metav1.Time` is stored.
    #[must_use]
    pub const fn truncated_to_seconds(self) -> Self {
        Self::from_unix_seconds(self.0.timestamp())
    }

    /// RFC 3339 in UTC with six digits of a second, as `metav1.MicroTime` is written.
    #[must_use]
    pub fn to_micro_string(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Micros, true)
    }

    /// Format of Go's `time.RFC1123Z`, for example `Wed, 01 Jan 2020 00:00:00 +0000`.
    #[must_use]
    pub fn to_rfc1123(self) -> String {
        let text = self.0.to_rfc2822();
        // RFC 2822 writes the day without a leading zero.
        match text.split_once(", ") {
            Some((weekday, rest)) if rest.find(' ') == Some(1) => format!("{weekday}, 0{rest}"),
            _ => text,
        }
    }

    /// Whole seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.0.timestamp()
    }
}

/// RFC 3339 in UTC, with fractions of a second only where they are not zero.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Time;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in RFC 3339, for example `2020-01-01T00:00:00Z`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
                Time::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Time {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Serialises a duration as a number of milliseconds, for fields whose names contain the unit.
///
/// # Errors
/// Errors of the serialiser.
pub fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    serializer.serialize_f64(fractional_millis(nanos))
}

/// Nanoseconds as milliseconds, to the nearest float.
#[expect(clippy::cast_precision_loss, reason = "exact for 99 days, and nobody counts later")]
pub fn fractional_millis(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}

/// A duration as Kubernetes writes it: `1m30s`, `500ms`. Never negative, at most 292 years.
// A number of seconds is accepted as well, as in scenario files. The TypeScript type has the text
// alone, since a number in JavaScript could be mistaken for milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify), tsify(type = "string"))]
pub struct Span(pub Duration);

impl Span {
    /// Moment this long after the start.
    #[must_use]
    pub fn timestamp(self) -> Timestamp {
        Timestamp::ZERO.saturating_add(self.0)
    }
}

impl From<Timestamp> for Span {
    fn from(at: Timestamp) -> Self {
        Self(at.since_zero())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(self.0))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(self.0))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as `90s`, `1m30s` or `500ms`, or a number of seconds")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                parse_duration(text).map(Span).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Span, E> {
                Ok(Span(Timestamp::from_secs(seconds).since_zero()))
            }
            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Span, E> {
                match u64::try_from(seconds) {
                    Ok(seconds) => self.visit_u64(seconds),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(seconds), &self)),
                }
            }
            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Span, E> {
                match Duration::try_from_secs_f64(seconds) {
                    Ok(span) => Ok(Span((Timestamp::ZERO.saturating_add(span)).since_zero())),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Float(seconds), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Span {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Span".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A duration such as `90s`, `1m30s` or `500ms`, or a number of seconds.",
            "anyOf": [
                { "type": "string", "pattern": "^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$" },
                { "type": "number", "minimum": 0 }
            ]
        })
    }
}

/// Parses a duration in Go's format: numbers with units `ns`, `us`, `µs`, `ms`, `s`, `m`, `h`.
///
/// Mirrors `time.ParseDuration`, without signs, since durations here are never negative.
///
/// # Errors
/// Describes the error and the expected format.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = |why: &str| format!("{why} in the duration `{text}`; write for example `1m30s`");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut nanos = 0_u128;
    if rest.is_empty() {
        return Err(wrong("a number is missing"));
    }
    while !rest.is_empty() {
        let (number, tail) = split_while(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, tail) = split_while(tail, |c| !(c.is_ascii_digit() || c == '.'));
        let scale: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" => return Err(wrong("a unit (ns, us, ms, s, m, h) is missing")),
            _ => return Err(wrong(&format!("`{unit}` is not a unit (ns, us, ms, s, m, h)"))),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return Err(wrong("a number is missing"));
        }
        let too_long = || wrong("more than 292 years");
        let mut value = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
        value = u128::checked_mul(value, scale).ok_or_else(too_long)?;
        let mut digit_scale = scale;
        for digit in fraction.chars().filter_map(|c| c.to_digit(10)) {
            digit_scale /= 10;
            value = value.saturating_add(u128::from(digit) * digit_scale);
        }
        nanos = nanos.saturating_add(value);
        if nanos > u128::from(Timestamp::MAX.as_nanos()) {
            return Err(too_long());
        }
        rest = tail;
    }
    Ok(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !keep(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Formats a duration like Go's `time.Duration.String`: `1h0m5s`, `1.5s`, `250µs`, `0s`.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_string();
    }
    if nanos < 1_000 {
        return format!("{nanos}ns");
    }
    if nanos < 1_000_000 {
        return format!("{}µs", decimal(nanos, 1_000));
    }
    if nanos < u128::from(SECOND) {
        return format!("{}ms", decimal(nanos, 1_000_000));
    }
    let minutes = nanos / (60 * u128::from(SECOND));
    let seconds = decimal(nanos % (60 * u128::from(SECOND)), u128::from(SECOND));
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// `nanos / unit` as a decimal number without trailing zeros.
fn decimal(nanos: u128, unit: u128) -> String {
    let (whole, mut rest) = (nanos / unit, nanos % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let mut width = unit.ilog10() as usize;
    while rest.is_multiple_of(10) {
        rest /= 10;
        width -= 1;
    }
    format!("{whole}.{rest:0width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_serialised_in_milliseconds_and_read_again() {
        let text = |at: Timestamp| serde_json::to_string(&at).unwrap();
        assert_eq!(text(Timestamp::from_nanos(1_500_000_001)), "1500.000001");
        assert_eq!(text(Timestamp::from_secs(300)), "300000.0");
        let nearly_99_days = 99 * 24 * 3_600 * SECOND;
        for nanos in [0, 1, 999_999, 1_000_001, 3_000_000_001, nearly_99_days - 1, nearly_99_days] {
            let at = Timestamp::from_nanos(nanos);
            assert_eq!(serde_json::from_str::<Timestamp>(&text(at)).unwrap(), at);
        }
        for (millis, nanos) in
            [(f64::INFINITY, i64::MAX as u64), (0.000_000_6, 1), (1e300, i64::MAX as u64)]
        {
            let at = Timestamp::from_fractional_millis(millis).unwrap();
            assert_eq!(at, Timestamp::from_nanos(nanos));
        }
        for wrong in [-1.0, f64::NAN] {
            assert_eq!(Timestamp::from_fractional_millis(wrong), None);
        }
        assert!(serde_json::from_str::<Timestamp>("-1").is_err());
    }

    #[test]
    fn durations_read_and_print_as_go_does() {
        for (text, nanos, printed) in [
            ("0", 0, "0s"),
            ("5m0s", 300_000_000_000, "5m0s"),
            ("1h", 3_600_000_000_000, "1h0m0s"),
            ("1.5s", 1_500_000_000, "1.5s"),
            ("90s", 90_000_000_000, "1m30s"),
            ("100.1s", 100_100_000_000, "1m40.1s"),
            ("250us", 250_000, "250µs"),
            ("10ms", 10_000_000, "10ms"),
            (".5s", 500_000_000, "500ms"),
            ("1ns", 1, "1ns"),
            ("2h45m30.5s", 9_930_500_000_000, "2h45m30.5s"),
        ] {
            let parsed = parse_duration(text).unwrap();
            assert_eq!(parsed, Duration::from_nanos(nanos), "{text}");
            assert_eq!(format_duration(parsed), printed, "{text}");
        }
        for bad in ["", "5", "s", "5x", "1..5s", "-5s", "999999999999h", "5 s"] {
            assert!(parse_duration(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn time_reads_and_prints_rfc3339() {
        let start = Time::parse("2020-01-01T01:00:00+01:00").unwrap();
        assert_eq!(start, Time::DEFAULT_START);
        assert_eq!(start.to_string(), "2020-01-01T00:00:00Z");
        assert_eq!(
            start.saturating_add(Duration::from_millis(1_500)).to_string(),
            "2020-01-01T00:00:01.500Z"
        );
        assert!(Time::parse("yesterday").unwrap_err().contains("RFC 3339"));
        assert_eq!(start.to_rfc1123(), "Wed, 01 Jan 2020 00:00:00 +0000");
        assert_eq!(Time::ZERO_OF_GO.to_rfc1123(), "Mon, 01 Jan 0001 00:00:00 +0000");
    }

    #[test]
    fn timestamps_saturate_where_go_durations_end() {
        assert_eq!(Timestamp::from_secs(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.saturating_add(Duration::from_secs(1)), Timestamp::MAX);
    }
}
