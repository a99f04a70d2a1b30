//! A link is read, and what there is to say about it.

use crate::link::{MOST_INFLATED, Opened, Parsed};
use crate::messages::Notice;
use crate::{link, streams};

/// The session of a link, as the browser unpacks it.
///
/// # Errors
/// What is wrong with the link.
pub(super) async fn read(parsed: Parsed) -> Result<Box<Opened>, String> {
    let packed = link::text::bytes(&parsed.packed)?;
    let inflated = match packed.as_slice() {
        [] => String::new(),
        packed => streams::inflate(packed, MOST_INFLATED).await?,
    };
    parsed.open(&inflated).map(Box::new)
}

/// What a broken link is told with.
pub(super) fn broken(error: &str) -> Notice {
    Notice::error(format!("This link cannot be opened: {error}."))
}

/// What there is to say of a link that was opened.
pub(super) fn told(opened: &Opened) -> Option<Notice> {
    opened.differs.then(|| {
        Notice::error(
            "This version of Taintlab computes something else than the one that made the link. \
             What you see is what this version computes.",
        )
    })
}
