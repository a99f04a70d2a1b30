//! The presenter's view: one bookmark after another, in large type.

use taintlab_core::scenario::Bookmark;
use yew::prelude::*;

use super::parts::icon;
use super::parts::prose::in_words;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::at;

/// The bookmark that the story is at: `number` of `of`, counted from 0.
///
/// The first one also shows the answer of the scenario, if it has one, so that the reader need not
/// wait for it.
pub(crate) fn story(
    bookmark: &Bookmark,
    (number, of): (usize, usize),
    answer: &str,
    dispatch: &Dispatch,
) -> Html {
    let answered = number == 0 && !answer.is_empty();
    let steps = answered && of > 1;
    html! {
        <section class="story" aria-label="Story" data-testid={TestId::Story}>
            <button class="btn" aria-label="The bookmark before" title="The bookmark before (←)"
                data-testid={TestId::StoryPrevious} disabled={number == 0}
                onclick={dispatch.reform(|_: MouseEvent| Msg::PreviousBookmark)}>{ "‹" }</button>
            <div class="grow">
                <p class="muted num">
                    { format!("{} · {} of {of}", at(bookmark.at.timestamp()), number + 1) }
                </p>
                if answered {
                    <p class="answer" tabindex="0" data-testid={TestId::StoryAnswer}>
                        <b>{ "Answer: " }</b>{ in_words(answer) }</p>
                }
                <p class="note">{ in_words(&bookmark.note) }</p>
            </div>
            <button class={classes!("btn", "primary", steps.then_some("answering"))}
                aria-label={(!steps).then_some("The next bookmark")} title="The next bookmark (→)"
                data-testid={TestId::StoryNext} disabled={number + 1 >= of}
                onclick={dispatch.reform(|_: MouseEvent| Msg::NextBookmark)}>
                { if steps { "Step through it ›" } else { "›" } }</button>
            <button class="btn quiet icon" aria-label="End the story" title="End the story (Esc)"
                data-testid={TestId::StoryEnd}
                onclick={dispatch.reform(|_: MouseEvent| Msg::Tell(None))}>
                { icon::cross() }</button>
        </section>
    }
}
