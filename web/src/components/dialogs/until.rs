//! Conditions in one line: to run until, to go back to, or to stop at while time runs.

use std::rc::Rc;

use taintlab_core::time::Timestamp;
use yew::prelude::*;

use crate::components::parts::forms::error_list;
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::runs::Until;

/// The maximum number of suggestions shown as buttons.
const MOST_OFFERED: usize = 12;

/// Properties of [`UntilDialog`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct UntilProps {
    /// The initial text of the field.
    pub(crate) line: Rc<str>,
    /// The conditions at which time stops.
    pub(crate) breakpoints: Vec<String>,
    /// The time that the clock shows.
    pub(crate) now: Timestamp,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The dialog that runs until a condition, or back to it.
#[component]
pub(crate) fn UntilDialog(props: &UntilProps) -> Html {
    let line = use_state(|| props.line.to_string());
    let error = use_state(|| None::<AttrValue>);
    let does = |until: fn(String) -> Until| {
        let (line, failed) = (line.clone(), error.clone());
        let told = Callback::from(move |text: String| failed.set(Some(text.into())));
        props.dispatch.reform(move |()| Msg::Until(until((*line).clone()), told.clone()))
    };
    let oninput = {
        let (line, error) = (line.clone(), error.clone());
        Callback::from(move |event: InputEvent| {
            let input: web_sys::HtmlInputElement = event.target_unchecked_into();
            error.set(None);
            line.set(input.value());
        })
    };
    let run = does(Until::Run);
    let onsubmit = {
        let run = run.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            run.emit(());
        })
    };
    let offered = use_state(Vec::<String>::new);
    {
        let (offered, dispatch) = (offered.clone(), props.dispatch.clone());
        use_effect_with(((*line).clone(), props.now), move |(line, _)| {
            let told = Callback::from(move |lines| offered.set(lines));
            dispatch.emit(Msg::Offers(line.clone(), told));
        });
    }
    let pressed = |callback: Callback<()>| Callback::from(move |_: MouseEvent| callback.emit(()));
    html! {
        <Modal title="Run until, or back to" dispatch={props.dispatch.clone()} width={640}>
            <form class="stack" {onsubmit} data-testid={TestId::Until}>
                <label class="field">
                    <span>{ "Condition: an object and its state" }</span>
                    <input type="text" class="mono" value={(*line).clone()} {oninput} autofocus=true
                        placeholder="pod/default/web-1 gone" autocomplete="off" spellcheck="false"
                        list="conditions" aria-invalid={error.is_some().then_some("true")} />
                    <datalist id="conditions">
                        { for offered.iter().map(|line| html! { <option value={line.clone()} /> }) }
                    </datalist>
                    { error_list(&error.iter().cloned().collect::<Vec<_>>()) }
                </label>
                <div class="offers" role="group" aria-label="Suggestions">
                    { for offered.iter().take(MOST_OFFERED).map(|offer| {
                        let (line, error, offer) = (line.clone(), error.clone(), offer.clone());
                        let words = offer.clone();
                        html! {
                            <button type="button" class="btn small mono" onclick={move |_| {
                                error.set(None);
                                line.set(offer.clone());
                            }}>{ words }</button>
                        }
                    }) }
                </div>
                <p class="hint">
                    { "A pod is gone, terminating, stuck, counting, pending …; a node is tainted, \
                       unknown …; a zone is partialDisruption, fullDisruption or normal; of a \
                       workload ready<3." }
                </p>
                <div class="actions">
                    <button type="button" class="btn" onclick={pressed(does(Until::Back))}>
                        { "Back to" }</button>
                    <button type="button" class="btn" onclick={pressed(does(Until::Stop))}
                        title="Stop there when the clock reaches it">{ "Stop there" }</button>
                    <button class="btn primary">{ "Run until" }</button>
                </div>
            </form>
            if !props.breakpoints.is_empty() {
                <section class="stack">
                    <h3>{ "Breakpoints" }</h3>
                    <ul class="items">
                        { for props.breakpoints.iter().enumerate().map(|(index, one)| html! {
                            <li class="row">
                                <code class="grow">{ one }</code>
                                <button class="btn small" onclick={props.dispatch.reform(
                                    move |_: MouseEvent| {
                                        Msg::Until(Until::Pass(index), Callback::noop())
                                    }
                                )}>{ "Remove" }</button>
                            </li>
                        }) }
                    </ul>
                </section>
            }
        </Modal>
    }
}
