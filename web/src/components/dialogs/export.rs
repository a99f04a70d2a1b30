//! The work goes out.

use yew::prelude::*;

use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::files::ExportKind;
use crate::messages::{Dispatch, ExportTarget, Msg};

/// What can be exported: what, name, and what it is for.
const KINDS: [(ExportKind, &str, &str); 4] = [
    (ExportKind::State, "Cluster, YAML", "As it is now, with status: imports to the same state."),
    (
        ExportKind::Apply,
        "Cluster for kubectl apply",
        "Without what a cluster itself says (status, UIDs). What the import dropped is missing: \
         values of environment variables, commands, Secrets and ConfigMaps.",
    ),
    (ExportKind::Json, "Cluster, JSON", "As it is now, as kubectl get -o json prints it."),
    (
        ExportKind::Scenario,
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
                                    Msg::Export(kind, ExportTarget::Copy)
                                })}>{ "Copy" }</button>
                                <button class="btn small primary" onclick={dispatch.reform(
                                    move |_| Msg::Export(kind, ExportTarget::Download)
                                )}>{ icon::export() }{ "Download" }</button>
                            </div>
                        </li>
                    }
                }) }
            </ul>
        </Modal>
    }
}
