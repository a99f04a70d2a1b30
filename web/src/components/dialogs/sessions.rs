//! The sessions that this browser keeps.

use std::rc::Rc;

use web_sys::{HtmlInputElement, KeyboardEvent};
use yew::prelude::*;

use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg, Notice};
use crate::store::{Entry, Failure, Kept, MOST_SESSIONS};
use crate::test_id::TestId;
use crate::text::{ago, size};
use crate::{browser, store};

/// Properties of [`Sessions`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SessionsProps {
    /// The id of this tab's session.
    pub(crate) present: AttrValue,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// Messages of the list.
pub(crate) enum SessionsMsg {
    /// The list was read, or could not be.
    Listed(Result<Vec<Entry>, Failure>),
    /// An action failed.
    Failed(Failure),
    /// Delete a session.
    Delete(String),
    /// The session was deleted.
    Deleted(Kept),
    /// Put a deleted session back.
    PutBack(String),
    /// The session was put back.
    IsBack(String),
    /// Begin to rename a session; `None` ends it.
    Name(Option<String>),
    /// Rename a session.
    Rename(String, String),
    /// Download a session as a file.
    Download(String),
}

/// The dialog with the list of sessions.
pub(crate) struct Sessions {
    entries: Option<Result<Vec<Entry>, Failure>>,
    /// Sessions that were deleted here and can be put back.
    deleted: Vec<Kept>,
    /// The session that is being renamed.
    naming: Option<String>,
    field: NodeRef,
}

impl Component for Sessions {
    type Message = SessionsMsg;
    type Properties = SessionsProps;

    fn create(ctx: &Context<Self>) -> Self {
        read(ctx);
        Self { entries: None, deleted: Vec::new(), naming: None, field: NodeRef::default() }
    }

    fn update(&mut self, ctx: &Context<Self>, msg: SessionsMsg) -> bool {
        let link = ctx.link();
        match msg {
            SessionsMsg::Listed(entries) => self.entries = Some(entries),
            SessionsMsg::Failed(failure) => self.entries = Some(Err(failure)),
            SessionsMsg::Delete(id) => link.send_future_batch(async move {
                match store::take(&id).await {
                    Ok(kept) => kept.map(SessionsMsg::Deleted),
                    Err(failure) => Some(SessionsMsg::Failed(failure)),
                }
            }),
            SessionsMsg::Deleted(kept) => self.deleted.push(kept),
            SessionsMsg::PutBack(id) => {
                let found = self.deleted.iter().find(|kept| kept.entry.id == id).cloned();
                if let Some(kept) = found {
                    link.send_future(async move {
                        match store::put_back(&kept).await {
                            Ok(()) => SessionsMsg::IsBack(id),
                            Err(failure) => SessionsMsg::Failed(failure),
                        }
                    });
                }
            }
            SessionsMsg::IsBack(id) => self.deleted.retain(|kept| kept.entry.id != id),
            SessionsMsg::Name(id) => self.naming = id,
            SessionsMsg::Rename(id, name) => {
                self.naming = None;
                link.send_future(async move {
                    match store::rename(&id, &name).await {
                        Ok(()) => SessionsMsg::Listed(store::list().await),
                        Err(failure) => SessionsMsg::Failed(failure),
                    }
                });
            }
            SessionsMsg::Download(id) => {
                let dispatch = ctx.props().dispatch.clone();
                wasm_bindgen_futures::spawn_local(async move {
                    dispatch.emit(match store::read(&id).await {
                        Ok(Some(kept)) => download(&kept).await,
                        Ok(None) => Msg::Notice(Notice::error("This session is no longer there.")),
                        Err(failure) => Msg::Notice(Notice::error(failure.to_string())),
                    });
                });
                return false;
            }
        }
        true
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        if let Some(field) = self.field.cast::<HtmlInputElement>()
            && browser::document().and_then(|page| page.active_element()).as_ref() != Some(&field)
        {
            field.select();
            // The field was just made.
            let _ = field.focus();
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        html! {
            <Modal title="Sessions" dispatch={ctx.props().dispatch.clone()} width={680}
                read_only=true>
                <p class="hint">
                    { format!("Each tab keeps its work here by itself. It stays in this browser; \
                        the newest {MOST_SESSIONS} sessions are kept.") }
                </p>
                { self.list(ctx) }
            </Modal>
        }
    }
}

impl Sessions {
    fn list(&self, ctx: &Context<Self>) -> Html {
        match &self.entries {
            None => Html::default(),
            Some(Err(failure)) => {
                html! { <p class="error" role="alert">{ failure.to_string() }</p> }
            }
            Some(Ok(entries)) if entries.is_empty() => html! {
                <p data-testid={TestId::SessionsList}>
                    { "Nothing is kept yet. The first change you make begins a session." }
                </p>
            },
            Some(Ok(entries)) => html! {
                <ul class="items" data-testid={TestId::SessionsList}>
                    { for entries.iter().map(|entry| self.row(entry, ctx)) }
                </ul>
            },
        }
    }

    fn row(&self, entry: &Entry, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let id = || entry.id.clone();
        if self.deleted.iter().any(|kept| kept.entry.id == entry.id) {
            let id = id();
            return html! {
                <li key={id.clone()} class="item" data-deleted="true">
                    <div class="row" role="status">
                        <span class="grow muted">
                            { format!("“{}” is deleted.", entry.name()) }
                        </span>
                        <button class="btn small" onclick={link.callback(move |_| {
                            SessionsMsg::PutBack(id.clone())
                        })}>{ "Undo" }</button>
                    </div>
                </li>
            };
        }
        let present = *entry.id == *ctx.props().present;
        let (rename, file, gone) = (id(), id(), id());
        let open: Rc<str> = entry.id.as_str().into();
        let open = ctx.props().dispatch.reform(move |_| Msg::ContinueSession(open.clone()));
        let naming = self.naming.as_ref() == Some(&entry.id);
        html! {
            <li key={id()} class="item" data-session={id()} data-present={present.to_string()}>
                <div class="row">
                    if naming {
                        { self.name_field(entry, ctx) }
                    } else {
                        <div class="grow">
                            <b>{ entry.name() }</b>
                            if present { { " " }<span class="badge">{ "this tab" }</span> }
                            if !entry.done.is_empty() {
                                <p class="clip" title={entry.done.clone()}>
                                    { entry.done.clone() }
                                </p>
                            }
                            <p class="hint" title={browser::local_time(entry.changed)}>
                                { format!("changed {}, {}",
                                    ago(browser::now().saturating_sub(entry.changed)),
                                    size(entry.size)) }
                            </p>
                        </div>
                        if !present {
                            <button class="btn small primary" onclick={open}>{ "Open" }</button>
                        }
                        <button class="btn small icon" title="Rename" aria-label="Rename"
                            onclick={link.callback(move |_| {
                                SessionsMsg::Name(Some(rename.clone()))
                            })}>
                            { icon::pencil() }
                        </button>
                        <button class="btn small icon" title="Download as a scenario file"
                            aria-label="Download"
                            onclick={link.callback(move |_| SessionsMsg::Download(file.clone()))}>
                            { icon::export() }
                        </button>
                        if !present {
                            <button class="btn small icon danger" title="Delete" aria-label="Delete"
                                onclick={link.callback(move |_| SessionsMsg::Delete(gone.clone()))}>
                                { icon::bin() }
                            </button>
                        }
                    }
                </div>
            </li>
        }
    }

    fn name_field(&self, entry: &Entry, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let (id, field) = (entry.id.clone(), self.field.clone());
        let onsubmit = link.callback(move |event: SubmitEvent| {
            event.prevent_default();
            let name = field.cast::<HtmlInputElement>().map(|field| field.value());
            SessionsMsg::Rename(id.clone(), name.unwrap_or_default())
        });
        let onkeydown = link.batch_callback(|event: KeyboardEvent| {
            (event.key() == "Escape").then(|| {
                // Escape leaves the field, not the dialog.
                event.prevent_default();
                SessionsMsg::Name(None)
            })
        });
        html! {
            <form class="row grow" {onsubmit}>
                <input class="grow" type="text" ref={self.field.clone()} aria-label="Name"
                    value={entry.name().to_owned()} placeholder={entry.title.clone()}
                    autocomplete="off" {onkeydown} />
                <button class="btn small primary">{ "Rename" }</button>
                <button type="button" class="btn small"
                    onclick={link.callback(|_| SessionsMsg::Name(None))}>{ "Cancel" }</button>
            </form>
        }
    }
}

fn read(ctx: &Context<Sessions>) {
    ctx.link().send_future(async { SessionsMsg::Listed(store::list().await) });
}

/// A session as a scenario file; if it cannot be read, as it is stored.
async fn download(kept: &Kept) -> Msg {
    let name = kept.entry.name().to_ascii_lowercase();
    let words = name.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let name = if words.is_empty() { "session".to_owned() } else { words.join("-") };
    let start = store::text_of(&kept.start).await;
    Msg::DownloadStored(name, kept.edits.as_str().into(), start)
}
