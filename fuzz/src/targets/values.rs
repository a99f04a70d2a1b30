//! Quantities, durations, times, taints, keys, releases, targets and wishes: small texts.

use std::cmp::Ordering;
use std::fmt::{Debug, Display};
use std::time::Duration;

use taintlab_core::api::{PodKey, Quantity, WorkloadKey};
use taintlab_core::policy::taints::kubectl::parse_taints;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::report::Target;
use taintlab_core::solve::Wish;
use taintlab_core::time::{Time, format_duration, parse_duration};

use crate::mutate::{Bytes, text};
use crate::show;

const QUANTITIES: &[&str] = &[
    "100Mi",
    "1.5Gi",
    "500m",
    "1e3",
    "12E6",
    "0",
    "-1",
    "+.5",
    "5.",
    "123456789012345678",
    "9223372036854775807Ei",
    "0.000000001",
    "1n",
    "1024Ki",
    "99999999999999999999999999999999999999",
    "1E-9",
];

const DURATIONS: &[&str] = &[
    "1h30m",
    "1m30s",
    "500ms",
    "1.5h",
    "0",
    ".5s",
    "5.s",
    "9223372036854775807ns",
    "2562047h47m16.854775807s",
    "340282366920938463463374607431768211us",
    "1µs1μs",
];

const TIMES: &[&str] = &[
    "2020-01-01T00:00:00Z",
    "2020-02-29T23:59:60.999999999+14:00",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
];

const OTHERS: &[&str] = &[
    "key=value:NoExecute",
    "a.b/key:NoSchedule-",
    "key-",
    "deployment/shop/web",
    "sts/db",
    "default/web-0",
    "1.34",
    "v1.30.4",
    "node: atZero <= 30s, below <= 5m; zone: below ≤ 10m",
    "any: below <= 1h",
    "deployment/shop/web: below <= 90s if a node is lost",
    "no move if zone eu-1a is away for 60s",
    "statefulset/db: atZero ≤ 0s if a region is drained",
];

/// Reads small texts: what was read is the same once it is printed and read again, and arithmetic
/// keeps its laws.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    match bytes.below(8) {
        0..3 => {
            let one = text(&mut bytes, QUANTITIES, QUANTITIES, 100);
            let other = QUANTITIES[data.len() % QUANTITIES.len()];
            show("quantities", &(&one, other));
            quantity(&one, other);
        }
        3 | 4 => duration(&text(&mut bytes, DURATIONS, DURATIONS, 100)),
        5 => time(&text(&mut bytes, TIMES, TIMES, 100)),
        _ => others(&text(&mut bytes, OTHERS, OTHERS, 200)),
    }
}

fn quantity(one: &str, other: &str) {
    let Ok(read) = Quantity::parse(one) else { return };
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Quantity>(&json).unwrap(), read, "{json}");
    let printed = read.to_string();
    // An amount of more digits is not exact.
    if printed.len() > 36 {
        return;
    }
    let again = Quantity::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
    assert_eq!(again.compare(&read), Ordering::Equal, "{one} prints as {printed}");
    assert_eq!(again.to_string(), printed);
    assert_eq!(read.minus(&read).sign(), 0, "{one} less itself");
    let other = Quantity::parse(other).unwrap();
    assert_eq!(read.compare(&other), other.compare(&read).reverse());
    let mut sum = read.clone();
    sum.add(&other);
    let mut reverse = other.clone();
    reverse.add(&read);
    assert_eq!(sum.compare(&reverse), Ordering::Equal, "{one} plus {other}");
    let mut rounded = read.clone();
    rounded.round_up_to_milli();
    assert!(read.sign() < 0 || rounded.compare(&read).is_ge(), "{one} rounds to {rounded}");
    let _ = (read.value(), read.milli_value(), sum.to_string(), read.minus(&other).to_string());
}

fn duration(text: &str) {
    show("duration", &text);
    let Ok(read) = parse_duration(text) else { return };
    let printed = format_duration(read);
    assert_eq!(parse_duration(&printed), Ok(read), "{text} prints as {printed}");
    // A second opinion, roughly: the parts in floating point.
    let rough = roughly(text);
    let nanos = read.as_nanos() as f64;
    assert!((rough - nanos).abs() <= 1e-9 * rough.max(1e9) + 10.0, "{text}: {nanos}, not {rough}");
}

/// The nanoseconds of a duration that is right.
fn roughly(text: &str) -> f64 {
    let mut rest = text;
    let mut sum = 0.0;
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && c != '.') {
        let number: f64 = rest[..end].parse().unwrap_or_default();
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        sum += number
            * match &rest[..end] {
                "ns" => 1.0,
                "us" | "µs" | "μs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "m" => 60e9,
                _ => 3_600e9,
            };
        rest = &rest[end..];
    }
    sum
}

fn time(text: &str) {
    show("time", &text);
    let Ok(read) = Time::parse(text) else { return };
    let json = serde_json::to_string(&read).unwrap();
    let again: Time = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(again, read, "{text} is {json}");
    let start = Time::DEFAULT_START;
    let there = start.saturating_add(read.since(start));
    let is_near = read.since(start) < Duration::from_secs(290 * 365 * 86_400);
    assert!(read < start || !is_near || there == read, "{text}");
    let later = read.saturating_add(Duration::from_secs(u64::from(u32::MAX)));
    assert_eq!(Time::parse(&later.to_string()), Ok(later), "{text}, later");
    let _ = (later.to_micro_string(), later.to_rfc1123());
}

fn others(text: &str) {
    show("text", &text);
    again(text, KubernetesRelease::parse);
    again(text, PodKey::parse);
    again(text, WorkloadKey::parse);
    for release in [KubernetesRelease::OLDEST, KubernetesRelease::NEWEST] {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Err(error) = parse_taints(release, &words) {
            assert!(!error.is_empty());
        }
    }
    if let Ok(targets) = Target::parse_all(text) {
        let printed: Vec<String> = targets.iter().map(ToString::to_string).collect();
        assert_eq!(Target::parse_all(&printed.join(";")), Ok(targets), "{printed:?}");
    }
    if let Err(error) = Wish::parse(text) {
        let end = text.chars().count() + 1;
        assert!((1..=end).contains(&error.at), "{} of {end}: {error}", error.at);
    }
}

/// A value that was read is the same once it is printed and read again.
fn again<T: Debug + Display + PartialEq, E: Debug>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, E>,
) {
    if let Ok(read) = parse(text) {
        let printed = read.to_string();
        assert_eq!(parse(&printed).unwrap(), read, "{text} prints as {printed}");
    }
}
