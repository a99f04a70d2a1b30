//! Events and states as lines of text.

use std::fmt::Write as _;

use taintlab_core::api::PodPhase;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

/// One event, in one line.
#[must_use]
pub fn event(event: &Event) -> String {
    let what = match &event.what {
        EventKind::Decided(_) | EventKind::NodeEvaluated { .. } => format!("  {}", event.what),
        other => other.to_string(),
    };
    format!("{:<8} {what}", event.at.to_string())
}

/// What the controller remembers.
#[must_use]
pub fn state(simulator: &Simulator) -> String {
    let controller = simulator.taint_eviction();
    let mut out = String::new();
    for eviction in controller.scheduled_evictions() {
        let (pod, from, to) = (eviction.pod, eviction.created_at, eviction.fire_at);
        let _ = writeln!(out, "timer of {pod}: from {from} to {to}");
    }
    for pod in controller.tombstones() {
        let _ = writeln!(out, "tombstone of {pod}");
    }
    for (node, taints) in controller.tainted_nodes() {
        let taints: Vec<String> = taints.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "tainted node {node}: {}", taints.join(", "));
    }
    if out.is_empty() {
        out = "nothing\n".into();
    }
    out
}

/// The pods, one a line.
#[must_use]
pub fn pods(simulator: &Simulator) -> String {
    let mut out = String::new();
    for (key, pod) in simulator.cluster().pods() {
        let _ = write!(out, "{key} on {}", pod.spec.node_name);
        if pod.is_terminating() {
            out += ", terminating";
        }
        if pod.status.phase == PodPhase::Failed {
            let _ = write!(out, ", Failed {} \"{}\"", pod.status.reason, pod.status.message);
        }
        for condition in &pod.status.conditions {
            let (type_, status, reason) = (&condition.type_, &condition.status, &condition.reason);
            let _ = write!(out, ", {type_}={status} {reason} \"{}\"", condition.message);
        }
        out.push('\n');
    }
    if out.is_empty() {
        out = "no pods\n".into();
    }
    out
}

/// The next deadline.
#[must_use]
pub fn timeout(simulator: &Simulator) -> String {
    let Some(timeout) = simulator.poll_timeout() else { return "no deadline\n".into() };
    format!("{}: {}\n", timeout.at, timeout.reason)
}

/// The nodes: conditions that are not as they should be, and taints.
#[must_use]
pub fn nodes(simulator: &Simulator) -> String {
    let mut out = String::new();
    for (name, node) in simulator.cluster().nodes() {
        let ready = node.condition("Ready").map_or("absent", |ready| ready.status.as_str());
        let _ = write!(out, "{name} Ready={ready}");
        for condition in &node.status.conditions {
            if condition.type_ != "Ready" && condition.status.as_str() != "False" {
                let _ = write!(out, " {}={}", condition.type_, condition.status);
            }
        }
        for taint in &node.spec.taints {
            let key = taint.key.rsplit('/').next().unwrap_or(&taint.key);
            let _ = write!(out, " {key}:{}", taint.effect);
        }
        out.push('\n');
    }
    out
}

/// The zones, each with its queue.
#[must_use]
pub fn zones(simulator: &Simulator) -> String {
    let mut out = String::new();
    for zone in simulator.zones() {
        let name = match zone.key.name() {
            name if name.is_empty() => "(no zone)".into(),
            name => name,
        };
        let state = zone.state.map_or("gone", |state| state.as_str());
        let cut = if zone.network_cut { ", cut off" } else { "" };
        let _ = writeln!(out, "{name}: {state}{cut}; {}", zone.arithmetic);
        let token = zone.next_token.map_or("never".into(), |at| at.to_string());
        let tokens = zone.tokens;
        let _ = writeln!(out, "  rate {}", zone.rate_text);
        let _ = writeln!(out, "  tokens {tokens:.2} of {}, next {token}", zone.capacity);
        for queued in &zone.queue {
            let at = queued.expected_at.map_or("never".into(), |at| at.to_string());
            let _ = writeln!(out, "  waits: {} until {at}", queued.node);
        }
    }
    if out.is_empty() {
        out = "no zones\n".into();
    }
    out
}

/// How a node is doing.
#[must_use]
pub fn health(simulator: &Simulator, node: &str) -> String {
    let Some(view) = simulator.node_view(node) else { return "no such node\n".into() };
    let text = |at: Option<String>| at.unwrap_or_else(|| "never".into());
    let kubelet =
        view.unreachable.map_or("connected".into(), |cause| format!("unreachable, {cause:?}"));
    let lease = text(view.lease_renewed_at.map(|at| at.to_string()));
    let status = text(view.status_posted_at.map(|at| at.to_string()));
    let next = text(view.next_renewal.map(|at| at.to_string()));
    let post = text(view.next_post.map(|at| at.to_string()));
    let mut out =
        format!("kubelet {kubelet}; lease {lease}, next {next}; status {status}, next {post}\n");
    if let Some(health) = view.health {
        let start = simulator.config().start;
        let seen = Moment::of(health.health.probe_timestamp, start);
        let unknown = text(health.turns_unknown_at.map(|at| at.to_string()));
        let _ = writeln!(
            out,
            "seen {seen}; --{}={}; unknown at {unknown}",
            health.grace_flag,
            taintlab_core::time::format_duration(health.grace)
        );
    }
    for condition in view.conditions {
        let at = condition.last_heartbeat_time.map(|at| Moment::of(at, simulator.config().start));
        let at = text(at.map(|at| at.to_string()));
        let _ = writeln!(
            out,
            "{} {} {}, heartbeat {at}",
            condition.type_, condition.status, condition.reason
        );
    }
    if view.unconfirmed_deletions > 0 {
        let _ = writeln!(out, "deletions not confirmed: {}", view.unconfirmed_deletions);
    }
    out
}

/// Why a pod goes when it goes: as it is known, or else as it will be if nothing changes.
#[must_use]
pub fn budget(simulator: &Simulator, pod: &taintlab_core::api::PodKey) -> String {
    let known = simulator.time_budget(pod);
    let budget = known.or_else(|| {
        let forecast = simulator.forecast(Timestamp::MAX, 100_000);
        forecast.time_budget(pod)
    });
    budget.map_or_else(|| "it stays\n".into(), |budget| format!("{budget}\n"))
}
