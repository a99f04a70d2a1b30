//! Rules of the controllers of workloads, under the releases on both sides of a change.

use serde_json::{Value, json};
use taintlab_core::api::{
    ConditionStatus, DeploymentStatus, JobStatus, Pod, PodPhase, Workload, WorkloadCondition,
    WorkloadKey, WorkloadKind,
};
use taintlab_core::command::Command;
use taintlab_core::event::EventKind;
use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::{Time, Timestamp};

use super::controllers::{at, cluster, key, messages, pod, workload};

/// A Job whose pods run until a test ends them.
fn job(more: Value) -> Workload {
    let mut spec = json!({
        "template": {
            "metadata": { "labels": { "job-name": "sum" } },
            "spec": { "containers": [{ "name": "main" }], "restartPolicy": "Never" },
        },
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(json!({ "kind": "Job", "metadata": { "name": "sum" }, "spec": spec }))
        .unwrap()
}

fn pods_of(simulator: &Simulator, workload: &str) -> Vec<Pod> {
    let pods = simulator.workload_view(&key(workload)).unwrap().pods;
    pods.iter().map(|pod| Pod::clone(simulator.cluster().get_pod(pod).unwrap())).collect()
}

/// The containers of a pod end, now.
fn end(simulator: &mut Simulator, now: Timestamp, mut pod: Pod, phase: PodPhase) {
    pod.status.phase = phase;
    for condition in pod.status.conditions.iter_mut().filter(|known| known.type_ == "Ready") {
        condition.status = ConditionStatus::False;
        condition.last_transition_time = Some(Time::DEFAULT_START.saturating_add(now.since_zero()));
    }
    simulator.handle_command(now, Command::UpdatePod(pod)).unwrap();
    simulator.advance_to(now).unwrap();
}

/// The Job controller has looked at what changed a second ago, as it does since 1.24.
fn settle(simulator: &mut Simulator) {
    let next = simulator.now().saturating_add(std::time::Duration::from_secs(1));
    simulator.advance_to(next).unwrap();
}

fn running(simulator: &Simulator, workload: &str) -> Vec<Pod> {
    let mut pods = pods_of(simulator, workload);
    pods.retain(|pod| pod.status.phase == PodPhase::Running && !pod.is_terminating());
    pods
}

fn conditions(simulator: &Simulator, workload: &str) -> Vec<WorkloadCondition> {
    let workload = simulator.cluster().get_workload(&key(workload)).unwrap();
    match workload.kind {
        WorkloadKind::Job => workload.status::<JobStatus>().conditions,
        _ => workload.status::<DeploymentStatus>().conditions,
    }
}

fn reasons(simulator: &Simulator, workload: &str) -> String {
    let mut conditions = conditions(simulator, workload);
    // A finished Job's intermediate conditions do not matter.
    if conditions.iter().any(|known| ["Complete", "Failed"].contains(&known.type_.as_str())) {
        conditions.retain(|known| {
            !["FailureTarget", "SuccessCriteriaMet"].contains(&known.type_.as_str())
        });
    }
    let reasons = conditions.iter().map(|known| format!("{} {}", known.type_, known.reason));
    reasons.collect::<Vec<_>>().join(", ")
}

/// Else the pods that it makes would not be its own, and it would make others forever.
#[test]
fn a_job_is_refused_whose_selector_does_not_select_its_pods() {
    let mut simulator = cluster("1.35", 1, Vec::new());
    let create = |simulator: &mut Simulator, selector: Value| {
        let job = Box::new(job(json!({ "selector": selector })));
        let result = simulator.handle_command(Timestamp::ZERO, Command::CreateWorkload(job));
        result.map_err(|error| error.to_string())
    };
    let refused = create(&mut simulator, json!({ "matchLabels": { "app": "web" } })).unwrap_err();
    let detail = "spec.template.metadata.labels: Invalid value: \"job-name=sum\": \
                  `selector` does not match template `labels`";
    assert!(refused.contains(detail), "{refused}");
    create(&mut simulator, json!({ "matchLabels": { "job-name": "sum" } })).unwrap();
    simulator.advance_to(at(1)).unwrap();
    assert_eq!(pods_of(&simulator, "job/sum").len(), 1);
}

/// Up to 1.26 the queue of the controller waits, and not for the first failure, but a batch of
/// changes since 1.24; since 1.27 pods wait for 10 s after the last one ended, doubled for each
/// failure.
#[test]
fn a_failed_pod_of_a_job_is_replaced_after_a_back_off() {
    for (release, waits) in [
        ("1.20", [0, 10]),
        ("1.23", [0, 10]),
        ("1.24", [1, 10]),
        ("1.26", [1, 10]),
        ("1.27", [10, 20]),
    ] {
        let mut simulator = cluster(release, 1, vec![job(json!({}))]);
        let mut now = 100;
        for wait in waits {
            simulator.advance_to(at(now)).unwrap();
            let pods = running(&simulator, "job/sum");
            assert_eq!(pods.len(), 1, "{release} {now}");
            let before = pods_of(&simulator, "job/sum").len();
            end(&mut simulator, at(now), pods[0].clone(), PodPhase::Failed);
            if wait > 1 {
                simulator.advance_to(at(now + wait - 1)).unwrap();
                assert_eq!(pods_of(&simulator, "job/sum").len(), before, "{release} {now}");
            }
            simulator.advance_to(at(now + wait)).unwrap();
            assert_eq!(pods_of(&simulator, "job/sum").len(), before + 1, "{release} {now}");
            // The look after 10 s, which finds nothing, is over then.
            now += wait + 25;
        }
    }
}

/// A Job, one pod of which is deleted at 15 s with a grace period of 5 s: at which seconds its pods
/// are created, and when the deleted one is gone.
fn delete_one(release: &str, more: Value) -> (Vec<u64>, u64) {
    let (created, gone) = delete_at(release, more, &[15], 60);
    (created, gone[0])
}

/// The same for pods that are deleted at these seconds, those of one second together, until the end.
fn delete_at(release: &str, more: Value, seconds: &[u64], end: u64) -> (Vec<u64>, Vec<u64>) {
    let mut it = job(more);
    it.spec.template.spec.termination_grace_period_seconds = Some(5);
    let mut simulator = cluster(release, 2, vec![it]);
    let mut deleted = Vec::new();
    for second in seconds {
        simulator.advance_to(at(*second)).unwrap();
        let pod = running(&simulator, "job/sum").remove(0).key();
        deleted.push(pod.clone());
        let delete = Command::DeletePod { pod, force: false, grace_period_seconds: None };
        simulator.handle_command(at(*second), delete).unwrap();
    }
    simulator.advance_to(at(end)).unwrap();
    let (mut created, mut gone) = (Vec::new(), Vec::new());
    for event in simulator.drain_events() {
        let second = event.at.since_zero().as_secs();
        match event.what {
            EventKind::PodAdded { .. } => created.push(second),
            EventKind::PodDeleted { pod, .. } if deleted.contains(&pod) => gone.push(second),
            _ => {}
        }
    }
    (created, gone)
}

/// The back-off counts from the end of the containers, which comes before the end of the pod; a pod
/// is gone when its Job has counted it, a second later.
#[test]
fn a_deleted_pod_is_replaced_ten_seconds_after_its_containers_have_ended() {
    let rule = |action: &str| {
        let condition = json!([{ "type": "Ready", "status": "False" }]);
        json!({ "podFailurePolicy": { "rules": [
            { "action": action, "onPodConditions": condition },
        ] } })
    };
    // What is counted when it is deleted has ended then, as far as is known.
    assert_eq!(delete_one("1.35", json!({})), (vec![0, 25], 20));
    assert_eq!(delete_one("1.29", rule("Count")), (vec![0, 30], 21));
    assert_eq!(delete_one("1.35", rule("Count")), (vec![0, 30], 21));
    // The policy does not matter to the back-off.
    assert_eq!(delete_one("1.29", rule("Ignore")), (vec![0, 30], 21));
    assert_eq!(delete_one("1.35", rule("Ignore")), (vec![0, 30], 21));
    // The queue does not wait for the first failure, only for the batch since 1.24.
    assert_eq!(delete_one("1.26", json!({})), (vec![0, 16], 20));
    assert_eq!(delete_one("1.23", json!({})), (vec![0, 15], 20));
}

/// Two failures at once double the back-off, and so does a second one that is ignored.
#[test]
fn the_second_failure_doubles_the_back_off_whatever_is_made_of_it() {
    for release in ["1.29", "1.35"] {
        let two = json!({ "podReplacementPolicy": "Failed", "parallelism": 2, "completions": 4 });
        let (created, _) = delete_at(release, two, &[30, 30], 60);
        assert_eq!(created, [0, 0, 55, 55], "{release}: 20 s after the end of containers at 35 s");
        let condition = json!([{ "type": "Ready", "status": "False" }]);
        let ignore = json!({ "podFailurePolicy": { "rules": [
            { "action": "Ignore", "onPodConditions": condition },
        ] } });
        let (created, _) = delete_at(release, ignore, &[15, 45], 90);
        assert_eq!(created, [0, 30, 70], "{release}: 10 s after 20 s, 20 s after 50 s");
    }
}

/// While a Job waits after a failure, its status tells of no active pods. Since 1.31 that is refused
/// where others are ready, so that the failure is not counted before it is over.
#[test]
fn a_job_with_ready_pods_counts_no_failure_while_it_waits() {
    let three = json!({ "parallelism": 3, "completions": 9 });
    assert_eq!(delete_one("1.30", three.clone()), (vec![0, 0, 0, 25], 20));
    assert_eq!(delete_one("1.31", three.clone()), (vec![0, 0, 0, 30], 30));
    assert_eq!(delete_one("1.35", three), (vec![0, 0, 0, 30], 30));
}

/// Since 1.24 a Job is looked at 1 s after a pod of it has changed.
#[test]
fn changes_of_pods_are_looked_at_together() {
    for (release, wait) in [("1.23", 0), ("1.24", 1), ("1.35", 1)] {
        let two = json!({ "completions": 2, "parallelism": 1 });
        let mut simulator = cluster(release, 1, vec![job(two)]);
        simulator.advance_to(at(40)).unwrap();
        let first = running(&simulator, "job/sum").remove(0);
        end(&mut simulator, at(40), first, PodPhase::Succeeded);
        simulator.advance_to(Timestamp::from_millis(40_900)).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), 2 - wait, "{release}");
        simulator.advance_to(at(41)).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), 2, "{release}");
    }
}

/// A pod that a Job deletes since it is suspended does not count as failed, and one that is kept by
/// nothing but its Job goes with the Job.
#[test]
fn a_job_keeps_pods_only_until_it_has_counted_them() {
    let mut simulator = cluster("1.35", 1, vec![job(json!({}))]);
    simulator.advance_to(at(10)).unwrap();
    let mut other = simulator.clone();
    let suspended = job(json!({ "suspend": true }));
    simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(suspended))).unwrap();
    simulator.advance_to(at(50)).unwrap();
    let status: JobStatus = simulator.cluster().get_workload(&key("job/sum")).unwrap().status();
    assert_eq!((status.failed, pods_of(&simulator, "job/sum").len()), (0, 0));

    let pod = running(&other, "job/sum").remove(0).key();
    let delete = Command::DeletePod { pod: pod.clone(), force: true, grace_period_seconds: None };
    other.handle_command(at(10), delete).unwrap();
    other.advance_to(Timestamp::from_millis(10_500)).unwrap();
    assert!(other.cluster().get_pod(&pod).is_some_and(|pod| pod.is_terminating()));
    let delete = json!({ "deleteWorkload": { "workload": "job/sum" } });
    let delete: Command = serde_json::from_value(delete).unwrap();
    other.handle_command(Timestamp::from_millis(10_500), delete).unwrap();
    other.advance_to(at(11)).unwrap();
    assert!(other.cluster().get_pod(&pod).is_none());
}

/// When the Job is seen to create its next pods.
fn next_retry(simulator: &Simulator) -> Option<Moment> {
    let key = WorkloadKey::parse("job/sum").unwrap();
    simulator.workload_view(&key).unwrap().job.unwrap().next_retry
}

/// The time of the next pods is that of the last failure, and there is none when nothing waits.
#[test]
fn the_next_retry_of_a_job_is_seen() {
    for minor in ["1.20", "1.27", "1.35"] {
        let two = json!({ "parallelism": 2, "completions": 4, "backoffLimit": 9 });
        let mut simulator = cluster(minor, 2, vec![job(two)]);
        simulator.advance_to(at(100)).unwrap();
        for (when, pod) in [100, 105].into_iter().zip(running(&simulator, "job/sum")) {
            end(&mut simulator, at(when), pod, PodPhase::Failed);
        }
        simulator.advance_to(at(105)).unwrap();
        let told = next_retry(&simulator).unwrap_or_else(|| panic!("{minor}"));
        let before = pods_of(&simulator, "job/sum").len();
        let until = Timestamp::from_nanos(u64::try_from(told.as_nanos()).unwrap() - 1);
        simulator.advance_to(until).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), before, "{minor}: {told}");
        simulator.advance_to(Timestamp::from_nanos(until.as_nanos() + 1)).unwrap();
        assert!(pods_of(&simulator, "job/sum").len() > before, "{minor}: {told}");
        assert_eq!(next_retry(&simulator), None, "{minor}");
    }
}

/// C12: the wait for each further failure doubles, up to 10 min.
#[test]
fn c12_the_back_off_of_a_job_doubles_up_to_ten_minutes() {
    let mut simulator = cluster("1.27", 1, vec![job(json!({ "backoffLimit": 20 }))]);
    let mut now = 100;
    for wait in [10, 20, 40, 80, 160, 320, 600, 600] {
        simulator.advance_to(at(now)).unwrap();
        let before = pods_of(&simulator, "job/sum").len();
        let pod = running(&simulator, "job/sum").remove(0);
        assert_eq!(next_retry(&simulator), None, "{wait}");
        end(&mut simulator, at(now), pod, PodPhase::Failed);
        simulator.advance_to(at(now)).unwrap();
        assert_eq!(next_retry(&simulator), Some(at(now + wait).into()), "{wait}");
        simulator.advance_to(at(now + wait - 1)).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), before, "{wait}");
        simulator.advance_to(at(now + wait)).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), before + 1, "{wait}");
        now += wait + 25;
    }
}

/// C12: the wait counts from when the pod finished. One that is deleted finishes then; one on a
/// lost node had when it was marked as not ready, minutes before it is deleted.
#[test]
fn c12_a_lost_pod_has_finished_long_ago() {
    for (lost, waits) in [(false, true), (true, false)] {
        let mut simulator = cluster("1.35", 2, vec![job(json!({}))]);
        simulator.advance_to(at(100)).unwrap();
        let pod = running(&simulator, "job/sum").remove(0);
        let command = if lost {
            json!({ "cutNetwork": { "node": pod.spec.node_name } })
        } else {
            json!({ "deletePod": { "pod": pod.key().to_string() } })
        };
        let command: Command = serde_json::from_value(command).unwrap();
        simulator.handle_command(at(100), command).unwrap();
        let is_deleted = |simulator: &Simulator| {
            let pod = simulator.cluster().get_pod(&pod.key());
            pod.is_some_and(|pod| pod.is_terminating())
        };
        while !is_deleted(&simulator) {
            let next = simulator.poll_timeout().unwrap().at;
            assert!(next < at(600), "it is never deleted");
            simulator.handle_timeout(next).unwrap();
        }
        let deleted = simulator.now();
        let later = |seconds| deleted.saturating_add(std::time::Duration::from_secs(seconds));
        simulator.advance_to(later(8)).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), if waits { 1 } else { 2 }, "{lost}");
        simulator.advance_to(later(11)).unwrap();
        assert_eq!(pods_of(&simulator, "job/sum").len(), 2, "{lost}");
    }
}

/// C13: failed daemon pods of a node are deleted at once, then after 1 s, and so on up to 15 min.
#[test]
fn c13_failed_daemon_pods_wait_longer_and_longer() {
    for release in ["1.20", "1.35"] {
        let agent = workload(WorkloadKind::DaemonSet, "agent", 0, json!({}));
        let mut simulator = cluster(release, 1, vec![agent]);
        simulator.advance_to(at(10)).unwrap();
        let mut waits = Vec::new();
        for _ in 0..13 {
            let now = simulator.now();
            let mut pods = pods_of(&simulator, "daemonset/agent");
            pods.retain(|pod| pod.is_active());
            let failing = pods.remove(0);
            let (key, uid) = (failing.key(), failing.metadata.uid.clone());
            end(&mut simulator, now, failing, PodPhase::Failed);
            let is_there = |simulator: &Simulator| {
                simulator.cluster().get_pod(&key).is_some_and(|pod| pod.metadata.uid == uid)
            };
            while is_there(&simulator) {
                let next = simulator.poll_timeout().unwrap().at;
                simulator.advance_to(next).unwrap();
            }
            waits.push(simulator.now().since_zero().as_secs() - now.since_zero().as_secs());
        }
        let expected = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900];
        assert_eq!(waits, expected, "{release}");
    }
}

/// C5: a kubelet that restarts says up to 1.30 that its node is not ready until its next report,
/// and a pod that does not wait goes.
#[test]
fn c5_a_kubelet_that_restarts_loses_pods_up_to_1_30() {
    for (release, goes) in [("1.29", true), ("1.30", true), ("1.31", false), ("1.35", false)] {
        // With one node alone all zones would be fully disrupted, and nobody tainted.
        let mut simulator = cluster(release, 3, Vec::new());
        let at_once = json!({ "key": "node.kubernetes.io/not-ready", "operator": "Exists",
                              "effect": "NoExecute", "tolerationSeconds": 0 });
        let hasty = json!({ "metadata": { "name": "hasty" }, "spec": {
            "nodeName": "n1", "containers": [{ "name": "c" }], "tolerations": [at_once] } });
        for (second, command) in [
            (1, json!({ "createPod": hasty })),
            (61, json!({ "restartKubelet": { "node": "n1" } })),
        ] {
            let command: Command = serde_json::from_value(command).unwrap();
            simulator.handle_command(at(second), command).unwrap();
            simulator.advance_to(at(second + 9)).unwrap();
        }
        let found = simulator.cluster().get_pod(&pod("hasty"));
        assert_eq!(found.is_none_or(|pod| pod.is_terminating()), goes, "{release}");
    }
}

#[test]
fn a_job_is_complete_or_fails() {
    let limits = json!({ "completions": 1, "backoffLimit": 0, "activeDeadlineSeconds": 60 });
    for release in ["1.20", "1.22", "1.26", "1.35"] {
        let mut simulator = cluster(release, 1, vec![job(limits.clone())]);
        simulator.advance_to(at(10)).unwrap();
        let first = running(&simulator, "job/sum").remove(0);
        let (complete, late) = match release {
            "1.35" => ("Complete CompletionsReached", "FailureTarget DeadlineExceeded"),
            _ => ("Complete ", "Failed DeadlineExceeded"),
        };
        let mut other = simulator.clone();
        end(&mut simulator, at(20), first.clone(), PodPhase::Succeeded);
        settle(&mut simulator);
        assert_eq!(reasons(&simulator, "job/sum"), complete, "{release}");
        simulator.advance_to(at(100)).unwrap();
        assert_eq!(reasons(&simulator, "job/sum"), complete, "{release}");

        let mut failing = other.clone();
        end(&mut failing, at(20), first, PodPhase::Failed);
        settle(&mut failing);
        assert_eq!(reasons(&failing, "job/sum"), "Failed BackoffLimitExceeded", "{release}");

        other.advance_to(at(59)).unwrap();
        assert_eq!(running(&other, "job/sum").len(), 1, "{release}");
        other.advance_to(at(60)).unwrap();
        assert_eq!(reasons(&other, "job/sum"), late, "{release}");
        assert!(running(&other, "job/sum").is_empty(), "{release}");
    }
}

/// A suspended Job has no pods, since 1.22; its time begins again when it is resumed.
#[test]
fn a_job_is_suspended() {
    for (release, pods) in [("1.21", 1), ("1.22", 0)] {
        let mut simulator = cluster(release, 1, vec![job(json!({ "suspend": true }))]);
        simulator.advance_to(at(10)).unwrap();
        assert_eq!(running(&simulator, "job/sum").len(), pods, "{release}");
        let resumed = job(json!({ "suspend": false }));
        simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(resumed))).unwrap();
        simulator.advance_to(at(20)).unwrap();
        assert_eq!(running(&simulator, "job/sum").len(), 1, "{release}");
        let said = messages(&simulator.drain_events(), "Resumed");
        assert_eq!(said.len(), 1 - pods, "{release}");
    }
}

/// Since 1.22 each pod of an Indexed Job has a number, and the number is done when one has ended
/// well.
#[test]
fn an_indexed_job_does_each_number_once() {
    let indexed = json!({ "completions": 4, "parallelism": 2, "completionMode": "Indexed" });
    let index = |pod: &Pod| {
        let index = pod.metadata.annotations.get("batch.kubernetes.io/job-completion-index");
        index.cloned().unwrap_or_default()
    };
    for (release, indexes) in [("1.21", ["", ""]), ("1.22", ["0", "1"]), ("1.35", ["0", "1"])] {
        let mut simulator = cluster(release, 1, vec![job(indexed.clone())]);
        simulator.advance_to(at(10)).unwrap();
        let pods = running(&simulator, "job/sum");
        let found: Vec<String> = pods.iter().map(index).collect();
        assert_eq!(found, indexes, "{release}");
        if indexes[0].is_empty() {
            continue;
        }
        assert!(pods[1].metadata.name.starts_with("sum-1-"), "{release}");
        end(&mut simulator, at(20), pods[0].clone(), PodPhase::Succeeded);
        end(&mut simulator, at(20), pods[1].clone(), PodPhase::Failed);
        simulator.advance_to(at(40)).unwrap();
        let found: Vec<String> = running(&simulator, "job/sum").iter().map(index).collect();
        assert_eq!(found, ["1", "2"], "{release}");
        for pod in running(&simulator, "job/sum") {
            end(&mut simulator, at(50), pod, PodPhase::Succeeded);
        }
        simulator.advance_to(at(60)).unwrap();
        let job = simulator.cluster().get_workload(&key("job/sum")).unwrap();
        let status: JobStatus = job.status();
        assert_eq!(status.other.get("completedIndexes").unwrap(), "0-2", "{release}");
        let last = running(&simulator, "job/sum").remove(0);
        assert_eq!(index(&last), "3", "{release}");
        end(&mut simulator, at(60), last, PodPhase::Succeeded);
        settle(&mut simulator);
        let complete = if release == "1.35" { "Complete CompletionsReached" } else { "Complete " };
        assert_eq!(reasons(&simulator, "job/sum"), complete, "{release}");
    }
}

/// The running pod of a number of a Job fails.
fn fail_index(simulator: &mut Simulator, now: Timestamp, index: &str) {
    let name = format!("sum-{index}-");
    let mut pods = running(simulator, "job/sum").into_iter();
    let pod = pods.rfind(|pod| pod.metadata.name.starts_with(&name)).unwrap();
    end(simulator, now, pod, PodPhase::Failed);
}

#[test]
fn each_number_of_a_job_has_its_own_limit() {
    let spec = json!({ "completions": 3, "parallelism": 3, "completionMode": "Indexed",
        "backoffLimitPerIndex": 1 });
    for (release, counts) in [("1.28", false), ("1.29", true), ("1.35", true)] {
        let mut simulator = cluster(release, 1, vec![job(spec.clone())]);
        let status = |simulator: &Simulator| -> JobStatus {
            simulator.cluster().get_workload(&key("job/sum")).unwrap().status()
        };
        simulator.advance_to(at(10)).unwrap();
        fail_index(&mut simulator, at(20), "0");
        // Another number fails at another time, and waits by itself.
        simulator.advance_to(at(25)).unwrap();
        fail_index(&mut simulator, at(25), "2");
        simulator.advance_to(at(33)).unwrap();
        let names = |simulator: &Simulator| {
            let pods = running(simulator, "job/sum").into_iter();
            let mut names: Vec<String> =
                pods.map(|pod| pod.metadata.name[..5].to_owned()).collect();
            names.sort();
            names.join(" ")
        };
        // Without limits of their own the second failure doubles the time of all.
        assert_eq!(names(&simulator), if counts { "sum-0 sum-1" } else { "sum-1" }, "{release}");
        simulator.advance_to(at(50)).unwrap();
        assert_eq!(names(&simulator), "sum-0 sum-1 sum-2", "{release}");
        let count = "batch.kubernetes.io/job-index-failure-count";
        let again = running(&simulator, "job/sum").into_iter();
        let again = again.filter_map(|pod| pod.metadata.annotations.get(count).cloned());
        let again: Vec<String> = again.collect();
        assert_eq!(again, if counts { vec!["1", "0", "1"] } else { vec![] }, "{release}");
        fail_index(&mut simulator, at(60), "0");
        simulator.advance_to(at(200)).unwrap();
        if !counts {
            assert_eq!(names(&simulator), "sum-0 sum-1 sum-2", "{release}");
            continue;
        }
        assert_eq!(names(&simulator), "sum-1 sum-2", "{release}");
        assert_eq!(status(&simulator).other.get("failedIndexes").unwrap(), "0");
        assert_eq!(reasons(&simulator, "job/sum"), "", "{release}: the others go on");
        for pod in running(&simulator, "job/sum") {
            end(&mut simulator, at(210), pod, PodPhase::Succeeded);
        }
        settle(&mut simulator);
        assert_eq!(reasons(&simulator, "job/sum"), "Failed FailedIndexes", "{release}");
    }
}

#[test]
fn a_job_fails_when_too_many_numbers_have() {
    let policy = json!({ "rules": [
        { "action": "FailIndex", "onPodConditions": [{ "type": "Broken" }] },
    ] });
    let spec = json!({ "completions": 4, "parallelism": 4, "completionMode": "Indexed",
        "backoffLimitPerIndex": 5, "maxFailedIndexes": 1, "podFailurePolicy": policy });
    let mut simulator = cluster("1.29", 1, vec![job(spec)]);
    simulator.advance_to(at(10)).unwrap();
    for (second, index, reason) in [(20, "1", ""), (30, "3", "Failed MaxFailedIndexesExceeded")] {
        let name = format!("sum-{index}-");
        let mut pod = running(&simulator, "job/sum").into_iter();
        let mut pod = pod.find(|pod| pod.metadata.name.starts_with(&name)).unwrap();
        let broken = json!({ "type": "Broken", "status": "True" });
        pod.status.conditions.push(serde_json::from_value(broken).unwrap());
        end(&mut simulator, at(second), pod, PodPhase::Failed);
        settle(&mut simulator);
        assert_eq!(reasons(&simulator, "job/sum"), reason, "{second}");
    }
    assert!(running(&simulator, "job/sum").is_empty(), "the others are deleted");
}

/// Since 1.21 a Job that is over is deleted with its pods after `ttlSecondsAfterFinished`.
#[test]
fn a_job_that_is_over_is_deleted_after_its_time_to_live() {
    for (release, left) in [("1.20", true), ("1.21", false), ("1.35", false)] {
        let limited = job(json!({ "ttlSecondsAfterFinished": 100 }));
        let mut simulator = cluster(release, 1, vec![limited]);
        simulator.advance_to(at(10)).unwrap();
        let first = running(&simulator, "job/sum").remove(0);
        end(&mut simulator, at(20), first, PodPhase::Succeeded);
        simulator.advance_to(at(119)).unwrap();
        assert!(simulator.workload_view(&key("job/sum")).is_some(), "{release}");
        simulator.advance_to(at(121)).unwrap();
        assert_eq!(simulator.workload_view(&key("job/sum")).is_some(), left, "{release}");
    }
}

/// Since 1.26 a failure that the policy ignores does not count.
#[test]
fn a_failure_policy_ignores_disruptions() {
    let policy = json!({
        "backoffLimit": 0,
        "podFailurePolicy": { "rules": [
            { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget" }] },
        ] },
    });
    for (release, failed) in [("1.25", "Failed BackoffLimitExceeded"), ("1.26", ""), ("1.35", "")] {
        let mut simulator = cluster(release, 1, vec![job(policy.clone())]);
        simulator.advance_to(at(10)).unwrap();
        let mut pod = running(&simulator, "job/sum").remove(0);
        let mut target = pod.status.conditions[0].clone();
        target.type_ = "DisruptionTarget".into();
        pod.status.conditions.push(target);
        end(&mut simulator, at(20), pod, PodPhase::Failed);
        settle(&mut simulator);
        assert_eq!(reasons(&simulator, "job/sum"), failed, "{release}");
        simulator.advance_to(at(60)).unwrap();
        let replaced = usize::from(failed.is_empty());
        assert_eq!(running(&simulator, "job/sum").len(), replaced, "{release}");
    }
}

/// C3: since 1.26 `FailJob` fails a Job whatever its limit, and `Count` counts.
#[test]
fn c3_a_failure_policy_fails_a_job_or_counts() {
    let policy = json!({
        "backoffLimit": 1,
        "podFailurePolicy": { "rules": [
            { "action": "FailJob", "onPodConditions": [{ "type": "ConfigIssue" }] },
            { "action": "Count", "onPodConditions": [{ "type": "Slow" }] },
            { "action": "Ignore", "onPodConditions": [{ "type": "Ready", "status": "False" }] },
        ] },
    });
    let failed = "Failed PodFailurePolicy";
    for (release, condition, after) in [
        ("1.25", "ConfigIssue", ""),
        ("1.26", "ConfigIssue", failed),
        ("1.30", "ConfigIssue", failed),
        ("1.26", "Slow", ""),
        ("1.30", "Slow", ""),
    ] {
        let mut simulator = cluster(release, 1, vec![job(policy.clone())]);
        simulator.advance_to(at(10)).unwrap();
        let fail = |simulator: &mut Simulator, second: u64| {
            let mut pod = running(simulator, "job/sum").remove(0);
            let mut condition_of = pod.status.conditions[0].clone();
            condition_of.type_ = condition.into();
            condition_of.status = ConditionStatus::True;
            pod.status.conditions.push(condition_of);
            end(simulator, at(second), pod, PodPhase::Failed);
        };
        fail(&mut simulator, 20);
        settle(&mut simulator);
        assert_eq!(reasons(&simulator, "job/sum"), after, "{release} {condition}");
        if after.is_empty() {
            simulator.advance_to(at(100)).unwrap();
            fail(&mut simulator, 100);
            simulator.advance_to(at(160)).unwrap();
            let limit = "Failed BackoffLimitExceeded";
            assert_eq!(reasons(&simulator, "job/sum"), limit, "{release} {condition}");
        }
    }
}

/// C3: a pod that is deleted counts as failed at once, and with a policy when its phase says so.
#[test]
fn c3_with_a_policy_a_terminating_pod_has_not_failed() {
    let policy = json!({ "podFailurePolicy": { "rules": [
        { "action": "Count", "onPodConditions": [{ "type": "Slow" }] },
    ] } });
    for (more, failed) in [(json!({}), 1), (policy, 0)] {
        let mut simulator = cluster("1.35", 1, vec![job(more)]);
        simulator.advance_to(at(10)).unwrap();
        let key_of_pod = running(&simulator, "job/sum").remove(0).key();
        let delete =
            Command::DeletePod { pod: key_of_pod, force: false, grace_period_seconds: None };
        simulator.handle_command(at(10), delete).unwrap();
        simulator.advance_to(at(30)).unwrap();
        let job = simulator.cluster().get_workload(&key("job/sum")).unwrap();
        assert_eq!(job.status::<JobStatus>().failed, failed);
        // The one that is deleted is there until 40, and its replacement is if it has failed.
        assert_eq!(pods_of(&simulator, "job/sum").len(), if failed == 1 { 2 } else { 1 });
    }
}

/// With a largest number of 0 pods a share is divided by zero. In Go that is the smallest `int32`,
/// which wraps when the pods that are there are taken off it: the largest ReplicaSet gets all.
#[test]
fn a_share_of_no_pods_wraps() {
    for (max, scaled) in [(None, (7, 2)), (Some("0"), (8, 1))] {
        let rolling = json!({ "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } });
        let web = workload(WorkloadKind::Deployment, "web", 4, json!({ "strategy": rolling }));
        let mut simulator = cluster("1.20", 6, vec![web.clone()]);
        let now = at(10);
        simulator.advance_to(now).unwrap();
        let mut changed = web;
        changed.spec.template.metadata.labels.insert("version".into(), "2".into());
        simulator.handle_command(now, Command::UpdateWorkload(Box::new(changed))).unwrap();
        simulator.advance_to(now).unwrap();
        let sets = |simulator: &Simulator| {
            let all = simulator.cluster().workloads().map(|(_, it)| Workload::clone(it));
            let mut sets: Vec<_> = all.filter(|it| it.kind == WorkloadKind::ReplicaSet).collect();
            sets.sort_by_key(|set| set.spec.template.metadata.labels.contains_key("version"));
            sets
        };
        let replicas = |simulator: &Simulator| {
            let of = |set: &Workload| set.spec.replicas.unwrap();
            let sets = sets(simulator);
            (of(&sets[0]), of(&sets[1]))
        };
        assert_eq!(replicas(&simulator), (4, 1));
        for mut set in sets(&simulator) {
            let name = "deployment.kubernetes.io/max-replicas";
            if let Some(max) = max {
                set.metadata.annotations.insert(name.into(), max.into());
            }
            simulator.handle_command(now, Command::UpdateWorkload(Box::new(set))).unwrap();
        }
        let scale = Command::Scale { workload: key("deploy/web"), replicas: 8 };
        simulator.handle_command(now, scale).unwrap();
        simulator.advance_to(now).unwrap();
        assert_eq!(replicas(&simulator), scaled, "{max:?}");
    }
}

/// A pod below the partition is created from the template before the update.
#[test]
fn a_partition_keeps_the_old_template() {
    let partition = json!({
        "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } },
    });
    for release in ["1.20", "1.35"] {
        let db = workload(WorkloadKind::StatefulSet, "db", 3, partition.clone());
        let mut simulator = cluster(release, 3, vec![db.clone()]);
        simulator.advance_to(at(20)).unwrap();
        let mut changed = db;
        changed.spec.template.metadata.labels.insert("version".into(), "2".into());
        simulator.handle_command(at(20), Command::UpdateWorkload(Box::new(changed))).unwrap();
        simulator.advance_to(at(80)).unwrap();
        let version = |simulator: &Simulator, name: &str| {
            let pod = simulator.cluster().get_pod(&pod(name)).unwrap();
            pod.metadata.labels.get("version").cloned().unwrap_or_default()
        };
        assert_eq!(version(&simulator, "db-2"), "2", "{release}");
        assert_eq!(version(&simulator, "db-1"), "", "{release}");
        let uid = simulator.cluster().get_pod(&pod("db-1")).unwrap().metadata.uid.clone();
        let delete =
            Command::DeletePod { pod: pod("db-1"), force: true, grace_period_seconds: None };
        simulator.handle_command(at(80), delete).unwrap();
        simulator.advance_to(at(100)).unwrap();
        assert_ne!(simulator.cluster().get_pod(&pod("db-1")).unwrap().metadata.uid, uid);
        assert_eq!(version(&simulator, "db-1"), "", "{release}");
    }
}

/// A StatefulSet replaces a pod that has failed, since 1.29 also one that has ended well; up to
/// 1.30 it says so.
#[test]
fn a_stateful_set_recreates_pods_that_have_ended() {
    for (release, phase, replaced, said) in [
        ("1.27", PodPhase::Failed, true, "RecreatingFailedPod"),
        ("1.30", PodPhase::Failed, true, "RecreatingFailedPod"),
        ("1.31", PodPhase::Failed, true, ""),
        ("1.28", PodPhase::Succeeded, false, ""),
        ("1.29", PodPhase::Succeeded, true, "RecreatingTerminatedPod"),
        ("1.31", PodPhase::Succeeded, true, ""),
    ] {
        let db = workload(WorkloadKind::StatefulSet, "db", 1, json!({}));
        let mut simulator = cluster(release, 1, vec![db]);
        simulator.advance_to(at(10)).unwrap();
        simulator.drain_events();
        let first = running(&simulator, "sts/db").remove(0);
        let uid = first.metadata.uid.clone();
        end(&mut simulator, at(20), first, phase.clone());
        simulator.advance_to(at(60)).unwrap();
        let now = simulator.cluster().get_pod(&pod("db-0")).unwrap();
        assert_eq!(now.metadata.uid != uid, replaced, "{release} {phase}");
        let events = simulator.drain_events();
        let reasons: Vec<&str> = events
            .iter()
            .filter_map(|event| match &event.what {
                EventKind::EventRecorded(event) => Some(event.reason),
                _ => None,
            })
            .filter(|reason| reason.starts_with("Recreating"))
            .collect();
        assert_eq!(reasons.first().copied().unwrap_or_default(), said, "{release} {phase}");
    }
}

/// The pod that is created in place of a failed one is what the roll-out sees: the failed one is
/// not deleted a second time.
#[test]
fn a_failed_pod_of_the_old_template_is_deleted_once() {
    let parallel = json!({ "podManagementPolicy": "Parallel",
        "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } } });
    let db = workload(WorkloadKind::StatefulSet, "db", 1, parallel);
    let mut simulator = cluster("1.20", 1, vec![db.clone()]);
    simulator.advance_to(at(10)).unwrap();
    simulator.drain_events();
    let mut failed = pods_of(&simulator, "sts/db").remove(0);
    failed.status.phase = PodPhase::Failed;
    let mut changed = db;
    changed.spec.template.metadata.labels.insert("version".into(), "2".into());
    // Both are seen in one look.
    simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(changed))).unwrap();
    simulator.handle_command(at(10), Command::UpdatePod(failed)).unwrap();
    simulator.advance_to(at(30)).unwrap();
    let deleted = messages(&simulator.drain_events(), "SuccessfulDelete");
    assert_eq!(deleted.len(), 1, "{deleted:?}");
    let view = simulator.workload_view(&key("sts/db")).unwrap();
    assert_eq!((view.current, view.ready), (1, 1));
}

/// How many daemon pods there are on three nodes, and how many are ready, each second after the
/// template has changed.
fn daemon_update(release: &str, strategy: Value) -> Vec<(usize, usize)> {
    let update = json!({ "updateStrategy": { "rollingUpdate": strategy } });
    let logs = workload(WorkloadKind::DaemonSet, "logs", 0, update);
    let mut simulator = cluster(release, 3, vec![logs.clone()]);
    simulator.advance_to(at(10)).unwrap();
    assert_eq!(running(&simulator, "ds/logs").len(), 3);
    let mut changed = logs;
    changed.spec.template.metadata.labels.insert("version".into(), "2".into());
    simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(changed))).unwrap();
    let mut seen = Vec::new();
    for second in 10..250 {
        simulator.advance_to(at(second)).unwrap();
        let pods = pods_of(&simulator, "ds/logs");
        let alive = pods.iter().filter(|pod| !pod.is_terminating());
        let ready = alive.clone().filter(|pod| pod.has_ready_condition());
        seen.push((alive.count(), ready.count()));
    }
    let pods = running(&simulator, "ds/logs");
    assert!(pods.iter().all(|pod| pod.metadata.labels["version"] == "2"), "{release}");
    assert_eq!(pods.len(), 3);
    seen
}

#[test]
fn a_daemon_set_surges() {
    let most = |seen: &[(usize, usize)]| seen.iter().map(|(alive, _)| *alive).max().unwrap();
    let least = |seen: &[(usize, usize)]| seen.iter().map(|(_, ready)| *ready).min().unwrap();
    for (surge, alive) in [(json!(1), 4), (json!(2), 5), (json!("100%"), 6)] {
        let strategy = json!({ "maxSurge": surge, "maxUnavailable": 0 });
        let seen = daemon_update("1.22", strategy.clone());
        assert_eq!((most(&seen), least(&seen)), (alive, 3), "{surge}");
        // Before, the field is not there: one pod after the other goes first.
        let seen = daemon_update("1.21", json!({ "maxSurge": surge }));
        assert_eq!((most(&seen), least(&seen)), (3, 2), "{surge}");
    }
}

/// A node that the new template is not for keeps its pod until there are enough elsewhere, since
/// 1.29; before, a pod is created for it that nobody places.
#[test]
fn a_daemon_set_surges_where_it_is_wanted() {
    for (release, pending) in [("1.28", 1), ("1.29", 0)] {
        let update = json!({ "updateStrategy": { "rollingUpdate": { "maxSurge": 1,
            "maxUnavailable": 0 } } });
        let logs = workload(WorkloadKind::DaemonSet, "logs", 0, update);
        let mut simulator = cluster(release, 3, vec![logs.clone()]);
        simulator.advance_to(at(10)).unwrap();
        let taint: Command = serde_json::from_value(json!({"taint": {"node": "n1",
            "taint": {"key": "k", "effect": "NoSchedule"}}}))
        .unwrap();
        simulator.handle_command(at(10), taint).unwrap();
        let mut changed = logs;
        changed.spec.template.metadata.labels.insert("version".into(), "2".into());
        simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(changed))).unwrap();
        simulator.advance_to(at(250)).unwrap();
        let pods = pods_of(&simulator, "ds/logs");
        let waits = |pod: &&Pod| pod.spec.node_name.is_empty();
        assert_eq!(pods.iter().filter(waits).count(), pending, "{release}");
        let on_first = pods.iter().filter(|pod| pod.spec.node_name == "n1").count();
        assert_eq!(on_first, pending, "{release}: the pod that was there");
    }
}

#[test]
fn pods_are_adopted_and_released() {
    let mut simulator =
        cluster("1.35", 1, vec![workload(WorkloadKind::ReplicaSet, "web", 2, json!({}))]);
    simulator.advance_to(at(10)).unwrap();
    assert_eq!(running(&simulator, "rs/web").len(), 2);
    let first = running(&simulator, "rs/web").remove(0);
    let relabel =
        Command::SetPodLabels { pod: first.key(), labels: [("app".into(), "other".into())].into() };
    simulator.handle_command(at(10), relabel).unwrap();
    simulator.advance_to(at(20)).unwrap();
    let released = simulator.cluster().get_pod(&first.key()).unwrap();
    assert!(released.metadata.owner_references.is_empty());
    assert_eq!(running(&simulator, "rs/web").len(), 2);
    let relabel =
        Command::SetPodLabels { pod: first.key(), labels: [("app".into(), "web".into())].into() };
    simulator.handle_command(at(20), relabel).unwrap();
    simulator.advance_to(at(21)).unwrap();
    // It is adopted, and one of the three is too much.
    assert_eq!(running(&simulator, "rs/web").len(), 2);
    let owned = pods_of(&simulator, "rs/web");
    assert_eq!(owned.len(), 3);
    assert!(owned.iter().any(|pod| pod.key() == first.key()));
}

#[test]
fn a_rollout_that_makes_no_progress_is_said_to_have_timed_out() {
    let limit = json!({ "progressDeadlineSeconds": 60, "revisionHistoryLimit": 1 });
    let web = workload(WorkloadKind::Deployment, "web", 2, limit);
    let mut simulator = cluster("1.35", 2, vec![web.clone()]);
    let progress = |simulator: &Simulator| {
        let conditions = conditions(simulator, "deploy/web");
        let known = conditions.into_iter().find(|known| known.type_ == "Progressing").unwrap();
        format!("{} {}", known.status, known.reason)
    };
    simulator.advance_to(at(10)).unwrap();
    assert_eq!(progress(&simulator), "True NewReplicaSetAvailable");
    // Old ReplicaSets are kept up to the limit, each with its revision.
    for (version, now) in [("2", 10), ("3", 100), ("4", 200)] {
        let mut changed = web.clone();
        changed.spec.template.metadata.labels.insert("version".into(), version.into());
        simulator.handle_command(at(now), Command::UpdateWorkload(Box::new(changed))).unwrap();
        simulator.advance_to(at(now + 60)).unwrap();
        assert_eq!(progress(&simulator), "True NewReplicaSetAvailable");
        let sets = simulator.cluster().workloads_owned_by(&key("deploy/web")).count();
        assert_eq!(sets, 2, "{version}");
        let deployment = simulator.cluster().get_workload(&key("deploy/web")).unwrap();
        let revision = &deployment.metadata.annotations["deployment.kubernetes.io/revision"];
        assert_eq!(revision, version);
    }
    let mut large = web;
    large.spec.template.spec.other.set(
        "containers",
        json!([{ "name": "app", "resources": { "requests": { "cpu": "50" } } }]),
    );
    simulator.handle_command(at(300), Command::UpdateWorkload(Box::new(large))).unwrap();
    simulator.advance_to(at(350)).unwrap();
    assert_eq!(progress(&simulator), "True ReplicaSetUpdated");
    simulator.advance_to(at(400)).unwrap();
    assert_eq!(progress(&simulator), "False ProgressDeadlineExceeded");
}
