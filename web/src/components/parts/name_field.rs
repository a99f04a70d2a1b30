//! A field for a name that is changed in place.

use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Properties of [`NameField`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NameFieldProps {
    /// The present name.
    pub(crate) value: AttrValue,
    /// The label of the field.
    pub(crate) label: AttrValue,
    /// Receives the new name: when the field is left, or with Enter.
    pub(crate) onchange: Callback<String>,
}

/// The field. It keeps typed text, whatever the page shows meanwhile.
#[component]
pub(crate) fn NameField(props: &NameFieldProps) -> Html {
    let typed = use_state(|| None::<AttrValue>);
    let oninput = {
        let typed = typed.clone();
        move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            typed.set(Some(input.value().into()));
        }
    };
    let onchange = {
        let (typed, done) = (typed.clone(), props.onchange.clone());
        move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            typed.set(None);
            done.emit(input.value());
        }
    };
    let value = (*typed).clone().unwrap_or_else(|| props.value.clone());
    html! {
        <input class="grow" type="text" {value} {oninput} {onchange} autocomplete="off"
            aria-label={props.label.clone()} />
    }
}
