//! The sessions that are stored in this browser, in IndexedDB: for each an [`Entry`] for the list,
//! the text of its initial state, which may be large and seldom changes, and the text of the rest.

use std::fmt;
use std::rc::Rc;

use gloo_events::EventListener;
use js_sys::{Array, JSON, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{IdbDatabase, IdbRequest, IdbTransaction, IdbTransactionMode};

use crate::browser;
use crate::protocol::StartText;
use taintlab_core::order::Order;

const DATABASE: &str = "taintlab";
const ENTRIES: &str = "sessions";
const STARTS: &str = "starts";
const EDITS: &str = "edits";
const STORES: [&str; 3] = [ENTRIES, STARTS, EDITS];

/// Sessions stored at most; beyond that, the one that was changed the longest time ago goes.
pub(crate) const MOST_SESSIONS: usize = 30;

/// A session in the list of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The id.
    pub(crate) id: String,
    /// The title.
    pub(crate) title: String,
    /// A summary of the work; empty if an earlier version of the page wrote the entry.
    pub(crate) done: String,
    /// The name that the user gave it.
    pub(crate) name: Option<String>,
    /// The time of the last change, in milliseconds since 1970.
    pub(crate) changed: u64,
    /// The length of its texts, in bytes.
    pub(crate) size: usize,
    /// The page that wrote it, and the number of that write: `PAGE:NUMBER`.
    pub(crate) stamp: String,
}

impl Entry {
    /// The name that the user gave it, or its title.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.title)
    }

    /// The entry of a text in JSON.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
    fn read(text: &str) -> Option<Self> {
        let value = JSON::parse(text).ok()?;
        let field = |name: &str| Reflect::get(&value, &name.into()).ok();
        let text = |name| field(name)?.as_string();
        Some(Self {
            id: text("id")?,
            title: text("title")?,
            done: text("done").unwrap_or_default(),
            name: text("name"),
            changed: field("changed")?.as_f64()? as u64,
            size: field("size")?.as_f64()? as usize,
            stamp: text("stamp")?,
        })
    }

    /// The entry as JSON.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn text(&self) -> Result<String, JsValue> {
        let value = Object::new();
        for (name, field) in [
            ("id", self.id.as_str().into()),
            ("title", self.title.as_str().into()),
            ("done", self.done.as_str().into()),
            // Not written if it is undefined.
            ("name", self.name.as_deref().map_or(JsValue::UNDEFINED, JsValue::from_str)),
            ("changed", (self.changed as f64).into()),
            ("size", self.size.into()),
            ("stamp", self.stamp.as_str().into()),
        ] {
            Reflect::set(&value, &name.into(), &field)?;
        }
        JSON::stringify(&value).map(String::from)
    }
}

/// A stored session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The entry in the list.
    pub(crate) entry: Entry,
    /// The initial state.
    pub(crate) start: StartText,
    /// The rest, as text.
    pub(crate) edits: String,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The session is stored.
    Done,
    /// The session is not stored: another page has written it since it was read here.
    ByAnother,
    /// The session is not stored: it is no longer there, so its start must be written too.
    Gone,
}

/// A write that has ended.
pub(crate) struct WriteResult {
    /// The stamp of the write.
    pub(crate) stamp: String,
    /// The number that this page gave the initial state stored with it, and the length of its text.
    pub(crate) start: (u32, usize),
    /// The result.
    pub(crate) result: Result<Written, Failure>,
}

/// A reason why something cannot be stored or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No room is left.
    Full,
    /// The browser does not let the page store anything.
    Closed,
    /// Another reason, in the browser's words.
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

/// The stored sessions, the last changed first.
///
/// # Errors
/// The sessions cannot be read.
pub(crate) async fn list() -> Result<Vec<Entry>, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readonly)?;
    entries(&transaction).await
}

/// A session, if it is there.
///
/// # Errors
/// The session cannot be read.
pub(crate) async fn read(id: &str) -> Result<Option<Kept>, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readonly)?;
    get_all_of(&transaction, id).await
}

/// Writes a session, unless another page has written it since the write with the stamp `seen`; the
/// writes of the previous page of the same tab count as its own. Without `start` the stored initial
/// state stays. The name that the user gave it stays. If there are too many sessions, the oldest
/// go.
///
/// # Errors
/// The session cannot be written. Then nothing has changed.
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

/// Whether a write with the stamp `new` may replace one with the stamp `known`.
fn may_write(known: &str, new: &str, seen: Option<&str>, previous_page: Option<&str>) -> bool {
    let writer = page_of(known);
    // A page may still be writing when it is left: this tab knows more than that write.
    writer == page_of(new) || Some(writer) == previous_page || seen.is_none_or(|seen| seen == known)
}

/// The page of a stamp.
pub(crate) fn page_of(stamp: &str) -> &str {
    stamp.split(':').next().unwrap_or_default()
}

/// Renames a session; an empty name removes the name that the user gave.
///
/// # Errors
/// The name cannot be written.
pub(crate) async fn rename(id: &str, name: &str) -> Result<(), Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readwrite)?;
    let Some(text) = get(&transaction, ENTRIES, id).await? else { return Ok(()) };
    let Some(mut entry) = Entry::read(&text) else { return Ok(()) };
    let name = name.trim();
    entry.name = (!name.is_empty()).then(|| name.to_owned());
    finish(&transaction, put_entry(&transaction, &entry)).await
}

/// Removes a session and returns it.
///
/// # Errors
/// The session cannot be removed.
pub(crate) async fn take(id: &str) -> Result<Option<Kept>, Failure> {
    let database = Database::open().await?;
    let transaction = database.begin(IdbTransactionMode::Readwrite)?;
    let kept = get_all_of(&transaction, id).await?;
    finish(&transaction, delete(&transaction, id)).await.map(|()| kept)
}

/// Stores a session exactly as it is given.
///
/// # Errors
/// The session cannot be written.
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
                    // A missing store is noticed when it is used.
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
        // Transactions under way are finished first.
        self.0.close();
    }
}

async fn entries(transaction: &IdbTransaction) -> Result<Vec<Entry>, Failure> {
    let found = settled(&transaction.object_store(ENTRIES)?.get_all()?).await?;
    let found: Array = found.unchecked_into();
    let entry = |text: JsValue| Entry::read(&text.as_string()?);
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

/// An initial state as text.
pub(crate) async fn text_of(start: &StartText) -> Rc<str> {
    match start {
        StartText::Text(text) => text.clone(),
        StartText::Long(blob, _) => {
            let text = JsFuture::from(blob.text()).await.ok();
            text.and_then(|text| text.as_string()).unwrap_or_default().into()
        }
    }
}

/// An initial state in stored form: a text, or the browser's blob.
fn js_value(start: &StartText) -> JsValue {
    match start {
        StartText::Text(text) => JsValue::from_str(text),
        StartText::Long(blob, _) => blob.into(),
    }
}

async fn get_all_of(transaction: &IdbTransaction, id: &str) -> Result<Option<Kept>, Failure> {
    let Some(text) = get(transaction, ENTRIES, id).await? else { return Ok(None) };
    let Some(entry) = Entry::read(&text) else { return Ok(None) };
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
    put(transaction, ENTRIES, &entry.id, &entry.text()?.into())
}

fn delete(transaction: &IdbTransaction, id: &str) -> Result<(), Failure> {
    for store in STORES {
        transaction.object_store(store)?.delete(&id.into())?;
    }
    Ok(())
}

/// Waits until a transaction is done; aborts it if a request could not even be made.
async fn finish(transaction: &IdbTransaction, asked: Result<(), Failure>) -> Result<(), Failure> {
    if let Err(failure) = asked {
        // The transaction may have ended by itself.
        let _ = transaction.abort();
        return Err(failure);
    }
    #[expect(deprecated, reason = "the bindings are older than the standard that has it")]
    // An explicit commit is carried out even if the page is left; without one, that is only likely.
    let _ = transaction.commit();
    let (events, promise) = first_of(transaction, "complete", "abort");
    let done = JsFuture::from(promise).await;
    drop(events);
    done.map(drop).map_err(|_| match transaction.error() {
        Some(error) => Failure::from(JsValue::from(error)),
        None => Failure::Other("it was interrupted".to_owned()),
    })
}

/// The result of a request.
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
                // A function of the browser, which does not throw.
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
            // Its write was under way when the page was left.
            ("old:3", Some("old:2"), Some("old"), true),
            ("new:1", Some("old:2"), None, true),
            ("other:1", None, None, true),
        ] {
            let may_it = may_write(known, "new:2", seen, previous_page);
            assert_eq!(may_it, may, "{known} {seen:?} {previous_page:?}");
        }
    }
}
