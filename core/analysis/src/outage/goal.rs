//! The goal of an outage, and the nodes that it has to hit to reach it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::Serialize;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{NodeName, Pod, PodKey, SchedulingFields, WorkloadKey, WorkloadKind};
use taintlab_rules::order::OrderedSet;
use taintlab_rules::plural::no_such;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState, find_zone, zone_state};

use super::OutageSearch;
use crate::report::{ReportError, ReportSubject, ready, subjects};

/// Goals of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Goal {
    /// No ready pod of a workload, or of a pod without an owner, for some time.
    AtZero(ReportSubject),
    /// A zone in another state than `Normal`: its name.
    NotNormal(ZoneKey),
}

/// `deployment/shop/web`, `zone eu-1a`.
impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtZero(subject) => subject.fmt(f),
            Self::NotNormal(zone) if zone.name().is_empty() => {
                f.write_str("the nodes without a zone")
            }
            Self::NotNormal(zone) => write!(f, "zone {}", zone.name()),
        }
    }
}

/// Nodes that an outage has to hit.
pub(super) struct Needed {
    /// Nodes that count.
    pub(super) nodes: Vec<NodeName>,
    /// Number of these that have to be hit.
    pub(super) least: usize,
    /// Whether a drain hits a node.
    pub(super) drained: bool,
    /// Nodes with pods of higher priority, which may preempt.
    pub(super) others: OrderedSet<NodeName>,
    /// Whether anything may reach the goal.
    pub(super) everything: bool,
}

fn wrong<T>(name: &'static str, message: String) -> Result<T, ReportError> {
    Err(ReportError::Option { name, message })
}

impl Goal {
    /// A workload by its name: `deployment/shop/web`, also `deployment/web` in the namespace default;
    /// or the end of that, such as `shop/web`, if no other has the same.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn workload(simulator: &Simulator, text: &str) -> Result<Self, ReportError> {
        let all = subjects(simulator);
        if let Some(one) = ReportSubject::parse(text).ok().filter(|it| all.contains(it)) {
            return Ok(Self::AtZero(one));
        }
        let is_meant = |it: &&ReportSubject| {
            it.to_string().strip_suffix(text).is_some_and(|rest| rest.ends_with('/'))
        };
        let meant: Vec<&ReportSubject> = all.iter().filter(is_meant).collect();
        let names = |list: &[&ReportSubject]| -> Vec<String> {
            list.iter().map(ToString::to_string).collect()
        };
        match meant.as_slice() {
            [one] => Ok(Self::AtZero((*one).clone())),
            [] => {
                let known = names(&all.iter().collect::<Vec<_>>());
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                wrong("workload", no_such("workload", text, &known))
            }
            several => {
                let several = names(several).join(", ");
                wrong("workload", format!("`{text}` may be one of {several}"))
            }
        }
    }

    /// A zone by its name: `region/zone`, or `zone` if that is the only one.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn zone(simulator: &Simulator, text: &str) -> Result<Self, ReportError> {
        let nodes = simulator.cluster().nodes();
        let zones: OrderedSet<ZoneKey> =
            nodes.map(|(_, node)| ZoneKey::of(&node.metadata.labels)).collect();
        find_zone(&zones, text).map(Self::NotNormal).or_else(|meant| {
            let all = || zones.iter().map(ZoneKey::name).collect();
            let known: Vec<String> = if meant.is_empty() { all() } else { meant };
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            wrong("zone", no_such("zone", text, &known))
        })
    }

    pub(super) fn is_zone(&self, zone: &ZoneKey) -> bool {
        matches!(self, Self::NotNormal(own) if own == zone)
    }

    fn keys(&self, simulator: &Simulator) -> OrderedSet<PodKey> {
        match self {
            Self::AtZero(ReportSubject::Workload(key)) => simulator.cluster().pods_of_workload(key),
            Self::AtZero(ReportSubject::Pod(key)) => OrderedSet::from([key.clone()]),
            Self::NotNormal(_) => OrderedSet::new(),
        }
    }

    /// Pods of the workload.
    pub(super) fn pods<'s>(&self, simulator: &'s Simulator) -> Vec<&'s Arc<Pod>> {
        let cluster = simulator.cluster();
        self.keys(simulator).iter().filter_map(|key| cluster.get_pod(key)).collect()
    }

    /// Time that a new pod of the workload takes to become ready.
    pub(super) fn start_up_time(&self, simulator: &Simulator) -> Duration {
        let own = match self {
            Self::AtZero(ReportSubject::Workload(key)) => start_up_time(simulator, key),
            Self::AtZero(ReportSubject::Pod(_)) | Self::NotNormal(_) => None,
        };
        own.unwrap_or(simulator.config().start_up_time.0)
    }

    /// Nodes that an outage has to hit to reach this goal.
    pub(super) fn needed(&self, search: &OutageSearch) -> Result<Needed, ReportError> {
        let simulator = &*search.simulator;
        match self {
            Self::AtZero(subject) => self.needed_for_zero(search, subject),
            Self::NotNormal(zone) => {
                let cluster = simulator.cluster();
                let view = simulator.zones().into_iter().find(|it| it.key == *zone);
                let (ready, lost) = view.as_ref().map_or((0, 0), |it| (it.ready, it.not_ready));
                let threshold = simulator.flags().unhealthy_zone_threshold;
                let more = (0..=ready).find(|more| {
                    zone_state(ready - more, lost + more, threshold) != ZoneState::Normal
                });
                let Some(least) = more.filter(|more| *more > 0) else {
                    let name = zone.name();
                    return wrong("zone", format!("zone `{name}` is not Normal before any fault"));
                };
                let nodes = cluster.nodes();
                let of_zone = nodes.filter(|(_, it)| ZoneKey::of(&it.metadata.labels) == *zone);
                Ok(Needed {
                    nodes: of_zone.map(|(name, _)| name.clone()).collect(),
                    least,
                    drained: false,
                    others: OrderedSet::new(),
                    everything: false,
                })
            }
        }
    }

    fn needed_for_zero(
        &self,
        search: &OutageSearch,
        subject: &ReportSubject,
    ) -> Result<Needed, ReportError> {
        let simulator = &*search.simulator;
        if ready(simulator, subject) == 0 {
            return wrong("workload", format!("{subject} has no ready pod before any fault"));
        }
        let pods = self.pods(simulator);
        let is_ready = |pod: &Pod| match subject {
            ReportSubject::Workload(_) => pod.is_ready_replica(),
            ReportSubject::Pod(_) => true,
        };
        let (ready_pods, others): (Vec<&Arc<Pod>>, Vec<&Arc<Pod>>) =
            pods.into_iter().partition(|pod| is_ready(pod));
        let node = |pod: &Arc<Pod>| NodeName::from(pod.spec.node_name.as_str());
        let nodes: OrderedSet<NodeName> = ready_pods.iter().map(|pod| node(pod)).collect();
        let at_rest = others.iter().all(|pod| pod.has_ended()) && search.is_steady(subject);
        let watched = simulator
            .cluster()
            .nodes()
            .any(|(name, _)| simulator.eviction_view(name.as_str()).is_some());
        let least = ready_pods.iter().map(|pod| priority(pod).0).min().unwrap_or_default();
        let mut pending = false;
        let mut preemptors = OrderedSet::new();
        for (_, pod) in simulator.cluster().pods() {
            let (priority, may_preempt) = priority(pod);
            let owner = pod.metadata.controller_key();
            // Those of DaemonSets and static ones are on their nodes or nowhere.
            let moves =
                owner.is_none_or(|it| it.kind != WorkloadKind::DaemonSet) && !pod.is_static();
            if priority > least && may_preempt && moves && !pod.has_ended() {
                pending |= pod.spec.node_name.is_empty();
                preemptors.insert(node(pod));
            }
        }
        let everything = pending || watched || !at_rest;
        Ok(Needed {
            least: if everything { 0 } else { nodes.len() },
            nodes: nodes.into_iter().collect(),
            drained: true,
            others: preemptors,
            everything,
        })
    }
}

fn start_up_time(simulator: &Simulator, key: &WorkloadKey) -> Option<Duration> {
    simulator.cluster().get_workload(key)?.start_up_time().ok()?
}

/// Priority of a pod, and whether it preempts others. Fields that cannot be read are taken as the
/// scheduler takes them: as none.
fn priority(pod: &Pod) -> (i64, bool) {
    SchedulingFields::of(pod).map_or((0, false), |it| (it.priority, !it.never_preempts))
}
