//! A pod: as a row with its name, or as a dot.

use std::rc::Rc;

use yew::prelude::*;

use crate::model::{PodState, PodView};
use crate::text::{at, css_seconds};

/// Properties of [`PodRow`] and [`PodDot`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct PodProps {
    /// The pod.
    pub(crate) pod: Rc<PodView>,
    /// Whether it is selected.
    #[prop_or_default]
    pub(crate) selected: bool,
    /// Whether it can be reached with the tab key; where there are hundreds, it cannot.
    #[prop_or(true)]
    pub(crate) reachable: bool,
}

/// How a pod is doing, in words.
pub(crate) fn state_words(state: PodState) -> String {
    match state {
        PodState::Stays => "stays".to_owned(),
        PodState::Counting { until, .. } => format!("deleted at {}", at(until)),
        PodState::Terminating { until, .. } => format!("being deleted, gone at {}", at(until)),
        PodState::Pending => "has no node".to_owned(),
    }
}

/// The times that a countdown runs between, for the style sheet.
pub(crate) fn timer_style(state: PodState) -> Option<String> {
    state.timer().map(|(since, until)| {
        let (from, total) = (css_seconds(since.since_zero()), css_seconds(until - since));
        format!("--since:{from};--total:{total}")
    })
}

/// A pod with its name and the time that is left.
#[component]
pub(crate) fn PodRow(props: &PodProps) -> Html {
    let pod = &props.pod;
    let words = state_words(pod.state);
    let namespace = pod.key.namespace();
    html! {
        <button class="pod" data-pod={pod.key.to_string()} data-state={pod.state.word()}
            data-selected={props.selected.to_string()} style={timer_style(pod.state)}
            title={format!("{}: {words}", pod.key)} aria-label={format!("pod {}, {words}", pod.key)}>
            <span class="ring"></span>
            <span class="clip">
                if namespace != "default" { <span class="ns">{ namespace }{ "/" }</span> }
                { pod.key.name() }
            </span>
            if pod.state.timer().is_some() { <span class="timer" aria-hidden="true"></span> }
        </button>
    }
}

/// A pod as a dot.
#[component]
pub(crate) fn PodDot(props: &PodProps) -> Html {
    let pod = &props.pod;
    let label = format!("{}: {}", pod.key, state_words(pod.state));
    let tabindex = if props.reachable { "0" } else { "-1" };
    html! {
        <button class="dotpod" data-pod={pod.key.to_string()} data-state={pod.state.word()}
            data-selected={props.selected.to_string()} {tabindex}
            title={label.clone()} aria-label={label}></button>
    }
}
