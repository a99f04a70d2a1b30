use std::cell::Cell;
use std::rc::Rc;

use taintlab_core::api::{PodKey, Taint, TaintEffect, WorkloadKind};
use taintlab_core::command::Command;
use taintlab_core::lanes::LaneSubject;
use taintlab_core::pod_state::PodVerdict;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Bookmark;
use taintlab_core::slices::at_once;
use taintlab_core::time::{Span, Timestamp};
use taintlab_core::warnings::warnings_of;

use super::{Budgets, Host};
use crate::protocol::{Effect, OpenedRun, Origin, Reply, Request, Resumed, StartText, Update};
use crate::session::{MarkKind, StartChange};
use crate::view_models::about::About;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::board::patch::BoardPatch;
use crate::view_models::board::{Board, BoardModel};
use crate::view_models::lanes::{Chosen, ForecastState, Frame, LanesMsg, Wanted};
use crate::view_models::runs::{BranchMsg, CompareWith, Side, Until};
use crate::view_models::selection::{PodGroup, Selection};
use crate::view_models::warning_marks::WarningMarks;
use crate::wire::{from_bytes, to_bytes};
use crate::{files, samples};

/// The page at the other end: everything goes there and back as bytes.
struct Page {
    host: Host,
    asked: u32,
    board: Rc<Board>,
    bytes: usize,
}

thread_local! {
    static TIME: Cell<f64> = const { Cell::new(0.0) };
}

/// The run as it is, beside one with other `tolerationSeconds`.
fn with_seconds(seconds: i64) -> CompareWith {
    let other = Side { toleration_seconds: Some(seconds), ..Side::default() };
    CompareWith { sides: [Side::default(), other] }
}

/// A clock that advances a millisecond with each look.
fn clock() -> f64 {
    TIME.set(TIME.get() + 1.0);
    TIME.get()
}

impl Page {
    fn new(slice: f64) -> Self {
        let host = Host::new(clock, Budgets { play: 5.0, most_play: 5.0, slice });
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

    /// Sends a request, and lets the host work until it is done.
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

impl Page {
    /// Asserts that the board, rebuilt only in parts, equals one that is rebuilt as a whole.
    fn assert_board_is_whole(&mut self, when: &str) {
        let mut whole = BoardModel::default();
        self.host.session.touch_all();
        whole.update(&mut self.host.session);
        assert_eq!(self.host.views.board.board(), whole.board(), "{when}");
    }
}

/// The clock moves in all ways, with edits in between.
#[test]
fn after_going_back_the_board_equals_a_full_rebuild() {
    let mut page = page(1e9);
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    for (name, _) in samples::all() {
        page.ask(example(name));
        let go = |page: &mut Page, request: Request| {
            let when = format!("{name}: {request:?}");
            page.ask(request);
            page.assert_board_is_whole(&when);
        };
        for at in [400, 50, 345, 0, 900, 41] {
            go(&mut page, Request::Seek(Timestamp::from_secs(at)));
        }
        let peek = |at| LanesMsg::PeekAt(Timestamp::from_secs(at));
        go(&mut page, Request::Lanes(peek(700), false));
        go(&mut page, Request::Lanes(peek(3), false));
        go(&mut page, Request::EndPeek);
        let node = page.board.zones.iter().flat_map(|zone| &zone.nodes).next();
        let Some(node) = node.map(|node| node.name.clone()) else { continue };
        go(
            &mut page,
            Request::Edit(vec![Command::Taint { node: node.clone(), taint: taint.clone() }]),
        );
        go(&mut page, Request::Edit(vec![Command::StopKubelet { node }]));
        go(&mut page, Request::Seek(Timestamp::from_secs(500)));
        for request in
            [Request::Undo, Request::Undo, Request::Redo, Request::Redo, Request::StepBack]
        {
            go(&mut page, request);
        }
    }
}

fn example(name: &str) -> Request {
    let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
    load(&serde_json::to_value(files::scenario(name, text).unwrap()).unwrap())
}

fn load(scenario: &serde_json::Value) -> Request {
    Request::Load(scenario.to_string().into())
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
    page.ask(Request::Lanes(LanesMsg::Show(true, true), false));
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
fn a_long_job_in_slices_gives_the_same_result() {
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
fn a_replay_in_slices_gives_the_same_result() {
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
        at_once.assert_board_is_whole(&format!("{request:?}"));
    }
    assert!(told >= 6, "{told} of them were parted");
}

#[test]
fn a_long_job_can_be_stopped_and_other_requests_wait_for_it() {
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
    let look = Request::Lanes(LanesMsg::Look(0, 30, 600), false);
    let (reply, _) = page.ask_until(look, 1);
    assert!(reply.is_some(), "lanes are scrolled meanwhile");
    let (reply, _) = page.ask_until(Request::Cancel, 1);
    assert!(reply.is_some());
    assert!(page.host.job.is_none());
    assert!(page.host.session.now() >= at);
    assert_eq!(page.host.session.timeline().log.len(), 1, "the edit was made then");
}

#[test]
fn only_changes_are_told() {
    let mut page = page(1e9);
    page.ask(Request::Select(None));
    let before = page.bytes;
    page.ask(Request::Warnings(None));
    assert!(page.bytes - before < 40, "{} bytes of nothing", page.bytes - before);
}

#[test]
fn the_work_comes_back_as_it_was_stored() {
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
    assert_eq!(again.host.lanes.view(ForecastState::Done).wanted, lanes);
    again.ask(Request::Kubectl("kubectl get nodes".to_owned()));
    assert_eq!(again.host.console.last().unwrap().number, console.last().unwrap().number + 1);
}

#[test]
fn bookmarks_change_no_view() {
    let mut page = page(1e9);
    lanes_of(&mut page, "why-345-seconds");
    page.ask(Request::RunToEnd);
    page.ask(Request::Lanes(LanesMsg::Choose(web_0(), Some(Timestamp::from_secs(60))), false));
    page.ask(Request::Compare(with_seconds(10)));
    let seen = |page: &Page| {
        let host = &page.host;
        let chosen = host.lanes.view(ForecastState::Done).chosen;
        (host.session.known_rows().len(), host.session.reached(), chosen, host.compared.clone())
    };
    let before = seen(&page);
    assert!(before.2.is_some() && before.3.is_some());
    let bookmarks = |page: &Page| page.host.session.timeline().start.bookmarks.clone();
    let own = bookmarks(&page);
    page.ask(Request::SetBookmarks(Vec::new()));
    assert_eq!((bookmarks(&page), seen(&page)), (Vec::new(), before.clone()));
    page.ask(Request::Undo);
    assert_eq!((bookmarks(&page), seen(&page)), (own, before));
    page.ask(Request::Edit(vec![Command::RestartTaintEvictionController]));
    assert!(page.host.compared.is_none(), "an edit changes what was compared");
}

/// The lanes of an example in sight, with its forecast.
fn lanes_of(page: &mut Page, name: &str) {
    page.ask(example(name));
    page.ask(Request::Lanes(LanesMsg::Show(true, true), false));
    page.ask(Request::Lanes(LanesMsg::Look(0, 30, 800), false));
}

fn forecast(page: &mut Page) {
    while page.host.wants_forecast() {
        page.host.work(&mut |_| {});
    }
}

fn web_0() -> LaneSubject {
    LaneSubject::Pod { pod: PodKey::new("", "web-0") }
}

fn area(page: &Page) -> (Vec<String>, bool) {
    let area = page.host.lanes.view(ForecastState::Done).area.unwrap();
    (area.states.iter().map(ToString::to_string).collect(), area.only_record)
}

#[test]
fn an_area_counts_the_record_and_the_forecast() {
    let mut page = page(1e9);
    lanes_of(&mut page, "why-345-seconds");
    // No forecast yet.
    page.ask(example("why-345-seconds"));
    let rows = page.host.lanes.view(ForecastState::Done).window.rows;
    let row = rows.iter().find(|row| row.subject == web_0()).unwrap().place;
    let time = (Timestamp::ZERO, Timestamp::from_secs(400));
    let choose = LanesMsg::Area(Some(Frame { rows: (row, row), time }));
    page.host.on_lanes(choose, false);
    assert_eq!(area(&page), (vec![], true), "nothing has happened, and it says so");
    forecast(&mut page);
    let (states, only_record) = area(&page);
    let wanted = [
        "1 pod ready, 40.0334s",
        "1 pod not ready, 5.0666s",
        "1 pod counting down, 5m0s",
        "1 pod stuck Terminating, 54.9s",
    ];
    assert_eq!((states.as_slice(), only_record), (wanted.map(String::from).as_slice(), false));
    let held = page.host.lanes.view(ForecastState::Done).area.unwrap();
    assert_eq!(held.expected, 1, "{}", held.expect);
    // The counts stay once it has happened, and wherever its row is.
    page.ask(Request::RunToEnd);
    assert_eq!(area(&page).0, wanted);
    page.ask(Request::Lanes(LanesMsg::Pin(LaneSubject::Node { node: "worker-2".into() }), false));
    let rows = page.host.lanes.view(ForecastState::Done).window.rows;
    let within = rows.iter().filter(|row| row.in_area).map(|row| row.subject.clone());
    assert_eq!(within.collect::<Vec<_>>(), [web_0()]);
}

#[test]
fn a_forecast_leads_back_to_what_has_happened() {
    let mut page = page(1e9);
    lanes_of(&mut page, "why-345-seconds");
    page.ask(Request::Seek(Timestamp::from_secs(50)));
    forecast(&mut page);
    let last = Timestamp::from_secs(350);
    let chosen = Chosen::at(&page.host.session, &web_0(), last).unwrap();
    assert!(chosen.forecast && chosen.text.starts_with("stuck"), "{chosen:?}");
    let first = chosen.causes.last().unwrap();
    assert_eq!(first.text, "heartbeats of node worker-1 stopped: the kubelet is stopped");
    page.ask(Request::RunToEnd);
    let happened = Chosen::at(&page.host.session, &web_0(), last).unwrap();
    assert_eq!(happened.causes, chosen.causes);
}

#[test]
fn views_of_other_work_are_not_shown() {
    let mut page = page(1e9);
    let choose = |page: &mut Page| {
        lanes_of(page, "why-345-seconds");
        let at = Timestamp::from_secs(100);
        page.ask(Request::Lanes(LanesMsg::Choose(web_0(), Some(at)), false));
        let time = (Timestamp::ZERO, at);
        page.ask(Request::Lanes(LanesMsg::Area(Some(Frame { rows: (0, 3), time })), false));
        page.ask(Request::Compare(with_seconds(10)));
        assert!(page.host.compared.is_some());
        let view = page.host.lanes.view(ForecastState::Done);
        assert!(view.chosen.is_some() && view.area.is_some());
    };
    let release = KubernetesRelease::parse("1.27").unwrap();
    page.ask(Request::LeaveVisit(1));
    for request in [
        example("service-in-an-outage"),
        Request::LateEviction,
        Request::ChangeStart(StartChange::Release(release)),
        Request::Branch(BranchMsg::Fork),
        Request::Undo,
        Request::Visit(1, false),
    ] {
        choose(&mut page);
        let told = page.ask(request.clone());
        let view = page.host.lanes.view(ForecastState::Done);
        assert!(view.chosen.is_none() && view.area.is_none(), "{request:?}: {told:?}");
        assert!(page.host.compared.is_none() && page.host.told.compared.is_none(), "{request:?}");
    }
    // An edit leaves the choice, as it is then.
    choose(&mut page);
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    page.ask(Request::Edit(vec![Command::Taint { node: "worker-1".into(), taint }]));
    let view = page.host.lanes.view(ForecastState::Done);
    assert!(view.chosen.is_some() && view.area.is_some() && page.host.compared.is_none());
}

#[test]
fn pins_are_of_objects_in_the_cluster() {
    let mut page = page(1e9);
    lanes_of(&mut page, "why-345-seconds");
    page.ask(Request::Lanes(LanesMsg::Pin(web_0()), false));
    let pinned = |page: &Page| page.host.lanes.view(ForecastState::Done).window.pinned;
    assert_eq!(pinned(&page), 1);
    lanes_of(&mut page, "one-zone-of-three");
    assert_eq!(pinned(&page), 0);
}

#[test]
fn rows_are_stepped_to_by_zone_group_and_deployment() {
    let mut page = page(1e9);
    let step = |page: &mut Page, selection: Selection| {
        page.ask(Request::Select(Some(selection)));
        let before = page.host.session.now();
        let (_, effects) = page.ask(Request::StepAbout(true));
        let said = effects.into_iter().filter_map(|it| match it {
            Effect::Announce(words) => Some(words),
            _ => None,
        });
        (page.host.session.now().as_nanos() - before.as_nanos(), said.collect::<Vec<_>>())
    };
    page.ask(example("one-zone-of-three"));
    let zone = page.board.zones[0].key.clone();
    let (passed, said) = step(&mut page, Selection::Zone(zone.clone()));
    assert!(passed > 0, "{said:?}");
    let about =
        About::of(&page.host.session, &page.host.views.board, Some(&Selection::Zone(zone.clone())));
    assert!(page.host.session.rows().iter().any(|row| about.holds(row)));
    let group = Selection::Pods(PodGroup::Verdict(PodVerdict::Stuck));
    let (passed, said) = step(&mut page, group.clone());
    assert_eq!((passed, said.len()), (0, 1), "there are none: {said:?}");
    assert!(said[0].contains("no such pods"), "{said:?}");

    page.ask(example("service-in-an-outage"));
    let group = Selection::Pods(PodGroup::Verdict(PodVerdict::Stays));
    assert!(step(&mut page, group).0 > 0);
    let workloads: Vec<_> =
        page.host.session.simulator().cluster().workloads().map(|(key, _)| key.clone()).collect();
    let deployment = workloads.iter().find(|key| key.kind == WorkloadKind::Deployment).unwrap();
    let set = page.host.session.simulator().cluster().workloads_owned_by(deployment).next();
    let set = Selection::Workload(set.unwrap().clone());
    page.ask(Request::RunToEnd);
    let (session, board) = (&page.host.session, &page.host.views.board);
    let rows_of = |selection: &Selection| {
        let about = About::of(session, board, Some(selection));
        session.rows().iter().filter(|row| about.holds(row)).cloned().collect::<Vec<_>>()
    };
    let of_deployment = rows_of(&Selection::Workload(deployment.clone()));
    assert!(!rows_of(&set).is_empty());
    assert!(rows_of(&set).iter().all(|row| of_deployment.contains(row)));

    let taint_only = page.board.zones[0].key.clone();
    page.ask(load(&serde_json::json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "nodeLifecycle": false },
        "objects": { "nodeGroups": [{ "name": "a", "count": 1 }] }
    })));
    let (passed, said) = step(&mut page, Selection::Zone(taint_only));
    assert_eq!(passed, 0);
    assert!(said[0].contains("does not run"), "{said:?}");
}

/// The progress that it reported, more than once.
fn parts(effects: &[Effect]) -> Vec<f64> {
    let parts = effects.iter().filter_map(|it| match it {
        Effect::Progress(progress) => progress.part,
        _ => None,
    });
    parts.collect()
}

#[test]
fn a_session_is_opened_in_slices_and_a_stopped_one_is_not() {
    let mut page = page(0.0);
    page.ask(example("service-in-an-outage"));
    let (begun, far) = (page.host.session.rows().to_vec(), Timestamp::from_secs(700));
    page.ask(Request::Seek(far));
    let session = &page.host.session;
    let (rows, work) = (session.rows().to_vec(), crate::saved::SavedWork::of(session));
    let start = crate::saved::start_text(&session.timeline().start);
    let edits = work.text(far, None, None);
    for origin in [
        Origin::Saved(edits.into(), StartText::Text(start.into())),
        Origin::Link("#s=service-in-an-outage&t=11m40s".into(), "".into()),
    ] {
        page.ask(Request::Seek(Timestamp::ZERO));
        let (reply, effects) = page.ask_until(Request::Stage(origin.clone()), 4);
        assert!(reply.is_none() && parts(&effects).len() > 1, "{origin:?}");
        // Another session is on its way; requests that look at the present one are answered.
        assert!(page.ask_until(Request::Offers("pod".to_owned()), 1).0.is_some());
        page.ask(Request::Cancel);
        page.ask(Request::Take);
        assert_eq!(page.host.session.rows(), begun, "{origin:?}");

        let (reply, _) = page.ask(Request::Stage(origin.clone()));
        let Reply::Staged(Ok(staged)) = reply else { panic!("{origin:?}: {reply:?}") };
        assert!(staged.now == far && !staged.differs, "{origin:?}");
        page.ask(Request::Take);
        assert_eq!(page.host.session.rows(), rows, "{origin:?}");
    }
    // The very first session is taken, wherever it was stopped.
    let mut first = Page::new(0.0);
    let origin = Origin::Link("#s=service-in-an-outage&t=11m40s".into(), "".into());
    first.ask_until(Request::Stage(origin), 4);
    first.ask(Request::Cancel);
    first.ask(Request::Take);
    let now = first.host.session.now();
    assert!(now > Timestamp::ZERO && now < far, "{now:?}");
}

#[test]
fn a_peek_and_its_end_go_in_slices() {
    let mut page = page(0.0);
    page.ask(example("service-in-an-outage"));
    page.ask(Request::Lanes(LanesMsg::Show(true, true), false));
    let (home, early) = (Timestamp::from_secs(300), Timestamp::from_secs(5));
    page.ask(Request::Seek(home));
    let known = page.host.session.known_rows().clone();
    for at in [early, Timestamp::from_secs(700)] {
        // A moment that was only peeked at does not count as played.
        let far = LanesMsg::PeekAt(Timestamp::from_secs(800));
        page.ask(Request::Lanes(far, false));
        let (_, effects) = page.ask(Request::Lanes(LanesMsg::PeekAt(at), false));
        assert!(at < home || parts(&effects).len() > 1, "{at:?}");
        let session = &page.host.session;
        assert_eq!((session.now(), session.home(), session.reached()), (at, home, home.max(at)));
        if at == early {
            // A peek that is stopped on the way back is still a peek.
            assert!(page.ask_until(Request::EndPeek, 4).0.is_none());
            page.ask(Request::Cancel);
            let session = &page.host.session;
            assert!(session.is_peeking() && session.home() == home && session.now() < home);
        }
        page.ask(Request::EndPeek);
        let session = &page.host.session;
        assert!(!session.is_peeking() && session.now() == home && session.reached() == home);
        assert_eq!(session.known_rows(), &known);
    }
}

#[test]
fn a_way_to_a_moment_goes_in_slices_and_can_be_stopped() {
    let mut page = page(0.0);
    let far = Timestamp::from_secs(700);
    let stop = Command::StopKubelet { node: "worker-1".into() };
    let run = |name: &str| {
        let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
        let scenario = files::scenario(name, text).unwrap();
        Request::OpenRun(Box::new(OpenedRun {
            name: name.to_owned(),
            scenario: serde_json::to_string(&scenario).unwrap(),
            bookmarks: Vec::new(),
            at: far,
            select: None,
        }))
    };
    page.ask(example("service-in-an-outage"));
    page.ask(Request::Seek(far));
    page.ask(Request::LeaveVisit(1));
    page.ask(Request::LeaveVisit(2));
    let node = LaneSubject::Node { node: page.board.zones[0].nodes[0].name.clone() };
    let bookmark = Bookmark { at: Span::from(far), note: "late".to_owned(), select: String::new() };
    page.ask(Request::SetBookmarks(vec![bookmark]));
    let requests = [
        Request::Lanes(LanesMsg::Choose(node, Some(far)), false),
        Request::Tell(Some(0)),
        run("service-in-an-outage"),
        Request::Visit(1, false),
        Request::Compare(with_seconds(10)),
    ];
    for request in requests {
        page.ask(Request::Seek(Timestamp::ZERO));
        // Visits leave the work that they come from.
        page.ask(Request::LeaveVisit(1));
        let (_, effects) = page.ask(Request::Seek(far));
        assert!(effects.iter().any(|it| matches!(it, Effect::Progress(_))));
        page.ask(Request::LeaveVisit(1));
        page.ask(Request::Seek(Timestamp::ZERO));
        let (reply, effects) = page.ask_until(request.clone(), 4);
        assert!(reply.is_none(), "{request:?}");
        let told = effects.iter().filter_map(|it| match it {
            Effect::Progress(progress) => Some(progress.part),
            _ => None,
        });
        assert!(told.clone().count() > 1, "{request:?}");
        assert!(told.clone().all(|part| part.is_some()), "{request:?}");
        page.ask(Request::Cancel);
        assert!(page.host.job.is_none(), "{request:?}");
        assert!(page.host.session.now() < far, "{request:?}");
    }
    // A fault in a cluster without kubelets begins it anew.
    page.ask(load(&serde_json::json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "nodeLifecycle": false },
        "objects": { "nodeGroups": [{ "name": "worker", "count": 1, "podsPerNode": 1,
            "pod": { "metadata": { "name": "p" } } }] },
        "steps": [
            { "at": "1s", "do": { "taint": {
                "node": "worker-1", "taint": { "key": "k", "effect": "NoSchedule" },
            } } },
            { "at": "2s", "do": { "untaint": { "node": "worker-1", "key": "k" } } },
            { "at": "3s", "do": { "taint": {
                "node": "worker-1", "taint": { "key": "k", "effect": "NoSchedule" },
            } } },
            { "at": "4s", "do": { "untaint": { "node": "worker-1", "key": "k" } } },
        ],
    })));
    page.ask(Request::Seek(far));
    let (reply, _) = page.ask_until(Request::Edit(vec![stop.clone()]), 2);
    assert!(reply.is_none());
    page.ask(Request::Cancel);
    assert!(page.host.session.timeline().log.is_empty(), "it was stopped");
    page.ask(Request::Undo);
    page.ask(Request::Seek(far));
    let (reply, _) = page.ask(Request::Edit(vec![stop]));
    assert!(matches!(reply, Reply::Edited(Ok(()))), "{reply:?}");
    assert_eq!(page.host.session.timeline().log.len(), 1);
    assert_eq!(page.host.session.now(), far);
}

#[test]
fn the_forecast_can_be_stopped_until_something_is_done() {
    let mut page = page(0.0);
    lanes_of(&mut page, "why-345-seconds");
    page.host.work(&mut |_| {});
    assert!(matches!(page.host.forecast_state(), ForecastState::Runs(_)));
    page.ask(Request::Lanes(LanesMsg::Forecast(false), false));
    assert!(page.host.forecast_state() == ForecastState::Stopped && !page.host.has_work());
    let taint = Taint::new("k", "", TaintEffect::NoSchedule);
    page.ask(Request::Edit(vec![Command::Taint { node: "worker-1".into(), taint }]));
    forecast(&mut page);
    assert_eq!(page.host.forecast_state(), ForecastState::Done);
}

#[test]
fn running_until_a_condition_that_holds_already_says_so() {
    let mut page = page(1e9);
    page.ask(example("why-345-seconds"));
    page.ask(Request::Seek(Timestamp::from_secs(50)));
    let (reply, _) = page.ask(Request::Until(Until::Run("node/worker-1 tainted".to_owned())));
    let Reply::Edited(Err(why)) = reply else { panic!("{reply:?}") };
    assert_eq!(why, "`node/worker-1 tainted` already holds");
    assert_eq!(page.host.session.now(), Timestamp::from_secs(50));
}

/// A misspelt pod has not gone, although it is not there.
#[test]
fn running_until_something_is_gone_that_never_was_says_so() {
    let mut page = page(1e9);
    page.ask(example("why-345-seconds"));
    for (line, what) in [
        ("pod/default/web-typo gone", "pod `default/web-typo`"),
        ("node/worker-typo gone", "node `worker-typo`"),
    ] {
        let (reply, _) = page.ask(Request::Until(Until::Run(line.to_owned())));
        let Reply::Edited(Err(why)) = reply else { panic!("{reply:?}") };
        assert_eq!(why, format!("there has been no {what} until now"));
    }
    page.ask(Request::Edit(vec![Command::DeleteNode { node: "worker-2".into() }]));
    let holds = |page: &mut Page, line: &str| {
        let (reply, _) = page.ask(Request::Until(Until::Run(line.to_owned())));
        let Reply::Edited(Err(why)) = reply else { panic!("{reply:?}") };
        assert_eq!(why, format!("`{line}` already holds"));
    };
    holds(&mut page, "node/worker-2 gone");
    page.ask(example("bare-pod-vanishes"));
    page.ask(Request::RunToEnd);
    let gone = page.host.session.gone().first().unwrap().pod.clone();
    holds(&mut page, &format!("pod/{gone} gone"));
}

/// Some clusters never come to rest: a run to the end says that it ended at its limit.
#[test]
fn a_run_to_the_end_says_when_it_ended_at_its_limit() {
    let mut page = page(1e9);
    let mut paused = |name: &str| {
        page.ask(example(name));
        let (_, effects) = page.ask(Request::RunToEnd);
        let said = effects.into_iter().filter_map(|effect| match effect {
            Effect::Say(notice) => Some(notice.text),
            _ => None,
        });
        said.collect::<Vec<_>>()
    };
    assert_eq!(paused("why-345-seconds"), Vec::<String>::new());
    assert_eq!(
        paused("tainted-in-the-pass-of-a-total-outage"),
        ["Paused at 23h59m56.5s: a run to the end stops after 24 hours. Press E to go on."]
    );
}

#[test]
fn the_last_row_that_has_happened_is_marked() {
    let mut page = page(1e9);
    page.ask(example("why-345-seconds"));
    page.ask(Request::RunToEnd);
    page.ask(Request::Seek(Timestamp::from_secs(42)));
    let view = page.host.told.log.clone().unwrap();
    let current: Vec<_> = view.rows.iter().filter(|row| row.current).collect();
    assert_eq!(current.len(), 1);
    assert!(view.rows.iter().all(|row| row.later == (row.at > current[0].at)));
}

#[test]
fn warnings_of_many_pods_are_looked_for_in_slices() {
    let mut page = page(1e9);
    let scenario = serde_json::json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "objects": { "nodeGroups": [{ "name": "n", "count": 101, "podsPerNode": 20 }] }
    });
    page.ask(load(&scenario));
    let found = |page: &mut Page| {
        let mut slices = 0;
        while page.host.wants_warnings() {
            assert!(page.host.has_work());
            page.host.work(&mut |_| {});
            slices += 1;
        }
        let warnings = warnings_of(page.host.session.simulator());
        assert_eq!(*page.host.warnings, warnings);
        assert_eq!(*page.host.marked, at_once(WarningMarks::of(&warnings)));
        assert!(!warnings.is_empty() && !page.host.has_work());
        (slices, warnings)
    };
    let (slices, before) = found(&mut page);
    assert!(slices > 1, "{slices}");
    // Other requests are answered in between, and an edit begins the search anew.
    let node = page.board.zones[0].nodes[0].name.clone();
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    let edit = Request::Edit(vec![Command::Taint { node: node.clone(), taint }]);
    page.ask(edit);
    page.host.work(&mut |_| {});
    assert!(page.host.warning_search.is_some());
    page.ask(Request::Select(Some(Selection::Node(node))));
    page.ask(Request::Undo);
    assert!(page.host.warning_search.is_none() && page.host.wants_warnings());
    page.ask(Request::Redo);
    let (_, after) = found(&mut page);
    assert_ne!(before, after);
    // The search waits as long as time passes.
    page.ask(Request::Undo);
    page.ask(Request::Playing(true));
    assert!(!page.host.wants_warnings());
    page.ask(Request::Playing(false));
    assert_eq!(found(&mut page).1, before);
}

/// Many pods, as JSON and as YAML.
fn many_pods() -> [String; 2] {
    let pods = (0..400).map(|index| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": format!("p-{index}") },
            "spec": { "nodeName": "a", "containers": [{ "name": "c", "image": "i" }] }
        })
    });
    let list = serde_json::json!({
        "apiVersion": "v1", "kind": "List", "items": pods.collect::<Vec<_>>()
    });
    [list.to_string(), taintlab_manifest::to_yaml(&list).unwrap()]
}

fn progress(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| matches!(effect, Effect::Progress(_))).count()
}

#[test]
fn a_text_is_read_in_slices_and_that_can_be_cancelled() {
    let (mut at_once, mut parted) = (page(1e9), page(0.0));
    for text in many_pods() {
        let read = || Request::Read(text.clone(), "many".to_owned(), false);
        for request in [read(), Request::ReadAgain(true)] {
            let (whole, _) = at_once.ask(request.clone());
            let (read, effects) = parted.ask(request);
            assert!(matches!(&read, Reply::Read(view) if view.found == "0 nodes, 400 pods"));
            assert_eq!(format!("{whole:?}"), format!("{read:?}"));
            assert!(progress(&effects) > 3, "{}", progress(&effects));
        }
        // Other requests are answered in between.
        let before = parted.host.session.timeline().clone();
        assert!(parted.ask_until(read(), 2).0.is_none());
        assert!(matches!(parted.ask_until(Request::Nodes, 1).0, Some(Reply::Nodes(_))));
        let (_, effects) = parted.ask(Request::Cancel);
        assert!(matches!(effects.as_slice(), [Effect::Say(_)]), "{effects:?}");
        assert!(parted.host.job.is_none() && parted.host.reading.is_none());
        parted.ask(Request::Replace(false));
        assert!(parted.host.session.timeline().is_same(&before));
        parted.ask(read());
        parted.ask(Request::Replace(false));
        assert_eq!(parted.host.session.simulator().cluster().pod_count(), 400);
    }
}

#[test]
fn the_text_of_a_link_is_read_in_slices() {
    let (mut at_once, mut parted) = (page(1e9), page(0.0));
    let [text, _] = many_pods();
    at_once.ask(Request::Read(text, "many".to_owned(), false));
    at_once.ask(Request::Replace(false));
    let Reply::Link(Ok(draft)) = at_once.ask(Request::Link(false)).0 else { panic!() };
    let origin = Origin::Link("#2.packed".into(), draft.json.unwrap().into());
    let (whole, _) = at_once.ask(Request::Stage(origin.clone()));
    let (staged, effects) = parted.ask(Request::Stage(origin.clone()));
    assert!(matches!(staged, Reply::Staged(Ok(_))));
    assert_eq!(format!("{whole:?}"), format!("{staged:?}"));
    assert!(progress(&effects) > 4, "{}", progress(&effects));
    // Cancelling leaves everything as it was.
    let before = parted.host.session.timeline().clone();
    parted.ask_until(Request::Stage(origin), 2);
    assert!(parted.host.job.is_some());
    parted.ask(Request::Cancel);
    assert!(parted.host.job.is_none() && parted.host.session.timeline().is_same(&before));
}

#[test]
fn examples_are_read_where_the_session_is() {
    let mut page = page(0.0);
    let Reply::Catalogue(all) = page.ask(Request::Catalogue).0 else { panic!() };
    let abouts = all.iter().flat_map(|(_, abouts)| abouts);
    let names: Vec<_> = abouts.map(|about| about.name.as_str()).collect();
    assert_eq!(names, samples::all().map(|(name, _)| name).collect::<Vec<_>>());
    // A job under way does not hold that up.
    page.ask(example("service-in-an-outage"));
    page.ask_until(Request::Seek(Timestamp::from_secs(700)), 2);
    for _ in 0..2 {
        assert!(page.host.job.is_some());
        let preview = page.ask_until(Request::Preview("why-345-seconds".to_owned()), 1).0;
        let Some(Reply::Text(Ok((_, svg)))) = preview else { panic!("{preview:?}") };
        assert!(svg.starts_with("<svg") && svg.contains("Why 345 seconds"));
    }
    page.ask(Request::OpenExample("three-effects".to_owned()));
    assert_eq!(page.host.session.timeline().start.metadata.name, "three-effects");
}
