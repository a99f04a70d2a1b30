//! Sentences of the engine, and facts in lists.

use yew::prelude::*;

/// A sentence of the engine, with the parts in backticks as code.
pub(crate) fn in_words(sentence: &str) -> Html {
    let parts = sentence.split('`').enumerate();
    parts
        .map(|(index, part)| {
            let part = part.to_owned();
            if index % 2 == 1 {
                html! { <code>{ part }</code> }
            } else {
                html! { { part } }
            }
        })
        .collect()
}

/// A name and a value.
pub(crate) fn fact(name: &'static str, value: String) -> Html {
    html! { <><dt>{ name }</dt><dd>{ value }</dd></> }
}
