//! The memory of a tab, in the browser's `sessionStorage`: the session it works on, and how it was
//! left.
//!
//! A tab that is duplicated begins with a copy of that memory. When a page is left, by a reload
//! too, it notes how. A page that finds an id without such a note is a duplicate of a tab that is
//! still open. It gets an id of its own, so that the two do not overwrite each other's work.

use std::rc::Rc;

use crate::browser;

/// The id of the session, the page that works on it, and the stamp of its last stored write.
const SESSION: &str = "taintlab.tab";
/// A note about how the page was left: one of the two words below, or the session as text, without
/// its initial state if that is long and stored.
const LEFT: &str = "taintlab.left";
/// The fragment that this tab wrote into the address last, and the one before it.
const ADDRESS: &str = "taintlab.address";
const NOTHING_DONE: &str = "nothing done";
const STORED: &str = "stored";
/// The prefix of a session without its initial state.
pub(crate) const EDITS: &str = "edits ";
/// The length of a note at most: browsers have room for about five million characters here.
pub(crate) const LONGEST_NOTE: usize = 1_000_000;

/// The beginning of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// The sample cluster.
    Sample,
    /// The sample cluster, because the address asks for it.
    Fresh,
    /// The session as this tab left it.
    Left(Rc<str>),
    /// The session as this tab left it, without its initial state, which is stored.
    LeftEdits(Rc<str>),
    /// The session in its stored form.
    Stored,
    /// A copy of this session, which another tab works on.
    CopyOf(Rc<str>),
}

/// A tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tab {
    /// The id of its session.
    pub(crate) id: Rc<str>,
    /// The stamp of its last stored write.
    pub(crate) stamp: Option<String>,
    /// The page that was in it before.
    pub(crate) page: Option<String>,
    /// The beginning of its page.
    pub(crate) begin: Begin,
}

impl Tab {
    /// The tab that this page is in.
    pub(crate) fn open() -> Self {
        if browser::asked_for_fresh_start() {
            return Self::new(Begin::Fresh);
        }
        let Some(known) = browser::tab_stored(SESSION) else { return Self::new(Begin::Sample) };
        let mut words = known.split(' ').map(str::to_owned);
        let id: Rc<str> = words.next().unwrap_or_default().into();
        let (page, stamp) = (words.next(), words.next());
        let begin = match browser::tab_stored(LEFT).as_deref() {
            None => return Self::new(Begin::CopyOf(id)),
            Some(NOTHING_DONE) => Begin::Sample,
            Some(STORED) => Begin::Stored,
            Some(text) => match text.strip_prefix(EDITS) {
                Some(edits) => Begin::LeftEdits(edits.into()),
                None => Begin::Left(text.into()),
            },
        };
        Self { id, stamp, page, begin }
    }

    fn new(begin: Begin) -> Self {
        Self { id: browser::new_id().into(), stamp: None, page: None, begin }
    }
}

/// Notes that the page is in use: until it is left, this memory is that of an open tab.
pub(crate) fn enter(id: &str, stamp: Option<&str>, page: &str) {
    browser::tab_forget(LEFT);
    let stamp = stamp.map(|stamp| format!(" {stamp}")).unwrap_or_default();
    // A tab that remembers nothing begins anew at a reload, which is said when storing fails.
    let _ = browser::tab_store(SESSION, &format!("{id} {page}{stamp}"));
}

/// Notes the fragment in the address, to tell it from a link that was put there from outside; and
/// the fragment before it, which a page finds that is loaded again at that very moment.
pub(crate) fn record_address(fragment: &str, before: &str) {
    // Without it a reload offers the link of the session that is open.
    let _ = browser::tab_store(ADDRESS, &format!("{fragment} {before}"));
}

/// Whether this tab wrote the fragment into the address.
pub(crate) fn wrote(fragment: &str) -> bool {
    browser::tab_stored(ADDRESS).is_some_and(|known| known.split(' ').any(|it| it == fragment))
}

/// The work that a page is left with.
pub(crate) enum Work {
    /// Nothing was done.
    None,
    /// The work, as text.
    Text(String),
    /// The work is too long for a note, and stored.
    Stored,
}

/// Notes that the page is left, with this work.
pub(crate) fn leave(work: &Work) {
    let short = match work {
        Work::None => NOTHING_DONE,
        Work::Text(text) if text.len() <= LONGEST_NOTE => text,
        Work::Text(_) | Work::Stored => STORED,
    };
    if browser::tab_store(LEFT, short).is_err() {
        let _ = browser::tab_store(LEFT, STORED);
    }
}
