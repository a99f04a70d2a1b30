//! Fields of forms, with their errors beside them.

use taintlab_core::policy::validation::FieldError;
use taintlab_core::release::KubernetesRelease;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::test_id::TestId;

/// The messages for one field among the errors of an object, without the path.
pub(crate) fn messages(errors: &[FieldError], path: &str) -> Vec<AttrValue> {
    errors.iter().filter(|error| error.field == path).map(message).collect()
}

/// The text of an error, without the path.
pub(crate) fn message(error: &FieldError) -> AttrValue {
    let text = error.to_string();
    let rest = text.strip_prefix(&error.field).and_then(|text| text.strip_prefix(": "));
    rest.unwrap_or(&text).to_owned().into()
}

/// Properties of [`TextField`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TextFieldProps {
    /// The label of the field.
    pub(crate) label: AttrValue,
    /// The text in the field.
    pub(crate) value: AttrValue,
    /// Receives the text when it changes.
    pub(crate) oninput: Callback<String>,
    /// The errors of the field.
    #[prop_or_default]
    pub(crate) errors: Vec<AttrValue>,
    /// The suggestions of the field.
    #[prop_or_default]
    pub(crate) list: Vec<AttrValue>,
    /// The text shown while the field is empty.
    #[prop_or_default]
    pub(crate) placeholder: AttrValue,
    /// Style classes, for the width of the field.
    #[prop_or_default]
    pub(crate) class: Classes,
    /// Whether the field is disabled.
    #[prop_or_default]
    pub(crate) disabled: bool,
    /// Whether the field has the focus when it appears.
    #[prop_or_default]
    pub(crate) autofocus: bool,
}

/// A field for a line of text, with its errors below it.
#[component]
pub(crate) fn TextField(props: &TextFieldProps) -> Html {
    let list_id = format!("list-{}", props.label.to_ascii_lowercase().replace(' ', "-"));
    let has_list = !props.list.is_empty();
    let oninput = props.oninput.reform(|event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        input.value()
    });
    let invalid = !props.errors.is_empty();
    html! {
        <label class={classes!("field", props.class.clone())}>
            <span>{ props.label.clone() }</span>
            <input type="text" value={props.value.clone()} {oninput} autocomplete="off"
                spellcheck="false" autocapitalize="off" disabled={props.disabled}
                autofocus={props.autofocus} placeholder={props.placeholder.clone()}
                list={has_list.then(|| list_id.clone())} aria-invalid={invalid.then_some("true")} />
            if has_list {
                <datalist id={list_id}>
                    { for props.list.iter().map(|value| html! {
                        <option value={value.clone()} />
                    }) }
                </datalist>
            }
            { error_list(&props.errors) }
        </label>
    }
}

/// Errors below a field or a form.
pub(crate) fn error_list(errors: &[AttrValue]) -> Html {
    errors
        .iter()
        .map(|error| html! { <span class="error" role="alert">{ error.clone() }</span> })
        .collect()
}

/// Stores the reason of a refusal as the error of a form.
pub(crate) fn refused_into(failure: &UseStateHandle<Option<AttrValue>>) -> Callback<String> {
    let failure = failure.clone();
    Callback::from(move |error: String| failure.set(Some(error.into())))
}

/// Properties of [`SelectField`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SelectFieldProps {
    /// The label of the field.
    pub(crate) label: AttrValue,
    /// The chosen value.
    pub(crate) value: AttrValue,
    /// The choices: value and words.
    pub(crate) options: Vec<(AttrValue, AttrValue)>,
    /// Receives the new choice.
    pub(crate) onchange: Callback<String>,
    /// The errors of the field.
    #[prop_or_default]
    pub(crate) errors: Vec<AttrValue>,
    /// Style classes, for the width of the field.
    #[prop_or_default]
    pub(crate) class: Classes,
}

/// A field with a few choices.
#[component]
pub(crate) fn SelectField(props: &SelectFieldProps) -> Html {
    html! {
        <label class={classes!("field", props.class.clone())}>
            <span>{ props.label.clone() }</span>
            <Choice value={props.value.clone()} options={props.options.clone()}
                onchange={props.onchange.clone()} invalid={!props.errors.is_empty()} />
            { error_list(&props.errors) }
        </label>
    }
}

/// Properties of [`Choice`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ChoiceProps {
    /// The chosen value.
    pub(crate) value: AttrValue,
    /// The choices: value and words.
    pub(crate) options: Vec<(AttrValue, AttrValue)>,
    /// Receives the new choice.
    pub(crate) onchange: Callback<String>,
    /// The number of choices at the end of the list that stand under *older*.
    #[prop_or_default]
    pub(crate) older: usize,
    /// Whether the value is invalid.
    #[prop_or_default]
    pub(crate) invalid: bool,
    /// The label of the list, where no label is around it.
    #[prop_or_default]
    pub(crate) label: Option<AttrValue>,
    /// The name of the list in tests.
    #[prop_or_default]
    pub(crate) testid: Option<TestId>,
}

/// A list of choices. A value that is none of the choices is kept and shown.
///
/// Once the user has chosen, the browser ignores the attribute `selected`; so the value is also set
/// on the list itself, and follows an undo.
#[component]
pub(crate) fn Choice(props: &ChoiceProps) -> Html {
    let node = use_node_ref();
    {
        let node = node.clone();
        use_effect_with(props.value.clone(), move |value| {
            if let Some(select) = node.cast::<HtmlSelectElement>() {
                select.set_value(value);
            }
        });
    }
    let onchange = props.onchange.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        select.value()
    });
    let known = props.options.iter().any(|(value, _)| *value == props.value);
    let option = |(value, words): &(AttrValue, AttrValue)| {
        html! {
            <option value={value.clone()} selected={*value == props.value}>
                { words.clone() }
            </option>
        }
    };
    let newer = props.options.len().saturating_sub(props.older);
    let (newer, older) = props.options.split_at_checked(newer).unwrap_or_default();
    html! {
        <select ref={node} {onchange} aria-invalid={props.invalid.then_some("true")}
            aria-label={props.label.clone()} data-testid={props.testid.map(TestId::as_str)}>
            if !known {
                <option value={props.value.clone()} selected=true>{ props.value.clone() }</option>
            }
            { for newer.iter().map(option) }
            if !older.is_empty() {
                <optgroup label="older">{ for older.iter().map(option) }</optgroup>
            }
        </select>
    }
}

/// The releases, newest first, and the number of older ones at the end.
pub(crate) fn releases() -> (Vec<(AttrValue, AttrValue)>, usize) {
    let pair =
        |release: KubernetesRelease| (release.to_string().into(), release.to_string().into());
    let older = KubernetesRelease::all().filter(|release| release.is_older()).count();
    (KubernetesRelease::all().rev().map(pair).collect(), older)
}

/// Choices whose words are their values.
pub(crate) fn plain_options<'a>(
    values: impl IntoIterator<Item = &'a str>,
) -> Vec<(AttrValue, AttrValue)> {
    let pair = |value: &str| (value.to_owned().into(), value.to_owned().into());
    values.into_iter().map(pair).collect()
}
