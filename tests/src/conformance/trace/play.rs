//! A trace played in the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{
    ConditionStatus, Lease, Node, NodeCondition, NodeName, Pod, PodKey, PodPhase, Taint,
};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind, ObjectReference};
use taintlab_core::order::OrderedMap;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{
    HealthPassTime, InitialState, Simulator, SimulatorConfig, placed_by_lot,
};
use taintlab_core::time::{Span, Time, Timestamp};
use taintlab_kubectl::{Context, run};
use taintlab_manifest::{Import, ImportOptions, import};

use super::forecasts::{self, Forecast};
use super::recorded::{RecordedAction, Trace};
use super::seen::{LATENCY, Life, NodeState, Printed, Seen};

/// Time until a kubelet knows of something, unless the record tells.
const KUBELET_LATENCY: Duration = Duration::from_millis(30);
/// Longest time that kubelets take for all they do; deletions alone may take longer.
const AT_ONCE: f64 = 0.25;
/// The time between two renewals of a lease.
const LEASE_INTERVAL: f64 = 10.0;
/// The longest time until the third pass of the garbage collector that misses a node is over.
const THREE_PASSES: f64 = 60.0 + LATENCY;
/// Most seconds between the scheduler's and the recorder's knowledge of a write.
const KNOWN_WITHIN: f64 = 0.01;
/// Seconds between two pods that came within one millisecond.
const IN_ORDER: f64 = 1e-6;
/// Most seconds until a loaded machine has made the first pod of a workload.
const CREATED_WITHIN: f64 = 2.0;
/// The time between two passes of the garbage collector.
const COLLECTION_PERIOD: f64 = 20.0;
/// Nodes that become not ready within so many seconds are found by one health pass.
const ONE_PASS: f64 = 2.5;
/// The time between two ticks of a kubelet's clock for its status.
const TICK: f64 = 10.0;

/// A run of the engine.
struct Player {
    simulator: Simulator,
    /// Seconds from the beginning of the simulation, a health pass, to the creation of objects.
    lead: f64,
    events: Vec<Event>,
    seen: Seen,
    /// Lines of kubectl that go on, by the number of the drain.
    drains: BTreeMap<u64, usize>,
    /// When the containers of pods end, as the recorded kubelets had it.
    ends: BTreeMap<(Timestamp, PodKey), String>,
    /// Nodes that are cut off.
    cut: BTreeSet<String>,
    /// When a new controller manager runs its first pass.
    restart: Option<Timestamp>,
    /// The nodes as their kubelets register them.
    registered: BTreeMap<String, Node>,
    /// How many values of the record were used so far.
    taken: usize,
}

/// What came of a trace in the engine.
pub(super) struct Played {
    pub(super) seen: Seen,
    /// How many values of the record it used beside those of [`Trace::taken`].
    pub(super) taken: usize,
    /// Its forecasts of evictions after each action.
    pub(super) forecasts: Vec<Forecast>,
}

/// Plays the objects and the actions of a trace.
pub(super) fn play(trace: &Trace) -> Result<Played, String> {
    let objects = read_each(&trace.objects)?;
    let (there, created): (Vec<Import>, Vec<Import>) =
        objects.into_iter().partition(|object| !object.nodes.is_empty());
    let mut nodes: Vec<Node> = there.into_iter().flat_map(|object| object.nodes).collect();
    let lead = -trace.first_pass;
    let start = Time::parse(&trace.t0)?;
    let start = before(start, lead);
    let config = config(trace, start);
    let chosen =
        |(at, budget): &(f64, String)| Some((seconds(at + lead), PodKey::parse(budget).ok()?));
    let leases = trace.leases.iter().map(|(node, first)| {
        let mut lease = Lease::default();
        lease.metadata.name.clone_from(node);
        let ago = LEASE_INTERVAL - (first + lead) % LEASE_INTERVAL;
        lease.spec.renew_time = Some(before(start, ago));
        lease
    });
    for node in &mut nodes {
        let created = trace.created.get(&node.metadata.name);
        node.metadata.creation_timestamp = created.and_then(|time| Time::parse(time).ok());
        give_conditions(node);
    }
    let classes = created.iter().flat_map(|object| &object.others);
    let classes = classes.filter(|object| kind(object) == "PriorityClass").map(|class| {
        let mut class = class.clone();
        class["metadata"]["creationTimestamp"] = trace.t0.clone().into();
        class
    });
    let objects_by_node = nodes.iter().map(|node| (node.metadata.name.clone(), node.clone()));
    let begin = InitialState {
        leases: leases.collect(),
        priority_classes: classes.map(parse).collect::<Result<_, _>>()?,
        lease_ticks: lease_ticks(trace, lead),
        status_ticks: ticks(&trace.posts, lead, TICK),
        placements: placements(trace),
        arrivals: arrivals(trace, lead),
        scale_downs: scale_downs(trace),
        budget_choices: trace.chosen.iter().filter_map(chosen).collect(),
        pass_orders: pass_orders(trace),
        quarantine_ends_late: quarantine_ends_late(trace),
        tried_ahead: tried_ahead(trace, config.release),
        first_collection: first_collection(trace, lead),
        ..InitialState::default()
    };
    let taken = usize::from(!trace.confirmed_after.is_empty())
        + usize::from(begin.first_collection > Timestamp::ZERO)
        + begin.budget_choices.len()
        + begin.pass_orders.iter().map(Vec::len).sum::<usize>()
        + usize::from(begin.quarantine_ends_late)
        + begin.tried_ahead.values().map(Vec::len).sum::<usize>();
    let registered = objects_by_node.collect();
    let simulator =
        Simulator::beginning_with(config, nodes, [], begin).map_err(|error| error.to_string())?;
    let mut player = Player {
        simulator,
        lead,
        events: Vec::new(),
        seen: Seen { zero: trace.seen.zero, ..Seen::default() },
        drains: BTreeMap::new(),
        ends: BTreeMap::new(),
        cut: BTreeSet::new(),
        restart: None,
        registered,
        taken,
    };
    player.advance(0.0);
    for (name, _) in player.simulator.cluster().clone().nodes() {
        player.see_node(0.0, name);
    }
    player.create_as_seen(created, 0.0, trace)?;
    let mut said = Vec::new();
    for (number, action) in trace.actions.iter().enumerate() {
        let next = trace.actions.get(number + 1).map_or(trace.until, |next| next.started);
        let effect = trace.takes_effect(action).filter(|at| *at < next);
        player.taken += usize::from(effect.is_some());
        player.advance(effect.unwrap_or(action.started).max(player.now()));
        player
            .act(action, next, trace)
            .map_err(|error| format!("{} at {}: {error}", action.what, action.started))?;
        if !action.only_looks() {
            // Immediate effects of the action have no forecast.
            player.advance(player.now());
            let mut later = trace.actions.iter().skip(number + 1);
            let next =
                later.find(|action| !action.only_looks()).map_or(trace.until, |it| it.started);
            let group = |name: &str| player.seen.group_of_pod(name);
            said.extend(forecasts::of(&player.simulator, (player.now(), next), lead, group));
        }
    }
    player.advance(trace.until.max(player.now()));
    let Player { simulator, mut seen, mut taken, .. } = player;
    for uid in placed_by_lot(&simulator) {
        taken += 1;
        if let Some(life) = seen.pods.get_mut(uid) {
            life.by_lot = true;
        }
    }
    Ok(Played { seen, taken, forecasts: said })
}

/// The release of a trace, at most the newest that is known, with its flags as far as they matter.
fn config(trace: &Trace, start: Time) -> SimulatorConfig {
    let release = KubernetesRelease::parse(&trace.release).unwrap_or_default();
    let mut config = SimulatorConfig::with_control_plane(release);
    config.start = start;
    config.health_pass = HealthPassTime::MEASURED;
    let usual = trace.confirmed_after.get(trace.confirmed_after.len() / 2);
    let usual = usual.filter(|after| **after < AT_ONCE);
    let usual = usual.map(|after| Duration::try_from_secs_f64(*after).unwrap_or_default());
    config.kubelets.latency = Span(usual.unwrap_or(KUBELET_LATENCY));
    for line in trace.flags.lines() {
        let program = line.split_whitespace().next().unwrap_or_default();
        for flag in line.split_whitespace().filter_map(|word| word.strip_prefix("--")) {
            let Some((name, value)) = flag.split_once('=') else { continue };
            let with = |change: &dyn Fn(&mut SimulatorConfig)| {
                let mut changed = config.clone();
                change(&mut changed);
                changed.check().is_ok().then_some(changed)
            };
            let changed = match (program, name) {
                (_, "feature-gates") => {
                    for gate in value.split(',').filter_map(|gate| gate.split_once('=')) {
                        let mut changed = config.clone();
                        changed.feature_gates.insert(gate.0.to_owned(), gate.1 == "true");
                        if changed.check().is_ok() {
                            config = changed;
                        }
                    }
                    None
                }
                // Several flags of that name make one list.
                ("kube-controller-manager", "controllers") => with(&|config| {
                    let flags = &mut config.controller_manager_flags;
                    let list = flags.entry(name.to_owned()).or_default();
                    let comma = if list.is_empty() { "" } else { "," };
                    *list = format!("{list}{comma}{value}");
                }),
                ("kube-controller-manager", _) => with(&|config| {
                    config.controller_manager_flags.insert(name.to_owned(), value.to_owned());
                }),
                ("kube-apiserver", _) => with(&|config| {
                    config.api_server_flags.insert(name.to_owned(), value.to_owned());
                }),
                _ => None,
            };
            config = changed.unwrap_or(config);
        }
    }
    config
}

/// When the clocks of kubelets tick that were seen to tick then.
fn ticks(seen: &BTreeMap<String, f64>, lead: f64, period: f64) -> OrderedMap<NodeName, Timestamp> {
    seen.iter().map(|(node, at)| (node.as_str().into(), seconds((at + lead) % period))).collect()
}

/// When kubelets renew their leases: seen, or the phase after its registration.
fn lease_ticks(trace: &Trace, lead: f64) -> OrderedMap<NodeName, Timestamp> {
    let mut seen = trace.leases.clone();
    for action in trace.actions.iter().filter(|action| action.what == "register") {
        let name =
            action.arguments.get("object").and_then(|node| node["metadata"]["name"].as_str());
        if let Some((name, phase)) = name.zip(action.number("phase")) {
            seen.entry(name.to_owned()).or_insert(action.started + phase);
        }
    }
    ticks(&seen, lead, LEASE_INTERVAL)
}

fn kind(object: &Value) -> &str {
    object.get("kind").and_then(Value::as_str).unwrap_or_default()
}

/// The conditions as of the node's registration.
fn give_conditions(node: &mut Node) {
    if let Some(created) = node.metadata.creation_timestamp {
        complete_conditions(node, created);
    }
}

/// The healthy conditions beside those that a node has.
fn complete_conditions(node: &mut Node, created: Time) {
    let created = created.truncated_to_seconds();
    let healthy = [
        ("MemoryPressure", "KubeletHasSufficientMemory", "has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "has sufficient PID available"),
        ("Ready", "KubeletReady", "is posting ready status"),
    ];
    for (type_, reason, message) in healthy {
        if node.condition(type_).is_some() {
            continue;
        }
        let status = if type_ == "Ready" { "True" } else { "False" };
        node.status.conditions.push(NodeCondition {
            type_: type_.to_owned(),
            status: status.into(),
            reason: reason.to_owned(),
            message: format!("kubelet {message}"),
            last_heartbeat_time: Some(created),
            last_transition_time: Some(created),
            ..NodeCondition::default()
        });
    }
}

/// Name of a pod, or of its workload if letters of the pod's are drawn.
fn known_by(life: &Life) -> String {
    let name = if life.group.ends_with('*') { &life.workload } else { &life.name };
    format!("{}/{name}", life.namespace)
}

/// Where pods went, in order.
fn placements(trace: &Trace) -> OrderedMap<String, Vec<NodeName>> {
    let bound = |life: &&Life| life.moments[1].unwrap_or(f64::INFINITY);
    let mut lives: Vec<&Life> = trace.seen.pods.values().collect();
    lives.retain(|life| !life.node.is_empty());
    lives.sort_by_key(|life| life.arrival);
    lives.sort_by(|one, other| bound(one).total_cmp(&bound(other)));
    let mut placements: OrderedMap<String, Vec<NodeName>> = OrderedMap::new();
    for life in lives {
        placements.entry(known_by(life)).or_default().push(life.node.as_str().into());
    }
    placements
}

/// When pods were created, in the order in which that was seen: the scheduler gets to know them
/// then.
fn arrivals(trace: &Trace, lead: f64) -> OrderedMap<String, Vec<Timestamp>> {
    let mut lives: Vec<&Life> = trace.seen.pods.values().collect();
    lives.sort_by_key(|life| life.arrival);
    let mut arrivals: OrderedMap<String, Vec<Timestamp>> = OrderedMap::new();
    for life in lives {
        let at = life.moments[0].unwrap_or_default() + lead + IN_ORDER * life.arrival as f64;
        arrivals.entry(known_by(life)).or_default().push(seconds(at));
    }
    arrivals
}

/// Time of the garbage collector's first pass, if it deleted anything.
fn first_collection(trace: &Trace, lead: f64) -> Timestamp {
    let first = trace.collected.first();
    seconds(first.map_or(0.0, |at| (at + lead).rem_euclid(COLLECTION_PERIOD)))
}

/// Pods that ReplicaSets deleted, in order: their nodes, and their times of creation.
fn scale_downs(trace: &Trace) -> OrderedMap<String, Vec<(NodeName, Time)>> {
    let Ok(zero) = Time::parse(&trace.t0) else { return OrderedMap::new() };
    let mut nodes: OrderedMap<String, Vec<(NodeName, Time)>> = OrderedMap::new();
    for name in &trace.scaled_down {
        let life = trace.seen.pods.values().find(|life| life.name == *name);
        if let Some(life) = life {
            let key = format!("{}/{}", life.namespace, life.workload);
            let created = before(zero, -life.moments[0].unwrap_or_default());
            nodes.entry(key).or_default().push((life.node.as_str().into(), created));
        }
    }
    nodes
}

/// The order in which nodes were tainted, or else became not ready, of those that one pass found.
fn pass_orders(trace: &Trace) -> Vec<Vec<NodeName>> {
    let first = |states: &[NodeState], holds: &dyn Fn(&str) -> bool| {
        let mut states = states.iter().filter(|state| holds(&state.text));
        states.next().map_or(f64::INFINITY, |state| state.at)
    };
    let is_evicting = |text: &str| {
        ["unreachable", "not-ready"]
            .iter()
            .any(|key| text.contains(&format!("node.kubernetes.io/{key}:NoExecute")))
    };
    let is_lost = |text: &str| !text.starts_with("Ready=True") && text != "gone";
    let nodes = trace.seen.nodes.iter().map(|(name, states)| {
        let found = first(states, &is_lost);
        (first(states, &is_evicting), found, name)
    });
    let mut nodes: Vec<(f64, f64, &String)> = nodes.filter(|node| node.1.is_finite()).collect();
    nodes.sort_by(|one, other| one.1.total_cmp(&other.1));
    let found_together = nodes.chunk_by_mut(|one, other| other.1 - one.1 < ONE_PASS);
    let orders = found_together.filter(|nodes| nodes.len() > 1).map(|nodes| {
        nodes.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        nodes.iter().map(|(.., name)| name.as_str().into()).collect()
    });
    orders.collect()
}

/// Whether the garbage collector missed the end of a quarantine, and collected a pass later.
fn quarantine_ends_late(trace: &Trace) -> bool {
    let lives = || trace.seen.pods.values();
    trace.seen.nodes.iter().any(|(node, states)| {
        let gone = states.iter().filter(|state| state.text == "gone").map(|state| state.at);
        gone.into_iter().any(|deleted| {
            let waited = lives().filter(|life| life.node == *node);
            let waited = waited.filter_map(|life| Some(life.moments[4]? - deleted));
            waited.into_iter().any(|waited| (THREE_PASSES..THREE_PASSES + 20.0).contains(&waited))
        })
    })
}

/// Number of pods tried in vain between the two writes that uncordoned a node. The scheduler knows
/// of each write some ms later or earlier than the recorder. Attempts without an event are not
/// seen.
fn tried_ahead(trace: &Trace, release: KubernetesRelease) -> OrderedMap<NodeName, Vec<usize>> {
    let mut tried: OrderedMap<NodeName, Vec<usize>> = OrderedMap::new();
    if !release.counts_second_attempt() {
        return tried;
    }
    for (node, from, to) in &trace.uncordoned {
        let between = (from - 2.0 * KNOWN_WITHIN)..=(to + KNOWN_WITHIN);
        let after = |at: f64, before: f64| at > before && at < to + LATENCY;
        // Whoever was tried in between is tried again after it.
        let again = |first: f64, pod: &String| {
            let bound = trace.seen.pods.values().filter(|life| life.name == *pod);
            trace.attempts.iter().any(|(at, other)| other == pod && after(*at, first))
                || bound.filter_map(|life| life.moments[1]).any(|at| after(at, first))
        };
        let attempts = trace.attempts.iter().filter(|(at, _)| between.contains(at));
        let attempts = attempts.filter(|(at, pod)| again(*at, pod));
        let pods: BTreeSet<&String> = attempts.map(|(_, pod)| pod).collect();
        tried.entry(node.as_str().into()).or_default().push(pods.len().max(1));
    }
    tried
}

/// Each object of a file, in its order.
fn read_each(text: &str) -> Result<Vec<Import>, String> {
    let documents = text.split("\n---\n").filter(|document| !document.trim().is_empty());
    documents.map(read).collect()
}

fn read(text: &str) -> Result<Import, String> {
    // The recorded kubelets do not know it, and end containers by an annotation of their own.
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("taintlab/run-time:"));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    // The recorder's YAML has these letters without quotes; elsewhere they mean yes and no.
    let text = text.replace(": y\n", ": 'y'\n").replace(": n\n", ": 'n'\n");
    let objects = import(&text, "objects.yaml", ImportOptions::keep_all());
    let errors: Vec<String> = objects
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .map(|diagnostic| format!("{diagnostic:?}"))
        .collect();
    if errors.is_empty() { Ok(objects) } else { Err(errors.join("; ")) }
}

/// The time some seconds before.
fn before(time: Time, seconds: f64) -> Time {
    let day = Duration::from_secs(86_400);
    let rest = Duration::try_from_secs_f64(day.as_secs_f64() - seconds).unwrap_or_default();
    let fraction = time.since(time.truncated_to_seconds());
    Time::from_unix_seconds(time.unix_seconds() - 86_400).saturating_add(fraction + rest)
}

fn seconds(at: f64) -> Timestamp {
    Timestamp::ZERO.saturating_add(Duration::try_from_secs_f64(at).unwrap_or_default())
}

impl Player {
    fn at(&self, t: f64) -> Timestamp {
        seconds(t + self.lead)
    }

    fn now(&self) -> f64 {
        let now = self.simulator.now().since_zero().as_secs_f64() - self.lead;
        // Whole microseconds, so that zero is zero.
        (now * 1e6).round() / 1e6
    }

    fn advance(&mut self, t: f64) {
        let then = self.at(t);
        loop {
            let timeout = self.simulator.poll_timeout().map(|next| next.at);
            let end = self.ends.first_key_value().map(|((at, _), _)| *at);
            let due = timeout.into_iter().chain(end).chain(self.restart).min();
            let due = due.filter(|at| *at <= then);
            self.simulator.advance_to(due.unwrap_or(then)).expect("time goes on");
            self.look();
            if due.is_none() {
                return;
            }
            if self.restart == due {
                self.restart = None;
                let _ = self.command(Command::RestartControllerManager);
            }
            if end == due
                && let Some(((_, pod), uid)) = self.ends.pop_first()
            {
                self.end_pod(&pod, &uid);
            }
        }
    }

    /// The containers of a pod end, with the exit code that its annotation says.
    fn end_pod(&mut self, key: &PodKey, uid: &str) {
        let pod = self.simulator.cluster().get_pod(key);
        let Some(pod) = pod.filter(|pod| pod.metadata.uid == uid) else { return };
        // Recorded containers do not end while their node is cut off.
        if self.cut.contains(pod.spec.node_name.as_str()) {
            if !pod.is_terminating() {
                let later = self.simulator.now().saturating_add(Duration::from_secs(1));
                self.ends.insert((later, key.clone()), uid.to_owned());
            }
            return;
        }
        let mut pod = Pod::clone(pod);
        let code = pod.metadata.annotations.get("kcp/exit-code").and_then(|code| code.parse().ok());
        let code: i64 = code.unwrap_or_default();
        pod.status.phase = if code == 0 { PodPhase::Succeeded } else { PodPhase::Failed };
        let reason = if code == 0 { "Completed" } else { "Error" };
        let finished = self.simulator.wall_clock(self.simulator.now()).truncated_to_seconds();
        let ended = json!({"exitCode": code, "reason": reason, "finishedAt": finished.to_string()});
        let mut object = serde_json::to_value(&pod).unwrap_or_default();
        let states = object.pointer_mut("/status/containerStatuses").and_then(Value::as_array_mut);
        for state in states.into_iter().flatten() {
            state["state"] = json!({ "terminated": ended });
            state["ready"] = false.into();
        }
        pod = serde_json::from_value(object).unwrap_or(pod);
        for condition in &mut pod.status.conditions {
            if matches!(condition.type_.as_str(), "Ready" | "ContainersReady") {
                condition.status = ConditionStatus::False;
                condition.reason = "PodCompleted".to_owned();
            }
        }
        let _ = self.command(Command::UpdatePod(pod));
    }

    /// Sees what has happened.
    fn look(&mut self) {
        let now = self.now();
        let events = self.simulator.drain_events();
        for event in &events {
            match &event.what {
                EventKind::PodDeleted { uid, .. } => self.seen.pod_gone(now, uid),
                EventKind::PodAdded { pod, uid } | EventKind::PodUpdated { pod, uid } => {
                    let object = self.simulator.cluster().get_pod(pod);
                    if let Some(object) = object.filter(|object| object.metadata.uid == *uid) {
                        let runs_for = object.metadata.annotations.get("kcp/runs-for");
                        if let Some(seconds) = runs_for.and_then(|text| text.parse().ok())
                            && object.is_ready_replica()
                        {
                            let at = self.simulator.now();
                            let at = at.saturating_add(Duration::from_secs(seconds));
                            self.ends.entry((at, pod.clone())).or_insert_with(|| uid.clone());
                        }
                        let object = serde_json::to_value(object.as_ref()).unwrap_or_default();
                        self.seen.pod(now, &object);
                    }
                }
                EventKind::NodeDeleted { node } => {
                    self.seen.node_gone(now, node.as_str());
                }
                EventKind::NodeAdded { node } | EventKind::NodeUpdated { node } if now >= 0.0 => {
                    self.see_node(now, &node.clone());
                }
                // The kubelets of the recording record no Events.
                EventKind::EventRecorded(recorded)
                    if now >= 0.0 && recorded.component != "kubelet" =>
                {
                    let (kind, name) = match &recorded.involved_object {
                        ObjectReference::Pod { pod, .. } => ("Pod", pod.name()),
                        ObjectReference::Node { node } => ("Node", node.as_str()),
                        ObjectReference::Budget { budget } => {
                            ("PodDisruptionBudget", budget.name())
                        }
                        ObjectReference::Workload { workload } => {
                            (workload.kind.as_str(), workload.name.name())
                        }
                    };
                    let message = [recorded.message.clone()];
                    self.seen.event((recorded.reason, kind, name), 1, message);
                }
                EventKind::DrainPrinted { drain, is_error, line } => {
                    let line = format!("{line}\n");
                    let printed = self.drains.get(drain);
                    if let Some(printed) = printed.and_then(|at| self.seen.printed.get_mut(*at)) {
                        let to = if *is_error { &mut printed.stderr } else { &mut printed.stdout };
                        to.push_str(&line);
                    }
                }
                EventKind::DrainEnded { drain, failed } => {
                    if let Some(at) = self.drains.remove(drain)
                        && let Some(printed) = self.seen.printed.get_mut(at)
                    {
                        printed.exit = Some(i64::from(*failed));
                    }
                }
                _ => {}
            }
        }
        // Neither does kubectl show them.
        let is_shown = |event: &Event| match &event.what {
            EventKind::EventRecorded(recorded) => recorded.component != "kubelet",
            _ => true,
        };
        self.events.extend(events.into_iter().filter(is_shown));
    }

    fn see_node(&mut self, t: f64, name: &NodeName) {
        if let Some(node) = self.simulator.cluster().get_node(name.as_str()) {
            let node = serde_json::to_value(node.as_ref()).unwrap_or_default();
            self.seen.node(t, &node);
        }
    }

    fn command(&mut self, command: Command) -> Result<(), String> {
        let now = self.simulator.now();
        self.simulator.handle_command(now, command).map_err(|error| error.to_string())?;
        self.look();
        Ok(())
    }

    /// Creates objects one after the other, each when it or the first of its pods was seen.
    fn create_as_seen(
        &mut self,
        objects: Vec<Import>,
        from: f64,
        trace: &Trace,
    ) -> Result<(), String> {
        let mut seen_at = Vec::new();
        for object in objects {
            let pods = object.pods.iter().map(|pod| pod.metadata.name.clone());
            let workloads = object.workloads.iter().map(|one| one.metadata.name.clone());
            let names: Vec<String> = pods.chain(workloads).collect();
            let lives = trace.seen.pods.values().filter(|life| names.contains(&life.workload));
            let seen = lives.filter_map(|life| life.moments[0]);
            let seen = seen.filter(|at| (from..=from + CREATED_WITHIN).contains(at));
            seen_at.push((seen.min_by(f64::total_cmp).unwrap_or(from), object));
        }
        seen_at.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (at, object) in seen_at {
            if at > self.now() {
                self.advance(at);
                self.taken += 1;
            }
            self.create(object)?;
        }
        Ok(())
    }

    fn create(&mut self, objects: Import) -> Result<(), String> {
        let commands = objects.budgets.into_iter().map(|one| Command::CreateBudget(Box::new(one)));
        let workloads =
            objects.workloads.into_iter().map(|one| Command::CreateWorkload(Box::new(one)));
        let pods = objects.pods.into_iter().map(Command::CreatePod);
        for command in commands.chain(workloads).chain(pods) {
            self.command(command)?;
        }
        Ok(())
    }

    /// Does what was done; the action after it begins at `next`.
    fn act(&mut self, action: &RecordedAction, next: f64, trace: &Trace) -> Result<(), String> {
        let node: NodeName = action.text("node").into();
        let nodes = action.texts("nodes");
        let taints = |simulator: &Simulator| {
            let node = simulator.cluster().get_node(node.as_str());
            node.map_or_else(Vec::new, |node| node.spec.taints.clone())
        };
        match action.what.as_str() {
            "cut" => nodes.into_iter().try_for_each(|node| {
                self.cut.insert(node.clone());
                self.command(Command::CutNetwork { node: node.as_str().into() })
            }),
            "restore" => nodes.into_iter().try_for_each(|node| {
                self.cut.remove(&node);
                self.command(Command::RestoreNetwork { node: node.as_str().into() })
            }),
            "taint" => {
                let more = action.arguments.get("taints").cloned().unwrap_or_default();
                let more: Vec<Taint> = parse(more)?;
                let taints = taints(&self.simulator).into_iter().chain(more).collect();
                self.command(Command::SetTaints { node, taints })
            }
            "untaint" => {
                let keys = action.texts("keys");
                let mut taints = taints(&self.simulator);
                taints.retain(|taint| !keys.contains(&taint.key));
                self.command(Command::SetTaints { node, taints })
            }
            "create" => {
                // What the API server refused is refused here as well, or the lives differ.
                let objects = action.arguments.get("objects").and_then(Value::as_array);
                let texts = objects.into_iter().flatten().map(without_run_time);
                let objects = texts.filter_map(|text| read(&text).ok()).collect();
                let _ = self.create_as_seen(objects, action.started, trace);
                Ok(())
            }
            "notready" => {
                let message = action.arguments.get("message").and_then(Value::as_str);
                let status =
                    if message.is_some() { ConditionStatus::False } else { ConditionStatus::True };
                let (type_, message) = ("Ready".to_owned(), message.map(str::to_owned));
                self.command(Command::SetNodeCondition {
                    node,
                    type_,
                    status,
                    reason: None,
                    message,
                })
            }
            "condition" => {
                let status = match (action.text("status"), action.text("type")) {
                    ("", "Ready") => ConditionStatus::True,
                    ("", _) => ConditionStatus::False,
                    (status, _) => status.into(),
                };
                let given =
                    |name: &str| Some(action.text(name).to_owned()).filter(|text| !text.is_empty());
                let type_ = action.text("type").to_owned();
                let (reason, message) = (given("reason"), given("message"));
                self.command(Command::SetNodeCondition { node, type_, status, reason, message })
            }
            "register" => {
                let mut object = action.arguments.get("object").cloned().unwrap_or_default();
                let given = action.arguments.get("conditions").and_then(Value::as_array);
                if let Some(given) = given {
                    object["status"]["conditions"] = given.clone().into();
                }
                let mut node: Node = parse(object)?;
                complete_conditions(&mut node, self.simulator.wall_clock(self.simulator.now()));
                self.registered.insert(node.metadata.name.clone(), node.clone());
                self.command(Command::CreateNode(node))
            }
            "reregister" => {
                let node = self.registered.get(node.as_str()).cloned();
                let mut node = node.ok_or("the node was never registered")?;
                node.metadata.creation_timestamp = None;
                node.metadata.uid.clear();
                let now = self.simulator.wall_clock(self.simulator.now()).truncated_to_seconds();
                for condition in &mut node.status.conditions {
                    condition.last_heartbeat_time = Some(now);
                    condition.last_transition_time = Some(now);
                }
                self.command(Command::CreateNode(node))
            }
            "restart-kcm" => {
                let first = trace.registered.iter().find(|at| **at >= action.started);
                self.taken += usize::from(first.is_some());
                self.restart = Some(self.at(*first.unwrap_or(&action.started)));
                Ok(())
            }
            "delete" => self.type_path("delete", action.text("path"), "--wait=false"),
            "patch" => {
                let body = action.arguments.get("body").cloned().unwrap_or_default();
                let body = body.to_string().replace('\'', "'\\''");
                self.type_path("patch", action.text("path"), &format!("--type=merge -p '{body}'"))
            }
            "kubectl" => {
                let words = action.texts("args");
                let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
                let line = quoted.join(" ");
                let (mut printed, drain, reads) = self.type_line(&line)?;
                printed.line = words.join(" ");
                let at = self.seen.printed.len();
                self.seen.printed.push(printed);
                if let Some(drain) = drain {
                    self.drains.insert(drain, at);
                } else if reads && self.now() < action.ended.min(next) {
                    self.advance(action.ended.min(next));
                    let (later, ..) = self.type_line(&line)?;
                    if let Some(printed) = self.seen.printed.get_mut(at) {
                        printed.later = Some(Box::new(later));
                    }
                }
                Ok(())
            }
            other => Err(format!("the action {other} is not known")),
        }
    }

    /// Does by kubectl what was done to an object by its path.
    fn type_path(&mut self, verb: &str, path: &str, flags: &str) -> Result<(), String> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let object = match parts.as_slice() {
            [.., "namespaces", namespace, kind, name] => format!("{kind} {name} -n {namespace}"),
            [.., kind, name] => format!("{kind} {name}"),
            _ => return Err(format!("the path {path} is not known")),
        };
        self.type_line(&format!("{verb} {object} {flags}")).map(|_| ())
    }

    /// What a line prints, the drain that goes on, and whether it changes nothing.
    fn type_line(&mut self, line: &str) -> Result<(Printed, Option<u64>, bool), String> {
        let outcome = run(&Context::new(&self.simulator, &self.events), line, None);
        let reads = outcome.commands.is_empty();
        for command in outcome.commands {
            self.command(command)?;
        }
        let printed = Printed {
            line: line.to_owned(),
            stdout: outcome.stdout,
            stderr: outcome.stderr,
            exit: Some(outcome.exit_code.into()),
            later: None,
        };
        Ok((printed, outcome.drain, reads))
    }
}

/// The JSON of an object without the annotation that recorded kubelets do not know.
fn without_run_time(object: &Value) -> String {
    let mut object = object.clone();
    for path in ["/metadata/annotations", "/spec/template/metadata/annotations"] {
        if let Some(annotations) = object.pointer_mut(path).and_then(Value::as_object_mut) {
            annotations.remove("taintlab/run-time");
        }
    }
    object.to_string()
}

fn parse<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
