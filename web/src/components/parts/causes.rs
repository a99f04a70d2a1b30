//! A list of causes, each with a link to its moment.

use taintlab_core::lanes::Cause;
use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::at;

/// The causes with a heading; empty without known causes.
pub(crate) fn how_it_came(list: &[Cause], dispatch: &Dispatch) -> Html {
    if list.is_empty() {
        return Html::default();
    }
    html! {
        <section class="stack">
            <h3>{ "Causes" }</h3>
            { causes(list, dispatch) }
        </section>
    }
}

/// A list of causes, the last one first; each leads to its moment.
pub(crate) fn causes(causes: &[Cause], dispatch: &Dispatch) -> Html {
    if causes.is_empty() {
        return Html::default();
    }
    html! {
        <ol class="causes" data-testid={TestId::Causes} aria-label="Causes">
            { for causes.iter().map(|cause| {
                let to = cause.at;
                html! {
                    <li>
                        <button class="link"
                            onclick={dispatch.reform(move |_: MouseEvent| Msg::Seek(to))}
                            title={format!("Go to {}", at(to))}>
                            <b class="num">{ at(to) }</b>{ " " }{ &cause.text }
                        </button>
                    </li>
                }
            }) }
        </ol>
    }
}
