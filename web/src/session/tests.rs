use taintlab_core::api::{Taint, TaintEffect};
use taintlab_core::condition::Condition;
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;

use super::*;

/// One node `n` and pods `p0` …; each pod tolerates the taint `k` for ten seconds more than the one
/// before.
fn scenario(pods: u64) -> Scenario {
    let pods: Vec<_> = (0..pods)
        .map(|index| {
            serde_json::json!({ "metadata": { "name": format!("p{index}") }, "spec": {
                "nodeName": "n",
                "tolerations": [{ "key": "k", "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": 10 * (index + 1) }]
            }})
        })
        .collect();
    serde_json::from_value(serde_json::json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "objects": { "nodes": [{ "metadata": { "name": "n" } }], "pods": pods }
    }))
    .unwrap()
}

fn secs(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn taint() -> Vec<Command> {
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    vec![Command::Taint { node: "n".into(), taint }]
}

fn untaint() -> Vec<Command> {
    vec![Command::Untaint { node: "n".into(), key: "k".into(), effect: TaintEffect::Empty }]
}

fn rows(session: &Session) -> Vec<Row> {
    session.rows().iter().map(|row| Row::clone(row)).collect()
}

fn pods(session: &Session) -> usize {
    session.simulator().cluster().pod_count()
}

fn undo(session: &mut Session) {
    let way = session.begin_undo().unwrap();
    session.arrive(way);
}

fn redo(session: &mut Session) {
    let way = session.begin_redo().unwrap();
    session.arrive(way);
}

#[test]
fn an_edit_happens_now_and_takes_effect_at_once() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.seek(secs(5));
    session.apply(taint()).unwrap();
    let next = session.next().unwrap();
    assert_eq!(next.at, secs(15));
    assert!(matches!(next.what, NextWhat::Deadline(TimeoutReason::EvictionDue { .. })));
    session.run_to_end();
    assert_eq!((session.now(), pods(&session)), (secs(45), 0));
    assert_eq!(session.gone()[0].evicted, Some(secs(15)));
    assert_eq!(session.gone()[0].node.as_str(), "n");
}

#[test]
fn a_refused_edit_changes_nothing() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.seek(secs(2));
    let (before, lanes) = (rows(&session), lanes_of(&session));
    let mut commands = taint();
    commands.push(Command::DeleteNode { node: "missing".into() });
    // Once the second of two commands is refused, once a single one.
    for refused in [commands.clone(), commands.split_off(1)] {
        assert!(session.apply(refused).is_err());
        assert!(!session.can_undo());
        assert_eq!((rows(&session), lanes_of(&session)), (before.clone(), lanes.clone()));
        assert!(session.simulator().cluster().get_node("n").unwrap().spec.taints.is_empty());
    }
    commands.push(Command::DeleteNode { node: "missing".into() });
    let errors = session.try_out(commands.chunks(1));
    assert_eq!(errors, [None, Some(CommandError::NodeNotFound("missing".into()))]);
    assert!(session.simulator().cluster().get_node("n").unwrap().spec.taints.is_empty());
}

#[test]
fn undo_and_redo_give_the_same_rows_again() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.seek(secs(1));
    session.apply(taint()).unwrap();
    session.seek(secs(15));
    session.apply(untaint()).unwrap();
    session.seek(secs(100));
    let with_both = rows(&session);
    assert_eq!(pods(&session), 2);

    undo(&mut session);
    assert_eq!(session.now(), secs(100), "the clock stays");
    assert_eq!(pods(&session), 0, "without the second edit all pods are evicted");
    undo(&mut session);
    assert_eq!(pods(&session), 3);
    assert!(!session.can_undo());
    redo(&mut session);
    redo(&mut session);
    assert_eq!(rows(&session), with_both);
    assert!(!session.can_redo());
}

#[test]
fn an_edit_in_the_past_replaces_later_ones_and_undo_brings_them_back() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.apply(taint()).unwrap();
    session.seek(secs(25));
    session.apply(untaint()).unwrap();
    let before = rows(&session);
    session.seek(secs(5));
    assert_eq!(session.next().unwrap().at, secs(10));
    assert_eq!(session.reached(), secs(25));
    session.apply(untaint()).unwrap();
    assert_eq!((session.timeline().log.len(), session.reached()), (2, secs(5)));
    session.seek(secs(60));
    assert_eq!(pods(&session), 3, "the taint was removed in time");
    undo(&mut session);
    session.seek(secs(25));
    assert_eq!(rows(&session), before);
}

#[test]
fn undo_of_an_edit_ahead_of_the_clock_moves_the_clock_to_it() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.seek(secs(50));
    session.apply(taint()).unwrap();
    session.seek(secs(10));
    undo(&mut session);
    assert_eq!(session.now(), secs(50));
    session.seek(secs(20));
    redo(&mut session);
    assert_eq!(session.now(), secs(50));
    assert_eq!(session.next().unwrap().at, secs(60));
}

/// The clock moves about, and the end is as if time had just passed.
#[test]
fn scrubbing_changes_nothing() {
    let mut straight = Session::new(scenario(300)).unwrap();
    let mut scrubbed = Session::new(scenario(300)).unwrap();
    for session in [&mut straight, &mut scrubbed] {
        session.seek(secs(3));
        session.apply(taint()).unwrap();
    }
    for to in [100, 2_000, 40, 900, 0, 3, 2_999, 2_998, 1] {
        scrubbed.seek(secs(to));
        assert_eq!(scrubbed.now(), secs(to));
    }
    assert!(scrubbed.checkpoints.len() > 3, "{}", scrubbed.checkpoints.len());
    straight.seek(secs(4_000));
    scrubbed.seek(secs(4_000));
    assert_eq!(rows(&scrubbed), rows(&straight));
    assert_eq!(scrubbed.gone(), straight.gone());
    straight.seek(secs(1_500));
    let mut fresh = Session::new(scenario(300)).unwrap();
    fresh.seek(secs(3));
    fresh.apply(taint()).unwrap();
    fresh.seek(secs(1_500));
    assert_eq!(rows(&straight), rows(&fresh));
}

#[test]
fn another_cluster_can_be_undone_with_its_clock() {
    let mut session = Session::new(scenario(2)).unwrap();
    session.apply(taint()).unwrap();
    session.seek(secs(12));
    let before = rows(&session);
    session.load(scenario(5)).unwrap();
    assert_eq!((session.now(), pods(&session)), (Timestamp::ZERO, 5));
    session.seek(secs(7));
    undo(&mut session);
    assert_eq!((session.now(), rows(&session)), (secs(12), before));
    redo(&mut session);
    assert_eq!((session.now(), pods(&session)), (secs(7), 5));
}

#[test]
fn another_release_replays_to_the_same_time() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.apply(taint()).unwrap();
    session.seek(secs(12));
    let component = |session: &Session| {
        session.rows().iter().find_map(|row| {
            let RowKind::Happened(EventKind::EventRecorded(event)) = &row.kind else { return None };
            Some(event.component)
        })
    };
    assert_eq!(component(&session), Some("taint-eviction-controller"));
    let old = KubernetesRelease::parse("1.20").unwrap();
    let way = session.begin_change_start(|start| start.kubernetes.release = Some(old)).unwrap();
    session.arrive(way);
    assert_eq!((session.now(), component(&session)), (secs(12), Some("taint-controller")));
    undo(&mut session);
    assert_eq!(component(&session), Some("taint-eviction-controller"));
    let error = session.begin_change_start(|start| {
        start.kubernetes.feature_gates.insert("Nonsense".into(), true);
    });
    assert!(error.is_err());
    assert!(session.simulator().config().feature_gates.is_empty());
}

#[test]
fn scripted_steps_happen_as_in_the_scenario_itself() {
    let mut scenario = scenario(2);
    scenario.steps = serde_json::from_value(serde_json::json!([
        { "at": "30s", "do": { "untaint": { "node": "n", "key": "k" } } },
        { "at": "0s", "do": { "taint": {
            "node": "n", "taint": { "key": "k", "effect": "NoExecute" },
        } } },
        { "at": "0s", "do": { "failPodWrites": { "pod": "p0", "verb": "delete", "times": 2 } } },
        { "at": "12s", "do": { "deleteNode": { "node": "missing" } } },
    ]))
    .unwrap();
    let mut session = Session::new(scenario.clone()).unwrap();
    session.run_to_end();
    let skipped = rows(&session);
    let skipped: Vec<_> =
        skipped.iter().filter(|row| matches!(row.kind, RowKind::Skipped { .. })).collect();
    assert_eq!((skipped.len(), skipped[0].at), (1, secs(12)));

    scenario.steps.remove(3);
    let expected = scenario.run().unwrap().events;
    let mut session = Session::new(scenario).unwrap();
    session.seek(secs(11));
    session.seek(secs(2));
    session.run_to_end();
    let happened: Vec<_> = rows(&session)
        .into_iter()
        .filter_map(|row| match row.kind {
            RowKind::Happened(what) => Some((row.at, what)),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = expected.into_iter().map(|event| (event.at, event.what)).collect();
    assert_eq!(happened, expected);
}

#[test]
fn a_saved_session_resumes_and_can_be_undone() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.apply(taint()).unwrap();
    session.seek(secs(15));
    session.apply(untaint()).unwrap();
    let timeline = session.timeline().clone();
    let edits = timeline.log.iter().map(|edit| Edit::clone(edit)).collect();
    let start = Scenario::clone(&timeline.start);
    let mut resumed = Session::resume(start, edits, session.now()).unwrap();
    assert_eq!(rows(&resumed), rows(&session));
    undo(&mut resumed);
    undo(&mut session);
    assert_eq!(rows(&resumed), rows(&session));
    undo(&mut resumed);
    assert!(!resumed.can_undo());
    assert_eq!(pods(&resumed), 3);
}

#[test]
fn marks_stay_when_the_clock_goes_back_and_go_with_their_timeline() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.seek(secs(1));
    session.apply(taint()).unwrap();
    session.seek(secs(40));
    let marks = |session: &Session| -> Vec<_> {
        session.marks().iter().map(|mark| (mark.at, mark.kind)).collect()
    };
    let all = [
        (secs(1), MarkKind::Change),
        (secs(11), MarkKind::Eviction),
        (secs(21), MarkKind::Eviction),
        (secs(31), MarkKind::Eviction),
    ];
    assert_eq!(marks(&session), all);
    session.seek(secs(15));
    session.seek(secs(25));
    assert_eq!(marks(&session), all);
    session.apply(untaint()).unwrap();
    assert_eq!(marks(&session), [all[0], all[1], all[2], (secs(25), MarkKind::Change)]);
    undo(&mut session);
    session.seek(secs(40));
    assert_eq!(marks(&session), all);
}

#[test]
fn a_step_that_must_be_refused_is_refused_as_expected() {
    let mut scenario = scenario(1);
    scenario.steps = serde_json::from_value(serde_json::json!([
        { "at": "1s", "do": { "deleteNode": { "node": "missing" } }, "refused": "its error" },
        { "at": "2s", "do": { "deleteNode": { "node": "missing" } }, "refused": "something else" },
        { "at": "3s", "do": { "deletePod": { "pod": "p0" } }, "refused": "something" },
    ]))
    .unwrap();
    let error = CommandError::NodeNotFound("missing".into());
    scenario.steps[0].refused = Some(error.to_string());
    let mut session = Session::new(scenario).unwrap();
    session.seek(secs(3));
    let delete = || Box::new(Command::DeleteNode { node: "missing".into() });
    let told: Vec<_> = rows(&session)
        .into_iter()
        .filter(|row| !matches!(row.kind, RowKind::Happened(_)))
        .map(|row| row.kind)
        .collect();
    assert_eq!(told[0], RowKind::Refused { command: delete(), error: error.clone() });
    assert_eq!(told[1], RowKind::Skipped { command: delete(), error });
    let RowKind::NotRefused(command) = &told[2] else { panic!("{:?}", told[2]) };
    assert!(matches!(**command, Command::DeletePod { .. }), "{command:?}");
}

/// A request that was made to fail was sent: it is an edit, and a way back counts it again.
#[test]
fn a_request_that_was_made_to_fail_is_an_edit() {
    let command = |json: &str| vec![serde_json::from_str::<Command>(json).unwrap()];
    let mut session = Session::new(scenario(1)).unwrap();
    session.seek(secs(10));
    let fail = r#"{ "failPodWrites": { "pod": "default/p0", "verb": "delete", "times": 1 } }"#;
    session.apply(command(fail)).unwrap();
    let delete = || command(r#"{ "deletePod": { "pod": "default/p0", "force": true } }"#);
    let error = session.apply(delete()).unwrap().unwrap();
    assert_eq!(error.to_string(), "Internal error occurred: simulated");
    session.seek(secs(20));
    session.seek(secs(5));
    session.seek(secs(30));
    let pod = PodKey::parse("default/p0").unwrap();
    assert!(session.simulator().cluster().get_pod(&pod).is_some());
    assert_eq!(session.apply(delete()).unwrap(), None);
    assert!(session.simulator().cluster().get_pod(&pod).is_none());
    undo(&mut session);
    undo(&mut session);
    assert_eq!(session.apply(delete()).unwrap(), Some(error), "it was not sent yet");
}

/// The forecast reaches a day ahead, as in the package, and reaches it again as long as nothing is
/// done.
#[test]
fn a_pod_that_is_lost_in_three_hours_is_forecast() {
    let unreachable = "node.kubernetes.io/unreachable";
    let scenario = serde_json::from_value(serde_json::json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "nodeLifecycle": true },
        "objects": {
            "nodes": [
                { "metadata": { "name": "a" } }, { "metadata": { "name": "b" } },
                { "metadata": { "name": "c" } },
            ],
            "pods": [{ "metadata": { "name": "p" }, "spec": { "nodeName": "a", "tolerations": [{
                "key": unreachable, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 3 * 60 * 60,
            }] } }],
        }
    }))
    .unwrap();
    let mut session = Session::new(scenario).unwrap();
    let pod = PodKey::new("", "p");
    assert_eq!(session.time_budget(&pod), None);
    session.apply(vec![Command::StopKubelet { node: "a".into() }]).unwrap();
    let told = session.time_budget(&pod).unwrap();
    assert!(!told.over && told.total() > Duration::from_secs(3 * 60 * 60), "{told}");
    session.seek(secs(20));
    assert_eq!(session.time_budget(&pod).unwrap().evicted_at, told.evicted_at);
    session.apply(vec![Command::StartKubelet { node: "a".into() }]).unwrap();
    assert_eq!(session.time_budget(&pod), None);
}

fn lanes_of(session: &Session) -> taintlab_core::lanes::Lanes {
    session.recorder().lanes(session.now())
}

/// The lanes are those of a run straight ahead, however the clock got there.
#[test]
fn lanes_depend_only_on_edits() {
    let mut straight = Session::new(scenario(3)).unwrap();
    straight.seek(secs(4));
    straight.apply(taint()).unwrap();
    straight.seek(secs(30));
    let mut session = Session::new(scenario(3)).unwrap();
    session.seek(secs(2));
    session.apply(taint()).unwrap();
    session.seek(secs(60));
    session.seek(secs(1));
    assert!(session.recorder().last_change() > secs(1), "what was recorded stays");
    undo(&mut session);
    session.seek(secs(4));
    session.apply(taint()).unwrap();
    session.apply(untaint()).unwrap();
    undo(&mut session);
    session.seek(secs(30));
    assert_eq!(lanes_of(&session), lanes_of(&straight));
    session.seek(secs(0));
    session.seek(secs(30));
    assert_eq!(lanes_of(&session), lanes_of(&straight));
}

#[test]
fn a_forecast_is_what_happens() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.apply(taint()).unwrap();
    assert!(session.lanes_ahead().is_none() && !session.forecast_is_done());
    while !session.forecast_is_done() {
        session.run_forecast(|| false);
    }
    let ahead = session.lanes_ahead().unwrap().clone();
    assert!(ahead.last_change() > session.now());
    session.run_to_end();
    assert_eq!(ahead.last_change(), session.recorder().last_change());
    assert!(session.forecast_is_done(), "it holds");
    session.apply(untaint()).unwrap();
    assert!(session.lanes_ahead().is_none(), "something else will follow");
}

#[test]
fn a_peek_leaves_everything_as_it_was() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.apply(taint()).unwrap();
    session.seek(secs(3));
    let before = (rows(&session), session.reached(), session.known_rows().len());
    for to in [secs(0), secs(2), secs(50), secs(3)] {
        session.peek(to);
        assert!(session.is_peeking());
        assert_eq!(
            (session.now(), session.home(), session.reached().max(to)),
            (to, secs(3), secs(3).max(to))
        );
    }
    assert!(session.end_peek() && !session.end_peek());
    assert_eq!((rows(&session), session.reached(), session.known_rows().len()), before);
}

#[test]
fn an_edit_in_the_past_begins_a_branch_and_undo_takes_it_back() {
    let mut session = Session::new(scenario(3)).unwrap();
    session.apply(taint()).unwrap();
    assert_eq!(session.branches().len(), 1, "nothing came later");
    session.seek(secs(40));
    let lost = pods(&session);
    session.seek(secs(1));
    session.apply(untaint()).unwrap();
    assert_eq!(&*session.branch_name(), "branch 1");
    let branches = session.branches();
    assert_eq!(branches.len(), 2);
    assert_eq!((branches[1].parent, branches[1].forked_at), (Some(MAIN), secs(1)));
    assert_eq!((branches[0].log.len(), branches[0].reached), (1, secs(40)));
    session.seek(secs(40));
    assert_ne!(pods(&session), lost);

    let way = session.begin_switch(MAIN).unwrap();
    session.arrive(way);
    assert_eq!((session.now(), session.reached()), (secs(1), secs(40)));
    session.seek(secs(40));
    assert_eq!(pods(&session), lost);
    session.rename_branch(1, " kept ");
    assert_eq!(&*session.branches()[1].name, "kept");
    session.delete_branch(MAIN);
    assert_eq!(session.branches().len(), 2, "not the present one");
    session.delete_branch(1);
    assert_eq!(session.branches().len(), 1);
    undo(&mut session);
    assert_eq!(session.branches().len(), 2);
    for _ in 0..3 {
        undo(&mut session);
    }
    assert_eq!((session.branches().len(), session.timeline().log.len()), (1, 1));
    assert_eq!(&*session.branch_name(), "main");
    redo(&mut session);
    assert_eq!((&*session.branch_name(), session.timeline().log.len()), ("branch 1", 2));
}

#[test]
fn branches_of_two_depths_are_run_beside_each_other() {
    let mut session = Session::new(scenario(2)).unwrap();
    session.fork();
    session.apply(taint()).unwrap();
    session.fork();
    session.apply(untaint()).unwrap();
    let [main, tainted, mended] = &session.branches()[..] else { panic!() };
    let pods_of = |branch: &Branch| {
        let mut run = session.run_beside(branch.start.clone(), branch.log.clone()).unwrap();
        run.seek(secs(90));
        // Records that nobody looks at there are not kept.
        assert!(run.gone().is_empty() && run.marks().is_empty() && run.checkpoints.is_empty());
        pods(&run)
    };
    assert_eq!([pods_of(main), pods_of(mended)], [2, 2]);
    assert!(pods_of(tainted) < 2);
}

/// Runs to the target of a search, in slices of one moment.
fn run_to(session: &mut Session, mut found: impl FnMut(&Session, &[Rc<Row>]) -> bool) -> bool {
    let mut run = session.begin_run_to();
    loop {
        if let Some(found) = session.go_on_to(&mut run, &mut found, || false) {
            return found;
        }
    }
}

fn run_until(session: &mut Session, condition: &Condition) -> bool {
    let mut before = condition.holds(session.simulator());
    run_to(session, |session, _| {
        let holds = condition.holds(session.simulator());
        !std::mem::replace(&mut before, holds) && holds
    })
}

fn back_to(session: &mut Session, condition: &Condition) -> bool {
    let mut back = session.begin_back_to(condition.clone());
    session.go_on_back(&mut back, || true).unwrap()
}

fn step_to_shown(session: &mut Session, hidden: &[MarkKind]) -> bool {
    run_to(session, |_, rows| stops(rows, hidden).next().is_some())
}

#[test]
fn the_clock_runs_until_a_condition_and_back_to_it() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.apply(taint()).unwrap();
    let line = format!("pod/{} gone", session.simulator().cluster().pods().next().unwrap().0);
    let gone = Condition::parse(&line, session.simulator()).unwrap();
    let tainted = Condition::parse("node/n untainted", session.simulator()).unwrap();
    assert!(run_until(&mut session, &gone));
    let at = session.now();
    assert!(gone.holds(session.simulator()) && at > secs(0));
    assert!(!run_until(&mut session, &gone), "it is so already");
    assert_eq!(session.now(), at);
    session.seek(secs(100));
    assert!(back_to(&mut session, &gone));
    assert_eq!(session.now(), at);
    assert!(!back_to(&mut session, &tainted) || session.now() < at);
}

#[test]
fn steps_skip_hidden_kinds() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.apply(taint()).unwrap();
    let hidden: Vec<_> =
        MarkKind::ALL.into_iter().filter(|kind| *kind != MarkKind::Eviction).collect();
    assert!(step_to_shown(&mut session, &hidden));
    let eviction = session.now();
    assert!(
        session
            .rows()
            .iter()
            .any(|row| row.at == eviction && row.kind.mark() == MarkKind::Eviction)
    );
    assert!(!step_to_shown(&mut session, &hidden));
    assert_eq!(session.now(), eviction);
    session.seek(secs(1_000));
    let way = session.begin_step_back(&hidden);
    session.arrive(way);
    assert_eq!(session.now(), eviction);
    let change = session.begin_back_to_row(|row| row.kind.mark() == MarkKind::Change);
    assert!(change.is_some() || eviction == secs(0));
}

/// A cluster of 20 nodes in three zones, one of which is lost.
fn outage() -> Scenario {
    let node = |number: usize| {
        let zone = ["a", "b", "c"][number % 3];
        serde_json::json!({ "metadata": {
            "name": format!("n{number}"),
            "labels": { "topology.kubernetes.io/zone": zone },
        }, "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "20" } } })
    };
    let spec = serde_json::json!({
        "replicas": 40, "selector": { "matchLabels": { "app": "web" } },
        "template": { "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "app" }] } },
    });
    let workload = serde_json::json!({
        "kind": "Deployment", "metadata": { "name": "web" }, "spec": spec
    });
    serde_json::from_value(serde_json::json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "nodeLifecycle": true, "controlPlane": true },
        "objects": {
            "nodes": (0..20).map(node).collect::<Vec<_>>(), "workloads": [workload]
        },
        "steps": [{ "at": "60s", "do": { "cutZoneNetwork": { "zone": "a" } } }],
    }))
    .unwrap()
}

/// A step stops at what somebody sees who watches the cluster: not at each status that is written,
/// nor at moments at which nothing is seen. A step back stops there, too.
#[test]
fn steps_stop_at_what_is_seen() {
    let mut session = Session::new(outage()).unwrap();
    session.seek(secs(59));
    let mut moments = vec![session.now()];
    while session.now() < secs(412) && step_to_shown(&mut session, &[]) {
        moments.push(session.now());
    }
    let words: Vec<String> = moments.iter().map(ToString::to_string).collect();
    let seen = "59s 1m0s 1m50.154s 1m50.179s 1m50.204s 1m50.579s 2m0.2s 2m10.2s 2m20.2s 2m30.2s \
                2m40.2s 2m50.2s 6m50.204s 6m52.204s";
    assert_eq!(words.join(" "), seen, "the zone is cut, tainted; pods go, others are ready");
    for moment in moments.iter().rev().skip(1).take(12) {
        let way = session.begin_step_back(&[]);
        session.arrive(way);
        assert_eq!(session.now(), *moment);
    }
}
