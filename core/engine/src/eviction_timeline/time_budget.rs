//! Time budget of an eviction: the terms that add up to its time, each with the flag or field that
//! sets it. It answers "why 345 seconds?".

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::time::Duration;

use serde::{Serialize, Serializer};
use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::time::{Time, Timestamp, format_duration, fractional_millis};

use crate::controllers::device_taint_eviction::DeviceEviction;
use crate::controllers::node_lifecycle::{
    MissedHeartbeats, NODE_EVICTION_PERIOD, NodeLifecycleConfig, NodeTaintHistory, RateSource,
};

/// A moment before or after the beginning, serialised in milliseconds with fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(type = "number"))]
pub struct Moment(i64);

impl Moment {
    /// Moment at this number of nanoseconds since the beginning; negative before it.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Moment of a wall-clock time; `start` is the wall-clock time at zero.
    #[must_use]
    pub fn of(time: Time, start: Time) -> Self {
        let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        if time < start { Self(-nanos(start.since(time))) } else { Self(nanos(time.since(start))) }
    }

    /// Nanoseconds since the beginning; negative before.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Time since an earlier moment, zero if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let nanos = i128::from(self.0) - i128::from(earlier.0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }

    /// The millisecond that contains it, for displays without nanoseconds, as for [moments in a
    /// log](Timestamp::truncated_to_millis). Durations between rounded moments add up.
    #[must_use]
    pub const fn rounded(self) -> Self {
        self.to(1_000_000, 0)
    }

    /// The nearest tenth of a second, the precision for bounds of a range.
    const fn nearest_tenth(self) -> Self {
        const TENTH: i64 = 100_000_000;
        self.to(TENTH, TENTH / 2)
    }

    const fn to(self, unit: i64, more: i64) -> Self {
        Self(self.0.saturating_add(more).div_euclid(unit).saturating_mul(unit))
    }

    pub(crate) fn minus(self, duration: Duration) -> Self {
        let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(nanos))
    }

    pub(crate) fn plus(self, duration: Duration) -> Self {
        let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

impl From<Timestamp> for Moment {
    fn from(at: Timestamp) -> Self {
        Self(i64::try_from(at.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", format_duration(Duration::from_nanos(self.0.unsigned_abs())))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(fractional_millis(self.0))
    }
}

/// Purpose of a term in a time budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum TermKind {
    /// From the last heartbeat until a health pass sees it.
    LastHeartbeat,
    /// From then until a disruption of the whole cluster ends, which restarts all grace periods.
    DisruptionOver,
    /// Time allowed without heartbeats.
    GracePeriod,
    /// Until the next health pass sets the node's conditions to Unknown.
    MonitorPass,
    /// From the kubelet's report that the node is not ready until a health pass sees it.
    Report,
    /// Time that pods of a lost node stay, without the taint manager.
    PodEvictionTimeout,
    /// Until a health pass queues the node: one pass after the condition became Unknown, since a
    /// pass uses the condition from before it.
    QueueingPass,
    /// Until the zone has a token for the node.
    Limiter,
    /// Until the next tainting pass.
    TaintingTick,
    /// The node was tainted by hand, or a device of the pod's claims was tainted. The term takes no
    /// time.
    Tainted,
    /// Until the controller looks at the pod, if the pod appeared or the controller started later.
    Noticed,
    /// Time that the pod tolerates the taint, or its claim that of a device.
    Toleration,
    /// Until the controller's client sends the delete, if many pods were due together.
    Client,
    /// Until a delete is accepted, after failures.
    Retries,
    /// The grace period of the deleted pod.
    TerminationGrace,
    /// Until the kubelet is back and confirms that the pod has ended.
    KubeletAway,
}

/// One term of a time budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Term {
    /// Purpose of the term.
    pub kind: TermKind,
    /// Start of the term: the end of the previous one.
    pub start: Moment,
    /// End of the term.
    pub end: Moment,
    /// `end` − `start`; serialised in milliseconds.
    #[serde(
        rename = "durationMilliseconds",
        serialize_with = "taintlab_rules::time::milliseconds"
    )]
    #[cfg_attr(feature = "typescript-all", tsify(type = "number"))]
    pub duration: Duration,
    /// The term in words.
    pub text: String,
    /// The flag or field that sets it, with its value: `--node-monitor-period=5s`; empty if none
    /// does.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub set_by: String,
}

impl Term {
    /// Duration between its [rounded](Moment::rounded) moments, so that the displayed terms of a
    /// budget add up.
    #[must_use]
    pub fn rounded_duration(&self) -> Duration {
        self.end.rounded().since(self.start.rounded())
    }

    /// Whether it follows the deletion: the end of the grace period, and the kubelet's
    /// confirmation.
    #[must_use]
    pub const fn is_after_deletion(&self) -> bool {
        matches!(self.kind, TermKind::TerminationGrace | TermKind::KubeletAway)
    }
}

/// Range of possible times of an eviction. The node lifecycle controller of a real cluster may look
/// at its nodes and queues at any moment of its periods, and a kubelet may have sent its last
/// heartbeat at any moment of its own. Nodes that wait together for their zone's limiter may be
/// tainted in any order in which they can arrive; the range is never too narrow for that, but can
/// be too wide for many nodes. The rate of the zone is assumed to be the simulated one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub struct EvictionRange {
    /// Lower bound.
    pub earliest: Moment,
    /// Upper bound.
    pub latest: Moment,
    /// The range in words, with the reason.
    pub text: String,
}

impl EvictionRange {
    fn new(earliest: Moment, latest: Moment, because: &str) -> Self {
        let (from, to) = (earliest.nearest_tenth(), latest.nearest_tenth());
        let text = format!("between {from} and {to}: {because}");
        Self { earliest, latest, text }
    }
}

/// Explanation of a pod's deletion time: the terms add up from the first sign of trouble to the
/// deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct TimeBudget {
    /// The pod.
    pub pod: PodKey,
    /// Node that the pod was on.
    pub node: NodeName,
    /// Time of deletion: the API server accepts a controller's `DELETE`.
    pub evicted_at: Moment,
    /// Whether the deletion has happened; otherwise it will, if nothing changes.
    pub over: bool,
    /// Range of the deletion in a cluster whose heartbeats and health checks come at other times
    /// than the simulated ones. Once a health check has found the node unreachable or not ready,
    /// only the order of the nodes found together is open. Absent for past deletions, and where
    /// nothing is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub range: Option<EvictionRange>,
    /// Time at which the pod object is gone, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<Moment>,
    /// Whether it is deleted and stays until its kubelet is connected again.
    pub awaits_kubelet: bool,
    /// Device whose taint evicts the pod; absent if no device does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub device: Option<DeviceEviction>,
    /// Start of the first term, as the end of a sentence: `the last heartbeat`.
    pub counted_from: &'static str,
    /// Terms, each starting at the end of the previous one; the last one ends when the pod object
    /// is gone or, if that is unknown, with the deletion.
    pub terms: Vec<Term>,
}

impl TimeBudget {
    /// Time from the start of the first term to the deletion.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.terms.first().map_or(Duration::ZERO, |first| self.evicted_at.since(first.start))
    }

    /// Time from start to deletion between [rounded](Moment::rounded) moments: the sum of the
    /// rounded terms.
    #[must_use]
    pub fn rounded_total(&self) -> Duration {
        let first = self.terms.first().map(|first| first.start.rounded());
        first.map_or(Duration::ZERO, |start| self.evicted_at.rounded().since(start))
    }

    /// Question that the terms answer: `Why 5m45s?`, `Why at once?`.
    #[must_use]
    pub fn question(&self) -> String {
        match self.rounded_total() {
            Duration::ZERO => "Why at once?".into(),
            total => format!("Why {}?", format_duration(total)),
        }
    }
}

/// The budget as a table in the style of `kubectl`.
impl fmt::Display for TimeBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pod, node, at) = (&self.pod, &self.node, self.evicted_at);
        let verb = if self.over { "was deleted" } else { "will be deleted" };
        write!(f, "{pod} on {node} {verb} at {at}")?;
        if !self.terms.is_empty() {
            write!(f, ", {} after {}", format_duration(self.total()), self.counted_from)?;
        }
        if self.awaits_kubelet {
            f.write_str("; it stays until its kubelet is back")?;
        }
        if self.terms.is_empty() {
            return Ok(());
        }
        let mut rows = Vec::from([["FROM", "TO", "TAKES", "WHAT", "SET BY"].map(String::from)]);
        rows.extend(self.terms.iter().map(|term| {
            let takes = format_duration(term.duration);
            [
                term.start.to_string(),
                term.end.to_string(),
                takes,
                term.text.clone(),
                term.set_by.clone(),
            ]
        }));
        let mut widths = [0; 5];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &rows {
            f.write_str("\n")?;
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                line += &format!("{cell:width$}   ");
            }
            f.write_str(line.trim_end())?;
        }
        Ok(())
    }
}

/// Record of a pod's eviction.
#[derive(Clone, Debug)]
pub(crate) struct Eviction {
    /// UID of the pod, as another pod may have its name later.
    pub(crate) uid: alloc::boxed::Box<str>,
    pub(crate) node: NodeName,
    pub(crate) cause: Cause,
    /// Time at which the controller looked at the pod, and time at which its toleration ends.
    pub(crate) created_at: Moment,
    pub(crate) fire_at: Timestamp,
    /// Whether the request had to wait for the controller's client.
    pub(crate) throttled: bool,
    pub(crate) deleted_at: Option<Timestamp>,
    /// Grace period of the delete.
    pub(crate) grace: Option<Duration>,
    pub(crate) gone_at: Option<Timestamp>,
}

/// Cause of an eviction.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// A taint, tolerated for some time or not at all.
    Taint {
        /// The taint as text.
        taint: alloc::sync::Arc<str>,
        /// Index of the toleration that limits the time, and its seconds.
        toleration: Option<(usize, i64)>,
        /// Time at which the node got it.
        since: Moment,
        /// History of the taint, if the node lifecycle controller added it.
        taint_history: Option<alloc::sync::Arc<NodeTaintHistory>>,
    },
    /// The legacy path, without taints.
    NodeLost(alloc::sync::Arc<NodeTaintHistory>),
    /// A taint of a device.
    DeviceTaint(alloc::sync::Arc<DeviceEviction>),
}

/// Builds terms, each starting at the end of the previous one.
struct Builder<'a> {
    start: Time,
    flags: &'a NodeLifecycleConfig,
    at: Option<Moment>,
    terms: Vec<Term>,
}

impl Builder<'_> {
    /// Adds a term up to `end`; none if `end` is not later.
    fn until(&mut self, kind: TermKind, end: Moment, text: impl Into<String>, set_by: String) {
        let start = *self.at.get_or_insert(end);
        if end > start {
            let (text, duration) = (text.into(), end.since(start));
            self.terms.push(Term { kind, start, end, duration, text, set_by });
            self.at = Some(end);
        }
    }

    /// Adds the taint, which takes no time.
    fn begin(&mut self, at: Moment, text: String) {
        self.at = Some(at);
        let (kind, duration, set_by) = (TermKind::Tainted, Duration::ZERO, String::new());
        self.terms.push(Term { kind, start: at, end: at, duration, text, set_by });
    }

    fn monitor_period(&self) -> String {
        flag("node-monitor-period", self.flags.node_monitor_period)
    }

    fn moment(&self, time: Time) -> Moment {
        Moment::of(time, self.start)
    }

    fn heartbeats_missed(&mut self, taint_history: &NodeTaintHistory) {
        let Some(missed) = &taint_history.missed_heartbeats else { return };
        let counted_from = self.moment(missed.counted_from);
        self.at = Some(self.moment(missed.last_heartbeat_at));
        if missed.restarted {
            let text =
                "no node of the cluster is ready; the grace period begins anew when that is over";
            self.until(TermKind::DisruptionOver, counted_from, text, String::new());
        } else {
            let last_heartbeat_at = self.moment(missed.last_heartbeat_at);
            let period = self.flags.node_monitor_period.as_nanos().max(1);
            // A node that was just created, or renewed its lease during the check, is seen later.
            let text = match counted_from.since(last_heartbeat_at).as_nanos().div_ceil(period) {
                0 | 1 => "the next health check sees the last heartbeat".into(),
                checks => {
                    format!("health check {checks} after the last heartbeat is the first to see it")
                }
            };
            self.until(TermKind::LastHeartbeat, counted_from, text, self.monitor_period());
        }
        if taint_history.timeout.is_some() {
            return;
        }
        let grace = flag(missed.grace_flag, missed.grace);
        let end = counted_from.plus(missed.grace);
        self.until(TermKind::GracePeriod, end, "the grace period of the node runs", grace);
        let text = "the next health check sets the conditions of the node to Unknown";
        let period = self.monitor_period();
        self.until(TermKind::MonitorPass, missed.unknown_at.into(), text, period);
    }

    /// Adds the terms up to the taint, or without the taint manager up to the dequeuing.
    fn taint_history(&mut self, taint_history: &NodeTaintHistory) {
        self.heartbeats_missed(taint_history);
        let period = self.monitor_period();
        if let Some(reported_at) = taint_history.reported_at {
            self.at = Some(self.moment(reported_at));
            let seen = taint_history.timeout.map(|(since, _)| self.moment(since));
            if let Some(seen) = seen.or(taint_history.queued_at.map(Moment::from)) {
                let text = "a health check sees what the kubelet reports";
                self.until(TermKind::Report, seen, text, period.clone());
            }
        }
        if let Some((since, timeout)) = taint_history.timeout {
            let since = self.moment(since);
            self.at.get_or_insert(since);
            let text = "the pods of a lost node stay for this timeout";
            let flag = flag("pod-eviction-timeout", timeout);
            self.until(TermKind::PodEvictionTimeout, since.plus(timeout), text, flag);
        }
        if let Some(queued_at) = taint_history.queued_at {
            let text = if taint_history.timeout.is_some() {
                "the next health check queues the node"
            } else {
                "one more health check queues the node to be tainted"
            };
            self.until(TermKind::QueueingPass, queued_at.into(), text, period.clone());
        }
        if let Some(dequeued) = &taint_history.dequeued {
            let rate = dequeued.rate_source.flag().map(|name| format!("--{name}={}", dequeued.qps));
            let text = match dequeued.rate_source {
                RateSource::SecondaryNodeEvictionRate => {
                    "the zone is partially disrupted: its nodes are tainted at the secondary rate"
                }
                _ if taint_history.lost_token_at.is_some() => {
                    "a token is lost, since the controller has not heard of its own write yet; the \
                     zone has the next one"
                }
                _ => "the rate limiter of the zone has a token for the node",
            };
            let token_at = dequeued.token_at.min(dequeued.at).into();
            self.until(TermKind::Limiter, token_at, text, rate.unwrap_or_default());
            let every = format!("every {}", format_duration(NODE_EVICTION_PERIOD));
            let text = "the next tainting pass dequeues the node";
            self.until(TermKind::TaintingTick, dequeued.at.into(), text, every);
        }
        if let Some(swapped_at) = taint_history.swapped_at {
            let text = "a health check swaps the taint";
            self.until(TermKind::QueueingPass, swapped_at.into(), text, period);
        }
    }
}

fn flag(name: &str, value: Duration) -> String {
    format!("--{name}={}", format_duration(value))
}

/// Unknown phases of the moment at which a health pass finds a node.
#[derive(Clone, Debug)]
pub(crate) struct OpenPhases {
    /// Bounds by which the moment and its consequences could have been earlier or later.
    earlier: Duration,
    later: Duration,
    /// Uncertainty about the heartbeats, as the start of a sentence; empty if there is none.
    heartbeat: String,
}

/// Bounds for the time of a node's token from its zone.
#[derive(Clone, Debug)]
pub(crate) struct TokenRange {
    pub(crate) first: Moment,
    pub(crate) last: Moment,
    /// The simulated health pass that queues it.
    pub(crate) queued_at: Option<Timestamp>,
    /// Reason why the order of the nodes is open, as the end of a sentence; empty if it is not.
    pub(crate) text: String,
}

impl OpenPhases {
    /// Unknown phases at `now`, unless a health pass has found the node; `start` is the wall-clock
    /// time at zero, and `period` the time between two health passes. `doubt` takes the time of the
    /// last heartbeat and returns when its kubelet became unreachable, with the least and the
    /// greatest possible age of the heartbeat then, if that is unknown.
    pub(crate) fn new(
        history: &NodeTaintHistory,
        now: Timestamp,
        start: Time,
        period: Duration,
        doubt: impl FnOnce(Moment) -> Option<(Timestamp, (Duration, Duration))>,
    ) -> Option<Self> {
        let moment = |time| Moment::of(time, start);
        // The moment from which a health check of any phase decides, and the check that did.
        let (since, seen, found_at) = match (&history.missed_heartbeats, history.reported_at) {
            (Some(missed), _) if missed.restarted => return None,
            (Some(missed), _) if missed.began_with_nothing() => {
                let over = moment(missed.counted_from).plus(missed.grace);
                (over, missed.unknown_at.into(), missed.unknown_at)
            }
            (Some(missed), _) => {
                let sent = moment(missed.last_heartbeat_at);
                (sent, moment(missed.counted_from), missed.unknown_at)
            }
            (None, Some(reported_at)) => {
                let queued_at = history.queued_at?;
                (moment(reported_at), queued_at.into(), queued_at)
            }
            (None, None) => return None,
        };
        let waited = match seen.since(since) {
            // The check at the beginning belongs to the simulation, not to the cluster.
            waited if seen <= Moment(0) || waited < period => waited,
            // The previous check dropped the lease, so that it was seen twice.
            waited if waited < 2 * period => waited.checked_sub(period)?,
            _ => return None,
        };
        // A check at zero may or may not coincide with a fault at zero.
        if now >= found_at && now > Timestamp::ZERO {
            return None;
        }
        // The last heartbeat of this kubelet could have come earlier or later by this much.
        let in_doubt = doubt(since).filter(|(at, ages)| {
            let age = Moment::from(*at).since(since);
            let counts = history.missed_heartbeats.is_some() && since <= (*at).into();
            counts && *at <= found_at && (ages.0..=ages.1).contains(&age)
        });
        let (heartbeat, earlier, later) = match in_doubt {
            Some((at, (least, most))) => {
                let age = Moment::from(at).since(since);
                let how_long = match least {
                    Duration::ZERO => format!("up to {}", format_duration(most)),
                    _ => format!("{} to {}", format_duration(least), format_duration(most)),
                };
                let text = format!(
                    "the last heartbeat was sent {how_long} before the kubelet became \
                     unreachable, and "
                );
                (text, most.saturating_sub(age), age.saturating_sub(least))
            }
            None => (String::new(), Duration::ZERO, Duration::ZERO),
        };
        let earlier = waited.saturating_add(earlier);
        let later = later.saturating_add(period).saturating_sub(waited);
        Some(Self { earlier, later, heartbeat })
    }

    /// Range for an event simulated at this moment.
    pub(crate) fn of(&self, simulated: Moment) -> (Moment, Moment) {
        (simulated.minus(self.earlier), simulated.plus(self.later))
    }
}

impl Eviction {
    /// History of the node's taint, if the node lifecycle controller added it.
    pub(crate) fn taint_history(&self) -> Option<&NodeTaintHistory> {
        match &self.cause {
            Cause::NodeLost(taint_history) => Some(taint_history),
            Cause::DeviceTaint(_) => None,
            Cause::Taint { taint_history, .. } => taint_history.as_deref(),
        }
    }

    /// [`range`](TimeBudget::range) of this eviction, given the unknown phases of its node.
    /// `last_due` is the deletion time of the last pod due together with it, if the controller's
    /// client makes them wait: any of them may be the last.
    pub(crate) fn range(
        &self,
        open: &OpenPhases,
        token: Option<&TokenRange>,
        last_due: Option<Timestamp>,
        flags: &NodeLifecycleConfig,
    ) -> EvictionRange {
        let evicted_at = Moment::from(self.deleted_at.unwrap_or(self.fire_at));
        let dequeued = self.taint_history().and_then(|history| history.dequeued.as_ref());
        let queued_at = self.taint_history().and_then(|history| history.queued_at);
        let set_by = flag("node-monitor-period", flags.node_monitor_period);
        let mut because = format!(
            "{}health checks come at any moment of their period ({set_by})",
            open.heartbeat
        );
        let (first, last) = match (dequeued, token) {
            (Some(dequeued), Some(token)) if token.queued_at == queued_at => {
                let after = evicted_at.since(dequeued.at.into());
                because.push_str(&token.text);
                (token.first.plus(after), token.last.plus(after))
            }
            // Without the queue, all later times shift equally.
            _ => open.of(evicted_at),
        };
        let (mut first, mut last) =
            (first.min(evicted_at), last.plus(NODE_EVICTION_PERIOD).max(evicted_at));
        if let Some(last_due) = last_due {
            let qps = flags.kube_api_qps;
            let _ = write!(
                because,
                "; pods that are due at once wait for the controller's client, in any order \
                 (--kube-api-qps={qps})"
            );
            first = first.minus(evicted_at.since(self.fire_at.into()));
            last = last.plus(Moment::from(last_due).since(evicted_at));
        }
        EvictionRange::new(first, last, &because)
    }

    /// Range of this eviction if its node's turn in the queue of its zone is between these moments,
    /// in an unspecified order.
    pub(crate) fn range_by_lot(&self, first: Moment, last: Moment) -> Option<EvictionRange> {
        let dequeued = self.taint_history()?.dequeued.as_ref()?;
        let evicted_at = Moment::from(self.deleted_at.unwrap_or(self.fire_at));
        let after = evicted_at.since(dequeued.at.into());
        let (first, last) = (first.plus(after).min(evicted_at), last.plus(after).max(evicted_at));
        let flag = dequeued.rate_source.flag().unwrap_or_default();
        let because = format!(
            "any of the nodes that one health check found can be tainted first, and the others \
             follow one by one (--{flag}={})",
            dequeued.qps
        );
        (first < last).then(|| EvictionRange::new(first, last, &because))
    }

    /// Budget of this eviction. `ends` is the future end of the pod's grace period, if known.
    pub(crate) fn budget(
        &self,
        pod: &PodKey,
        start: Time,
        flags: &NodeLifecycleConfig,
        ends: Option<Timestamp>,
        awaits_kubelet: bool,
    ) -> TimeBudget {
        let mut terms = Builder { start, flags, at: None, terms: Vec::new() };
        match &self.cause {
            Cause::NodeLost(taint_history) => terms.taint_history(taint_history),
            Cause::Taint { taint_history: Some(taint_history), .. } => {
                terms.taint_history(taint_history)
            }
            Cause::Taint { taint, since, .. } => {
                terms.begin(*since, format!("the node is tainted {taint}"));
            }
            Cause::DeviceTaint(planned) => {
                let DeviceEviction { claim, taint, toleration, .. } = planned.as_ref();
                terms.begin(terms.moment(planned.tainted_at), planned.to_string());
                if let Some(toleration) = toleration {
                    let text = format!("claim {claim} tolerates {taint}");
                    let end = planned.tolerated_until.into();
                    terms.until(TermKind::Toleration, end, text, toleration.clone());
                }
            }
        }
        let text = "the controller looks at the pod";
        terms.until(TermKind::Noticed, self.created_at, text, String::new());
        if let Cause::Taint { taint, toleration, .. } = &self.cause {
            let set_by = toleration.map_or_else(String::new, |(index, seconds)| {
                format!("spec.tolerations[{index}].tolerationSeconds={seconds}")
            });
            let mut text = format!("the pod tolerates {taint}");
            let before = Moment::default().since(self.created_at);
            if !before.is_zero() {
                text += &format!(", {} of it before the beginning", format_duration(before));
            }
            terms.until(TermKind::Toleration, self.fire_at.into(), text, set_by);
        }
        let evicted_at = self.deleted_at.unwrap_or(self.fire_at).into();
        if self.throttled {
            let text = "the controller's client sends the DELETE after those of other pods";
            let qps = format!("--kube-api-qps={}", flags.kube_api_qps);
            terms.until(TermKind::Client, evicted_at, text, qps);
        }
        let text = "the API server accepts the DELETE after failures";
        terms.until(TermKind::Retries, evicted_at, text, String::new());
        let gone_at = self.gone_at.or(ends).map(Moment::from);
        if let (Some(gone_at), Some(grace)) = (gone_at, self.grace) {
            let field = format!("spec.terminationGracePeriodSeconds={}", grace.as_secs());
            let text = "the containers end, within the grace period of the pod";
            terms.until(
                TermKind::TerminationGrace,
                evicted_at.plus(grace).min(gone_at),
                text,
                field,
            );
            let text = "the kubelet is back and confirms that the pod has ended";
            terms.until(TermKind::KubeletAway, gone_at, text, String::new());
        }
        let counted_from = match self.taint_history() {
            None => "the taint",
            Some(taint_history)
                if taint_history
                    .missed_heartbeats
                    .as_ref()
                    .is_some_and(MissedHeartbeats::began_with_nothing) =>
            {
                "the node was created"
            }
            Some(taint_history) if taint_history.missed_heartbeats.is_some() => {
                "the last heartbeat"
            }
            Some(taint_history) if taint_history.reported_at.is_some() => {
                "the kubelet reported that the node is not ready"
            }
            Some(_) => "the node was queued",
        };
        TimeBudget {
            counted_from,
            pod: pod.clone(),
            node: self.node.clone(),
            evicted_at,
            over: self.deleted_at.is_some(),
            range: None,
            gone_at,
            awaits_kubelet,
            device: match &self.cause {
                Cause::DeviceTaint(planned) => Some(DeviceEviction::clone(planned)),
                Cause::Taint { .. } | Cause::NodeLost(_) => None,
            },
            terms: terms.terms,
        }
    }
}
