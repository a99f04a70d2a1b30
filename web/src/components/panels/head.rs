//! The head of a panel.

use yew::prelude::*;

use crate::components::parts::icon;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// The kind in the head of a list of pods, which has no buttons for the previous and next event.
pub(crate) const PODS: &str = "Pods";

/// The head of a panel: kind, name, badge, actions, and a close button.
pub(crate) fn head(
    kind: &'static str,
    name: Html,
    badge: Html,
    actions: Html,
    dispatch: &Dispatch,
) -> Html {
    html! {
        <div class="head">
            <div class="row">
                <span class="muted">{ kind }</span>
                { badge }
                <span class="grow"></span>
                if kind != PODS { { steps(dispatch) } }
                <button class="btn quiet icon small" title="Close (Esc)" aria-label="Close"
                    onclick={dispatch.reform(|_| Msg::Select(None))}>{ icon::cross() }</button>
            </div>
            <h2 tabindex="-1">{ name }</h2>
            <div class="row">{ actions }</div>
        </div>
    }
}

/// Buttons for the previous and the next event of the selection.
fn steps(dispatch: &Dispatch) -> Html {
    let step = |later: bool, sign, label: &'static str, key: &'static str, id: TestId| {
        let onclick = dispatch.reform(move |_: MouseEvent| Msg::StepAbout(later));
        html! {
            <button class="btn quiet icon small aboutstep" title={format!("{label} ({key})")}
                aria-label={label} data-testid={id} {onclick}>{ sign }</button>
        }
    };
    html! {
        <>
            { step(false, "‹", "Previous event of this object", ",", TestId::AboutBefore) }
            { step(true, "›", "Next event of this object", ".", TestId::AboutAfter) }
        </>
    }
}
