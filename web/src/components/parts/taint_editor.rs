//! An editor for a list of taints.

use taintlab_core::api::{NodeName, Taint, TaintEffect, well_known};
use taintlab_core::command::Command;
use taintlab_core::policy::validation::{FieldError, validate_node_taints};
use yew::prelude::*;

use super::forms::{SelectField, TextField, error_list, messages, plain_options};
use super::icon;

/// The field path of taints in errors.
const PATH: &str = "taints";

/// The taints that a click adds.
pub(crate) const QUICK: [(&str, TaintEffect); 4] = [
    (well_known::UNREACHABLE, TaintEffect::NoExecute),
    (well_known::NOT_READY, TaintEffect::NoExecute),
    (well_known::OUT_OF_SERVICE, TaintEffect::NoExecute),
    ("example.com/maintenance", TaintEffect::NoSchedule),
];

/// The taints that a click adds to a node or removes: the taint, whether the node has it, and the
/// command.
pub(crate) fn quick_taints(node: &NodeName, taints: &[Taint]) -> Vec<(Taint, bool, Command)> {
    let quick = QUICK.into_iter().map(|(key, effect)| {
        let (node, taint) = (node.clone(), Taint::new(key, "", effect));
        let has = taints.iter().any(|known| known.matches(&taint));
        let command = if has {
            Command::Untaint { node, key: key.to_owned(), effect: taint.effect.clone() }
        } else {
            Command::Taint { node, taint: taint.clone() }
        };
        (taint, has, command)
    });
    quick.collect()
}

/// Properties of [`TaintEditor`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TaintEditorProps {
    /// The taints.
    pub(crate) taints: Vec<Taint>,
    /// Receives the new taints.
    pub(crate) onchange: Callback<Vec<Taint>>,
    /// Whether taints can be removed from the list.
    #[prop_or(true)]
    pub(crate) removable: bool,
}

/// The errors of taints.
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
    // One message is enough for a key that is still empty.
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
