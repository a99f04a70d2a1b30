//! A button that copies a text.

use std::rc::Rc;

use yew::prelude::*;

use crate::messages::{Dispatch, Msg};

/// A button that copies a text.
pub(crate) fn copy(text: &str, dispatch: &Dispatch) -> Html {
    let text: Rc<str> = text.into();
    html! {
        <button class="btn small" onclick={dispatch.reform(move |_: MouseEvent| {
            Msg::Copy(text.clone())
        })}>{ "Copy" }</button>
    }
}
