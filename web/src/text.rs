//! Times and numbers as people read them.

use std::fmt::Display;
use std::time::Duration;

use taintlab_core::time::{SECOND, Timestamp, format_duration};

/// What a clock shows: `0h05m12.3s`, always of the same shape.
pub(crate) fn clock(at: Timestamp) -> String {
    let tenths = at.as_nanos() / (SECOND / 10);
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours}h{minutes:02}m{:02}.{tenth}s", seconds % 60)
}

/// A moment in a sentence, as Go prints it, to the millisecond: `5m45s`.
pub(crate) fn at(at: Timestamp) -> String {
    span(at.since_zero())
}

/// A duration in a sentence, as Go prints it, to the millisecond.
pub(crate) fn span(span: Duration) -> String {
    if span < Duration::from_millis(1) {
        return format_duration(span);
    }
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    format_duration(Duration::from_millis(millis))
}

/// `1 pod`, `2 pods`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {what}{plural}")
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
        assert_eq!(clock(Timestamp::ZERO), "0h00m00.0s");
        assert_eq!(clock(Timestamp::from_millis(312_399)), "0h05m12.3s");
        assert_eq!(clock(Timestamp::from_secs(90_061)), "25h01m01.0s");
        assert_eq!(at(Timestamp::from_nanos(345_000_000_001)), "5m45s");
        assert_eq!(at(Timestamp::from_nanos(7)), "7ns");
        assert_eq!(count(1, "pod"), "1 pod");
        assert_eq!(count(0, "pod"), "0 pods");
        assert_eq!(css_seconds(Duration::from_millis(1_050)), "1.050");
    }
}
