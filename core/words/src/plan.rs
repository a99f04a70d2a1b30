//! Plans in words: what becomes of a cluster while nodes are drained, replaced, taken away or tainted.

mod by_count;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use taintlab_core::api::NodeName;
use taintlab_core::order::Order;
use taintlab_core::plan::{Act, Blocked, Blocker, Rehearsed, SpotHandler, WorkloadCourse};
use taintlab_core::plural::count;
use taintlab_core::report::{Millis, PendingReason};

pub use self::by_count::{CountText, count_markdown, count_terminal};
use crate::parts::{Part, markdown, terminal};
use crate::table::Style;

/// Rows of a table printed at most; the JSON has all.
const MOST: usize = 20;
/// Names printed at most in a sentence.
const MOST_NAMES: usize = 12;

/// A plan, as far as it is told.
#[derive(Clone, Copy, Debug)]
pub struct PlanText<'a> {
    /// Act that is planned.
    pub act: &'a Act,
    /// Outcome in the order that was given.
    pub given: &'a Rehearsed,
    /// Outcome in the best other order, if that is better.
    pub better: Option<&'a Rehearsed>,
    /// Number of orders that were tried.
    pub tried: usize,
    /// Sentences about what the figures rest on.
    pub notes: &'a [String],
    /// A link that plays it in the better order; empty if there is none.
    pub link: &'a str,
}

/// The plan in a terminal.
#[must_use]
pub fn plan_terminal(plan: &PlanText<'_>, style: Style) -> String {
    terminal(parts(plan), style)
}

/// The plan as Markdown.
#[must_use]
pub fn plan_markdown(plan: &PlanText<'_>) -> String {
    markdown(parts(plan))
}

fn parts(plan: &PlanText<'_>) -> Vec<Part> {
    let PlanText { act, given, better, tried, notes, link } = *plan;
    let mut parts =
        Vec::from([Part::Heading(title(act, &given.order)), Part::Line(outcome(act, given))]);
    parts.extend(notes.iter().cloned().map(Part::Line));
    let blocked = given.blocked.iter().take(MOST).map(|it| Part::Line(blocked_by(it)));
    let errors = given.nodes.iter().filter(|it| it.failed).flat_map(|it| &it.errors);
    let said: Vec<Part> = blocked.chain(errors.map(|it| Part::Line(it.clone()))).collect();
    if !said.is_empty() {
        parts.push(Part::Heading("What is in the way".into()));
        parts.extend(said);
    }
    parts.push(nodes(act, given));
    parts.extend(left_out(given.nodes.len(), "node"));
    let mut worst: Vec<&WorkloadCourse> = given.workloads.iter().collect();
    worst.order_by_key(|it| Reverse((it.figures.at_zero, it.figures.replica_time_lost)));
    let rows: Vec<Vec<String>> = worst.into_iter().take(MOST).map(workload).collect();
    if !rows.is_empty() {
        let head = ["Workload", "Fewest ready", "At", "Below", "At zero", "Whole again"];
        parts.push(Part::Table(head.map(String::from).to_vec(), rows));
    }
    parts.extend(left_out(given.workloads.len(), "workload"));
    let pending: Vec<Part> = given.workloads.iter().flat_map(pending).collect();
    if !pending.is_empty() {
        parts.push(Part::Heading("Pods without a node in the end".into()));
        parts.extend(pending);
    }
    if let Some(better) = better {
        parts.push(Part::Heading(format!("A better order: {}", names(&better.order, MOST))));
        parts.push(Part::Line(gain(given, better)));
    } else if tried > 1 {
        let words =
            format!("No better order: the best of {} that were tried", count(tried, "order"));
        parts.push(Part::Line(words));
    }
    let commands = plan_commands(act, &better.unwrap_or(given).order);
    if !commands.is_empty() {
        parts.push(Part::Heading("Commands".into()));
        let rest = commands.len().saturating_sub(MOST);
        parts.extend(commands.into_iter().take(MOST).map(Part::Command));
        if rest > 0 {
            parts.push(Part::Line(format!("and {rest} more: see --json")));
        }
    }
    if !link.is_empty() {
        parts.push(Part::Line(format!("See it: {link}")));
    }
    parts
}

fn left_out(all: usize, what: &str) -> Option<Part> {
    let rest = all.saturating_sub(MOST);
    (rest > 0)
        .then(|| Part::Line(format!("and {}: see --json", count(rest, &format!("more {what}")))))
}

/// Names in a sentence: `a, b and 3 more`.
fn names(nodes: &[NodeName], most: usize) -> String {
    let listed: Vec<&str> = nodes.iter().take(most).map(NodeName::as_str).collect();
    let rest = nodes.len().saturating_sub(most);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", listed.join(", "))
}

fn title(act: &Act, order: &[NodeName]) -> String {
    let nodes = names(order, MOST_NAMES);
    match act {
        Act::Drain { at_once: 1, .. } => format!("Drain {nodes}"),
        Act::Drain { at_once, .. } => format!("Drain {nodes}, {at_once} at a time"),
        Act::Upgrade { max_unavailable, surge, node_start_up, .. } => {
            let pace = format!("{max_unavailable} missing and {surge} more at a time");
            format!("Replace {nodes}: {pace}, a new node after {node_start_up}")
        }
        Act::Spot { notice, handler, .. } => {
            let handler = match handler {
                SpotHandler::Drain => "drained at the notice".to_string(),
                SpotHandler::Taint(taint) => format!("tainted {taint} at the notice"),
                SpotHandler::None => "nobody acts on the notice".into(),
            };
            format!("Lose {nodes} after a notice of {notice}, {handler}")
        }
        Act::Taint { taint } => format!("Taint {nodes} {taint}"),
    }
}

fn outcome(act: &Act, it: &Rehearsed) -> String {
    let moved = match (it.moved, it.moved_again) {
        (0, _) => "no pod has left".to_string(),
        (moved, 0) => format!("{} left", has(moved, "pod")),
        (moved, again) => {
            format!("{} left, {again} of them for the second time", has(moved, "pod"))
        }
    };
    let cut_off: usize = it.nodes.iter().map(|node| node.cut_off).sum();
    let cut_off = match cut_off {
        0 => String::new(),
        pods => format!("; {} cut off, still there when the node was gone", are(pods, "pod")),
    };
    let left = it.nodes.iter().filter(|node| node.ended.is_none()).count();
    let verb = match act {
        Act::Drain { .. } => "drained",
        Act::Upgrade { .. } => "replaced",
        Act::Spot { .. } => "gone",
        Act::Taint { .. } => {
            let last = it.ended.filter(|_| it.moved > 0);
            let last = last.map(|at| format!(", the last after {at}")).unwrap_or_default();
            return moved + &last;
        }
    };
    let failed = it.nodes.iter().filter(|node| node.failed).count();
    match it.ended {
        Some(_) if failed > 0 => {
            format!("{} could not be {verb}; {moved}", count(failed, "node"))
        }
        Some(ended) => {
            let all = if it.nodes.len() == 1 { "The node is" } else { "All nodes are" };
            format!("{all} {verb} after {ended}; {moved}{cut_off}")
        }
        None => {
            let never = it.blocked.iter().any(|it| it.by.never_ends());
            let ends = if never { "never ends" } else { "does not end" };
            let nodes = it.nodes.len();
            format!("It {ends}: {left} of {} not {verb}; {moved}", count(nodes, "node"))
        }
    }
}

fn has(number: usize, what: &str) -> String {
    format!("{} {}", count(number, what), if number == 1 { "has" } else { "have" })
}

fn are(number: usize, what: &str) -> String {
    format!("{} {}", count(number, what), if number == 1 { "is" } else { "are" })
}

/// A pod for which a drain waits, with the object to blame.
fn blocked_by(blocked: &Blocked) -> String {
    let Blocked { node, pod, by } = blocked;
    let why = match by {
        Blocker::Budget { budget, spec, needs, has, expected, pending } => {
            let kept = format!("PodDisruptionBudget {budget} ({spec})");
            if by.never_ends() {
                format!("{kept} never lets a pod go: it wants {needs} of {expected} healthy")
            } else {
                let waits = pending.iter().map(|it| format!("; {}", without_node(it)));
                let waits: String = waits.collect();
                format!("{kept} lets no pod go: it wants {needs} healthy, there are {has}{waits}")
            }
        }
        Blocker::Refused { message } => format!("the eviction is refused: {message}"),
        Blocker::Unconfirmed => {
            "it is deleted, but its kubelet does not say that it has ended".into()
        }
        Blocker::Terminating => "it is deleted, and its grace period is not over".into(),
        Blocker::Finalizers { finalizers } => {
            let names = finalizers.join(", ");
            format!(
                "it is deleted, but nothing in the simulation takes its finalizers off: {names}"
            )
        }
    };
    format!("{node}: pod {pod}: {why}")
}

fn without_node(group: &PendingReason) -> String {
    let PendingReason { reason, pods } = group;
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    format!("{} without a node{because}", count(*pods, "pod"))
}

fn nodes(act: &Act, it: &Rehearsed) -> Part {
    let is_spot = matches!(act, Act::Spot { .. });
    let time = |time: Option<Millis>| time.map_or_else(|| "-".into(), |time| time.to_string());
    let row = |node: &taintlab_core::plan::NodeCourse| {
        let name = node.node.as_str().to_string();
        let mut row = Vec::from([name, time(node.began), time(node.ended), node.pods.to_string()]);
        if is_spot {
            row.push(node.cut_off.to_string());
        }
        row
    };
    let mut head = ["Node", "Begins", "Ends", "Pods leave"].map(String::from).to_vec();
    if is_spot {
        head.push("Cut off".into());
    }
    Part::Table(head, it.nodes.iter().take(MOST).map(row).collect())
}

fn workload(course: &WorkloadCourse) -> Vec<String> {
    let it = &course.figures;
    let whole = match it.whole_again {
        Some(at) => at.to_string(),
        None if it.below.0 > 0 => "never".into(),
        None => "-".into(),
    };
    let at = if it.below.0 > 0 { it.worst_at.to_string() } else { "-".into() };
    let ready = format!("{} of {}", it.least_ready, it.wanted);
    let times = [it.below, it.at_zero].map(|it| it.to_string());
    let [below, at_zero] = times;
    Vec::from([it.subject.to_string(), ready, at, below, at_zero, whole])
}

fn pending(course: &WorkloadCourse) -> impl Iterator<Item = Part> {
    let it = &course.figures;
    let lost = (it.lost > 0).then(|| "it is gone: no controller makes it again".to_string());
    let all = it.pending.iter().map(without_node).chain(lost);
    all.map(|words| Part::Line(format!("{}: {words}", it.subject)))
}

/// What an order of the nodes gains over another.
fn gain(given: &Rehearsed, better: &Rehearsed) -> String {
    let (before, after) = (given.cost(), better.cost());
    let mut parts = Vec::new();
    let mut number = |what: &str, before: usize, after: usize| {
        if before != after {
            parts.push(format!("{what} {before} → {after}"));
        }
    };
    number("nodes left", before.nodes_left, after.nodes_left);
    number("pods without a node", before.without_node, after.without_node);
    number("pods that leave", before.moved, after.moved);
    let mut time = |what: &str, before: Millis, after: Millis| {
        if before != after {
            let said = |it: Millis| match it {
                Millis(u64::MAX) => "never".to_string(),
                it => it.to_string(),
            };
            parts.push(format!("{what} {} → {}", said(before), said(after)));
        }
    };
    time("time at zero", before.at_zero, after.at_zero);
    time("pod time missing", before.replica_time_lost, after.replica_time_lost);
    time("done after", before.time, after.time);
    parts.join(", ")
}

/// Lines of a shell that carry a procedure out in this order of the nodes.
#[must_use]
pub fn plan_commands(act: &Act, order: &[NodeName]) -> Vec<String> {
    let nodes = order.iter().map(NodeName::as_str).collect::<Vec<_>>().join(" ");
    let with = |flags: Vec<String>| flags.iter().map(|flag| format!(" {flag}")).collect::<String>();
    match act {
        Act::Drain { options, at_once: 1 } => {
            Vec::from([format!("kubectl drain {nodes}{}", with(options.flags()))])
        }
        Act::Drain { options, .. } => {
            let flags = with(options.flags());
            let each = order.iter().map(|node| format!("kubectl drain {node}{flags}"));
            [format!("kubectl cordon {nodes}")].into_iter().chain(each).collect()
        }
        Act::Upgrade { options, .. } => {
            let flags = with(options.flags());
            let each = |node: &NodeName| {
                format!("kubectl drain {node}{flags} && kubectl delete node {node}")
            };
            order.iter().map(each).collect()
        }
        Act::Spot { handler: SpotHandler::Drain, options, .. } => {
            let flags = with(options.flags());
            order.iter().map(|node| format!("kubectl drain {node}{flags}")).collect()
        }
        Act::Spot { handler: SpotHandler::Taint(taint), .. } | Act::Taint { taint } => {
            Vec::from([format!("kubectl taint nodes {nodes} {taint}")])
        }
        Act::Spot { handler: SpotHandler::None, .. } => Vec::new(),
    }
}
