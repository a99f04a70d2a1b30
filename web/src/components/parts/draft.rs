//! What is typed into a form and not yet applied.

use taintlab_core::command::Command;
use yew::prelude::*;

use super::forms::error_list;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// What is typed into a form until it is applied as a whole, and why that was refused.
pub(crate) struct FormDraft<T: 'static> {
    typed: UseStateHandle<Option<T>>,
    failure: UseStateHandle<Option<AttrValue>>,
}

impl<T: 'static> Clone for FormDraft<T> {
    fn clone(&self) -> Self {
        Self { typed: self.typed.clone(), failure: self.failure.clone() }
    }
}

/// A draft in which nothing is typed yet.
#[hook]
pub(crate) fn use_form_draft<T: 'static>() -> FormDraft<T> {
    FormDraft { typed: use_state(|| None), failure: use_state(|| None) }
}

impl<T: Clone + 'static> FormDraft<T> {
    /// What is typed, if something is.
    pub(crate) fn typed(&self) -> Option<&T> {
        self.typed.as_ref()
    }

    /// Whether what was typed last was refused.
    pub(crate) fn is_refused(&self) -> bool {
        self.failure.is_some()
    }

    /// Takes what is typed. What was refused before may be right now.
    pub(crate) fn oninput(&self) -> Callback<T> {
        let draft = self.clone();
        Callback::from(move |new: T| {
            draft.failure.set(None);
            draft.typed.set(Some(new));
        })
    }

    /// Gives commands out. If they are refused, what was typed is there again, with the reason.
    pub(crate) fn send(&self, dispatch: &Dispatch, commands: Vec<Command>) {
        let (draft, typed) = (self.clone(), (*self.typed).clone());
        let refused = Callback::from(move |error: String| {
            draft.typed.set(typed.clone());
            draft.failure.set(Some(error.into()));
        });
        self.discard();
        dispatch.emit(Msg::Edit(commands, refused));
    }

    fn discard(&self) {
        self.failure.set(None);
        self.typed.set(None);
    }

    /// Why it was refused.
    pub(crate) fn failure(&self) -> Html {
        error_list(self.failure.as_slice())
    }

    /// The end of a form: why it was refused, and, if something is to be applied, the buttons that
    /// do so or not, with `others` between them.
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
