//! A button that leads to a line of a text.

use yew::prelude::*;

/// A button that shows a line of the text.
pub(crate) fn line_button(line: u32, online: &Callback<u32>) -> Html {
    let onclick = online.reform(move |_: MouseEvent| line);
    html! {
        <button type="button" class="btn quiet small line" title="Show this line" {onclick}>
            { format!("line {line}") }
        </button>
    }
}
