//! The form for the tolerations of a pod.

use taintlab_core::api::{PodKey, Shared, TaintEffect, Toleration, TolerationOperator};
use taintlab_core::command::Command;
use taintlab_core::policy::validation::{
    FieldErrorType, ValidationOptions, validate_only_added_tolerations, validate_tolerations,
};
use yew::prelude::*;

use crate::components::parts::draft::FormDraft;
use crate::components::parts::forms::message;
use crate::components::parts::icon;
use crate::components::parts::new_row::use_new_row;
use crate::components::parts::toleration_editor::{
    Draft, PATH, TolerationEditor, drafts, read, readable,
};
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// Properties of [`TolerationForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TolerationFormProps {
    /// The pod.
    pub(crate) pod: PodKey,
    /// Its tolerations.
    pub(crate) old: Shared<Vec<Toleration>>,
    /// The validation rules of the API server.
    pub(crate) options: ValidationOptions,
    /// The input.
    pub(crate) draft: FormDraft<Vec<Draft>>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The form for an existing pod's tolerations. The API server rejects their removal, so the form
/// offers to replace the pod.
#[component]
pub(crate) fn TolerationForm(props: &TolerationFormProps) -> Html {
    let old = &props.old;
    let draft = &props.draft;
    let shown = draft.typed().cloned().unwrap_or_else(|| drafts(old));
    let new = read(&shown);
    let dirty = new.as_ref() != Some(&**old);
    let checked = readable(&shown);
    let errors = validate_only_added_tolerations(&checked, old, PATH, &props.options);
    let forbidden = errors.iter().find(|error| error.type_ == FieldErrorType::Forbidden);
    let errors_of_new = validate_tolerations(&checked, PATH, &props.options);
    let valid_new = new.is_some() && errors_of_new.is_empty();
    let onchange = draft.oninput();
    let new_row = use_new_row(shown.len());
    let add = {
        let mut drafts = shown.clone();
        let toleration = Toleration {
            operator: TolerationOperator::Exists,
            effect: TaintEffect::NoExecute,
            ..Toleration::default()
        };
        drafts.push(Draft { toleration, seconds: String::new() });
        let onchange = onchange.clone();
        new_row.adds(move || onchange.emit(drafts.clone()))
    };
    let send = {
        let (dispatch, pod, new) = (props.dispatch.clone(), props.pod.clone(), checked);
        let draft = draft.clone();
        move |replace: bool| {
            let (pod, tolerations) = (pod.clone(), new.clone());
            if replace {
                draft.ask(&dispatch, |refused| Msg::ReplacePod(pod, tolerations, refused));
            } else {
                draft.send(&dispatch, vec![Command::SetTolerations { pod, tolerations }]);
            }
        }
    };
    let can_apply = new.is_some() && errors.is_empty();
    let onsubmit = {
        let send = send.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            if can_apply {
                send(false);
            }
        }
    };
    let others = html! {
        if forbidden.is_some() {
            <button type="button" class="btn" disabled={!valid_new} data-testid={TestId::ReplacePod}
                onclick={move |_| send(true)}>{ "Replace the pod" }</button>
        }
    };
    html! {
        <form class="stack" ref={new_row.form.clone()}
            onclick={new_row.onclick()} {onsubmit} data-testid={TestId::TolerationForm}>
            if shown.is_empty() {
                <p class="hint">
                    { "No tolerations: any NoExecute taint evicts this pod at once." }
                </p>
            }
            <TolerationEditor drafts={shown} errors={errors_of_new}
                numeric={props.options.comparison_operators} {onchange} />
            <div><button type="button" class="btn small" onclick={add}
                data-testid={TestId::AddToleration}>
                { icon::plus() }{ "Add a toleration" }
            </button></div>
            if let Some(forbidden) = forbidden {
                <p class="error" role="alert">{ message(forbidden) }</p>
                <p class="hint">
                    { "The API server rejects this change of an existing pod. Replace the pod \
                       instead, as a Deployment would." }
                </p>
            }
            { draft.foot(dirty, can_apply, others) }
        </form>
    }
}
