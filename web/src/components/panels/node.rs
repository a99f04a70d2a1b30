//! The panel of a node.

mod load_form;
mod resources;
mod taint_form;

use taintlab_core::command::Command;
use yew::prelude::*;

use super::faults::node_health;
use super::head::head;
use super::node::resources::Resources;
use super::node::taint_form::TaintForm;
use crate::components::parts::draft::use_form_draft;
use crate::components::parts::icon;
use crate::components::parts::label_form::LabelForm;
use crate::components::parts::pod_mark::pod_row;
use crate::components::parts::tabs::{Tab, tabs};
use crate::components::parts::yaml_tab::YamlTab;
use crate::messages::{Dialog, Dispatch, Msg, maybe, refused};
use crate::test_id::TestId;
use crate::view_models::inspector_model::{InspectedDevice, InspectedNode};
use crate::view_models::selection::Selection;

/// A tab of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeTab {
    /// The node's taints, to be edited.
    Taints,
    /// The node's health, and faults.
    Health,
    /// The node's resources and their pressure.
    Resources,
    /// The node's pods.
    Pods,
    /// The node's devices.
    Devices,
    /// The node's labels, to be edited.
    Labels,
    /// The object as YAML.
    Yaml,
}

impl Tab for NodeTab {
    fn as_str(self) -> &'static str {
        match self {
            Self::Taints => "taints",
            Self::Health => "health",
            Self::Resources => "resources",
            Self::Pods => "pods",
            Self::Devices => "devices",
            Self::Labels => "labels",
            Self::Yaml => "yaml",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Taints => "Taints",
            Self::Health => "Health",
            Self::Resources => "Resources",
            Self::Pods => "Pods",
            Self::Devices => "Devices",
            Self::Labels => "Labels",
            Self::Yaml => "YAML",
        }
    }
}

/// Properties of [`NodePanel`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NodePanelProps {
    /// The node.
    pub(crate) node: InspectedNode,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The panel of a node.
#[component]
pub(crate) fn NodePanel(props: &NodePanelProps) -> Html {
    let tab = use_state(|| NodeTab::Taints);
    let (taints, pairs, yaml) = (use_form_draft(), use_form_draft(), use_form_draft());
    let (view, dispatch) = (&props.node.view, &props.dispatch);
    let name = html! { { view.name.to_string() } };
    let badge = html! { <span class="badge">{ view.status() }</span> };
    let Some(labels) = &props.node.labels else {
        return html! {
            <>
                { head("Node", name, badge, Html::default(), dispatch) }
                <div class="body stack">
                    <p class="hint">
                        { "This node does not exist, but these pods are bound to it. Taints cannot \
                           evict them, and no controller removes them." }
                    </p>
                    { pods(props) }
                </div>
            </>
        };
    };
    let mut all = vec![
        (NodeTab::Taints, Some(view.taints.len())),
        (NodeTab::Health, None),
        (NodeTab::Resources, None),
        (NodeTab::Pods, Some(view.pods.len())),
        (NodeTab::Labels, Some(labels.len())),
        (NodeTab::Yaml, None),
    ];
    let known = props.node.devices.len();
    if known > 0 {
        all.insert(4, (NodeTab::Devices, Some(known)));
    }
    let body = match *tab {
        NodeTab::Pods => pods(props),
        NodeTab::Devices => devices(props),
        NodeTab::Health => node_health(&props.node, dispatch),
        NodeTab::Resources => html! {
            <Resources node={props.node.clone()} dispatch={dispatch.clone()} />
        },
        NodeTab::Labels => {
            let name = view.name.clone();
            let command =
                Callback::from(move |labels| Command::SetNodeLabels { node: name.clone(), labels });
            html! {
                <LabelForm labels={labels.clone()} {command} of_node=true draft={pairs}
                    dispatch={dispatch.clone()} />
            }
        }
        NodeTab::Yaml => html! {
            <YamlTab text={props.node.yaml.clone()} of={Selection::Node(view.name.clone())}
                draft={yaml} dispatch={dispatch.clone()} />
        },
        NodeTab::Taints => html! {
            <TaintForm node={view.name.clone()} taints={view.taints.clone()} draft={taints}
                dispatch={dispatch.clone()} />
        },
    };
    html! {
        <>
            { head("Node", name, badge, actions(props), dispatch) }
            { tabs(&all, &tab) }
            <div class="body">{ body }</div>
        </>
    }
}

fn actions(props: &NodePanelProps) -> Html {
    let (view, dispatch) = (&props.node.view, &props.dispatch);
    let edit = |command: Command| {
        let refused = refused(dispatch);
        dispatch.reform(move |_: MouseEvent| Msg::Edit(vec![command.clone()], refused.clone()))
    };
    let cordon =
        Command::SetUnschedulable { node: view.name.clone(), unschedulable: !view.unschedulable };
    let name = view.name.to_string();
    html! {
        <>
            <button class="btn small" onclick={edit(cordon)}>
                { if view.unschedulable { "Uncordon" } else { "Cordon" } }
            </button>
            <button class="btn small" onclick={dispatch.reform(move |_| {
                Msg::Open(Dialog::CreatePod(name.as_str().into()))
            })}>{ icon::plus() }{ "Pod" }</button>
            <button class="btn small danger"
                onclick={edit(Command::DeleteNode { node: view.name.clone() })}>
                { icon::bin() }{ "Delete" }
            </button>
        </>
    }
}

fn pods(props: &NodePanelProps) -> Html {
    let view = &props.node.view;
    if view.pods.is_empty() {
        return html! { <p class="hint">{ "No pods." }</p> };
    }
    html! {
        <div class="podlist" onclick={select_pod(props)}>
            { for view.pods.iter().map(|pod| pod_row(pod, false, None)) }
        </div>
    }
}

/// Selects the pod that is clicked.
fn select_pod(props: &NodePanelProps) -> Callback<MouseEvent> {
    maybe(&props.dispatch, |event: MouseEvent| {
        let target: web_sys::Element = event.target_dyn_into()?;
        let pod = target.closest("[data-pod]").ok().flatten()?.get_attribute("data-pod")?;
        let key = taintlab_core::api::PodKey::parse(&pod).ok()?;
        Some(Msg::Select(Some(Selection::Pod(key))))
    })
}

/// The devices with their taints, and the pods that have them.
fn devices(props: &NodePanelProps) -> Html {
    let row = |InspectedDevice { view, pods }: &InspectedDevice| {
        html! {
            <li data-tainted={(!view.taints.is_empty()).to_string()}>
                <div>{ format!("{}/{}/{}", view.driver, view.pool, view.device) }</div>
                { for view.taints.iter().map(|taint| html! {
                    <div class="taint">{ format!("tainted {taint}") }</div>
                }) }
                if pods.is_empty() { <div class="muted">{ "of no pod" }</div> }
                { for pods.iter().map(|pod| html! {
                    <button class="btn small" data-pod={pod.to_string()}>{ pod.to_string() }</button>
                }) }
            </li>
        }
    };
    html! {
        <ul class="devicelist" onclick={select_pod(props)} data-testid={TestId::NodeDevices}>
            { for props.node.devices.iter().map(row) }
        </ul>
    }
}
