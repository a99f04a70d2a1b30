//! Pods that run to their end, as the annotation `taintlab/run-time` says.

use serde_json::{Value, json};
use taintlab_core::api::{JobStatus, Pod, PodPhase, Workload};
use taintlab_core::command::Command;
use taintlab_core::simulator::{JobView, Simulator};

use super::controllers::{at, cluster, key};

/// A Job whose only pod is ready after 2 s, and has run when 30 s more are over.
fn job(policy: &str, on_template: bool) -> Workload {
    let says = json!({ "taintlab/run-time": "30s" });
    let mut job = json!({
        "kind": "Job", "metadata": { "name": "sum" },
        "spec": { "template": {
            "metadata": { "labels": { "job-name": "sum" } },
            "spec": { "containers": [{ "name": "main" }], "restartPolicy": policy,
                      "terminationGracePeriodSeconds": 120 },
        } },
    });
    let of = if on_template { "/spec/template/metadata" } else { "/metadata" };
    job.pointer_mut(of).unwrap()["annotations"] = says;
    serde_json::from_value(job).unwrap()
}

fn pods(simulator: &Simulator) -> Vec<&Pod> {
    let pods = simulator.workload_view(&key("job/sum")).unwrap().pods;
    pods.iter().map(|pod| simulator.cluster().get_pod(pod).unwrap().as_ref()).collect()
}

fn status(simulator: &Simulator) -> JobStatus {
    simulator.cluster().get_workload(&key("job/sum")).unwrap().status()
}

/// Carries out commands at their seconds, given as JSON with `POD` for the Job's first pod.
fn play(simulator: &mut Simulator, steps: &[(u64, Value)]) {
    for (second, step) in steps {
        simulator.advance_to(at(*second)).unwrap();
        assert_eq!(status(simulator).succeeded, 0, "{second}");
        let text = step.to_string().replace("POD", &pods(simulator)[0].metadata.name);
        let command: Command = serde_json::from_str(&text).unwrap();
        simulator.handle_command(at(*second), command).unwrap();
    }
}

/// When the Job has this many pods that have succeeded, in seconds; both sides are looked at.
fn succeeds_at(simulator: &mut Simulator, second: u64, case: &str) {
    if simulator.now() < at(second - 1) {
        simulator.advance_to(at(second - 1)).unwrap();
        assert_eq!(status(simulator).succeeded, 0, "{case}");
    }
    simulator.advance_to(at(second)).unwrap();
    simulator.advance_to(at(second + 1)).unwrap();
    assert_eq!(status(simulator).succeeded, 1, "{case}: {:?}", pods(simulator));
    let done = pods(simulator).into_iter().find(|pod| pod.status.phase == PodPhase::Succeeded);
    let done = done.unwrap_or_else(|| panic!("{case}"));
    let ready = done.condition("Ready").unwrap();
    assert_eq!((ready.status.to_string(), &*ready.reason), ("False".to_owned(), "PodCompleted"));
    let done: Vec<String> = status(simulator).conditions.into_iter().map(|c| c.type_).collect();
    assert_eq!(done.last().map(String::as_str), Some("Complete"), "{case}");
}

/// Containers end while their kubelet is unreachable, and with their node.
#[test]
fn containers_end_whoever_hears_it() {
    let node = json!({ "node": "n1" });
    let command = |name: &str| json!({ name: node });
    let cut = command("cutNetwork");
    let back = command("restoreNetwork");
    let (stop, start) = (command("stopKubelet"), command("startKubelet"));
    let off = command("powerOffNode");
    for (case, policy, steps, ends) in [
        ("nothing happens", "Never", vec![], 32),
        ("they end while the network is cut", "Never", vec![(10, &cut), (110, &back)], 110),
        ("the network is back before", "Never", vec![(10, &cut), (20, &back)], 32),
        ("the kubelet is a process beside them", "Never", vec![(10, &stop), (60, &start)], 60),
        ("a kubelet that restarts finds them", "Never", vec![(10, &stop), (15, &start)], 32),
        // 2 s to start again, and their whole time.
        ("they begin anew on a node that was off", "OnFailure", vec![(10, &off), (60, &start)], 92),
        ("they had ended", "Never", vec![(10, &cut), (40, &off), (41, &back), (60, &start)], 60),
    ] {
        for release in ["1.20", "1.35"] {
            for on_template in [false, true] {
                let mut simulator = cluster(release, 1, vec![job(policy, on_template)]);
                let steps: Vec<(u64, Value)> =
                    steps.iter().map(|(second, step)| (*second, (*step).clone())).collect();
                play(&mut simulator, &steps);
                succeeds_at(&mut simulator, ends, case);
            }
        }
    }
    // What is to run once has failed with its node.
    let mut simulator = cluster("1.35", 1, vec![job("Never", true)]);
    play(&mut simulator, &[(10, off), (60, start)]);
    simulator.advance_to(at(62)).unwrap();
    assert_eq!(pods(&simulator)[0].status.phase, PodPhase::Failed);
    assert_eq!(status(&simulator).failed, 1);
    // What is to run always does not end.
    let pod = json!({ "metadata": { "name": "web",
        "annotations": { "taintlab/run-time": "30s" } },
        "spec": { "containers": [{ "name": "c" }] } });
    let create: Command = serde_json::from_value(json!({ "createPod": pod })).unwrap();
    simulator.handle_command(at(62), create).unwrap();
    simulator.advance_to(at(200)).unwrap();
    let web = simulator.cluster().get_pod(&super::controllers::pod("web")).unwrap();
    assert_eq!(web.status.phase, PodPhase::Running);
}

/// A pod that ends by itself in its grace period is gone at once. It was a failure when it was
/// deleted, and is no success then.
#[test]
fn a_deleted_pod_that_ends_by_itself_is_gone() {
    let mut simulator = cluster("1.35", 1, vec![job("Never", true)]);
    play(&mut simulator, &[(10, json!({ "deletePod": { "pod": "POD" } }))]);
    let first = pods(&simulator)[0].key();
    simulator.advance_to(at(31)).unwrap();
    assert!(simulator.cluster().get_pod(&first).is_some_and(|pod| pod.is_terminating()));
    simulator.advance_to(at(33)).unwrap();
    assert!(simulator.cluster().get_pod(&first).is_none());
    assert_eq!((status(&simulator).succeeded, status(&simulator).failed), (0, 1));

    // One that was killed before, while its kubelet was unreachable, has not succeeded.
    let mut simulator = cluster("1.35", 1, vec![job("Never", true)]);
    let short = json!({ "deletePod": { "pod": "POD", "gracePeriodSeconds": 5 } });
    play(&mut simulator, &[(10, short)]);
    let first = pods(&simulator)[0].key();
    let node = json!({ "node": "n1" });
    let steps = [(11, json!({ "cutNetwork": node })), (60, json!({ "restoreNetwork": node }))];
    play(&mut simulator, &steps);
    simulator.advance_to(at(62)).unwrap();
    assert!(simulator.cluster().get_pod(&first).is_none());
    assert_eq!(status(&simulator).succeeded, 0);
}

#[test]
fn a_run_time_that_cannot_be_read_is_refused() {
    let mut simulator = cluster("1.35", 1, Vec::new());
    for of in ["/metadata", "/spec/template/metadata"] {
        let mut job = serde_json::to_value(job("Never", true)).unwrap();
        job.pointer_mut(of).unwrap()["annotations"] = json!({ "taintlab/run-time": "long" });
        let command: Command = serde_json::from_value(json!({ "createWorkload": job })).unwrap();
        let result = simulator.handle_command(at(0), command);
        if of == "/metadata" {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("metadata.annotations[taintlab/run-time]"), "{error}");
        } else {
            // As with the other times, its pods are refused.
            simulator.advance_to(at(5)).unwrap();
            assert!(pods(&simulator).is_empty());
        }
    }
}

/// What is seen of a Job follows its status, and its limits are those of its spec.
#[test]
fn a_job_is_seen_as_far_as_it_has_come() {
    let mut job = job("Never", false);
    for (field, number) in [("completions", 2), ("parallelism", 1), ("activeDeadlineSeconds", 60)] {
        job.spec.other.set(field, number.into());
    }
    let mut simulator = cluster("1.35", 2, vec![job]);
    let mut seen = |second| {
        simulator.advance_to(at(second)).unwrap();
        let job = simulator.workload_view(&key("job/sum")).unwrap().job.unwrap();
        let deadline = job.deadline.map(|at| at.to_string()).unwrap_or_default();
        let JobView { active, succeeded, failed, backoff_limit, .. } = job;
        let wanted = (job.completions, job.parallelism, backoff_limit, deadline.as_str());
        assert_eq!(wanted, (Some(2), 1, 6, "1m0s"), "{second}");
        format!("{active} {succeeded} {failed} {}", job.finished.unwrap_or_default())
    };
    assert_eq!(seen(10), "1 0 0 ");
    assert_eq!(seen(40), "1 1 0 ");
    // The Job ends with its last pod.
    assert_eq!(seen(61), "0 1 1 ");
    assert_eq!(seen(95), "0 1 1 Failed: DeadlineExceeded");
}

/// A Job that is over, or suspended, wants no pods, and never more than it has completions to go:
/// nothing is missing then.
#[test]
fn a_job_misses_only_pods_that_it_wants() {
    let complete = "Complete: CompletionsReached";
    let fields = |fields: Value| {
        let mut job = job("Never", false);
        for (field, value) in fields.as_object().unwrap() {
            job.spec.other.set(field, value.clone());
        }
        job
    };
    let update = |job: &Workload| json!({ "updateWorkload": job });
    let suspended = update(&fields(json!({ "suspend": true })));
    let resumed = update(&fields(json!({ "suspend": false })));
    let delete = json!({ "deletePod": { "pod": "default/POD", "force": true } });
    for (case, job, steps, ends, lost) in [
        ("it is complete", json!({}), vec![], complete, 0),
        (
            "it has failed",
            json!({ "activeDeadlineSeconds": 20 }),
            vec![],
            "Failed: DeadlineExceeded",
            0,
        ),
        // The third begins when the first two have ended, 1 s later, and is alone.
        (
            "few completions are left",
            json!({ "completions": 3, "parallelism": 2 }),
            vec![],
            complete,
            3,
        ),
        // Whatever is not begun when the first one ends is not begun any more.
        ("one is enough", json!({ "parallelism": 2 }), vec![(10, delete)], complete, 12),
        (
            "a number has failed",
            json!({ "completions": 2, "parallelism": 2, "completionMode": "Indexed",
                    "backoffLimitPerIndex": 0 }),
            vec![(10, json!({ "deletePod": { "pod": "default/POD", "gracePeriodSeconds": 1 } }))],
            "Failed: FailedIndexes",
            1,
        ),
        ("it is suspended", json!({}), vec![(10, suspended), (100, resumed)], complete, 2),
    ] {
        let mut simulator = cluster("1.35", 2, vec![fields(job)]);
        for (second, step) in steps {
            simulator.advance_to(at(second)).unwrap();
            let mut text = step.to_string();
            if let Some(pod) = pods(&simulator).first() {
                text = text.replace("POD", &pod.metadata.name);
            }
            let command: Command = serde_json::from_str(&text).unwrap();
            simulator.handle_command(at(second), command).unwrap();
        }
        simulator.advance_to(at(1_000)).unwrap();
        let view = simulator.workload_view(&key("job/sum")).unwrap();
        assert_eq!(view.job.unwrap().finished.unwrap_or_default(), ends, "{case}");
        assert_eq!((view.desired, view.unavailable), (0, 0), "{case}");
        let found = simulator.availability(&key("job/sum")).unwrap();
        assert_eq!(found.replica_time_lost.as_secs(), lost, "{case}: {:?}", found.steps);
    }
}
