//! A form for labels.

use std::collections::BTreeMap;

use taintlab_core::api::Labels;
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::zone::{REGION_LABEL, ZONE_LABEL};
use taintlab_core::order::tree;
use taintlab_core::policy::validation::{is_valid_label_value, validate_label_name};
use yew::prelude::*;

use super::draft::FormDraft;
use super::forms::{TextField, message};
use super::icon;
use super::new_row::use_new_row;
use crate::messages::Dispatch;
use crate::test_id::TestId;

/// Properties of [`LabelForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct LabelFormProps {
    /// The labels.
    pub(crate) labels: Labels,
    /// Makes the command that sets the labels.
    pub(crate) command: Callback<BTreeMap<String, String>, Command>,
    /// Whether these are labels of a node, some of which name its zone or region.
    #[prop_or_default]
    pub(crate) of_node: bool,
    /// The input.
    pub(crate) draft: FormDraft<Pairs>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// Keys and values, in the order of the form.
pub(crate) type Pairs = Vec<(String, String)>;

fn pairs(labels: &BTreeMap<String, String>) -> Pairs {
    labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The errors in the key and in the value of one of the labels.
fn errors(pairs: &Pairs, index: usize) -> (Vec<AttrValue>, Vec<AttrValue>) {
    let Some((key, value)) = pairs.get(index) else { return Default::default() };
    let mut of_key: Vec<AttrValue> = validate_label_name(key, "").iter().map(message).collect();
    if pairs.iter().take(index).any(|(earlier, _)| earlier == key) {
        of_key.push("there is a label with this key already".into());
    }
    (of_key, is_valid_label_value(value).into_iter().map(AttrValue::from).collect())
}

/// The form for labels: a draft that is applied as a whole.
#[component]
pub(crate) fn LabelForm(props: &LabelFormProps) -> Html {
    let draft = &props.draft;
    let shown = draft.typed().cloned().unwrap_or_else(|| pairs(&props.labels));
    let labels = tree(shown.iter().cloned());
    let dirty = pairs(&props.labels) != shown;
    let faults: Vec<_> = (0..shown.len()).map(|index| errors(&shown, index)).collect();
    let valid = faults.iter().all(|(key, value)| key.is_empty() && value.is_empty());
    let set = draft.oninput();
    let new_row = use_new_row(shown.len());
    let add = {
        let (mut pairs, set) = (shown.clone(), set.clone());
        pairs.push(Default::default());
        new_row.adds(move || set.emit(pairs.clone()))
    };
    let onsubmit = {
        let (dispatch, command, draft) =
            (props.dispatch.clone(), props.command.clone(), draft.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            if valid {
                draft.send(&dispatch, vec![command.emit(labels.clone())]);
            }
        }
    };
    html! {
        <form class="stack" ref={new_row.form.clone()}
            onclick={new_row.onclick()} {onsubmit} data-testid={TestId::LabelForm}>
            if props.of_node {
                <p class="hint">{ "The zone is the label " }<code>{ ZONE_LABEL }</code>{ "." }</p>
            }
            <ul class="items">
                { for shown.iter().zip(faults).enumerate().map(|(index, (pair, faults))| html! {
                    <li class="item" key={index}>
                        { fields(props.of_node, &shown, index, pair, faults, &set) }
                    </li>
                }) }
            </ul>
            <div><button type="button" class="btn small" onclick={add}>
                { icon::plus() }{ "Add a label" }
            </button></div>
            { draft.foot(dirty, valid, Html::default()) }
        </form>
    }
}

fn fields(
    of_node: bool,
    all: &Pairs,
    index: usize,
    (key, value): &(String, String),
    (key_errors, value_errors): (Vec<AttrValue>, Vec<AttrValue>),
    set: &Callback<Pairs>,
) -> Html {
    let change = |apply: fn(&mut (String, String), String)| {
        let all = all.clone();
        set.reform(move |text: String| {
            let mut all = all.clone();
            if let Some(pair) = all.get_mut(index) {
                apply(pair, text);
            }
            all
        })
    };
    let remove = {
        let mut all = all.clone();
        all.remove(index);
        set.reform(move |_: MouseEvent| all.clone())
    };
    let known: &[&str] = if of_node { &[ZONE_LABEL, REGION_LABEL] } else { &[] };
    let known: Vec<AttrValue> = known.iter().map(|key| AttrValue::from(*key)).collect();
    html! {
        <>
            <TextField label="Key" value={key.clone()} errors={key_errors} list={known}
                oninput={change(|pair, text| pair.0 = text.trim().to_owned())} />
            <div class="row">
                <TextField class="grow" label="Value" value={value.clone()} errors={value_errors}
                    oninput={change(|pair, text| pair.1 = text)} />
                <button type="button" class="btn quiet small icon danger" title="Remove"
                    aria-label="Remove" onclick={remove}>{ icon::bin() }</button>
            </div>
        </>
    }
}
