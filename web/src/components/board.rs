//! The board: zones with their nodes and pods.

mod cell_canvas;
mod cells;
mod finder;
pub(crate) mod node_card;

use std::rc::Rc;

use taintlab_core::api::NodeName;
use taintlab_core::pod_state::{PodCounts, PodHealth, PodVerdict};
use taintlab_manifest::HOW_TO_GET_COMMAND;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use self::cells::Cells;
use self::finder::Finder;
use self::node_card::NodeCard;
use crate::components::parts::icon;
use crate::components::parts::name::cut_name;
use crate::components::parts::pod_mark::pod_item;
use crate::components::parts::severity::warnings_button;
use crate::components::parts::tallies::tallies;
use crate::messages::{Dialog, Dispatch, Msg, Source};
use crate::test_id::TestId;
use crate::text::count;
use crate::theme::Theme;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::board::{Board as BoardView, NodeView, Totals, ZoneView};
use crate::view_models::names::Shared;
use crate::view_models::selection::{PodGroup, Selection};
use crate::view_models::warning_marks::WarningMarks;

/// Properties of [`Board`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct BoardProps {
    /// The zones, nodes and pods of the board.
    pub(crate) board: Rc<BoardView>,
    /// The detail in which nodes are drawn.
    pub(crate) detail: Detail,
    /// The selection.
    pub(crate) selection: Option<Selection>,
    /// The selected node, or the node of the selected pod.
    pub(crate) at: Option<NodeName>,
    /// The density that the user chose.
    pub(crate) density: Density,
    /// The theme of the page.
    pub(crate) theme: Theme,
    /// The warning marks on the board, and the number of warnings.
    #[prop_or_default]
    pub(crate) marked: Rc<WarningMarks>,
    /// The prefix and suffix that all node names share.
    #[prop_or_default]
    pub(crate) names: Shared,
    /// Whether nodes on which nothing happens are shown too.
    #[prop_or_default]
    pub(crate) shows_fine: bool,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The board.
#[component]
pub(crate) fn Board(props: &BoardProps) -> Html {
    let board = &props.board;
    if board.zones.is_empty()
        && board.pending.is_empty()
        && board.totals.counts == PodCounts::default()
    {
        return empty(&props.dispatch);
    }
    let folds = props.detail != Detail::Cells && board.folds();
    html! {
        <>
            <div class="bar">
                { legend(board.totals, props.selection.as_ref(), &props.dispatch) }
                <span class="grow"></span>
                <Finder dispatch={props.dispatch.clone()} />
                { density(props.density, props.detail, board.totals.nodes, &props.dispatch) }
                { warnings_button(props.marked.counts, &props.dispatch) }
                { open(&props.dispatch, Dialog::CreateNode, "Node", TestId::AddNode) }
                { open(&props.dispatch, Dialog::CreatePod("".into()), "Pod", TestId::AddPod) }
            </div>
            <div class="tree" role="tree" aria-label="Zones, nodes and pods"
                aria-orientation="horizontal">
            <div class="zones">
                { for board.zones.iter().map(|zone| html! {
                    <Zone key={&*zone.key} zone={zone.clone()} detail={props.detail}
                        alone={board.zones.len() == 1} marked={props.marked.clone()}
                        names={props.names} folds={folds.then_some(!props.shows_fine)}
                        at={props.at.clone().filter(|at| holds(zone, at))}
                        selection={within_zone(zone, props)} theme={props.theme}
                        pitch={cell_canvas::pitch(board.totals.nodes)}
                        dispatch={props.dispatch.clone()} />
                }) }
            </div>
            if board.zones.is_empty() && board.pending.is_empty() {
                <p class="hint">
                    { "No node and no pod is left. Undo, go back in time, or create a node." }
                </p>
            }
            if !board.pending.is_empty() {
                <div class="zone" role="group" aria-label="Pods without a node"
                    data-testid={TestId::Pending}>
                    <div class="zonehead">
                        <b>{ "Pending" }</b>
                        <span class="muted">
                            { format!("{} without a node", count(board.totals.pending, "pod")) }
                        </span>
                    </div>
                    <div class="pendings">
                        { for board.pending.iter().map(|pod| {
                            let selected = Selection::Pod(pod.key.clone());
                            let warned = props.marked.pods.get(&pod.key).copied();
                            let selected = props.selection.as_ref() == Some(&selected);
                            html! {
                                <div>
                                    { pod_item(pod, selected, warned) }
                                    if !pod.why.is_empty() {
                                        <p class="whypending">{ &pod.why }</p>
                                    }
                                </div>
                            }
                        }) }
                    </div>
                    if board.totals.pending > board.pending.len() {
                        <p class="hint">
                            { format!("and {} more", board.totals.pending - board.pending.len()) }
                        </p>
                    }
                </div>
            }
            </div>
        </>
    }
}

fn open(dispatch: &Dispatch, dialog: Dialog, what: &str, testid: TestId) -> Html {
    let label = format!("Create a {}", what.to_ascii_lowercase());
    let onclick = dispatch.reform(move |_: MouseEvent| Msg::Open(dialog.clone()));
    html! {
        <button class="btn small" {onclick} title={label.clone()} aria-label={label}
            data-testid={testid}>
            { icon::plus() }{ what }
        </button>
    }
}

/// Pod counts by state; a click lists the pods.
fn legend(totals: Totals, selection: Option<&Selection>, dispatch: &Dispatch) -> Html {
    let counts = totals.counts;
    let entry = |group: PodGroup, number: usize, words: &'static str, meaning: &'static str| {
        let (state, health) = match group {
            PodGroup::Verdict(verdict) => (Some(verdict.as_str()), None),
            PodGroup::Health(health) => (None, Some(health.as_str())),
            PodGroup::Outcome(_) => (None, None),
        };
        let this = Selection::Pods(group);
        let pressed = selection == Some(&this);
        let wanted = (!pressed).then_some(this);
        let onclick = dispatch.reform(move |_: MouseEvent| Msg::Select(wanted.clone()));
        html! {
            <button title={meaning} aria-pressed={pressed.to_string()} {onclick}>
                <i class="key" data-state={state} data-health={health}></i>
                <b>{ number }</b>{ words }
            </button>
        }
    };
    let always =
        [PodVerdict::Stays, PodVerdict::Counting, PodVerdict::Terminating, PodVerdict::Gone];
    let verdicts = PodVerdict::ALL.into_iter().filter_map(|verdict| {
        let number = counts.verdict(verdict);
        let shown = number > 0 || always.contains(&verdict);
        let words = verdict.words(number);
        shown.then(|| entry(PodGroup::Verdict(verdict), number, words, verdict.meaning()))
    });
    let healths = PodHealth::ALL.into_iter().filter_map(|health| {
        let number = counts.health(health);
        let shown = number > 0 && health != PodHealth::Ready;
        shown.then(|| entry(PodGroup::Health(health), number, health.words(), health.meaning()))
    });
    html! {
        <div class="legend" role="group" aria-label="Pods by state" data-testid={TestId::Legend}>
            <span class="states">{ for verdicts }</span>
            <span class="states">{ for healths }</span>
        </div>
    }
}

fn empty(dispatch: &Dispatch) -> Html {
    let open = |dialog: Dialog| dispatch.reform(move |_: MouseEvent| Msg::Open(dialog.clone()));
    html! {
        <section class="empty" data-testid={TestId::Empty}>
            <h2>{ "There is no cluster yet" }</h2>
            <p>
                { "Paste the output of this command anywhere on the page. It stays in this browser." }
            </p>
            <code class="cmd">{ HOW_TO_GET_COMMAND }</code>
            <div class="row">
                <button class="btn primary" onclick={open(Dialog::Import(Source::empty()))}>
                    { icon::import() }{ "Import" }
                </button>
                <button class="btn" onclick={open(Dialog::Scenarios)}>
                    { "Choose a scenario" }
                </button>
                <button class="btn" onclick={open(Dialog::CreateNode)}>{ "Create a node" }</button>
            </div>
        </section>
    }
}

/// The selection, if it concerns this zone, so that other zones are not painted again.
fn within_zone(zone: &ZoneView, props: &BoardProps) -> Option<Selection> {
    let selection = props.selection.as_ref()?;
    let concerned = match selection {
        Selection::Workload(_) | Selection::Pods(_) => false,
        Selection::Zone(key) => *key == zone.key,
        Selection::Node(_) | Selection::Pod(_) => {
            props.at.as_ref().is_some_and(|at| holds(zone, at))
        }
    };
    concerned.then(|| selection.clone())
}

/// Whether a node is in a zone.
fn holds(zone: &ZoneView, node: &NodeName) -> bool {
    zone.nodes.iter().any(|one| one.name == *node)
}

/// The choice of density.
fn density(chosen: Density, detail: Detail, nodes: usize, dispatch: &Dispatch) -> Html {
    let onchange = dispatch.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        Msg::SetDensity(Density::parse(&select.value()).unwrap_or_default())
    });
    let shown = if chosen.is_possible(nodes) { chosen } else { Density::Auto };
    html! {
        <select class="density" aria-label="How nodes are drawn" {onchange}
            title={format!("How nodes are drawn (D): by their number, or as chosen; now as {}",
                detail.noun())}
            data-testid={TestId::Density}>
            { for Density::ALL.into_iter().map(|one| html! {
                <option value={one.word()} selected={one == shown}
                    disabled={!one.is_possible(nodes)}>{ one.word() }</option>
            }) }
        </select>
    }
}

/// Properties of [`Zone`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ZoneProps {
    /// The zone.
    pub(crate) zone: Rc<ZoneView>,
    /// The detail in which nodes are drawn.
    pub(crate) detail: Detail,
    /// Whether this is the only zone, and has the whole width.
    pub(crate) alone: bool,
    /// The selection, if it is in this zone.
    pub(crate) selection: Option<Selection>,
    /// The selected node, or the node of the selected pod, if it is in this zone.
    pub(crate) at: Option<NodeName>,
    /// The theme of the page.
    pub(crate) theme: Theme,
    /// The distance from one cell to the next, in pixels.
    pub(crate) pitch: usize,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
    /// The warning marks on the board, and the number of warnings.
    pub(crate) marked: Rc<WarningMarks>,
    /// The prefix and suffix that all node names share.
    pub(crate) names: Shared,
    /// Whether nodes on which nothing happens are folded; `None` if the board does not fold nodes.
    pub(crate) folds: Option<bool>,
}

/// A zone with its nodes.
#[component]
pub(crate) fn Zone(props: &ZoneProps) -> Html {
    let zone = &props.zone;
    let selected = props.selection == Some(Selection::Zone(zone.key.clone()));
    let words = format!("{}, {}", count(zone.nodes.len(), "node"), count(zone.pods, "pod"));
    let many = matches!(props.detail, Detail::Rows | Detail::Cells);
    let region = match zone.region.as_str() {
        "" => String::new(),
        region => format!(" in {region}"),
    };
    let title = format!("{}{region}: look at the whole zone", zone.name);
    // The selected node is never folded.
    let is_fine = |node: &&Rc<NodeView>| node.is_fine() && props.at.as_ref() != Some(&node.name);
    let folded = props.folds == Some(true);
    let shown = zone.nodes.iter().filter(|node| !folded || !is_fine(node));
    let fine = || zone.nodes.iter().filter(is_fine);
    html! {
        <div class={classes!("zone", props.alone.then_some("wide"))}
            data-zone={zone.key.to_string()}
            data-selected={selected.to_string()}>
            <div class="zonehead">
                <button class="zonename clip" {title} role="treeitem"
                    aria-level="1" aria-selected={selected.to_string()} tabindex="-1"
                    aria-label={format!("zone {}, {words}", zone.name)}>
                    { cut_name(&zone.name, Shared::default()) }</button>
                <span class="muted grow">{ words }</span>
                // For the mouse only: everyone finds this button in the inspector of the zone.
                <button class="btn quiet small" title="Taint all nodes of the zone"
                    tabindex="-1" aria-hidden="true">{ "Taint" }</button>
            </div>
            if many { { summary(zone) } }
            if props.detail == Detail::Cells {
                <Cells zone={zone.clone()} selected={props.at.clone()} theme={props.theme}
                    pitch={props.pitch} dispatch={props.dispatch.clone()} />
            } else {
            <div class="nodes" role="group">
                { for shown.map(|node| html! {
                    <NodeCard key={node.name.as_str()} node={node.clone()} detail={props.detail}
                        marked={props.marked.clone()} names={props.names}
                        dispatch={props.dispatch.clone()}
                        selection={within_node(node, props.selection.as_ref())} />
                }) }
                if let Some(folded) = props.folds {
                    { fine_nodes(fine(), folded, &props.dispatch) }
                }
            </div>
            }
        </div>
    }
}

/// The row for nodes on which nothing happens, which unfolds them, or folds them again.
fn fine_nodes<'a>(
    nodes: impl Iterator<Item = &'a Rc<NodeView>> + Clone,
    folded: bool,
    dispatch: &Dispatch,
) -> Html {
    let (number, pods) = (nodes.clone().count(), nodes.map(|node| node.pod_count).sum::<usize>());
    if number == 0 {
        return Html::default();
    }
    let what = format!("{}, {} fine", count(number, "node"), count(pods, "pod"));
    html! {
        <button key="\0fine" class="fine" role="treeitem" aria-level="2" tabindex="-1"
            aria-selected="false" aria-expanded={(!folded).to_string()} data-testid={TestId::Fine}
            title={if folded { "Show them" } else { "Fold them" }}
            onclick={dispatch.reform(|_: MouseEvent| Msg::ToggleFine)}>
            { if folded { icon::fold() } else { icon::unfold() } }{ what }
        </button>
    }
}

/// The summary of a zone with many nodes.
fn summary(zone: &ZoneView) -> Html {
    let not_ready = zone.nodes.len() - zone.ready;
    html! {
        <p class="zonesum" data-testid={TestId::ZoneSummary}>
            <span><b>{ zone.ready }</b>{ " ready" }</span>
            if not_ready > 0 {
                <span><i class="cellkey"></i><b>{ not_ready }</b>{ " not ready" }</span>
            }
            { tallies(&zone.counts) }
            if !zone.state.is_empty() { <span>{ &zone.state }</span> }
        </p>
    }
}

fn within_node(node: &NodeView, selection: Option<&Selection>) -> Option<Selection> {
    let selection = selection?;
    let concerned = match selection {
        Selection::Zone(_) | Selection::Workload(_) | Selection::Pods(_) => false,
        Selection::Node(name) => *name == node.name,
        Selection::Pod(key) => node.pods.iter().any(|pod| pod.key == *key),
    };
    concerned.then(|| selection.clone())
}
