//! The text below the lanes: the peek, the choice or the measured area in words.

use std::rc::Rc;

use yew::prelude::*;

use super::{LanesProps, legend};
use crate::components::parts::causes::causes;
use crate::components::parts::copy::copy;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::{at, span};
use crate::view_models::lanes::{Chosen, ChosenArea, LanesMsg};

/// The text below the lanes, with their legend.
pub(super) fn details(props: &LanesProps) -> Html {
    let dispatch = &props.dispatch;
    html! {
        <div class="ldetails" data-testid={TestId::LanesDetails}>
            if let Some(peek) = props.peek {
                <p class="lpeeking"><b>{ format!("Peek at {}", at(peek)) }</b>
                    { " · click or Enter goes there" }</p>
            }
            if let Some(area) = &props.view.area {
                { measured(area, dispatch) }
            } else if let Some(chosen) = &props.view.chosen {
                { chain(chosen, dispatch) }
            } else {
                <p class="muted">
                    { "Point (by touch: hold) to look at a moment, click to go there, drag to \
                       measure (by touch: Area first). Ctrl and the wheel zoom." }
                </p>
            }
            { legend(props.view.window.rows.iter().flat_map(|row| &row.bars)) }
        </div>
    }
}

/// The chosen state, and the chain of its causes.
fn chain(chosen: &Rc<Chosen>, dispatch: &Dispatch) -> Html {
    html! {
        <>
            <p><b>{ chosen.subject.to_string() }</b>{ " " }{ &chosen.text }
                if chosen.forecast { <span class="badge">{ "forecast" }</span> }</p>
            { causes(&chosen.causes, dispatch) }
        </>
    }
}

/// The counts and durations of states in the measured area.
fn measured(chosen: &Rc<ChosenArea>, dispatch: &Dispatch) -> Html {
    let (from, to) = (chosen.from, chosen.to);
    let length = to.since_zero().saturating_sub(from.since_zero());
    let zoom = dispatch.reform(move |_: MouseEvent| Msg::Lanes(LanesMsg::Range(from, to)));
    let clear = dispatch.reform(|_: MouseEvent| Msg::Lanes(LanesMsg::Area(None)));
    html! {
        <div class="lmeasured" data-testid={TestId::LanesArea}>
            <p class="row">
                <b>{ format!("{} to {}, {}", at(from), at(to), span(length)) }</b>
                <span class="muted">{ crate::text::count(chosen.objects, "object") }</span>
                <span class="grow"></span>
                <button class="btn small" onclick={zoom}>{ "Zoom to it" }</button>
                if chosen.expected > 0 {
                    <span class="row">
                        { format!("Copy {} as expect:", chosen.expected) }
                        { copy(&chosen.expect, dispatch) }
                    </span>
                }
                <button class="btn small" onclick={clear}>{ "Clear" }</button>
            </p>
            if chosen.only_record {
                <p class="muted">
                    { "Only what has happened is counted: the forecast does not go as far yet." }
                </p>
            }
            <ul>
                { for chosen.states.iter().map(|state| html! { <li>{ state.to_string() }</li> }) }
            </ul>
        </div>
    }
}
