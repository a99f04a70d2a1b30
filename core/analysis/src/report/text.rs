//! The sentences and durations of a report, as the page and the command print them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::cmp::Ordering;
use core::fmt;
use core::time::Duration;

use taintlab_rules::plural::count;
use taintlab_rules::time::Span;

use super::{Cell, Effect, Finding, Millis, Outline, OverAll, Spread, WorkloadRun};

/// Like Go's durations, to the nearest tenth of a second: `5m40.3s`. Times below a tenth are given
/// in milliseconds, so that they do not become zero.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = match self.0 {
            0..100 => self.0,
            millis => millis.saturating_add(50) / 100 * 100,
        };
        Span(Duration::from_millis(rounded)).fmt(f)
    }
}

/// A single time, or, where seeds differ, the shortest, the median and the 95th percentile.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min, median, p95, max } = self;
        if min == max { max.fmt(f) } else { write!(f, "{min} / {median} / {p95}") }
    }
}

impl WorkloadRun {
    /// Time at which all wanted pods were ready again: a duration, `never`, or `-` if none was
    /// missing.
    #[must_use]
    pub fn whole_again_text(&self) -> String {
        match self.whole_again {
            Some(at) => at.to_string(),
            None if self.never_whole_again() => "never".to_owned(),
            None => "-".to_owned(),
        }
    }
}

/// Outcome for the workload, in two sentences.
impl fmt::Display for WorkloadRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, wanted, least_ready, below, at_zero, evicted, moved, .. } = self;
        let dead = self.dead_endpoints;
        write!(
            f,
            "{subject}: {least_ready} of {wanted} ready at least, below {wanted} for {below}"
        )?;
        if at_zero.0 > 0 {
            write!(f, ", none ready for {at_zero}")?;
        }
        if dead.0 > 0 {
            write!(f, ", connections to a dead node for {dead}")?;
        }
        write!(f, ", whole again: {}. ", self.whole_again_text())?;
        write!(f, "{evicted} evicted, {moved} replaced and ready")?;
        for pending in &self.pending {
            let reason = pending.reason.as_str();
            let reason = if reason.is_empty() { "not scheduled yet" } else { reason };
            write!(f, ", {} pending ({reason})", pending.pods)?;
        }
        for (number, what) in [
            (self.stuck, "stuck Terminating"),
            (self.lost, "never replaced"),
            (self.preempted, "preempted"),
            (self.budgets_not_asked, "deleted without asking a PodDisruptionBudget"),
        ] {
            if number > 0 {
                write!(f, ", {number} {what}")?;
            }
        }
        Ok(())
    }
}

impl Cell {
    /// Columns of a table: the fewest ready pods, the time below the wanted number, the time at
    /// zero, and the time of recovery.
    #[must_use]
    pub fn columns(&self) -> [String; 4] {
        [
            format!("{}/{}", self.worst.least_ready, self.worst.wanted),
            self.below_spread.to_string(),
            self.at_zero_spread.to_string(),
            self.worst.whole_again_text(),
        ]
    }
}

/// Number of failure domains and runs, in words.
pub(super) fn runs(outline: &Outline, made: usize, planned: usize) -> String {
    let runs = count(planned, "run");
    let runs = if made == planned { runs } else { format!("{made} of {runs}") };
    let domains = count(outline.domains.len(), "failure domain");
    format!("{domains}, {runs}, each watched for {}", outline.options.horizon)
}

/// Effect of a change on a finding, and on all workloads in the failures it was tried in.
pub(super) fn effect(finding: &Finding, effect: &Effect) -> String {
    let all = over_all(&effect.over_all);
    if finding.subject.is_none() {
        return format!("the drain ends{all}");
    }
    let less = Millis(finding.harm.0.saturating_sub(effect.harm.0));
    match &effect.figures {
        Some(figures) => format!(
            "{}/{} ready at least, whole again: {}, {less} less harm{all}",
            figures.least_ready,
            figures.wanted,
            figures.whole_again_text(),
        ),
        None => format!("the failure does not reach it any more, {less} less harm{all}"),
    }
}

fn over_all(all: &OverAll) -> String {
    let change = Millis(all.before.0.abs_diff(all.after.0));
    let sum = match all.after.cmp(&all.before) {
        Ordering::Less => format!("{change} less harm"),
        Ordering::Equal => "the same harm".to_owned(),
        Ordering::Greater => format!("{change} more harm"),
    };
    let worse = match all.made_worse {
        0 => String::new(),
        some => format!(", {} made worse", count(some, "workload")),
    };
    let tried = count(all.failures, "failure");
    format!("; all workloads, {} of {tried} tried: {sum}{worse}", all.tried)
}
