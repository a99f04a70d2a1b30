//! The dialog that exports the work.

use std::rc::Rc;

use yew::prelude::*;

use crate::components::parts::copy::copy;
use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::components::parts::picture::picture;
use crate::files::ExportKind;
use crate::messages::{Dispatch, EmbedMade, ExportTarget, Msg, Pictured};
use crate::test_id::TestId;
use crate::view_models::lanes::Picture;

/// The kinds of exports: kind, name, and purpose.
pub(crate) const KINDS: [(ExportKind, &str, &str); 5] = [
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
        "The initial state and every change with its time: it replays the same run.",
    ),
    (ExportKind::Incident, "Incident, Markdown", "The events until now, one a line: “at 50s …”."),
];

/// The kinds of pictures: content, name, and purpose.
pub(crate) const PICTURES: [(Pictured, &str, &str); 2] = [
    (Pictured::Lanes, "Lanes, picture", "The states of each object over time, one row an object."),
    (Pictured::Board, "Board, picture", "Zones, nodes and pods as they are now, with the legend."),
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
                { for PICTURES.iter().map(|(of, name, purpose)| {
                    let of = *of;
                    let button = |words: &'static str, picture: Picture| html! {
                        <button class="btn small" onclick={dispatch.reform(move |_: MouseEvent| {
                            Msg::Picture(of, picture)
                        })}>{ icon::export() }{ words }</button>
                    };
                    html! {
                        <li class="item" data-export={format!("{of:?}")}>
                            <div class="row">
                                <div class="grow">
                                    <b>{ *name }</b>
                                    <p class="hint">{ *purpose }</p>
                                </div>
                                { button("SVG", Picture::Svg) }
                                { button("PNG", Picture::Png) }
                            </div>
                        </li>
                    }
                }) }
                <li class="item" data-export="Embed">
                    <Embed dispatch={dispatch.clone()} />
                </li>
            </ul>
        </Modal>
    }
}

/// Properties of [`Embed`].
#[derive(Clone, PartialEq, Properties)]
struct EmbedProps {
    dispatch: Dispatch,
}

/// The code that an author puts on a page of their own, with a preview; made on request.
#[component]
fn Embed(props: &EmbedProps) -> Html {
    let made = use_state(|| None::<Result<Rc<EmbedMade>, String>>);
    let form = use_state(|| 0_usize);
    let onopen = {
        let (made, dispatch) = (made.clone(), props.dispatch.clone());
        Callback::from(move |_: MouseEvent| {
            let made = made.clone();
            let told = Callback::from(move |embed| made.set(Some(embed)));
            dispatch.emit(Msg::MakeEmbed(told));
        })
    };
    html! {
        <>
            <div class="row">
                <div class="grow">
                    <b>{ "Embed" }</b>
                    <p class="hint">
                        { "This run on a page of your own: fence, HTML, frame or link." }
                    </p>
                </div>
                if made.is_none() {
                    <button class="btn small" onclick={onopen}>{ "Show" }</button>
                }
            </div>
            { match &*made {
                None => Html::default(),
                Some(Ok(made)) => forms(made, &form, &props.dispatch),
                Some(Err(error)) => html! { <p class="hint" role="alert">{ error }</p> },
            } }
        </>
    }
}

fn forms(made: &EmbedMade, form: &UseStateHandle<usize>, dispatch: &Dispatch) -> Html {
    let forms = &made.forms;
    let chosen = forms.get(**form).or_else(|| forms.first());
    html! {
        <>
            <div class="row" role="group" aria-label="Forms" data-testid={TestId::EmbedForms}>
                { for forms.iter().enumerate().map(|(index, (name, _, _))| {
                    let (form, on) = (form.clone(), **form == index);
                    html! {
                        <button class={classes!("btn", "small", on.then_some("on"))}
                            aria-pressed={on.to_string()}
                            onclick={move |_: MouseEvent| form.set(index)}>{ *name }</button>
                    }
                }) }
            </div>
            if let Some((name, purpose, text)) = chosen {
                <p class="hint">{ purpose }</p>
                if let Some(text) = text {
                    <textarea class="mono" readonly=true rows="5" aria-label={*name}
                        value={text.clone()} data-testid={TestId::EmbedText} />
                    <div class="row">{ copy(text, dispatch) }</div>
                }
            }
            <div class="preview" tabindex="0" role="group" aria-label="Preview"
                data-testid={TestId::EmbedPreview}>
                { match &made.picture {
                    Ok(svg) => picture(svg),
                    Err(error) => html! { <p class="hint">{ error }</p> },
                } }
            </div>
        </>
    }
}
