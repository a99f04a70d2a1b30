//! Links, stored work and messages, changed at random: all that comes from outside.
//!
//! `cargo test -p taintlab-web fuzzed` runs each for a moment; `TAINTLAB_FUZZ_SECONDS=60` for a minute.

use std::panic::resume_unwind;
use std::time::Duration;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use taintlab_core::slices::at_once;
use taintlab_core::time::Timestamp;
use taintlab_fuzz::mutate::{Bytes, text};
use taintlab_fuzz::{Limit, Target, search, show};

use crate::link::{self, MOST_INFLATED};
use crate::protocol::Request;
use crate::saved::{SavedWork, from_text, start_text};
use crate::session::{Edit, Session};
use crate::wire::{from_bytes, to_bytes};
use crate::{files, samples};

/// Runs a target for as long as its bound or the environment says.
fn check(target: Target) {
    let seconds = std::env::var("TAINTLAB_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let limit = seconds.map_or(Limit::Executions(target.bounded), |seconds| {
        Limit::Time(Duration::from_secs(seconds))
    });
    match search(&target, 0, limit) {
        Ok(found) => println!("{}: {found}", target.name),
        Err(failure) => resume_unwind(failure),
    }
}

/// Links as they were made, and their parts.
const LINKS: &[&str] = &[
    include_str!("link/fixtures/1-example.txt"),
    include_str!("link/fixtures/1.txt"),
    include_str!("link/fixtures/2.txt"),
    include_str!("link/fixtures/d.txt"),
    "#s=three-effects&release=1.30&--node-monitor-period=5s&t=12s&x=n:worker-1&h=00000000",
    "#s=three-effects&feature-gates=TaintTolerationComparisonOperators=true&control-plane=true",
];

/// Words of packed states, put in place of others.
const WORDS: &[&str] = &[
    "release",
    "t",
    "e",
    "h",
    "x",
    "s=",
    "d=",
    "1.",
    "2.",
    "3.",
    "at",
    "commands",
    "taint",
    "node",
    "pods",
    "nodes",
    "objects",
    "kubernetes",
    "steps",
    "until",
    "format",
    "edits",
    "branches",
    "branch",
    "start",
    "now",
    "selection",
    "parent",
    "clock",
    "reached",
    "forkedAt",
    "id",
];

/// The text that a link packs; empty if it packs none.
fn unpacked(fragment: &str) -> Option<(link::Parsed, String)> {
    let parsed = link::parse(fragment.trim()).ok()??;
    let packed = link::text::bytes(&parsed.packed).ok()?;
    if packed.is_empty() {
        return Some((parsed, String::new()));
    }
    let inflated = decompress_to_vec_with_limit(&packed, MOST_INFLATED).ok()?;
    Some((parsed, String::from_utf8(inflated).ok()?))
}

/// A link is opened or refused with a reason, whether its address was changed or what it packs.
fn open_link(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let fragment = if bytes.one_in(3) {
        text(&mut bytes, LINKS, WORDS, 20_000)
    } else {
        let (head, packed): (&str, &str) =
            *bytes.pick(&[("#1.", LINKS[1]), ("#2.", LINKS[2]), ("#d=", LINKS[3])]);
        let (_, packed) = unpacked(packed).unwrap();
        // In lines, so that parts of it can be left out and repeated.
        let seed = packed.replace("},{", "},\n{");
        let changed = text(&mut bytes, &[seed], WORDS, 20_000);
        show("packed", &changed);
        let deflated = compress_to_vec(changed.as_bytes(), 1);
        format!("{head}{}", link::text::base64(&deflated))
    };
    show("link", &fragment);
    if let Err(error) = link::parse(&fragment) {
        assert!(!error.is_empty());
        return;
    }
    let Some((parsed, inflated)) = unpacked(&fragment) else { return };
    match at_once(parsed.open(&inflated)) {
        Ok(opened) => {
            assert!(opened.session.timeline().log.is_sorted_by_key(|edit| edit.at));
            let _ = link::write(&opened.session, opened.selection.as_ref());
        }
        Err(error) => assert!(!error.is_empty()),
    }
}

#[test]
fn links() {
    check(Target { name: "links", run: open_link, most_bytes: 128, bounded: 150 });
}

/// The session of an example, at a moment.
fn example(name: &str, at: Timestamp) -> Session {
    let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
    let mut session = Session::new(files::scenario(name, text).unwrap()).unwrap();
    session.seek(at);
    session
}

/// The text of stored work.
fn stored(session: &Session) -> String {
    let start = start_text(&session.timeline().start);
    SavedWork::of(session).text(session.now(), None, Some(&start))
}

/// Stored work comes back or is refused with a reason; what comes back is stored as the same text.
fn restore(data: &[u8]) {
    thread_local! {
        static SEED: String = {
            let mut session = example("three-effects", Timestamp::from_secs(5));
            let node = session.simulator().cluster().nodes().next().unwrap().0.clone();
            let edit = taintlab_core::command::Command::DeleteNode { node };
            session.apply(vec![edit]).unwrap();
            let text = stored(&session);
            from_text(&text, "").unwrap();
            text.replace("},{", "},\n{").replace(",\"", ",\n\"")
        };
    }
    let mut bytes = Bytes::new(data);
    let changed = SEED.with(|seed| text(&mut bytes, &[seed], WORDS, 20_000));
    show("stored work", &changed);
    let restored = match from_text(&changed, "") {
        Ok(restored) => restored,
        Err(error) => return assert!(!error.is_empty()),
    };
    match at_once(restored.begin(&|_, _| {})) {
        Err(error) => assert!(!error.is_empty()),
        Ok((session, _, _)) => {
            let once = stored(&session);
            let (again, _, _) = at_once(from_text(&once, "").unwrap().begin(&|_, _| {})).unwrap();
            assert_eq!(stored(&again), once);
        }
    }
}

#[test]
fn stored_work() {
    check(Target { name: "stored-work", run: restore, most_bytes: 96, bounded: 150 });
}

/// A message that can be read is written as bytes from which the same is read.
fn read_message(data: &[u8]) {
    thread_local! {
        static SEEDS: Vec<Vec<u8>> = [
            Request::Undo,
            Request::Playing(true),
            Request::Seek(Timestamp::from_secs(3)),
            Request::Read("text".into(), "name".into(), true),
            Request::Load("{}".into()),
            Request::Preview("three-effects".into()),
            Request::Kubectl("kubectl get nodes".into()),
            Request::Edit(vec![taintlab_core::command::Command::RestartTaintEvictionController]),
        ].iter().map(to_bytes).collect();
    }
    let mut bytes = Bytes::new(data);
    let mut message = SEEDS.with(|seeds| bytes.pick(seeds).clone());
    while !bytes.is_empty() {
        let at = bytes.below(message.len() + 1);
        let byte = bytes.below(256) as u8;
        match bytes.below(4) {
            0 => message.insert(at, byte),
            1 if at < message.len() => drop(message.remove(at)),
            2 => message.truncate(at),
            _ => {
                if let Some(known) = message.get_mut(at) {
                    *known = byte;
                }
            }
        }
    }
    show("message", &message);
    if let Some(read) = from_bytes::<Request>(&message) {
        let written = to_bytes(&read);
        let again = from_bytes::<Request>(&written).unwrap();
        assert_eq!(to_bytes(&again), written, "{read:?}");
    }
}

#[test]
fn messages() {
    check(Target { name: "messages", run: read_message, most_bytes: 64, bounded: 50_000 });
}

/// Undo leads back to the same work, and redo to what was done.
fn undo(data: &[u8]) {
    use taintlab_core::api::{NodeName, Taint, TaintEffect};
    use taintlab_core::command::Command;

    let mut bytes = Bytes::new(data);
    let mut session = example("three-effects", Timestamp::ZERO);
    let nodes: Vec<NodeName> =
        session.simulator().cluster().nodes().map(|(name, _)| name.clone()).collect();
    while !bytes.is_empty() {
        let at = session.now().saturating_add(Duration::from_secs(bytes.below(20) as u64));
        session.seek(at);
        let node = bytes.pick(&nodes).clone();
        let command = match bytes.below(6) {
            0 => Command::DeleteNode { node },
            1 => Command::SetUnschedulable { node, unschedulable: bytes.one_in(2) },
            2 => Command::Untaint { node, key: "k".into(), effect: TaintEffect::Empty },
            3 => Command::RestartTaintEvictionController,
            _ => Command::Taint { node, taint: Taint::new("k", "", TaintEffect::NoExecute) },
        };
        show("edit", &(at, &command));
        let before = picture(&session);
        if session.apply(vec![command]).is_err() {
            assert_eq!(picture(&session), before, "a refused edit");
            continue;
        }
        let done = picture(&session);
        let way = session.begin_undo().unwrap();
        session.arrive(way);
        assert_eq!(picture(&session), before, "undone");
        let way = session.begin_redo().unwrap();
        session.arrive(way);
        assert_eq!(picture(&session), done, "done again");
    }
}

/// The edits, the rows and the cluster of a session.
fn picture(session: &Session) -> String {
    let edits: Vec<Edit> = link::edits_of(session);
    let objects: Vec<_> = session.simulator().cluster().pods().collect();
    format!("{edits:?}\n{:?}\n{objects:?}", session.rows())
}

#[test]
fn undone_edits() {
    check(Target { name: "undo", run: undo, most_bytes: 32, bounded: 20 });
}
