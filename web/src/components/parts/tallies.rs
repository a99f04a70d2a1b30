//! Pod counts by the states of the legend.

use taintlab_core::pod_state::{PodCounts, PodHealth, PodVerdict};
use yew::prelude::*;

/// Pod counts by state, without zeros.
pub(crate) fn tallies(counts: &PodCounts) -> Html {
    let tally = |state: Option<&'static str>, health, number: usize, words: &'static str| {
        html! {
            <span class="tally" title={format!("{number} {words}")}>
                <i class="key" data-state={state} data-health={health}></i>{ number }
            </span>
        }
    };
    let verdicts = PodVerdict::ALL.into_iter().filter_map(|verdict| {
        let number = counts.verdict(verdict);
        (number > 0).then(|| tally(Some(verdict.as_str()), None, number, verdict.words(number)))
    });
    let unwell = PodHealth::ALL.into_iter().filter(|health| *health != PodHealth::Ready);
    let healths = unwell.filter_map(|health| {
        let number = counts.health(health);
        (number > 0).then(|| tally(None, Some(health.as_str()), number, health.words()))
    });
    html! { <span class="tallies">{ for verdicts }{ for healths }</span> }
}
