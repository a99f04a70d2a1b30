//! The descheduler, driven alone: whom it evicts, in which pass, and what it leaves.

use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod};
use taintlab_core::cluster::{Change, Cluster};
use taintlab_core::controllers::descheduler::{
    Descheduler, DeschedulerAction, DeschedulerSettings,
};
use taintlab_core::controllers::{Context, Controller, Machine};
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::simulator::SimulatorConfig;
use taintlab_core::time::{Time, Timestamp};
use taintlab_core::warnings::{WarningCode, warnings};
use taintlab_manifest::{Limits, read_scenario};

fn settings(value: Value) -> DeschedulerSettings {
    serde_json::from_value(value).unwrap()
}

/// A pod of a ReplicaSet on node `n`, merged with what is given.
fn pod(name: &str, more: Value) -> Pod {
    let mut pod = json!({
        "metadata": {"name": name, "namespace": "default", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1",
             "controller": true}]},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running"},
    });
    for (part, fields) in more.as_object().unwrap() {
        for (field, value) in fields.as_object().unwrap() {
            pod[part][field] = value.clone();
        }
    }
    serde_json::from_value(pod).unwrap()
}

fn node(taints: Value, ready: &str) -> Node {
    let node = json!({"metadata": {"name": "n"}, "spec": {"taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": ready}]}});
    serde_json::from_value(node).unwrap()
}

fn legacy() -> Value {
    json!([{"key": "example.com/legacy", "value": "v", "effect": "NoSchedule"}])
}

/// A descheduler with the cluster that it watches.
struct Run {
    cluster: Cluster,
    sequence: Sequence,
    descheduler: Descheduler,
    now: Timestamp,
}

impl Run {
    fn new(settings: DeschedulerSettings, node: Node, pods: &[Pod]) -> Self {
        let mut run = Self {
            cluster: Cluster::default(),
            sequence: Sequence::default(),
            descheduler: Descheduler::new(settings),
            now: Timestamp::from_secs(7),
        };
        for pod in pods {
            run.cluster.put_pod(&pod.key(), Arc::new(pod.clone()));
        }
        let new = Arc::new(node);
        run.cluster.put_node(new.clone());
        run.tell(&Change::Node { name: "n".into(), old: None, new: Some(new) });
        run
    }

    fn with<T>(&mut self, call: impl FnOnce(&mut Descheduler, &mut Context<'_>) -> T) -> T {
        let Self { cluster, sequence, descheduler, now } = self;
        let mut context = Context { now: *now, start: Time::DEFAULT_START, cluster, sequence };
        call(descheduler, &mut context)
    }

    fn tell(&mut self, change: &Change) {
        self.with(|descheduler, context| descheduler.handle_change(context, change));
    }

    /// The next pass: when it is, and the names of the pods that it asks for. What is granted is
    /// gone.
    fn pass(&mut self, grants: impl Fn(&str) -> bool) -> Option<(u64, Vec<String>)> {
        self.now = self.descheduler.poll_timeout(self.now)?.at;
        self.with(|descheduler, context| descheduler.handle_timeout(context));
        let mut asked = Vec::new();
        let mut recorded = 0;
        let mut granted = 0;
        while let Some(action) = self.with(|it, context| it.poll_action(context)) {
            match action {
                DeschedulerAction::Evict { id, pod } => {
                    let answer = grants(pod.name());
                    asked.push(pod.name().to_owned());
                    if answer {
                        granted += 1;
                        self.cluster.remove_pod(&pod);
                    }
                    self.with(|it, context| it.handle_action_result(context, id, answer));
                }
                DeschedulerAction::RecordEvent(event) => {
                    recorded += 1;
                    assert_eq!(event.reason, "RemovePodsViolatingNodeTaints");
                    assert_eq!(event.message, "pod evicted from n node by sigs.k8s.io/descheduler");
                }
            }
        }
        assert_eq!(recorded, granted, "an event for each pod that is evicted");
        Some((self.now.as_nanos() / 1_000_000_000, asked))
    }
}

#[test]
fn which_pods_are_evicted() {
    let owner = |kind: &str| {
        json!({"metadata": {"ownerReferences":
            [{"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "1",
              "controller": true}]}})
    };
    let bare =
        |phase: &str| json!({"metadata": {"ownerReferences": []}, "status": {"phase": phase}});
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        json!({"spec": {"volumes": [volume]}})
    };
    let annotated = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});
    let tolerant =
        json!({"spec": {"tolerations": [{"key": "example.com/legacy", "operator": "Exists"}]}});
    let taint =
        |effect: &str| json!([{"key": "example.com/legacy", "value": "v", "effect": effect}]);
    let none = json!({});
    for (more, set, taints, evicted) in [
        (json!({}), &none, legacy(), true),
        (tolerant, &none, legacy(), false),
        (json!({}), &none, taint("PreferNoSchedule"), false),
        (json!({}), &json!({"includePreferNoSchedule": true}), taint("PreferNoSchedule"), true),
        // That is for the taint-eviction controller.
        (json!({}), &none, taint("NoExecute"), false),
        (json!({}), &json!({"excludedTaints": ["example.com/legacy"]}), legacy(), false),
        (json!({}), &json!({"excludedTaints": ["example.com/legacy=v"]}), legacy(), false),
        (json!({}), &json!({"excludedTaints": ["example.com/legacy=w"]}), legacy(), true),
        (json!({}), &json!({"includedTaints": ["example.com/other"]}), legacy(), false),
        (json!({}), &json!({"includedTaints": ["example.com/legacy"]}), legacy(), true),
        (owner("DaemonSet"), &none, legacy(), false),
        (owner("DaemonSet"), &json!({"evictDaemonSetPods": true}), legacy(), true),
        (bare("Running"), &none, legacy(), false),
        (bare("Failed"), &none, legacy(), false),
        (bare("Failed"), &json!({"evictFailedBarePods": true}), legacy(), true),
        (bare("Running"), &json!({"evictFailedBarePods": true}), legacy(), false),
        (volume(json!({"emptyDir": {}})), &none, legacy(), false),
        (volume(json!({"hostPath": {"path": "/"}})), &none, legacy(), false),
        (volume(json!({"emptyDir": {}})), &json!({"evictLocalStoragePods": true}), legacy(), true),
        (volume(json!({"persistentVolumeClaim": {"claimName": "c"}})), &none, legacy(), true),
        (
            volume(json!({"persistentVolumeClaim": {"claimName": "c"}})),
            &json!({"ignorePvcPods": true}),
            legacy(),
            false,
        ),
        (json!({"spec": {"priority": 1_999_999_999}}), &none, legacy(), true),
        (json!({"spec": {"priority": 2_000_000_000}}), &none, legacy(), false),
        (
            json!({"spec": {"priority": 2_000_000_000}}),
            &json!({"evictSystemCriticalPods": true}),
            legacy(),
            true,
        ),
        (annotated("kubernetes.io/config.mirror", ""), &none, legacy(), false),
        (annotated("kubernetes.io/config.source", "file"), &none, legacy(), false),
        (annotated("kubernetes.io/config.source", "api"), &none, legacy(), true),
        (
            json!({"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}),
            &none,
            legacy(),
            false,
        ),
        (
            json!({"metadata": {"ownerReferences": [],
                "annotations": {"descheduler.alpha.kubernetes.io/evict": "true"}}}),
            &none,
            legacy(),
            true,
        ),
    ] {
        let told = format!("{more} with {set} and {taints}");
        let pod = pod("p", more);
        let mut run = Run::new(settings(set.clone()), node(taints, "True"), &[pod]);
        let expected = evicted.then(|| (300, vec!["p".to_owned()]));
        assert_eq!(run.pass(|_| true), expected, "{told}");
        assert_eq!(run.pass(|_| true), None, "{told}: nothing is left to do");
    }
}

#[test]
fn nodes_that_are_not_ready_are_left_alone() {
    let pods = [pod("p", json!({}))];
    for (ready, planned) in [("True", true), ("False", false), ("Unknown", false)] {
        let mut run = Run::new(DeschedulerSettings::default(), node(legacy(), ready), &pods);
        assert_eq!(run.pass(|_| true).is_some(), planned, "{ready}");
    }
}

#[test]
fn what_a_pass_leaves_is_for_the_next() {
    let pods = ["a", "b", "c"].map(|name| pod(name, json!({})));
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();

    let refused = settings(json!({"deschedulingInterval": "1m"}));
    let mut run = Run::new(refused, node(legacy(), "True"), &pods);
    assert_eq!(run.pass(|name| name != "b"), Some((60, names(&["a", "b", "c"]))));
    assert_eq!(run.pass(|_| false), Some((120, names(&["b"]))));
    assert_eq!(run.pass(|_| true), Some((180, names(&["b"]))));
    assert_eq!(run.pass(|_| true), None);

    for limit in ["maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace"] {
        let mut run = Run::new(settings(json!({limit: 2})), node(legacy(), "True"), &pods);
        // A refused eviction does not count.
        assert_eq!(run.pass(|name| name != "a"), Some((300, names(&["a", "b", "c"]))), "{limit}");
        assert_eq!(run.pass(|_| true), Some((600, names(&["a"]))), "{limit}");
        assert_eq!(run.pass(|_| true), None, "{limit}");
    }
    let mut run =
        Run::new(settings(json!({"maxNoOfPodsToEvictPerNode": 1})), node(legacy(), "True"), &pods);
    for (at, name) in [(300, "a"), (600, "b"), (900, "c")] {
        assert_eq!(run.pass(|_| true), Some((at, names(&[name]))));
    }
}

#[test]
fn wrong_settings_are_told_with_their_field() {
    for (set, field, expected) in [
        (
            "{deschedulingInterval: 0s}",
            "kubernetes.descheduler",
            "descheduler.deschedulingInterval: invalid value 0s: must be 1s or more, for example `5m`",
        ),
        (
            "{includedTaints: [a], excludedTaints: [b]}",
            "kubernetes.descheduler",
            "descheduler.includedTaints: not together with `excludedTaints`: name either the taints \
             that count, or those that do not",
        ),
        ("{nodeFit: true}", "kubernetes.descheduler.nodeFit", "there is no field `nodeFit` here"),
    ] {
        let text =
            format!("apiVersion: taintlab/v1\nkind: Scenario\nkubernetes:\n  descheduler: {set}\n");
        let mut load = |_: &str| Err(String::new());
        let read = read_scenario(&text, "s.yaml", &Limits::default(), &mut load);
        let told = match read.scenario {
            Some(scenario) => {
                let error = scenario.run().unwrap_err();
                format!("{}: {error}", error.path())
            }
            None => read.diagnostics.iter().map(ToString::to_string).collect(),
        };
        assert!(told.contains(field) && told.contains(expected), "{set}: {told}");
    }
}

#[test]
fn what_it_leaves_is_warned_of() {
    let local = json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}});
    let mut cluster = Cluster::default();
    cluster.put_node(Arc::new(node(legacy(), "True")));
    for pod in [pod("a", local), pod("b", json!({}))] {
        cluster.put_pod(&pod.key(), Arc::new(pod));
    }
    let of = |descheduler| {
        let config = SimulatorConfig { descheduler, ..SimulatorConfig::default() };
        let found = warnings(&cluster, &config).into_iter();
        let found = found.filter(|it| it.code == WarningCode::DeschedulerLeavesPod);
        found.map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(of(None), [""; 0]);
    assert_eq!(
        of(Some(DeschedulerSettings::default())),
        ["pod default/a does not tolerate example.com/legacy=v:NoSchedule, and the descheduler \
          leaves what is there: pod has local storage and is protected against eviction"],
    );
    assert_eq!(of(Some(settings(json!({"evictLocalStoragePods": true})))), [""; 0]);
}
