//! Wishes: how long a workload may be away, and which failures must not move a pod.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::{Serialize, Serializer};
use taintlab_rules::time::{Span, parse_duration};

use crate::report::{Domain, DomainKind, Fault, ReportSubject, TargetFigure};

/// Kinds of failure domains that a wish can name.
const KINDS: [DomainKind; 3] = [DomainKind::Node, DomainKind::Zone, DomainKind::Region];

/// A demand that a change of settings has to meet in every failure that it names:
/// `deployment/shop/web: below <= 90s if a node is lost`, `no move if a node is away for 60s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The workload or pod; every one if absent, which only [`Ask::NoMove`] allows.
    pub subject: Option<ReportSubject>,
    /// The demand.
    pub ask: Ask,
    /// The failures.
    pub failures: WishedFailures,
}

/// Demand of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A time is at most this long: `below <= 90s`.
    Within {
        /// The time that is limited.
        figure: TargetFigure,
        /// The longest time that meets the wish.
        most: Span,
    },
    /// No pod is evicted from the failed nodes or preempted: `no move`.
    NoMove,
}

/// Failures of a wish: `a node is lost`, `zone eu-1a is away for 60s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WishedFailures {
    /// Kind of the failure domains: node, zone or region.
    pub kind: DomainKind,
    /// Name of the only domain; every domain of the kind if absent. A zone may be named with its
    /// region, `eu/eu-1a`.
    pub name: Option<String>,
    /// The fault: [`Fault::Lost`], [`Fault::Drained`], or [`Fault::PowerOff`] for nodes that are
    /// away for a while.
    pub fault: Fault,
}

/// A mistake in a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WishError {
    /// Place of the mistake, as a number of characters from 1 on.
    pub at: usize,
    /// The mistake, and what would be valid.
    pub message: String,
}

impl fmt::Display for WishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.at, self.message)
    }
}

impl core::error::Error for WishError {}

/// The rest of a wish that is not read yet, without leading blanks.
struct Rest<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Rest<'t> {
    fn error(&self, message: String) -> WishError {
        let read = self.text.chars().count() - self.rest.chars().count();
        WishError { at: read + 1, message }
    }

    fn expected(&self, what: &str) -> WishError {
        let found = match self.word() {
            "" => "the end".to_string(),
            word => format!("`{word}`"),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// The next word, up to a blank.
    fn word(&self) -> &'t str {
        self.rest.split_whitespace().next().unwrap_or_default()
    }

    /// Takes a text with which the rest begins.
    fn take(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest).trim_start();
        rest.is_some()
    }

    /// Takes this word.
    fn take_word(&mut self, word: &str) -> bool {
        self.word() == word && self.take(word)
    }

    fn duration(&mut self) -> Result<Span, WishError> {
        let word = self.word();
        let time = parse_duration(word).map_err(|why| self.error(why))?;
        self.take(word);
        Ok(Span(time))
    }
}

impl Wish {
    /// Reads a wish: a workload and `:`, unless it is about every one; `atZero` or `below`, `<=` or
    /// `≤` and a duration of Go, or `no move`; `if`; `a node`, `a zone`, `a region` or one of them
    /// by its name; `is lost`, `is drained` or `is away for` and a duration.
    ///
    /// # Errors
    /// The place of the mistake, and what would be valid.
    pub fn parse(text: &str) -> Result<Self, WishError> {
        let mut rest = Rest { text, rest: text.trim_start() };
        let subject = match rest.word().split_once(':') {
            Some((name, _)) => {
                let read = ReportSubject::parse(name).map_err(|why| rest.error(why))?;
                rest.take(name);
                rest.take(":");
                Some(read)
            }
            None => None,
        };
        let ask = rest.ask(subject.is_some())?;
        if !rest.take_word("if") {
            return Err(rest.expected("`if`, and then for example `a node is lost`"));
        }
        let failures = rest.failures()?;
        if !rest.rest.is_empty() {
            return Err(rest.expected("the end"));
        }
        Ok(Self { subject, ask, failures })
    }

    /// The longest time that it names. A run that ends before says nothing about it.
    pub(super) fn longest(&self) -> Span {
        let most = match self.ask {
            Ask::Within { most, .. } => most,
            Ask::NoMove => Span::default(),
        };
        match self.failures.fault {
            Fault::PowerOff { back_after } => most.max(back_after),
            _ => most,
        }
    }
}

impl Rest<'_> {
    fn ask(&mut self, has_subject: bool) -> Result<Ask, WishError> {
        if self.take_word("no") {
            return if self.take_word("move") {
                Ok(Ask::NoMove)
            } else {
                Err(self.expected("`move`"))
            };
        }
        if !has_subject {
            return Err(self.expected("a workload, such as `deployment/shop/web:`, or `no move`"));
        }
        let figure = TargetFigure::ALL.into_iter().find(|it| self.take(it.as_str()));
        let figure = figure.ok_or_else(|| self.expected("`atZero`, `below` or `no move`"))?;
        if !self.take("<=") && !self.take("≤") {
            return Err(self.expected("`<=`, and then for example `90s`"));
        }
        Ok(Ask::Within { figure, most: self.duration()? })
    }

    fn failures(&mut self) -> Result<WishedFailures, WishError> {
        let every = self.take_word("a");
        let kind = KINDS.into_iter().find(|it| self.take_word(it.as_str()));
        let wanted = "`a node`, `a zone`, `a region`, or one by its name, such as `node worker-1`";
        let kind = kind.ok_or_else(|| self.expected(wanted))?;
        let name = if every {
            None
        } else {
            let word = self.word();
            if word.is_empty() || word == "is" {
                return Err(self.expected(&format!("the name of a {}", kind.as_str())));
            }
            self.take(word);
            Some(word.to_string())
        };
        let wanted = "`is lost`, `is drained` or `is away for 60s`";
        if !self.take_word("is") {
            return Err(self.expected(wanted));
        }
        let fault = if self.take_word("lost") {
            Fault::Lost
        } else if self.take_word("drained") {
            Fault::Drained
        } else if self.take_word("away") {
            if !self.take_word("for") {
                return Err(self.expected("`for`, and then for example `60s`"));
            }
            let start = Rest { ..*self };
            let back_after = self.duration()?;
            if back_after.0.is_zero() {
                return Err(start.expected("`1s` or more"));
            }
            Fault::PowerOff { back_after }
        } else {
            return Err(self.expected(wanted));
        };
        Ok(WishedFailures { kind, name, fault })
    }
}

impl WishedFailures {
    /// Whether this failure is one of them.
    #[must_use]
    pub fn contains(&self, domain: &Domain, fault: &Fault) -> bool {
        let is_named = self.name.as_ref().is_none_or(|name| {
            let short = domain.name.rsplit('/').next().unwrap_or_default();
            domain.name == *name || domain.kind == DomainKind::Zone && short == name
        });
        domain.kind == self.kind && is_named && *fault == self.fault
    }

    /// Whether the nodes come back.
    #[must_use]
    pub const fn comes_back(&self) -> bool {
        matches!(self.fault, Fault::PowerOff { .. })
    }
}

impl fmt::Display for WishedFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name} is ", self.kind.as_str())?,
            None => write!(f, "a {} is ", self.kind.as_str())?,
        }
        match &self.fault {
            Fault::PowerOff { back_after } => write!(f, "away for {back_after}"),
            fault => fault.fmt(f),
        }
    }
}

/// The wish as [`Wish::parse`] reads it.
impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = &self.subject {
            write!(f, "{subject}: ")?;
        }
        match self.ask {
            Ask::Within { figure, most } => write!(f, "{} <= {most}", figure.as_str())?,
            Ask::NoMove => f.write_str("no move")?,
        }
        write!(f, " if {}", self.failures)
    }
}

impl Serialize for Wish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_and_written() {
        for (text, written) in [
            (
                "deployment/shop/web: below <= 90s if a node is lost",
                "deployment/shop/web: below <= 1m30s if a node is lost",
            ),
            (
                "  deploy/web:atZero≤0   if zone eu-1a is drained ",
                "deployment/default/web: atZero <= 0s if zone eu-1a is drained",
            ),
            ("no move if a node is away for 60s", "no move if a node is away for 1m0s"),
            (
                "pod/shop/debug: no move if region eu is away for 1h",
                "pod/shop/debug: no move if region eu is away for 1h0m0s",
            ),
        ] {
            let wish = Wish::parse(text).unwrap();
            assert_eq!(wish.to_string(), written);
            assert_eq!(Wish::parse(written).unwrap(), wish);
        }
    }

    #[test]
    fn a_mistake_is_said_with_its_place_and_what_would_be_valid() {
        for (text, at, why) in [
            (
                "",
                1,
                "expected a workload, such as `deployment/shop/web:`, or `no move`, found the end",
            ),
            ("below <= 90s if a node is lost", 1, "expected a workload"),
            ("web: below <= 90s", 1, "`web` does not name a workload; write `deployment/name`"),
            ("sts/db: down <= 90s", 9, "expected `atZero`, `below` or `no move`, found `down`"),
            ("sts/db: below < 90s", 15, "expected `<=`, and then for example `90s`, found `<`"),
            (
                "sts/db: below <= 90 if a node is lost",
                18,
                "a unit (ns, us, ms, s, m, h) is missing",
            ),
            ("sts/db: below ≤ 90s when", 21, "expected `if`, and then for example"),
            ("no moves if a node is lost", 4, "expected `move`, found `moves`"),
            ("no move if a rack is lost", 14, "expected `a node`, `a zone`, `a region`, or one"),
            ("no move if node is lost", 17, "expected the name of a node, found `is`"),
            ("no move if a node fails", 19, "expected `is lost`, `is drained` or `is away for"),
            ("no move if a node is away", 26, "expected `for`, and then for example `60s`"),
            ("no move if a node is away for 0s", 31, "expected `1s` or more, found `0s`"),
            ("no move if a node is lost now", 27, "expected the end, found `now`"),
        ] {
            let error = Wish::parse(text).unwrap_err();
            assert!(error.message.contains(why), "{text}: {error}");
            assert_eq!(error.at, at, "{text}: {error}");
        }
    }
}
