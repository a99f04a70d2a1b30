//! What the controllers of workloads and budgets must have brought about whenever nothing is left
//! to do at an instant: everything counted anew from plain lists, before a step and after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKind};
use taintlab_core::event::{Event, EventKind, ObjectReference, RecordedEvent};
use taintlab_core::kubelet::NodeShutdownReport;
use taintlab_core::simulator::Simulator;

use super::{
    Objects, Reader, has_condition, has_ended, is_terminating, label, list, minor_of, name,
    node_matches, number, selects, text, tolerates,
};

/// A cluster at an instant.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The minor of the release.
    pub minor: u8,
    /// Seconds of the wall clock, as [`seconds`] reads them.
    pub now: f64,
    /// All nodes.
    pub nodes: Objects,
    /// All pods.
    pub pods: Objects,
    /// All workloads.
    pub workloads: Objects,
    /// All PodDisruptionBudgets.
    pub budgets: Objects,
}

/// An Event of Kubernetes.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Which component says it.
    pub component: String,
    /// Why, in one word.
    pub reason: String,
    /// The message.
    pub message: String,
}

/// What was seen of the pods of Jobs: their UIDs by the UID of their Job.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    succeeded: BTreeMap<String, BTreeMap<String, Option<i64>>>,
    failed: BTreeMap<String, BTreeMap<String, Option<i64>>>,
    /// Those of which a pod was deleted, with these pods.
    disturbed: BTreeMap<String, BTreeMap<String, Option<i64>>>,
    /// When a pod of a Job last ended or was deleted.
    changed: BTreeMap<String, f64>,
    /// How often each rule had something to say.
    pub said: BTreeMap<&'static str, usize>,
}

/// Reads the states of a simulation one after the other.
#[derive(Clone, Debug, Default)]
pub struct StateReader {
    nodes: Reader<Node>,
    pods: Reader<Pod>,
    workloads: Reader<Workload>,
    budgets: Reader<PodDisruptionBudget>,
}

impl StateReader {
    /// The state now.
    ///
    /// # Panics
    /// An object cannot be written as JSON, which is an error of its type.
    pub fn read(&mut self, simulator: &Simulator) -> State {
        let cluster = simulator.cluster();
        let now = simulator.wall_clock(simulator.now()).to_string();
        let part = simulator.now().as_nanos() % 1_000_000_000;
        let mut workloads = self.workloads.read(cluster.workloads().map(|(_, it)| it));
        for (object, (key, _)) in workloads.0.iter_mut().zip(cluster.workloads()) {
            // The status of a DaemonSet is not in its object.
            if key.kind == WorkloadKind::DaemonSet {
                let view = simulator.workload_view(key).unwrap();
                Arc::make_mut(object)["status"] = json!({ "desiredNumberScheduled": view.desired,
                    "currentNumberScheduled": view.current });
            }
        }
        State {
            minor: minor_of(simulator.config().release),
            now: seconds(&now) + part as f64 / 1e9,
            nodes: self.nodes.read(cluster.nodes().map(|(_, it)| it)),
            pods: self.pods.read(cluster.pods().map(|(_, it)| it)),
            workloads,
            budgets: self.budgets.read(cluster.budgets().map(|(_, it)| it)),
        }
    }
}

/// The events of a step, as the model reads them.
#[must_use]
pub fn recorded(events: &[Event]) -> Vec<Recorded> {
    let ended = |pod: &PodKey| {
        Some(Recorded {
            component: "kubelet".to_owned(),
            reason: "PodEnded".to_owned(),
            message: pod.name().to_owned(),
        })
    };
    let events = events.iter().filter_map(|event| match &event.what {
        EventKind::EventRecorded(RecordedEvent {
            component: "kubelet",
            type_: "Warning",
            involved_object: ObjectReference::Pod { pod, .. },
            ..
        }) => ended(pod),
        EventKind::EventRecorded(it) => Some(Recorded {
            component: it.component.to_owned(),
            reason: it.reason.to_owned(),
            message: it.message.clone(),
        }),
        EventKind::NodeShutdown {
            report: NodeShutdownReport::PodEnded { pod } | NodeShutdownReport::Killing { pod, .. },
            ..
        } => ended(pod),
        _ => None,
    });
    events.collect()
}

/// Seconds since 1970 of a time such as `2026-01-01T00:00:10Z`.
#[must_use]
pub fn seconds(time: &str) -> f64 {
    let part = |from: usize, to: usize| {
        time.get(from..to).and_then(|text| text.parse::<i64>().ok()).unwrap_or(0)
    };
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = (part(0, 4), part(5, 7));
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + part(8, 10) - 719_469;
    (days * 86_400 + part(11, 13) * 3_600 + part(14, 16) * 60 + part(17, 19)) as f64
}

fn count<T>(all: impl Iterator<Item = T>) -> i64 {
    i64::try_from(all.count()).unwrap_or(i64::MAX)
}

/// A number, or a percentage of a total.
fn share(value: Option<&Value>, total: i64, up: bool) -> Option<i64> {
    match value? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => {
            let percent: i64 = text.strip_suffix('%')?.parse().ok()?;
            Some((percent * total + if up { 99 } else { 0 }) / 100)
        }
        _ => None,
    }
}

fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

fn kind(workload: &Value) -> &str {
    text(workload, "/kind")
}

fn is_owned_by(object: &Value, owner: &Value) -> bool {
    let mut owners = list(object, "/metadata/ownerReferences").iter();
    owners.any(|it| it.get("controller") == Some(&json!(true)) && text(it, "/uid") == uid(owner))
}

fn is_active(pod: &Value) -> bool {
    !is_terminating(pod) && !has_ended(pod)
}

fn is_ready(pod: &Value) -> bool {
    is_active(pod) && has_condition(pod, "Ready")
}

/// When the condition Ready last changed.
fn ready_since(pod: &Value) -> f64 {
    let mut conditions = list(pod, "/status/conditions").iter();
    let ready = conditions.find(|it| text(it, "/type") == "Ready");
    ready.map_or(0.0, |it| seconds(text(it, "/lastTransitionTime")))
}

/// The number at the end of the name of a StatefulSet's pod.
fn ordinal(pod: &Value) -> i64 {
    name(pod).rsplit('-').next().and_then(|text| text.parse().ok()).unwrap_or(-1)
}

/// The tolerations that the DaemonSet controller adds to its pods.
fn daemon_tolerations(pod: &mut Value) {
    let all = [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ];
    let mut tolerations = list(pod, "/spec/tolerations").to_vec();
    for (key, effect) in all {
        let key = format!("node.kubernetes.io/{key}");
        tolerations.push(json!({ "key": key, "operator": "Exists", "effect": effect }));
    }
    pod["spec"]["tolerations"] = tolerations.into();
}

/// Whether the template of a set has a label that its pod does not have.
fn is_of_older_template(set: &Value, pod: &Value) -> bool {
    let labels = set.pointer("/spec/template/metadata/labels").and_then(Value::as_object);
    labels.into_iter().flatten().any(|(key, value)| label(pod, key) != value.as_str())
}

/// The node that a daemon pod is on or meant for.
fn daemon_node(pod: &Value) -> String {
    let there = text(pod, "/spec/nodeName");
    let term = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution\
                /nodeSelectorTerms/0/matchFields/0/values/0";
    if there.is_empty() { text(pod, term) } else { there }.to_owned()
}

/// Whether a daemon pod should run on a node, and whether one that is there may stay.
fn daemon_wants(set: &Value, node: &Value) -> (bool, bool) {
    let mut pod = set.pointer("/spec/template").cloned().unwrap_or_default();
    daemon_tolerations(&mut pod);
    if !node_matches(&pod, node) {
        return (false, false);
    }
    let repels = |effects: &[&str]| {
        list(node, "/spec/taints").iter().any(|taint| {
            effects.contains(&text(taint, "/effect"))
                && !list(&pod, "/spec/tolerations").iter().any(|it| tolerates(it, taint))
        })
    };
    (!repels(&["NoSchedule", "NoExecute"]), !repels(&["NoExecute"]))
}

impl State {
    fn pods_of<'a>(&'a self, owner: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.pods.iter().filter(move |pod| is_owned_by(pod, owner))
    }

    fn workload(&self, uid_of: &str) -> Option<&Value> {
        self.workloads.iter().find(|workload| uid(workload) == uid_of)
    }

    fn pod(&self, uid_of: &str) -> Option<&Value> {
        self.pods.iter().find(|pod| uid(pod) == uid_of)
    }

    fn is_available(&self, workload: &Value, pod: &Value) -> bool {
        let least = number(workload, "/spec/minReadySeconds").unwrap_or(0) as f64;
        is_ready(pod) && (least == 0.0 || ready_since(pod) + least <= self.now)
    }

    /// The replicas of a ReplicaSet, StatefulSet or Deployment.
    fn replicas(workload: &Value) -> i64 {
        number(workload, "/spec/replicas").unwrap_or(1)
    }

    fn sets_of<'a>(&'a self, deployment: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.workloads.iter().filter(move |set| is_owned_by(set, deployment))
    }

    /// How many pods a Deployment may have too many and too few.
    /// The ReplicaSets of the same Deployment; none if there is no Deployment.
    fn relatives<'a>(&'a self, set: &'a Value) -> impl Iterator<Item = &'a Value> {
        let owner = |set: &Value| {
            let owners = list(set, "/metadata/ownerReferences");
            owners.first().map(|owner| text(owner, "/uid").to_owned())
        };
        self.workloads.iter().filter(move |it| {
            kind(it) == "ReplicaSet" && owner(it).is_some() && owner(it) == owner(set)
        })
    }

    fn surge_and_unavailable(deployment: &Value) -> (i64, i64) {
        let replicas = Self::replicas(deployment);
        if text(deployment, "/spec/strategy/type") == "Recreate" {
            return (0, replicas);
        }
        let quarter = json!("25%");
        let of = |field: &str, up: bool| {
            let value = deployment.pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
            share(Some(value.unwrap_or(&quarter)), replicas, up).unwrap_or(0)
        };
        let (surge, unavailable) = (of("maxSurge", true), of("maxUnavailable", false));
        // Both zero would mean that nothing ever moves.
        if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable.min(replicas)) }
    }
}

/// One step: what there was, what there is, and what was recorded in between.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Before.
    pub before: &'a State,
    /// After, when nothing is left to do at this instant.
    pub after: &'a State,
    /// What was recorded; `PodEnded` by a kubelet with the name of a pod that has failed since its
    /// node is shut down or has too little of something, or since its kubelet does not take it.
    pub events: &'a [Recorded],
}

impl Step<'_> {
    /// What is otherwise than it should be.
    #[must_use]
    pub fn differences(&self, memory: &mut Memory) -> Vec<String> {
        let mut wrong = Vec::new();
        for workload in &self.after.workloads {
            let mut found = Vec::new();
            match kind(workload) {
                "ReplicaSet" => self.replica_set(workload, &mut found, memory),
                "Deployment" => self.deployment(workload, &mut found, memory),
                "StatefulSet" => self.stateful_set(workload, &mut found, memory),
                "DaemonSet" => self.daemon_set(workload, &mut found, memory),
                _ => self.job(workload, &mut found, memory),
            }
            let named = |it: String| format!("{} {}: {it}", kind(workload), name(workload));
            wrong.extend(found.into_iter().map(named));
        }
        let gone = |job: &&Value| self.after.workload(uid(job)).is_none();
        let jobs = self.before.workloads.iter().filter(|it| kind(it) == "Job");
        for job in jobs.filter(gone) {
            let it = self.job_is_gone(job, memory);
            wrong.extend(it.map(|it| format!("Job {}: {it}", name(job))));
        }
        for budget in &self.after.budgets {
            if let Some(it) = self.budget(budget, memory) {
                wrong.push(format!("budget {}: {it}", name(budget)));
            }
        }
        wrong
    }

    /// The pods of a workload that its controller has deleted, as they were.
    fn deleted_by_controller<'a>(&'a self, owner: &'a Value) -> Vec<&'a Value> {
        let said = |pod: &Value| {
            self.events.iter().any(|event| {
                let words = event.message.split([' ', ':']);
                event.reason == "SuccessfulDelete"
                    && words.into_iter().any(|word| word == name(pod))
            })
        };
        // Its node was shut down, so that it was not active any more when it was deleted.
        let ended = |pod: &Value| {
            self.events.iter().any(|event| event.reason == "PodEnded" && event.message == name(pod))
        };
        let gone = |pod: &Value| self.after.pod(uid(pod)).is_none_or(is_terminating);
        let pods = self.before.pods_of(owner);
        pods.filter(|pod| is_active(pod) && gone(pod) && said(pod) && !ended(pod)).collect()
    }

    fn created<'a>(&'a self, owner: &'a Value) -> impl Iterator<Item = &'a Value> {
        let new = |pod: &&Value| self.before.pod(uid(pod)).is_none();
        self.after.pods_of(owner).filter(new)
    }

    // ---- ReplicaSets ----------------------------------------------------------------------

    fn replica_set(&self, set: &Value, wrong: &mut Vec<String>, memory: &mut Memory) {
        let active = count(self.after.pods_of(set).filter(|pod| is_active(pod)));
        if active != State::replicas(set) {
            wrong.push(format!("{active} pods, wanted {}", State::replicas(set)));
        }
        let ready = count(self.after.pods_of(set).filter(|pod| is_ready(pod)));
        let available =
            count(self.after.pods_of(set).filter(|pod| self.after.is_available(set, pod)));
        for (field, expected) in
            [("replicas", active), ("readyReplicas", ready), ("availableReplicas", available)]
        {
            let is = number(set, &format!("/status/{field}")).unwrap_or(0);
            if is != expected {
                wrong.push(format!("status.{field} {is}, there are {expected}"));
            }
        }
        let selector = set.pointer("/spec/selector");
        let leaving =
            |pod: &&Value| is_terminating(pod) && !has_ended(pod) && selects(selector, pod);
        let leaving = count(self.after.pods_of(set).filter(leaving));
        let expected = Some(leaving).filter(|_| self.after.minor >= 35);
        let is = number(set, "/status/terminatingReplicas");
        if is != expected {
            wrong.push(format!("status.terminatingReplicas {is:?}, there are {expected:?}"));
        }
        let deleted = self.deleted_by_controller(set);
        if deleted.is_empty() {
            return;
        }
        *memory.said.entry("ReplicaSet deletes pods").or_default() += 1;
        // Other ReplicaSets of its Deployment that delete or create at this instant change who is
        // together.
        let deletes = |it: &&Value| !self.deleted_by_controller(it).is_empty();
        let alone = count(self.before.relatives(set).filter(deletes)) <= 1
            && self.after.relatives(set).all(|it| self.created(it).next().is_none());
        let same = |pod: &Value| {
            self.after.pod(uid(pod)).is_some_and(|after| {
                has_condition(pod, "Ready") == has_condition(after, "Ready")
                    && text(pod, "/spec/nodeName") == text(after, "/spec/nodeName")
                    && text(pod, "/status/phase") == text(after, "/status/phase")
            })
        };
        let kept: Vec<&Value> = self
            .before
            .pods_of(set)
            .filter(|pod| is_active(pod) && same(pod))
            .filter(|pod| self.after.pod(uid(pod)).is_some_and(is_active))
            .collect();
        for gone in
            deleted.iter().filter(|gone| text(gone, "/spec/nodeName").is_empty() || same(gone))
        {
            for kept in &kept {
                let (kept_rank, gone_rank) =
                    (self.rank(set, kept, alone), self.rank(set, gone, alone));
                if kept_rank < gone_rank {
                    wrong.push(format!(
                        "deleted {} {gone_rank:?} before {} {kept_rank:?}",
                        name(gone),
                        name(kept)
                    ));
                }
            }
        }
    }

    /// How soon a pod goes when there are too many: less goes first.
    fn rank(&self, set: &Value, pod: &Value, with_others: bool) -> Vec<i64> {
        let phase = match text(pod, "/status/phase") {
            "" | "Pending" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let node = text(pod, "/spec/nodeName");
        let ready = has_condition(pod, "Ready");
        let mut rank = vec![i64::from(!node.is_empty()), phase, i64::from(ready)];
        if self.after.minor >= 22 {
            let cost = pod.pointer("/metadata/annotations");
            let cost = cost.and_then(|all| all.get("controller.kubernetes.io/pod-deletion-cost"));
            rank.push(cost.and_then(Value::as_str).and_then(|it| it.parse().ok()).unwrap_or(0));
        }
        if !with_others {
            return rank;
        }
        let together = self.before.relatives(set).map(|set| {
            let there = |pod: &&Value| is_active(pod) && text(pod, "/spec/nodeName") == node;
            count(self.before.pods_of(set).filter(there))
        });
        rank.push(-together.sum::<i64>());
        // The youngest first; since 1.22 by the order of magnitude of the age.
        let age = |since: f64| {
            let age = self.after.now - since;
            if self.after.minor >= 22 {
                if age < 1.0 { 0 } else { (age * 1e9).log2() as i64 }
            } else {
                age as i64
            }
        };
        if ready {
            rank.push(age(ready_since(pod)));
        }
        rank
    }

    // ---- Deployments ----------------------------------------------------------------------

    fn deployment(&self, it: &Value, wrong: &mut Vec<String>, memory: &mut Memory) {
        let (surge, unavailable) = State::surge_and_unavailable(it);
        let replicas = State::replicas(it);
        let pods = |state: &State, test: &dyn Fn(&Value) -> bool| {
            let sets: Vec<&Value> = state.sets_of(it).collect();
            count(
                state
                    .pods
                    .iter()
                    .filter(|pod| sets.iter().any(|set| is_owned_by(pod, set)) && test(pod)),
            )
        };
        let active = pods(self.after, &is_active);
        if active > replicas + surge {
            wrong.push(format!("{active} pods, at most {replicas} and {surge}"));
        }
        let available = pods(self.after, &|pod| self.after.is_available(it, pod));
        let ready = pods(self.after, &is_ready);
        for (field, expected) in
            [("replicas", active), ("readyReplicas", ready), ("availableReplicas", available)]
        {
            let is = number(it, &format!("/status/{field}")).unwrap_or(0);
            if is != expected {
                wrong.push(format!("status.{field} {is}, there are {expected}"));
            }
        }
        let mut leaving = self.after.sets_of(it).map(|set| {
            number(set, "/status/terminatingReplicas")
                .or_else(|| number(set, "/status/observedGeneration").is_none().then_some(0))
        });
        let sum = leaving.try_fold(0, |sum, count| Some(sum + count?));
        let expected = sum.filter(|_| self.after.minor >= 35);
        let is = number(it, "/status/terminatingReplicas");
        if is != expected {
            wrong.push(format!("status.terminatingReplicas {is:?}, there are {expected:?}"));
        }
        // Nothing is missing once everything is ready.
        if self.after.sets_of(it).map(State::replicas).sum::<i64>() < replicas {
            let starting = pods(self.after, &|pod| is_active(pod) && !is_ready(pod));
            if text(it, "/spec/strategy/type") != "Recreate" || starting == 0 && active == 0 {
                let terminating = pods(self.after, &is_terminating);
                if text(it, "/spec/strategy/type") != "Recreate" || terminating == 0 {
                    wrong.push(format!("{active} pods are fewer than {replicas}"));
                }
            }
        }
        let Some(before) = self.before.workload(uid(it)) else { return };
        // Which pod a ReplicaSet deletes depends on readiness, on how many are on its node, and
        // only then on since when: with `minReadySeconds` it may take an available one for another.
        let tells_apart = number(it, "/spec/minReadySeconds").unwrap_or(0) == 0;
        if State::replicas(before) != replicas || !tells_apart {
            return;
        }
        // The controller itself takes no pod that is needed.
        let taken: Vec<&Value> = self
            .before
            .sets_of(it)
            .flat_map(|set| self.deleted_by_controller(set))
            .filter(|pod| self.before.is_available(it, pod))
            .collect();
        let lost_otherwise = pods(self.before, &|pod| {
            let now = self.after.pod(uid(pod));
            self.before.is_available(it, pod)
                && !now.is_some_and(|now| self.after.is_available(it, now))
                && !taken.iter().any(|taken| uid(taken) == uid(pod))
        });
        if !taken.is_empty() && lost_otherwise == 0 {
            *memory.said.entry("Deployment takes available pods").or_default() += 1;
            if available < replicas - unavailable {
                wrong.push(format!(
                    "{available} available of {replicas} less {unavailable}, took {}",
                    taken.len()
                ));
            }
        }
    }

    // ---- StatefulSets ---------------------------------------------------------------------

    fn stateful_set(&self, set: &Value, wrong: &mut Vec<String>, memory: &mut Memory) {
        let replicas = State::replicas(set);
        let in_order = text(set, "/spec/podManagementPolicy") != "Parallel";
        let pods: BTreeMap<i64, &Value> =
            self.after.pods_of(set).map(|pod| (ordinal(pod), pod)).collect();
        if pods.len() != self.after.pods_of(set).count() {
            wrong.push("two pods of one ordinal".to_owned());
        }
        let healthy = |at: &i64| {
            pods.get(at).is_some_and(|pod| is_ready(pod) && text(pod, "/status/phase") == "Running")
        };
        // Each pod there should be is there, or waits for one before it.
        for at in 0..replicas {
            let waits = in_order && (0..at).any(|before| !healthy(&before));
            if !waits && !pods.contains_key(&at) {
                // What was broken in another place waits for nobody; what is out of range may.
                wrong.push(format!("no pod {at} of {replicas}"));
            }
        }
        for pod in self.created(set) {
            *memory.said.entry("StatefulSet creates a pod").or_default() += 1;
            let at = ordinal(pod);
            if at >= replicas || at < 0 {
                wrong.push(format!("created {at} of {replicas}"));
            }
            let old = self.before.pods_of(set).find(|old| name(old) == name(pod));
            if old.is_some_and(|old| self.after.pod(uid(old)).is_some()) {
                wrong.push(format!("created {at} while the old one is there"));
            }
            // In order: those before it were ready when it came.
            let unhealthy = |before: &i64| {
                let then = self.before.pods_of(set).find(|pod| ordinal(pod) == *before);
                !healthy(before) && !then.is_some_and(is_ready)
            };
            if in_order && let Some(first) = (0..at).find(unhealthy) {
                wrong.push(format!("created {at} before {first} is ready"));
            }
        }
        // Too many go from the end, in order one at a time.
        let surplus: Vec<i64> = pods.keys().copied().filter(|at| *at >= replicas).collect();
        let whole = (0..replicas).all(|at| healthy(&at));
        let stays = |at: &&i64| pods.get(at).is_some_and(|pod| !is_terminating(pod));
        if let Some(left) = surplus.iter().find(stays) {
            let ends = pods.values().any(|pod| is_terminating(pod));
            let ready = surplus.iter().all(healthy);
            if !in_order {
                wrong.push(format!("{left} stays of {replicas}"));
            } else if !ends && whole && ready {
                wrong.push(format!("{surplus:?} stay of {replicas}"));
            }
        }
        // Since 1.37 several may be away at a time. In parallel those go first that are away.
        let allowed = share(
            set.pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable"),
            replicas,
            false,
        );
        let allowed = if self.after.minor < 37 { 1 } else { allowed.unwrap_or(1).max(1) };
        let deleted = self.deleted_by_controller(set);
        let updated = deleted.iter().filter(|pod| ordinal(pod) < replicas && is_ready(pod));
        if count(updated) > allowed {
            wrong.push(format!("more than {allowed} of the pods that were ready are updated"));
        }
        for pod in deleted {
            *memory.said.entry("StatefulSet deletes a pod").or_default() += 1;
            let at = ordinal(pod);
            let above = |other: &&Value| ordinal(other) > at && ordinal(other) >= replicas;
            if in_order
                && at >= replicas
                && let Some(other) = self.before.pods_of(set).find(above)
                && self.after.pod(uid(other)).is_some()
            {
                wrong.push(format!("deleted {at} before {}", ordinal(other)));
            }
            // A rolling update goes from the end and waits for each pod; the partition stays.
            if at < replicas {
                let partition =
                    number(set, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or(0);
                if at < partition {
                    wrong.push(format!("deleted {at} below partition {partition}"));
                }
                let revision = text(set, "/status/updateRevision");
                let is_new = |pod: &Value| label(pod, "controller-revision-hash") == Some(revision);
                let late = |other: &&Value| {
                    // It may have gone and come back, ready, at this very instant.
                    let now = self.after.pods_of(set).find(|it| name(it) == name(other));
                    let is_late = if self.after.minor < 37 {
                        !now.is_some_and(|now| is_ready(now) && is_new(now))
                    } else {
                        let stays = now.is_some_and(|now| !is_terminating(now) && !is_new(now));
                        stays && (in_order || is_ready(pod))
                    };
                    ordinal(other) > at && ordinal(other) < replicas && is_late
                };
                if let Some(other) = self.before.pods_of(set).find(late) {
                    wrong.push(format!("updated {at} before {}", ordinal(other)));
                }
            }
        }
    }

    // ---- DaemonSets -----------------------------------------------------------------------

    fn daemon_set(&self, set: &Value, wrong: &mut Vec<String>, memory: &mut Memory) {
        let on = |state: &State, node: &str| -> Vec<Value> {
            state.pods_of(set).filter(|pod| daemon_node(pod) == node).cloned().collect()
        };
        let surge = set.pointer("/spec/updateStrategy/rollingUpdate/maxSurge");
        let surges = self.after.minor >= 22 && share(surge, 1, true).is_some_and(|most| most > 0);
        // A pod that is marked not ready at this instant counts as not available, if it goes after that.
        let was_available = |pod: &Value| {
            self.before.is_available(set, pod)
                && self.after.pod(uid(pod)).is_none_or(|it| has_condition(it, "Ready"))
        };
        let (mut desired, mut current, mut unavailable) = (0, 0, 0);
        for node in &self.after.nodes {
            let (should_run, may_stay) = daemon_wants(set, node);
            let pods = on(self.after, name(node));
            let active = count(pods.iter().filter(|pod| is_active(pod)));
            *memory.said.entry("DaemonSet at a node").or_default() += 1;
            // Since 1.33 nobody looks when a node becomes wanted that has a pod.
            let surging = surges && active == 0 && self.after.minor < 33;
            if should_run && (pods.is_empty() || surging) {
                wrong.push(format!("no pod on {}", name(node)));
            }
            if !may_stay && active > 0 {
                wrong.push(format!("a pod stays on {}", name(node)));
            }
            if active > 1 + i64::from(surges)
                || !surges
                    && pods.len() > 1
                    && active > 0
                    && pods.iter().any(|it| !has_ended(it) && is_terminating(it))
            {
                wrong.push(format!("{} pods on {}", pods.len(), name(node)));
            }
            desired += i64::from(should_run);
            current += i64::from(should_run && !pods.is_empty());
            let available = pods.iter().any(|pod| self.after.is_available(set, pod));
            // Since 1.21 `rollingUpdate` replaces an old pod that is not available at once, and does not
            // count its node (`allowedReplacementPods`).
            let was = on(self.before, name(node));
            let replaced = self.after.minor >= 21
                && was.iter().any(|it| !is_terminating(it) && is_of_older_template(set, it))
                && !was.iter().any(was_available);
            unavailable += i64::from(should_run && !available && !replaced);
        }
        for (field, expected) in
            [("desiredNumberScheduled", desired), ("currentNumberScheduled", current)]
        {
            let is = number(set, &format!("/status/{field}")).unwrap_or(0);
            // Since 1.33 a taint that lets pods be is not looked at.
            let overlooked = self.after.minor >= 33 && is > expected;
            if is != expected && !overlooked {
                wrong.push(format!("status.{field} {is}, there are {expected}"));
            }
        }
        for pod in self.created(set) {
            let node = daemon_node(pod);
            let node = self.after.nodes.iter().find(|it| name(it) == node);
            // Who surges did not ask before 1.29.
            let asks = !surges || self.after.minor >= 29;
            if asks && !node.is_some_and(|node| daemon_wants(set, node).0) {
                wrong.push(format!("created {} for {}", name(pod), daemon_node(pod)));
            }
        }
        // Beside pods that are available no more are created than may be.
        let beside = count(self.created(set).filter(|pod| {
            let others = on(self.after, &daemon_node(pod));
            others.iter().any(|other| {
                uid(other) != uid(pod) && is_active(other) && self.after.is_available(set, other)
            })
        }));
        if beside > 0 {
            *memory.said.entry("DaemonSet surges").or_default() += 1;
            let most = if surges { share(surge, desired, true).unwrap_or(0) } else { 0 };
            if beside > most {
                wrong.push(format!("{beside} created beside others, at most {most}"));
            }
        }
        // A rolling update makes no more nodes go without than it may.
        let taken = self.deleted_by_controller(set).into_iter().filter(|pod| {
            let node = daemon_node(pod);
            let node = self.after.nodes.iter().find(|it| name(it) == node);
            was_available(pod) && node.is_some_and(|node| daemon_wants(set, node).1)
        });
        let taken: Vec<&Value> = taken.collect();
        if surges {
            for pod in taken {
                let node = daemon_node(pod);
                let wanted = self.after.nodes.iter().find(|it| name(it) == node);
                let stays = |it: &Value| is_active(it) && self.after.is_available(set, it);
                if wanted.is_some_and(|node| daemon_wants(set, node).0)
                    && !on(self.after, &node).iter().any(stays)
                {
                    wrong.push(format!("{} is deleted before another is there", name(pod)));
                }
            }
        } else if !taken.is_empty() {
            *memory.said.entry("DaemonSet updates a pod").or_default() += 1;
            let value = set.pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable");
            let most = share(value, desired, true).unwrap_or(1);
            if unavailable > most {
                wrong.push(format!("{unavailable} unavailable, at most {most}"));
            }
        }
    }

    // ---- Jobs -----------------------------------------------------------------------------

    fn job(&self, job: &Value, wrong: &mut Vec<String>, memory: &mut Memory) {
        let index = |pod: &Value| {
            let annotations = pod.pointer("/metadata/annotations");
            let index = annotations
                .and_then(|all| all.get("batch.kubernetes.io/job-completion-index"))
                .and_then(Value::as_str);
            index.and_then(|index| index.parse::<i64>().ok())
        };
        let id = uid(job).to_owned();
        let was = memory.succeeded.entry(id.clone()).or_default().clone();
        for pod in self.after.pods_of(job) {
            match text(pod, "/status/phase") {
                "Succeeded" => {
                    let all = memory.succeeded.entry(id.clone()).or_default();
                    all.insert(uid(pod).to_owned(), index(pod));
                }
                "Failed" => {
                    let all = memory.failed.entry(id.clone()).or_default();
                    all.insert(uid(pod).to_owned(), index(pod));
                }
                _ => {}
            }
        }
        let finished = has_condition(job, "Complete") || has_condition(job, "Failed");
        // Since 1.31 it is about to end until its last pod is gone.
        let ends = finished
            || has_condition(job, "FailureTarget")
            || has_condition(job, "SuccessCriteriaMet");
        let over_before =
            |job: &Value| has_condition(job, "Complete") || has_condition(job, "Failed");
        let was_over = self.before.workload(uid(job)).is_none_or(over_before);
        let leaving = |pod: &Value| is_terminating(pod) && !has_ended(pod);
        if self.after.minor >= 31
            && finished
            && !was_over
            && self.before.pods_of(job).any(leaving)
            && self.after.pods_of(job).any(leaving)
        {
            wrong.push("it is over while pods are terminating".into());
        }
        let vanished = |pod: &&Value| self.after.pod(uid(pod)).is_none_or(is_terminating);
        for pod in self.before.pods_of(job).filter(vanished) {
            let all = memory.disturbed.entry(id.clone()).or_default();
            all.insert(uid(pod).to_owned(), index(pod));
        }
        let life = |pod: &Value| (text(pod, "/status/phase").to_owned(), is_terminating(pod));
        let differs = |pod: &&Value| self.after.pod(uid(pod)).map(life) != Some(life(pod));
        if self.before.pods_of(job).any(|pod| differs(&pod)) {
            memory.changed.insert(id.clone(), self.after.now);
        }
        // Since 1.24 the controller looks at a Job 1 s after its pods have changed.
        let since = memory.changed.get(&id).map_or(f64::INFINITY, |at| self.after.now - at);
        if self.after.minor >= 24 && since < 1.0 {
            return;
        }
        let succeeded = memory.succeeded[&id].clone();
        let failures = memory.failed.get(&id).cloned().unwrap_or_default();
        let failed = failures.len() as i64;
        let parallelism = number(job, "/spec/parallelism").unwrap_or(1);
        let completions = number(job, "/spec/completions").unwrap_or(1);
        let indexed = text(job, "/spec/completionMode") == "Indexed" && self.after.minor >= 22;
        let active: Vec<&Value> = self.after.pods_of(job).filter(|pod| is_active(pod)).collect();
        let running = active.len() as i64;
        *memory.said.entry("Job").or_default() += 1;
        if running > parallelism {
            wrong.push(format!("{running} run, at most {parallelism}"));
        }
        let deleted = memory.disturbed.get(&id).cloned();
        let disturbed = deleted.is_some();
        let done = if indexed {
            let numbers = succeeded.values().flatten().collect::<BTreeSet<_>>();
            numbers.len() as i64
        } else {
            succeeded.len() as i64
        };
        // The gate `JobTrackingWithFinalizers` was off again in 1.24.
        let tracked = self.after.minor == 23 || self.after.minor >= 25;
        if tracked || !disturbed {
            if done >= completions && !ends {
                wrong.push(format!("{done} of {completions} done and not complete"));
            }
            if done < completions && has_condition(job, "Complete") {
                wrong.push(format!("complete with {done} of {completions}"));
            }
            if running > 0 && running + done > completions && (self.after.minor >= 21) {
                wrong.push(format!("{running} run, {done} of {completions} done"));
            }
        }
        if finished && running > 0 {
            wrong.push(format!("{running} run although it is over"));
        }
        let per_index = number(job, "/spec/backoffLimitPerIndex");
        let limit = number(job, "/spec/backoffLimit").unwrap_or(6);
        let limit = if per_index.is_some() { i64::MAX } else { limit };
        if self.after.minor >= 28 && failed > limit && !ends {
            wrong.push(format!("{failed} failed, at most {limit}, and it goes on"));
        }
        let why = list(job, "/status/conditions").iter().find(|it| text(it, "/type") == "Failed");
        let why = why.map(|it| text(it, "/reason")).unwrap_or_default();
        let limited = has_condition(job, "Failed") && why == "BackoffLimitExceeded";
        if limited && failed <= limit && !disturbed && self.after.minor >= 20 {
            wrong.push(format!("failed with {failed} failures, {limit} allowed"));
        }
        self.job_deadline(job, ends, why, wrong, memory);
        // A pod that is deleted before it has succeeded counts as one that has failed.
        let mut failures = failures;
        failures.extend(deleted.unwrap_or_default());
        failures.retain(|pod, _| !succeeded.contains_key(pod));
        let failures_of = |it: i64| count(failures.values().filter(|of| **of == Some(it)));
        let is_over = |it: &i64| per_index.is_some_and(|limit| failures_of(*it) > limit);
        if per_index.is_some() {
            let over: BTreeSet<i64> = (0..completions).filter(is_over).collect();
            let is_done = |it: &i64| succeeded.values().any(|done| *done == Some(*it));
            let most = number(job, "/spec/maxFailedIndexes").unwrap_or(i64::MAX);
            let is_too_many = over.len() as i64 > most
                || !over.is_empty()
                    && (0..completions).all(|it| over.contains(&it) || is_done(&it));
            *memory.said.entry("Job, failures of each index").or_default() += over.len();
            let fails = has_condition(job, "Failed") || has_condition(job, "FailureTarget");
            if is_too_many != fails {
                wrong.push(format!("failed indexes {over:?}, failed: {fails}"));
            }
            for pod in self.created(job) {
                if index(pod).is_some_and(|it| over.contains(&it)) {
                    wrong.push(format!("{} is made again", name(pod)));
                }
            }
        }
        let quiet = failed == 0 && !disturbed && !ends;
        let wanted = parallelism.min(completions - done);
        if quiet && running != wanted {
            wrong.push(format!("{running} run, wanted {wanted}"));
        }
        if indexed {
            let numbers: Vec<Option<i64>> = active.iter().map(|pod| index(pod)).collect();
            let different: BTreeSet<_> = numbers.iter().collect();
            if different.len() != numbers.len() || numbers.contains(&None) {
                wrong.push(format!("numbers {numbers:?}"));
            }
            if let Some(again) =
                numbers.iter().find(|it| succeeded.values().any(|done| done == *it))
            {
                wrong.push(format!("number {again:?} is done already"));
            }
            // The lowest numbers that nobody does.
            for pod in self.created(job) {
                let taken = |number: i64| {
                    // One that has failed is not tried again, or waits by itself.
                    if per_index.is_some() && failures_of(number) > 0 {
                        return true;
                    }
                    let number = Some(number);
                    was.values().any(|done| *done == number)
                        || self.after.pods_of(job).any(|it| index(it) == number)
                };
                let its = index(pod).unwrap_or(-1);
                if let Some(skipped) = (0..its).find(|number| !taken(*number)) {
                    wrong.push(format!("created {its}, skipped {skipped}"));
                }
            }
        }
    }

    /// A Job ends when its time is over, and goes when its time to live is.
    fn job_deadline(
        &self,
        job: &Value,
        finished: bool,
        why: &str,
        wrong: &mut Vec<String>,
        memory: &mut Memory,
    ) {
        let started = text(job, "/status/startTime");
        if let Some(deadline) = number(job, "/spec/activeDeadlineSeconds")
            && !started.is_empty()
        {
            // The start is a whole second.
            let active = self.after.now - seconds(started);
            let over = active >= deadline as f64;
            if active >= deadline as f64 + 1.0 && !finished {
                wrong.push(format!("active for {active} s of {deadline} s"));
            }
            if why == "DeadlineExceeded" {
                *memory.said.entry("Job past its deadline").or_default() += 1;
                if !over {
                    wrong.push(format!("its deadline of {deadline} s is over after {active} s"));
                }
            }
        }
        if self.expires(job).is_some_and(|at| at <= self.after.now) {
            wrong.push("its time to live is over".into());
        }
    }

    /// When a Job goes by itself, if it does.
    fn expires(&self, job: &Value) -> Option<f64> {
        let live = number(job, "/spec/ttlSecondsAfterFinished")?;
        let mut conditions = list(job, "/status/conditions").iter();
        let ended = conditions.find(|it| ["Complete", "Failed"].contains(&text(it, "/type")))?;
        let ended = seconds(text(ended, "/lastTransitionTime"));
        (self.after.minor >= 21).then_some(ended + live as f64)
    }

    /// A Job that is gone is one whose time to live is over: nobody deletes one.
    fn job_is_gone(&self, job: &Value, memory: &mut Memory) -> Option<String> {
        *memory.said.entry("Job past its time to live").or_default() += 1;
        // It may end and go at one instant.
        let at_once = number(job, "/spec/ttlSecondsAfterFinished") == Some(0);
        let expired = self.expires(job).is_some_and(|at| at <= self.after.now);
        (!expired && !at_once).then(|| "it is gone".to_owned())
    }

    // ---- budgets --------------------------------------------------------------------------

    fn budget(&self, budget: &Value, memory: &mut Memory) -> Option<String> {
        let after = self.after;
        let selector = budget.pointer("/spec/selector");
        let pods: Vec<&Value> = after.pods.iter().filter(|pod| selects(selector, pod)).collect();
        let healthy =
            count(pods.iter().filter(|pod| !is_terminating(pod) && has_condition(pod, "Ready")));
        // Who is evicted and not yet terminating.
        let disrupted = budget.pointer("/status/disruptedPods").and_then(Value::as_object);
        let pending = pods.iter().filter(|pod| {
            !is_terminating(pod)
                && has_condition(pod, "Ready")
                && disrupted.is_some_and(|all| all.contains_key(name(pod)))
        });
        let healthy = healthy - count(pending);
        let scale = || -> Option<i64> {
            let mut scales: BTreeMap<String, i64> = BTreeMap::new();
            for pod in &pods {
                let owner = after.workloads.iter().find(|it| is_owned_by(pod, it));
                let Some(owner) = owner else {
                    if self.after.minor >= 22 { continue } else { return None }
                };
                let above = after.workloads.iter().find(|it| is_owned_by(owner, it));
                let top = above.unwrap_or(owner);
                if matches!(kind(top), "Job" | "DaemonSet") {
                    return None;
                }
                scales.insert(uid(top).to_owned(), State::replicas(top));
            }
            Some(scales.values().sum())
        };
        let all = count(pods.iter());
        let (expected, desired) = if let Some(value) = budget.pointer("/spec/maxUnavailable") {
            let Some(scale) = scale() else { return allowed_is(budget, 0) };
            (scale, (scale - share(Some(value), scale, true)?).max(0))
        } else {
            let value = budget.pointer("/spec/minAvailable")?;
            if value.is_string() {
                let Some(scale) = scale() else { return allowed_is(budget, 0) };
                (scale, share(Some(value), scale, true)?)
            } else {
                (all, value.as_i64()?)
            }
        };
        *memory.said.entry("budget").or_default() += 1;
        let allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
        for (field, expected) in [
            ("expectedPods", expected),
            ("currentHealthy", healthy),
            ("desiredHealthy", desired),
            ("disruptionsAllowed", allowed),
        ] {
            let is = number(budget, &format!("/status/{field}")).unwrap_or(0);
            if is != expected {
                return Some(format!("status.{field} {is}, should be {expected}"));
            }
        }
        None
    }
}

fn allowed_is(budget: &Value, expected: i64) -> Option<String> {
    let is = number(budget, "/status/disruptionsAllowed").unwrap_or(0);
    (is != expected).then(|| format!("allows {is}, should allow {expected}"))
}
