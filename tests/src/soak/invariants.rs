//! Invariants of every cluster whenever nothing is left to do at an instant.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use taintlab_core::api::{ConditionStatus, Node, Pod, PodKey, PodPhase, WorkloadKind};
use taintlab_core::controllers::node_lifecycle::zone::ZoneState;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::kubelet::NodePower;
use taintlab_core::simulator::{HealthPassTime, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

use super::cluster::TAINT_KEY;
use crate::model;
use crate::models::scheduler::{Storage, World, allocatable, request};
use crate::models::workloads::{Memory, State, StateReader, Step, recorded};
use crate::models::{Reader, has_condition, is_terminating, minor_of, name, number, selects, text};

/// Time after the last fault in which a cluster must have recovered: longer than any
/// back-off, grace period and unreachable time of its settings.
pub const RECOVERED_AFTER: Duration = Duration::from_secs(3_600);

/// An invariant, in one sentence.
pub type Invariant = &'static str;

/// Events.
pub const ORDER: Invariant = "events come in the order of time, none before the last instant";
/// [`Simulator::poll_timeout`].
pub const DEADLINE: Invariant = "nothing happens before the deadline that the simulator names";
/// Progress.
pub const PROGRESS: Invariant = "time passes: a minute has at most 3,000 deadlines";
/// Snapshots and the split of time.
pub const SPLIT: Invariant = "a copy that advances in one go has the same events";
/// [`Simulator::forecast`].
pub const FORECAST: Invariant = "an eviction comes when the forecast says, if nothing is done";
/// Errors of the program.
pub const PANIC: Invariant = "the engine does not panic";
/// UIDs.
pub const UID: Invariant = "a UID is that of one pod, and none comes back";
/// Nodes of pods.
pub const MOVED: Invariant = "a pod is never moved to another node";
/// Requests of pods.
pub const CAPACITY: Invariant = "the pods on a node request no more than it has";
/// `NoExecute` taints.
pub const TAINTED: Invariant = "a pod that does not tolerate a NoExecute taint is terminating";
/// `tolerationSeconds`. Upstream a timer that runs is not made shorter by another taint that is
/// tolerated for less time (`processPodOnNode` keeps it), so that the time is that of the first.
pub const TOLERATION: Invariant = "no pod outstays the toleration time with which its timer began";
/// The second opinion on workloads and budgets.
pub const WORKLOADS: Invariant = "workloads and budgets are as `models::workloads` says";
/// PodDisruptionBudgets.
pub const BUDGET: Invariant = "the eviction API takes no pod that a budget keeps";
/// Volumes of one node.
pub const VOLUME: Invariant = "a volume for one node is attached to one node";
/// Recovery.
pub const RECOVERY: Invariant = "an hour after the last fault nodes are ready, zones Normal, and \
                                 pods ready unless they fit nowhere";

/// An invariant that does not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The invariant.
    pub invariant: Invariant,
    /// Time at which it was broken.
    pub at: Timestamp,
    /// The objects and figures that break it.
    pub detail: String,
}

struct Seen {
    key: PodKey,
    node: String,
    /// Requested cpu and memory.
    requests: [i64; 2],
    /// Time at which it was first terminating or gone.
    ended_at: Option<Timestamp>,
    /// Since when it has not tolerated the taints of its node.
    untolerated_since: Option<Timestamp>,
    /// Latest end of its timer.
    deadline: Option<Timestamp>,
}

/// Watches a cluster, step by step.
pub struct Watch {
    evicts_by_taints: bool,
    /// Longest wait of a request for the client of its controller.
    client_waits: Duration,
    reader: StateReader,
    before: State,
    memory: Memory,
    pods: BTreeMap<String, Seen>,
    gone: BTreeSet<String>,
    /// Drains that are under way, by number.
    pub drains: BTreeSet<u64>,
    last_instant: Timestamp,
    /// Last time at which something was done to the cluster, or a node was lost or came back.
    pub disturbed_at: Timestamp,
}

type Checked = Result<(), (Invariant, String)>;

fn holds(condition: bool, invariant: Invariant, detail: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err((invariant, detail())) }
}

fn has_ended(pod: &Pod) -> bool {
    matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
}

fn is_ready(pod: &Pod) -> bool {
    let mut conditions = pod.status.conditions.iter();
    conditions.any(|it| it.type_ == "Ready" && it.status == ConditionStatus::True)
}

fn has(node: &Node, type_: &str, status: &ConditionStatus) -> bool {
    node.condition(type_).is_some_and(|it| it.status == *status)
}

impl Watch {
    /// Begins to watch a cluster.
    #[must_use]
    pub fn new(simulator: &Simulator) -> Self {
        let config = simulator.config();
        let waits = config.health_pass != HealthPassTime::default();
        Self {
            evicts_by_taints: evicts_by_taints(config),
            client_waits: Duration::from_secs(if waits { 60 } else { 1 }),
            reader: StateReader::default(),
            before: State { minor: minor_of(config.release), ..State::default() },
            memory: Memory::default(),
            pods: BTreeMap::new(),
            gone: BTreeSet::new(),
            drains: BTreeSet::new(),
            last_instant: Timestamp::ZERO,
            disturbed_at: Timestamp::ZERO,
        }
    }

    /// Time at which a pod was first terminating or gone.
    #[must_use]
    pub fn ended_at(&self, uid: &str) -> Option<Timestamp> {
        self.pods.get(uid).and_then(|seen| seen.ended_at)
    }

    /// Forgets pods that are gone, so that a long run takes no more memory.
    pub fn forget(&mut self, simulator: &Simulator) {
        let cluster = simulator.cluster();
        self.pods.retain(|uid, seen| {
            cluster.get_pod(&seen.key).is_some_and(|pod| pod.metadata.uid == *uid)
        });
    }

    /// Checks the cluster after a step, when nothing is left to do at its instant.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn step(&mut self, simulator: &Simulator, events: &[Event]) -> Result<(), Violation> {
        let at = simulator.now();
        let broken = |(invariant, detail)| Violation { invariant, at, detail };
        self.events(simulator, events).map_err(broken)?;
        self.pods(simulator).map_err(broken)?;
        self.nodes(simulator).map_err(broken)?;
        let after = self.reader.read(simulator);
        self.workloads(&after, events).map_err(broken)?;
        self.before = after;
        self.last_instant = at;
        Ok(())
    }

    fn events(&mut self, simulator: &Simulator, events: &[Event]) -> Checked {
        let mut last = self.last_instant;
        for event in events {
            holds(event.at >= last && event.at <= simulator.now(), ORDER, || {
                format!("{} after {last}: {}", event.at, event.what)
            })?;
            last = event.at;
            match &event.what {
                EventKind::DrainStarted { drain } => drop(self.drains.insert(*drain)),
                EventKind::DrainEnded { drain, .. } => drop(self.drains.remove(drain)),
                EventKind::HeartbeatLost { .. }
                | EventKind::HeartbeatResumed { .. }
                | EventKind::NodeShutdown { .. }
                | EventKind::NodeAdded { .. }
                | EventKind::KubeletEviction { .. } => self.disturbed_at = event.at,
                // Timers begin anew.
                EventKind::TaintEvictionControllerRestarted { .. }
                | EventKind::ControllerManagerRestarted => {
                    self.pods.values_mut().for_each(|seen| {
                        seen.deadline = None;
                        seen.untolerated_since = None;
                    });
                }
                EventKind::NodeEvaluated { node, taints, .. } if taints.is_empty() => {
                    let there = self.pods.values_mut().filter(|seen| seen.node == node.as_str());
                    there.for_each(|seen| seen.deadline = None);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn pods(&mut self, simulator: &Simulator) -> Checked {
        let now = simulator.now();
        let mut uids = BTreeSet::new();
        for (key, pod) in simulator.cluster().pods() {
            let uid = &pod.metadata.uid;
            holds(uids.insert(uid.as_str()), UID, || format!("{uid} of {key} and another pod"))?;
            if !self.pods.contains_key(uid) {
                holds(!self.gone.contains(uid), UID, || format!("{uid} of {key} is back"))?;
                let json = serde_json::to_value(&**pod).unwrap_or_default();
                let requests = ["cpu", "memory"].map(|resource| request(&json, resource, 0));
                let seen = Seen {
                    key: key.clone(),
                    node: String::new(),
                    requests,
                    ended_at: None,
                    untolerated_since: None,
                    deadline: None,
                };
                self.pods.insert(uid.clone(), seen);
            }
            let Some(seen) = self.pods.get_mut(uid) else { continue };
            let node = &pod.spec.node_name;
            let stays = seen.key == *key && (seen.node.is_empty() || seen.node == *node);
            holds(stays, MOVED, || {
                format!("{key} was {} on {}, is on {node}", seen.key, seen.node)
            })?;
            if seen.node != *node {
                seen.node.clone_from(node);
            }
            if pod.is_terminating() && seen.ended_at.is_none() {
                seen.ended_at = Some(now);
            }
        }
        for (uid, seen) in &mut self.pods {
            if !uids.contains(uid.as_str()) {
                self.gone.insert(uid.clone());
                seen.ended_at.get_or_insert(now);
            }
        }
        Ok(())
    }

    fn nodes(&mut self, simulator: &Simulator) -> Checked {
        let cluster = simulator.cluster();
        for (node_name, node) in cluster.nodes() {
            let taints: Vec<_> =
                node.spec.taints.iter().filter(|taint| taint.is_no_execute()).cloned().collect();
            let json = serde_json::to_value(&node.status).unwrap_or_default();
            let json = serde_json::json!({ "status": json });
            let (mut used, mut count) = ([0, 0], 0);
            for (key, pod) in cluster.pods_of(node_name.as_str()) {
                let Some(seen) = self.pods.get_mut(&pod.metadata.uid) else { continue };
                if !has_ended(pod) {
                    count += 1;
                    used = [used[0] + seen.requests[0], used[1] + seen.requests[1]];
                }
                if self.evicts_by_taints {
                    let waits = self.client_waits;
                    check_taints(seen, pod, &taints, simulator.now(), waits).map_err(
                        |(invariant, detail)| {
                            (invariant, format!("{key} on {node_name}: {detail}"))
                        },
                    )?;
                }
            }
            for (resource, used) in [("cpu", used[0]), ("memory", used[1]), ("pods", count)] {
                let most = allocatable(&json, resource);
                holds(used <= most, CAPACITY, || {
                    format!("{used} of {most} {resource} on {node_name}")
                })?;
            }
        }
        let mut attached = BTreeMap::new();
        let attachments = cluster.volumes().into_iter().flat_map(|it| it.attachments());
        for ((volume, node), _) in attachments {
            let other = attached.insert(volume, node);
            holds(other.is_none(), VOLUME, || format!("{volume} on {node} and {other:?}"))?;
        }
        Ok(())
    }

    fn workloads(&mut self, after: &State, events: &[Event]) -> Checked {
        let events = recorded(events);
        let step = Step { before: &self.before, after, events: &events };
        let wrong = step.differences(&mut self.memory);
        holds(wrong.is_empty(), WORKLOADS, || {
            let said = events.iter().map(|it| format!("{}: {}", it.reason, it.message));
            let said: Vec<String> = said.collect();
            format!("{}; recorded {}", wrong.join("; "), said.join(", "))
        })?;
        // A drain, which is a part of the simulation, asks budgets too.
        for budget in &after.budgets {
            let selector = budget.pointer("/spec/selector");
            let was = |pod: &Value| {
                let id = text(pod, "/metadata/uid").to_owned();
                self.before.pods.iter().find(move |it| text(it, "/metadata/uid") == id)
            };
            let counted = |pod: &Value| has_condition(pod, "Ready") && !is_terminating(pod);
            let now = |pod: &Value| {
                let id = text(pod, "/metadata/uid").to_owned();
                after.pods.iter().find(move |it| text(it, "/metadata/uid") == id)
            };
            let lost = self.before.pods.iter().filter(|pod| {
                selects(selector, pod) && counted(pod) && !now(pod).is_some_and(counted)
            });
            let by_api = |pod: &Value| {
                let conditions = crate::models::list(pod, "/status/conditions");
                conditions.iter().any(|it| text(it, "/reason") == "EvictionByEvictionAPI")
            };
            let lost: Vec<&Value> = lost.collect();
            let all_by_api = !lost.is_empty()
                && lost.iter().all(|pod| {
                    now(pod).is_some_and(|now| by_api(now) && !was(pod).is_some_and(by_api))
                });
            let healthy = number(budget, "/status/currentHealthy").unwrap_or(0);
            let desired = number(budget, "/status/desiredHealthy").unwrap_or(0);
            holds(!all_by_api || healthy >= desired, BUDGET, || {
                format!("{}: {healthy} healthy of {desired}, took {}", name(budget), lost.len())
            })?;
        }
        Ok(())
    }

    /// Whether a pod that the eviction API took was one that a budget could spare, by what there
    /// was before.
    ///
    /// # Errors
    /// The budget that does not hold.
    pub fn evicted(before: &Simulator, pod: &PodKey, after: &Simulator) -> Result<(), Violation> {
        let Some(object) = before.cluster().get_pod(pod) else { return Ok(()) };
        if object.is_terminating() || !is_ready(object) || has_ended(object) {
            return Ok(());
        }
        let json = serde_json::to_value(&**object).unwrap_or_default();
        for (key, budget) in before.cluster().budgets() {
            let of = serde_json::to_value(&**budget).unwrap_or_default();
            let (was, is) = (before.budget_status(key), after.budget_status(key));
            let (Some(was), Some(is)) = (was, is) else { continue };
            let spared = was.disruptions_allowed > 0
                && is.disruptions_allowed == was.disruptions_allowed - 1;
            if selects(of.pointer("/spec/selector"), &json) && !spared {
                let (was, is) = (was.disruptions_allowed, is.disruptions_allowed);
                let detail = format!("{pod} was taken, {key} allowed {was}, allows {is}");
                return Err(Violation { invariant: BUDGET, at: after.now(), detail });
            }
        }
        Ok(())
    }

    /// Whether the cluster has recovered, if nothing was done to it for long and no fault is left.
    ///
    /// # Errors
    /// The object that has not recovered.
    pub fn recovery(&mut self, simulator: &Simulator, nodes: &[Node]) -> Result<bool, Violation> {
        let at = simulator.now();
        if at < self.disturbed_at.saturating_add(RECOVERED_AFTER)
            || !self.drains.is_empty()
            || !nodes.iter().all(|node| is_without_fault(simulator, &node.metadata.name))
        {
            return Ok(false);
        }
        let broken = |(invariant, detail)| Violation { invariant, at, detail };
        self.recovered(simulator).map_err(broken)?;
        Ok(true)
    }

    fn recovered(&mut self, simulator: &Simulator) -> Checked {
        let cluster = simulator.cluster();
        for (node_name, node) in cluster.nodes() {
            let ready = has(node, "Ready", &ConditionStatus::True);
            holds(ready && node.spec.taints.is_empty(), RECOVERY, || {
                format!("{node_name} is ready: {ready}, taints {:?}", node.spec.taints)
            })?;
        }
        for zone in simulator.zones() {
            let nodes = zone.ready + zone.not_ready;
            let normal = nodes == 0 || zone.state == Some(ZoneState::Normal);
            // 1.19 and 1.20 leave nodes waiting that are lost no more (`SetRemove`).
            let leaves = (19..=20).contains(&minor_of(simulator.config().release));
            holds(normal && (leaves || zone.queue.is_empty()), RECOVERY, || {
                let (name, state, waiting) = (zone.key.name(), zone.state, zone.queue.len());
                format!("zone {name} is {state:?}, {waiting} nodes wait in its queue")
            })?;
        }
        let state = self.reader.read(simulator);
        let mut waiting = 0;
        for (key, pod) in cluster.pods() {
            holds(!pod.is_terminating(), RECOVERY, || format!("{key} is terminating"))?;
            if has_ended(pod) {
                continue;
            }
            if pod.spec.node_name.is_empty() {
                waiting += 1;
                let world = world(&state, simulator);
                let json = serde_json::to_value(&**pod).unwrap_or_default();
                let fits = world.nodes.iter().find(|node| world.rejection(&json, node).is_none());
                holds(fits.is_none(), RECOVERY, || {
                    format!("{key} has no node and fits on {}", fits.map_or("", name))
                })?;
            } else {
                holds(is_ready(pod), RECOVERY, || {
                    format!("{key} on {} is not ready: {:?}", pod.spec.node_name, pod.status)
                })?;
            }
        }
        for (key, _) in cluster.workloads() {
            let Some(view) = simulator.workload_view(key) else { continue };
            if key.kind == WorkloadKind::Job || waiting > 0 {
                continue;
            }
            holds(view.ready == view.desired && view.current == view.desired, RECOVERY, || {
                format!("{key}: {} ready of {}", view.ready, view.desired)
            })?;
        }
        Ok(())
    }
}

/// Whether the controller of the release deletes pods from tainted nodes.
fn evicts_by_taints(config: &SimulatorConfig) -> bool {
    config.controller_manager_flags.get("enable-taint-manager").is_none_or(|it| it != "false")
}

/// A pod on a node with these `NoExecute` taints.
fn check_taints(
    seen: &mut Seen,
    pod: &Pod,
    taints: &[taintlab_core::api::Taint],
    now: Timestamp,
    waits: Duration,
) -> Checked {
    if pod.is_terminating() || taints.is_empty() {
        (seen.untolerated_since, seen.deadline) = (None, None);
        return Ok(());
    }
    let Some(seconds) = model::seconds_used(taints, &pod.spec.tolerations) else {
        let since = *seen.untolerated_since.get_or_insert(now);
        return holds(now <= since.saturating_add(waits), TAINTED, || {
            format!("not tolerated since {since}: {taints:?}")
        });
    };
    seen.untolerated_since = None;
    let Some(time) = model::tolerated_time(&seconds) else {
        seen.deadline = None;
        return Ok(());
    };
    let end = now.saturating_add(Duration::from_nanos(time));
    let deadline = *seen.deadline.get_or_insert(end);
    holds(now <= deadline.saturating_add(waits), TOLERATION, || {
        format!("was to go at {deadline}: {taints:?}")
    })
}

/// Whether a node is there, and nothing that a user or a fault did to it is left.
fn is_without_fault(simulator: &Simulator, node: &str) -> bool {
    let (Some(object), Some(view)) =
        (simulator.cluster().get_node(node), simulator.node_view(node))
    else {
        return false;
    };
    let bad = [
        ("Ready", ConditionStatus::False),
        ("MemoryPressure", ConditionStatus::True),
        ("DiskPressure", ConditionStatus::True),
    ];
    // The status that the kubelet posted last; a node that is Unknown although its kubelet posts is a
    // fault of the engine.
    let posts = simulator.node_as_served(node);
    view.kubelet_runs
        && view.power == NodePower::On
        && view.unreachable.is_none()
        && view.switches_at.is_none()
        && !object.spec.unschedulable
        && object.spec.taints.iter().all(|taint| taint.key != TAINT_KEY)
        && posts.is_some_and(|posts| !bad.iter().any(|(type_, status)| has(&posts, type_, status)))
}

/// The cluster as the scheduler sees it.
fn world(state: &State, simulator: &Simulator) -> World {
    let storage = simulator.cluster().volumes().map(|volumes| Storage {
        volumes: Reader::default().read(volumes.persistent_volumes()).to_vec(),
        claims: Reader::default().read(volumes.claims().map(|(_, claim)| claim)).to_vec(),
        classes: Reader::default().read(volumes.classes()).to_vec(),
    });
    World {
        minor: state.minor,
        nodes: state.nodes.to_vec(),
        pods: state.pods.to_vec(),
        taken_away: Vec::new(),
        storage,
        selectors: Vec::new(),
    }
}
