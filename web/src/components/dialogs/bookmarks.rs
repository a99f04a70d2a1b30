//! The bookmarks: moments with a note, which make up a story.

use std::rc::Rc;

use taintlab_core::scenario::Bookmark;
use taintlab_core::time::Timestamp;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::components::parts::name_field::NameField;
use crate::messages::{Dispatch, Msg};
use crate::session::Outline;
use crate::test_id::TestId;
use crate::text::at;

/// Properties of [`Bookmarks`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct BookmarksProps {
    /// The scenario that has the bookmarks.
    pub(crate) start: Rc<Outline>,
    /// The time that the clock shows.
    pub(crate) now: Timestamp,
    /// The selection as text.
    pub(crate) select: AttrValue,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The dialog with the list of bookmarks.
#[component]
pub(crate) fn Bookmarks(props: &BookmarksProps) -> Html {
    let field = use_node_ref();
    let bookmarks = &props.start.bookmarks;
    let onsubmit = {
        let (field, props) = (field.clone(), props.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let Some(field) = field.cast::<HtmlInputElement>() else { return };
            let bookmark = Bookmark {
                at: props.now.into(),
                note: field.value().trim().to_owned(),
                select: props.select.to_string(),
            };
            field.set_value("");
            let mut all = props.start.bookmarks.clone();
            all.push(bookmark);
            props.dispatch.emit(Msg::SetBookmarks(all));
        })
    };
    let about = if props.select.is_empty() {
        String::new()
    } else {
        format!(", with {} selected", props.select)
    };
    html! {
        <Modal title="Bookmarks" dispatch={props.dispatch.clone()} width={640}>
            <form class="stack" {onsubmit}>
                <label class="stack">
                    <span>{ format!("Bookmark {}{about}", at(props.now)) }</span>
                    <span class="row line">
                        <input class="grow" type="text" ref={field} autofocus=true
                            autocomplete="off" placeholder="What is there to see?"
                            data-testid={TestId::BookmarkNote} />
                        <button class="btn primary">{ "Add" }</button>
                    </span>
                </label>
            </form>
            <ol class="items" data-testid={TestId::BookmarkList}>
                { for bookmarks.iter().enumerate().map(|(index, bookmark)| {
                    row(index, bookmark, props)
                }) }
            </ol>
            if bookmarks.is_empty() {
                <p class="hint">
                    { "Bookmarks travel in links, in scenario files and in embeds. Several of them \
                       are a story, which is told step by step." }
                </p>
            } else {
                <div class="row">
                    <button class="btn" data-testid={TestId::StoryOpen}
                        onclick={props.dispatch.reform(|_| Msg::Tell(Some(0)))}>
                        { icon::play() }{ "Tell the story" }
                    </button>
                </div>
            }
        </Modal>
    }
}

fn row(index: usize, bookmark: &Bookmark, props: &BookmarksProps) -> Html {
    let dispatch = &props.dispatch;
    let without = {
        let start = props.start.clone();
        dispatch.reform(move |_: MouseEvent| {
            let mut rest = start.bookmarks.clone();
            if index < rest.len() {
                rest.remove(index);
            }
            Msg::SetBookmarks(rest)
        })
    };
    let onchange = {
        let start = props.start.clone();
        dispatch.reform(move |note| {
            let mut all = start.bookmarks.clone();
            if let Some(bookmark) = all.get_mut(index) {
                bookmark.note = note;
            }
            Msg::SetBookmarks(all)
        })
    };
    let moment = at(bookmark.at.timestamp());
    html! {
        <li class="item" data-bookmark={moment.clone()}>
            <div class="row line">
                <button class="btn small num" title="Go there"
                    onclick={dispatch.reform(move |_: MouseEvent| Msg::Tell(Some(index)))}>
                    { moment.clone() }
                </button>
                <NameField value={bookmark.note.clone()} {onchange}
                    label={format!("Note at {moment}")} />
                <button class="btn small icon danger" title="Delete" aria-label="Delete"
                    onclick={without}>{ icon::bin() }</button>
            </div>
        </li>
    }
}
