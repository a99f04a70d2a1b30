//! The panel without a selection: the cluster as a whole, and the scenario it comes from.

use taintlab_core::release::{FeatureGate, GateStage};
use taintlab_core::scenario::ScenarioMetadata;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::faults::control_plane;
use crate::components::parts::icon;
use crate::components::parts::prose::in_words;
use crate::components::questions::questions;
use crate::messages::{Dispatch, Msg};
use crate::session::{Outline, StartChange};
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::board::Board;
use crate::view_models::inspector_model::{Expected, Overview};

/// The title, question and answer of a scenario, with `rest` below.
pub(crate) fn about(metadata: &ScenarioMetadata, open: bool, rest: Html) -> Html {
    let title = if metadata.title.is_empty() { "Cluster" } else { &metadata.title };
    html! {
        <>
            <div class="head"><h2 tabindex="-1">{ title }</h2></div>
            <div class="body overview">
                if !metadata.question.is_empty() { <p>{ in_words(&metadata.question) }</p> }
                if !metadata.answer.is_empty() {
                    <details {open}>
                        <summary>{ "Answer" }</summary>
                        <p>{ in_words(&metadata.answer) }</p>
                    </details>
                }
                { rest }
            </div>
        </>
    }
}

/// The overview of the cluster.
pub(crate) fn overview_panel(
    overview: &Overview,
    start: &Outline,
    board: &Board,
    dispatch: &Dispatch,
) -> Html {
    let totals = overview.totals;
    let metadata = &start.metadata;
    let stat = |number: usize, what: &'static str| {
        let plural = if number == 1 { "" } else { "s" };
        html! { <div data-stat={what}><b>{ number }</b><span>{ what }{ plural }</span></div> }
    };
    html! {
        <>
            { about(metadata, overview.tried && !start.scripted, html! { <>
                if overview.is_first_minute {
                    { questions(board, overview.late_eviction, dispatch) }
                }
                { own_story(start, dispatch) }
                <div class="stats">
                    { stat(totals.nodes, "node") }
                    { stat(totals.pods, "pod") }
                    { stat(totals.evictions, "eviction") }
                </div>
                { expectations(&overview.outcomes) }
                { gates(start, dispatch) }
                { controllers(start.control_plane, dispatch) }
                { control_plane(dispatch) }
                <p class="hint">
                    { "Select a node, a pod or a zone to change it and to see why its pods stay or \
                       go. Press " }<kbd>{ "?" }</kbd>{ " for help." }
                </p>
            </> }) }
        </>
    }
}

/// A button that tells the story of a scenario with bookmarks.
fn own_story(start: &Outline, dispatch: &Dispatch) -> Html {
    let number = start.bookmarks.len();
    if number == 0 {
        return Html::default();
    }
    html! {
        <button class="btn" data-testid={TestId::StoryOpen}
            onclick={dispatch.reform(|_: MouseEvent| Msg::Tell(Some(0)))}>
            { icon::play() }{ format!("Tell the story ({})", count(number, "bookmark")) }
        </button>
    }
}

/// The switch for the scheduler and the controllers of workloads.
fn controllers(run: bool, dispatch: &Dispatch) -> Html {
    let onchange =
        dispatch.reform(move |_: Event| Msg::ChangeStart(StartChange::ControlPlane(!run)));
    html! {
        <label class="check">
            <input type="checkbox" checked={run} {onchange} data-testid={TestId::ControlPlane} />
            { "Controllers replace evicted pods, and the scheduler places them" }
        </label>
    }
}

fn expectations(outcomes: &[Expected]) -> Html {
    if outcomes.is_empty() {
        return Html::default();
    }
    html! {
        <section>
            <h3>{ "Expected" }</h3>
            <ul class="expect" data-testid={TestId::Expectations}>
                { for outcomes.iter().map(|outcome| {
                    let (ok, picture) = match (&outcome.failure, outcome.open) {
                        (None, _) => ("true", icon::tick()),
                        (Some(_), true) => ("open", icon::wait()),
                        (Some(_), false) => ("false", icon::cross()),
                    };
                    let failure = outcome.failure.as_ref().filter(|_| !outcome.open);
                    html! {
                        <li data-ok={ok}>
                            { picture }
                            <span>
                                { &outcome.text }
                                if let Some(failure) = failure {
                                    <span class="muted">{ format!(" ({failure})") }</span>
                                }
                            </span>
                        </li>
                    }
                }) }
            </ul>
        </section>
    }
}

/// The feature gates that can be switched in this release.
fn gates(start: &Outline, dispatch: &Dispatch) -> Html {
    let release = start.release;
    let free = FeatureGate::ALL.into_iter().filter_map(|gate| match gate.stage(release) {
        GateStage::Off => Some((gate, false)),
        GateStage::On => Some((gate, true)),
        GateStage::Absent | GateStage::LockedOn => None,
    });
    let free: Vec<_> = free.collect();
    if free.is_empty() {
        return Html::default();
    }
    html! {
        <section class="stack">
            <h3>{ format!("Feature gates of Kubernetes {release}") }</h3>
            <p class="hint">
                { "Switches of its components. Each turns a behaviour on or off for the whole run." }
            </p>
            { for free.into_iter().map(|(gate, default)| {
                let set = start.gates.get(gate.name()).copied();
                let onchange = dispatch.reform(move |event: Event| {
                    let input: HtmlInputElement = event.target_unchecked_into();
                    let on = input.checked();
                    Msg::ChangeStart(StartChange::Gate(gate.name().to_owned(), on))
                });
                html! {
                    <label class="check">
                        <input type="checkbox" checked={set.unwrap_or(default)} {onchange} />
                        <span class="mono clip" title={gate.name()}>{ gate.name() }</span>
                    </label>
                }
            }) }
        </section>
    }
}
