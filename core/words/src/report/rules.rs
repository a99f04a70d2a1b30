//! The rules of `--fail-if`: limits that a report must keep.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

use taintlab_core::report::{
    Cell, Millis, NotJudged, Report, ReportSubject, TargetFigure, TargetResult, TargetVerdict,
    WorkloadScore,
};
use taintlab_core::time::parse_duration;

use super::failure;
use super::targets::sentence;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule, as it was written.
    pub rule: String,
    /// The workload that breaks it; absent for a rule about the report itself.
    pub subject: Option<ReportSubject>,
    /// The rule and what breaks it, in a sentence.
    pub text: String,
}

impl Broken {
    /// The rule that the report is whole, which holds before any other: a report of nothing passes
    /// no gate.
    #[must_use]
    pub fn not_whole(reason: &str) -> Self {
        Self {
            rule: "the report is whole".into(),
            subject: None,
            text: format!("no score: {reason}"),
        }
    }
}

/// Figures of a workload in a failure, its score, and how many of its targets have a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    ZeroReady,
    Below,
    LongestGap,
    WholeAgain,
    LeastReady,
    Evicted,
    Pending,
    Stuck,
    Lost,
    BudgetsNotAsked,
    DeadEndpoints,
    Score,
    Targets(TargetVerdict),
}

const METRICS: [(&str, Metric); 14] = [
    ("zeroReady", Metric::ZeroReady),
    ("below", Metric::Below),
    ("longestGap", Metric::LongestGap),
    ("wholeAgain", Metric::WholeAgain),
    ("leastReady", Metric::LeastReady),
    ("evicted", Metric::Evicted),
    ("pending", Metric::Pending),
    ("stuck", Metric::Stuck),
    ("lost", Metric::Lost),
    ("budgetsNotAsked", Metric::BudgetsNotAsked),
    ("deadEndpoints", Metric::DeadEndpoints),
    ("score", Metric::Score),
    ("targetsMissed", Metric::Targets(TargetVerdict::Missed)),
    ("targetsNotAsked", Metric::Targets(TargetVerdict::NotAsked)),
];

/// A figure: a time or a number. A time that never comes, or does not end, is greater than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Figure {
    Time(Millis),
    Number(u64),
    Endless(Millis),
    Never,
}

impl Figure {
    fn number(number: usize) -> Self {
        Self::Number(u64::try_from(number).unwrap_or(u64::MAX))
    }

    /// In nanoseconds, for a limit such as `1500us`.
    fn amount(self) -> u128 {
        match self {
            Self::Time(Millis(millis)) => u128::from(millis) * 1_000_000,
            Self::Number(number) => number.into(),
            Self::Endless(_) | Self::Never => u128::MAX,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Time(time) => time.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Endless(time) => format!("{time} or more, without end"),
            Self::Never => "never".into(),
        }
    }
}

impl Metric {
    const fn is_time(self) -> bool {
        matches!(
            self,
            Self::ZeroReady
                | Self::Below
                | Self::LongestGap
                | Self::WholeAgain
                | Self::DeadEndpoints
        )
    }

    /// The figure of a workload in a failure; none for the score and targets. A time that goes on when
    /// the run ends has no end.
    fn of(self, cell: &Cell, horizon: Millis) -> Option<Figure> {
        let run = &cell.worst;
        let time = |figure: TargetFigure, time: Millis| match figure.of(cell, horizon) {
            (true, _) => Figure::Endless(time),
            (false, _) => Figure::Time(time),
        };
        Some(match self {
            Self::ZeroReady => time(TargetFigure::AtZero, run.at_zero),
            Self::Below => time(TargetFigure::Below, run.below),
            Self::LongestGap => time(TargetFigure::Below, run.longest_gap),
            Self::WholeAgain if run.below.0 == 0 => Figure::Time(Millis(0)),
            Self::WholeAgain => run.whole_again.map_or(Figure::Never, Figure::Time),
            Self::LeastReady => Figure::Number(u64::try_from(run.least_ready).unwrap_or(0)),
            Self::Evicted => Figure::number(run.evicted),
            Self::Pending => Figure::number(run.pending.iter().map(|it| it.pods).sum()),
            Self::Stuck => Figure::number(run.stuck),
            Self::Lost => Figure::number(run.lost),
            Self::BudgetsNotAsked => Figure::number(run.budgets_not_asked),
            Self::DeadEndpoints => Figure::Time(run.dead_endpoints),
            Self::Score | Self::Targets(_) => return None,
        })
    }
}

/// Operators with the orderings of a figure and its limit that break the rule. The longer ones come
/// first.
const OPERATORS: [(&str, &[Ordering]); 5] = [
    (">=", &[Ordering::Greater, Ordering::Equal]),
    ("<=", &[Ordering::Less, Ordering::Equal]),
    (">", &[Ordering::Greater]),
    ("<", &[Ordering::Less]),
    ("=", &[Ordering::Equal]),
];

/// A rule of `--fail-if`: `deployment/shop/web: zeroReady > 60s`, or `score < 50` for all workloads.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    /// Name of the workloads, with `*` for any characters.
    subject: String,
    metric: Metric,
    orderings: &'static [Ordering],
    /// In nanoseconds for a time.
    limit: u128,
}

/// The parts of a rule: workload, metric, orderings and limit.
fn parts(text: &str) -> Option<(&str, &str, &'static [Ordering], &str)> {
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    let (subject, rest) = match text.split_once(':') {
        Some((subject, rest)) => (is_word(subject).then_some(subject)?, rest.trim_start()),
        None => ("*", text),
    };
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (metric, rest) = rest.split_at_checked(end).filter(|(metric, _)| !metric.is_empty())?;
    OPERATORS.iter().find_map(|(operator, orderings)| {
        let limit = rest.trim_start().strip_prefix(operator)?.trim_start();
        is_word(limit).then_some((subject, metric, *orderings, limit))
    })
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// The mistake in it, and a rule that would be valid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((subject, name, orderings, limit)) = parts(text.trim()) else {
            let example = "write `deployment/shop/web: zeroReady > 60s`";
            return Err(format!("`{text}` is no rule; {example}"));
        };
        let Some((_, metric)) = METRICS.into_iter().find(|(known, _)| *known == name) else {
            let known = METRICS.map(|(known, _)| known).join(", ");
            return Err(format!("there is no figure `{name}`; there are {known}"));
        };
        let (read, wanted) = if metric.is_time() {
            (parse_duration(limit).ok().map(|it| it.as_nanos()), "a duration such as 60s")
        } else {
            let is_number = limit.bytes().all(|byte| byte.is_ascii_digit());
            (limit.parse().ok().filter(|_| is_number), "a whole number")
        };
        let Some(limit) = read else {
            return Err(format!("{name}: expected {wanted}, found `{limit}`"));
        };
        let text = text.trim().into();
        Ok(Self { text, subject: subject.into(), metric, orderings, limit })
    }

    /// Where a report with these targets breaks the rule.
    #[must_use]
    pub fn broken(&self, report: &Report, targets: &[TargetResult]) -> Vec<Broken> {
        let outline = &report.outline;
        let matches = |subject: &ReportSubject| is_match(&self.subject, &subject.to_string());
        let broken = |subject: Option<&ReportSubject>, what: &str| Broken {
            rule: self.text.clone(),
            subject: subject.cloned(),
            text: format!("{}: {what}", self.text),
        };
        if !outline.subjects.iter().any(matches) {
            // A rule about nothing would never fail.
            return Vec::from([broken(None, "there is no such workload")]);
        }
        let horizon = outline.options.horizon.into();
        let breaks = |amount: u128| self.orderings.contains(&amount.cmp(&self.limit));
        if let Metric::Targets(verdict) = self.metric {
            let targets = || targets.iter().filter(|it| matches(&it.subject));
            if targets().next().is_none() {
                return Vec::from([broken(None, "no such workload has a target")]);
            }
            let each = report.workloads.iter().filter_map(|WorkloadScore { subject, .. }| {
                let own = targets().filter(|it| it.subject == *subject && it.verdict == verdict);
                let own: Vec<String> = own.map(sentence).collect();
                let breaks = matches(subject) && breaks(own.len() as u128);
                breaks.then(|| broken(Some(subject), &format!("{subject}: {}", own.join("; "))))
            });
            return each.collect();
        }
        let all = || outline.subjects.iter().filter(|it| matches(it));
        let not_judged = all().filter_map(|it| Some((it, outline.not_judged(it)?)));
        // Workloads that ask for no pod can be left out beside others, not alone.
        let alone = all().all(|it| outline.not_judged(it).is_some());
        let not_judged = not_judged.filter(|(_, reason)| alone || *reason == NotJudged::Down);
        let mut found: Vec<Broken> = not_judged
            .map(|(it, reason)| broken(Some(it), &format!("{it}: {}", reason.as_str())))
            .collect();
        if self.metric == Metric::DeadEndpoints && !all().any(|it| outline.served.contains(it)) {
            found.push(broken(None, "no Service has a ready pod of such a workload"));
        }
        if self.metric == Metric::Score {
            let bad = report.workloads.iter().filter(|row| {
                let is_judged = outline.not_judged(&row.subject).is_none();
                is_judged && matches(&row.subject) && breaks(row.score.unwrap_or_default().into())
            });
            let each = bad.map(|row| {
                let score = row.score.map_or_else(|| "missing".into(), |it| it.to_string());
                broken(Some(&row.subject), &format!("the score of {} is {score}", row.subject))
            });
            found.extend(each);
            return found;
        }
        let counts = |cell: &&Cell| {
            let domain = outline.domains.get(cell.domain);
            domain.is_some_and(|it| !it.whole_cluster) && matches(&cell.worst.subject)
        };
        let each = report.cells.iter().filter(counts).filter_map(|cell| {
            let figure = self.metric.of(cell, horizon).filter(|it| breaks(it.amount()))?;
            let (subject, value) = (&cell.worst.subject, figure.text());
            let place = failure(report, cell.domain, &cell.fault);
            Some(broken(Some(subject), &format!("{subject}: {value} ({place})")))
        });
        found.extend(each);
        found
    }
}

/// Whether a name matches a pattern, in which `*` stands for any characters.
#[must_use]
pub fn is_match(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_characters() {
        for (pattern, matches) in [
            ("*", true),
            ("deployment/shop/web", true),
            ("deployment/*", true),
            ("*/web", true),
            ("d*/shop/*b", true),
            ("deployment/shop/we", false),
            ("*/shop", false),
            ("deployment/shop/web*web", false),
            ("*shop*shop*", false),
        ] {
            assert_eq!(is_match(pattern, "deployment/shop/web"), matches, "{pattern}");
        }
    }

    #[test]
    fn a_rule_is_read_or_says_what_is_wrong() {
        for good in ["below>=5m", " web: score < 50", "a/b/c:pending = 0", "wholeAgain > 1h30m"] {
            assert!(Rule::parse(good).is_ok(), "{good}");
        }
        for (wrong, why) in [
            ("below", "`below` is no rule; write `deployment/shop/web: zeroReady > 60s`"),
            ("a b: below > 5m", "is no rule"),
            ("below > 5 m", "is no rule"),
            ("belwo > 5m", "there is no figure `belwo`; there are zeroReady, below, longestGap"),
            ("below > 5", "below: expected a duration such as 60s, found `5`"),
            ("below >=", "below: expected a duration such as 60s, found `=`"),
            ("stuck > 1.5", "stuck: expected a whole number, found `1.5`"),
            ("stuck > +1", "stuck: expected a whole number, found `+1`"),
        ] {
            let error = Rule::parse(wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
