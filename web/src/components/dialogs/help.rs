//! The help: first steps and keys.

use taintlab_manifest::HOW_TO_GET_COMMAND;
use yew::prelude::*;

use crate::components::parts::modal::Modal;
use crate::keyboard::{SHORTCUTS, Where};
use crate::messages::Dispatch;

/// The help dialog.
pub(crate) fn help(dispatch: &Dispatch) -> Html {
    html! {
        <Modal title="Help" read_only=true dispatch={dispatch.clone()}>
            <ol class="stack">
                <li>{ "Paste the output of " }<code>{ HOW_TO_GET_COMMAND }</code>
                    { " anywhere, drop a file, or choose a scenario. Nothing leaves this browser." }</li>
                <li>{ "Select a node and taint it, or a zone to taint all of its nodes. Pods that \
                    tolerate the taint for some time begin to count down." }</li>
                <li>{ "Select a pod and read why it stays or goes, and when. Play, or step from \
                    event to event." }</li>
            </ol>
            { for Where::ALL.into_iter().map(keys_of) }
            <p class="hint">
                { "The clock is simulated: an hour can pass in a second, and the same edits at the \
                   same times always give the same result. You can go back; an edit made in the \
                   past begins a branch, and what came later stays on the other one." }
            </p>
        </Modal>
    }
}

/// The keys that work at one place.
fn keys_of(place: Where) -> Html {
    let here = SHORTCUTS.iter().filter(|row| row.place == place && !row.keys.is_empty());
    html! {
        <section class="stack">
            <h3>{ place.words() }</h3>
            <dl class="keys">
                { for here.map(|shortcut| html! {
                    <>
                        <dt>
                            { for shortcut.keys.iter().map(|key| html! { <kbd>{ *key }</kbd> }) }
                        </dt>
                        <dd>{ shortcut.meaning }</dd>
                    </>
                }) }
            </dl>
        </section>
    }
}
