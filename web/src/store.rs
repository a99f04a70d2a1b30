//! The sessions that are kept in this browser, in IndexedDB: of each an [`Entry`] for the list, the
//! text of where it began, which may be large and seldom changes, and the text of the rest.

use std::fmt;
use std::rc::Rc;

use gloo_events::EventListener;
use js_sys::{Array, Promise, Reflect};
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{IdbDatabase, IdbRequest, IdbTransaction, IdbTransactionMode};

use crate::browser;
use crate::protocol::StartText;
use taintlab_core::order::Order;
use taintlab_manifest::from_json;

const DATABASE: &str = "taintlab";
const ENTRIES: &str = "sessions";
const STARTS: &str = "starts";
const EDITS: &str = "edits";
const STORES: [&str; 3] = [ENTRIES, STARTS, EDITS];

/// So many sessions are kept; then the one that was changed the longest time ago goes.
pub(crate) const MOST_SESSIONS: usize = 30;

/// What the list of sessions says about one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its id.
    pub(crate) id: String,
    /// What it is about.
    pub(crate) title: String,
    /// What was done in it; empty if an earlier version of the page wrote it.
    #[serde(default)]
    pub(crate) done: String,
    /// The name that the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// When it was changed last, in milliseconds since 1970.
    pub(crate) changed: u64,
    /// How long its texts are, in bytes.
    pub(crate) size: usize,
    /// Which page wrote it, and which of its writes that was: `PAGE:NUMBER`.
    pub(crate) stamp: String,
}

impl Entry {
    /// The name that the user gave it, or what it is about.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.title)
    }
}

/// A session as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// What the list says about it.
    pub(crate) entry: Entry,
    /// Where it began.
    pub(crate) start: StartText,
    /// The rest.
    pub(crate) edits: String,
}

/// What came of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is stored.
    Done,
    /// It is not: another page has written this session since it was read here.
    ByAnother,
    /// It is not: the session is no longer there, so its start must be written too.
    Gone,
}

/// A write that is done, or not.
pub(crate) struct WriteResult {
    /// The stamp of the write.
    pub(crate) stamp: String,
    /// Which of the starts of this page is stored with it, and how long its text is.
    pub(crate) start: (u32, usize),
    /// What came of it.
    pub(crate) result: Result<Written, Failure>,
}

/// Why something cannot be stored or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is no more room.
    Full,
    /// The browser does not let the page store anything.
    Closed,
    /// The browser says so.
    Other(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the browser's storage is full"),
            Self::Closed => f.write_str("this browser blocks local storage"),
            Self::Other(why) => write!(f, "the browser's storage fails: {why}"),
        }
    }
}

impl From<JsValue> for Failure {
    fn from(error: JsValue) -> Self {
        let text = |field: &str| Reflect::get(&error, &field.into()).ok()?.as_string();
        match text("name").as_deref() {
            Some("QuotaExceededError") => Self::Full,
            Some("SecurityError" | "InvalidStateError") => Self::Closed,
            _ => Self::Other(text("message").unwrap_or_default()),
        }
    }
}

/// The sessions that are kept, the last changed first.
///
/// # Errors
/// Why they cannot be read.
pub(crate) async fn list() -> Result<Vec<Entry>, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readonly)?;
    entries(&transaction).await
}

/// A session, if it is there.
///
/// # Errors
/// Why it cannot be read.
pub(crate) async fn read(id: &str) -> Result<Option<Kept>, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readonly)?;
    get_all_of(&transaction, id).await
}

/// Writes a session, unless another page has written it since the one of the stamp `seen`; what the
/// previous page of the same tab wrote is its own. Without `start` it begins as it did. The name
/// that the user gave it stays. If there are too many, the oldest go.
///
/// # Errors
/// Why it cannot be written. Then nothing has changed.
pub(crate) async fn write(
    mut entry: Entry,
    seen: Option<String>,
    previous_page: Option<String>,
    start: Option<StartText>,
    edits: String,
) -> Result<Written, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readwrite)?;
    let all = entries(&transaction).await?;
    match all.iter().find(|known| known.id == entry.id) {
        Some(known) => {
            if !may_write(&known.stamp, &entry.stamp, seen.as_deref(), previous_page.as_deref()) {
                return Ok(Written::ByAnother);
            }
            entry.name.clone_from(&known.name);
        }
        None if start.is_none() => return Ok(Written::Gone),
        None => {}
    }
    let others = all.iter().filter(|known| known.id != entry.id);
    let oldest: Vec<_> = others.skip(MOST_SESSIONS - 1).map(|entry| entry.id.clone()).collect();
    let put = || {
        if let Some(start) = start {
            put(&transaction, STARTS, &entry.id, &js_value(&start))?;
        }
        put(&transaction, EDITS, &entry.id, &edits.into())?;
        put_entry(&transaction, &entry)?;
        oldest.iter().try_for_each(|id| delete(&transaction, id))
    };
    finish(&transaction, put()).await.map(|()| Written::Done)
}

/// Whether a write of the stamp `new` may replace what is stored with the stamp `known`.
fn may_write(known: &str, new: &str, seen: Option<&str>, previous_page: Option<&str>) -> bool {
    let writer = page_of(known);
    // A page that is left may still have been writing: this tab knows more than that.
    writer == page_of(new) || Some(writer) == previous_page || seen.is_none_or(|seen| seen == known)
}

/// The page of a stamp.
pub(crate) fn page_of(stamp: &str) -> &str {
    stamp.split(':').next().unwrap_or_default()
}

/// Gives a session another name; an empty one takes the name away.
///
/// # Errors
/// Why that cannot be written.
pub(crate) async fn rename(id: &str, name: &str) -> Result<(), Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readwrite)?;
    let Some(text) = get(&transaction, ENTRIES, id).await? else { return Ok(()) };
    let Ok(mut entry) = from_json::<Entry>(&text) else { return Ok(()) };
    let name = name.trim();
    entry.name = (!name.is_empty()).then(|| name.to_owned());
    finish(&transaction, put_entry(&transaction, &entry)).await
}

/// Takes a session away, and returns what it was.
///
/// # Errors
/// Why it is still there.
pub(crate) async fn take(id: &str) -> Result<Option<Kept>, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readwrite)?;
    let kept = get_all_of(&transaction, id).await?;
    finish(&transaction, delete(&transaction, id)).await.map(|()| kept)
}

/// Puts a session there as it is given.
///
/// # Errors
/// Why it cannot be written.
pub(crate) async fn put_back(kept: &Kept) -> Result<(), Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readwrite)?;
    let id = &kept.entry.id;
    let put = put(&transaction, STARTS, id, &js_value(&kept.start))
        .and_then(|()| put(&transaction, EDITS, id, &kept.edits.as_str().into()))
        .and_then(|()| put_entry(&transaction, &kept.entry));
    finish(&transaction, put).await
}

/// The database, which is closed when it goes out of scope.
struct Database(IdbDatabase);

impl Database {
    async fn open() -> Result<Self, Failure> {
        let window = browser::window().ok_or(Failure::Closed)?;
        let factory = window.indexed_db().ok().flatten().ok_or(Failure::Closed)?;
        let request = factory.open_with_u32(DATABASE, 1)?;
        let new = request.clone();
        let _new = EventListener::once(&request, "upgradeneeded", move |_| {
            if let Ok(database) = new.result() {
                let database: IdbDatabase = database.unchecked_into();
                for name in STORES {
                    // What is missing is found missing when it is used.
                    let _ = database.create_object_store(name);
                }
            }
        });
        settled(&request).await.map(|database| Self(database.unchecked_into()))
    }

    fn begin(&self, mode: IdbTransactionMode) -> Result<IdbTransaction, Failure> {
        let names: Array = STORES.iter().map(|name| JsValue::from_str(name)).collect();
        Ok(self.0.transaction_with_str_sequence_and_mode(&names, mode)?)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What is under way is finished first.
        self.0.close();
    }
}

async fn entries(transaction: &IdbTransaction) -> Result<Vec<Entry>, Failure> {
    let found = settled(&transaction.object_store(ENTRIES)?.get_all()?).await?;
    let found: Array = found.unchecked_into();
    let entry = |text: JsValue| from_json(&text.as_string()?).ok();
    let mut entries: Vec<Entry> = found.iter().filter_map(entry).collect();
    entries.order_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.id.cmp(&b.id)));
    Ok(entries)
}

async fn get(
    transaction: &IdbTransaction,
    store: &str,
    id: &str,
) -> Result<Option<String>, Failure> {
    let found = settled(&transaction.object_store(store)?.get(&id.into())?).await?;
    Ok(found.as_string())
}

/// A start as text.
pub(crate) async fn text_of(start: &StartText) -> Rc<str> {
    match start {
        StartText::Text(text) => text.clone(),
        StartText::Long(blob, _) => {
            let text = JsFuture::from(blob.text()).await.ok();
            text.and_then(|text| text.as_string()).unwrap_or_default().into()
        }
    }
}

/// A start as it is stored: a text, or what the browser has.
fn js_value(start: &StartText) -> JsValue {
    match start {
        StartText::Text(text) => JsValue::from_str(text),
        StartText::Long(blob, _) => blob.into(),
    }
}

async fn get_all_of(transaction: &IdbTransaction, id: &str) -> Result<Option<Kept>, Failure> {
    let Some(text) = get(transaction, ENTRIES, id).await? else { return Ok(None) };
    let Ok(entry) = from_json(&text) else { return Ok(None) };
    let found = settled(&transaction.object_store(STARTS)?.get(&id.into())?).await?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
    let start = match found.dyn_into::<web_sys::Blob>() {
        Ok(blob) => {
            let length = blob.size() as usize;
            StartText::Long(blob, length)
        }
        Err(text) => StartText::Text(text.as_string().unwrap_or_default().into()),
    };
    let edits = get(transaction, EDITS, id).await?.unwrap_or_default();
    Ok(Some(Kept { entry, start, edits }))
}

fn put(
    transaction: &IdbTransaction,
    store: &str,
    id: &str,
    value: &JsValue,
) -> Result<(), Failure> {
    transaction.object_store(store)?.put_with_key(value, &id.into())?;
    Ok(())
}

fn put_entry(transaction: &IdbTransaction, entry: &Entry) -> Result<(), Failure> {
    let text = serde_json::to_string(entry).map_err(|error| Failure::Other(error.to_string()))?;
    put(transaction, ENTRIES, &entry.id, &text.into())
}

fn delete(transaction: &IdbTransaction, id: &str) -> Result<(), Failure> {
    for store in STORES {
        transaction.object_store(store)?.delete(&id.into())?;
    }
    Ok(())
}

/// Waits until a transaction is done; if something could not even be asked for, all is taken back.
async fn finish(transaction: &IdbTransaction, asked: Result<(), Failure>) -> Result<(), Failure> {
    if let Err(failure) = asked {
        // It may have ended by itself.
        let _ = transaction.abort();
        return Err(failure);
    }
    #[expect(deprecated, reason = "the bindings are older than the standard that has it")]
    // Said now, it is carried out even if the page is left; without it, it is only likely to be.
    let _ = transaction.commit();
    let (events, promise) = first_of(transaction, "complete", "abort");
    let done = JsFuture::from(promise).await;
    drop(events);
    done.map(drop).map_err(|_| match transaction.error() {
        Some(error) => Failure::from(JsValue::from(error)),
        None => Failure::Other("it was interrupted".to_owned()),
    })
}

/// What a request comes to.
async fn settled(request: &IdbRequest) -> Result<JsValue, Failure> {
    let (events, promise) = first_of(request, "success", "error");
    let done = JsFuture::from(promise).await;
    drop(events);
    match done {
        Ok(_) => Ok(request.result()?),
        Err(_) => Err(match request.error() {
            Ok(Some(error)) => Failure::from(JsValue::from(error)),
            _ => Failure::Closed,
        }),
    }
}

/// A promise that is kept with the first event and broken with the second, if one comes while the
/// listeners are there.
fn first_of(
    target: &web_sys::EventTarget,
    good: &'static str,
    bad: &'static str,
) -> (Vec<EventListener>, Promise) {
    let mut events = Vec::new();
    let promise = Promise::new(&mut |keep, break_| {
        for (event, settle) in [(good, keep), (bad, break_)] {
            events.push(EventListener::once(target, event, move |_| {
                // It is a function of the browser, which does not throw.
                let _ = settle.call0(&JsValue::UNDEFINED);
            }));
        }
    });
    (events, promise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_replaces_what_it_has_seen_and_what_its_tab_wrote() {
        for (known, seen, previous_page, may) in [
            ("old:2", Some("old:2"), None, true),
            ("old:3", Some("old:2"), None, false),
            ("other:1", Some("old:2"), Some("old"), false),
            // It was being written when the page was left.
            ("old:3", Some("old:2"), Some("old"), true),
            ("new:1", Some("old:2"), None, true),
            ("other:1", None, None, true),
        ] {
            let may_it = may_write(known, "new:2", seen, previous_page);
            assert_eq!(may_it, may, "{known} {seen:?} {previous_page:?}");
        }
    }
}
