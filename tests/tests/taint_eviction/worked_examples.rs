//! The examples of taint eviction in `docs/behaviours.md`, T1 to T37, one row each.
//!
//! A row's script is in the language of [`Session`], its commands divided by `;`. What is expected
//! are the controller's events: `mark` for `Marking for deletion Pod …`, `cancel` for
//! `Cancelling deletion of Pod …`, with their time in seconds; the pod is `d/p` unless named.

use std::sync::Arc;

use taintlab_core::api::PodKey;
use taintlab_core::cluster::Cluster;
use taintlab_core::controllers::taint_eviction::{
    TaintEvictionAction, TaintEvictionController, shard_of,
};
use taintlab_core::event::{Event, EventKind, ObjectReference, RequestResult};
use taintlab_core::release::{FeatureGates, KubernetesRelease};
use taintlab_core::time::Timestamp;
use taintlab_tests::notation;
use taintlab_tests::text::Session;

/// Releases on both sides of every difference, in order.
const RELEASES: [&str; 9] =
    ["1.18", "1.19", "1.20", "1.24", "1.28", "1.29", "1.32", "1.33", "1.35"];

/// One example: its id, what happens, what is expected, and what is expected instead from some
/// release on.
struct Row(&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

const ROWS: &[Row] = &[
    Row("T1", "node n; pod d/p on n tolerates a/4 b/2; at 100ms taints n a b", "mark 2.1", None),
    Row(
        "T2 shorter",
        "node n a; pod d/p on n tolerates a/4; at 1s tolerations d/p a/1",
        "mark 4",
        None,
    ),
    Row(
        "T3 zero",
        "node n a; pod d/p on n tolerates a/4; at 1s tolerations d/p a/0",
        "mark 4",
        None,
    ),
    Row(
        "T4 longer",
        "node n a; pod d/p on n tolerates a/2; at 1s tolerations d/p a/5",
        "mark 2",
        None,
    ),
    Row(
        "T5 forever, then finite",
        "node n a; pod d/p on n tolerates a/3; at 1s tolerations d/p a/inf; \
         at 2s tolerations d/p a/2",
        "mark 3",
        Some(("1.20", "cancel 1, mark 4")),
    ),
    Row(
        "T6 forever behind",
        "node n a; pod d/p on n tolerates a/3; at 1s tolerations d/p a/3 a/inf",
        "mark 3",
        None,
    ),
    Row(
        "T7 forever in front",
        "node n a; pod d/p on n tolerates a/3; at 1s tolerations d/p a/inf a/3",
        "mark 3",
        Some(("1.20", "cancel 1")),
    ),
    Row(
        "T8 a shorter taint comes",
        "node n a; pod d/p on n tolerates a/5 b/1; at 1s taints n a b",
        "mark 5",
        None,
    ),
    Row(
        "T9 the shorter taint goes",
        "node n a b; pod d/p on n tolerates a/5 b/2; at 1s taints n a",
        "mark 2",
        None,
    ),
    Row(
        "T10 all taints go",
        "node n a; pod d/p on n tolerates a/3; at 1s taints n",
        "cancel 1",
        None,
    ),
    Row(
        "T11 and come again",
        "node n a; pod d/p on n tolerates a/3; at 1s taints n; at 2s taints n a",
        "cancel 1, mark 5",
        None,
    ),
    Row(
        "T12 a taint that is not tolerated",
        "node n a; pod d/p on n tolerates a/5; at 1s taints n a c",
        "cancel 1, mark 1",
        None,
    ),
    Row(
        "T13 the node is deleted",
        "node n a; pod d/p on n tolerates a/3; at 1s delete-node n",
        "mark 3",
        None,
    ),
    Row(
        "T14 on a clean node now",
        "node n a; node m; pod d/p on n tolerates a/3; at 1s replace d/p on m tolerates a/3",
        "mark 3",
        None,
    ),
    Row(
        "T15 on a node that is not tolerated now",
        "node n a; node m c; pod d/p on n tolerates a/3; at 1s replace d/p on m tolerates a/3",
        "cancel 1, mark 1",
        None,
    ),
    Row(
        "T16 on a node that is tolerated for longer now",
        "node n a; node m b; pod d/p on n tolerates a/3 b/10; \
         at 1s replace d/p on m tolerates a/3 b/10",
        "mark 3",
        None,
    ),
    Row(
        "T17 gone, and created again",
        "node n a; pod d/p on n tolerates a/3; at 1s force-delete d/p; \
         at 2s pod d/p on n tolerates a/3",
        "cancel 1, mark 5",
        None,
    ),
    Row(
        "T18 replaced in one update",
        "node n a; pod d/p on n tolerates a/3; at 1s replace d/p on n tolerates a/3",
        "mark 3",
        None,
    ),
    // The taint comes at 1 s, because at 0 s node and pod would both be new.
    Row("T19 no toleration", "node n; pod d/p on n; at 1s taints n a", "mark 1", None),
    Row("T20 forever", "node n; pod d/p on n tolerates a/inf; at 1s taints n a", "", None),
    Row(
        "T21 three pods",
        "node n; pod d/p1 on n; pod d/p2 on n tolerates a/1; pod d/p3 on n tolerates a/inf; \
         at 1s taints n a",
        "mark d/p1 1, mark d/p2 2",
        None,
    ),
    Row(
        "T22 three pods, a taint that nobody tolerates",
        "node n; pod d/p1 on n; pod d/p2 on n tolerates a/1; pod d/p3 on n tolerates a/inf; \
         at 1s taints n a c",
        "mark d/p1 1, mark d/p2 1, mark d/p3 1",
        None,
    ),
    Row(
        "T23 the finite taint goes again",
        "node n; pod d/p on n tolerates a/inf b/60; at 1s taints n a; at 2s taints n a b; \
         at 3s taints n a",
        "mark 62",
        Some(("1.20", "cancel 3")),
    ),
    Row("T24 zero", "node n; pod d/p on n tolerates a/0; at 1s taints n a", "mark 1", None),
    Row("T24 negative", "node n; pod d/p on n tolerates a/-7; at 1s taints n a", "mark 1", None),
    // The pod goes between the first attempt and the second: the rest finds nothing.
    Row(
        "T25 the pod is gone",
        "node n a; pod d/p on n tolerates a/3; fail d/p delete 1; at 3005ms force-delete d/p",
        "mark 3, cancel 3.005",
        None,
    ),
    Row(
        "T26 three deletes fail",
        "node n a; pod d/p on n tolerates a/3 grace 0; fail d/p delete 3",
        "mark 3",
        None,
    ),
    Row(
        "T27 all deletes fail",
        "node n a; pod d/p on n tolerates a/3; fail d/p delete 5",
        "mark 3",
        None,
    ),
    Row(
        "T27 all deletes fail, then the taints change",
        "node n a; pod d/p on n tolerates a/3; fail d/p delete 5; at 9s taints n a@9",
        "mark 3, mark 12",
        None,
    ),
    Row(
        "T27 all deletes fail, then the tolerations change",
        "node n a; pod d/p on n tolerates a/3; fail d/p delete 5; at 9s tolerations d/p a/7",
        "mark 3, mark 16",
        None,
    ),
    // Without a second reading of the clock between the two there is no cancelling between them.
    Row("T28 twice", "node n; at 1s pod d/p on n; at 1s taints n a", "mark 1, mark 1", None),
    Row(
        "T29 tombstone",
        "node n a; pod d/p on n tolerates a/1 b/1 grace 600; at 2s taints n a b; \
         at 2500ms taints n; at 3500ms taints n a",
        "mark 1, mark 4.5",
        Some(("1.33", "mark 1, cancel 2.5, mark 4.5")),
    ),
    Row(
        "T29 tombstone, without the removal",
        "node n a; pod d/p on n tolerates a/1 b/1 grace 600; at 2s taints n a b",
        "mark 1",
        Some(("1.33", "mark 1, mark 3")),
    ),
    Row(
        "T30 no protection against an untolerated taint",
        "node n a; pod d/p on n tolerates a/1 grace 600; at 2s taints n a b",
        "mark 1, mark 2",
        None,
    ),
    Row(
        "T32 swap",
        "node n; pod d/p on n tolerates nr/300 ur/300; at 5s taints n nr; at 60s taints n nr ur; \
         at 60001ms taints n ur",
        "mark 305",
        None,
    ),
    Row(
        "T33 swap, the other one longer",
        "node n; pod d/p on n tolerates nr/300 ur/6000; at 5s taints n nr; \
         at 60s taints n nr ur; at 60001ms taints n ur",
        "mark 305",
        None,
    ),
    Row(
        "T33 swap, the other one forever",
        "node n; pod d/p on n tolerates nr/300 ur/inf; at 5s taints n nr; at 60s taints n nr ur; \
         at 60001ms taints n ur",
        "mark 305",
        Some(("1.20", "cancel 60.001")),
    ),
    Row(
        "T34 the controller restarts",
        "node n; pod d/p on n tolerates nr/300 ur/300; at 5s taints n nr; at 60s taints n nr ur; \
         at 60001ms taints n ur; at 200s restart",
        "mark 500",
        None,
    ),
    Row(
        "T35 timeAdded is refreshed",
        "node n a@0; pod d/p on n tolerates a/300; at 100s taints n a@100",
        "mark 300",
        None,
    ),
];

/// Runs a script to its end.
fn play(release: &str, script: &str) -> Session {
    let mut session = Session::default();
    let lines = script.replace(';', "\n");
    session.execute(&format!("cluster {release}\n{lines}\nrun")).unwrap();
    session
}

/// The controller's events, in short.
fn summary(log: &[Event]) -> String {
    let short = |event: &Event| {
        let EventKind::EventRecorded(recorded) = &event.what else { return None };
        let ObjectReference::Pod { pod, .. } = &recorded.involved_object else { return None };
        assert_eq!((recorded.type_, recorded.reason), ("Normal", "TaintManagerEviction"));
        let verb = match recorded.message.strip_suffix(pod.as_str()) {
            Some("Marking for deletion Pod ") => "mark",
            Some("Cancelling deletion of Pod ") => "cancel",
            _ => panic!("what is {:?}?", recorded.message),
        };
        let name = if pod.as_str() == "d/p" { String::new() } else { format!("{pod} ") };
        Some(format!("{verb} {name}{}", event.at.as_secs_f64()))
    };
    log.iter().filter_map(short).collect::<Vec<_>>().join(", ")
}

#[test]
fn worked_examples() {
    let mut failures = String::new();
    for Row(id, script, first, changed) in ROWS {
        for (index, release) in RELEASES.into_iter().enumerate() {
            let expected = match changed {
                Some((since, expected))
                    if index >= RELEASES.iter().position(|release| release == since).unwrap() =>
                {
                    expected
                }
                _ => first,
            };
            let got = summary(play(release, script).log());
            if got != *expected {
                failures += &format!("{id} on {release}: expected `{expected}`, got `{got}`\n");
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// The requests of a run, in short.
fn requests(log: &[Event]) -> Vec<String> {
    let short = |event: &Event| match &event.what {
        EventKind::Request { verb, result, .. } => {
            Some(format!("{} {verb:?} {result:?}", event.at.as_nanos() / 1_000_000))
        }
        _ => None,
    };
    log.iter().filter_map(short).collect()
}

/// T25 to T27 in detail: what is sent, in milliseconds.
#[test]
fn requests_of_deletions_that_fail() {
    let script = "node n a; pod d/p on n tolerates a/3; fail d/p delete 1; \
                  at 3005ms force-delete d/p";
    let not_found = |verb: &'static str| {
        [3010, 3020, 3030, 3040].map(|at| format!("{at} {verb} NotFound")).to_vec()
    };
    let old = play("1.20", script);
    assert_eq!(requests(old.log())[..1], ["3000 Delete Error(InternalError)"]);
    assert_eq!(requests(old.log())[1..], not_found("Delete"));
    let new = play("1.35", script);
    let first = ["3000 PatchStatus Ok", "3000 Delete Error(InternalError)"];
    assert_eq!(requests(new.log())[..2], first);
    assert_eq!(requests(new.log())[2..], not_found("Get"));
    for session in [&old, &new] {
        // The last pause is over, and the key is gone.
        assert_eq!(session.simulator().unwrap().now(), Timestamp::from_millis(3050));
        assert_eq!(session.simulator().unwrap().taint_eviction().queue_len(), 0);
    }

    let script = "node n a; pod d/p on n tolerates a/3 grace 0; fail d/p delete 3";
    let expected = [
        "3000 Delete Error(InternalError)",
        "3010 Delete Error(InternalError)",
        "3020 Delete Error(InternalError)",
        "3030 Delete Ok",
    ];
    assert_eq!(requests(play("1.20", script).log()), expected);

    let script = "node n a; pod d/p on n tolerates a/3; fail d/p delete 5; advance 1h";
    let session = play("1.20", script);
    assert_eq!(requests(session.log()).len(), 5);
    assert_eq!(requests(session.log())[4], "3040 Delete Error(InternalError)");
    assert_eq!(session.simulator().unwrap().cluster().pod_count(), 1);
}

/// T31, which only a controller that is driven by hand can show: the pod vanishes, and that is
/// handled, before the result of its deletion is known.
#[test]
fn t31_lost_eviction() {
    for (release, lost) in [("1.18", true), ("1.32", true), ("1.33", false), ("1.35", false)] {
        let release = KubernetesRelease::parse(release).unwrap();
        let gates = FeatureGates::new(release, []).unwrap();
        let mut controller = TaintEvictionController::new(release, &gates);
        let at = Timestamp::from_secs;
        let key = PodKey::parse("d/p").unwrap();
        let mut cluster = Cluster::default();
        let node = Arc::new(notation::node("n", notation::taints("a").unwrap()));
        cluster.put_node(node.clone());
        controller.handle_node_update(at(0), None, Some(&node));
        let old = Arc::new(notation::pod(&key, "n", notation::tolerations("a/1").unwrap()));
        cluster.put_pod(&key, old.clone());
        controller.handle_pod_update(at(0), &key, None, Some(&old));
        assert_eq!(work(&mut controller, at(0), &cluster), []);

        let mut sent = work(&mut controller, at(1), &cluster);
        if let [TaintEvictionAction::PatchPodStatus { id, .. }] = sent[..] {
            controller.handle_action_result(at(1), id, RequestResult::Ok);
            sent = work(&mut controller, at(1), &cluster);
        }
        let [TaintEvictionAction::DeletePod { id, .. }] = sent[..] else { panic!("{sent:?}") };
        // The pod is gone before the answer is there.
        cluster.remove_pod(&key);
        controller.handle_pod_update(at(1), &key, Some(&old), None);
        assert_eq!(work(&mut controller, at(1), &cluster), []);
        controller.handle_action_result(at(1), id, RequestResult::Ok);

        let new = Arc::new(notation::pod(&key, "n", notation::tolerations("a/3").unwrap()));
        cluster.put_pod(&key, new.clone());
        controller.handle_pod_update(at(5), &key, None, Some(&new));
        assert_eq!(work(&mut controller, at(5), &cluster), []);
        let due = controller.poll_timeout().map(|timeout| timeout.at);
        assert_eq!(due, if lost { None } else { Some(at(8)) }, "{release}");
    }
}

/// Lets the controller work; gives its requests.
fn work(
    controller: &mut TaintEvictionController,
    now: Timestamp,
    cluster: &Cluster,
) -> Vec<TaintEvictionAction> {
    let mut requests = Vec::new();
    loop {
        while let Some(action) = controller.poll_action() {
            if let TaintEvictionAction::PatchPodStatus { .. }
            | TaintEvictionAction::DeletePod { .. } = action
            {
                requests.push(action);
            }
        }
        if controller.poll_timeout().is_none_or(|timeout| timeout.at > now) {
            return requests;
        }
        controller.handle_timeout(now, cluster);
    }
}

/// T36: node0 and foo have the same worker, node1 has another.
#[test]
fn t36_shards() {
    assert_eq!((shard_of("node0"), shard_of("foo"), shard_of("node1")), (7, 7, 4));
}

/// T37: what is looked at again, and what is not.
#[test]
fn t37_update_filter() {
    for (change, looks) in [
        ("taints n a b x:NoSchedule", 0),
        ("taints n x:PreferNoSchedule a b", 0),
        ("taints n b a", 1),
        ("taints n a=v b", 1),
        ("taints n a@1 b", 1),
        ("label node n zone=z", 0),
        ("cordon n", 0),
        ("label pod d/p app=web", 0),
        ("delete d/p", 0),
        ("tolerations d/p a/inf b/inf", 0),
        ("tolerations d/p b/inf a/inf", 1),
        ("tolerations d/p a/inf b/9", 1),
        // A new list is read even if it means the same.
        ("tolerations d/p a/inf b/inf a=/inf", 1),
    ] {
        let mut session = Session::default();
        session
            .execute("cluster 1.35\nnode n a b\npod d/p on n tolerates a/inf b/inf\nadvance 1s")
            .unwrap();
        let before = session.log().len();
        session.execute(&format!("at 2s {change}")).unwrap();
        let decided = session.log()[before..]
            .iter()
            .filter(|event| matches!(event.what, EventKind::Decided(_)))
            .count();
        assert_eq!(decided, looks, "{change}");
    }
}
