//! The ready pods of a workload over time: as a bar, as a chart and in numbers.

use std::time::Duration;

use taintlab_core::simulator::{Availability, Gap, Readiness, ReadyStep};
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use crate::test_id::TestId;
use crate::text::{at, count, span};
use crate::view_models::workloads::Track;

/// The width of a chart in its own units; the chart stretches to the available width.
const WIDTH: f64 = 1_000.0;

/// The style sheet class of a readiness.
pub(crate) fn class(readiness: Readiness) -> &'static str {
    match readiness {
        Readiness::All => "whole",
        Readiness::Some => "some",
        Readiness::None => "none",
        Readiness::NotYet => "notyet",
    }
}

/// The line of a workload in words, for users who do not see it.
pub(crate) fn summary(track: &Track) -> String {
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
    if view.inferred {
        words.push_str("; it is not here: assumed from its pods");
    }
    words
}

/// A number of replica-seconds, to the tenth.
pub(crate) fn seconds(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    if tenths.is_multiple_of(10) {
        format!("{} replica-seconds", tenths / 10)
    } else {
        format!("{}.{} replica-seconds", tenths / 10, tenths % 10)
    }
}

/// The position of a moment on an axis that ends at `end`.
#[expect(clippy::cast_precision_loss, reason = "for painting")]
fn place(moment: Timestamp, end: Timestamp) -> f64 {
    WIDTH * moment.as_nanos() as f64 / end.as_nanos().max(1) as f64
}

/// The steps of a curve, each with its end.
fn parts(run: &Availability) -> impl Iterator<Item = (&ReadyStep, Timestamp)> {
    let ends = run.steps.iter().skip(1).map(|step| step.at).chain([run.until]);
    run.steps.iter().zip(ends)
}

/// The minimum width of the latest step, since users look for it.
const LEAST: f64 = 12.0;

/// A bar whose colours show the readiness of the workload.
pub(crate) fn curve(run: &Availability, end: Timestamp) -> Html {
    let latest = run.steps.len().saturating_sub(1);
    html! {
        <svg class="curve" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            { for parts(run).enumerate().map(|(index, (step, until))| {
                let (x, to) = (place(step.at, end), place(until, end));
                let x = if index == latest { x.min((to - LEAST).max(0.0)) } else { x };
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

/// A chart of ready pods over time, as steps, beside the baseline run.
pub(crate) fn chart(track: &Track) -> Html {
    let run = &track.availability;
    let baseline = track.baseline.as_ref();
    let runs = [Some(run), baseline];
    let all = || runs.iter().flatten();
    let most = all().flat_map(|run| run.steps.iter().map(|step| step.ready.max(step.desired)));
    let most = most.max().unwrap_or(0).max(1);
    let end = all().map(|run| run.until).max().unwrap_or_default().max(Timestamp::from_secs(1));
    let wanted = |step: &ReadyStep| step.desired;
    let ready = |step: &ReadyStep| step.ready;
    let area = format!("{}V100H0Z", path(run, end, most, ready));
    let words = format!("{} over time, until {}", summary(track), at(run.until));
    html! {
        <figure class="chart" data-testid={TestId::AvailabilityChart}>
            <svg viewBox="0 -2 1000 104" preserveAspectRatio="none" role="img" aria-label={words}>
                <path class="area" d={area}></path>
                <path class="wanted" d={path(run, end, most, wanted)}></path>
                if let Some(baseline) = baseline {
                    <path class="baseline" d={path(baseline, end, most, ready)}></path>
                }
                <path class="ready" d={path(run, end, most, ready)}></path>
            </svg>
            <figcaption>
                <span>{ "0s" }</span>
                <span class="muted">{ format!("up to {}; dashed: wanted", count(most, "pod")) }
                    if baseline.is_some() { { "; dotted: the run compared with" } }
                </span>
                <span>{ at(end) }</span>
            </figcaption>
        </figure>
    }
}

/// The path of a step curve.
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

/// The numbers of a run, beside those of the baseline run.
pub(crate) fn numbers(track: &Track) -> Html {
    let row = |name: &'static str, of: &dyn Fn(&Availability) -> String| {
        html! {
            <tr>
                <th scope="row">{ name }</th>
                <td class="num">{ of(&track.availability) }</td>
                if let Some(baseline) = &track.baseline { <td class="num">{ of(baseline) }</td> }
            </tr>
        }
    };
    html! {
        <table class="availability" data-testid={TestId::Availability}>
            <thead><tr>
                <th>{ "Availability" }</th><th>{ "This run" }</th>
                if track.baseline.is_some() { <th>{ "Compared with" }</th> }
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

fn gap(gap: Option<Gap>) -> String {
    gap.map_or_else(
        || "never".to_owned(),
        |gap| format!("{} (from {})", span(gap.length().0), at(gap.from)),
    )
}
