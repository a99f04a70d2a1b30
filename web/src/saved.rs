//! The work, as it survives a reload.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Span;
use taintlab_manifest::{Limits, read_value, to_yaml};

use crate::session::{Edit, Session};

/// The format; another number is of another version of the page.
const FORMAT: u32 = 1;

/// A session, to be stored.
#[derive(Serialize)]
struct Saved<'a> {
    format: u32,
    now: Span,
    edits: Vec<&'a Edit>,
    start: &'a Scenario,
}

#[derive(Deserialize)]
struct Stored {
    format: u32,
    #[serde(default)]
    now: Span,
    #[serde(default)]
    edits: Vec<Edit>,
    #[serde(default)]
    start: Scenario,
}

/// The session as text.
///
/// # Errors
/// It cannot be written; the text says why.
pub(crate) fn to_text(session: &Session) -> Result<String, String> {
    let timeline = session.timeline();
    let saved = Saved {
        format: FORMAT,
        now: session.now().into(),
        edits: timeline.log.iter().map(Rc::as_ref).collect(),
        start: &timeline.start,
    };
    to_yaml(&saved).map_err(|error| error.to_string())
}

/// The session of a text.
///
/// # Errors
/// The text is none of ours, or of another version; the message says so.
pub(crate) fn from_text(text: &str) -> Result<Session, String> {
    let read = read_value::<Stored>(text, "session", &Limits::default());
    let stored = read.map_err(|errors| {
        let first = errors.first().map(ToString::to_string);
        first.unwrap_or_else(|| "there is nothing in it".to_owned())
    })?;
    if stored.format != FORMAT {
        return Err(format!("it has format {}, this page reads format {FORMAT}", stored.format));
    }
    let now = stored.now.timestamp();
    Session::resume(stored.start, stored.edits, now).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Node, Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_session_comes_back() {
        let mut scenario = Scenario::default();
        let mut node = Node::default();
        node.metadata.name = "a".into();
        scenario.objects.nodes.push(node);
        let mut session = Session::new(scenario).unwrap();
        session.seek(Timestamp::from_nanos(3_000_000_001));
        let taint = Taint::new("k", "yes", TaintEffect::NoSchedule);
        session.apply(vec![Command::Taint { node: "a".into(), taint }]).unwrap();
        session.apply(vec![Command::RestartTaintEvictionController]).unwrap();
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
            ("", "session:1:1"),
            ("[1]", "session:1:1"),
            ("{\"theme\":\"dark\"}", "format"),
            ("{\"format\":7}", "it has format 7, this page reads format 1"),
            ("{\"format\":1,\"edits\":[{}]}", "edits[0]"),
        ] {
            let error = from_text(text).err().unwrap();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
