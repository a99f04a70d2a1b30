//! The form for the taints of a node.

use taintlab_core::api::{NodeName, Taint, TaintEffect};
use taintlab_core::command::Command;
use yew::prelude::*;

use crate::components::parts::draft::FormDraft;
use crate::components::parts::icon;
use crate::components::parts::new_row::use_new_row;
use crate::components::parts::taint_editor::{TaintEditor, quick_taints, taint_errors};
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;

/// Properties of [`TaintForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TaintFormProps {
    /// The name of the node.
    pub(crate) node: NodeName,
    /// The node's present taints.
    pub(crate) taints: Vec<Taint>,
    /// The input.
    pub(crate) draft: FormDraft<Vec<Taint>>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The form for a node's taints: a draft that is applied as a whole, and buttons for common taints.
#[component]
pub(crate) fn TaintForm(props: &TaintFormProps) -> Html {
    let draft = &props.draft;
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
            onclick={new_row.onclick()} {onsubmit} data-testid={TestId::TaintForm}>
            { quick(props) }
            if shown.is_empty() {
                <p class="hint">{ "No taints. Add one, or use one of those above." }</p>
            }
            <TaintEditor taints={shown} {onchange} />
            <div><button type="button" class="btn small" onclick={add}
                data-testid={TestId::AddTaint}>
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
            { for quick_taints(&props.node, &props.taints).into_iter().map(|(taint, has, command)| {
                let (key, effect) = (&taint.key, &taint.effect);
                let refused = refused(dispatch);
                let onclick = dispatch.reform(move |_| {
                    Msg::Edit(vec![command.clone()], refused.clone())
                });
                let short = key.rsplit('/').next().unwrap_or_default();
                // Effects other than NoExecute evict nothing, so the button names them.
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
