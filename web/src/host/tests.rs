use std::cell::Cell;
use std::rc::Rc;

use taintlab_core::api::{Taint, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Timestamp;

use super::{Budgets, Host};
use crate::protocol::{Effect, Origin, Reply, Request, Resumed, StartText, Update};
use crate::session::{MarkKind, StartChange};
use crate::view_models::board::Board;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::board::patch::BoardPatch;
use crate::view_models::lanes::{LanesMsg, Room, Wanted};
use crate::view_models::runs::{BranchMsg, CompareWith, Side, Until};
use crate::view_models::selection::Selection;
use crate::wire::{from_bytes, to_bytes};
use crate::{files, samples};

/// The page at the other end: all goes there and back as bytes.
struct Page {
    host: Host,
    asked: u32,
    board: Rc<Board>,
    bytes: usize,
}

thread_local! {
    static TIME: Cell<f64> = const { Cell::new(0.0) };
}

/// A clock on which each look takes a millisecond.
fn clock() -> f64 {
    TIME.set(TIME.get() + 1.0);
    TIME.get()
}

impl Page {
    fn new(slice: f64) -> Self {
        let host = Host::new(clock, Budgets { play: 5.0, slice });
        Self { host, asked: 0, board: Rc::default(), bytes: 0 }
    }

    fn carried(&mut self, update: &Update) -> Update {
        let bytes = to_bytes(update);
        self.bytes += bytes.len();
        let mut again: Update = from_bytes(&bytes).expect("bytes can be read");
        assert!(to_bytes(&again) == bytes, "what comes is what was sent");
        if let Some((_, patch)) = again.changes.board.take() {
            self.board = Rc::new(patch.applied_to(&self.board));
        }
        again
    }

    /// Asks, and lets the host work until it is done.
    fn ask(&mut self, request: Request) -> (Reply, Vec<Effect>) {
        let (reply, effects) = self.ask_until(request, usize::MAX);
        (reply.expect("it is done"), effects)
    }

    fn ask_until(&mut self, request: Request, slices: usize) -> (Option<Reply>, Vec<Effect>) {
        self.asked += 1;
        let id = self.asked;
        let (id, request): (u32, Request) =
            from_bytes(&to_bytes(&(id, request))).expect("bytes can be read");
        let mut told = Vec::new();
        self.host.handle(id, request, &mut |update| told.push(update));
        let (mut reply, mut effects) = (None, Vec::new());
        for _ in 0..slices {
            for update in std::mem::take(&mut told) {
                let update = self.carried(&update);
                effects.extend(update.effects);
                if let Some((_, told)) = update.done.filter(|(done, _)| *done == id) {
                    reply = Some(told);
                }
            }
            if reply.is_some() {
                break;
            }
            self.host.work(&mut |update| told.push(update));
        }
        (reply, effects)
    }
}

fn example(name: &str) -> Request {
    let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
    Request::Load(Box::new(files::scenario(name, text).unwrap()))
}

fn page(slice: f64) -> Page {
    let mut page = Page::new(slice);
    let (staged, _) = page.ask(Request::Stage(Origin::Sample));
    assert!(matches!(staged, Reply::Staged(Ok(_))));
    page.ask(Request::Take);
    page
}

#[test]
fn every_example_goes_there_and_back_as_bytes() {
    let mut page = page(1e9);
    page.ask(Request::Lanes(LanesMsg::Room(Room::Part), false));
    page.ask(Request::Lanes(LanesMsg::Look(0, 30, 800), false));
    page.ask(Request::Warnings(Some(None)));
    for (name, _) in samples::all() {
        page.ask(example(name));
        let nodes: Vec<_> = page.board.zones.iter().flat_map(|zone| &zone.nodes).cloned().collect();
        let node = nodes.first().map(|node| Selection::Node(node.name.clone()));
        let pods = nodes.iter().flat_map(|node| &node.pods).take(2);
        let pods: Vec<_> = pods.map(|pod| Selection::Pod(pod.key.clone())).collect();
        let zone = page.board.zones.first().map(|zone| Selection::Zone(zone.key.clone()));
        for selection in node.into_iter().chain(zone).chain(pods) {
            page.ask(Request::Select(Some(selection)));
            page.ask(Request::Seek(Timestamp::from_secs(50)));
            page.ask(Request::RunToEnd);
            page.ask(Request::Seek(Timestamp::ZERO));
        }
        page.host.work(&mut |_| {});
        let board = page.host.views.board.board();
        let whole = BoardPatch::new(None, board, Detail::of(board, Density::Auto));
        assert_eq!(*page.board, whole.applied_to(&Board::default()), "{name}");
    }
}

#[test]
fn what_takes_long_is_parted_and_comes_to_the_same() {
    let mut at_once = page(1e9);
    let mut parted = page(0.0);
    let ten = Side { toleration_seconds: Some(10), ..Side::default() };
    let compare = || Request::Compare(CompareWith { sides: [Side::default(), ten.clone()] });
    let until = || Request::Until(Until::Run("node/worker-1 unknown".to_owned()));
    for request in [Request::RunToEnd, Request::Seek(Timestamp::from_secs(700)), until(), compare()]
    {
        for page in [&mut at_once, &mut parted] {
            page.ask(example("service-in-an-outage"));
            let (reply, effects) = page.ask(request.clone());
            let told = effects.iter().filter(|it| matches!(it, Effect::Progress(_))).count();
            assert!(matches!(reply, Reply::Done | Reply::Edited(_)));
            assert_eq!(told > 0, page.host.budgets.slice < 1.0, "{request:?}: {told}");
        }
        assert_eq!(at_once.host.session.now(), parted.host.session.now(), "{request:?}");
        assert_eq!(at_once.host.session.rows(), parted.host.session.rows(), "{request:?}");
    }
}

#[test]
fn what_is_played_again_is_parted_and_comes_to_the_same() {
    let mut at_once = page(1e9);
    let mut parted = page(0.0);
    let (early, late) = (Timestamp::from_secs(30), Timestamp::from_secs(700));
    let release = KubernetesRelease::parse("1.27").unwrap();
    for page in [&mut at_once, &mut parted] {
        page.ask(example("service-in-an-outage"));
        page.ask(Request::Seek(late));
        page.ask(Request::Seek(early));
        let node = page.board.zones[0].nodes[0].name.clone();
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        page.ask(Request::Edit(vec![Command::Taint { node: node.clone(), taint }]));
        page.ask(Request::Seek(late));
        page.ask(Request::Select(Some(Selection::Node(node))));
    }
    let requests = [
        Request::Undo,
        Request::Redo,
        Request::Branch(BranchMsg::Switch(0)),
        Request::Seek(late),
        Request::Branch(BranchMsg::Switch(1)),
        Request::ChangeStart(StartChange::Release(release)),
        Request::Until(Until::Back("node/worker-1 unknown".to_owned())),
        Request::Seek(late),
        Request::StepAbout(false),
        Request::StepBack,
    ];
    let mut told = 0;
    for request in requests {
        let (one, said) = at_once.ask(request.clone());
        let (other, effects) = parted.ask(request.clone());
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "{request:?}");
        let (progress, effects): (Vec<_>, Vec<_>) =
            effects.into_iter().partition(|it| matches!(it, Effect::Progress(_)));
        assert_eq!(said, effects, "{request:?}");
        told += usize::from(!progress.is_empty());
        let (one, other) = (&at_once.host.session, &parted.host.session);
        assert_eq!(one.now(), other.now(), "{request:?}");
        assert_eq!(one.reached(), other.reached(), "{request:?}");
        assert_eq!(one.rows(), other.rows(), "{request:?}");
        assert_eq!(at_once.board, parted.board, "{request:?}");
    }
    assert!(told >= 6, "{told} of them were parted");
}

#[test]
fn what_takes_long_can_be_stopped_and_others_wait_for_it() {
    let mut page = page(0.0);
    page.ask(example("service-in-an-outage"));
    let (reply, _) = page.ask_until(Request::RunToEnd, 3);
    assert!(reply.is_none());
    let at = page.host.session.now();
    let taint = Taint::new("k", "", TaintEffect::NoSchedule);
    let node = page.board.zones[0].nodes[0].name.clone();
    let edit = Request::Edit(vec![Command::Taint { node, taint }]);
    let (reply, _) = page.ask_until(edit, 1);
    assert!(reply.is_none(), "an edit waits");
    let (reply, _) = page.ask_until(Request::Offers("node/".into()), 1);
    assert!(reply.is_some(), "what only looks does not");
    let (reply, _) = page.ask_until(Request::Cancel, 1);
    assert!(reply.is_some());
    assert!(page.host.job.is_none());
    assert!(page.host.session.now() >= at);
    assert_eq!(page.host.session.timeline().log.len(), 1, "the edit was made then");
}

#[test]
fn only_what_has_changed_is_told() {
    let mut page = page(1e9);
    page.ask(Request::Select(None));
    let before = page.bytes;
    page.ask(Request::Warnings(None));
    assert!(page.bytes - before < 40, "{} bytes of nothing", page.bytes - before);
}

#[test]
fn what_is_kept_is_what_there_was() {
    let mut page = page(1e9);
    page.ask(example("service-in-an-outage"));
    let node = page.board.zones[0].nodes[0].name.clone();
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    page.ask(Request::Seek(Timestamp::from_secs(3)));
    page.ask(Request::Edit(vec![Command::Taint { node, taint }]));
    page.ask(Request::Seek(Timestamp::from_secs(20)));
    let session = &page.host.session;
    let work = crate::saved::SavedWork::of(session);
    let start = crate::saved::start_text(&session.timeline().start);
    let edits = work.text(session.home(), None, None);
    let rows = session.rows().to_vec();
    let mut again = Page::new(1e9);
    let origin = Origin::Saved(edits.into(), StartText::Text(start.into()));
    assert!(matches!(again.ask(Request::Stage(origin)).0, Reply::Staged(Ok(_))));
    again.ask(Request::Take);
    assert_eq!(again.host.session.rows(), rows);

    let stop = format!("node/{} tainted", page.board.zones[0].nodes[0].name);
    page.ask(Request::Kubectl("kubectl get nodes".to_owned()));
    page.ask(Request::Until(Until::Stop(stop.clone())));
    page.ask(Request::Kubectl("kubectl get pods".to_owned()));
    let console = page.host.console.clone();
    let lanes = Wanted { filter: "web".to_owned(), changed: true, ..Wanted::default() };
    let known = Resumed {
        console: console.clone(),
        forgotten: 1,
        breakpoints: vec![stop.clone(), "of another version".to_owned()],
        hidden: vec![MarkKind::Zone],
        lanes: lanes.clone(),
    };
    again.ask(Request::Resume(Box::new(known)));
    assert_eq!(again.host.console, console);
    assert_eq!(again.host.breakpoints.len(), 1);
    assert_eq!(again.host.breakpoints[0].condition.to_string(), stop);
    assert_eq!(again.host.views.hidden, [MarkKind::Zone]);
    assert_eq!(again.host.lanes.view().wanted, lanes);
    again.ask(Request::Kubectl("kubectl get nodes".to_owned()));
    assert_eq!(again.host.console.last().unwrap().number, console.last().unwrap().number + 1);
}
