//! Reading a link, and the notices about it.

use crate::connection::Connection;
use crate::link::{MOST_INFLATED, Parsed};
use crate::messages::Notice;
use crate::protocol::{Origin, Staged};
use crate::{link, streams};

/// The origin of a session that is packed in a link, unpacked by the browser.
///
/// # Errors
/// Returns a message that says why the link is broken.
pub(super) async fn origin(fragment: &str, parsed: &Parsed) -> Result<Origin, String> {
    let packed = link::text::bytes(&parsed.packed)?;
    let inflated = match packed.as_slice() {
        [] => String::new(),
        packed => streams::inflate(packed, MOST_INFLATED).await?,
    };
    Ok(Origin::Link(fragment.into(), inflated.into()))
}

/// Makes the session of a link and keeps it aside, before there is an application.
///
/// # Errors
/// Returns a message that says why the link is broken.
pub(super) async fn stage(
    connection: &Connection,
    fragment: &str,
    parsed: &Parsed,
) -> Result<Box<Staged>, String> {
    let origin = origin(fragment, parsed).await?;
    connection.stage(origin).await
}

/// The notice about a broken link.
pub(super) fn broken(error: &str) -> Notice {
    Notice::error(format!("This link cannot be opened: {error}."))
}

/// The notice about a link that was opened, if it needs one.
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

/// The notice about data removed from work that an earlier version stored.
pub(super) fn told_of_dropped(dropped: &str) -> Notice {
    Notice::info(format!(
        "An earlier version of this page stored more than a simulation reads. It was removed from \
         your work: {dropped}."
    ))
}
