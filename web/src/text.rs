//! Times and numbers as people read them.

use std::fmt::Display;
use std::time::Duration;

use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::time::{Timestamp, format_duration};

/// The duration from which hours say nothing any more: about a year.
const LONG: Duration = Duration::from_secs(10_000 * 3_600);
const DAY: u64 = 24 * 3_600;

/// A moment, wherever the page shows one, as Go prints it, to the millisecond: `5m45s`; the end of
/// time is `never`.
pub(crate) fn at(at: Timestamp) -> String {
    if at >= Timestamp::MAX { "never".to_owned() } else { span(at.since_zero()) }
}

/// A moment that may lie before the beginning: `18s before the start`.
pub(crate) fn moment(moment: Moment) -> String {
    let nanos = moment.rounded().as_nanos();
    let from_start = Timestamp::from_nanos(nanos.unsigned_abs());
    if nanos < 0 { format!("{} before the start", at(from_start)) } else { at(from_start) }
}

/// A duration in a sentence, as Go prints it, to the millisecond; more than a year is rounded.
pub(crate) fn span(span: Duration) -> String {
    if span >= LONG {
        return format!("{} years", span.as_secs() / (365 * DAY));
    }
    if span < Duration::from_millis(1) {
        return format_duration(span);
    }
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    format_duration(Duration::from_millis(millis))
}

/// A number and its noun: `1 pod`, `2 pods`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    let plural = plural(&number);
    format!("{number} {what}{plural}")
}

/// The ending of a noun after this number.
pub(crate) fn plural<N: PartialEq + From<u8>>(number: &N) -> &'static str {
    if *number == N::from(1) { "" } else { "s" }
}

/// The age of something, given in milliseconds: `5 minutes ago`.
pub(crate) fn ago(millis: u64) -> String {
    let minutes = millis / 60_000;
    match (minutes, minutes / 60, minutes / 60 / 24) {
        (0, _, _) => "just now".to_owned(),
        (minutes, 0, _) => format!("{} ago", count(minutes, "minute")),
        (_, hours, 0) => format!("{} ago", count(hours, "hour")),
        (_, _, days) => format!("{} ago", count(days, "day")),
    }
}

/// A size in bytes: `61 KB`.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..=999 => count(bytes, "byte"),
        1_000..=999_999 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

/// A number of seconds for CSS, to the millisecond.
pub(crate) fn css_seconds(span: Duration) -> String {
    format!("{}.{:03}", span.as_secs(), span.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        assert_eq!(at(Timestamp::ZERO), "0s");
        assert_eq!(at(Timestamp::from_millis(312_399)), "5m12.399s");
        assert_eq!(at(Timestamp::MAX), "never");
        assert_eq!(span(Duration::from_secs(9_000_000_000)), "285 years");
        assert_eq!(at(Timestamp::from_nanos(345_000_000_001)), "5m45s");
        assert_eq!(at(Timestamp::from_nanos(7)), "7ns");
        assert_eq!(moment(Moment::from_nanos(-18_000_000_000)), "18s before the start");
        assert_eq!(moment(Moment::from_nanos(40_008_400_000)), "40.008s");
        assert_eq!(count(1, "pod"), "1 pod");
        assert_eq!(count(0, "pod"), "0 pods");
        assert_eq!(css_seconds(Duration::from_millis(1_050)), "1.050");
        assert_eq!(ago(59_999), "just now");
        assert_eq!(ago(60_000), "1 minute ago");
        assert_eq!(ago(7_300_000), "2 hours ago");
        assert_eq!(ago(200_000_000), "2 days ago");
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(61_234), "61 KB");
        assert_eq!(size(12_345_678), "12.3 MB");
    }
}
