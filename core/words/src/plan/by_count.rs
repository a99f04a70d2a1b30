//! A curve by the number of nodes in words: a row for each number, and from which one on it hurts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::api::NodeName;
use taintlab_core::plan::{Act, CountRun, FirstAtZero};
use taintlab_core::plural::count;
use taintlab_core::report::ZoneStep;
use taintlab_core::time::Span;

use super::{MOST, MOST_NAMES, title, without_node};
use crate::parts::{Part, markdown, terminal};
use crate::table::Style;

/// Workloads that are named in a row at most; the JSON has all.
const MOST_IN_A_ROW: usize = 3;

/// A curve by the number of nodes, as far as it is told.
#[derive(Clone, Copy, Debug)]
pub struct CountText<'a> {
    /// Act that is planned.
    pub act: &'a Act,
    /// All nodes, in the order in which they were given.
    pub order: &'a [NodeName],
    /// Time from the beginning to the end of each run.
    pub horizon: Span,
    /// Number of rows that were planned.
    pub planned: usize,
    /// The rows that were made, in the order of their numbers.
    pub runs: &'a [CountRun],
    /// Workloads that are at zero in one of them.
    pub first_at_zero: &'a [FirstAtZero],
    /// Sentences about what the figures rest on.
    pub notes: &'a [String],
}

/// The curve in a terminal.
#[must_use]
pub fn count_terminal(curve: &CountText<'_>, style: Style) -> String {
    terminal(parts(curve), style)
}

/// The curve as Markdown.
#[must_use]
pub fn count_markdown(curve: &CountText<'_>) -> String {
    markdown(parts(curve))
}

fn parts(curve: &CountText<'_>) -> Vec<Part> {
    let CountText { act, order, horizon, planned, runs, first_at_zero, notes } = *curve;
    let all = order.len();
    let title = title(act, order);
    let mut parts = Vec::from([
        Part::Heading(format!("{title}: by number of nodes")),
        Part::Line(format!(
            "Each row is a run of its own, watched for {horizon}: the first nodes of the list, all at once"
        )),
    ]);
    let mut line = |words: String| parts.push(Part::Line(words));
    if planned < all {
        line(format!("{planned} of {all} numbers are planned, evenly spaced"));
    }
    if runs.len() < planned {
        line(format!("Stopped: {} of {} made", runs.len(), count(planned, "row")));
    }
    notes.iter().cloned().for_each(&mut line);
    if first_at_zero.is_empty() {
        line("No workload is at zero in any row".into());
    }
    first_at_zero.iter().take(MOST).map(at_zero).for_each(&mut line);
    if let Some(rest) = first_at_zero.len().checked_sub(MOST).filter(|rest| *rest > 0) {
        line(format!("and {}: see --json", count(rest, "more workload")));
    }
    line(pending(runs));
    line(zones(act, runs));
    parts.push(table(runs));
    parts
}

/// From how many nodes on a workload is at zero, and the sum that makes it so.
fn at_zero(it: &FirstAtZero) -> String {
    let subject = &it.subject;
    let from = count(it.nodes, "node");
    let from = match (it.nodes - it.not_at, it.and_at_all_above) {
        (1, true) => format!("from {from} on"),
        (1, false) => format!("at {from}, but not at every greater number"),
        (_, true) => format!("from {from} on, if not before: {} are too few", it.not_at),
        (_, false) => {
            format!("at {from}, if not before, but not at every greater number")
        }
    };
    let lasts = match it.in_the_end_from {
        Some(nodes) if nodes == it.nodes => ", and stays so".into(),
        Some(nodes) => format!(", and stays so from {nodes} on"),
        None => String::new(),
    };
    let on: usize = it.on_nodes.iter().map(|on| on.pods).sum();
    let each = it.on_nodes.iter().map(|on| format!(" - {} on {}", on.pods, on.node));
    let parts = if it.on_nodes.len() > MOST_NAMES {
        format!(" - {on} on {}", count(it.on_nodes.len(), "node"))
    } else {
        each.collect()
    };
    let rest = it.ready.saturating_sub(on);
    let others = match rest {
        0 => "",
        _ => ", which end for another reason, such as preemption",
    };
    format!("{subject} is at zero {from}{lasts}: {} ready{parts} = {rest}{others}", it.ready)
}

/// From how many nodes on pods find no node, and why.
fn pending(runs: &[CountRun]) -> String {
    let Some(first) = runs.iter().find(|run| run.pending > 0) else {
        return "Every pod that has to leave and is made again finds a node".into();
    };
    let groups = first.workloads.iter().flat_map(|it| &it.figures.pending);
    let most = groups.max_by_key(|group| group.pods);
    let why = most.map(|group| format!(": {}", without_node(group))).unwrap_or_default();
    format!("Pods stay Pending from {} on{why}", count(first.nodes, "node"))
}

/// From how many nodes on a zone changes its state; if none does, why not.
fn zones(act: &Act, runs: &[CountRun]) -> String {
    match runs.iter().find(|run| !run.zones.is_empty()) {
        Some(first) => {
            format!("Zones change from {} on: {}", count(first.nodes, "node"), states(&first.zones))
        }
        None if matches!(act, Act::Taint { .. }) => {
            "No zone changes its state, and no rate limit applies: nodes with the taint stay Ready"
                .into()
        }
        None => "No zone changes its state".into(),
    }
}

/// `eu-1a PartialDisruption, eu-1a Normal`.
fn states(zones: &[ZoneStep]) -> String {
    let state = |step: &ZoneStep| {
        let zone = if step.zone.is_empty() { "(no zone)" } else { step.zone.as_str() };
        step.state.map(|state| format!("{zone} {state} at {}", step.at))
    };
    zones.iter().filter_map(state).collect::<Vec<_>>().join(", ")
}

fn table(runs: &[CountRun]) -> Part {
    let has_cut_off = runs.iter().any(|run| run.cut_off > 0);
    let has_lost = runs.iter().any(|run| run.lost > 0);
    let has_zones = runs.iter().any(|run| !run.zones.is_empty());
    let row = |run: &CountRun| {
        let zero: Vec<_> = run.workloads.iter().filter(|it| it.figures.at_zero.0 > 0).collect();
        let at_zero = match zero.first() {
            None => "-".into(),
            Some(_) if zero.iter().any(|it| it.at_zero_in_the_end) => {
                format!("{}, in the end", zero.len())
            }
            // The first is the longest.
            Some(first) => format!("{}, for {}", zero.len(), first.figures.at_zero),
        };
        let ready = run.workloads.iter().take(MOST_IN_A_ROW).map(|it| {
            let it = &it.figures;
            format!("{} {} of {}", it.subject, it.least_ready, it.wanted)
        });
        let mut ready = ready.collect::<Vec<_>>().join(", ");
        let rest = run.workloads.len().saturating_sub(MOST_IN_A_ROW);
        if rest > 0 {
            ready += &format!(" and {rest} more");
        }
        if ready.is_empty() {
            ready = "-".into();
        }
        let numbers = [run.nodes.to_string(), run.last.to_string()];
        let mut row: Vec<String> = numbers.into();
        row.push(run.left.to_string());
        if has_cut_off {
            row.push(run.cut_off.to_string());
        }
        row.push(run.pending.to_string());
        if has_lost {
            row.push(run.lost.to_string());
        }
        row.push(at_zero);
        if has_zones {
            row.push(if run.zones.is_empty() { "-".into() } else { states(&run.zones) });
        }
        row.push(ready);
        row
    };
    let lost = has_lost.then_some("Gone for good");
    let zones = has_zones.then_some("Zones");
    let head = ["Nodes", "Last one", "Pods leave"].into_iter();
    let head = head.chain(has_cut_off.then_some("Cut off")).chain(["Pending"]).chain(lost);
    let head = head.chain(["At zero"]).chain(zones).chain(["Fewest ready"]);
    Part::Table(head.map(String::from).collect(), runs.iter().map(row).collect())
}
