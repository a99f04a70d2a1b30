//! A pod: as a row with its name, or as a dot.

use taintlab_core::warnings::Severity;
use yew::prelude::*;

use super::icon;
use crate::model::{PodState, PodView};
use crate::text::{at, css_seconds};

/// How a pod is doing, in words.
pub(crate) fn state_words(state: PodState) -> String {
    match state {
        PodState::Stays => "stays".to_owned(),
        PodState::Counting { until, .. } => format!("deleted at {}", at(until)),
        PodState::Terminating { until, .. } => format!("being deleted, gone at {}", at(until)),
        PodState::Stuck => "deleted, stays until its kubelet is back".to_owned(),
        PodState::Pending => "has no node".to_owned(),
        PodState::Ended { evicted: true } => "evicted by its kubelet".to_owned(),
        PodState::Ended { evicted: false } => "has ended".to_owned(),
    }
}

/// The times that a countdown runs between, for the style sheet.
pub(crate) fn timer_style(state: PodState) -> Option<String> {
    state.timer().map(|(since, until)| {
        let (from, total) = (css_seconds(since.since_zero()), css_seconds(until - since));
        format!("--since:{from};--total:{total}")
    })
}

/// Its state in words, and that there is a warning about it.
fn words(pod: &PodView, warned: Option<Severity>) -> String {
    let state = state_words(pod.state);
    if warned.is_some() { format!("{state}, with a warning") } else { state }
}

/// A pod with its name, the time that is left, and a mark if there is a warning about it.
pub(crate) fn pod_row(pod: &PodView, selected: bool, warned: Option<Severity>) -> Html {
    let words = words(pod, warned);
    let namespace = pod.key.namespace();
    html! {
        <button key={pod.key.as_str()} class="pod" data-pod={pod.key.to_string()} data-state={pod.state.word()}
            data-selected={selected.to_string()} style={timer_style(pod.state)}
            title={format!("{}: {words}", pod.key)} aria-label={format!("pod {}, {words}", pod.key)}>
            <span class="ring"></span>
            <span class="clip">
                if namespace != "default" { <span class="ns">{ namespace }{ "/" }</span> }
                { pod.key.name() }
            </span>
            if let Some(severity) = warned {
                <span class="beware" data-severity={severity.as_str()}>{ icon::warning() }</span>
            }
            if pod.state.timer().is_some() { <span class="timer" aria-hidden="true"></span> }
            if pod.state == PodState::Stuck { <span class="stuck" aria-hidden="true">{ "stuck" }</span> }
            if let PodState::Ended { evicted } = pod.state {
                <span class="ended" data-words={if evicted { "evicted" } else { "ended" }}></span>
            }
        </button>
    }
}

/// A pod as a dot that can be reached with the tab key.
pub(crate) fn pod_dot(pod: &PodView, selected: bool, warned: Option<Severity>) -> Html {
    let label = format!("{}: {}", pod.key, words(pod, warned));
    html! {
        <button key={pod.key.as_str()} class="dotpod" data-pod={pod.key.to_string()}
            data-state={pod.state.word()} data-selected={selected.to_string()}
            data-severity={warned.map(Severity::as_str)} title={label.clone()} aria-label={label}></button>
    }
}

/// A pod as one dot of tens of thousands, with nothing that is not needed. It cannot be reached
/// with the tab key; its node can, and lists it.
pub(crate) fn pod_speck(pod: &PodView, selected: bool, _: Option<Severity>) -> Html {
    let selected = selected.then_some("true");
    html! {
        <i key={pod.key.as_str()} class="dotpod" data-pod={pod.key.to_string()}
            data-state={pod.state.word()} data-selected={selected}></i>
    }
}
