//! What is selected, in depth.

use std::rc::Rc;

use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use yew::prelude::*;

use super::budget::time_budget;
use super::icon;
use super::node_panel::NodePanel;
use super::overview::overview_panel;
use super::pod_panel::PodPanel;
use super::pods_panel::PodsPanel;
use super::workload_panel::WorkloadPanel;
use super::zone_panel::ZonePanel;
use crate::app::{Dialog, Dispatch, Msg};
use crate::inspected::Inspected;
use crate::model::Selection;
use crate::session::Gone;
use crate::text::at;
use crate::warned::counted;

/// Properties of [`Inspector`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct InspectorProps {
    /// What is selected.
    pub(crate) inspected: Rc<Inspected>,
    /// The selection and the number of warnings about it by severity, if there are any.
    pub(crate) about: Option<(Selection, [usize; 3])>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// The inspector.
#[component]
pub(crate) fn Inspector(props: &InspectorProps) -> Html {
    let dispatch = &props.dispatch;
    let empty = matches!(*props.inspected, Inspected::Overview(_));
    html! {
        <aside class="inspector" aria-label="Inspector" data-testid="inspector"
            data-empty={empty.to_string()}>
            { panel(&props.inspected, dispatch) }
            { props.about.as_ref().map(|about| warned(about, dispatch)) }
        </aside>
    }
}

/// The way to the warnings about what is selected.
fn warned((selection, counts): &(Selection, [usize; 3]), dispatch: &Dispatch) -> Html {
    let about = selection.clone();
    html! {
        <button class="aboutit" data-testid="warnings-about" onclick={dispatch.reform(move |_| {
            Msg::Open(Dialog::Warnings(Some(about.clone())))
        })}>{ icon::warning() }{ counted(*counts) }{ " about it" }</button>
    }
}

/// The panel of what is selected.
fn panel(inspected: &Inspected, dispatch: &Dispatch) -> Html {
    let dispatch = dispatch.clone();
    match inspected {
        Inspected::Overview(overview) => overview_panel(overview, &dispatch),
        Inspected::Node(node) => {
            let key = node.view.name.as_str().to_owned();
            html! { <NodePanel {key} node={node.clone()} {dispatch} /> }
        }
        Inspected::Pod(pod) => {
            let key = pod.view.key.to_string();
            html! { <PodPanel {key} pod={(**pod).clone()} {dispatch} /> }
        }
        Inspected::Zone(zone) => {
            let key = zone.view.key.to_string();
            html! { <ZonePanel {key} zone={zone.clone()} {dispatch} /> }
        }
        Inspected::Workload(track, pods) => {
            let key = track.view.workload.to_string();
            html! {
                <WorkloadPanel {key} track={track.clone()} pods={pods.clone()} {dispatch} />
            }
        }
        Inspected::Pods(pods) => html! { <PodsPanel pods={pods.clone()} {dispatch} /> },
        Inspected::Gone(gone, budget) => gone_panel(gone, budget.as_deref(), &dispatch),
    }
}

/// The head of a panel: what it is about, a badge, and the way out.
pub(crate) fn head(
    kind: &'static str,
    name: Html,
    badge: Html,
    actions: Html,
    dispatch: &Dispatch,
) -> Html {
    html! {
        <div class="head">
            <div class="row">
                <span class="muted">{ kind }</span>
                { badge }
                <span class="grow"></span>
                <button class="btn quiet icon small" title="Close (Esc)" aria-label="Close"
                    onclick={dispatch.reform(|_| Msg::Select(None))}>{ icon::cross() }</button>
            </div>
            <h2 tabindex="-1">{ name }</h2>
            <div class="row">{ actions }</div>
        </div>
    }
}

fn gone_panel(gone: &Gone, budget: Option<&TimeBudget>, dispatch: &Dispatch) -> Html {
    let badge = html! { <span class="badge" data-state="gone">{ "gone" }</span> };
    let name = html! { { gone.pod.to_string() } };
    let how = match gone.evicted {
        Some(evicted) => format!("Evicted at {}", at(evicted)),
        None => format!("Deleted, gone at {}", at(gone.at)),
    };
    let node = gone.node.clone();
    html! {
        <>
            { head("Pod", name, badge, Html::default(), dispatch) }
            <div class="body stack">
                <div class="verdict" data-state="gone">
                    <b>{ how }</b>
                    if gone.evicted.is_some() {
                        <p>{ format!("The taint-eviction controller deleted it; the object was \
                            removed at {}.", at(gone.at)) }</p>
                    }
                </div>
                if gone.lost() {
                    <p>{ "It is lost: no controller owns it, so nobody makes another." }</p>
                }
                if !node.as_str().is_empty() {
                    <p>{ "It was on node " }
                        <button class="btn small" onclick={dispatch.reform(move |_| {
                            Msg::Select(Some(Selection::Node(node.clone())))
                        })}>{ gone.node.to_string() }</button>
                    </p>
                }
                { budget.map(|budget| time_budget(budget, dispatch)) }
                <p class="hint">{ "Move the clock back to see it, or undo." }</p>
            </div>
        </>
    }
}
