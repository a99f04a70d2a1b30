//! Zones hold nodes hold pods.

use std::rc::Rc;

use yew::prelude::*;

use super::icon;
use super::node_card::NodeCard;
use super::pod_mark::pod_row;
use super::warnings::warnings_button;
use crate::app::{Dialog, Dispatch, Msg};
use crate::model::{Board as BoardView, Selection, Totals, ZoneView};
use crate::text::count;
use crate::warned::Marked;

/// How much of each node is shown: the more nodes, the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Pods with their names.
    Full,
    /// Pods as dots.
    Compact,
    /// Nodes as tiles.
    Mini,
}

impl Detail {
    /// What fits this board.
    pub(crate) fn of(board: &BoardView) -> Self {
        let Totals { nodes, pods, .. } = board.totals;
        if nodes <= 14 && pods <= 160 {
            Self::Full
        } else if nodes <= 90 {
            Self::Compact
        } else {
            Self::Mini
        }
    }

    /// The word for it in style sheets.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Compact => "compact",
            Self::Mini => "mini",
        }
    }
}

/// Properties of [`Board`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct BoardProps {
    /// What is on it.
    pub(crate) board: Rc<BoardView>,
    /// How much is shown.
    pub(crate) detail: Detail,
    /// What is selected.
    pub(crate) selection: Option<Selection>,
    /// What there are warnings about.
    #[prop_or_default]
    pub(crate) marked: Rc<Marked>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// The board.
#[component]
pub(crate) fn Board(props: &BoardProps) -> Html {
    let board = &props.board;
    if board.zones.is_empty() && board.pending.is_empty() && board.totals.evicted == 0 {
        return empty(&props.dispatch);
    }
    html! {
        <>
            <div class="bar">
                { legend(board.totals) }
                <span class="grow"></span>
                { warnings_button(props.marked.counts, &props.dispatch) }
                { open(&props.dispatch, Dialog::CreateNode, "Node") }
                { open(&props.dispatch, Dialog::CreatePod("".into()), "Pod") }
            </div>
            <div class="zones">
                { for board.zones.iter().map(|zone| html! {
                    <Zone key={&*zone.key} zone={zone.clone()} detail={props.detail}
                        alone={board.zones.len() == 1} marked={props.marked.clone()}
                        selection={within_zone(zone, props.selection.as_ref())} />
                }) }
            </div>
            if !board.pending.is_empty() {
                <section class="zone" aria-label="Pods without a node" data-testid="pending">
                    <header>
                        <b>{ "Pending" }</b>
                        <span class="muted">
                            { format!("{} without a node", count(board.pending.len(), "pod")) }
                        </span>
                    </header>
                    <div class="pendings">
                        { for board.pending.iter().map(|pod| {
                            let selected = Selection::Pod(pod.key.clone());
                            let warned = props.marked.pods.get(&pod.key).copied();
                            let selected = props.selection.as_ref() == Some(&selected);
                            html! {
                                <div>
                                    { pod_row(pod, selected, warned) }
                                    if !pod.why.is_empty() { <p class="why">{ &pod.why }</p> }
                                </div>
                            }
                        }) }
                    </div>
                </section>
            }
        </>
    }
}

fn open(dispatch: &Dispatch, dialog: Dialog, what: &str) -> Html {
    let what_kind = what.to_lowercase();
    let label = format!("Create a {what_kind}");
    let testid = format!("add-{what_kind}");
    let onclick = dispatch.reform(move |_: MouseEvent| Msg::Open(dialog.clone()));
    html! {
        <button class="btn small" {onclick} title={label.clone()} aria-label={label}
            data-testid={testid}>
            { icon::plus() }{ what }
        </button>
    }
}

fn legend(totals: Totals) -> Html {
    let entry = |state: &'static str, number: usize, words: &'static str| {
        html! {
            <span><i class="key" data-state={state}></i><b>{ number }</b>{ words }</span>
        }
    };
    let others = totals.counting + totals.terminating + totals.pending;
    html! {
        <div class="legend" data-testid="legend">
            { entry("stays", totals.pods.saturating_sub(others), "stay") }
            { entry("counting", totals.counting, "counting down") }
            { entry("terminating", totals.terminating, "being deleted") }
            if totals.pending > 0 { { entry("pending", totals.pending, "pending") } }
            { entry("gone", totals.evicted, "evicted") }
        </div>
    }
}

fn empty(dispatch: &Dispatch) -> Html {
    let open = |dialog: Dialog| dispatch.reform(move |_: MouseEvent| Msg::Open(dialog.clone()));
    html! {
        <section class="empty" data-testid="empty">
            <h2>{ "There is no cluster yet" }</h2>
            <p>{ "Paste the output of this command anywhere on the page. It stays in this browser." }</p>
            <code class="cmd">{ "kubectl get nodes,pods -A -o yaml" }</code>
            <div class="row">
                <button class="btn primary" onclick={open(Dialog::Import("".into(), "".into()))}>
                    { icon::import() }{ "Import" }
                </button>
                <button class="btn" onclick={open(Dialog::Scenarios)}>{ "Choose a scenario" }</button>
                <button class="btn" onclick={open(Dialog::CreateNode)}>{ "Create a node" }</button>
            </div>
        </section>
    }
}

/// The selection, if it concerns a zone: so that other zones are not painted again.
fn within_zone(zone: &ZoneView, selection: Option<&Selection>) -> Option<Selection> {
    let selection = selection?;
    let concerned = match selection {
        Selection::Workload(_) => false,
        Selection::Zone(key) => *key == zone.key,
        Selection::Node(name) => zone.nodes.iter().any(|node| node.name == *name),
        Selection::Pod(key) => {
            zone.nodes.iter().any(|node| node.pods.iter().any(|pod| pod.key == *key))
        }
    };
    concerned.then(|| selection.clone())
}

/// Properties of [`Zone`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ZoneProps {
    /// The zone.
    pub(crate) zone: Rc<ZoneView>,
    /// How much is shown.
    pub(crate) detail: Detail,
    /// Whether it is the only one, and has all the room.
    pub(crate) alone: bool,
    /// What is selected, if it is in here.
    pub(crate) selection: Option<Selection>,
    /// What there are warnings about.
    pub(crate) marked: Rc<Marked>,
}

/// A zone with its nodes.
#[component]
pub(crate) fn Zone(props: &ZoneProps) -> Html {
    let zone = &props.zone;
    let selected = props.selection == Some(Selection::Zone(zone.key.clone()));
    let pods: usize = zone.nodes.iter().map(|node| node.pods.len()).sum();
    let words = format!("{}, {}", count(zone.nodes.len(), "node"), count(pods, "pod"));
    html! {
        <section class={classes!("zone", props.alone.then_some("wide"))} data-zone={zone.key.to_string()}
            data-selected={selected.to_string()} aria-label={format!("zone {}", zone.name)}>
            <header>
                <button class="zonename" title="Look at the whole zone">{ &zone.name }</button>
                <span class="muted clip grow">
                    { words }
                    if !zone.region.is_empty() { { format!(" · {}", zone.region) } }
                </span>
                <button class="btn quiet small" title="Taint all nodes of the zone"
                    aria-label={format!("Taint zone {}", zone.name)}>{ "Taint zone" }</button>
            </header>
            <div class="nodes">
                { for zone.nodes.iter().map(|node| html! {
                    <NodeCard key={node.name.as_str()} node={node.clone()} detail={props.detail} marked={props.marked.clone()}
                        selection={within_node(node, props.selection.as_ref())} />
                }) }
            </div>
        </section>
    }
}

fn within_node(node: &crate::model::NodeView, selection: Option<&Selection>) -> Option<Selection> {
    let selection = selection?;
    let concerned = match selection {
        Selection::Zone(_) | Selection::Workload(_) => false,
        Selection::Node(name) => *name == node.name,
        Selection::Pod(key) => node.pods.iter().any(|pod| pod.key == *key),
    };
    concerned.then(|| selection.clone())
}
