//! The taints of a node, to be edited.

use taintlab_core::api::{NodeName, Taint, TaintEffect, well_known};
use taintlab_core::command::Command;
use taintlab_core::policy::validation::{FieldError, validate_node_taints};
use yew::prelude::*;

use super::draft::use_form_draft;
use super::forms::{SelectField, TextField, error_list, messages, plain_options};
use super::icon;
use super::new_row::use_new_row;
use crate::app::{Dispatch, Msg, refused};

/// Where errors of taints are said to be.
const PATH: &str = "taints";

/// Properties of [`TaintEditor`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TaintEditorProps {
    /// The taints.
    pub(crate) taints: Vec<Taint>,
    /// They were changed.
    pub(crate) onchange: Callback<Vec<Taint>>,
    /// Whether taints can be removed from the list.
    #[prop_or(true)]
    pub(crate) removable: bool,
}

/// What is wrong with taints.
pub(crate) fn taint_errors(taints: &[Taint]) -> Vec<FieldError> {
    validate_node_taints(taints, PATH)
}

/// A list of taints, each with its fields.
#[component]
pub(crate) fn TaintEditor(props: &TaintEditorProps) -> Html {
    let errors = taint_errors(&props.taints);
    html! {
        <ul class="items">
            { for props.taints.iter().enumerate().map(|(index, taint)| {
                html! { <li class="item" key={index}>{ fields(props, index, taint, &errors) }</li> }
            }) }
        </ul>
    }
}

fn fields(props: &TaintEditorProps, index: usize, taint: &Taint, errors: &[FieldError]) -> Html {
    let change = |apply: fn(&mut Taint, String)| {
        let taints = props.taints.clone();
        props.onchange.reform(move |text: String| {
            let mut taints = taints.clone();
            if let Some(taint) = taints.get_mut(index) {
                apply(taint, text);
            }
            taints
        })
    };
    let remove = {
        let mut taints = props.taints.clone();
        taints.remove(index);
        props.onchange.reform(move |_: MouseEvent| taints.clone())
    };
    let at = |field: &str| messages(errors, &format!("{PATH}[{index}]{field}"));
    // Of a key that is still to be typed, one message is enough.
    let most = if taint.key.is_empty() { 1 } else { usize::MAX };
    let key_errors: Vec<_> = at(".key").into_iter().take(most).collect();
    let keys = well_known::ALL.iter().map(|key| AttrValue::from(*key)).collect::<Vec<_>>();
    html! {
        <>
            <div class="grid">
                <TextField class="w6" label="Key" value={taint.key.clone()} list={keys}
                    errors={key_errors} placeholder="example.com/maintenance"
                    oninput={change(|taint, text| taint.key = text.trim().to_owned())} />
                <TextField class="w3" label="Value" value={taint.value.clone()}
                    errors={at(".value")} placeholder="none"
                    oninput={change(|taint, text| taint.value = text)} />
                <SelectField class="w3" label="Effect" value={taint.effect.to_string()}
                    errors={at(".effect")}
                    options={plain_options(TaintEffect::KNOWN.iter().map(TaintEffect::as_str))}
                    onchange={change(|taint, text| taint.effect = text.as_str().into())} />
            </div>
            { error_list(&at("")) }
            if props.removable {
                <div class="tools">
                    <button type="button" class="btn quiet small danger" onclick={remove}>
                        { icon::bin() }{ "Remove" }
                    </button>
                </div>
            }
        </>
    }
}

/// Properties of [`TaintForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TaintFormProps {
    /// Whose taints.
    pub(crate) node: NodeName,
    /// The taints it has.
    pub(crate) taints: Vec<Taint>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// The taints that a click sets.
pub(crate) const QUICK: [(&str, TaintEffect); 4] = [
    (well_known::UNREACHABLE, TaintEffect::NoExecute),
    (well_known::NOT_READY, TaintEffect::NoExecute),
    (well_known::OUT_OF_SERVICE, TaintEffect::NoExecute),
    ("example.com/maintenance", TaintEffect::NoSchedule),
];

/// The taints of a node: a draft that is applied as a whole, and taints at a click.
#[component]
pub(crate) fn TaintForm(props: &TaintFormProps) -> Html {
    let draft = use_form_draft::<Vec<Taint>>();
    let shown = draft.typed().unwrap_or(&props.taints).clone();
    let dirty = shown != props.taints;
    let valid = taint_errors(&shown).is_empty();
    let onchange = draft.oninput();
    let new_row = use_new_row(shown.len());
    let add = {
        let (mut taints, onchange) = (shown.clone(), onchange.clone());
        taints.push(Taint::new("", "", TaintEffect::NoExecute));
        new_row.adds(move || onchange.emit(taints.clone()))
    };
    let onsubmit = {
        let (dispatch, node, taints) = (props.dispatch.clone(), props.node.clone(), shown.clone());
        let draft = draft.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            if valid {
                let command = Command::SetTaints { node: node.clone(), taints: taints.clone() };
                draft.send(&dispatch, vec![command]);
            }
        }
    };
    html! {
        <form class="stack" ref={new_row.form.clone()}
            onclick={new_row.onclick()} {onsubmit} data-testid="taint-form">
            { quick(props) }
            if shown.is_empty() {
                <p class="hint">{ "No taints. Add one, or use one of those above." }</p>
            }
            <TaintEditor taints={shown} {onchange} />
            <div><button type="button" class="btn small" onclick={add} data-testid="add-taint">
                { icon::plus() }{ "Add a taint" }
            </button></div>
            { draft.foot(dirty, valid, Html::default()) }
        </form>
    }
}

fn quick(props: &TaintFormProps) -> Html {
    let dispatch = &props.dispatch;
    html! {
        <div class="quick" role="group" aria-label="Taints at a click">
            { for QUICK.iter().map(|(key, effect)| {
                let taint = Taint::new(key, "", effect.clone());
                let has = props.taints.iter().any(|known| known.matches(&taint));
                let node = props.node.clone();
                let command = if has {
                    Command::Untaint { node, key: (*key).to_owned(), effect: effect.clone() }
                } else {
                    Command::Taint { node, taint }
                };
                let refused = refused(dispatch);
                let onclick = dispatch.reform(move |_| {
                    Msg::Edit(vec![command.clone()], refused.clone())
                });
                let short = key.rsplit('/').next().unwrap_or_default();
                // Of the others nothing would be deleted.
                let other = (*effect != TaintEffect::NoExecute).then(|| format!(":{effect}"));
                html! {
                    <button type="button" class={classes!("btn", "small", has.then_some("on"))}
                        aria-pressed={has.to_string()} title={format!("{key}:{effect}")} {onclick}>
                        { icon::effect(effect) }{ short }{ other }
                    </button>
                }
            }) }
        </div>
    }
}
