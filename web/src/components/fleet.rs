//! The workloads under the board: a line each, with how many of its pods were ready over time.

use std::rc::Rc;
use std::time::Duration;

use taintlab_core::simulator::{Availability, Readiness, ReadyStep};
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use crate::app::{Dispatch, Msg};
use crate::fleet::{Fleet, Track};
use crate::model::Selection;
use crate::text::{at, count, span};

/// The width of a chart in its own units; it is stretched to the room there is.
const WIDTH: f64 = 1_000.0;

/// Properties of [`Workloads`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct WorkloadsProps {
    /// The workloads.
    pub(crate) fleet: Rc<Fleet>,
    /// What is selected.
    pub(crate) selection: Option<Selection>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// The workloads, line by line.
#[component]
pub(crate) fn Workloads(props: &WorkloadsProps) -> Html {
    let open = use_state(|| true);
    let fleet = &props.fleet;
    let toggle = {
        let open = open.clone();
        move |_: MouseEvent| open.set(!*open)
    };
    let keep = props.dispatch.reform(|_| Msg::KeepRun);
    let title = "Later runs are compared with this one, after an undo or an edit, say";
    html! {
        <section class="fleet" aria-label="Workloads" data-testid="workloads">
            <div class="bar">
                <button class="btn quiet small" aria-expanded={open.to_string()} onclick={toggle}>
                    <h2>{ "Workloads" }</h2>
                    <span class="muted num">{ fleet.tracks.len() + fleet.more }</span>
                </button>
                if *open && !fleet.tracks.is_empty() {
                    { legend() }
                    <span class="grow"></span>
                    <button class="btn small" onclick={keep} {title} data-testid="keep-run">
                        { if fleet.has_reference { "Compare with this run instead" }
                          else { "Compare with this run" } }
                    </button>
                }
            </div>
            if *open {
                <div class={classes!("tracks", fleet.has_reference.then_some("compared"))}>
                    { for fleet.tracks.iter().map(|track| line(track, fleet.end, props)) }
                    if fleet.more > 0 {
                        <p class="hint">
                            { format!("and {} more; those that lack pods come first", fleet.more) }
                        </p>
                    }
                    if fleet.tracks.is_empty() {
                        <p class="hint">
                            { "No Deployment, StatefulSet, DaemonSet or Job is here. Import some, or \
                               type " }
                            <code>{ "kubectl create deployment web --image=nginx --replicas=3" }</code>
                            { " below." }
                        </p>
                    }
                </div>
            }
        </section>
    }
}

fn legend() -> Html {
    html! {
        <div class="legend" aria-hidden="true">
            { for Readiness::ALL.into_iter().map(|readiness| html! {
                <span><i class={classes!("sample", class(readiness))}></i>{ readiness.words() }</span>
            }) }
        </div>
    }
}

/// Its name in style sheets.
fn class(readiness: Readiness) -> &'static str {
    match readiness {
        Readiness::All => "whole",
        Readiness::Some => "some",
        Readiness::None => "none",
        Readiness::NotYet => "notyet",
    }
}

fn line(track: &Track, end: Timestamp, props: &WorkloadsProps) -> Html {
    let view = &track.view;
    let key = view.workload.clone();
    let selection = Selection::Workload(key.clone());
    let selected = props.selection.as_ref() == Some(&selection);
    let onclick = props.dispatch.reform(move |_: MouseEvent| Msg::Select(Some(selection.clone())));
    let pending = view.pending.first();
    let words = summary(track);
    html! {
        <button key={key.to_string()} class="track" data-workload={key.to_string()} {onclick}
            data-selected={selected.to_string()} title={words}>
            <span class="clip">
                <span class="ns">{ kind_and_namespace(track) }</span>{ key.name.name() }
            </span>
            <span class={classes!("num", "ready", class(track.availability.readiness_now()))}>
                { format!("{}/{}", view.ready, view.desired) }
            </span>
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

/// What a line says, for those who do not see it.
fn summary(track: &Track) -> String {
    let view = &track.view;
    let mut words = format!(
        "{}: {} of {} ready, {} unavailable, {} pending, {} terminating",
        view.workload,
        view.ready,
        view.desired,
        view.unavailable,
        view.pending.len(),
        view.terminating
    );
    if view.assumed {
        words.push_str("; it is not here: assumed from its pods");
    }
    words
}

fn lost(track: &Track) -> String {
    let time = track.availability.replica_time_lost;
    match &track.reference {
        Some(reference) => format!("{} ({})", seconds(time), seconds(reference.replica_time_lost)),
        None if time.is_zero() => String::new(),
        None => seconds(time),
    }
}

/// Replica-seconds, to the tenth.
pub(super) fn seconds(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    if tenths.is_multiple_of(10) {
        format!("{} replica-s", tenths / 10)
    } else {
        format!("{}.{} replica-s", tenths / 10, tenths % 10)
    }
}

/// Where a moment is on an axis that ends there.
#[expect(clippy::cast_precision_loss, reason = "for painting")]
fn place(moment: Timestamp, end: Timestamp) -> f64 {
    WIDTH * moment.as_nanos() as f64 / end.as_nanos().max(1) as f64
}

/// The parts of a curve: what it was, from when, until when.
fn parts(run: &Availability) -> impl Iterator<Item = (&ReadyStep, Timestamp)> {
    let ends = run.steps.iter().skip(1).map(|step| step.at).chain([run.until]);
    run.steps.iter().zip(ends)
}

/// A bar whose colour says how whole the workload was.
fn curve(run: &Availability, end: Timestamp) -> Html {
    html! {
        <svg class="curve" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            { for parts(run).map(|(step, until)| {
                let (x, to) = (place(step.at, end), place(until, end));
                let class = class(run.readiness(step));
                html! {
                    <rect {class} x={format!("{x:.1}")} width={format!("{:.1}", (to - x).max(1.0))}
                        y="0" height="10">
                    </rect>
                }
            }) }
        </svg>
    }
}

/// How many pods were ready over time, as steps, beside the run it is compared with.
pub(super) fn chart(track: &Track) -> Html {
    let run = &track.availability;
    let reference = track.reference.as_ref();
    let runs = [Some(run), reference];
    let all = || runs.iter().flatten();
    let most = all().flat_map(|run| run.steps.iter().map(|step| step.ready.max(step.desired)));
    let most = most.max().unwrap_or(0).max(1);
    let end = all().map(|run| run.until).max().unwrap_or_default().max(Timestamp::from_secs(1));
    let wanted = |step: &ReadyStep| step.desired;
    let ready = |step: &ReadyStep| step.ready;
    let area = format!("{}V100H0Z", path(run, end, most, ready));
    let words = format!("{} over time, until {}", summary(track), at(run.until));
    html! {
        <figure class="chart" data-testid="availability-chart">
            <svg viewBox="0 -2 1000 104" preserveAspectRatio="none" role="img" aria-label={words}>
                <path class="area" d={area}></path>
                <path class="wanted" d={path(run, end, most, wanted)}></path>
                if let Some(reference) = reference {
                    <path class="reference" d={path(reference, end, most, ready)}></path>
                }
                <path class="ready" d={path(run, end, most, ready)}></path>
            </svg>
            <figcaption>
                <span>{ "0s" }</span>
                <span class="muted">{ format!("up to {}; dashed: wanted", count(most, "pod")) }
                    if reference.is_some() { { "; dotted: the run compared with" } }
                </span>
                <span>{ at(end) }</span>
            </figcaption>
        </figure>
    }
}

/// A curve of steps.
#[expect(clippy::cast_precision_loss, reason = "for painting")]
fn path(run: &Availability, end: Timestamp, most: i64, of: fn(&ReadyStep) -> i64) -> String {
    let mut path = String::new();
    for (step, until) in parts(run) {
        let y = 100.0 - 100.0 * of(step) as f64 / most as f64;
        let x = place(step.at, end);
        let start = if path.is_empty() { format!("M{x:.1} {y:.1}") } else { format!("V{y:.1}") };
        path.push_str(&start);
        path.push_str(&format!("H{:.1}", place(until, end)));
    }
    path
}

/// The numbers of a run, beside those of the run it is compared with.
pub(super) fn numbers(track: &Track) -> Html {
    let row = |name: &'static str, of: &dyn Fn(&Availability) -> String| {
        html! {
            <tr>
                <th scope="row">{ name }</th>
                <td class="num">{ of(&track.availability) }</td>
                if let Some(reference) = &track.reference { <td class="num">{ of(reference) }</td> }
            </tr>
        }
    };
    html! {
        <table class="availability" data-testid="availability">
            <thead><tr>
                <th>{ "Availability" }</th><th>{ "This run" }</th>
                if track.reference.is_some() { <th>{ "Compared with" }</th> }
            </tr></thead>
            <tbody>
                { row("Replica-seconds lost", &|run| seconds(run.replica_time_lost)) }
                { row("Longest below desired", &|run| gap(run.longest_below)) }
                { row("Longest without any", &|run| gap(run.longest_at_zero)) }
                { row("Fewest ready at once", &|run| run.least_ready.to_string()) }
            </tbody>
        </table>
    }
}

fn gap(gap: Option<taintlab_core::simulator::Gap>) -> String {
    gap.map_or_else(
        || "never".to_owned(),
        |gap| format!("{} (from {})", span(gap.length().0), at(gap.from)),
    )
}
