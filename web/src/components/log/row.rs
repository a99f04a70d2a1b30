//! A row of the event log.

use yew::prelude::*;

use crate::components::parts::name::{cut_name, name_parts};
use crate::components::parts::style::style;
use crate::messages::{Dispatch, Msg};
use crate::text::at;
use crate::view_models::display::Category;
use crate::view_models::log::LogRow;
use crate::view_models::names::Shared;
use crate::view_models::selection::Selection;

/// The height of a row in pixels, as in the style sheet.
pub(crate) const ROW: usize = 26;

/// A row of the log, `top` pixels down. The tab key stops at one of the rows; arrow keys lead from
/// one to the next.
pub(crate) fn event_row(
    row: &LogRow,
    top: usize,
    selection: Option<&Selection>,
    names: Shared,
    is_stop: bool,
    dispatch: &Dispatch,
) -> Html {
    let text = row.text.clone();
    let selected = text.selects.is_some() && text.selects.as_ref() == selection;
    let category = match text.category {
        Category::Event => "event",
        Category::Change => "change",
        Category::Fact => "fact",
    };
    let object = match text.object.split_once('/') {
        Some(("node", name)) => {
            html! { <span class="cut"><span>{ "node/" }</span>{ name_parts(name, names) }</span> }
        }
        _ => cut_name(&text.object, Shared::default()),
    };
    let selects = text.selects;
    let to = row.at;
    let onclick = dispatch.reform(move |_: MouseEvent| Msg::GoTo(to, selects.clone()));
    html! {
        <button key={top} class="ev" ~style={style(format!("top:{top}px"))} data-category={category}
            data-place={(top / ROW).to_string()} data-type={text.type_}
            data-selected={selected.to_string()} tabindex={if is_stop { "0" } else { "-1" }}
            data-later={row.later.then_some("true")} aria-current={row.current.then_some("true")}
            {onclick}>
            <span class="t">{ at(row.at) }</span>
            <span class="ty">{ text.type_ }</span>
            <span class="r" title={text.reason.clone()}>{ text.reason }</span>
            <span class="o" title={text.object.clone()}>{ object }</span>
            <span class="m" title={text.message.clone()}>{ text.message }</span>
            <span class="c" title={text.component}>{ text.component }</span>
        </button>
    }
}
