//! The work goes out.

use yew::prelude::*;

use super::dialog::Modal;
use super::icon;
use crate::app::{self, Dispatch, Handing, Msg};

/// What can be exported: what, name, and what it is for.
const KINDS: [(app::Export, &str, &str); 4] = [
    (app::Export::State, "Cluster, YAML", "As it is now, with status: imports to the same state."),
    (
        app::Export::Apply,
        "Cluster for kubectl apply",
        "Without what a cluster itself says (status, UIDs).",
    ),
    (app::Export::Json, "Cluster, JSON", "As it is now, as kubectl get -o json prints it."),
    (
        app::Export::Scenario,
        "Scenario file",
        "Where it began and every change with its time: plays the same again.",
    ),
];

/// The export dialog.
pub(crate) fn export(dispatch: &Dispatch) -> Html {
    html! {
        <Modal title="Export" dispatch={dispatch.clone()} width={620}>
            <ul class="items">
                { for KINDS.iter().map(|(kind, name, purpose)| {
                    let kind = *kind;
                    html! {
                        <li class="item" data-export={format!("{kind:?}")}>
                            <div class="row">
                                <div class="grow">
                                    <b>{ *name }</b>
                                    <p class="hint">{ *purpose }</p>
                                </div>
                                <button class="btn small" onclick={dispatch.reform(move |_| {
                                    Msg::Export(kind, Handing::Copy)
                                })}>{ "Copy" }</button>
                                <button class="btn small primary" onclick={dispatch.reform(
                                    move |_| Msg::Export(kind, Handing::Download)
                                )}>{ icon::export() }{ "Download" }</button>
                            </div>
                        </li>
                    }
                }) }
            </ul>
        </Modal>
    }
}
