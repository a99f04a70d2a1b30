//! The autoscaler, driven alone: when which group grows, by how much, and why not.

use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod};
use taintlab_core::cluster::{Change, Cluster};
use taintlab_core::controllers::autoscaler::{Autoscaler, AutoscalerAction, AutoscalerSettings};
use taintlab_core::controllers::{Context, Controller, Machine};
use taintlab_core::policy::scheduling::SchedulerConfig;
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::{Time, Timestamp};

fn settings(value: Value) -> AutoscalerSettings {
    serde_json::from_value(value).unwrap()
}

/// A group of nodes with two CPUs.
fn group(name: &str, most: u32, spec: Value) -> Value {
    json!({"name": name, "maxSize": most, "provisioningTime": "1m", "template": {
        "metadata": {"labels": {"pool": name}}, "spec": spec,
        "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"}}}})
}

/// A pod for which the scheduler found no node.
fn waiting(name: &str, cpu: &str, created: u64) -> Pod {
    let pod = json!({
        "metadata": {"name": name, "namespace": "default",
            "creationTimestamp": format!("2020-01-01T00:00:{created:02}Z")},
        "spec": {"containers": [
            {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}},
        ]},
        "status": {"phase": "Pending", "conditions":
            [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    });
    serde_json::from_value(pod).unwrap()
}

struct Run {
    cluster: Cluster,
    sequence: Sequence,
    autoscaler: Autoscaler,
    now: Timestamp,
}

impl Run {
    fn new(settings: AutoscalerSettings, pods: &[Pod]) -> Self {
        let scheduler = SchedulerConfig::of(KubernetesRelease::parse("1.34").unwrap());
        let mut run = Self {
            cluster: Cluster::default(),
            sequence: Sequence::default(),
            autoscaler: Autoscaler::new(settings, scheduler),
            now: Timestamp::from_secs(3),
        };
        for pod in pods {
            run.put_pod(pod.clone());
        }
        run
    }

    fn with<T>(&mut self, call: impl FnOnce(&mut Autoscaler, &mut Context<'_>) -> T) -> T {
        let Self { cluster, sequence, autoscaler, now } = self;
        let mut context = Context { now: *now, start: Time::DEFAULT_START, cluster, sequence };
        call(autoscaler, &mut context)
    }

    fn put_pod(&mut self, pod: Pod) {
        let (key, new) = (pod.key(), Arc::new(pod));
        let old = self.cluster.put_pod(&key, new.clone());
        let change = Change::Pod { key, old, new: Some(new) };
        self.with(|it, context| it.handle_change(context, &change));
    }

    fn put_node(&mut self, node: Node) {
        let new = Arc::new(node);
        let old = self.cluster.put_node(new.clone());
        let change = Change::Node { name: new.metadata.name.as_str().into(), old, new: Some(new) };
        self.with(|it, context| it.handle_change(context, &change));
    }

    /// All that is done until nothing more is due: the second, and what.
    fn all(&mut self) -> Vec<String> {
        let mut done = Vec::new();
        while let Some(next) = self.autoscaler.poll_timeout(self.now) {
            self.now = next.at;
            self.with(|it, context| it.handle_timeout(context));
            while let Some(action) = self.with(|it, context| it.poll_action(context)) {
                let at = self.now.as_nanos() / 1_000_000_000;
                match action {
                    AutoscalerAction::CreateNode(node) => {
                        done.push(format!("{at}: {}", node.metadata.name));
                        assert_eq!(node.metadata.labels.len(), 1, "the labels of the template");
                        self.put_node(node);
                    }
                    AutoscalerAction::RecordEvent(event) => {
                        let message = event.message.split_once(": ").unwrap().1.to_owned();
                        let about = serde_json::to_value(&event.involved_object).unwrap();
                        let about = about["pod"].as_str().unwrap().to_owned();
                        done.push(format!("{at}: {about} {} {message}", event.reason));
                    }
                }
            }
            assert!(done.len() < 100, "{done:#?}");
        }
        done
    }
}

#[test]
fn a_group_grows_by_as_many_nodes_as_the_pods_need() {
    let settings = settings(json!({"nodeGroups": [group("g", 5, json!({}))]}));
    let pods = ["a", "b", "c"].map(|name| waiting(name, "1", 0));
    let mut run = Run::new(settings, &pods);
    let first = "default/a TriggeredScaleUp [{g 0->2 (max: 5)}]";
    assert_eq!(
        run.all(),
        [
            format!("10: {first}"),
            "10: default/b TriggeredScaleUp [{g 0->2 (max: 5)}]".to_owned(),
            "10: default/c TriggeredScaleUp [{g 0->2 (max: 5)}]".to_owned(),
            "70: g-1".to_owned(),
            "70: g-2".to_owned(),
        ],
        "and not once more while the nodes are under way"
    );
}

#[test]
fn the_first_group_that_helps_grows_and_says_its_limits() {
    let tainted = json!({"taints": [{"key": "spot", "effect": "NoSchedule"}]});
    let groups =
        json!([group("spot", 5, tainted), group("full", 1, json!({})), group("g", 1, json!({}))]);
    let pods = ["a", "b", "c"].map(|name| waiting(name, "2", 0));
    let mut run = Run::new(settings(json!({"nodeGroups": groups})), &pods);
    // One of them, by its label.
    let node = json!({"metadata": {"name": "other", "labels": {"pool": "full", "more": ""}},
        "status": {"allocatable": {"cpu": "1", "memory": "8Gi", "pods": "110"}}});
    run.put_node(serde_json::from_value(node).unwrap());
    let why = "1 max node group size reached, 1 node(s) had untolerated taint(s)";
    assert_eq!(
        run.all(),
        [
            "10: default/a TriggeredScaleUp [{g 0->1 (max: 1)}]".to_owned(),
            format!("20: default/b NotTriggerScaleUp {}", why.replacen('1', "2", 1)),
            format!("20: default/c NotTriggerScaleUp {}", why.replacen('1', "2", 1)),
            "70: g-1".to_owned(),
        ],
    );
}

#[test]
fn a_pod_that_is_too_large_for_every_group_says_so_once() {
    let groups = json!([group("g", 5, json!({}))]);
    let mut run = Run::new(settings(json!({"nodeGroups": groups})), &[waiting("a", "3", 0)]);
    assert_eq!(run.all(), ["10: default/a NotTriggerScaleUp 1 Insufficient cpu"]);
    // The scheduler says again that there is no node: nothing new.
    run.put_pod(waiting("a", "3", 0));
    assert_eq!(run.all(), [""; 0]);
    // A smaller one beside it is helped.
    run.put_pod(waiting("b", "2", 0));
    assert_eq!(
        run.all(),
        ["30: default/b TriggeredScaleUp [{g 0->1 (max: 5)}]".to_owned(), "90: g-1".to_owned()],
    );
}

#[test]
fn young_pods_wait_for_the_delay() {
    let groups = json!([group("g", 5, json!({}))]);
    let settings = settings(json!({
        "scanInterval": "5s", "newPodScaleUpDelay": "12s", "nodeGroups": groups,
    }));
    let mut run = Run::new(settings, &[waiting("a", "1", 2)]);
    assert_eq!(
        run.all(),
        ["15: default/a TriggeredScaleUp [{g 0->1 (max: 5)}]".to_owned(), "75: g-1".to_owned()],
    );
}

#[test]
fn wrong_settings_are_told_with_their_field() {
    for (value, expected) in [
        (
            json!({"scanInterval": "10ms"}),
            "autoscaler.scanInterval: invalid value 10ms: must be 1s or more, for example `10s`",
        ),
        (
            json!({"nodeGroups": [group("", 1, json!({}))]}),
            "autoscaler.nodeGroups[0].name: a group needs a name, such as `spot`",
        ),
        (
            json!({"nodeGroups": [group("g", 1, json!({})), group("g", 1, json!({}))]}),
            "autoscaler.nodeGroups[1].name: another group is called `g`",
        ),
        (
            json!({"nodeGroups": [group("g", 0, json!({}))]}),
            "autoscaler.nodeGroups[0].maxSize: invalid value 0: must be 1 to 10000",
        ),
        (
            json!({"nodeGroups": [
                group("g", 1, json!({"taints": [{"key": "a b", "effect": "NoSchedule"}]})),
            ]}),
            "autoscaler.nodeGroups[0].template.spec.taints[0].key: Invalid value: \"a b\"",
        ),
        (
            json!({"nodeGroups": [{"name": "g", "maxSize": 1,
                "template": {"status": {"allocatable": {"cpu": "much"}}}}]}),
            "autoscaler.nodeGroups[0].template.status.allocatable",
        ),
    ] {
        let error = settings(value).check().unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
