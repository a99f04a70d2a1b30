//! Faults of a node, a zone or the control plane, which the user can cause.

use taintlab_core::api::{ConditionStatus, NodeName, node_condition_type as condition};
use taintlab_core::command::Command;
use taintlab_core::event::UnreachableCause;
use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::kubelet::NodePower;
use taintlab_core::simulator::NodeView as Kubelet;
use taintlab_core::time::{Span, Timestamp};
use yew::prelude::*;

use crate::components::parts::prose::fact;
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::inspector_model::InspectedNode;

/// The conditions that a kubelet reports: type, words, and the status that is bad.
const CONDITIONS: [(&str, &str, ConditionStatus); 5] = [
    (condition::READY, "Ready=False", ConditionStatus::False),
    (condition::MEMORY_PRESSURE, "MemoryPressure", ConditionStatus::True),
    (condition::DISK_PRESSURE, "DiskPressure", ConditionStatus::True),
    (condition::PID_PRESSURE, "PIDPressure", ConditionStatus::True),
    (condition::NETWORK_UNAVAILABLE, "NetworkUnavailable", ConditionStatus::True),
];

/// The flapping that the page offers: time down, time up, and repetitions. It is down for longer
/// than the grace period of any release.
const FLAP: (Timestamp, Timestamp, u32) = (Timestamp::from_secs(90), Timestamp::from_secs(30), 3);

/// A fault that the user can cause.
pub(crate) struct Fault {
    /// The name of the fault.
    pub(crate) words: &'static str,
    /// The effect of the fault.
    title: &'static str,
    /// The commands that cause the fault.
    pub(crate) commands: Vec<Command>,
}

impl Fault {
    fn new(words: &'static str, title: &'static str, command: Command) -> Self {
        Self { words, title, commands: vec![command] }
    }
}

/// A button that causes the fault.
fn button(Fault { words, title, commands }: Fault, dispatch: &Dispatch) -> Html {
    let refused = refused(dispatch);
    let onclick =
        dispatch.reform(move |_: MouseEvent| Msg::Edit(commands.clone(), refused.clone()));
    html! { <button class="btn small" {onclick} {title}>{ words }</button> }
}

/// The health of a node, and its faults.
pub(crate) fn node_health(node: &InspectedNode, dispatch: &Dispatch) -> Html {
    let (name, kubelet) = (&node.view.name, node.kubelet.as_deref());
    html! {
        <div class="stack" data-testid={TestId::NodeHealth}>
            { kubelet.map_or_else(unwatched, health) }
            <h3>{ "Faults" }</h3>
            <div class="row" role="group" aria-label="Faults">
                { for faults_of(name, kubelet).into_iter().map(|fault| button(fault, dispatch)) }
            </div>
            <h3>{ "What its kubelet reports" }</h3>
            <div class="row" role="group" aria-label="Conditions">
                { for reports_of(node).into_iter().map(|report| reported(report, dispatch)) }
            </div>
        </div>
    }
}

fn unwatched() -> Html {
    html! {
        <p class="hint">
            { "Kubelets and the node lifecycle controller are not simulated: only you add and \
               remove taints. The first fault enables them from the start of this timeline." }
        </p>
    }
}

/// The faults that are possible for a node in its present state.
pub(crate) fn faults_of(name: &NodeName, kubelet: Option<&Kubelet>) -> Vec<Fault> {
    let node = || name.clone();
    let runs = kubelet.is_none_or(|kubelet| kubelet.kubelet_runs);
    let cut = kubelet.is_some_and(|kubelet| kubelet.network_cut);
    let power = kubelet.map_or(NodePower::On, |kubelet| kubelet.power);
    let mut faults = Vec::new();
    let mut fault = |words, title, command| faults.push(Fault::new(words, title, command));
    if runs {
        fault("Stop kubelet", "Stops sending heartbeats", Command::StopKubelet { node: node() });
        let title = "It starts again; up to 1.30 its node is not ready until its next report";
        fault("Restart kubelet", title, Command::RestartKubelet { node: node() });
    } else if power == NodePower::Off {
        let title = "Its kubelet reports again, and starts the pods that have not failed";
        fault("Start node", title, Command::StartKubelet { node: node() });
    } else {
        let title = "It reports again, at once";
        fault("Start kubelet", title, Command::StartKubelet { node: node() });
    }
    if cut {
        let title = "Reconnects the kubelet to the API server";
        fault("Restore network", title, Command::RestoreNetwork { node: node() });
    } else {
        let title = "The kubelet keeps running but cannot reach the API server";
        fault("Cut network", title, Command::CutNetwork { node: node() });
    }
    if power == NodePower::On {
        let title = "Its kubelet ends the pods first, within 30 s unless its configuration says \
                     otherwise";
        fault("Shut down", title, Command::shut_down_gracefully(node()));
    }
    if power == NodePower::ShuttingDown {
        let title = "Pods still terminate";
        fault("Cancel shutdown", title, Command::CancelShutdown { node: node() });
    }
    if power != NodePower::Off {
        let title = "Stops everything on the node immediately";
        fault("Cut power", title, Command::PowerOffNode { node: node() });
    }
    let (down, up, times) = FLAP;
    let (down, up, times) = (Span::from(down), Span::from(up), Some(times));
    let title = "Three times 90 s down and 30 s up";
    fault("Flap kubelet", title, Command::FlapKubelet { node: node(), down, up, times });
    faults
}

/// The conditions that a node's kubelet can be made to report: words, whether it reports the bad
/// status now, and the command that changes the status.
pub(crate) fn reports_of(node: &InspectedNode) -> Vec<(&'static str, bool, Command)> {
    let report = |(type_, words, bad): &(&'static str, &'static str, ConditionStatus)| {
        let is_bad = node.conditions.iter().any(|(known, status)| known == type_ && status == bad);
        let good = match bad {
            ConditionStatus::True => ConditionStatus::False,
            _ => ConditionStatus::True,
        };
        let command = Command::SetNodeCondition {
            node: node.view.name.clone(),
            type_: (*type_).to_owned(),
            status: if is_bad { good } else { bad.clone() },
            reason: None,
            message: None,
        };
        (*words, is_bad, command)
    };
    CONDITIONS.iter().map(report).collect()
}

fn reported((words, is_bad, command): (&'static str, bool, Command), dispatch: &Dispatch) -> Html {
    let refused = refused(dispatch);
    let onclick =
        dispatch.reform(move |_: MouseEvent| Msg::Edit(vec![command.clone()], refused.clone()));
    html! {
        <button class="btn small toggle" aria-pressed={is_bad.to_string()} {onclick}>
            { words }
        </button>
    }
}

/// The health of a node, as the API server and the node lifecycle controller see it.
fn health(kubelet: &Kubelet) -> Html {
    let unreachable = kubelet.unreachable.map(|cause| match cause {
        UnreachableCause::KubeletStopped => "Its kubelet is stopped",
        UnreachableCause::NodeOff => "It is off",
        UnreachableCause::NetworkCut => "Its network is cut",
        UnreachableCause::ZoneNetworkCut => "The network of its zone is cut",
    });
    let unknown = kubelet.health.as_ref().and_then(|health| health.turns_unknown_at);
    html! {
        <>
            if kubelet.power == NodePower::ShuttingDown {
                <div class="verdict" data-state="counting" data-testid={TestId::ShuttingDown}>
                    <b>{ "It is shutting down" }</b>
                    <p>{ "The kubelet terminates the pods and rejects new ones" }</p>
                </div>
            }
            if let Some(unreachable) = unreachable {
                <div class="verdict" data-state="counting" data-testid={TestId::Unreachable}>
                    <b>{ unreachable }</b>
                    if let Some(unknown) = unknown {
                        <p>{ format!("Its conditions turn Unknown at {}", at(unknown)) }</p>
                    }
                    if kubelet.unconfirmed_deletions > 0 {
                        <p>{ format!("{} pending: pods stay Terminating until the kubelet reconnects",
                            crate::text::count(kubelet.unconfirmed_deletions, "deletion")) }</p>
                    }
                </div>
            }
            <dl class="facts">
                { fact("Lease renewed", moment(kubelet.lease_renewed_at)) }
                { fact("Status posted", moment(kubelet.status_posted_at)) }
                if let Some(next) = kubelet.next_renewal { { fact("Renews next", at(next)) } }
                if let Some(switch) = kubelet.switches_at {
                    { fact("Next start or stop", at(switch)) }
                }
                if let Some(health) = &kubelet.health {
                    { fact("Grace period", format!("{} (--{})",
                        crate::text::span(health.grace), health.grace_flag)) }
                }
            </dl>
            <table class="conditions">
                <thead>
                    <tr><th>{ "Condition" }</th><th>{ "Status" }</th><th>{ "Reason" }</th></tr>
                </thead>
                <tbody>
                    { for kubelet.conditions.iter().map(|condition| html! {
                        <tr title={condition.message.clone()}>
                            <td>{ &condition.type_ }</td>
                            <td>{ condition.status.to_string() }</td>
                            <td>{ &condition.reason }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </>
    }
}

fn moment(moment: Option<Moment>) -> String {
    moment.map_or_else(|| "never".to_owned(), crate::text::moment)
}

/// The fault of a zone.
pub(crate) fn fault_of_zone(name: &str, cut: bool) -> Fault {
    let zone = name.to_owned();
    if cut {
        let title = "Reconnects its nodes to the API server";
        Fault::new("Restore the zone's network", title, Command::RestoreZoneNetwork { zone })
    } else {
        let title = "No node of the zone can reach the API server";
        Fault::new("Cut the zone's network", title, Command::CutZoneNetwork { zone })
    }
}

/// The button for the fault of a zone.
pub(crate) fn zone_faults(name: &str, cut: bool, dispatch: &Dispatch) -> Html {
    html! {
        <div class="row" role="group" aria-label="Faults of the zone">
            { button(fault_of_zone(name, cut), dispatch) }
        </div>
    }
}

/// The faults of the control plane.
pub(crate) fn control_plane(dispatch: &Dispatch) -> Html {
    let faults = [
        Fault::new(
            "Restart kube-controller-manager",
            "Timers, queues and node health are reset",
            Command::RestartControllerManager,
        ),
        Fault::new(
            "Restart the taint-eviction controller",
            "Timers are lost; all nodes and pods are evaluated again",
            Command::RestartTaintEvictionController,
        ),
    ];
    html! {
        <div class="row" role="group" aria-label="Control plane">
            { for faults.into_iter().map(|fault| button(fault, dispatch)) }
        </div>
    }
}
