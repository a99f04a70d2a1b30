//! A row of tabs.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

/// A tab of a panel.
pub(crate) trait Tab: Copy + PartialEq + 'static {
    /// The value of `data-tab`.
    fn as_str(self) -> &'static str;

    /// The words on the tab.
    fn words(self) -> &'static str;
}

/// A row of tabs, each with the number of objects that it holds. The tab key reaches the tab that
/// is shown, arrow keys the others.
pub(crate) fn tabs<T: Tab>(all: &[(T, Option<usize>)], current: &UseStateHandle<T>) -> Html {
    html! {
        <div class="tabs" role="tablist" onkeydown={to_other_tab}>
            { for all.iter().map(|(tab, number)| {
                let (tab, current) = (*tab, current.clone());
                let shown = *current == tab;
                html! {
                    <button role="tab" aria-selected={shown.to_string()} data-tab={tab.as_str()}
                        tabindex={if shown { "0" } else { "-1" }}
                        onclick={move |_| current.set(tab)}>
                        { tab.words() }
                        if let Some(number) = number { { " " }<span class="n num">{ *number }</span> }
                    </button>
                }
            }) }
        </div>
    }
}

/// Shows another tab, and gives it the focus.
pub(crate) fn to_other_tab(event: KeyboardEvent) {
    let plain = !(event.ctrl_key() || event.alt_key() || event.meta_key() || event.shift_key());
    let Some(tab) = event.target_dyn_into::<HtmlElement>().filter(|_| plain) else { return };
    let list = || tab.parent_element();
    let other = match event.key().as_str() {
        "ArrowLeft" => tab.previous_element_sibling().or_else(|| list()?.last_element_child()),
        "ArrowRight" => tab.next_element_sibling().or_else(|| list()?.first_element_child()),
        "Home" => list().and_then(|list| list.first_element_child()),
        "End" => list().and_then(|list| list.last_element_child()),
        _ => None,
    };
    if let Some(other) = other.and_then(|other| other.dyn_into::<HtmlElement>().ok()) {
        event.prevent_default();
        // The shown tab has the focus; nothing is lost if the browser refuses.
        let _ = other.focus();
        other.click();
    }
}
