//! A second, slow taint-eviction controller with its cluster, to compare the engine with.
//!
//! Written from the rules alone (`docs/behaviours.md`): plain lists, linear search, no code of the
//! engine but its API types. It is meant to be obviously right. Times are nanoseconds.
//!
//! It differs from the engine where it may: it never computes a deadline twice, keeps no index, and
//! has all timers in one list.

use taintlab_core::api::{
    ConditionStatus, Node, Pod, PodCondition, PodPhase, Taint, TaintEffect, Toleration,
    TolerationOperator,
};
use taintlab_core::command::{ApiErrorKind, Command, PodWrite};

const SECOND: u64 = 1_000_000_000;
const PAUSE: u64 = 10_000_000;
const END_OF_TIME: u64 = i64::MAX as u64;

/// What the releases differ in.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// A pod that now tolerates everything forever has its timer cancelled (since 1.20).
    pub forever_cancels: bool,
    /// An immediate deletion is a timer of zero length (to 1.29).
    pub immediate_is_timer: bool,
    /// A success leaves a nil entry (to 1.32).
    pub tombstones: bool,
    /// The status is patched before the delete (since 1.26).
    pub condition: bool,
    /// The API server takes everything and grants every pod its own grace period.
    pub stand_in: bool,
}

/// An entry of the timed worker queue: `namespace/name`, and either nil or a worker.
#[derive(Clone, Debug)]
struct Entry {
    pod: String,
    worker: Option<Worker>,
}

#[derive(Clone, Debug)]
struct Worker {
    created_at: u64,
    fire_at: u64,
    timer: u64,
}

#[derive(Clone, Debug)]
struct Timer {
    at: u64,
    number: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Evict { pod: String },
    RetryDelete { pod: String, failures: u32 },
    GracePeriodOver { pod: String, uid: String },
}

struct Fault {
    pod: String,
    verb: PodWrite,
    times: u32,
    error: ApiErrorKind,
}

/// The model: a cluster, its API server, and the controller.
pub struct Model {
    behaviour: Behaviour,
    now: u64,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    faults: Vec<Fault>,
    timers: Vec<Timer>,
    timers_made: u64,
    tainted_nodes: Vec<(String, Vec<Taint>)>,
    entries: Vec<Entry>,
    node_items: Vec<String>,
    pod_items: Vec<(String, String)>,
    deletions_to_start: Vec<String>,
    /// What happened: time, pod, words.
    pub log: Vec<(u64, String, String)>,
}

/// Why a command is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused;

impl Model {
    /// A cluster and a controller that has just started.
    #[must_use]
    pub fn new(behaviour: Behaviour, nodes: &[Node], pods: &[Pod]) -> Self {
        let mut model = Self {
            behaviour,
            now: 0,
            nodes: nodes.to_vec(),
            pods: pods.to_vec(),
            faults: Vec::new(),
            timers: Vec::new(),
            timers_made: 0,
            tainted_nodes: Vec::new(),
            entries: Vec::new(),
            node_items: Vec::new(),
            pod_items: Vec::new(),
            deletions_to_start: Vec::new(),
            log: Vec::new(),
        };
        model.see_everything_as_new();
        model
    }

    // ---- time -----------------------------------------------------------------------------

    /// When something happens next: now if there is work, else with the next timer.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        if !self.node_items.is_empty() || !self.pod_items.is_empty() {
            return Some(self.now);
        }
        self.timers.iter().map(|timer| timer.at).min()
    }

    /// Lets time pass until `now`: due timers one by one, each followed by all that comes of it.
    pub fn advance(&mut self, now: u64) {
        self.drain();
        while let Some(at) = self.timers.iter().map(|timer| timer.at).min()
            && at <= now
        {
            self.now = at;
            self.fire_next();
            self.drain();
        }
        self.now = now;
    }

    /// Deletions that begin, timers of this instant, nodes, pods; over and over.
    fn drain(&mut self) {
        loop {
            if !self.deletions_to_start.is_empty() {
                let pod = self.deletions_to_start.remove(0);
                self.delete(&pod);
            } else if self.timers.iter().any(|timer| timer.at <= self.now) {
                self.fire_next();
            } else if !self.node_items.is_empty() {
                let node = self.node_items.remove(0);
                self.look_at_node(&node);
            } else if !self.pod_items.is_empty() {
                let (pod, node) = self.pod_items.remove(0);
                self.look_at_pod(&pod, &node);
            } else {
                return;
            }
        }
    }

    fn fire_next(&mut self) {
        let first = self.timers.iter().map(|timer| (timer.at, timer.number)).min();
        let Some(index) = self.timers.iter().position(|t| Some((t.at, t.number)) == first) else {
            return;
        };
        match self.timers.remove(index).what {
            What::Evict { pod } => self.delete(&pod),
            What::RetryDelete { pod, failures } if failures < 5 => self.attempt(&pod, failures),
            What::RetryDelete { pod, .. } => self.entries.retain(|entry| entry.pod != pod),
            What::GracePeriodOver { pod, uid } => {
                if self.pod(&pod).is_some_and(|pod| pod.metadata.uid == uid) {
                    self.remove_pod(&pod);
                }
            }
        }
    }

    fn start_timer(&mut self, at: u64, what: What) -> u64 {
        self.timers_made += 1;
        self.timers.push(Timer { at, number: self.timers_made, what });
        self.timers_made
    }

    // ---- the controller -------------------------------------------------------------------

    fn look_at_node(&mut self, name: &str) {
        self.tainted_nodes.retain(|(node, _)| node != name);
        let Some(node) = self.nodes.iter().find(|node| node.metadata.name == name) else { return };
        let taints = no_execute(node);
        let mut pods: Vec<String> =
            self.pods.iter().filter(|pod| pod.spec.node_name == name).map(key).collect();
        pods.sort();
        if taints.is_empty() {
            pods.iter().for_each(|pod| self.cancel(pod));
            return;
        }
        self.tainted_nodes.push((name.to_owned(), taints.clone()));
        for pod in pods {
            self.decide(&pod, &taints);
        }
    }

    fn look_at_pod(&mut self, pod: &str, node: &str) {
        let Some(found) = self.pod(pod) else { return self.cancel(pod) };
        if found.spec.node_name != node || node.is_empty() {
            return;
        }
        let known = self.tainted_nodes.iter().find(|(name, _)| name == node);
        if let Some((_, taints)) = known.cloned() {
            self.decide(pod, &taints);
        }
    }

    fn decide(&mut self, pod: &str, taints: &[Taint]) {
        let Some(tolerations) = self.pod(pod).map(|pod| pod.spec.tolerations.clone()) else {
            return;
        };
        let Some(seconds) = seconds_used(taints, &tolerations) else {
            self.cancel(pod);
            let entry = if self.behaviour.immediate_is_timer {
                let timer = self.start_timer(self.now, What::Evict { pod: pod.to_owned() });
                Some(Worker { created_at: self.now, fire_at: self.now, timer })
            } else {
                self.deletions_to_start.push(pod.to_owned());
                None
            };
            self.entries.push(Entry { pod: pod.to_owned(), worker: entry });
            return;
        };
        let Some(time) = tolerated_time(&seconds) else {
            if self.behaviour.forever_cancels {
                self.cancel(pod);
            }
            return;
        };
        // A timer is kept whatever the new time is; a nil entry refuses new work.
        if self.entries.iter().any(|entry| entry.pod == pod) {
            return;
        }
        let worker = if time == 0 {
            self.deletions_to_start.push(pod.to_owned());
            None
        } else {
            let fire_at = self.now.saturating_add(time).min(END_OF_TIME);
            let timer = self.start_timer(fire_at, What::Evict { pod: pod.to_owned() });
            Some(Worker { created_at: self.now, fire_at, timer })
        };
        self.entries.push(Entry { pod: pod.to_owned(), worker });
    }

    /// Forgets a pod; says so if it was pending.
    fn cancel(&mut self, pod: &str) {
        let Some(index) = self.entries.iter().position(|entry| entry.pod == pod) else { return };
        if let Some(worker) = self.entries.remove(index).worker {
            self.timers.retain(|timer| timer.number != worker.timer);
            self.say(pod, "cancelling".into());
        }
    }

    fn delete(&mut self, pod: &str) {
        self.say(pod, "marking".into());
        self.attempt(pod, 0);
    }

    fn attempt(&mut self, pod: &str, failures: u32) {
        if self.request_deletion(pod) {
            self.entries.retain(|entry| entry.pod != pod);
            if self.behaviour.tombstones {
                self.entries.push(Entry { pod: pod.to_owned(), worker: None });
            }
        } else {
            let retry = What::RetryDelete { pod: pod.to_owned(), failures: failures + 1 };
            self.start_timer(self.now.saturating_add(PAUSE).min(END_OF_TIME), retry);
        }
    }

    /// One attempt; whether it succeeded.
    fn request_deletion(&mut self, pod: &str) -> bool {
        if self.behaviour.condition {
            let Some(found) = self.pod(pod) else {
                self.say(pod, "GET: not found".into());
                return false;
            };
            if !found.status.conditions.iter().any(|c| c.type_ == "DisruptionTarget") {
                let refused = self.fault(pod, PodWrite::PatchStatus);
                self.say(pod, format!("PATCH {}", answer(refused, false)));
                if refused.is_some() {
                    return false;
                }
                if let Some(found) = self.pod_mut(pod) {
                    found.status.conditions.push(PodCondition {
                        type_: "DisruptionTarget".into(),
                        status: ConditionStatus::True,
                        ..PodCondition::default()
                    });
                }
            }
        }
        let Some(found) = self.pod(pod) else {
            self.say(pod, "DELETE: not found".into());
            return false;
        };
        let (uid, terminating) = (found.metadata.uid.clone(), terminating(found));
        let refused = self.fault(pod, PodWrite::Delete);
        self.say(pod, format!("DELETE {uid} {}", answer(refused, terminating)));
        if refused.is_none() && !terminating {
            self.accept_deletion(pod);
        }
        refused.is_none()
    }

    // ---- the API server -------------------------------------------------------------------

    fn accept_deletion(&mut self, pod: &str) {
        let stand_in = self.behaviour.stand_in;
        let Some(found) = self.pod_mut(pod) else { return };
        let ended = matches!(found.status.phase, PodPhase::Succeeded | PodPhase::Failed);
        let at_once = !stand_in && (found.spec.node_name.is_empty() || ended);
        let grace = match found.spec.termination_grace_period_seconds {
            _ if at_once => 0,
            None => 30,
            Some(seconds) if seconds < 0 => 1,
            Some(seconds) => seconds.unsigned_abs(),
        };
        if grace == 0 {
            return self.remove_pod(pod);
        }
        // Any mark will do: the model never reads the time.
        found.metadata.deletion_grace_period_seconds = i64::try_from(grace).ok();
        let (pod, uid) = (pod.to_owned(), found.metadata.uid.clone());
        let end = self.now.saturating_add(grace.saturating_mul(SECOND)).min(END_OF_TIME);
        self.start_timer(end, What::GracePeriodOver { pod, uid });
    }

    fn remove_pod(&mut self, pod: &str) {
        let Some(index) = self.pods.iter().position(|found| key(found) == pod) else { return };
        let gone = self.pods.remove(index);
        self.faults.retain(|fault| fault.pod != pod);
        self.forget_grace_period(&gone);
        self.say(pod, format!("gone {}", gone.metadata.uid));
        self.enqueue_pod(pod, &gone.spec.node_name);
    }

    /// The end of a grace period concerns one pod, not another one of its name.
    fn forget_grace_period(&mut self, gone: &Pod) {
        self.timers.retain(|timer| {
            !matches!(&timer.what, What::GracePeriodOver { uid, .. } if *uid == gone.metadata.uid)
        });
    }

    fn fault(&mut self, pod: &str, verb: PodWrite) -> Option<ApiErrorKind> {
        let index = self.faults.iter().position(|fault| fault.pod == pod && fault.verb == verb)?;
        let error = self.faults[index].error;
        self.faults[index].times -= 1;
        self.faults.retain(|fault| fault.times > 0);
        Some(error)
    }

    /// Carries out a command at the present time.
    ///
    /// # Errors
    /// What it is about is not there, or there already.
    pub fn command(&mut self, command: &Command) -> Result<(), Refused> {
        match command {
            Command::CreateNode(node) => {
                if self.nodes.iter().any(|n| n.metadata.name == node.metadata.name) {
                    return Err(Refused);
                }
                self.nodes.push(node.clone());
                self.enqueue_node(&node.metadata.name);
            }
            Command::DeleteNode { node } => {
                let index = self.node_index(node.as_str())?;
                self.nodes.remove(index);
                self.enqueue_node(node.as_str());
            }
            Command::UpdateNode(node) => {
                let taints = node.spec.taints.clone();
                self.change_taints(&node.metadata.name, |_| Some(taints))?;
            }
            Command::SetTaints { node, taints } => {
                self.change_taints(node.as_str(), |_| Some(taints.clone()))?;
            }
            Command::Taint { node, taint } => self.change_taints(node.as_str(), |old| {
                let others =
                    old.iter().filter(|o| (&o.key, &o.effect) != (&taint.key, &taint.effect));
                Some([taint.clone()].into_iter().chain(others.cloned()).collect())
            })?,
            Command::Untaint { node, key, effect } => self.change_taints(node.as_str(), |old| {
                let stays =
                    |o: &Taint| o.key != *key || (!effect.is_empty() && o.effect != *effect);
                let rest: Vec<Taint> = old.iter().filter(|taint| stays(taint)).cloned().collect();
                (rest.len() < old.len()).then_some(rest)
            })?,
            Command::SetUnschedulable { node, .. } | Command::SetNodeLabels { node, .. } => {
                self.node_index(node.as_str())?;
            }
            Command::CreatePod(pod) => {
                if self.pod(&key(pod)).is_some() {
                    return Err(Refused);
                }
                self.pods.push(pod.clone());
                self.enqueue_pod(&key(pod), &pod.spec.node_name);
            }
            Command::UpdatePod(pod) => self.update_pod(pod)?,
            Command::SetTolerations { pod, tolerations } => {
                let mut new = self.pod(pod.as_str()).ok_or(Refused)?.clone();
                new.spec.tolerations = tolerations.clone().into();
                self.update_pod(&new)?;
            }
            Command::BindPod { pod, node } => {
                let mut new = self.pod(pod.as_str()).ok_or(Refused)?.clone();
                if !new.spec.node_name.is_empty() {
                    return Err(Refused);
                }
                new.spec.node_name = node.as_str().into();
                self.update_pod(&new)?;
            }
            Command::SetPodLabels { pod, .. } => {
                self.pod(pod.as_str()).ok_or(Refused)?;
            }
            Command::DeletePod { pod, force, .. } => {
                let found = self.pod(pod.as_str()).ok_or(Refused)?;
                let (terminating, uid) = (terminating(found), found.metadata.uid.clone());
                let refused = if self.behaviour.stand_in {
                    None
                } else {
                    self.fault(pod.as_str(), PodWrite::Delete)
                };
                if refused.is_some() {
                    self.say(
                        pod.as_str(),
                        format!("DELETE {uid} {}", answer(refused, terminating)),
                    );
                    return Err(Refused);
                }
                if *force {
                    self.remove_pod(pod.as_str());
                } else if !terminating {
                    self.accept_deletion(pod.as_str());
                }
            }
            Command::FailPodWrites { pod, verb, times, error } => {
                self.pod(pod.as_str()).ok_or(Refused)?;
                self.faults.retain(|f| f.pod != pod.as_str() || f.verb != *verb);
                let pod = pod.to_string();
                let fault = Fault { pod, verb: *verb, times: *times, error: *error };
                self.faults.extend((*times > 0).then_some(fault));
            }
            Command::RestartTaintEvictionController => {
                self.tainted_nodes.clear();
                self.entries.clear();
                self.node_items.clear();
                self.pod_items.clear();
                self.timers.retain(|t| matches!(t.what, What::GracePeriodOver { .. }));
                self.see_everything_as_new();
            }
            // This model has no kubelets.
            _ => return Err(Refused),
        }
        Ok(())
    }

    fn change_taints(
        &mut self,
        node: &str,
        change: impl FnOnce(&[Taint]) -> Option<Vec<Taint>>,
    ) -> Result<(), Refused> {
        let index = self.node_index(node)?;
        let node = &mut self.nodes[index];
        let before = no_execute(node);
        node.spec.taints = change(&node.spec.taints).ok_or(Refused)?;
        if no_execute(node) != before {
            let name = node.metadata.name.clone();
            self.enqueue_node(&name);
        }
        Ok(())
    }

    fn update_pod(&mut self, new: &Pod) -> Result<(), Refused> {
        let old = self.pod(&key(new)).ok_or(Refused)?.clone();
        let mut new = new.clone();
        if new.metadata.uid.is_empty() {
            new.metadata.uid.clone_from(&old.metadata.uid);
        }
        if new.metadata.uid == old.metadata.uid {
            // Nothing brings a deleted pod back.
            let grace = old.metadata.deletion_grace_period_seconds;
            new.metadata.deletion_grace_period_seconds = grace;
        } else {
            self.forget_grace_period(&old);
        }
        if let Some(stored) = self.pod_mut(&key(&new)) {
            *stored = new.clone();
        }
        let same = old.spec.tolerations == new.spec.tolerations
            && old.spec.node_name == new.spec.node_name;
        if !same {
            self.enqueue_pod(&key(&new), &new.spec.node_name);
        }
        Ok(())
    }

    fn see_everything_as_new(&mut self) {
        let mut nodes: Vec<String> = self.nodes.iter().map(|n| n.metadata.name.clone()).collect();
        nodes.sort();
        nodes.iter().for_each(|node| self.enqueue_node(node));
        let mut pods: Vec<(String, String)> =
            self.pods.iter().map(|pod| (key(pod), pod.spec.node_name.clone())).collect();
        pods.sort();
        pods.iter().for_each(|(pod, node)| self.enqueue_pod(pod, node));
    }

    fn enqueue_node(&mut self, node: &str) {
        if !self.node_items.iter().any(|item| item == node) {
            self.node_items.push(node.to_owned());
        }
    }

    fn enqueue_pod(&mut self, pod: &str, node: &str) {
        let item = (pod.to_owned(), node.to_owned());
        if !self.pod_items.contains(&item) {
            self.pod_items.push(item);
        }
    }

    fn node_index(&self, name: &str) -> Result<usize, Refused> {
        self.nodes.iter().position(|node| node.metadata.name == name).ok_or(Refused)
    }

    fn pod(&self, wanted: &str) -> Option<&Pod> {
        self.pods.iter().find(|pod| key(pod) == wanted)
    }

    fn pod_mut(&mut self, wanted: &str) -> Option<&mut Pod> {
        self.pods.iter_mut().find(|pod| key(pod) == wanted)
    }

    fn say(&mut self, pod: &str, words: String) {
        self.log.push((self.now, pod.to_owned(), words));
    }

    // ---- to compare -----------------------------------------------------------------------

    /// The state as text: pods, pending timers, nil entries, tainted nodes.
    #[must_use]
    pub fn state(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for pod in &self.pods {
            let (uid, node) = (&pod.metadata.uid, &pod.spec.node_name);
            let terminating = terminating(pod);
            lines.push(format!("pod {} {uid} on {node}, terminating {terminating}", key(pod)));
        }
        for Entry { pod, worker } in &self.entries {
            lines.push(match worker {
                Some(worker) => {
                    format!("pending {pod} from {} to {}", worker.created_at, worker.fire_at)
                }
                None => format!("nil {pod}"),
            });
        }
        for (node, taints) in &self.tainted_nodes {
            lines.push(format!("tainted {node} {taints:?}"));
        }
        lines.sort();
        lines.join("\n")
    }
}

fn key(pod: &Pod) -> String {
    format!("{}/{}", pod.metadata.namespace, pod.metadata.name)
}

fn terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_grace_period_seconds.is_some()
}

fn no_execute(node: &Node) -> Vec<Taint> {
    let taints = node.spec.taints.iter();
    taints.filter(|taint| taint.effect == TaintEffect::NoExecute).cloned().collect()
}

fn answer(refused: Option<ApiErrorKind>, terminating: bool) -> String {
    match refused {
        Some(error) => format!("{error:?}"),
        None if terminating => "ok, already terminating".into(),
        None => "ok".into(),
    }
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect == TaintEffect::Empty || toleration.effect == taint.effect;
    let key = toleration.key.is_empty() || toleration.key == taint.key;
    let value = match toleration.operator {
        TolerationOperator::Empty | TolerationOperator::Equal => toleration.value == taint.value,
        TolerationOperator::Exists => true,
        // The numeric operators need a feature gate, which the model does not have.
        _ => false,
    };
    effect && key && value
}

/// The seconds of the first toleration that answers each taint; nothing if one has no answer.
#[must_use]
pub fn seconds_used(taints: &[Taint], tolerations: &[Toleration]) -> Option<Vec<Option<i64>>> {
    taints
        .iter()
        .map(|taint| {
            let first = tolerations.iter().find(|toleration| tolerates(toleration, taint));
            first.map(|toleration| toleration.toleration_seconds)
        })
        .collect()
}

/// The least of them in nanoseconds; nothing if it is forever.
#[must_use]
pub fn tolerated_time(seconds: &[Option<i64>]) -> Option<u64> {
    let mut least = i64::MAX;
    for &seconds in seconds.iter().flatten() {
        if seconds <= 0 {
            return Some(0);
        }
        least = least.min(seconds);
    }
    if least == i64::MAX {
        return None;
    }
    u64::try_from(least.wrapping_mul(1_000_000_000)).ok()
}
