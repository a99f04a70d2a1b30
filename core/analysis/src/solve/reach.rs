//! Reach: the settings that are tried for the wishes of a cluster.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Serialize, Serializer};
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{
    PodKey, PodSpec, TaintEffect, Workload, WorkloadKey, WorkloadKind, is_default, well_known,
};
use taintlab_rules::order::{Order, OrderedSet};
use taintlab_rules::time::Span;

use super::setting::Setting;
use super::wish::{Ask, Wish};
use crate::report::{Fault, ReportSubject};
use crate::scenario::Scenario;

/// Labels over whose values pods are spread.
const TOPOLOGY: [&str; 2] = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"];
/// Values of flags of kube-controller-manager that are in use.
const DETECTION: [(&str, &[&str]); 2] = [
    ("node-monitor-grace-period", &["20s", "30s", "40s", "50s", "1m0s", "2m0s", "5m0s"]),
    ("node-monitor-period", &["1s", "2s"]),
];
/// The same where several nodes fail at a time.
const RATES: [(&str, &[&str]); 3] = [
    ("node-eviction-rate", &["1", "10"]),
    ("secondary-node-eviction-rate", &["0.1", "1"]),
    ("unhealthy-zone-threshold", &["1"]),
];
/// Values of the default `tolerationSeconds`.
const DEFAULT_SECONDS: [u32; 5] = [0, 30, 60, 120, 600];
/// Default `tolerationSeconds` of Kubernetes.
const DEFAULT: u32 = 300;

/// A setting with the values that it can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knob {
    /// One of these.
    Values(Vec<Setting>),
    /// Whole seconds, found by bisection: later evictions never make a workload whole earlier, and
    /// never move more pods.
    Seconds(Seconds),
}

/// A setting in whole seconds, from 0 to a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seconds {
    /// The workload whose `tolerationSeconds` it is; absent for the time until the out-of-service
    /// taint.
    pub workload: Option<WorkloadKey>,
    /// Largest value.
    pub most: u32,
    /// Value of the cluster as it is, or the largest one if it has none.
    pub now: u32,
}

impl Seconds {
    /// The setting with a value.
    #[must_use]
    pub fn setting(&self, seconds: u32) -> Setting {
        match &self.workload {
            Some(workload) => Setting::TolerationSeconds { workload: workload.clone(), seconds },
            None => Setting::OutOfService {
                after: Span(core::time::Duration::from_secs(seconds.into())),
            },
        }
    }
}

impl Knob {
    /// Kind of its settings, as in [`Setting::KINDS`].
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Values(values) => values.first().map_or("", Setting::kind),
            Self::Seconds(seconds) => seconds.setting(0).kind(),
        }
    }
}

/// The values in a line.
impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, values) = match self {
            Self::Values(values) => {
                let all = values.iter().map(Setting::name_and_value);
                let (names, values): (Vec<String>, Vec<String>) = all.unzip();
                (names.into_iter().next().unwrap_or_default(), values.join(", "))
            }
            Self::Seconds(seconds) => {
                let (name, most) = seconds.setting(seconds.most).name_and_value();
                (name, format!("each second from 0 to {most}"))
            }
        };
        write!(f, "{name}: {values}")
    }
}

impl Serialize for Knob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Rounded up.
fn seconds_of(span: Span) -> u32 {
    u32::try_from(span.0.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// `tolerationSeconds` of the pods of a template for an unreachable node; `None` if they stay for
/// ever.
fn toleration_seconds(spec: &PodSpec, default: u32) -> Option<u32> {
    let no_execute =
        |effect: &TaintEffect| matches!(effect, TaintEffect::NoExecute | TaintEffect::Empty);
    let mut known = spec.tolerations.iter().filter(|it| {
        no_execute(&it.effect) && (it.key.is_empty() || it.key == well_known::UNREACHABLE)
    });
    match known.next() {
        Some(known) => {
            known.toleration_seconds.map(|seconds| u32::try_from(seconds.max(0)).unwrap_or(0))
        }
        None => Some(default),
    }
}

/// The name of the budget of a workload: one that selects its pods, or a new one.
fn budget_of(scenario: &Scenario, workload: &Workload) -> Option<PodKey> {
    let key = workload.key().name;
    let labels = &workload.spec.template.metadata.labels;
    let selects = |it: &&taintlab_rules::api::PodDisruptionBudget| {
        let own = it.selector().ok().flatten();
        it.key().namespace() == key.namespace() && own.is_some_and(|own| own.matches(labels))
    };
    let Some(known) = scenario.objects.budgets.iter().find(selects) else { return Some(key) };
    let is_one = known.spec.max_unavailable == Some(1.into());
    (!is_one).then(|| known.key())
}

/// The knobs in reach, from the cheapest: those of workloads that the wishes are about and of
/// workloads that move in the cluster as it is though they should not, and flags of the control
/// plane. Workloads without a manifest have none.
pub(super) fn knobs(
    scenario: &Scenario,
    simulator: &Simulator,
    wishes: &[Wish],
    moving: &OrderedSet<ReportSubject>,
    are_several: bool,
) -> Vec<Knob> {
    let mut knobs = Vec::new();
    let times = || wishes.iter().filter(|it| matches!(it.ask, Ask::Within { .. }));
    let timed: OrderedSet<&ReportSubject> =
        times().filter_map(|it| it.subject.as_ref()).collect::<OrderedSet<_>>();
    let own = wishes.iter().filter_map(|it| it.subject.clone());
    let subjects: OrderedSet<ReportSubject> =
        own.chain(moving.iter().cloned()).collect::<OrderedSet<_>>();
    let is_drain = |it: &&Wish| it.failures.fault == Fault::Drained;
    let fails = wishes.iter().any(|it| !is_drain(&it));
    let away = wishes.iter().filter_map(|it| match it.failures.fault {
        Fault::PowerOff { back_after } => Some(seconds_of(back_after)),
        _ => None,
    });
    let admission = simulator.config().admission().unwrap_or_default();
    let default = u32::try_from(admission.default_unreachable_toleration_seconds.max(0));
    let (default, longest) = (default.unwrap_or(DEFAULT), away.max().unwrap_or_default());
    for workload in &scenario.objects.workloads {
        let key = workload.key();
        let subject = ReportSubject::Workload(key.clone());
        let is_replicated = matches!(
            key.kind,
            WorkloadKind::Deployment | WorkloadKind::StatefulSet | WorkloadKind::ReplicaSet
        );
        if !subjects.contains(&subject) || !is_replicated {
            continue;
        }
        let spec = &workload.spec.template.spec;
        if fails {
            let now = toleration_seconds(spec, default);
            let most = now.unwrap_or_default().max(longest).max(DEFAULT);
            let (workload, now) = (Some(key.clone()), now.unwrap_or(most));
            knobs.push(Knob::Seconds(Seconds { workload, most, now }));
        }
        if wishes
            .iter()
            .any(|it| is_drain(&it) && it.subject.as_ref().is_none_or(|it| *it == subject))
            && let Some(budget) = budget_of(scenario, workload)
        {
            let workload = key.clone();
            knobs.push(Knob::Values([Setting::Budget { workload, budget }].into()));
        }
        if !timed.contains(&subject) {
            continue;
        }
        let labels: Vec<&str> =
            TOPOLOGY.into_iter().filter(|label| has_label(simulator, label)).collect();
        let topology = |label: &&str| (key.clone(), (*label).to_owned());
        let spread = labels.iter().map(topology);
        let spread =
            spread.map(|(workload, topology_key)| Setting::Spread { workload, topology_key });
        let apart = labels.iter().map(topology);
        let apart =
            apart.map(|(workload, topology_key)| Setting::AntiAffinity { workload, topology_key });
        let replicas = workload.replicas();
        let more =
            [replicas + 1, replicas + 2, replicas * 2].into_iter().collect::<OrderedSet<_>>();
        let more = more.into_iter().filter(|it| *it > replicas);
        let more = more.map(|replicas| Setting::Replicas { workload: key.clone(), replicas });
        let first = Setting::Priority { workload: key.clone() };
        knobs.extend(
            [spread.collect(), apart.collect(), more.collect(), [first].into()].map(Knob::Values),
        );
    }
    let lost = times().filter(|it| it.failures.fault == Fault::Lost);
    let limits = lost.filter_map(|it| match it.ask {
        Ask::Within { most, .. } => Some(seconds_of(most)),
        Ask::NoMove => None,
    });
    if let Some(most) = limits.max() {
        knobs.push(Knob::Seconds(Seconds { workload: None, most, now: most }));
    }
    if fails {
        knobs.extend(flags(simulator, are_several));
        let seconds = DEFAULT_SECONDS.into_iter().filter(|it| *it != default);
        let values = seconds.map(|seconds| Setting::DefaultTolerationSeconds { seconds });
        knobs.push(Knob::Values(values.collect()));
    }
    knobs.retain(|it| !matches!(it, Knob::Values(values) if is_default(values)));
    knobs.order_by_key(|it| match it {
        Knob::Values(values) => values.first().map_or(0, Setting::cost),
        Knob::Seconds(seconds) => seconds.setting(0).cost(),
    });
    knobs
}

fn has_label(simulator: &Simulator, label: &str) -> bool {
    simulator.cluster().nodes().any(|(_, node)| node.metadata.labels.contains_key(label))
}

fn flags(simulator: &Simulator, are_several: bool) -> Vec<Knob> {
    let release = simulator.config().release;
    let now: Vec<(&str, String)> = simulator.flags().flags(release).collect();
    let rates = RATES.iter().filter(|_| are_several);
    let each = DETECTION.iter().chain(rates).map(|(name, values)| {
        let is_now = |value: &str| now.iter().any(|it| it.0 == *name && it.1 == value);
        let others = values.iter().filter(|value| !is_now(value));
        let setting = |value: &&str| Setting::ControllerManagerFlag {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        Knob::Values(others.map(setting).collect())
    });
    each.collect()
}
