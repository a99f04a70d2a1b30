//! The work, as it survives a reload.

use serde::{Deserialize, Serialize};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;

use crate::session::{Edit, Session};

/// The format; another number is of another version of the page.
const FORMAT: u32 = 1;

/// A session, to be stored.
#[derive(Serialize)]
struct Saved<'a> {
    format: u32,
    now: Timestamp,
    edits: Vec<&'a Edit>,
    start: &'a Scenario,
}

#[derive(Deserialize)]
struct Stored {
    now: Timestamp,
    edits: Vec<Edit>,
    start: Scenario,
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// The session as text.
///
/// # Errors
/// It cannot be written as JSON; the text says why.
pub(crate) fn to_text(session: &Session) -> Result<String, String> {
    let timeline = session.timeline();
    let saved = Saved {
        format: FORMAT,
        now: session.now(),
        edits: timeline.log.iter().map(AsRef::as_ref).collect(),
        start: &timeline.start,
    };
    serde_json::to_string(&saved).map_err(|error| error.to_string())
}

/// The session of a text.
///
/// # Errors
/// The text is none of ours, or of another version; the message says so.
pub(crate) fn from_text(text: &str) -> Result<Session, String> {
    let format: Format = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if format.format != FORMAT {
        return Err(format!("it has format {}, this page reads format {FORMAT}", format.format));
    }
    let stored: Stored = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Session::resume(stored.start, stored.edits, stored.now).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Node, Taint, TaintEffect};
    use taintlab_core::command::Command;

    use super::*;

    #[test]
    fn a_session_comes_back() {
        let mut scenario = Scenario::default();
        let mut node = Node::default();
        node.metadata.name = "a".into();
        scenario.objects.nodes.push(node);
        let mut session = Session::new(scenario).unwrap();
        session.seek(Timestamp::from_secs(3));
        let taint = Taint::new("k", "", TaintEffect::NoSchedule);
        session.apply(vec![Command::Taint { node: "a".into(), taint }]).unwrap();
        session.seek(Timestamp::from_secs(5));
        let text = to_text(&session).unwrap();
        let again = from_text(&text).unwrap();
        assert_eq!(again.rows(), session.rows());
        assert_eq!(again.now(), session.now());
        assert_eq!(to_text(&again).unwrap(), text);
    }

    #[test]
    fn texts_of_others_are_refused_with_a_reason() {
        for (text, reason) in [
            ("", "EOF"),
            ("[1]", "invalid"),
            ("{\"theme\":\"dark\"}", "missing field `format`"),
            ("{\"format\":7}", "it has format 7, this page reads format 1"),
            ("{\"format\":1}", "missing field"),
        ] {
            let error = from_text(text).err().unwrap();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
