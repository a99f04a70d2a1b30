//! The workloads under the board: a line each, with its ready pods over time.

use std::rc::Rc;

use taintlab_core::simulator::Readiness;
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use crate::components::pane::panel;
use crate::components::parts::availability::{class, curve, seconds, summary};
use crate::components::parts::name::name_parts;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::names::Shared;
use crate::view_models::pane::PaneTab;
use crate::view_models::selection::Selection;
use crate::view_models::workloads::{Track, WorkloadsModel};

/// Properties of [`Workloads`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct WorkloadsProps {
    /// Whether the workloads are in sight.
    pub(crate) open: bool,
    /// The workloads; `None` if no controller makes pods.
    pub(crate) workloads: Option<Rc<WorkloadsModel>>,
    /// The selection.
    pub(crate) selection: Option<Selection>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The workloads, one line each.
#[component]
pub(crate) fn Workloads(props: &WorkloadsProps) -> Html {
    let (id, tab) = panel(PaneTab::Workloads);
    let workloads = props.workloads.as_ref().filter(|_| props.open);
    html! {
        <section class="view workloads" role="tabpanel" {id} aria-labelledby={tab}
            data-testid={TestId::Workloads} hidden={!props.open}>
            { workloads.map_or_else(without_controllers, |workloads| lines(workloads, props)) }
        </section>
    }
}

fn without_controllers() -> Html {
    html! {
        <p class="viewbody hint">
            { "No controller replaces pods in this run. The overview has the switch for them." }
        </p>
    }
}

fn lines(workloads: &WorkloadsModel, props: &WorkloadsProps) -> Html {
    let keep = props.dispatch.reform(|_| Msg::SetBaseline);
    let title = "Later runs show in brackets what this one lost: make an edit, and compare";
    html! {
        <>
            <div class="bar">
                if !workloads.tracks.is_empty() {
                    { legend() }
                    <span class="grow"></span>
                    <button class="btn small" onclick={keep} {title}
                        data-testid={TestId::SetBaseline}>
                        { if workloads.has_baseline { "New baseline" } else { "Use as baseline" } }
                    </button>
                }
            </div>
                <div class={classes!("viewbody", "tracks", workloads.has_baseline.then_some("compared"))}>
                    { for workloads.tracks.iter().map(|track| line(track, workloads.end, props)) }
                    if workloads.more > 0 {
                        <p class="hint">
                            { format!("and {} more; those that lack pods come first",
                                workloads.more) }
                        </p>
                    }
                    if workloads.tracks.is_empty() {
                        <p class="hint">
                            { "No Deployment, StatefulSet, DaemonSet or Job is here. Import some, or \
                               type " }
                            <code>
                                { "kubectl create deployment web --image=nginx --replicas=3" }
                            </code>
                            { " below." }
                        </p>
                    }
                </div>
        </>
    }
}

fn legend() -> Html {
    html! {
        <div class="legend" aria-hidden="true">
            { for Readiness::ALL.into_iter().map(|readiness| html! {
                <span>
                    <i class={classes!("sample", class(readiness))}></i>{ readiness.words() }
                </span>
            }) }
        </div>
    }
}

fn line(track: &Track, end: Timestamp, props: &WorkloadsProps) -> Html {
    let view = &track.view;
    let key = view.workload.clone();
    let selection = Selection::Workload(key.clone());
    let selected = props.selection.as_ref() == Some(&selection);
    let onclick = props.dispatch.reform(move |_: MouseEvent| Msg::Select(Some(selection.clone())));
    let pending = view.pending.first();
    // A finished Job wants no more pods.
    let (number, mood) = match view.job.as_ref().and_then(|job| job.finished.as_deref()) {
        Some(finished) if finished.starts_with("Failed") => ("Failed".to_owned(), "none"),
        Some(_) => ("Complete".to_owned(), "whole"),
        None => {
            let mood = class(track.availability.readiness_now());
            (format!("{}/{}", view.ready, view.desired), mood)
        }
    };
    let words = summary(track);
    html! {
        <button key={key.to_string()} class="track" data-workload={key.to_string()} {onclick}
            data-selected={selected.to_string()} title={words}>
            <span class="clip cut">
                <span class="ns">{ kind_and_namespace(track) }</span>
                { name_parts(key.name.name(), Shared::default()) }
            </span>
            <span class={classes!("num", "ready", mood)}>{ number }</span>
            { curve(&track.availability, end) }
            <span class="num lost">{ lost(track) }</span>
            if let Some(pending) = pending {
                <span class="whypending clip" title={pending.reason.clone()}>
                    { format!("{} pending", view.pending.len()) }
                    if !pending.reason.is_empty() { { format!(": {}", pending.reason) } }
                </span>
            }
        </button>
    }
}

fn kind_and_namespace(track: &Track) -> String {
    let key = &track.view.workload;
    match key.name.namespace() {
        "default" => format!("{}/", key.kind.singular()),
        namespace => format!("{}/{namespace}/", key.kind.singular()),
    }
}

fn lost(track: &Track) -> String {
    let time = track.availability.replica_time_lost;
    match &track.baseline {
        Some(baseline) => format!("{} ({})", seconds(time), seconds(baseline.replica_time_lost)),
        None if time.is_zero() => String::new(),
        None => seconds(time),
    }
}
