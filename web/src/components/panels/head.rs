//! The head of a panel.

use yew::prelude::*;

use crate::components::parts::icon;
use crate::messages::{Dispatch, Msg};

/// The head of a panel: what it is about, a badge, and the way out.
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
                <button class="btn quiet icon small" title="Close (Esc)" aria-label="Close"
                    onclick={dispatch.reform(|_| Msg::Select(None))}>{ icon::cross() }</button>
            </div>
            <h2 tabindex="-1">{ name }</h2>
            <div class="row">{ actions }</div>
        </div>
    }
}
