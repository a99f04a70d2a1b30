//! An editor for a list of tolerations.

use taintlab_core::api::{TaintEffect, Toleration, TolerationOperator, well_known};
use taintlab_core::policy::validation::{FieldError, ValidationOptions, validate_tolerations};
use yew::prelude::*;

use super::forms::{SelectField, TextField, messages, plain_options};
use super::icon;

/// The field path of tolerations in errors.
pub(crate) const PATH: &str = "tolerations";

/// The input for a toleration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    /// The toleration without its seconds, which are in the other field.
    pub(crate) toleration: Toleration,
    /// `tolerationSeconds` as typed.
    pub(crate) seconds: String,
}

impl Draft {
    fn of(toleration: &Toleration) -> Self {
        let seconds = toleration.toleration_seconds.map(|s| s.to_string()).unwrap_or_default();
        Self { toleration: toleration.clone(), seconds }
    }

    /// The toleration, or the error in its seconds.
    fn read(&self) -> Result<Toleration, AttrValue> {
        let text = self.seconds.trim();
        let toleration_seconds = if text.is_empty() {
            None
        } else {
            let wrong = |_| format!("`{text}` is not a whole number of seconds; empty is forever");
            Some(text.parse().map_err(wrong)?)
        };
        Ok(Toleration { toleration_seconds, ..self.toleration.clone() })
    }
}

/// The tolerations of drafts as far as they can be read, to find their other errors.
pub(crate) fn readable(drafts: &[Draft]) -> Vec<Toleration> {
    let read = |draft: &Draft| draft.read().unwrap_or_else(|_| draft.toleration.clone());
    drafts.iter().map(read).collect()
}

/// Drafts of tolerations.
pub(crate) fn drafts(tolerations: &[Toleration]) -> Vec<Draft> {
    tolerations.iter().map(Draft::of).collect()
}

/// The tolerations of drafts, if all seconds are numbers.
pub(crate) fn read(drafts: &[Draft]) -> Option<Vec<Toleration>> {
    drafts.iter().map(|draft| draft.read().ok()).collect()
}

/// One toleration that tolerates everything, forever.
pub(crate) fn everything() -> Vec<Toleration> {
    vec![Toleration { operator: TolerationOperator::Exists, ..Toleration::default() }]
}

/// The errors of new tolerations.
pub(crate) fn errors_of_new(drafts: &[Draft], options: &ValidationOptions) -> Vec<FieldError> {
    validate_tolerations(&readable(drafts), PATH, options)
}

/// Properties of [`TolerationEditor`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TolerationEditorProps {
    /// The tolerations.
    pub(crate) drafts: Vec<Draft>,
    /// The errors of the tolerations.
    pub(crate) errors: Vec<FieldError>,
    /// Whether `Lt` and `Gt` can be chosen.
    pub(crate) numeric: bool,
    /// Receives the new tolerations.
    pub(crate) onchange: Callback<Vec<Draft>>,
}

/// A list of tolerations, each with its fields. Their order matters.
#[component]
pub(crate) fn TolerationEditor(props: &TolerationEditorProps) -> Html {
    html! {
        <ol class="items">
            { for props.drafts.iter().enumerate().map(|(index, draft)| html! {
                <li class="item" key={index} data-toleration={index.to_string()}>
                    { fields(props, index, draft) }
                    { tools(props, index) }
                </li>
            }) }
        </ol>
    }
}

fn fields(props: &TolerationEditorProps, index: usize, draft: &Draft) -> Html {
    let change = |apply: fn(&mut Draft, String)| {
        let drafts = props.drafts.clone();
        props.onchange.reform(move |text: String| {
            let mut drafts = drafts.clone();
            if let Some(draft) = drafts.get_mut(index) {
                apply(draft, text);
            }
            drafts
        })
    };
    let toleration = &draft.toleration;
    let at = |field: &str| messages(&props.errors, &format!("{PATH}[{index}]{field}"));
    let keys = well_known::ALL.iter().map(|key| AttrValue::from(*key)).collect::<Vec<_>>();
    let exists = toleration.operator == TolerationOperator::Exists;
    let mut operators = plain_options(["Equal", "Exists"]);
    if props.numeric {
        operators.extend(plain_options(["Lt", "Gt"]));
    }
    operators.insert(0, ("".into(), "(Equal)".into()));
    let mut effects = plain_options(TaintEffect::KNOWN.iter().map(TaintEffect::as_str));
    effects.insert(0, ("".into(), "(every effect)".into()));
    html! {
        <div class="grid">
            <TextField class="w4" label="Key" value={toleration.key.clone()} list={keys}
                errors={at(".key")} placeholder="every key"
                oninput={change(|draft, text| draft.toleration.key = text.trim().to_owned())} />
            <SelectField class="w2" label="Operator" value={toleration.operator.to_string()}
                errors={at(".operator")} options={operators}
                onchange={change(|draft, text| {
                    draft.toleration.operator = text.as_str().into();
                    if draft.toleration.operator == TolerationOperator::Exists {
                        draft.toleration.value.clear();
                    }
                })} />
            <TextField class="w2" label="Value" value={toleration.value.clone()}
                errors={at(".value")} disabled={exists && toleration.value.is_empty()}
                placeholder={if exists { "any" } else { "empty" }}
                oninput={change(|draft, text| draft.toleration.value = text)} />
            <SelectField class="w2" label="Effect" value={toleration.effect.to_string()}
                errors={at(".effect")} options={effects}
                onchange={change(|draft, text| draft.toleration.effect = text.as_str().into())} />
            <TextField class="w2" label="Seconds" value={draft.seconds.clone()}
                errors={draft.read().err().into_iter().collect::<Vec<_>>()} placeholder="forever"
                oninput={change(|draft, text| draft.seconds = text)} />
        </div>
    }
}

fn tools(props: &TolerationEditorProps, index: usize) -> Html {
    let moved = |to: Option<usize>| {
        let mut drafts = props.drafts.clone();
        if let Some(to) = to.filter(|to| *to < drafts.len()) {
            drafts.swap(index, to);
        }
        props.onchange.reform(move |_: MouseEvent| drafts.clone())
    };
    let remove = {
        let mut drafts = props.drafts.clone();
        drafts.remove(index);
        props.onchange.reform(move |_: MouseEvent| drafts.clone())
    };
    let last = index + 1 == props.drafts.len();
    html! {
        <div class="tools">
            <span class="hint mono">{ format!("tolerations[{index}]") }</span>
            <button type="button" class="btn quiet small icon" title="Move up" aria-label="Move up"
                disabled={index == 0} onclick={moved(index.checked_sub(1))}>{ icon::up() }</button>
            <button type="button" class="btn quiet small icon" title="Move down"
                aria-label="Move down" disabled={last} onclick={moved(Some(index + 1))}>
                { icon::down() }
            </button>
            <button type="button" class="btn quiet small icon danger" title="Remove"
                aria-label="Remove" onclick={remove}>{ icon::bin() }</button>
        </div>
    }
}
