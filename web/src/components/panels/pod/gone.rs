//! The panel of a pod that is gone.

use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use taintlab_core::lanes::Cause;
use yew::prelude::*;

use super::super::head::head;
use crate::components::parts::causes::how_it_came;
use crate::components::parts::time_budget::time_budget;
use crate::messages::{Dispatch, Msg};
use crate::session::Gone;
use crate::text::at;
use crate::view_models::selection::Selection;

/// The panel: the end of the pod, its causes, and its time budget.
pub(crate) fn gone_panel(
    gone: &Gone,
    budget: Option<&TimeBudget>,
    causes: &[Cause],
    dispatch: &Dispatch,
) -> Html {
    let badge = html! { <span class="badge" data-state="gone">{ "gone" }</span> };
    let name = html! { { gone.pod.to_string() } };
    let how = match gone.evicted {
        Some(evicted) => format!("Evicted at {}", at(evicted)),
        None => format!("Deleted, gone at {}", at(gone.at)),
    };
    let node = gone.node.clone();
    html! {
        <>
            { head("Pod", name, badge, Html::default(), dispatch) }
            <div class="body stack">
                <div class="verdict" data-state="gone">
                    <b>{ how }</b>
                    if gone.evicted.is_some() {
                        <p>{ format!("The taint-eviction controller deleted it; the object was \
                            removed at {}.", at(gone.at)) }</p>
                    }
                </div>
                if gone.lost() {
                    <p>{ "Not replaced: the pod has no controller." }</p>
                }
                if !node.as_str().is_empty() {
                    <p>{ "It was on node " }
                        <button class="btn small" onclick={dispatch.reform(move |_| {
                            Msg::Select(Some(Selection::Node(node.clone())))
                        })}>{ gone.node.to_string() }</button>
                    </p>
                }
                { how_it_came(causes, dispatch) }
                { budget.map(|budget| time_budget(budget, dispatch)) }
                <p class="hint">{ "Move the clock back to see it, or undo." }</p>
            </div>
        </>
    }
}
