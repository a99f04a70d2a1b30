//! What can be done to a node, a zone or the control plane to see what becomes of it.

use taintlab_core::api::{ConditionStatus, NodeName, node_condition_type as condition};
use taintlab_core::command::Command;
use taintlab_core::event::SilenceCause;
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

/// The conditions that a kubelet reports, and what is bad about each.
const CONDITIONS: [(&str, &str, ConditionStatus); 5] = [
    (condition::READY, "Ready=False", ConditionStatus::False),
    (condition::MEMORY_PRESSURE, "MemoryPressure", ConditionStatus::True),
    (condition::DISK_PRESSURE, "DiskPressure", ConditionStatus::True),
    (condition::PID_PRESSURE, "PIDPressure", ConditionStatus::True),
    (condition::NETWORK_UNAVAILABLE, "NetworkUnavailable", ConditionStatus::True),
];

/// How a flapping kubelet of the page flaps: longer away than the grace period of any release, and
/// three times.
const FLAP: (Timestamp, Timestamp, u32) = (Timestamp::from_secs(90), Timestamp::from_secs(30), 3);

/// A button that gives commands.
fn button(
    words: &'static str,
    title: &'static str,
    commands: Vec<Command>,
    dispatch: &Dispatch,
) -> Html {
    let refused = refused(dispatch);
    let onclick =
        dispatch.reform(move |_: MouseEvent| Msg::Edit(commands.clone(), refused.clone()));
    html! { <button class="btn small" {onclick} {title}>{ words }</button> }
}

/// How a node is doing, and what can be done to it.
pub(crate) fn node_health(node: &InspectedNode, dispatch: &Dispatch) -> Html {
    let name = &node.view.name;
    let kubelet = node.kubelet.as_deref();
    html! {
        <div class="stack" data-testid={TestId::NodeHealth}>
            { kubelet.map_or_else(unwatched, health) }
            <h3>{ "Faults" }</h3>
            <div class="row" role="group" aria-label="Faults">
                { faults(name, kubelet, dispatch) }
            </div>
            <h3>{ "What its kubelet reports" }</h3>
            <div class="row" role="group" aria-label="Conditions">
                { for CONDITIONS.iter().map(|known| reported(name, node, known, dispatch)) }
            </div>
        </div>
    }
}

fn unwatched() -> Html {
    html! {
        <p class="hint">
            { "Kubelets and the node lifecycle controller do not run here: taints come only by hand \
               and stay. The first fault lets them run, from the beginning of this timeline." }
        </p>
    }
}

fn faults(name: &NodeName, kubelet: Option<&Kubelet>, dispatch: &Dispatch) -> Html {
    let node = || name.clone();
    let runs = kubelet.is_none_or(|kubelet| kubelet.kubelet_runs);
    let cut = kubelet.is_some_and(|kubelet| kubelet.network_cut);
    let power = kubelet.map_or(NodePower::On, |kubelet| kubelet.power);
    let (down, up, times) = FLAP;
    let flap = Command::FlapKubelet {
        node: node(),
        down: Span::from(down),
        up: Span::from(up),
        times: Some(times),
    };
    html! {
        <>
            if runs {
                { button("Stop kubelet", "It reports no more", vec![Command::StopKubelet { node: node() }], dispatch) }
                { button("Restart kubelet", "It starts again; up to 1.30 its node is not ready until its next report", vec![Command::RestartKubelet { node: node() }], dispatch) }
            } else if power == NodePower::Off {
                { button("Start node", "Its kubelet reports again, and starts the pods that have not failed", vec![Command::StartKubelet { node: node() }], dispatch) }
            } else {
                { button("Start kubelet", "It reports again, at once", vec![Command::StartKubelet { node: node() }], dispatch) }
            }
            if cut {
                { button("Restore network", "The API server hears it again", vec![Command::RestoreNetwork { node: node() }], dispatch) }
            } else {
                { button("Cut network", "Its kubelet runs and is not heard", vec![Command::CutNetwork { node: node() }], dispatch) }
            }
            if power == NodePower::On {
                { button("Shut down", "Its kubelet ends the pods first, within 30 s unless its configuration says otherwise", vec![Command::shut_down_gracefully(node())], dispatch) }
            }
            if power == NodePower::ShuttingDown {
                { button("Cancel shutdown", "Its pods end all the same", vec![Command::CancelShutdown { node: node() }], dispatch) }
            }
            if power != NodePower::Off {
                { button("Cut power", "Everything on it ends at once", vec![Command::PowerOffNode { node: node() }], dispatch) }
            }
            { button("Flap kubelet", "Three times 90 s down and 30 s up", vec![flap], dispatch) }
        </>
    }
}

fn reported(
    name: &NodeName,
    node: &InspectedNode,
    (type_, words, bad): &(&'static str, &'static str, ConditionStatus),
    dispatch: &Dispatch,
) -> Html {
    let condition = node.object.as_ref().and_then(|node| node.condition(type_));
    let is_bad = condition.is_some_and(|condition| condition.status == *bad);
    let good = match bad {
        ConditionStatus::True => ConditionStatus::False,
        _ => ConditionStatus::True,
    };
    let command = Command::SetNodeCondition {
        node: name.clone(),
        type_: (*type_).to_owned(),
        status: if is_bad { good } else { bad.clone() },
        reason: None,
        message: None,
    };
    let refused = refused(dispatch);
    let onclick =
        dispatch.reform(move |_: MouseEvent| Msg::Edit(vec![command.clone()], refused.clone()));
    html! {
        <button class="btn small toggle" aria-pressed={is_bad.to_string()} {onclick}>
            { *words }
        </button>
    }
}

/// How the API server and the node lifecycle controller see a node.
fn health(kubelet: &Kubelet) -> Html {
    let silent = kubelet.silent.map(|cause| match cause {
        SilenceCause::KubeletStopped => "Its kubelet is stopped",
        SilenceCause::NodeOff => "It is off",
        SilenceCause::NetworkCut => "Its network is cut",
        SilenceCause::ZoneNetworkCut => "The network of its zone is cut",
    });
    let unknown = kubelet.health.as_ref().and_then(|health| health.turns_unknown_at);
    html! {
        <>
            if kubelet.power == NodePower::ShuttingDown {
                <div class="verdict" data-state="counting" data-testid={TestId::ShuttingDown}>
                    <b>{ "It is shutting down" }</b>
                    <p>{ "Its kubelet ends the pods, and refuses others" }</p>
                </div>
            }
            if let Some(silent) = silent {
                <div class="verdict" data-state="counting" data-testid={TestId::Silent}>
                    <b>{ silent }</b>
                    if let Some(unknown) = unknown {
                        <p>{ format!("Its conditions turn Unknown at {}", at(unknown)) }</p>
                    }
                    if kubelet.unconfirmed_deletions > 0 {
                        <p>{ format!("{} not confirmed: such pods stay Terminating until it is back",
                            crate::text::count(kubelet.unconfirmed_deletions, "deletion")) }</p>
                    }
                </div>
            }
            <dl class="facts">
                { fact("Lease renewed", moment(kubelet.lease_renewed_at)) }
                { fact("Status posted", moment(kubelet.status_posted_at)) }
                if let Some(next) = kubelet.next_renewal { { fact("Renews next", at(next)) } }
                if let Some(switch) = kubelet.switches_at { { fact("Switches by itself", at(switch)) } }
                if let Some(health) = &kubelet.health {
                    { fact("May be silent for", format!("{} (--{})",
                        crate::text::span(health.grace), health.grace_flag)) }
                }
            </dl>
            <table class="conditions">
                <thead><tr><th>{ "Condition" }</th><th>{ "Status" }</th><th>{ "Reason" }</th></tr></thead>
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
    let Some(moment) = moment else { return "never".to_owned() };
    match u64::try_from(moment.as_nanos()) {
        Ok(nanos) => at(Timestamp::from_nanos(nanos)),
        // Before the simulation began.
        Err(_) => moment.to_string(),
    }
}

/// What can be done to a zone.
pub(crate) fn zone_faults(name: &str, cut: bool, dispatch: &Dispatch) -> Html {
    let zone = || name.to_owned();
    html! {
        <div class="row" role="group" aria-label="Faults of the zone">
            if cut {
                { button("Restore the zone's network", "The API server hears its nodes again",
                    vec![Command::RestoreZoneNetwork { zone: zone() }], dispatch) }
            } else {
                { button("Cut the zone's network", "No node of it is heard any more",
                    vec![Command::CutZoneNetwork { zone: zone() }], dispatch) }
            }
        </div>
    }
}

/// What can be done to the control plane.
pub(crate) fn control_plane(dispatch: &Dispatch) -> Html {
    html! {
        <div class="row" role="group" aria-label="Control plane">
            { button("Restart kube-controller-manager",
                "Timers, queues and the health it saved start again",
                vec![Command::RestartControllerManager], dispatch) }
            { button("Restart the taint-eviction controller",
                "Its timers are lost; it sees everything as new",
                vec![Command::RestartTaintEvictionController], dispatch) }
        </div>
    }
}
