//! Input of a form that is not applied yet.

use taintlab_core::command::Command;
use yew::prelude::*;

use super::forms::error_list;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// The input of a form until it is applied as a whole, and the reason if it was refused. A panel
/// keeps those of its forms, which come and go with its tabs.
#[derive(PartialEq)]
pub(crate) struct FormDraft<T: 'static> {
    typed: UseStateHandle<Option<T>>,
    failure: UseStateHandle<Option<AttrValue>>,
}

impl<T: 'static> Clone for FormDraft<T> {
    fn clone(&self) -> Self {
        Self { typed: self.typed.clone(), failure: self.failure.clone() }
    }
}

/// An empty draft.
#[hook]
pub(crate) fn use_form_draft<T: 'static>() -> FormDraft<T> {
    FormDraft { typed: use_state(|| None), failure: use_state(|| None) }
}

impl<T: Clone + 'static> FormDraft<T> {
    /// The input, if any.
    pub(crate) fn typed(&self) -> Option<&T> {
        self.typed.as_ref()
    }

    /// Whether the last input was refused.
    pub(crate) fn is_refused(&self) -> bool {
        self.failure.is_some()
    }

    /// Takes new input, and clears the earlier error.
    pub(crate) fn oninput(&self) -> Callback<T> {
        let draft = self.clone();
        Callback::from(move |new: T| {
            draft.failure.set(None);
            draft.typed.set(Some(new));
        })
    }

    /// Sends commands. If they are refused, the input returns, with the reason.
    pub(crate) fn send(&self, dispatch: &Dispatch, commands: Vec<Command>) {
        self.ask(dispatch, |refused| Msg::Edit(commands, refused));
    }

    /// Sends a message with a callback for a refusal, upon which the input returns, with the reason.
    pub(crate) fn ask(&self, dispatch: &Dispatch, msg: impl FnOnce(Callback<String>) -> Msg) {
        let (draft, typed) = (self.clone(), (*self.typed).clone());
        let refused = Callback::from(move |error: String| {
            draft.typed.set(typed.clone());
            draft.failure.set(Some(error.into()));
        });
        self.discard();
        dispatch.emit(msg(refused));
    }

    fn discard(&self) {
        self.failure.set(None);
        self.typed.set(None);
    }

    /// The reason why the input was refused.
    pub(crate) fn failure(&self) -> Html {
        error_list(self.failure.as_slice())
    }

    /// The end of a form: the reason of a refusal and, if there is something to apply, the buttons
    /// to apply or discard it, with `others` between them.
    pub(crate) fn foot(&self, dirty: bool, can_apply: bool, others: Html) -> Html {
        let draft = self.clone();
        html! {
            <>
                { self.failure() }
                if dirty {
                    <div class="sticky">
                        <button class="btn primary" disabled={!can_apply}
                            data-testid={TestId::Apply}>
                            { "Apply" }
                        </button>
                        { others }
                        <button type="button" class="btn" onclick={move |_| draft.discard()}>
                            { "Discard" }
                        </button>
                    </div>
                }
            </>
        }
    }
}
