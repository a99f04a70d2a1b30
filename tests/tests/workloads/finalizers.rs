//! Finalizers of pods: what keeps a deleted pod, and for how long.

use serde_json::json;
use taintlab_core::api::{Pod, PodPhase};
use taintlab_core::command::Command;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::controllers::{at, cluster, key, pod, workload};

/// A pod with these finalizers on a node, whose deletion begins at 10 s.
fn deleted(finalizers: &[&str]) -> Simulator {
    let mut simulator = cluster("1.36", 2, Vec::new());
    let kept: Pod = serde_json::from_value(json!({
        "metadata": { "name": "kept", "namespace": "default", "finalizers": finalizers },
        "spec": { "nodeName": "n1", "containers": [{ "name": "app" }] },
    }))
    .unwrap();
    simulator.handle_command(at(0), Command::CreatePod(kept)).unwrap();
    let pod = pod("default/kept");
    let delete = Command::DeletePod { pod, force: false, grace_period_seconds: None };
    simulator.handle_command(at(10), delete).unwrap();
    simulator
}

fn kept(simulator: &Simulator) -> Option<&Pod> {
    simulator.cluster().get_pod(&pod("default/kept")).map(|pod| &**pod)
}

/// Stores the pod with other finalizers.
fn set(simulator: &mut Simulator, now: Timestamp, finalizers: &[&str]) -> Result<(), String> {
    let mut pod = kept(simulator).unwrap().clone();
    pod.metadata.other.set("finalizers", finalizers.into());
    let result = simulator.handle_command(now, Command::UpdatePod(pod));
    result.map_err(|error| error.to_string())
}

#[test]
fn a_finalizer_keeps_a_deleted_pod_until_it_is_taken_off() {
    let mut simulator = deleted(&["example.com/a", "example.com/b"]);
    simulator.advance_to(at(39)).unwrap();
    assert_eq!(kept(&simulator).unwrap().metadata.deletion_grace_period_seconds, Some(30));
    let state = simulator.pod_states().get(&pod("default/kept")).unwrap();
    assert_eq!(state.verdict_text(), "being deleted", "nobody knows until when");
    simulator.advance_to(at(3_600)).unwrap();
    let pod = kept(&simulator).unwrap();
    assert_eq!(pod.metadata.deletion_grace_period_seconds, Some(0));
    assert!(pod.is_terminating());
    assert_eq!(pod.status.phase, PodPhase::Failed, "its containers have ended");
    assert_eq!(simulator.poll_timeout(), None, "nothing waits for it");
    let outcome = simulator.outcome().unwrap().to_string();
    assert!(outcome.ends_with("; 1 not ready"), "{outcome}");

    let error = set(&mut simulator, at(3_600), &["example.com/a", "y", "x"]).unwrap_err();
    let said = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is \
                being deleted, found new finalizers []string{\"x\", \"y\"}";
    assert!(error.contains(said), "{error}");
    set(&mut simulator, at(3_600), &["example.com/a"]).unwrap();
    assert!(kept(&simulator).is_some());
    set(&mut simulator, at(3_600), &[]).unwrap();
    assert!(kept(&simulator).is_none());
}

/// The garbage collector takes its own off at once; and those of a pod that runs can change.
#[test]
fn finalizers_that_are_gone_when_the_pod_ends_do_not_keep_it() {
    for finalizers in [&["foregroundDeletion", "orphan"][..], &[]] {
        let mut simulator = deleted(finalizers);
        simulator.advance_to(at(41)).unwrap();
        assert!(kept(&simulator).is_none(), "{finalizers:?}");
    }
    let mut simulator = deleted(&["example.com/a"]);
    set(&mut simulator, at(20), &[]).unwrap();
    assert!(kept(&simulator).is_some(), "its grace period runs");
    simulator.advance_to(at(41)).unwrap();
    assert!(kept(&simulator).is_none());
}

/// Pods that are deleted at once are kept, too: by force, or because their node is gone.
#[test]
fn a_finalizer_keeps_a_pod_without_a_grace_period() {
    let mut simulator = deleted(&["example.com/a"]);
    let delete =
        Command::DeletePod { pod: pod("default/kept"), force: true, grace_period_seconds: None };
    simulator.handle_command(at(11), delete).unwrap();
    assert_eq!(kept(&simulator).unwrap().metadata.deletion_grace_period_seconds, Some(0));

    let mut simulator = deleted(&["example.com/a"]);
    simulator.handle_command(at(11), Command::DeleteNode { node: "n1".into() }).unwrap();
    simulator.advance_to(at(3_600)).unwrap();
    assert_eq!(kept(&simulator).unwrap().status.phase, PodPhase::Failed);
    assert_eq!(simulator.poll_timeout(), None, "the collector does not try again for ever");
}

/// Mirrors `GetPodFromTemplate`.
#[test]
fn the_pods_of_a_template_have_its_finalizers() {
    let mut set = workload(taintlab_core::api::WorkloadKind::Deployment, "web", 1, json!({}));
    set.spec.template.metadata.other.set("finalizers", json!(["example.com/a"]));
    let mut simulator = cluster("1.36", 1, vec![set]);
    simulator.advance_to(at(10)).unwrap();
    let pods = simulator.workload_view(&key("deployment/web")).unwrap().pods;
    let made = simulator.cluster().get_pod(&pods[0]).unwrap();
    assert!(made.metadata.finalizers().eq(["example.com/a"]));
}
