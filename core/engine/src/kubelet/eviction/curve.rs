//! How usage changes over time, as input of a simulation.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{Format, Quantity, is_default};
use taintlab_rules::time::{Span, Timestamp};

/// How much of something is used, over the time since its user started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum UsageCurve {
    /// Always the same.
    Constant(Quantity),
    /// From one value to another on a straight line; flat before and after.
    Ramp {
        /// The value until the line starts.
        from: Quantity,
        /// The value from the end of the line on.
        to: Quantity,
        /// When it starts.
        #[serde(default)]
        start: Span,
        /// When it ends.
        end: Span,
    },
    /// From one value to another at once.
    Step {
        /// The value before.
        before: Quantity,
        /// The value from then on.
        after: Quantity,
        /// When.
        at: Span,
    },
    /// From the low value to the high one on a straight line, back at once, and again.
    Sawtooth {
        /// The value at the beginning of each period.
        low: Quantity,
        /// The value at its end.
        high: Quantity,
        /// How long a period is.
        period: Span,
        /// When the first one begins; before, the value is the low one.
        #[serde(default, skip_serializing_if = "is_default")]
        start: Span,
    },
    /// Straight lines between points; flat before the first and after the last.
    Points(Vec<Point>),
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// When, later than the point before.
    pub at: Span,
    /// How much.
    pub value: Quantity,
}

/// A straight piece of a curve, in nanoseconds since the start: from `begin` to `end`, without the
/// latter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) begin: u64,
    from: i64,
    /// `None`: flat forever.
    pub(super) end: Option<u64>,
    to: i64,
}

/// Rates are counted in units of 2⁻⁴⁰ per nanosecond.
pub(super) const RATE_BITS: u32 = 40;

impl Piece {
    const fn flat(value: i64, begin: u64, end: Option<u64>) -> Self {
        Self { begin, from: value, end, to: value }
    }

    /// The length and the growth, if it is not flat.
    fn slope(&self) -> Option<(i128, i128)> {
        let length = i128::from(self.end?.saturating_sub(self.begin));
        let growth = i128::from(self.to) - i128::from(self.from);
        (length > 0 && growth != 0).then_some((length, growth))
    }

    pub(super) fn value_at(&self, elapsed: u64) -> i64 {
        let Some((length, growth)) = self.slope() else { return self.from };
        let passed = i128::from(elapsed.saturating_sub(self.begin));
        let value = i128::from(self.from) + (growth * passed).div_euclid(length);
        i64::try_from(value).unwrap_or(i64::MAX)
    }

    /// A lower and an upper bound of the rate of growth.
    pub(super) fn rates(&self) -> (i128, i128) {
        self.slope().map_or((0, 0), |(length, growth)| {
            let low = (growth << RATE_BITS).div_euclid(length);
            (low, low + 1)
        })
    }
}

fn amount(quantity: &Quantity) -> i64 {
    quantity.value().max(0)
}

fn nanos(span: Span) -> u64 {
    span.timestamp().as_nanos()
}

impl Default for UsageCurve {
    fn default() -> Self {
        Self::Constant(Quantity::new(0, Format::BinarySI))
    }
}

impl UsageCurve {
    /// How much is used so long after the start.
    #[must_use]
    pub fn value_at(&self, elapsed: Timestamp) -> i64 {
        let elapsed = elapsed.as_nanos();
        self.piece(elapsed).value_at(elapsed)
    }

    /// What is wrong with the curve, if something is.
    ///
    /// # Errors
    /// Says what, and what would be valid.
    pub fn validate(&self) -> Result<(), String> {
        let (values, order): (Vec<&Quantity>, Result<(), &str>) = match self {
            Self::Constant(value) => (Vec::from([value]), Ok(())),
            Self::Ramp { from, to, start, end } => {
                let order =
                    if start <= end { Ok(()) } else { Err("a ramp must end after its start") };
                (Vec::from([from, to]), order)
            }
            Self::Step { before, after, .. } => (Vec::from([before, after]), Ok(())),
            Self::Sawtooth { low, high, period, .. } => {
                let long = nanos(*period) >= 1_000_000;
                let order = if long { Ok(()) } else { Err("a period must be 1ms or more") };
                (Vec::from([low, high]), order)
            }
            Self::Points(points) => {
                let mut pairs = points.iter().zip(points.iter().skip(1));
                let order = if points.is_empty() {
                    Err("there must be at least one point")
                } else if pairs.all(|(one, next)| one.at < next.at) {
                    Ok(())
                } else {
                    Err("every point must be later than the one before")
                };
                (points.iter().map(|point| &point.value).collect(), order)
            }
        };
        order.map_err(ToString::to_string)?;
        match values.into_iter().find(|value| value.sign() < 0) {
            Some(value) => Err(format!("`{value}` is less than zero; usage is 0 or more")),
            None => Ok(()),
        }
    }

    /// The same curve, so much later: before, it has the value of its beginning.
    #[must_use]
    pub fn delayed(&self, by: Duration) -> Self {
        let later = |span: Span| Span(span.0.saturating_add(by));
        let mut curve = self.clone();
        match &mut curve {
            Self::Constant(_) => {}
            Self::Ramp { start, end, .. } => (*start, *end) = (later(*start), later(*end)),
            Self::Step { at, .. } => *at = later(*at),
            Self::Sawtooth { start, .. } => *start = later(*start),
            Self::Points(points) => {
                for point in points {
                    point.at = later(point.at);
                }
            }
        }
        curve
    }

    /// The least and the largest value it ever has.
    pub(super) fn bounds(&self) -> (i64, i64) {
        let pair = |one, other| {
            let (one, other) = (amount(one), amount(other));
            (one.min(other), one.max(other))
        };
        match self {
            Self::Constant(value) => pair(value, value),
            Self::Ramp { from: one, to: other, .. }
            | Self::Step { before: one, after: other, .. }
            | Self::Sawtooth { low: one, high: other, .. } => pair(one, other),
            Self::Points(points) => {
                let values = || points.iter().map(|point| amount(&point.value));
                (values().min().unwrap_or(0), values().max().unwrap_or(0))
            }
        }
    }

    /// The straight piece that a moment is on.
    pub(super) fn piece(&self, elapsed: u64) -> Piece {
        match self {
            Self::Constant(value) => Piece::flat(amount(value), 0, None),
            Self::Ramp { from, to, start, end } => {
                let (from, to, begin, end) = (amount(from), amount(to), nanos(*start), nanos(*end));
                if elapsed < begin {
                    Piece::flat(from, 0, Some(begin))
                } else if elapsed < end {
                    Piece { begin, from, end: Some(end), to }
                } else {
                    Piece::flat(to, end, None)
                }
            }
            Self::Step { before, after, at } => {
                if elapsed < nanos(*at) {
                    Piece::flat(amount(before), 0, Some(nanos(*at)))
                } else {
                    Piece::flat(amount(after), nanos(*at), None)
                }
            }
            Self::Sawtooth { low, start, .. } if elapsed < nanos(*start) => {
                Piece::flat(amount(low), 0, Some(nanos(*start)))
            }
            Self::Sawtooth { low, high, period, start } => {
                let (period, start) = (nanos(*period).max(1), nanos(*start));
                let begin = elapsed - (elapsed - start) % period;
                let end = Some(begin.saturating_add(period));
                Piece { begin, from: amount(low), end, to: amount(high) }
            }
            Self::Points(points) => {
                let next = points.iter().position(|point| elapsed < nanos(point.at));
                let before = match next {
                    Some(next) => next.checked_sub(1).and_then(|before| points.get(before)),
                    None => points.last(),
                };
                match (before, next.and_then(|next| points.get(next))) {
                    (Some(before), Some(next)) => Piece {
                        begin: nanos(before.at),
                        from: amount(&before.value),
                        end: Some(nanos(next.at)),
                        to: amount(&next.value),
                    },
                    (None, Some(next)) => Piece::flat(amount(&next.value), 0, Some(nanos(next.at))),
                    (Some(before), None) => {
                        Piece::flat(amount(&before.value), nanos(before.at), None)
                    }
                    (None, None) => Piece::flat(0, 0, None),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(json: &str) -> UsageCurve {
        serde_json::from_str(json).unwrap()
    }

    fn values(curve: &UsageCurve, at: &[u64]) -> Vec<i64> {
        at.iter().map(|at| curve.value_at(Timestamp::from_secs(*at))).collect()
    }

    #[test]
    fn curves_read_and_evaluate() {
        let constant = curve(r#"{"constant":"1Ki"}"#);
        assert_eq!(values(&constant, &[0, 1_000]), [1_024, 1_024]);
        let ramp = curve(r#"{"ramp":{"from":"100","to":200,"start":"10s","end":"20s"}}"#);
        assert_eq!(values(&ramp, &[0, 10, 15, 19, 20, 99]), [100, 100, 150, 190, 200, 200]);
        let down = curve(r#"{"ramp":{"from":100,"to":0,"end":"3s"}}"#);
        assert_eq!(values(&down, &[0, 1, 2, 3]), [100, 66, 33, 0]);
        let late = saw_late();
        assert_eq!(values(&late, &[0, 99, 100, 130, 160]), [0, 0, 0, 30, 0]);
        let step = curve(r#"{"step":{"before":1,"after":2,"at":"5s"}}"#);
        assert_eq!(values(&step, &[0, 4, 5, 9]), [1, 1, 2, 2]);
        let saw = curve(r#"{"sawtooth":{"low":0,"high":60,"period":"60s"}}"#);
        assert_eq!(values(&saw, &[0, 30, 59, 60, 90]), [0, 30, 59, 0, 30]);
        let points = curve(r#"{"points":[{"at":"10s","value":10},{"at":"20s","value":30}]}"#);
        assert_eq!(values(&points, &[0, 10, 15, 20, 99]), [10, 10, 20, 30, 30]);
        assert_eq!(points.bounds(), (10, 30));
    }

    fn saw_late() -> UsageCurve {
        let saw = curve(r#"{"sawtooth":{"low":0,"high":60,"period":"60s"}}"#);
        saw.delayed(Duration::from_secs(100))
    }

    #[test]
    fn wrong_curves_are_refused() {
        for (json, error) in [
            (r#"{"constant":"-1Mi"}"#, "`-1Mi` is less than zero"),
            (r#"{"ramp":{"from":0,"to":1,"start":"2s","end":"1s"}}"#, "must end after its start"),
            (r#"{"sawtooth":{"low":0,"high":1,"period":"0s"}}"#, "must be 1ms or more"),
            (r#"{"points":[]}"#, "at least one point"),
            (
                r#"{"points":[{"at":"1s","value":1},{"at":"1s","value":2}]}"#,
                "later than the one before",
            ),
        ] {
            let curve = curve(json);
            assert!(curve.validate().unwrap_err().contains(error), "{json}");
            // Nothing breaks on it either.
            assert!(curve.value_at(Timestamp::from_secs(1)) >= 0);
        }
        assert!(serde_json::from_str::<UsageCurve>(r#"{"constant":"1GB"}"#).is_err());
        assert!(serde_json::from_str::<UsageCurve>(r#"{"wave":1}"#).is_err());
    }
}
