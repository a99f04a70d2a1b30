//! The reasons why a pod stays or goes: the engine's explanation, painted.

use taintlab_core::policy::matching::{Explanation, TaintExplanation, TolerationOutcome};
use taintlab_core::simulator::PodExplanation;
use yew::prelude::*;

use crate::components::parts::icon;
use crate::components::parts::prose::in_words;
use crate::components::parts::taint_chip::taint_chip;
use crate::test_id::TestId;

/// The result of each toleration for each taint.
pub(crate) fn why(explanation: &PodExplanation) -> Html {
    let matching = &explanation.matching;
    if explanation.node.is_empty() {
        return html! { <p class="hint">{ "The pod has no node, so there are no taints to tolerate." }</p> };
    }
    if !explanation.node_exists {
        return html! {
            <p class="hint">
                { format!("There is no node {}, so no taints are known.", explanation.node) }
            </p>
        };
    }
    if matching.taints.is_empty() {
        return html! {
            <p class="hint">{ format!("Node {} has no taints.", explanation.node) }</p>
        };
    }
    html! {
        <ol class="why" data-testid={TestId::Why}>
            { for matching.taints.iter().map(|taint| one_taint(taint, matching)) }
        </ol>
    }
}

fn one_taint(taint: &TaintExplanation, matching: &Explanation) -> Html {
    html! {
        <li data-answered={taint.answered_by.is_some().to_string()}>
            <div class="taintrow">
                { taint_chip(&taint.taint, false) }
                <span class="hint">{ taint.consequence.to_string() }</span>
            </div>
            if matching.tolerations.is_empty() {
                <table><tbody><tr data-outcome="failed">
                    <td>{ icon::cross() }</td><td>{ "The pod has no tolerations" }</td>
                </tr></tbody></table>
            } else {
                <table>
                    <thead class="sr">
                        <tr><th>{ "Outcome" }</th><th>{ "Toleration" }</th></tr>
                    </thead>
                    <tbody>
                        { for taint.outcomes.iter().zip(&matching.tolerations).map(
                            |(outcome, toleration)| row(outcome, &toleration.to_string())
                        ) }
                    </tbody>
                </table>
            }
        </li>
    }
}

fn row(outcome: &TolerationOutcome, toleration: &str) -> Html {
    let (word, picture) = match outcome {
        TolerationOutcome::Used => ("used", icon::tick()),
        TolerationOutcome::Shadowed { .. } => ("shadowed", icon::skip()),
        TolerationOutcome::Failed { .. } => ("failed", icon::cross()),
    };
    html! {
        <tr data-outcome={word}>
            <td title={word}>{ picture }</td>
            <td>
                <code>{ toleration.to_owned() }</code>
                <span class="said">{ in_words(&outcome.to_string()) }</span>
            </td>
        </tr>
    }
}
