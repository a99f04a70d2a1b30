//! The field that finds nodes and pods by name.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// Properties of [`Finder`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct FinderProps {
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The search field. Enter selects the first object with the text in its name, and again the next
/// one.
#[component]
pub(crate) fn Finder(props: &FinderProps) -> Html {
    let field = use_node_ref();
    let onsubmit = {
        let field = field.clone();
        props.dispatch.reform(move |event: SubmitEvent| {
            event.prevent_default();
            let name = field.cast::<HtmlInputElement>().map(|it| it.value());
            Msg::Find(name.unwrap_or_default())
        })
    };
    html! {
        <form class="finder" role="search" {onsubmit}>
            <input ref={field} type="search" placeholder="Find" autocomplete="off"
                aria-label="Find a node or a pod" title="Find a node or a pod (/); Enter: the next"
                spellcheck="false" data-testid={TestId::Find} />
        </form>
    }
}
