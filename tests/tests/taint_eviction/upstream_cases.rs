//! The cases of Kubernetes' own tests of the controller, under their names.
//!
//! Names of tests and cases are those of `taint_eviction_test.go` (once `taint_manager_test.go`);
//! the setting is that of upstream, where it can be said in a script of [`Session`]: the API server
//! takes everything, also what a real one refuses. Upstream waits and looks whether there was a
//! `DELETE` or a `PATCH`; here the clock is moved on by as much.

use taintlab_core::api::PodKey;
use taintlab_core::event::{Event, EventKind, ObjectReference, RequestVerb};
use taintlab_tests::text::Session;

/// A case: its name, what is there, what happens, and whether the pod is deleted by `until`.
struct Case {
    name: &'static str,
    setup: &'static str,
    change: &'static str,
    until: &'static str,
    expect_delete: bool,
}

const fn case(
    name: &'static str,
    setup: &'static str,
    change: &'static str,
    expect_delete: bool,
) -> Case {
    Case { name, setup, change, until: "1s", expect_delete }
}

const fn case_until(
    name: &'static str,
    setup: &'static str,
    change: &'static str,
    until: &'static str,
    expect_delete: bool,
) -> Case {
    Case { name, setup, change, until, expect_delete }
}

/// Runs the cases on releases without and with the status patch.
fn check(test: &str, cases: &[Case]) {
    for case in cases {
        for (release, patches) in [("1.18", false), ("1.20", false), ("1.28", true), ("1.35", true)]
        {
            let session = play(release, case);
            let sent = |wanted| deleted(session.log(), wanted).contains(&"d/pod1".to_owned());
            let name = format!("{test}: {} ({release})", case.name);
            assert_eq!(sent(RequestVerb::Delete), case.expect_delete, "{name}");
            assert_eq!(sent(RequestVerb::PatchStatus), case.expect_delete && patches, "{name}");
        }
    }
}

fn play(release: &str, case: &Case) -> Session {
    let mut session = Session::default();
    let Case { setup, change, until, .. } = case;
    let (setup, change) = (setup.replace(';', "\n"), change.replace(';', "\n"));
    session.execute(&format!("cluster {release} stand-in\n{setup}")).unwrap();
    session.execute(&change).unwrap();
    session.execute(&format!("advance {until}")).unwrap();
    session
}

fn deleted(log: &[Event], wanted: RequestVerb) -> Vec<String> {
    let pod = |event: &Event| match &event.what {
        EventKind::Request { pod, verb, .. } if *verb == wanted => Some(pod.to_string()),
        _ => None,
    };
    log.iter().filter_map(pod).collect()
}

#[test]
fn test_create_pod() {
    check(
        "TestCreatePod",
        &[
            case("not scheduled", "", "pod d/pod1", false),
            case("scheduled on untainted Node", "node node1", "pod d/pod1 on node1", false),
            case("schedule on tainted Node", "node node1 a", "pod d/pod1 on node1", true),
            case(
                "schedule on tainted Node with finite toleration",
                "node node1 a",
                "pod d/pod1 on node1 tolerates a/100",
                false,
            ),
            case(
                "schedule on tainted Node with infinite toleration",
                "node node1 a",
                "pod d/pod1 on node1 tolerates a/inf",
                false,
            ),
            case(
                "schedule on tainted Node with infinite invalid toleration",
                "node node1 a",
                "pod d/pod1 on node1 tolerates b/inf",
                true,
            ),
        ],
    );
}

#[test]
fn test_delete_pod() {
    let case = case("", "node node1 a; pod d/pod1 on node1 tolerates a/100", "", false);
    let mut session = play("1.35", &case);
    session.execute("force-delete d/pod1\nrun").unwrap();
    assert_eq!(deleted(session.log(), RequestVerb::Delete), [""; 0]);
    assert_eq!(session.simulator().unwrap().taint_eviction().queue_len(), 0);
}

#[test]
fn test_update_pod() {
    check(
        "TestUpdatePod",
        &[
            case(
                "scheduling onto tainted Node",
                "node node1 a; pod d/pod1",
                "bind d/pod1 node1",
                true,
            ),
            case(
                "scheduling onto tainted Node with toleration",
                "node node1 a; pod d/pod1 tolerates a/100",
                "bind d/pod1 node1",
                false,
            ),
            case(
                "removing toleration",
                "node node1 a; pod d/pod1 on node1 tolerates a/100",
                "tolerations d/pod1",
                true,
            ),
            case_until(
                "lengthening toleration shouldn't work",
                "node node1 a; pod d/pod1 on node1 tolerates a/1",
                "tolerations d/pod1 a/100",
                "1500ms",
                true,
            ),
        ],
    );
}

#[test]
fn test_create_node() {
    check(
        "TestCreateNode",
        &[
            case(
                "Creating Node matching already assigned Pod",
                "pod d/pod1 on node1",
                "node node1",
                false,
            ),
            case(
                "Creating tainted Node matching already assigned Pod",
                "pod d/pod1 on node1",
                "node node1 a",
                true,
            ),
            case(
                "Creating tainted Node matching already assigned tolerating Pod",
                "pod d/pod1 on node1 tolerates a/inf",
                "node node1 a",
                false,
            ),
        ],
    );
}

#[test]
fn test_delete_node() {
    let mut session = Session::default();
    session.execute("cluster 1.35\nnode node1 a").unwrap();
    assert_eq!(session.execute("state").unwrap(), "tainted node node1: a:NoExecute\n");
    session.execute("delete-node node1").unwrap();
    assert_eq!(session.execute("state").unwrap(), "nothing\n");
}

#[test]
fn test_update_node() {
    check(
        "TestUpdateNode",
        &[
            case("Added taint", "node node1; pod d/pod1 on node1", "taints node1 a", true),
            case(
                "Added tolerated taint",
                "node node1; pod d/pod1 on node1 tolerates a/100",
                "taints node1 a",
                false,
            ),
            case(
                "Only one added taint tolerated",
                "node node1; pod d/pod1 on node1 tolerates a/100",
                "taints node1 a b",
                true,
            ),
            case_until(
                "Taint removed",
                "node node1 a; pod d/pod1 on node1 tolerates a/1",
                "taints node1",
                "5s",
                false,
            ),
            case_until(
                "Pod with multiple tolerations are evicted when first one runs out",
                "node node1; pod d/pod1 on node1 tolerates a/1 b/100",
                "taints node1 a b",
                "1500ms",
                true,
            ),
        ],
    );
}

/// The pod tolerates the first taint forever and the second for a time. The queue is looked at
/// after each step.
#[test]
fn test_update_node_with_multiple_taints() {
    for (release, last) in [("1.18", true), ("1.20", false), ("1.35", false)] {
        let mut session = Session::default();
        session
            .execute(&format!(
                "cluster {release}\nnode node1\npod d/pod1 on node1 tolerates a/inf b/60"
            ))
            .unwrap();
        for (taints, queued) in [("a", false), ("a b", true), ("a", last)] {
            session.execute(&format!("taints node1 {taints}")).unwrap();
            let pod = PodKey::parse("d/pod1").unwrap();
            let worker = session.simulator().unwrap().taint_eviction().scheduled_eviction(&pod);
            assert_eq!(worker.is_some(), queued, "{release}: {taints}");
            session.execute("advance 10s").unwrap();
        }
        assert_eq!(deleted(session.log(), RequestVerb::Delete), [""; 0]);
    }
}

#[test]
fn test_update_node_with_multiple_pods() {
    for (name, taints, deleted_by) in [
        (
            "Pods with different toleration times are evicted appropriately",
            "a",
            [("0s", "d/pod1"), ("2s", "d/pod1 d/pod2"), ("1h", "d/pod1 d/pod2")],
        ),
        (
            "Evict all pods not matching all taints instantly",
            "a b",
            [
                ("0s", "d/pod1 d/pod2 d/pod3"),
                ("2s", "d/pod1 d/pod2 d/pod3"),
                ("1h", "d/pod1 d/pod2 d/pod3"),
            ],
        ),
    ] {
        for release in ["1.18", "1.20", "1.35"] {
            let mut session = Session::default();
            session
                .execute(&format!(
                    "cluster {release}\nnode node1\npod d/pod1 on node1\n\
                     pod d/pod2 on node1 tolerates a/1\npod d/pod3 on node1 tolerates a/inf"
                ))
                .unwrap();
            session.execute(&format!("taints node1 {taints}")).unwrap();
            for (until, expected) in deleted_by {
                session.execute(&format!("advance {until}")).unwrap();
                let got = deleted(session.log(), RequestVerb::Delete).join(" ");
                assert_eq!(got, expected, "{name} ({release}) by {until}");
            }
        }
    }
}

/// Node and pods change one after the other; whatever comes first, the pods that do not tolerate
/// the taint are deleted in the end.
#[test]
fn test_eventual_consistency() {
    for (name, second_pod, change, both) in [
        ("existing pod2 scheduled onto tainted Node", "pod d/pod2", "bind d/pod2 node1", true),
        (
            "existing pod2 with taint toleration scheduled onto tainted Node",
            "pod d/pod2 tolerates a/100",
            "bind d/pod2 node1",
            false,
        ),
        ("new pod2 created on tainted Node", "", "pod d/pod2 on node1", true),
        (
            "new pod2 with tait toleration created on tainted Node",
            "",
            "pod d/pod2 on node1 tolerates a/100",
            false,
        ),
    ] {
        let expected = if both { vec!["d/pod1", "d/pod2"] } else { vec!["d/pod1"] };
        let (taint, change) = ("taints node1 a", change);
        let orders = [
            vec![format!("{taint}\n{change}")],
            vec![format!("{change}\n{taint}")],
            // The controller looks between the two changes.
            vec![taint.to_owned(), change.to_owned()],
            vec![change.to_owned(), taint.to_owned()],
        ];
        for blocks in orders {
            let mut session = Session::default();
            session
                .execute(&format!("cluster 1.35\nnode node1\npod d/pod1 on node1\n{second_pod}"))
                .unwrap();
            for block in &blocks {
                session.execute(block).unwrap();
            }
            session.execute("advance 1s").unwrap();
            let mut got = deleted(session.log(), RequestVerb::Delete);
            got.sort();
            got.dedup();
            assert_eq!(got, expected, "{name}, {blocks:?}");
        }
    }
}

#[test]
fn test_pod_deletion_event() {
    for (release, component, api_version) in [
        ("1.28", "taint-controller", ""),
        ("1.29", "taint-eviction-controller", "v1"),
        ("1.35", "taint-eviction-controller", "v1"),
    ] {
        let mut session = Session::default();
        session
            .execute(&format!(
                "cluster {release}\nnode node1 a\npod test/test on node1 tolerates a/9\n\
                 at 1s taints node1 a b"
            ))
            .unwrap();
        let recorded: Vec<_> = session
            .log()
            .iter()
            .filter_map(|event| match &event.what {
                EventKind::EventRecorded(recorded) => Some(recorded.clone()),
                _ => None,
            })
            .collect();
        let messages =
            ["Cancelling deletion of Pod test/test", "Marking for deletion Pod test/test"];
        assert_eq!(recorded.len(), 2);
        for (recorded, message) in recorded.iter().zip(messages) {
            let pod = PodKey::new("test", "test");
            assert_eq!(recorded.involved_object, ObjectReference::Pod { api_version, pod });
            assert_eq!(recorded.message, message);
            assert_eq!((recorded.type_, recorded.reason), ("Normal", "TaintManagerEviction"));
            assert_eq!(recorded.component, component);
        }
    }
}
