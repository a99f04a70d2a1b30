//! The card of a node, with its taints and pods.

use std::rc::Rc;

use taintlab_core::api::Taint;
use taintlab_core::command::Command;
use taintlab_core::event::UnreachableCause;
use taintlab_core::order::Order;
use taintlab_core::pod_state::PodVerdict;
use taintlab_core::warnings::Severity;
use yew::prelude::*;

use crate::components::parts::name::cut_name;
use crate::components::parts::pod_mark::{pod_dot, pod_item};
use crate::components::parts::severity::picture;
use crate::components::parts::taint_chip::taint_chip;
use crate::components::parts::tallies::tallies;
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;
use crate::text::{at, count};
use crate::view_models::board::density::Detail;
use crate::view_models::board::patch::MAX_DOTS;
use crate::view_models::board::{DriverDevices, NodeView, PodView, unreachable_words};
use crate::view_models::names::Shared;
use crate::view_models::pane::{PaneMsg, PaneTab};
use crate::view_models::selection::Selection;
use crate::view_models::warning_marks::WarningMarks;

/// Properties of [`NodeCard`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NodeCardProps {
    /// The node.
    pub(crate) node: Rc<NodeView>,
    /// The detail in which the node is drawn.
    pub(crate) detail: Detail,
    /// The selection, if it is this node or something on it.
    pub(crate) selection: Option<Selection>,
    /// The warning marks on the board, and the number of warnings.
    #[prop_or_default]
    pub(crate) marked: Rc<WarningMarks>,
    /// The prefix and suffix that all node names share.
    #[prop_or_default]
    pub(crate) names: Shared,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// A node's card. The board handles clicks on it.
#[component]
pub(crate) fn NodeCard(props: &NodeCardProps) -> Html {
    let node = &props.node;
    let name = node.name.as_str().to_owned();
    let selected = props.selection == Some(Selection::Node(node.name.clone()));
    let tainted = node.taints.iter().any(Taint::is_no_execute);
    let ready = if node.exists { node.ready.to_string() } else { "NotFound".to_owned() };
    let pods = count(node.pod_count, "pod");
    let more = more_words(node, props.marked.nodes.contains_key(&node.name));
    let label = format!("node {name}, {}, {pods}{more}", node.status());
    html! {
        <div class="node" data-node={name.clone()} data-tainted={tainted.to_string()}
            data-selected={selected.to_string()} data-testid={TestId::Node}>
            <button class="name" title={label} role="treeitem"
                aria-level="2" aria-selected={selected.to_string()} tabindex="-1">
                <span class="dot" data-ready={ready}></span>
                <span class="sr">{ "node " }</span>
                { cut_name(&name, props.names) }
                <span class="sr">{ format!(", {}, ", node.status()) }</span>
                <span class="status">{ pods }{ extra_status(node) }</span>
                if !more.is_empty() { <span class="sr">{ more }</span> }
            </button>
            if let Some(severity) = props.marked.nodes.get(&node.name) {
                <span class="beware" data-severity={severity.as_str()}>{ picture(*severity) }</span>
            }
            if let Some(cause) = node.unreachable {
                <span class="unreachable" data-cause={unreachable_words(cause)}>
                    { unreachable_words(cause) }
                </span>
            }
            if !node.taints.is_empty() {
                <div class="taints">
                    { for node.taints.iter().map(|taint| taint_chip(taint, true)) }
                </div>
            }
            if !node.devices.is_empty() && props.detail != Detail::Cells {
                { devices(node) }
            }
            { match props.detail {
                Detail::Full => rows(props),
                Detail::Compact => dots(props),
                Detail::Rows | Detail::Cells => tallies(&node.counts),
            } }
            if node.exists && (props.detail == Detail::Full || selected) {
                { deeds(node, &props.dispatch) }
            }
        </div>
    }
}

/// The number of devices of each driver, and the tainted ones by name.
fn devices(node: &NodeView) -> Html {
    let of = |driver: &DriverDevices| {
        let more = driver.tainted_count.saturating_sub(driver.tainted.len());
        html! {
            <>
                <span class="clip">{ format!("{} × {}", driver.count, driver.driver) }</span>
                { for driver.tainted.iter().map(|tainted| html! {
                    <span class="taint" title={tainted.clone()}>
                        <span class="clip">{ tainted.clone() }</span>
                    </span>
                }) }
                if more > 0 { <span>{ format!("and {more} more tainted") }</span> }
            </>
        }
    };
    html! {
        <div class="taints devices" aria-hidden="true" data-testid={TestId::Devices}>
            { for node.devices.iter().map(of) }
        </div>
    }
}

/// Buttons for the most frequent actions on a node; where nodes have little room, only on the
/// selected one. For the mouse only: everyone finds these in the inspector of the node.
fn deeds(node: &NodeView, dispatch: &Dispatch) -> Html {
    let button = |words: &'static str, title: &'static str, msgs: Rc<dyn Fn() -> Vec<Msg>>| {
        let dispatch = dispatch.clone();
        let onclick = Callback::from(move |event: MouseEvent| {
            // The click is not on the card.
            event.stop_propagation();
            msgs().into_iter().for_each(|msg| dispatch.emit(msg));
        });
        html! {
            <button class="deed" tabindex="-1" aria-hidden="true" {title} {onclick}>{ words }</button>
        }
    };
    let name = node.name.clone();
    let (words, title, command) = match node.unreachable {
        Some(UnreachableCause::KubeletStopped) => {
            ("Start kubelet", "Heartbeats resume", Command::StartKubelet { node: name })
        }
        Some(UnreachableCause::NodeOff) => {
            ("Start node", "Its kubelet reports again", Command::StartKubelet { node: name })
        }
        _ => ("Stop kubelet", "Stops sending heartbeats", Command::StopKubelet { node: name }),
    };
    let refused = refused(dispatch);
    let kubelet: Rc<dyn Fn() -> Vec<Msg>> =
        Rc::new(move || vec![Msg::Edit(vec![command.clone()], refused.clone())]);
    let name = node.name.clone();
    let taint: Rc<dyn Fn() -> Vec<Msg>> =
        Rc::new(move || vec![Msg::Show(Selection::Node(name.clone()))]);
    let line = format!("kubectl drain {} --ignore-daemonsets --delete-emptydir-data", node.name);
    let drain: Rc<dyn Fn() -> Vec<Msg>> = Rc::new(move || {
        vec![Msg::Pane(PaneMsg::Show(PaneTab::Kubectl)), Msg::Kubectl(line.clone())]
    });
    html! {
        <div class="deeds">
            { button(words, title, kubelet) }
            { button("Taint", "Add a taint in the inspector", taint) }
            { button("Drain", "kubectl drain, in the console", drain) }
        </div>
    }
}

/// The rest of a card's label, for users who do not see the card.
fn more_words(node: &NodeView, warned: bool) -> String {
    let mut words = String::new();
    for taint in &node.taints {
        words.push_str(&format!(", taint {taint}"));
    }
    for driver in &node.devices {
        words.push_str(&format!(", {}", driver.words()));
    }
    if let Some(cause) = node.unreachable {
        words.push_str(&format!(", {}", unreachable_words(cause)));
    }
    if warned {
        words.push_str(", with a warning");
    }
    words
}

/// The status to show beside the number of pods.
fn extra_status(node: &NodeView) -> String {
    match node.status() {
        "Ready" | "Unknown" => String::new(),
        "Ready,SchedulingDisabled" | "Unknown,SchedulingDisabled" => " · cordoned".to_owned(),
        "NotReady,SchedulingDisabled" => " · NotReady, cordoned".to_owned(),
        other => format!(" · {other}"),
    }
}

fn rows(props: &NodeCardProps) -> Html {
    let node = &props.node;
    // Pods that are leaving come first, so that they are in sight.
    let mut pods: Vec<_> = node.pods.iter().collect();
    pods.order_by_key(|pod| pod.state.verdict == PodVerdict::Stays);
    html! {
        <>
            if !pods.is_empty() {
                <div class="pods" role="group">
                    { for pods.into_iter().map(|pod| {
                        pod_item(pod, is_selected(props, pod), warning_severity(props, pod))
                    }) }
                </div>
            } else if node.gone_count == 0 {
                <div class="none">{ "no pods" }</div>
            }
            if node.gone_count > 0 { { gone(node) } }
        </>
    }
}

fn gone(node: &NodeView) -> Html {
    let more = node.gone_count.saturating_sub(node.gone.len());
    html! {
        <div class="gone" role="group" aria-label="Pods that are gone">
            { for node.gone.iter().map(|gone| html! {
                <button data-pod={gone.pod.to_string()} data-state="gone" role="treeitem"
                    aria-level="3" aria-selected="false" tabindex="-1"
                    title={format!("{} was {} at {}", gone.pod,
                        if gone.evicted.is_some() { "evicted" } else { "deleted" },
                        at(gone.evicted.unwrap_or(gone.at)))}>
                    <s class="clip">{ cut_name(gone.pod.name(), Shared::default()) }</s>
                    if gone.lost() { <span class="lost">{ "lost" }</span> }
                    <time>{ at(gone.evicted.unwrap_or(gone.at)) }</time>
                </button>
            }) }
            if more > 0 { <span>{ format!("and {more} more") }</span> }
        </div>
    }
}

fn dots(props: &NodeCardProps) -> Html {
    let node = &props.node;
    let more = node.pod_count.saturating_sub(MAX_DOTS);
    html! {
        <div class="dots" role="group">
            { for node.pods.iter().take(MAX_DOTS).map(|pod| {
                pod_dot(pod, is_selected(props, pod), warning_severity(props, pod))
            }) }
            if more > 0 { <span class="left">{ format!("+{more}") }</span> }
            if node.gone_count > 0 {
                <span class="left">{ format!("−{}", node.gone_count) }</span>
            }
        </div>
    }
}

fn warning_severity(props: &NodeCardProps, pod: &PodView) -> Option<Severity> {
    props.marked.pods.get(&pod.key).copied()
}

fn is_selected(props: &NodeCardProps, pod: &PodView) -> bool {
    matches!(&props.selection, Some(Selection::Pod(key)) if *key == pod.key)
}
