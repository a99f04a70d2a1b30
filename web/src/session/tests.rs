use taintlab_core::api::{Taint, TaintEffect};
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;

use super::*;

/// One node `n` and pods `p0` …, each of which tolerates the taint `k` for ten seconds more than
/// the one before.
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
    let before = rows(&session);
    let mut commands = taint();
    commands.push(Command::DeleteNode { node: "missing".into() });
    assert!(session.apply(commands.clone()).is_err());
    assert!(!session.can_undo());
    assert_eq!(rows(&session), before);
    assert!(session.simulator().cluster().get_node("n").unwrap().spec.taints.is_empty());
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

    session.undo();
    assert_eq!(session.now(), secs(100), "the clock stays");
    assert_eq!(pods(&session), 0, "without the second edit all pods are evicted");
    session.undo();
    assert_eq!(pods(&session), 3);
    assert!(!session.can_undo());
    session.redo();
    session.redo();
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
    session.undo();
    session.seek(secs(25));
    assert_eq!(rows(&session), before);
}

#[test]
fn undo_of_an_edit_ahead_of_the_clock_moves_the_clock_to_it() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.seek(secs(50));
    session.apply(taint()).unwrap();
    session.seek(secs(10));
    session.undo();
    assert_eq!(session.now(), secs(50));
    session.seek(secs(20));
    session.redo();
    assert_eq!(session.now(), secs(50));
    assert_eq!(session.next().unwrap().at, secs(60));
}

/// However the clock is moved about, at the end it is as if time had just passed.
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
    session.undo();
    assert_eq!((session.now(), rows(&session)), (secs(12), before));
    session.redo();
    assert_eq!((session.now(), pods(&session)), (secs(7), 5));
}

#[test]
fn another_release_replays_to_the_same_time() {
    let mut session = Session::new(scenario(1)).unwrap();
    session.apply(taint()).unwrap();
    session.seek(secs(12));
    let component = |session: &Session| {
        session.rows().iter().find_map(|row| match &row.kind {
            RowKind::Happened(EventKind::EventRecorded(event)) => Some(event.component),
            _ => None,
        })
    };
    assert_eq!(component(&session), Some("taint-eviction-controller"));
    let old = KubernetesRelease::parse("1.20").unwrap();
    session.change_start(|start| start.kubernetes.release = Some(old)).unwrap();
    assert_eq!((session.now(), component(&session)), (secs(12), Some("taint-controller")));
    session.undo();
    assert_eq!(component(&session), Some("taint-eviction-controller"));
    let error = session.change_start(|start| {
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
        { "at": "0s", "do": { "taint": { "node": "n", "taint": { "key": "k", "effect": "NoExecute" } } } },
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
    resumed.undo();
    session.undo();
    assert_eq!(rows(&resumed), rows(&session));
    resumed.undo();
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
    session.undo();
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
    let delete = || Command::DeleteNode { node: "missing".into() };
    let told: Vec<_> = rows(&session)
        .into_iter()
        .filter(|row| !matches!(row.kind, RowKind::Happened(_)))
        .map(|row| row.kind)
        .collect();
    assert_eq!(told[0], RowKind::Refused { command: delete(), error: error.clone() });
    assert_eq!(told[1], RowKind::Skipped { command: delete(), error });
    assert!(matches!(&told[2], RowKind::NotRefused(Command::DeletePod { .. })), "{:?}", told[2]);
}

/// What is to come is told a day ahead, as in the package, and again as long as nothing is done.
#[test]
fn a_pod_that_is_lost_in_three_hours_is_told_of() {
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
