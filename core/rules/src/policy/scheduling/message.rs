//! The message of the scheduler when no node fits a pod.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::filters::Cycle;
use super::{FilterPlugin, NodeVerdict, Rejection};
use crate::order::{Order, OrderedMap};
use crate::release::{AbsentNodes, PreemptionMessage};

/// The message where there are no nodes at all. Mirrors `ErrNoNodesAvailable`.
pub const NO_NODES_AVAILABLE: &str = "no nodes available to schedule pods";

/// `0/N nodes are available: …`, with the reasons counted and sorted as texts. Mirrors
/// `FitError.Error`.
pub fn fit_error<'a>(nodes: usize, reasons: impl IntoIterator<Item = &'a str>) -> String {
    let mut counts: OrderedMap<&str, usize> = OrderedMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut texts: Vec<String> =
        counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    texts.order();
    format!("0/{nodes} nodes are available: {}.", texts.join(", "))
}

/// The whole message, and the nodes on which preemption would help.
pub(super) fn failure(cycle: &Cycle<'_>, verdicts: &[NodeVerdict]) -> (String, Vec<String>) {
    if verdicts.is_empty() {
        return (NO_NODES_AVAILABLE.to_owned(), Vec::new());
    }
    let unmentioned = cycle.unmentioned_nodes();
    // Where no node is named that is there, the message would be empty.
    let all = verdicts.iter().all(|verdict| unmentioned(&verdict.node));
    let mentioned = verdicts.iter().filter(|verdict| all || !unmentioned(&verdict.node));
    let rejections = mentioned.filter_map(|verdict| verdict.rejection.as_ref());
    let reasons = rejections.flat_map(|rejection| &rejection.reasons).map(String::as_str);
    let mut message = match &cycle.refusal {
        Some(refusal) if cycle.release().says_refusal_once() => {
            let count = verdicts.len();
            format!("0/{count} nodes are available: {}.", refusal.reasons.join(", "))
        }
        _ => fit_error(verdicts.len(), reasons),
    };
    // The plugin DynamicResources comes last, and was not asked before another one refused the pod; it
    // ends with an error, and preemption is not thought of.
    let by_others = |it: &Rejection| it.plugin != FilterPlugin::DynamicResources;
    if cycle.refusal.as_ref().is_some_and(by_others) && cycle.deallocates_claims() {
        message.push_str(" not found");
        return (message, Vec::new());
    }
    let (why, preemptable) = preemption(cycle, verdicts);
    let ending = cycle.release().preemption_message();
    if preemptable.is_empty() && ending != PreemptionMessage::None {
        message.push_str(match cycle.devices.is_empty() {
            false => " still not schedulable, preemption: ",
            true if cycle.deallocates_claims() => " no new claims to deallocate, preemption: ",
            true => " preemption: ",
        });
        message.push_str(&why);
        if ending == PreemptionMessage::TwoFullStops {
            message.push('.');
        }
    }
    (message, preemptable)
}

/// Why preemption does not help, and where it does. Mirrors `preemption.Evaluator.Preempt`.
fn preemption(cycle: &Cycle<'_>, verdicts: &[NodeVerdict]) -> (String, Vec<String>) {
    if cycle.pod.fields.never_preempts {
        return ("not eligible due to preemptionPolicy=Never.".to_owned(), Vec::new());
    }
    let nodes = cycle.snapshot.nodes();
    let rejections: Vec<_> =
        nodes.zip(verdicts).map(|(node, verdict)| (node, verdict.rejection.as_ref())).collect();
    let tries_unmentioned = cycle.release().absent_nodes() == AbsentNodes::MayBePreempted;
    let unmentioned = cycle.unmentioned_nodes();
    let tried = |node: &str| tries_unmentioned && unmentioned(node);
    let (reasons, preemptable) = cycle.preemption_reasons(&rejections, tried);
    (fit_error(verdicts.len(), reasons.iter().map(String::as_str)), preemptable)
}
