//! The work, as it survives a reload.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Span;

use crate::model::Selection;
use crate::session::{Edit, Session};

/// The format; another number is of another version of the page.
const FORMAT: u32 = 1;

/// A session, to be stored.
#[derive(Serialize)]
struct Saved<'a> {
    format: u32,
    now: Span,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<String>,
    edits: Vec<&'a Edit>,
    start: &'a Scenario,
}

/// The same, read. What another format lacks must not hide that it is another one.
#[derive(Deserialize)]
struct Stored {
    format: u32,
    now: Option<Span>,
    selection: Option<String>,
    edits: Option<Vec<Edit>>,
    start: Option<Scenario>,
}

/// The session as text.
///
/// # Errors
/// It cannot be written; the text says why.
pub(crate) fn to_text(session: &Session, selection: Option<&Selection>) -> Result<String, String> {
    let timeline = session.timeline();
    let saved = Saved {
        format: FORMAT,
        now: session.now().into(),
        selection: selection.map(Selection::to_text),
        edits: timeline.log.iter().map(Rc::as_ref).collect(),
        start: &timeline.start,
    };
    serde_json::to_string(&saved).map_err(|error| error.to_string())
}

/// The session of a text, and what was selected.
///
/// # Errors
/// The text is none of ours, or of another version; the message says so.
pub(crate) fn from_text(text: &str) -> Result<(Session, Option<Selection>), String> {
    let stored: Stored = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if stored.format != FORMAT {
        return Err(format!("it has format {}, this page reads format {FORMAT}", stored.format));
    }
    let Stored { now: Some(now), edits: Some(edits), start: Some(start), .. } = stored else {
        return Err("its `now`, `edits` or `start` is missing".to_owned());
    };
    let selection = stored.selection.as_deref().and_then(Selection::parse);
    let session = Session::resume(start, edits, now.timestamp());
    session.map(|session| (session, selection)).map_err(|error| error.to_string())
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
        let selection = Some(Selection::Zone("r:\0:z".into()));
        let text = to_text(&session, selection.as_ref()).unwrap();
        let (again, selected) = from_text(&text).unwrap();
        assert_eq!(selected, selection);
        assert_eq!(again.rows(), session.rows());
        assert_eq!(again.now(), session.now());
        assert_eq!(to_text(&again, selected.as_ref()).unwrap(), text);
    }

    #[test]
    fn texts_of_others_are_refused_with_a_reason() {
        for (text, reason) in [
            ("", "line 1 column 0"),
            ("[1]", "line 1 column"),
            ("{\"theme\":\"dark\"}", "format"),
            ("{\"format\":1}", "`start` is missing"),
            ("{\"format\":7,\"more\":[]}", "it has format 7, this page reads format 1"),
            ("{\"format\":1,\"now\":0,\"edits\":[{}],\"start\":{}}", "line 1 column"),
        ] {
            let error = from_text(text).err().unwrap();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
