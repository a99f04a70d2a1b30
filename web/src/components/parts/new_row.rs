//! Rows of a form that come and go: the first field of a new row has the focus, so that the user
//! can type immediately, and when a row is removed the focus stays in the form.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::browser;
use crate::test_id::TestId;

/// The last change to the rows of a form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Done {
    /// No change, or none by this form.
    #[default]
    Nothing,
    /// A row was added.
    Added,
    /// A row was removed.
    Removed,
}

/// The rows of a form, `.items`.
#[derive(Clone)]
pub(crate) struct NewRow {
    /// The form.
    pub(crate) form: NodeRef,
    done: Rc<Cell<Done>>,
}

/// Watches the number of rows in a form.
#[hook]
pub(crate) fn use_new_row(rows: usize) -> NewRow {
    let form = use_node_ref();
    let done = use_memo((), |()| Cell::new(Done::Nothing));
    {
        let (form, done) = (form.clone(), done.clone());
        use_effect_with(rows, move |_| {
            // The selectors in the order in which they are tried.
            let selectors = match done.take() {
                Done::Added => vec![".items > :last-child input".to_owned()],
                Done::Removed if browser::focused().is_none() => vec![
                    format!("{}:not(:disabled)", TestId::Apply.selector()),
                    ".items + div > button".to_owned(),
                ],
                Done::Removed | Done::Nothing => Vec::new(),
            };
            let form = form.cast::<Element>();
            let find = |selector: &String| form.as_ref()?.query_selector(selector).ok().flatten();
            let found = selectors.iter().find_map(find);
            if let Some(found) = found.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
                // Without the focus the form still works with the mouse.
                let _ = found.focus();
            }
        });
    }
    NewRow { form, done }
}

impl NewRow {
    /// A callback that adds a row. Rows that appear in another way do not take the focus.
    pub(crate) fn adds(&self, add: impl Fn() + 'static) -> Callback<MouseEvent> {
        let done = self.done.clone();
        Callback::from(move |_| {
            done.set(Done::Added);
            add();
        })
    }

    /// Watches clicks in the form for one that removes a row.
    pub(crate) fn onclick(&self) -> Callback<MouseEvent> {
        let done = self.done.clone();
        Callback::from(move |event: MouseEvent| {
            let target = event.target_dyn_into::<Element>();
            let button = target.and_then(|it| it.closest(".items .danger").ok().flatten());
            if button.is_some() {
                done.set(Done::Removed);
            }
        })
    }
}
