//! A link is read, and what there is to say about it.

use crate::connection::Connection;
use crate::link::{MOST_INFLATED, Parsed};
use crate::messages::Notice;
use crate::protocol::{Origin, Staged};
use crate::{link, streams};

/// What a session is made of that stands in a link, which the browser unpacks.
///
/// # Errors
/// What is wrong with the link.
pub(super) async fn origin(fragment: &str, parsed: &Parsed) -> Result<Origin, String> {
    let packed = link::text::bytes(&parsed.packed)?;
    let inflated = match packed.as_slice() {
        [] => String::new(),
        packed => streams::inflate(packed, MOST_INFLATED).await?,
    };
    Ok(Origin::Link(fragment.into(), inflated.into()))
}

/// The session of a link, kept aside, before there is an application.
///
/// # Errors
/// What is wrong with the link.
pub(super) async fn stage(
    connection: &Connection,
    fragment: &str,
    parsed: &Parsed,
) -> Result<Box<Staged>, String> {
    let origin = origin(fragment, parsed).await?;
    connection.stage(origin).await
}

/// What a broken link is told with.
pub(super) fn broken(error: &str) -> Notice {
    Notice::error(format!("This link cannot be opened: {error}."))
}

/// What there is to say of a link that was opened.
pub(super) fn told(staged: &Staged) -> Option<Notice> {
    if !staged.dropped.is_empty() {
        return Some(told_of_dropped(&staged.dropped));
    }
    staged.differs.then(|| {
        Notice::error(
            "The link was made with another version of Taintlab, whose results differ. You see the \
             results of this version.",
        )
    })
}

/// What there is to say of work that held more than it should.
pub(super) fn told_of_dropped(dropped: &str) -> Notice {
    Notice::info(format!(
        "An earlier version of this page stored more than a simulation reads. It was removed from \
         your work: {dropped}."
    ))
}
