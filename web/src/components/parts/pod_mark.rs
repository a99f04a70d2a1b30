//! A pod, as a row with its name, or as a dot. Colour and outline show its fate, the filling its
//! health.

use taintlab_core::pod_state::PodState;
use taintlab_core::warnings::Severity;
use yew::prelude::*;

use super::name::name_parts;
use super::severity::picture;
use super::style::style;
use crate::text::css_seconds;
use crate::view_models::board::PodView;
use crate::view_models::names::Shared;

/// The start and the length of a countdown, for the style sheet.
pub(crate) fn timer_style(state: PodState) -> Option<String> {
    state.timer.filter(|timer| !timer.never_ends()).map(|timer| {
        let from = css_seconds(timer.since.since_zero());
        let total = css_seconds(timer.until - timer.since);
        format!("--since:{from};--total:{total}")
    })
}

/// The state of a pod in words, with the severity of its warnings.
fn words(pod: &PodView, warned: Option<Severity>) -> String {
    match warned {
        Some(severity) => format!("{}, with a {}", pod.state, severity.noun()),
        None => pod.state.to_string(),
    }
}

/// A pod with its name, its remaining time, and a mark if there is a warning about it.
pub(crate) fn pod_row(pod: &PodView, selected: bool, warned: Option<Severity>) -> Html {
    row(pod, selected, warned, false)
}

/// A pod's row on the board, where arrow keys lead from row to row.
pub(crate) fn pod_item(pod: &PodView, selected: bool, warned: Option<Severity>) -> Html {
    row(pod, selected, warned, true)
}

fn row(pod: &PodView, selected: bool, warned: Option<Severity>, on_board: bool) -> Html {
    let words = words(pod, warned);
    let item = |value: &'static str| on_board.then_some(value);
    let namespace = pod.key.namespace();
    let remark = pod.remark();
    html! {
        <button key={pod.key.as_str()} class="pod" data-pod={pod.key.to_string()}
            data-state={pod.state.verdict.as_str()} data-health={pod.state.health.as_str()}
            data-selected={selected.to_string()} ~style={timer_style(pod.state).map(style)}
            title={format!("{}: {words}", pod.key)}
            role={item("treeitem")} aria-level={item("3")} tabindex={item("-1")}
            aria-selected={on_board.then(|| selected.to_string())}>
            <span class="ring"></span>
            <span class="sr">{ "pod " }</span>
            <span class="clip cut">
                <span class={if namespace == "default" { "sr" } else { "ns" }}>
                    { namespace }{ "/" }
                </span>
                { name_parts(pod.key.name(), Shared::default()) }
            </span>
            <span class="sr">{ format!(", {words}") }</span>
            if let Some(severity) = warned {
                <span class="beware" data-severity={severity.as_str()}>{ picture(severity) }</span>
            }
            if !remark.is_empty() { <span class="remark" aria-hidden="true">{ remark }</span> }
            if timer_style(pod.state).is_some() { <span class="timer" aria-hidden="true"></span> }
        </button>
    }
}

/// A pod as a dot that arrow keys can reach.
pub(crate) fn pod_dot(pod: &PodView, selected: bool, warned: Option<Severity>) -> Html {
    let label = format!("{}: {}", pod.key, words(pod, warned));
    html! {
        <button key={pod.key.as_str()} class="dotpod" data-pod={pod.key.to_string()}
            data-state={pod.state.verdict.as_str()} data-health={pod.state.health.as_str()}
            data-selected={selected.to_string()} data-severity={warned.map(Severity::as_str)}
            title={label.clone()} aria-label={label} role="treeitem" aria-level="3"
            aria-selected={selected.to_string()} tabindex="-1"></button>
    }
}
