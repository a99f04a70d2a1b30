//! What a kubelet tells about its node, and when: signs of life, and the conditions.
//!
//! A kubelet computes its node's status every `nodeStatusUpdateFrequency` and posts it if it has
//! changed, or if the last post is `nodeStatusReportFrequency` ago. It renews its lease four times
//! in every `nodeLeaseDurationSeconds`. Mirrors `k8s.io/kubernetes/pkg/kubelet`: `syncNodeStatus`,
//! `nodestatus` and the lease controller.
//!
//! What Kubernetes draws by lot is drawn by [`KubeletSettings::jitter_seed`], and left out without
//! it: how late each renewal and each tick is, up to 4 % of its period (`JitterUntil(…, 0.04)`),
//! and in newer releases the delay of the first report of a status after it has changed
//! (`calculateDelay`). Heartbeats are known in advance by arithmetic all the same.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use taintlab_rules::api::node_condition_type::{
    DISK_PRESSURE, MEMORY_PRESSURE, NETWORK_UNAVAILABLE, PID_PRESSURE, READY,
};
use taintlab_rules::api::{ConditionStatus, Node, NodeCondition, is_default};
use taintlab_rules::protocol::{HeartbeatSchedule, Jitter, PeriodicHeartbeat};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Span, Time, Timestamp};

/// How the simulated kubelets are set: fields of `KubeletConfiguration`, and how they are in step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct KubeletSettings {
    /// `nodeStatusUpdateFrequency`: how often the status of the node is computed; 10s unless given.
    pub node_status_update_frequency: Span,
    /// `nodeStatusReportFrequency`: how often it is posted if nothing has changed; unless given
    /// `nodeStatusUpdateFrequency`, or 5m0s if that is not given either.
    pub node_status_report_frequency: Span,
    /// `nodeLeaseDurationSeconds`: the lease is renewed every quarter of it; 40 unless given.
    pub node_lease_duration_seconds: u32,
    /// Spreads the kubelets that are there at the beginning over the time between two heartbeats,
    /// each seed in its own way. With 0 the heartbeats of all kubelets are aligned.
    #[serde(skip_serializing_if = "is_default")]
    pub phase_seed: u64,
    /// Lets each renewal of a lease (since 1.22) and each look at the status (since 1.23) be up to
    /// 4 % of its period late, and moves the first report after a change by up to half a
    /// `nodeStatusReportFrequency` (in 1.32, and since 1.34); each seed in its own way. With 0 the
    /// clocks of kubelets are exact.
    #[serde(skip_serializing_if = "is_default")]
    pub jitter_seed: u64,
    /// How long it takes until a kubelet knows of a pod and the API server knows what became of
    /// it: starts and confirmed deletions come that much later, and the confirmations of one node
    /// that far apart; 0s unless given.
    #[serde(skip_serializing_if = "is_default")]
    pub latency: Span,
}

/// The fields as they are given. Mirrors `SetDefaults_KubeletConfiguration`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Given {
    node_status_update_frequency: Option<Span>,
    node_status_report_frequency: Option<Span>,
    node_lease_duration_seconds: Option<u32>,
    phase_seed: u64,
    jitter_seed: u64,
    latency: Span,
}

impl<'de> Deserialize<'de> for KubeletSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Given::deserialize(deserializer)?;
        let default = Self::default();
        let update = given.node_status_update_frequency;
        let report = given.node_status_report_frequency.or(update);
        let lease = given.node_lease_duration_seconds;
        Ok(Self {
            node_status_update_frequency: update.unwrap_or(default.node_status_update_frequency),
            node_status_report_frequency: report.unwrap_or(default.node_status_report_frequency),
            node_lease_duration_seconds: lease.unwrap_or(default.node_lease_duration_seconds),
            phase_seed: given.phase_seed,
            jitter_seed: given.jitter_seed,
            latency: given.latency,
        })
    }
}

impl Default for KubeletSettings {
    fn default() -> Self {
        Self {
            node_status_update_frequency: Span(Duration::from_secs(10)),
            node_status_report_frequency: Span(Duration::from_secs(300)),
            node_lease_duration_seconds: 40,
            phase_seed: 0,
            jitter_seed: 0,
            latency: Span::default(),
        }
    }
}

/// The least time between two heartbeats: a kubelet without a pause would do nothing else.
const LEAST_PERIOD: Duration = Duration::from_millis(1);

impl KubeletSettings {
    /// # Errors
    /// Names the field that is out of range, and the range.
    pub fn check(&self) -> Result<(), String> {
        let wrong = |field: &str, value: &dyn core::fmt::Display, expected: &str| {
            Err(format!("kubelets.{field}: invalid value {value}: must be {expected}"))
        };
        let update = self.node_status_update_frequency;
        if update.0 < LEAST_PERIOD {
            return wrong("nodeStatusUpdateFrequency", &update, "1ms or more, for example `10s`");
        }
        let report = self.node_status_report_frequency;
        if report.0 < LEAST_PERIOD {
            return wrong("nodeStatusReportFrequency", &report, "1ms or more, for example `5m`");
        }
        if self.node_lease_duration_seconds == 0 {
            let value = self.node_lease_duration_seconds;
            return wrong("nodeLeaseDurationSeconds", &value, "1 or more, for example 40");
        }
        Ok(())
    }

    /// The time between two renewals of a lease. Mirrors `nodeLeaseRenewIntervalFraction`.
    #[must_use]
    pub fn lease_renew_interval(&self) -> Duration {
        Duration::from_secs(self.node_lease_duration_seconds.into()) / 4
    }

    /// The time between two posts of a status that does not change, but for jitter: the first
    /// multiple of the update frequency that is not less than the report frequency.
    ///
    /// With jitter, a multiple less by one may take as long. That is left out; with the default
    /// frequencies all of 29 ticks would have to be nearly as late as they can be.
    #[must_use]
    pub fn report_interval(&self) -> Duration {
        self.node_status_update_frequency.0.max(LEAST_PERIOD).saturating_mul(self.report_ticks())
    }

    /// How many ticks of its clock a kubelet waits from one such post to the next.
    fn report_ticks(&self) -> u32 {
        let update = self.node_status_update_frequency.0.max(LEAST_PERIOD);
        let times = self.node_status_report_frequency.0.as_nanos().div_ceil(update.as_nanos());
        u32::try_from(times.max(1)).unwrap_or(u32::MAX)
    }

    /// When the kubelet of the node of that name, there since before the beginning, sends first.
    #[must_use]
    pub fn phase(&self, node: &str) -> Timestamp {
        if self.phase_seed == 0 {
            return Timestamp::ZERO;
        }
        // Whole milliseconds, so that people can read the times.
        let millis = self.lease_renew_interval().as_millis().max(1);
        let phase = u128::from(hash(self.phase_seed, node.bytes())) % millis;
        Timestamp::from_millis(u64::try_from(phase).unwrap_or(0))
    }

    /// What is drawn by lot for a kubelet: each `what` at each moment is another draw. `None`
    /// without [`jitter_seed`](Self::jitter_seed).
    fn draw(&self, node: &str, what: Draw, at: Timestamp) -> Option<NonZeroU64> {
        let at = at.as_nanos().to_le_bytes();
        let bytes = node.bytes().chain([what as u8]).chain(at);
        let seed = NonZeroU64::new(self.jitter_seed)?.get();
        Some(NonZeroU64::new(hash(seed, bytes)).unwrap_or(NonZeroU64::MIN))
    }

    /// By how many milliseconds the first report after a post of a change, made `at` that moment,
    /// comes later than others, or earlier. Mirrors `calculateDelay`.
    pub(crate) fn report_delay(&self, node: &str, at: Timestamp) -> i64 {
        let Some(drawn) = self.draw(node, Draw::ReportDelay, at) else { return 0 };
        let most = self.node_status_report_frequency.0.as_millis() / 2;
        let most = i64::try_from(most).unwrap_or(i64::MAX / 4);
        i64::try_from(drawn.get() >> 1).unwrap_or(0) % (2 * most + 1) - most
    }
}

/// What is drawn by lot.
#[derive(Clone, Copy)]
enum Draw {
    LeaseJitter,
    StatusJitter,
    ReportDelay,
}

/// FNV-1a over the seed and the bytes, then a finaliser that spreads the last of them.
pub fn hash(seed: u64, bytes: impl Iterator<Item = u8>) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(bytes);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// A condition as a kubelet sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) type_: String,
    pub(crate) status: ConditionStatus,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Reported {
    /// A condition with Kubernetes' own reason and message, unless others are given.
    pub(crate) fn new(
        type_: &str,
        status: ConditionStatus,
        reason: Option<String>,
        message: Option<String>,
    ) -> Self {
        let (usual_reason, usual_message) = usual(type_, &status);
        let or = |given: Option<String>, usual: &str| given.unwrap_or_else(|| usual.into());
        Self {
            type_: type_.into(),
            status,
            reason: or(reason, usual_reason),
            message: or(message, usual_message),
        }
    }

    fn of(condition: &NodeCondition) -> Self {
        Self {
            type_: condition.type_.clone(),
            status: condition.status.clone(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
        }
    }

    fn is(&self, condition: &NodeCondition) -> bool {
        self.status == condition.status
            && self.reason == condition.reason
            && self.message == condition.message
    }
}

/// The reason and the message that Kubernetes gives a condition.
fn usual(type_: &str, status: &ConditionStatus) -> (&'static str, &'static str) {
    let holds = *status == ConditionStatus::True;
    match (type_, holds) {
        (READY, true) => ("KubeletReady", "kubelet is posting ready status"),
        (READY, false) => ("KubeletNotReady", "container runtime is down"),
        (MEMORY_PRESSURE, true) => {
            ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available")
        }
        (MEMORY_PRESSURE, false) => {
            ("KubeletHasSufficientMemory", "kubelet has sufficient memory available")
        }
        (DISK_PRESSURE, true) => ("KubeletHasDiskPressure", "kubelet has disk pressure"),
        (DISK_PRESSURE, false) => ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        (PID_PRESSURE, true) => {
            ("KubeletHasInsufficientPID", "kubelet has insufficient PID available")
        }
        (PID_PRESSURE, false) => {
            ("KubeletHasSufficientPID", "kubelet has sufficient PID available")
        }
        (NETWORK_UNAVAILABLE, true) => ("NoRouteCreated", "Node created without a route"),
        (NETWORK_UNAVAILABLE, false) => ("RouteCreated", "RouteController created a route"),
        _ => ("", ""),
    }
}

/// The conditions that every kubelet reports, in the order in which it adds them.
const TYPES: [&str; 4] = [MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE, READY];

/// What a kubelet reports about its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KubeletConditions(Arc<[Reported]>);

impl KubeletConditions {
    /// That all is well.
    pub(crate) fn healthy() -> Self {
        let status = |type_| {
            if type_ == READY { ConditionStatus::True } else { ConditionStatus::False }
        };
        Self(TYPES.iter().map(|type_| Reported::new(type_, status(*type_), None, None)).collect())
    }

    /// The same from a kubelet that has just started and has not asked the container runtime yet.
    pub(crate) fn before_runtime_check(&self) -> Self {
        let message = "container runtime status check may not have completed yet".into();
        self.with(Reported::new(READY, ConditionStatus::False, None, Some(message)))
    }

    /// What the conditions of a node say, as far as a kubelet wrote them.
    pub(crate) fn of(node: &Node, healthy: &Self) -> Self {
        let known = |reported: &Reported| {
            let condition = node.condition(&reported.type_)?;
            (condition.status != ConditionStatus::Unknown && !condition.status.is_empty())
                .then(|| Reported::of(condition))
        };
        if healthy.0.iter().all(|wanted| known(wanted).is_none_or(|known| known == *wanted)) {
            return healthy.clone();
        }
        Self(
            healthy
                .0
                .iter()
                .map(|wanted| known(wanted).unwrap_or_else(|| wanted.clone()))
                .collect(),
        )
    }

    /// The same, with one condition as given.
    pub(crate) fn with(&self, reported: Reported) -> Self {
        let mut all = self.0.to_vec();
        match all.iter_mut().find(|known| known.type_ == reported.type_) {
            Some(known) => *known = reported,
            None => all.push(reported),
        }
        Self(all.into())
    }

    /// Whether the conditions of the node are what is reported, so that no post is needed.
    pub(crate) fn is_posted(&self, node: &Node) -> bool {
        let posted = |reported: &Reported| {
            node.condition(&reported.type_).is_some_and(|condition| reported.is(condition))
        };
        self.0.iter().all(posted)
    }

    /// What it says about a condition.
    pub(crate) fn of_type(&self, type_: &str) -> Option<&Reported> {
        self.0.iter().find(|reported| reported.type_ == type_)
    }

    /// Whether the node is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.0.iter().any(|one| one.type_ == READY && one.status == ConditionStatus::True)
    }

    /// Posts all of it; gives the reasons of the events that the kubelet records. Mirrors the
    /// setters of `nodestatus`.
    pub(crate) fn post(&self, node: &mut Node, now: Time) -> Vec<&'static str> {
        let conditions = &mut node.status.conditions;
        let mut events = Vec::new();
        for reported in self.0.iter() {
            let known = conditions.iter_mut().find(|known| known.type_ == reported.type_);
            let before = known.as_ref().map(|known| known.status.clone());
            let changed = before.as_ref() != Some(&reported.status);
            let condition = match known {
                Some(known) => known,
                None => {
                    conditions.push(NodeCondition {
                        type_: reported.type_.clone(),
                        ..NodeCondition::default()
                    });
                    let Some(new) = conditions.last_mut() else { continue };
                    new
                }
            };
            condition.status.clone_from(&reported.status);
            condition.reason.clone_from(&reported.reason);
            condition.message.clone_from(&reported.message);
            condition.last_heartbeat_time = Some(now);
            if changed {
                condition.last_transition_time = Some(now);
                events.extend(event_of(reported, before.is_some()));
            }
        }
        events
    }

    /// Puts the heartbeats of a post that has changed nothing else into the conditions.
    pub(crate) fn refresh(&self, node: &mut Node, heartbeat: Time) {
        for condition in &mut node.status.conditions {
            if self.0.iter().any(|reported| reported.type_ == condition.type_) {
                condition.last_heartbeat_time = Some(heartbeat);
            }
        }
    }
}

/// The reason of the event when the status of a condition flips. A Ready condition that is new has
/// none.
fn event_of(reported: &Reported, known: bool) -> Option<&'static str> {
    let holds = reported.status == ConditionStatus::True;
    match (reported.type_.as_str(), holds) {
        (READY, true) => known.then_some("NodeReady"),
        (READY, false) => known.then_some("NodeNotReady"),
        (MEMORY_PRESSURE, true) => Some("NodeHasInsufficientMemory"),
        (MEMORY_PRESSURE, false) => Some("NodeHasSufficientMemory"),
        (DISK_PRESSURE, true) => Some("NodeHasDiskPressure"),
        (DISK_PRESSURE, false) => Some("NodeHasNoDiskPressure"),
        (PID_PRESSURE, true) => Some("NodeHasInsufficientPID"),
        (PID_PRESSURE, false) => Some("NodeHasSufficientPID"),
        _ => None,
    }
}

/// The clocks of one kubelet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    lease: PeriodicHeartbeat,
    /// That by which it looks at its status.
    pub(crate) status: PeriodicHeartbeat,
    report_ticks: u32,
    /// How long after a post the next one is due.
    report: Duration,
}

impl Clocks {
    /// Those of a kubelet that began to tick at `origin` and, for its status, at `status_origin`.
    pub(crate) fn new(
        settings: &KubeletSettings,
        release: KubernetesRelease,
        node: &str,
        (origin, status_origin): (Timestamp, Timestamp),
    ) -> Self {
        let clock = |next, period, draw: Option<Draw>| {
            let seed = draw.and_then(|draw| settings.draw(node, draw, next));
            let jitter = seed.map(|seed| Jitter::new(seed, next));
            PeriodicHeartbeat { last: None, next, period, jitter }
        };
        let lease = release.leases_have_jitter().then_some(Draw::LeaseJitter);
        let status = release.node_status_has_jitter().then_some(Draw::StatusJitter);
        let update = settings.node_status_update_frequency.0;
        Self {
            lease: clock(origin, settings.lease_renew_interval(), lease),
            status: clock(status_origin, update, status),
            report_ticks: settings.report_ticks(),
            report: settings.node_status_report_frequency.0,
        }
    }

    /// The same where the next report is due by so many milliseconds later, or earlier.
    pub(crate) fn with_delay(self, millis: i64) -> Self {
        let delay = Duration::from_millis(millis.unsigned_abs());
        let report = match millis < 0 {
            true => self.report.saturating_sub(delay),
            false => self.report.saturating_add(delay),
        };
        Self { report, ..self }
    }

    /// The heartbeats from `from` on of a kubelet that renewed its lease and posted its status last
    /// at `lease` and `posted`; `start` is the time at zero.
    pub(crate) fn heartbeats_from(
        &self,
        from: Timestamp,
        lease: Option<Time>,
        posted: Option<Time>,
        start: Time,
    ) -> HeartbeatSchedule {
        let due = match posted {
            Some(posted) if posted > start => posted.since(start).saturating_add(self.report),
            Some(posted) => self.report.saturating_sub(start.since(posted)),
            None => Duration::ZERO,
        };
        let due = Timestamp::ZERO.saturating_add(due);
        HeartbeatSchedule {
            lease: self.lease.every(1, from, lease),
            status: self.status.every(self.report_ticks, from.max(due), posted),
        }
    }

    /// Heartbeats that were never sent, and none to come.
    pub(crate) fn none(&self) -> HeartbeatSchedule {
        let mut none = self.heartbeats_from(Timestamp::MAX, None, None, Time::DEFAULT_START);
        (none.lease.next, none.status.next) = (Timestamp::MAX, Timestamp::MAX);
        none
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    #[test]
    fn beats_follow_the_clock_of_the_kubelet() {
        let settings = KubeletSettings::default();
        let start = Time::DEFAULT_START;
        let wall = |secs| start.saturating_add(at(secs).since_zero());
        let before = |secs: i64| Time::from_unix_seconds(start.unix_seconds() - secs);
        // Origin, from, last post; then the next renewal and post.
        for (origin, from, posted, lease, status) in [
            (0, 0, None, 0, 0),
            (0, 0, Some(start), 0, 300),
            (3, 0, Some(start), 3, 303),
            (0, 88, Some(wall(87)), 90, 390),
            (87, 88, Some(wall(87)), 97, 387),
            (0, 0, Some(before(295)), 0, 10),
            (0, 0, Some(before(1_000)), 0, 0),
        ] {
            let origins = (at(origin), at(origin));
            let clocks = Clocks::new(&settings, KubernetesRelease::NEWEST, "n", origins);
            let heartbeats = clocks.heartbeats_from(at(from), None, posted, start);
            let got = (heartbeats.lease.next, heartbeats.status.next);
            assert_eq!(got, (at(lease), at(status)), "{origin} {from} {posted:?}");
            assert_eq!(heartbeats.lease.period, Duration::from_secs(10));
            assert_eq!(heartbeats.status.period, Duration::from_secs(300));
        }
    }

    #[test]
    fn posts_come_at_the_first_update_that_is_late_enough() {
        let mut settings = KubeletSettings::default();
        for (update, report, expected) in [(10, 300, 300), (7, 300, 301), (10, 1, 10)] {
            settings.node_status_update_frequency = Span(Duration::from_secs(update));
            settings.node_status_report_frequency = Span(Duration::from_secs(report));
            assert_eq!(settings.report_interval(), Duration::from_secs(expected));
        }
    }

    #[test]
    fn reports_are_as_frequent_as_updates_if_only_these_are_given() {
        for (given, expected) in [
            ("{}", (10, 300)),
            (r#"{"nodeStatusUpdateFrequency": "20s"}"#, (20, 20)),
            (r#"{"nodeStatusUpdateFrequency": "10s"}"#, (10, 10)),
            (r#"{"nodeStatusReportFrequency": "60s"}"#, (10, 60)),
            (r#"{"nodeStatusUpdateFrequency": "5s", "nodeStatusReportFrequency": "1m"}"#, (5, 60)),
        ] {
            let settings: KubeletSettings = serde_json::from_str(given).unwrap();
            let got =
                [settings.node_status_update_frequency, settings.node_status_report_frequency]
                    .map(|span| span.0.as_secs());
            assert_eq!(got, [expected.0, expected.1], "{given}");
        }
        let unknown = serde_json::from_str::<KubeletSettings>(r#"{"lease": 1}"#);
        assert!(unknown.unwrap_err().to_string().contains("unknown field `lease`"));
    }

    #[test]
    fn settings_name_the_field_and_its_range() {
        let zero = Span(Duration::ZERO);
        let default = KubeletSettings::default();
        for (settings, expected) in [
            (
                KubeletSettings { node_status_update_frequency: zero, ..default },
                "kubelets.nodeStatusUpdateFrequency: invalid value 0s: must be 1ms or more",
            ),
            (
                KubeletSettings { node_status_report_frequency: zero, ..default },
                "kubelets.nodeStatusReportFrequency: invalid value 0s: must be 1ms or more",
            ),
            (
                KubeletSettings { node_lease_duration_seconds: 0, ..default },
                "kubelets.nodeLeaseDurationSeconds: invalid value 0: must be 1 or more",
            ),
        ] {
            assert!(settings.check().unwrap_err().starts_with(expected));
        }
        assert_eq!(default.check(), Ok(()));
    }

    #[test]
    fn phases_are_spread_and_repeatable() {
        let settings = KubeletSettings { phase_seed: 7, ..KubeletSettings::default() };
        let phases: Vec<_> =
            (0..1_000).map(|number| settings.phase(&format!("node-{number}"))).collect();
        assert!(phases.iter().all(|phase| *phase < at(10)));
        for second in 0..10 {
            let within = phases.iter().filter(|p| (at(second)..at(second + 1)).contains(p)).count();
            assert!((60..140).contains(&within), "{within} in second {second}");
        }
        assert_eq!(settings.phase("node-1"), phases[1]);
        let other = KubeletSettings { phase_seed: 8, ..settings };
        assert_ne!(other.phase("node-1"), phases[1]);
        assert_eq!(KubeletSettings::default().phase("node-1"), Timestamp::ZERO);
    }

    #[test]
    fn a_post_changes_what_differs_and_stamps_all() {
        let time = |secs: i64| Time::from_unix_seconds(1_577_836_800 + secs);
        let mut node = Node::default();
        let healthy = KubeletConditions::healthy();
        let first = healthy.post(&mut node, time(0));
        let pressure = ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"];
        assert_eq!(first, pressure);
        assert!(healthy.is_posted(&node));
        let down = healthy.with(Reported::new(READY, ConditionStatus::False, None, None));
        assert!(!down.is_posted(&node) && !down.is_ready());
        assert_eq!(down.post(&mut node, time(10)), ["NodeNotReady"]);
        let ready = node.condition(READY).unwrap();
        assert_eq!(ready.reason, "KubeletNotReady");
        assert_eq!(ready.last_transition_time, Some(time(10)));
        let memory = node.condition(MEMORY_PRESSURE).unwrap();
        assert_eq!(memory.last_transition_time, Some(time(0)));
        assert_eq!(memory.last_heartbeat_time, Some(time(10)));
        assert_eq!(KubeletConditions::of(&node, &healthy), down);
        assert_eq!(healthy.post(&mut node, time(20)), ["NodeReady"]);
    }
}
