//! The frame of a dialog. The browser keeps the focus within it, and Escape closes it.

use web_sys::{Element, HtmlDialogElement};
use yew::prelude::*;

use super::busy::{Busy, busy};
use super::icon;
use super::style::style;
use crate::focus;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// Properties of [`Modal`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ModalProps {
    /// The title of the dialog.
    pub(crate) title: AttrValue,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
    /// The content of the dialog.
    pub(crate) children: Html,
    /// The maximum width of the dialog, in pixels.
    #[prop_or(720)]
    pub(crate) width: u32,
    /// Whether the dialog is only read: it then takes the focus itself, to be scrolled by keyboard.
    #[prop_or_default]
    pub(crate) read_only: bool,
}

/// A dialog that is open as long as it is on the page.
#[component]
pub(crate) fn Modal(props: &ModalProps) -> Html {
    let node = use_node_ref();
    let takes_long = use_context::<Busy>();
    {
        let node = node.clone();
        use_effect_with((), move |()| {
            let dialog = node.cast::<HtmlDialogElement>();
            if let Some(dialog) = &dialog {
                // The dialog was just made, so it is not open yet.
                let _ = dialog.show_modal();
            }
            // Closing a dialog returns the focus to where it was; removing the element does not.
            move || {
                if let Some(dialog) = dialog {
                    dialog.close();
                }
            }
        });
    }
    // What has the focus, and its row.
    let last = use_mut_ref(|| None::<(Element, Option<Element>)>);
    let onfocusin = {
        let last = last.clone();
        move |event: FocusEvent| {
            let element = event.target_dyn_into::<Element>();
            *last.borrow_mut() = element.map(|it| (it.clone(), it.closest("li").ok().flatten()));
        }
    };
    use_effect(move || {
        let lost = last.borrow_mut().take_if(|(element, _)| !element.is_connected());
        if let Some((_, row)) = lost {
            focus::find_in_dialog(row);
        }
    });
    let close = props.dispatch.reform(|_: MouseEvent| Msg::CloseDialog);
    let onclose = props.dispatch.reform(|_: Event| Msg::CloseDialog);
    html! {
        <dialog ref={node} {onclose} {onfocusin} aria-label={props.title.clone()}
            data-testid={TestId::Dialog}
            ~style={style(format!("--dialog-width:{}px", props.width))}>
            <div class="head">
                <h2>{ props.title.clone() }</h2>
                <button class="btn quiet icon" aria-label="Close" onclick={close}>
                    { icon::cross() }
                </button>
            </div>
            { takes_long.as_ref().map(busy) }
            <div class="body" tabindex={props.read_only.then_some("0")}>
                { props.children.clone() }
            </div>
        </dialog>
    }
}
