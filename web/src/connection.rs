//! The connection to the session, which runs where the engine is; see [`worker`](crate::worker).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use js_sys::{Array, ArrayBuffer, Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File, FileReaderSync};

use crate::browser;
use crate::host::{Budgets, Host};
use crate::protocol::{Effect, Origin, Progress, Reply, Request, Staged, StartText, Update};
use crate::view_models::import_report::ReadView;
use crate::wire::{from_bytes, to_bytes};
use crate::worker::{Port, Remote, is_worker};

/// The name of the worker of a session.
pub(crate) const NAME: &str = "session";

/// Uninterrupted work of a session, in milliseconds: in a worker, and on the page.
const IN_WORKER: Budgets = Budgets { play: 12.0, most_play: 100.0, slice: 40.0 };
const ON_PAGE: Budgets = Budgets { play: 9.0, most_play: 9.0, slice: 12.0 };

/// A message from the session.
pub(crate) enum Told {
    /// An update of the session.
    Update(Box<Update>),
    /// The worker broke down, for this reason.
    Broken(String),
}

type Sink = Rc<dyn Fn(Told)>;
/// A callback for the progress of long work.
pub(crate) type Watch = Rc<dyn Fn(&Progress)>;

/// The connection to the session; its clones share it.
#[derive(Clone)]
pub(crate) struct Connection(Rc<Inner>);

struct Inner {
    remote: RefCell<Option<Remote>>,
    /// Whether the session is in a worker.
    in_worker: Cell<bool>,
    /// The number of the last request.
    made: Cell<u32>,
    /// The number of the present worker: messages of an earlier one do not count.
    turn: Cell<u32>,
    /// Whether the worker has sent an update.
    works: Cell<bool>,
    /// The reason why the worker broke down, if it did.
    broken: RefCell<Option<String>>,
    /// Whether a request was given up since this was last asked.
    given_up: Cell<bool>,
    sink: RefCell<Sink>,
}

impl Connection {
    /// Starts an empty session.
    pub(crate) fn begin() -> Self {
        let inner = Rc::new(Inner {
            remote: RefCell::default(),
            in_worker: Cell::new(true),
            made: Cell::new(0),
            turn: Cell::new(0),
            works: Cell::new(false),
            broken: RefCell::new(None),
            given_up: Cell::new(false),
            sink: RefCell::new(Rc::new(|_| {})),
        });
        let connection = Self(inner);
        connection.restart(true);
        connection
    }

    /// Whether the session is in a worker, which can be ended.
    pub(crate) fn is_in_worker(&self) -> bool {
        self.0.in_worker.get()
    }

    /// Whether the worker has ever sent an update: a page that may have none learns that late.
    pub(crate) fn works(&self) -> bool {
        self.0.works.get()
    }

    /// The reason why the worker broke down, if it did.
    pub(crate) fn broken(&self) -> Option<String> {
        self.0.broken.borrow().clone()
    }

    /// Ends the session and starts another, empty one; in a worker if `in_worker`.
    pub(crate) fn restart(&self, in_worker: bool) {
        let turn = self.0.turn.get().wrapping_add(1);
        self.0.turn.set(turn);
        *self.0.broken.borrow_mut() = None;
        let weak = Rc::downgrade(&self.0);
        let told = move |message: Result<JsValue, String>| {
            let Some(inner) = weak.upgrade().filter(|inner| inner.turn.get() == turn) else {
                return;
            };
            let told = match message {
                Ok(message) => read(&message),
                Err(error) => Told::Broken(error),
            };
            match &told {
                Told::Update(_) => inner.works.set(true),
                Told::Broken(why) => *inner.broken.borrow_mut() = Some(why.clone()),
            }
            let sink = inner.sink.borrow().clone();
            sink(told);
        };
        let in_a_worker = in_worker.then(|| Remote::begin(NAME, true, told.clone()).ok()).flatten();
        self.0.in_worker.set(in_a_worker.is_some());
        let remote = in_a_worker.or_else(|| Remote::begin(NAME, false, told).ok());
        *self.0.remote.borrow_mut() = remote;
    }

    /// Sends all further messages of the session to `sink`.
    pub(crate) fn listen(&self, sink: impl Fn(Told) + 'static) {
        *self.0.sink.borrow_mut() = Rc::new(sink);
    }

    fn next(&self) -> u32 {
        let id = self.0.made.get().wrapping_add(1);
        self.0.made.set(id);
        id
    }

    /// Sends a request and returns its number, which comes back with the reply.
    pub(crate) fn send(&self, mut request: Request) -> u32 {
        let id = self.next();
        if let Request::Stage(Origin::Saved(_, start)) = &mut request
            && let StartText::Long(blob, _) = start
        {
            let file = blob.clone();
            *start = StartText::default();
            self.send_with(id, request, vec![file]);
            return id;
        }
        let buffer = buffer(&to_bytes(&(id, request)));
        self.say(&buffer, &Array::of1(&buffer));
        id
    }

    /// Asks the session to read files as one text.
    pub(crate) fn send_files(&self, files: &[File], name: String) -> u32 {
        let id = self.next();
        let request = Request::Read(String::new(), name, false);
        self.send_with(id, request, files.iter().map(|file| file.clone().into()).collect());
        id
    }

    /// Sends a request whose text is in files.
    fn send_with(&self, id: u32, request: Request, files: Vec<Blob>) {
        let buffer = buffer(&to_bytes(&(id, request)));
        let message: Array = std::iter::once(buffer.clone().into())
            .chain(files.into_iter().map(JsValue::from))
            .collect();
        self.say(&message, &Array::of1(&buffer));
    }

    fn say(&self, message: &JsValue, moved: &Array) {
        if let Some(remote) = &*self.0.remote.borrow() {
            remote.say(message, moved);
        }
    }

    /// Sends a request before there is an application, and returns the update that ends it. `watch`
    /// gets the progress.
    ///
    /// # Errors
    /// The worker broke down, or the request was given up.
    async fn ask(&self, request: Request, watch: &Watch) -> Result<Box<Update>, String> {
        if let Some(why) = self.broken() {
            return Err(why);
        }
        let found = Rc::new(RefCell::new(None));
        let promise = Promise::new(&mut |keep, _| {
            let (found, watch) = (found.clone(), watch.clone());
            self.listen(move |told| {
                let is_end = match &told {
                    Told::Update(update) => {
                        for effect in &update.effects {
                            if let Effect::Progress(progress) = effect {
                                watch(progress);
                            }
                        }
                        update.done.is_some()
                    }
                    Told::Broken(_) => true,
                };
                if is_end {
                    *found.borrow_mut() = Some(told);
                    // A function of the browser, which does not throw.
                    let _ = keep.call0(&JsValue::UNDEFINED);
                }
            });
        });
        self.send(request);
        let waited = JsFuture::from(promise).await;
        match (waited, found.take()) {
            (Ok(_), Some(Told::Update(update))) => Ok(update),
            (Ok(_), Some(Told::Broken(error))) => Err(error),
            _ => Err("no response from the worker".to_owned()),
        }
    }

    /// Gives up the current request before there is an application; the next one goes to a new
    /// session.
    pub(crate) fn give_up(&self) {
        self.0.given_up.set(true);
        self.restart(self.is_in_worker());
        let sink = self.0.sink.borrow().clone();
        sink(Told::Broken("it was given up".to_owned()));
    }

    /// Whether a request was given up since the last call.
    pub(crate) fn take_given_up(&self) -> bool {
        self.0.given_up.take()
    }

    /// Sends a request before there is an application, and returns its reply. A page that may have
    /// no worker learns that from its first request, which it repeats without one.
    ///
    /// # Errors
    /// The worker broke down.
    pub(crate) async fn first(&self, request: Request) -> Result<(Reply, Box<Update>), String> {
        self.first_watched(request, &(Rc::new(|_: &Progress| {}) as Watch)).await
    }

    async fn first_watched(
        &self,
        request: Request,
        watch: &Watch,
    ) -> Result<(Reply, Box<Update>), String> {
        let mut answer = self.ask(request.clone(), watch).await;
        if answer.is_err() && !self.works() && !self.0.given_up.get() {
            self.restart(false);
            answer = self.ask(request, watch).await;
        }
        let mut update = answer?;
        let reply = update.done.take().map_or(Reply::Done, |(_, reply)| reply);
        Ok((reply, update))
    }
}

impl Connection {
    /// Makes a session and keeps it aside, before there is an application.
    ///
    /// # Errors
    /// The session cannot be made; the text says why.
    pub(crate) async fn stage(&self, origin: Origin) -> Result<Box<Staged>, String> {
        self.stage_watched(origin, &(Rc::new(|_: &Progress| {}) as Watch)).await
    }

    /// [`stage`](Self::stage) with its progress told to `watch`.
    ///
    /// # Errors
    /// As [`stage`](Self::stage), or the request was given up.
    pub(crate) async fn stage_watched(
        &self,
        origin: Origin,
        watch: &Watch,
    ) -> Result<Box<Staged>, String> {
        match self.first_watched(Request::Stage(origin), watch).await?.0 {
            Reply::Staged(staged) => staged,
            _ => Err("no response from the worker".to_owned()),
        }
    }
}

/// The bytes of a file that are read at a time.
const PIECE: f64 = 8_000_000.0;
/// The separator between files, which are read as the documents of one.
const BETWEEN_FILES: &str = "\n---\n";

fn buffer(bytes: &[u8]) -> ArrayBuffer {
    Uint8Array::from(bytes).buffer()
}

fn read(message: &JsValue) -> Told {
    // A worker sends text only when it fails.
    if let Some(words) = message.as_string() {
        return Told::Broken(words);
    }
    let beside = message.dyn_ref::<Array>();
    let bytes = beside.map_or_else(|| message.clone(), |message| message.get(0));
    let Some(mut update): Option<Update> = from_bytes(&Uint8Array::new(&bytes).to_vec()) else {
        return Told::Broken("invalid response of the worker".to_owned());
    };
    if let Some(blob) = beside.and_then(|message| message.get(1).dyn_into::<Blob>().ok()) {
        update.changes.start = Some(long(blob));
    }
    Told::Update(Box::new(update))
}

/// The initial state that is too long for the page, handed to the browser; none if there is none.
fn long_start(update: &mut Update) -> Option<StartText> {
    let pieces = std::mem::take(&mut update.changes.long_start);
    if pieces.is_empty() {
        return None;
    }
    // Each piece is freed once the browser has it, and all go through one array. An array for each
    // would stay in memory until so little is left that JavaScript collects garbage.
    let most = pieces.iter().map(Vec::len).max()?;
    let array = Uint8Array::new_with_length(u32::try_from(most).ok()?);
    let parts = pieces.into_iter().map(|piece| {
        let part = array.subarray(0, u32::try_from(piece.len()).unwrap_or_default());
        part.copy_from(&piece);
        Blob::new_with_u8_array_sequence(&Array::of1(&part))
    });
    let parts = parts.collect::<Result<Array, _>>().ok()?;
    Blob::new_with_blob_sequence(&parts).ok().map(long)
}

fn long(blob: Blob) -> StartText {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
    let length = blob.size() as usize;
    StartText::Long(blob, length)
}

/// The request, with the text that was in files. An initial state that cannot be read becomes an
/// empty text, which is refused when it is to be restored.
///
/// # Errors
/// A file of an import cannot be read; the text says why.
fn with_text(request: Request, texts: Vec<Result<String, JsValue>>) -> Result<Request, String> {
    let text = texts.into_iter().reduce(|all, text| Ok(all? + BETWEEN_FILES + &text?));
    let text = text.unwrap_or_else(|| Ok(String::new()));
    Ok(match request {
        Request::Read(_, name, keep_all) => {
            let text = text.map_err(|error| browser::cannot_be_read(&name, &error))?;
            Request::Read(text, name, keep_all)
        }
        Request::Stage(Origin::Saved(edits, _)) => {
            let text = text.unwrap_or_default();
            Request::Stage(Origin::Saved(edits, StartText::Text(text.into())))
        }
        other => other,
    })
}

/// The update for files of an import that cannot be read.
fn unread(id: u32, error: String) -> Update {
    let read = Box::new(ReadView::nothing(error));
    Update { done: Some((id, Reply::Read(read))), ..Update::default() }
}

/// Runs a session for the page at the other end, as long as the page lives.
pub(crate) fn serve(page: &Port) {
    let to = page.clone();
    std::panic::set_hook(Box::new(move |info| {
        to.post(&info.to_string().into(), &Array::new());
    }));
    let budgets = if is_worker() { IN_WORKER } else { ON_PAGE };
    let host = Rc::new(RefCell::new(Host::new(browser::stopwatch, budgets)));
    let to = page.clone();
    page.listen(move |message| {
        let beside = message.dyn_ref::<Array>();
        let bytes = beside.map_or_else(|| message.clone(), |message| message.get(0));
        let Some((id, request)) = from_bytes(&Uint8Array::new(&bytes).to_vec()) else {
            // Without its number the request has no reply, and the page must not wait for one.
            to.post(&"invalid request".into(), &Array::new());
            return;
        };
        let Some(message) = beside else { return handle(&host, &to, id, request) };
        if is_worker() {
            // Later requests wait.
            let texts = files_in(message).map(|file| text_of(&file)).collect();
            return handle_with(&host, &to, id, request, texts);
        }
        let (host, to, files) = (host.clone(), to.clone(), files_in(message).collect::<Vec<_>>());
        spawn_local(async move {
            let mut texts = Vec::new();
            for file in &files {
                let text = JsFuture::from(file.text()).await;
                texts.push(text.map(|text| text.as_string().unwrap_or_default()));
            }
            handle_with(&host, &to, id, request, texts);
        });
    });
}

fn handle_with(
    host: &Rc<RefCell<Host>>,
    page: &Port,
    id: u32,
    request: Request,
    texts: Vec<Result<String, JsValue>>,
) {
    match with_text(request, texts) {
        Ok(request) => handle(host, page, id, request),
        Err(error) => post(page, unread(id, error)),
    }
}

fn handle(host: &Rc<RefCell<Host>>, page: &Port, id: u32, request: Request) {
    host.borrow_mut().handle(id, request, &mut |update| post(page, update));
    work_on(host, page);
}

fn post(page: &Port, mut update: Update) {
    let long = long_start(&mut update);
    let buffer = buffer(&to_bytes(&update));
    let message: JsValue = match long {
        Some(StartText::Long(blob, _)) => Array::of2(&buffer, &blob).into(),
        _ => buffer.clone().into(),
    };
    page.post(&message, &Array::of1(&buffer));
}

/// Continues the work in slices; messages get in between two of them.
fn work_on(host: &Rc<RefCell<Host>>, page: &Port) {
    thread_local! {
        static NEXT: RefCell<Option<Timeout>> = const { RefCell::new(None) };
    }
    if !host.borrow().has_work() {
        return;
    }
    let (host, page) = (host.clone(), page.clone());
    let next = Timeout::new(0, move || {
        host.borrow_mut().work(&mut |update| post(&page, update));
        work_on(&host, &page);
    });
    NEXT.set(Some(next));
}

/// The files that came with a request.
fn files_in(message: &Array) -> impl Iterator<Item = Blob> {
    message.iter().skip(1).map(JsCast::unchecked_into)
}

/// The text of a file, read piece by piece: it may take up all the memory that is left.
fn text_of(file: &Blob) -> Result<String, JsValue> {
    let reader = FileReaderSync::new()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
    let mut bytes = Vec::with_capacity(file.size() as usize);
    let mut from = 0.0;
    while from < file.size() {
        let piece = file.slice_with_f64_and_f64(from, from + PIECE)?;
        let piece = Uint8Array::new(&reader.read_as_array_buffer(&piece)?.into());
        let read = bytes.len();
        bytes.resize(read + piece.length() as usize, 0);
        piece.copy_to(bytes.get_mut(read..).unwrap_or_default());
        from += PIECE;
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
