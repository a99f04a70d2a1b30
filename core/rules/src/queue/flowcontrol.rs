//! Rate limiters, exact to the nanosecond, with Go's arithmetic.
//!
//! Mirrors `k8s.io/client-go/util/flowcontrol` and the `golang.org/x/time/rate` of 1.20.

use core::time::Duration;

use crate::time::{SECOND, Timestamp};

/// Limits the rate of work. Mirrors `flowcontrol.RateLimiter`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLimiter {
    /// Allows work at a rate.
    TokenBucket(TokenBucketRateLimiter),
    /// Allows no work at all. Mirrors `flowcontrol.NewFakeNeverRateLimiter`.
    Never,
}

impl RateLimiter {
    /// Takes a token if one is available.
    pub fn try_accept(&mut self, now: Timestamp) -> bool {
        match self {
            Self::TokenBucket(bucket) => bucket.try_accept(now),
            Self::Never => false,
        }
    }

    /// Work per second. As upstream, a limiter that allows none returns 1.
    #[must_use]
    pub const fn qps(&self) -> f32 {
        match self {
            Self::TokenBucket(bucket) => bucket.qps(),
            Self::Never => 1.0,
        }
    }

    /// Available tokens, with fractions; for display.
    #[must_use]
    pub fn tokens_at(&self, now: Timestamp) -> f64 {
        match self {
            Self::TokenBucket(bucket) => bucket.tokens_at(now),
            Self::Never => 0.0,
        }
    }

    /// First moment, from `now` on, at which a token is available; `None` if there never is one.
    #[must_use]
    pub fn next_accept(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::TokenBucket(bucket) => bucket.next_accept(now),
            Self::Never => None,
        }
    }

    /// Whether it allows no work at all.
    #[must_use]
    pub const fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }
}

/// A bucket that fills with tokens at a rate; each piece of work takes one.
///
/// Mirrors `flowcontrol.NewTokenBucketRateLimiter` with the arithmetic of `rate.Limiter`: the rate
/// is a float32, the tokens are float64, and times are truncated to whole nanoseconds. A deficit
/// worth less than a nanosecond counts as none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucketRateLimiter {
    qps: f32,
    burst: i32,
    tokens: f64,
    /// Time of the token count; `None` is long ago, when the bucket was full.
    last: Option<Timestamp>,
}

impl TokenBucketRateLimiter {
    /// A full bucket of `burst` tokens that receives `qps` tokens a second.
    #[must_use]
    pub const fn new(qps: f32, burst: i32) -> Self {
        Self { qps, burst, tokens: 0.0, last: None }
    }

    /// Tokens per second.
    #[must_use]
    pub const fn qps(&self) -> f32 {
        self.qps
    }

    /// Takes a token if one is available. Mirrors `rate.Limiter.AllowN` with one token.
    pub fn try_accept(&mut self, now: Timestamp) -> bool {
        match self.tokens_after(now) {
            Some(tokens) => {
                self.tokens = tokens;
                self.last = Some(now);
                true
            }
            None => false,
        }
    }

    /// Takes the next token and returns the time at which it is available. Mirrors
    /// `rate.Limiter.Wait`.
    pub fn reserve(&mut self, now: Timestamp) -> Timestamp {
        let now = self.last.map_or(now, |last| last.max(now));
        let tokens = self.advance(now) - 1.0;
        (self.tokens, self.last) = (tokens, Some(now));
        let wait = if tokens < 0.0 { self.duration_from_tokens(-tokens) } else { 0 };
        now.saturating_add(Duration::from_nanos(u64::try_from(wait).unwrap_or_default()))
    }

    /// Available tokens, with fractions, at least 0.
    #[must_use]
    pub fn tokens_at(&self, now: Timestamp) -> f64 {
        // A deficit of less than a nanosecond counts as none.
        self.advance(now).max(0.0)
    }

    /// Mirrors `rate.Limiter.advance`.
    fn advance(&self, now: Timestamp) -> f64 {
        let burst = f64::from(self.burst);
        // Longer times than filling the bucket takes must not overflow the product below.
        let to_fill = self.duration_from_tokens(burst - self.tokens);
        let elapsed = match self.last {
            None => to_fill,
            Some(last) => nanos(now - last).min(to_fill),
        };
        let tokens = self.tokens + self.tokens_from_duration(elapsed);
        // Not `f64::min`, which treats NaN differently.
        if tokens > burst { burst } else { tokens }
    }

    /// First moment, from `now` on, at which a token is available; `None` if there never is one.
    #[must_use]
    pub fn next_accept(&self, now: Timestamp) -> Option<Timestamp> {
        if self.tokens_after(now).is_some() {
            return Some(now);
        }
        self.tokens_after(Timestamp::MAX)?;
        // Tokens do not decrease over time (except for the last bit of a float, which is worth a
        // nanosecond only below one token a month), so that bisection finds the first moment.
        let (mut refused, mut accepted) = (now.as_nanos(), Timestamp::MAX.as_nanos());
        // The expected moment, wrong only by rounding, narrows the bisection.
        let lack = self.duration_from_tokens(1.0 - self.advance(now));
        let near = refused.saturating_add(u64::try_from(lack).unwrap_or_default());
        for at in [near.saturating_sub(1_000), near.saturating_add(1_000)] {
            if at <= refused || at >= accepted {
                continue;
            }
            if self.tokens_after(Timestamp::from_nanos(at)).is_some() {
                accepted = at;
            } else {
                refused = at;
            }
        }
        while accepted - refused > 1 {
            let middle = refused + (accepted - refused) / 2;
            if self.tokens_after(Timestamp::from_nanos(middle)).is_some() {
                accepted = middle;
            } else {
                refused = middle;
            }
        }
        Some(Timestamp::from_nanos(accepted))
    }

    /// Tokens left after one is taken, if that is allowed. Mirrors `rate.Limiter.reserveN`.
    fn tokens_after(&self, now: Timestamp) -> Option<f64> {
        let tokens = self.advance(now) - 1.0;
        let wait = if tokens < 0.0 { self.duration_from_tokens(-tokens) } else { 0 };
        (self.burst >= 1 && wait <= 0).then_some(tokens)
    }

    /// Mirrors `rate.Limit.durationFromTokens`: nanoseconds, truncated.
    fn duration_from_tokens(&self, tokens: f64) -> i64 {
        let seconds = tokens / f64::from(self.qps);
        go_i64(1e9 * seconds)
    }

    /// Mirrors `rate.Limit.tokensFromDuration`: whole seconds and the rest, separately.
    fn tokens_from_duration(&self, nanos: i64) -> f64 {
        let limit = f64::from(self.qps);
        let second = SECOND as i64;
        let whole = (nanos / second) as f64 * limit;
        let rest = (nanos % second) as f64 * limit;
        whole + rest / 1e9
    }
}

/// Conversion of a float to int64, as Go does it on amd64: values out of range become the minimum.
fn go_i64(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Times of grants by a bucket that is asked every 100 ms from `from` until before `to` (in
    /// tenths of seconds).
    fn polled(limiter: &mut TokenBucketRateLimiter, from: u64, to: u64) -> Vec<f64> {
        (from..to)
            .map(|tenth| Timestamp::from_millis(tenth * 100))
            .filter(|at| limiter.try_accept(*at))
            .map(Timestamp::as_secs_f64)
            .collect()
    }

    /// The worked examples Q1 to Q3.
    #[test]
    fn grants_when_asked_every_100_ms() {
        for (id, qps, to, expected) in [
            ("Q1", 0.1, 350, &[0.0, 10.0, 20.0, 30.0][..]),
            ("Q2", 0.01, 4100, &[0.0, 100.1, 200.2, 300.3, 400.4]),
            ("Q3", 0.3, 175, &[0.0, 3.4, 6.8, 10.2, 13.6, 17.0]),
            ("Q3", 1.0, 25, &[0.0, 1.0, 2.0]),
            ("Q3", 0.2, 120, &[0.0, 5.0, 10.0]),
        ] {
            let mut limiter = TokenBucketRateLimiter::new(qps, 1);
            assert_eq!(polled(&mut limiter, 0, to), expected, "{id} {qps}");
        }
    }

    #[test]
    fn the_next_grant_is_known_to_the_nanosecond() {
        for (id, qps, nanos) in [("Q1", 0.1, 9_999_999_851), ("Q2", 0.01, 100_000_002_235)] {
            let mut limiter = TokenBucketRateLimiter::new(qps, 1);
            assert_eq!(limiter.next_accept(Timestamp::ZERO), Some(Timestamp::ZERO), "{id}");
            assert!(limiter.try_accept(Timestamp::ZERO), "{id}");
            let next = Timestamp::from_nanos(nanos);
            assert_eq!(limiter.next_accept(Timestamp::from_nanos(1)), Some(next), "{id}");
            assert!(!limiter.try_accept(Timestamp::from_nanos(nanos - 1)), "{id}");
            assert!(limiter.try_accept(next), "{id}");
        }
        assert_eq!(RateLimiter::Never.next_accept(Timestamp::ZERO), None);
        assert_eq!(TokenBucketRateLimiter::new(1.0, 0).next_accept(Timestamp::ZERO), None);
    }

    #[test]
    fn tokens_at_shows_the_available_tokens() {
        let mut limiter = TokenBucketRateLimiter::new(0.5, 3);
        assert_eq!(limiter.tokens_at(Timestamp::ZERO), 3.0);
        assert!(limiter.try_accept(Timestamp::ZERO));
        assert_eq!(limiter.tokens_at(Timestamp::from_secs(1)), 2.5);
        assert_eq!(limiter.tokens_at(Timestamp::from_secs(9)), 3.0);
        assert_eq!(RateLimiter::Never.tokens_at(Timestamp::ZERO), 0.0);
        assert_eq!(RateLimiter::Never.qps(), 1.0);
    }

    #[test]
    fn odd_rates_do_no_harm() {
        for qps in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 1e30] {
            let mut limiter = TokenBucketRateLimiter::new(qps, 1);
            for secs in [0, 1, 1_000_000] {
                limiter.try_accept(Timestamp::from_secs(secs));
                let next = limiter.next_accept(Timestamp::from_secs(secs));
                assert!(next.is_none_or(|next| next >= Timestamp::from_secs(secs)), "{qps}");
            }
        }
    }
}
