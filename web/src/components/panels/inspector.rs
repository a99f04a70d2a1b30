//! The inspector: the details of the selection.

use std::rc::Rc;

use yew::prelude::*;

use super::node::NodePanel;
use super::overview::overview_panel;
use super::pod::PodPanel;
use super::pod::gone::gone_panel;
use super::pods::PodsPanel;
use super::workload::WorkloadPanel;
use super::zone::ZonePanel;
use crate::components::parts::icon;
use crate::messages::{Dialog, Dispatch, Msg};
use crate::session::Outline;
use crate::test_id::TestId;
use crate::view_models::board::Board;
use crate::view_models::inspector_model::InspectorModel;
use crate::view_models::selection::Selection;
use crate::view_models::warning_marks::counted;

/// Properties of [`Inspector`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct InspectorProps {
    /// The details of the selection.
    pub(crate) model: Rc<InspectorModel>,
    /// The start of the timeline.
    pub(crate) start: Rc<Outline>,
    /// The zones, nodes and pods of the board.
    pub(crate) board: Rc<Board>,
    /// The selection and the number of warnings about it by severity, if there are any.
    pub(crate) about: Option<(Selection, [usize; 3])>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The inspector.
#[component]
pub(crate) fn Inspector(props: &InspectorProps) -> Html {
    let dispatch = &props.dispatch;
    let empty = matches!(*props.model, InspectorModel::Overview(_));
    html! {
        <aside class="inspector" aria-label="Inspector" data-testid={TestId::Inspector}
            data-empty={empty.to_string()}>
            { panel(props) }
            { props.about.as_ref().map(|about| warnings_about(about, dispatch)) }
        </aside>
    }
}

/// A button that opens the warnings about the selection.
fn warnings_about((selection, counts): &(Selection, [usize; 3]), dispatch: &Dispatch) -> Html {
    let about = selection.clone();
    let what = match selection {
        Selection::Node(_) => "node",
        Selection::Zone(_) => "zone",
        Selection::Workload(_) => "workload",
        Selection::Pod(_) => "pod",
        Selection::Pods(_) => "group",
    };
    html! {
        <button class="aboutit"
            data-testid={TestId::WarningsAbout} onclick={dispatch.reform(move |_| {
            Msg::Open(Dialog::Warnings(Some(about.clone())))
        })}>{ icon::warning() }{ counted(*counts) }{ format!(" about this {what}") }</button>
    }
}

/// The panel for the selection.
fn panel(props: &InspectorProps) -> Html {
    let dispatch = props.dispatch.clone();
    match &*props.model {
        InspectorModel::Overview(overview) => {
            overview_panel(overview, &props.start, &props.board, &dispatch)
        }
        InspectorModel::Node(node) => {
            let key = node.view.name.as_str().to_owned();
            html! { <NodePanel {key} node={node.clone()} {dispatch} /> }
        }
        InspectorModel::Pod(pod) => {
            let key = pod.view.key.to_string();
            html! { <PodPanel {key} pod={(**pod).clone()} {dispatch} /> }
        }
        InspectorModel::Zone(zone) => {
            let key = zone.key.to_string();
            let view = props.board.zones.iter().find(|view| view.key == zone.key);
            let Some(view) = view.cloned() else { return Html::default() };
            html! { <ZonePanel {key} zone={zone.clone()} {view} {dispatch} /> }
        }
        InspectorModel::Workload(track, pods) => {
            let key = track.view.workload.to_string();
            html! {
                <WorkloadPanel {key} track={track.clone()} pods={pods.clone()} {dispatch} />
            }
        }
        InspectorModel::Pods(pods) => html! { <PodsPanel pods={pods.clone()} {dispatch} /> },
        InspectorModel::Gone(gone, budget, causes) => {
            gone_panel(gone, budget.as_deref(), causes, &dispatch)
        }
    }
}
