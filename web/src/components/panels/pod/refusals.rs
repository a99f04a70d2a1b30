//! The scheduler's verdict on each node.

use taintlab_core::policy::scheduling::Decision;
use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::selection::Selection;

/// The maximum number of nodes listed; the others are only counted.
const MOST_NODES: usize = 40;

/// The scheduler's verdict on each node.
pub(crate) fn refusals(decision: &Decision, dispatch: &Dispatch) -> Html {
    let rows = decision.verdicts.iter().take(MOST_NODES).map(|verdict| {
        let node = verdict.node.clone();
        let select = dispatch
            .reform(move |_: MouseEvent| Msg::Select(Some(Selection::Node(node.as_str().into()))));
        let (plugin, reasons) = match &verdict.rejection {
            Some(rejection) => (format!("{:?}", rejection.plugin), rejection.reasons.join("; ")),
            None => (String::new(), "fits".to_owned()),
        };
        html! {
            <tr data-node-refusal={verdict.node.clone()}>
                <td><button class="btn quiet small" onclick={select}>{ &verdict.node }</button></td>
                <td>{ reasons }</td>
                <td class="muted">{ plugin }</td>
            </tr>
        }
    });
    let more = decision.verdicts.len().saturating_sub(MOST_NODES);
    html! {
        <section class="stack refusals" data-testid={TestId::Refusals}>
            <h3>{ "What the scheduler says" }</h3>
            if let Some(message) = &decision.message {
                <p class="pendingpod"><code>{ message }</code></p>
            }
            <div class="wide">
                <table class="conditions">
                    <thead>
                        <tr><th>{ "Node" }</th><th>{ "Why not" }</th><th>{ "Plugin" }</th></tr>
                    </thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
            if more > 0 { <p class="hint">{ format!("and {}", count(more, "more node")) }</p> }
            if !decision.preemptable.is_empty() {
                <p class="hint">
                    { format!("Without pods of a lower priority it would fit on {}.",
                        decision.preemptable.join(", ")) }
                </p>
            }
        </section>
    }
}
