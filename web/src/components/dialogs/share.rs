//! The link of the present view: its length and its contents.

use std::rc::Rc;

use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::link::LONGEST_LINK;
use crate::messages::{Dispatch, LinkMade, Msg};
use crate::test_id::TestId;

/// Properties of [`Share`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ShareProps {
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The dialog that shares a link.
#[component]
pub(crate) fn Share(props: &ShareProps) -> Html {
    let hide = use_state(|| false);
    let made = use_state(|| None::<Rc<LinkMade>>);
    {
        let (made, dispatch) = (made.clone(), props.dispatch.clone());
        use_effect_with(*hide, move |hide| {
            let told = Callback::from(move |link| made.set(Some(link)));
            dispatch.emit(Msg::MakeLink(*hide, told));
        });
    }
    let onhide = {
        let hide = hide.clone();
        Callback::from(move |_: Event| hide.set(!*hide))
    };
    html! {
        <Modal title="Share" dispatch={props.dispatch.clone()} width={640}>
            <p class="hint">
                { "The link holds the work itself; nothing is stored anywhere. It opens at the \
                   simulated time shown, in a new session." }
            </p>
            <label class="check">
                <input type="checkbox" checked={*hide} onchange={onhide}
                    data-testid={TestId::HideNames} />
                <span>
                    { "Replace names by " }<code>{ "node-1" }</code>{ ", " }<code>{ "ns-1/pod-1" }</code>
                    { "; leave out titles, notes, annotations, images and UIDs; round times" }
                </span>
            </label>
            { made.as_ref().map(|made| link(made, *hide, &props.dispatch)) }
        </Modal>
    }
}

fn link(made: &LinkMade, hide: bool, dispatch: &Dispatch) -> Html {
    let length = made.link.len();
    let too_long = made.why_not.is_some() || length > LONGEST_LINK;
    let file = dispatch.reform(move |_: MouseEvent| Msg::DownloadShared(hide));
    let text: Rc<str> = made.link.as_str().into();
    let copy = dispatch.reform(move |_: MouseEvent| Msg::Copy(text.clone()));
    let select = Callback::from(|event: FocusEvent| {
        event.target_unchecked_into::<HtmlTextAreaElement>().select();
    });
    html! {
        <>
            if let Some(why_not) = &made.why_not {
                <p class="error" role="alert">
                    { format!("There is no link: {why_not}. Send the file instead.") }
                </p>
            } else {
                <textarea class="mono" readonly=true rows="4" aria-label="Link"
                    value={made.link.clone()} onfocus={select} data-testid={TestId::ShareLink} />
                <p role="status" data-testid={TestId::ShareLength}>
                    { format!("{length} characters") }
                    if too_long {
                        <span class="error">
                            { format!(". Chat and mail clients truncate links longer than \
                                       {LONGEST_LINK} characters: send the file instead.") }
                        </span>
                    }
                </p>
            }
            <div class="row">
                if made.why_not.is_none() {
                    <button class={classes!("btn", (!too_long).then_some("primary"))}
                        onclick={copy} data-testid={TestId::ShareCopy}>{ "Copy the link" }</button>
                }
                <button class={classes!("btn", too_long.then_some("primary"))} onclick={file}
                    data-testid={TestId::ShareFile}>
                    { icon::export() }{ "Download a file" }
                </button>
            </div>
            if !made.contents.is_empty() {
                <section class="stack">
                    <h3>{ "Contains" }</h3>
                    <ul class="contents" data-testid={TestId::ShareContents}>
                        { for made.contents.iter().map(|what| html! { <li>{ what }</li> }) }
                    </ul>
                </section>
            }
        </>
    }
}

/// Asks whether to open a link; the present work is kept either way.
pub(crate) fn offered(contents: &[String], dispatch: &Dispatch) -> Html {
    html! {
        <Modal title="Open this link?" dispatch={dispatch.clone()} width={520}>
            <ul class="contents" data-testid={TestId::LinkContents}>
                { for contents.iter().map(|what| html! { <li>{ what }</li> }) }
            </ul>
            <p class="hint">
                { "It opens in a new session. Your work is kept under Sessions, and the browser’s \
                   Back leads to it." }
            </p>
            <div class="row">
                <button class="btn primary" data-testid={TestId::LinkOpen}
                    onclick={dispatch.reform(|_| Msg::TakeLink)}>{ "Open this" }</button>
                <button class="btn" data-testid={TestId::LinkKeep}
                    onclick={dispatch.reform(|_| Msg::CloseDialog)}>{ "Keep mine" }</button>
            </div>
        </Modal>
    }
}
