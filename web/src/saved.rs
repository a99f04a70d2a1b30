//! The work, in the form that survives a reload.

use std::io::{self, Write};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use taintlab_core::scenario::{Kubernetes, Scenario};
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::{
    Dropped, Extent, from_json, redact_commands, redact_scenario, scenario_from_json,
};

use crate::files;
use crate::session::{Branch, Edit, Session, Way};
use crate::text::{at, count};
use crate::view_models::display::command_text;
use crate::view_models::selection::Selection;

/// The number of the format; other versions of the page have other numbers. Format 1 had everything
/// in one text. Up to format 2 the work held more of objects than a simulation reads.
const FORMAT: u32 = 3;

/// The edits of a session in stored form; [`text`](Self::text) adds the time of the clock and the
/// selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedWork {
    /// The title.
    pub(crate) title: String,
    /// A summary: the release, the number of edits, and the last of them.
    pub(crate) done: String,
    /// Whether there is something to undo.
    pub(crate) can_undo: bool,
    /// The edits: a part of the text.
    pub(crate) edits: String,
    /// The branches, if there are several: a part of the text, too.
    pub(crate) branches: String,
}

impl SavedWork {
    /// The work of a session.
    pub(crate) fn of(session: &Session) -> Self {
        // A session that was never forked has no more to say.
        let branches = session.branches();
        let branches = if branches.len() > 1 {
            let all: Vec<_> = branches.iter().map(SavedBranch::of).collect();
            let (here, all) = (session.timeline().branch, json(&all));
            format!(",\"branch\":{here},\"branches\":{all}")
        } else {
            String::new()
        };
        Self {
            title: title(&session.timeline().start),
            done: done(session),
            can_undo: session.can_undo(),
            edits: json(&session.timeline().log.iter().map(Rc::as_ref).collect::<Vec<_>>()),
            branches,
        }
    }

    /// The session as text, with its initial state if `start` is given.
    pub(crate) fn text(
        &self,
        now: Timestamp,
        selection: Option<&Selection>,
        start: Option<&str>,
    ) -> String {
        let selection = selection.map(Selection::to_text);
        let selection = selection.map(|text| format!(",\"selection\":{}", json(&text)));
        let start = start.map(|start| format!(",\"start\":{start}"));
        format!(
            "{{\"format\":{FORMAT},\"now\":{}{},\"edits\":{}{}{}}}",
            json(&Span::from(now)),
            selection.unwrap_or_default(),
            self.edits,
            start.unwrap_or_default(),
            self.branches,
        )
    }
}

/// A summary: `Kubernetes 1.35, 2 edits, the last at 1m0s: stop the kubelet of worker-1`.
fn done(session: &Session) -> String {
    let log = &session.timeline().log;
    let release = session.simulator().config().release;
    let last = log.last().map(|edit| {
        let what = match edit.commands.as_slice() {
            [command] => command_text(command),
            commands => count(commands.len(), "command"),
        };
        format!(", the last at {}: {what}", at(edit.at.timestamp()))
    });
    format!("Kubernetes {release}, {}{}", count(log.len(), "edit"), last.unwrap_or_default())
}

/// JSON of a value of the page, which can always be written.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A stored branch. It begins with the objects of the session; only its Kubernetes may differ.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedBranch {
    id: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    forked_at: Span,
    clock: Span,
    reached: Span,
    edits: Vec<Edit>,
    kubernetes: Kubernetes,
}

impl SavedBranch {
    fn of(branch: &Branch) -> Self {
        Self {
            id: branch.id,
            name: branch.name.to_string(),
            parent: branch.parent,
            forked_at: branch.forked_at.into(),
            clock: branch.clock.into(),
            reached: branch.reached.into(),
            edits: branch.log.iter().map(|edit| Edit::clone(edit)).collect(),
            kubernetes: branch.start.kubernetes.clone(),
        }
    }

    /// The branch of a session with the initial state `start`.
    fn restored(self, start: &Rc<Scenario>) -> Branch {
        let same = self.kubernetes == start.kubernetes;
        let other = || Rc::new(Scenario { kubernetes: self.kubernetes, ..Scenario::clone(start) });
        Branch {
            id: self.id,
            name: self.name.into(),
            parent: self.parent,
            forked_at: self.forked_at.timestamp(),
            start: if same { start.clone() } else { other() },
            log: self.edits.into_iter().map(Rc::new).collect(),
            clock: self.clock.timestamp(),
            reached: self.reached.timestamp(),
        }
    }
}

/// A stored session as it is read. Fields that another format lacks must not hide that it is
/// another one.
#[derive(Deserialize)]
struct Stored {
    format: u32,
    now: Option<Span>,
    selection: Option<String>,
    edits: Option<Vec<Edit>>,
    start: Option<Scenario>,
    branch: Option<u32>,
    #[serde(default)]
    branches: Vec<SavedBranch>,
}

/// A stored session that was read and not yet run.
#[derive(Debug)]
pub(crate) struct Restored {
    start: Scenario,
    edits: Vec<Edit>,
    now: Timestamp,
    selection: Option<Selection>,
    branch: Option<u32>,
    branches: Vec<SavedBranch>,
    /// The data that was taken out, as an earlier version of the page should not have stored it.
    pub(crate) dropped: Dropped,
}

impl Restored {
    /// The session at its beginning, the way to its time, and its selection. `watch` gets the
    /// number of pods in place, and of all pods.
    ///
    /// # Errors
    /// The session cannot begin; the text says why.
    pub(crate) async fn begin(
        self,
        watch: &dyn Fn(usize, usize),
    ) -> Result<(Session, Way, Option<Selection>), String> {
        let session = Session::new_in_slices(self.start, watch).await;
        let session = session.map_err(|error| error.to_string())?;
        let (mut session, way) = session.with_edits(self.edits, self.now);
        if let Some(here) = self.branch {
            let start = session.timeline().start.clone();
            let branches = self.branches.into_iter().map(|branch| branch.restored(&start));
            session.restore_branches(branches.collect(), here);
        }
        Ok((session, way, self.selection))
    }

    /// The session as a scenario file.
    pub(crate) fn scenario_text(self) -> String {
        let edits: Vec<_> = self.edits.into_iter().map(Rc::new).collect();
        files::scenario_text(self.start, &edits)
    }
}

/// The initial state of a session, as text.
pub(crate) fn start_text(start: &Scenario) -> String {
    json(start)
}

/// [`start_text`] in pieces; only the last may be short. For a large cluster that text is as long
/// as all that is known of the cluster.
pub(crate) fn start_pieces(start: &Scenario) -> Vec<Vec<u8>> {
    let mut pieces = Pieces(Vec::new());
    // Writing to memory does not fail, and values of the page can always be written.
    let _ = serde_json::to_writer(&mut pieces, start);
    pieces.0
}

/// The bytes of a piece.
const PIECE: usize = 1 << 20;

/// Written bytes, in pieces that never move.
struct Pieces(Vec<Vec<u8>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = |piece: &Vec<u8>| PIECE - piece.len();
        if self.0.last().is_none_or(|last| room(last) == 0) {
            self.0.push(Vec::with_capacity(PIECE));
        }
        let Some(last) = self.0.last_mut() else { return Ok(0) };
        let (now, _) = bytes.split_at(bytes.len().min(room(last)));
        last.extend_from_slice(now);
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The session of a text; `start` is its initial state, if that is a text of its own.
///
/// # Errors
/// The text is no session of this page, or has another format; the message says so.
pub(crate) fn from_text(text: &str, start: &str) -> Result<Restored, String> {
    let stored: Stored = from_json(text)?;
    if !(1..=FORMAT).contains(&stored.format) {
        return Err(format!(
            "it has format {}, this page reads formats 1 to {FORMAT}",
            stored.format
        ));
    }
    let own = match start {
        "" => None,
        start => Some(scenario_from_json(start)?),
    };
    let (Some(now), Some(mut edits), Some(mut start)) =
        (stored.now, stored.edits, own.or(stored.start))
    else {
        return Err("its `now`, `edits` or `start` is missing".to_owned());
    };
    let dropped = match stored.format {
        1 | 2 => redact(&mut start, &mut edits)?,
        _ => Dropped::default(),
    };
    let selection = stored.selection.as_deref().and_then(Selection::parse);
    let (branch, branches) = (stored.branch, stored.branches);
    Ok(Restored { start, edits, now: now.timestamp(), selection, branch, branches, dropped })
}

/// Takes out the data that an import would have dropped.
fn redact(start: &mut Scenario, edits: &mut [Edit]) -> Result<Dropped, String> {
    let mut dropped = redact_scenario(start, Extent::Shown)?;
    dropped += redact_commands(edits.iter_mut().flat_map(|edit| &mut edit.commands))?;
    Ok(dropped)
}

/// The title of a session: that of its scenario, or the numbers of nodes and pods at the beginning.
pub(crate) fn title(start: &Scenario) -> String {
    if !start.metadata.title.is_empty() {
        return start.metadata.title.clone();
    }
    let (nodes, pods) = (start.objects.nodes.len(), start.objects.pods.len());
    format!("{}, {}", count(nodes, "node"), count(pods, "pod"))
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Node, Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::slices::at_once;

    use super::*;

    #[test]
    fn a_session_comes_back() {
        let mut scenario = Scenario::default();
        let mut node = Node::default();
        node.metadata.name = "a".into();
        scenario.objects.nodes.push(node.into());
        let mut session = Session::new(scenario).unwrap();
        session.seek(Timestamp::from_nanos(3_000_000_001));
        let taint = Taint::new("k", "yes", TaintEffect::NoSchedule);
        session.apply(vec![Command::Taint { node: "a".into(), taint }]).unwrap();
        session.apply(vec![Command::RestartTaintEvictionController]).unwrap();
        session.seek(Timestamp::from_secs(5));
        let selection = Some(Selection::Zone("r:\0:z".into()));
        let start = start_text(&session.timeline().start);
        let to_text = |session: &Session, selection: Option<&Selection>, start: Option<&str>| {
            SavedWork::of(session).text(session.home(), selection, start)
        };
        let text = to_text(&session, selection.as_ref(), Some(&start));
        let edits = to_text(&session, selection.as_ref(), None);
        // As one text, in two, and in that of the first format.
        let old = text.replacen("\"format\":3", "\"format\":1", 1);
        for (edits, apart) in [(&text, ""), (&edits, start.as_str()), (&old, "")] {
            let (mut again, way, selected) =
                at_once(from_text(edits, apart).unwrap().begin(&|_, _| {})).unwrap();
            again.arrive(way);
            assert_eq!(selected, selection);
            assert_eq!(again.rows(), session.rows());
            assert_eq!(again.now(), session.now());
            assert_eq!(to_text(&again, selected.as_ref(), Some(&start)), text);
        }
    }

    #[test]
    fn a_long_start_is_the_same_text_in_pieces() {
        let mut scenario = Scenario::default();
        scenario.metadata.answer = "ä".repeat(PIECE);
        let (pieces, text) = (start_pieces(&scenario), start_text(&scenario));
        let (last, full) = pieces.split_last().unwrap();
        assert!(full.len() == 2 && full.iter().all(|piece| piece.len() == PIECE));
        assert!(last.len() < PIECE && pieces.concat() == text.as_bytes());
        let short = Scenario::default();
        assert_eq!(start_pieces(&short), [start_text(&short).into_bytes()]);
    }

    #[test]
    fn texts_of_others_are_refused_with_a_reason() {
        for (text, reason) in [
            ("", "exactly one value"),
            ("[1]", "expected a mapping"),
            ("{\"theme\":\"dark\"}", "format"),
            ("{\"format\":1}", "`start` is missing"),
            ("{\"format\":7,\"more\":[]}", "it has format 7, this page reads formats 1 to 3"),
            ("{\"format\":1,\"now\":0,\"edits\":[{}],\"start\":{}}", "line 1, column"),
        ] {
            let error = from_text(text, "").err().unwrap();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
