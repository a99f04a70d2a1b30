//! `device_taint_eviction_1.36`: the device taint eviction controller under actions on pods,
//! slices, claims and rules, with writes that fail.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use taintlab_core::api::{ConditionStatus, DeviceKind, DeviceObject, Pod, PodCondition, PodKey};
use taintlab_core::cluster::{Change, DeviceChange};
use taintlab_core::controllers::device_taint_eviction::{
    DeviceTaintEvictionAction, DeviceTaintEvictionController,
};
use taintlab_core::controllers::{Controller, Machine};
use taintlab_core::protocol::{ApiErrorKind, ObjectReference, RequestResult};
use taintlab_core::time::{Time, Timestamp};

use super::control::Driver;
use super::{Outcome, compare, with_flagged_case};

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(rename = "release")]
    _release: String,
    device_taint_rules: bool,
    resource_slices: Vec<Value>,
    resource_claims: Vec<Value>,
    rules: Vec<Value>,
    pods: Vec<Pod>,
    /// Number of failing writes, by pod or rule.
    #[serde(default)]
    failures: BTreeMap<String, Failures>,
    actions: Vec<Action>,
    end: u64,
    outcomes: Vec<Value>,
    #[serde(rename = "final")]
    last: Value,
    #[serde(default)]
    flagged: bool,
    /// Number of outcomes of the real code.
    #[serde(default, rename = "different")]
    _different: u64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Failures {
    deletes: u32,
    patches: u32,
    status: u32,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    t: u64,
    op: String,
    kind: String,
    object: Option<Value>,
    name: Option<String>,
}

/// Runs one case.
///
/// Upstream walks claims in the order of a Go map, which eight recorded runs may have had in common:
/// of two orders in which the controller can be told of what is there, one must agree.
pub fn run(line: &str) -> Outcome {
    with_flagged_case(
        line,
        |case: &Case| case.flagged,
        |case| {
            let outcome = play(case.clone(), false);
            Ok(if outcome == Outcome::Agrees { outcome } else { play(case, true) })
        },
    )
}

fn play(case: Case, claims_last: bool) -> Outcome {
    let mut driver = Driver::starting_at(Time::DEFAULT_START);
    // Everything is there before the controller starts.
    let mut nobody = DeviceTaintEvictionController::new(false);
    driver.put_pods(&mut nobody, case.pods);
    let mut server = Server {
        driver,
        controller: nobody,
        failures: case.failures,
        removals: BTreeSet::new(),
        unseen: VecDeque::new(),
        outcomes: Vec::new(),
    };
    for (kind, objects) in [
        (DeviceKind::ResourceSlice, case.resource_slices),
        (DeviceKind::ResourceClaim, case.resource_claims),
        (DeviceKind::DeviceTaintRule, case.rules),
    ] {
        for object in objects {
            server.put(kind.clone(), object);
        }
    }
    server.controller = DeviceTaintEvictionController::new(case.device_taint_rules);
    if claims_last {
        server.bootstrap_claims_last();
    } else {
        server.driver.call(&mut server.controller, DeviceTaintEvictionController::bootstrap);
    }
    server.settle();
    for action in case.actions {
        server.advance(Timestamp::from_nanos(action.t));
        server.act(action);
        server.settle();
    }
    server.advance(Timestamp::from_nanos(case.end));
    let last = server.last();
    server.outcomes.sort_by_key(|outcome| {
        let text = |name: &str| outcome[name].as_str().unwrap_or("").to_owned();
        (outcome["t"].as_u64(), outcome["pod"].is_null(), text("pod"), text("rule"))
    });
    compare(&json!([case.outcomes, case.last]), &json!([server.outcomes, last]))
}

/// The API server and the kubelets, as the recorder played them.
struct Server {
    driver: Driver,
    controller: DeviceTaintEvictionController,
    failures: BTreeMap<String, Failures>,
    /// Times at which terminating pods are gone, with their UIDs.
    removals: BTreeSet<(Timestamp, PodKey, String)>,
    /// Writes that the controller's informer does not show yet.
    unseen: VecDeque<Unseen>,
    outcomes: Vec<Value>,
}

/// A write to a pod that was accepted. While the workers are busy, informers are not: the recorded
/// controller saw its own writes once it had nothing left to do at a moment.
enum Unseen {
    Patched(PodKey, PodCondition),
    Deleted(PodKey),
}

impl Server {
    /// Tells the controller of rules and slices, and then of claims, the last one first.
    fn bootstrap_claims_last(&mut self) {
        let Some(devices) = self.driver.cluster.devices().cloned() else { return };
        let rules =
            devices.rules().map(|new| DeviceChange::Rule { old: None, new: new.clone().into() });
        let slices =
            devices.slices().map(|new| DeviceChange::Slice { old: None, new: new.clone().into() });
        let claims: Vec<_> = devices.claims().cloned().collect();
        let claims =
            claims.into_iter().rev().map(|new| DeviceChange::Claim { old: None, new: Some(new) });
        for change in rules.chain(slices).chain(claims) {
            self.driver.notify(&mut self.controller, &Change::Device(change));
        }
    }

    fn now(&self) -> Value {
        json!(self.driver.wall_clock().truncated_to_seconds())
    }

    /// Stores an object of `resource.k8s.io`, with what the API server fills in.
    fn put(&mut self, kind: DeviceKind, mut object: Value) {
        let now = self.now();
        let object_of = |value: &Value| DeviceObject { kind: kind.clone(), ..read(value.clone()) };
        let key = object_of(&object).key();
        let devices = self.driver.cluster.devices();
        let old = devices.and_then(|devices| devices.object(&kind, &key)).cloned();
        if let Some(old) = &old {
            object["metadata"]["uid"] = old.metadata.uid.clone().into();
        }
        match kind {
            DeviceKind::ResourceSlice => {
                for device in object["spec"]["devices"].as_array_mut().into_iter().flatten() {
                    for taint in device["taints"].as_array_mut().into_iter().flatten() {
                        default_time(taint, &now);
                    }
                }
            }
            DeviceKind::DeviceTaintRule => {
                let mut generation = 1;
                if let Some(old) = &old {
                    let before = json!(old.spec);
                    let time = &before["taint"]["timeAdded"];
                    let taint = &mut object["spec"]["taint"];
                    default_time(taint, time);
                    if taint["effect"] != before["taint"]["effect"] && taint["timeAdded"] == *time {
                        taint["timeAdded"] = now.clone();
                    }
                    generation = old.generation() + i64::from(object["spec"] != before);
                    object["status"] = json!(old.status);
                }
                default_time(&mut object["spec"]["taint"], &now);
                object["metadata"]["generation"] = generation.into();
            }
            _ => {}
        }
        self.store(object_of(&object));
    }

    fn store(&mut self, object: DeviceObject) {
        let change = self.driver.cluster.devices_mut().put(Arc::new(object)).expect("an object");
        self.driver.notify(&mut self.controller, &Change::Device(change));
    }

    fn act(&mut self, action: Action) {
        let key = match (&action.object, &action.name) {
            (Some(object), _) => {
                let namespace = object["metadata"]["namespace"].as_str().unwrap_or("");
                PodKey::new(namespace, object["metadata"]["name"].as_str().expect("a name"))
            }
            (None, Some(name)) => PodKey::parse(name).expect("a key"),
            (None, None) => panic!("an action without an object"),
        };
        if action.kind == "Pod" {
            self.act_on_pod(&action.op, &key, action.object);
            return;
        }
        let kind = DeviceKind::from(action.kind.as_str());
        let devices = self.driver.cluster.devices();
        let exists = devices.is_some_and(|devices| devices.object(&kind, &key).is_some());
        let replaces = kind == DeviceKind::ResourceSlice;
        match (action.op.as_str(), action.object) {
            ("create", Some(object)) if !exists || replaces => self.put(kind, object),
            ("update", Some(object)) if exists || replaces => self.put(kind, object),
            ("delete", _) => {
                if let Some(change) = self.driver.cluster.devices_mut().remove(&kind, &key) {
                    self.driver.notify(&mut self.controller, &Change::Device(change));
                }
            }
            _ => {}
        }
    }

    fn act_on_pod(&mut self, op: &str, key: &PodKey, object: Option<Value>) {
        let known = self.driver.cluster.get_pod(key).cloned();
        match (op, known, object) {
            ("create", None, Some(object)) => {
                self.driver.put_pods(&mut self.controller, vec![read(object)]);
            }
            ("update", Some(known), Some(object)) => {
                let (mut pod, given) = (Pod::clone(&known), read::<Pod>(object));
                pod.spec.node_name = given.spec.node_name;
                pod.metadata.labels = given.metadata.labels;
                let statuses = given.status.other.get("resourceClaimStatuses");
                let statuses = statuses.cloned().unwrap_or_default();
                pod.status.other.set("resourceClaimStatuses", statuses);
                self.driver.put_pods(&mut self.controller, vec![pod]);
            }
            ("delete", Some(pod), _) => self.delete(key, &pod),
            ("remove", Some(_), _) => self.driver.remove_pod(&mut self.controller, key),
            _ => {}
        }
    }

    /// A graceful `DELETE`.
    fn delete(&mut self, key: &PodKey, pod: &Pod) {
        let seconds = pod.spec.termination_grace_period_seconds.unwrap_or(30);
        let seconds = u64::try_from(seconds).expect("no negative grace period");
        if seconds == 0 || pod.spec.node_name.is_empty() {
            self.driver.remove_pod(&mut self.controller, key);
        } else if !pod.is_terminating() {
            let mut pod = pod.clone();
            let grace = std::time::Duration::from_secs(seconds);
            let uid = pod.metadata.uid.clone();
            self.removals.insert((self.driver.now.saturating_add(grace), key.clone(), uid));
            pod.metadata.deletion_timestamp = Some(self.driver.wall_clock());
            self.driver.put_pods(&mut self.controller, vec![pod]);
        }
    }

    /// Lets time pass.
    fn advance(&mut self, to: Timestamp) {
        loop {
            self.settle();
            let timer = self.controller.next_timer().map(|(at, _)| at);
            let removal = self.removals.first().map(|(at, ..)| *at);
            let Some(next) = timer.into_iter().chain(removal).min().filter(|next| *next <= to)
            else {
                break;
            };
            self.driver.now = next;
            if removal == Some(next)
                && let Some((_, key, uid)) = self.removals.pop_first()
            {
                let pod = self.driver.cluster.get_pod(&key);
                if pod.is_some_and(|pod| pod.metadata.uid == uid) {
                    self.driver.remove_pod(&mut self.controller, &key);
                }
            }
        }
        self.driver.now = to;
    }

    /// Lets the controller do all that it can do now.
    fn settle(&mut self) {
        loop {
            while let Some(action) = self.driver.call(&mut self.controller, Controller::poll_action)
            {
                self.carry_out(action);
            }
            let due = self.controller.next_timer().is_some_and(|(at, _)| at <= self.driver.now);
            if due || self.controller.next_work().is_some() {
                self.driver.call(&mut self.controller, Machine::handle_timeout);
                continue;
            }
            match self.unseen.pop_front() {
                Some(Unseen::Patched(pod, condition)) => self.patch(&pod, condition),
                Some(Unseen::Deleted(pod)) => {
                    if let Some(known) = self.driver.cluster.get_pod(&pod).cloned() {
                        self.delete(&pod, &known);
                    }
                }
                None => return,
            }
        }
    }

    fn carry_out(&mut self, action: DeviceTaintEvictionAction) {
        use DeviceTaintEvictionAction as Did;
        let (id, result) = match action {
            Did::RecordEvent(event) => {
                assert_eq!(event.reason, "DeviceTaintManagerEviction");
                assert_eq!(event.component, "device-taint-eviction-controller");
                let kind = match event.message.as_str() {
                    "Marking for deletion" => "marking",
                    "Cancelling deletion" => "cancelling",
                    other => other,
                };
                let ObjectReference::Pod { pod, .. } = event.involved_object else {
                    panic!("an event about a pod");
                };
                self.report(kind, &pod, None);
                return;
            }
            Did::Report(..) => return,
            Did::PatchPodStatus { id, pod, condition } => {
                let fails = self.fails(pod.as_str(), |left| &mut left.patches);
                let result = if fails { FAILED } else { RequestResult::Ok };
                self.report("patch_status", &pod, Some(result));
                if !fails {
                    self.unseen.push_back(Unseen::Patched(pod, condition));
                }
                (id, result)
            }
            Did::DeletePod { id, pod } => {
                let fails = self.fails(pod.as_str(), |left| &mut left.deletes);
                let result = if fails { FAILED } else { RequestResult::Ok };
                self.report("delete", &pod, Some(result));
                if !fails {
                    self.unseen.push_back(Unseen::Deleted(pod));
                }
                (id, result)
            }
            Did::UpdateRuleStatus { id, rule, condition } => {
                let fails = self.fails(&rule, |left| &mut left.status);
                let key = PodKey::new("", &rule);
                let devices = self.driver.cluster.devices().expect("devices");
                let object = devices.object(&DeviceKind::DeviceTaintRule, &key).expect("a rule");
                let mut object = DeviceObject::clone(object);
                let mut outcome = condition.to_value();
                let map = outcome.as_object_mut().expect("an object");
                map.remove("type");
                map.remove("lastTransitionTime");
                map.retain(|_, value| *value != json!(""));
                map.insert("t".into(), self.driver.now.as_nanos().into());
                map.insert("kind".into(), "rule_status".into());
                map.insert("rule".into(), rule.into());
                map.insert("uid".into(), object.metadata.uid.clone().into());
                map.insert("result".into(), if fails { "error" } else { "ok" }.into());
                self.outcomes.push(outcome);
                if !fails {
                    object.status.set("conditions", json!([condition.to_value()]));
                    self.store(object);
                }
                (id, if fails { FAILED } else { RequestResult::Ok })
            }
        };
        self.driver.call(&mut self.controller, |controller, context| {
            controller.handle_action_result(context, id, result);
        });
    }

    /// Whether a write about a pod or a rule fails.
    fn fails(&mut self, name: &str, left: fn(&mut Failures) -> &mut u32) -> bool {
        let Some(failures) = self.failures.get_mut(name) else { return false };
        let left = left(failures);
        let fails = *left > 0;
        *left = left.saturating_sub(1);
        fails
    }

    fn patch(&mut self, key: &PodKey, condition: PodCondition) {
        let Some(pod) = self.driver.cluster.get_pod(key) else { return };
        let mut pod = Pod::clone(pod);
        pod.status.conditions.retain(|known| known.type_ != condition.type_);
        pod.status.conditions.push(condition);
        self.driver.put_pods(&mut self.controller, vec![pod]);
    }

    fn report(&mut self, kind: &str, pod: &PodKey, result: Option<RequestResult>) {
        let known = self.driver.cluster.get_pod(pod);
        let uid = known.map_or("", |pod| pod.metadata.uid.as_str());
        let mut outcome = json!({
            "t": self.driver.now.as_nanos(), "kind": kind, "pod": pod, "uid": uid,
        });
        if let Some(result) = result {
            outcome["result"] = match result {
                RequestResult::Ok | RequestResult::AlreadyTerminating => "ok",
                RequestResult::NotFound | RequestResult::Error(_) => "error",
            }
            .into();
        }
        self.outcomes.push(outcome);
    }

    /// State at the end.
    fn last(&self) -> Value {
        let pending = self.controller.pending().into_iter().map(|(pod, at, reasons)| {
            json!({ "pod": pod.key, "uid": pod.uid, "when": at, "reason": reasons })
        });
        let pods = self.driver.cluster.pods().map(|(key, pod)| {
            let is_true = |it: &PodCondition| it.status == ConditionStatus::True;
            json!({
                "pod": key, "uid": pod.metadata.uid, "terminating": pod.is_terminating(),
                "disruptionTarget": pod.condition("DisruptionTarget").is_some_and(is_true),
            })
        });
        let mut rules = Map::new();
        for rule in self.driver.cluster.devices().into_iter().flat_map(|it| it.rules()) {
            let mut value = json!({ "t": 0, "kind": "", "uid": rule.uid });
            if let Some(condition) = &rule.condition {
                let after = condition.last_transition_time.since(Time::DEFAULT_START);
                value["kind"] = "EvictionInProgress".into();
                value["t"] = u64::try_from(after.as_nanos()).expect("a time").into();
                value["status"] = if condition.status { "True" } else { "False" }.into();
                value["reason"] = condition.reason.clone().into();
                value["observedGeneration"] = condition.observed_generation.into();
                if !condition.message.is_empty() {
                    value["message"] = condition.message.clone().into();
                }
            }
            rules.insert(rule.name.clone(), value);
        }
        json!({
            "pending": pending.collect::<Vec<_>>(),
            "pods": pods.collect::<Vec<_>>(),
            "evicted": self.controller.evicted_by_rule(),
            "rules": rules,
        })
    }
}

/// Result of a failing write.
const FAILED: RequestResult = RequestResult::Error(ApiErrorKind::InternalError);

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object")
}

fn default_time(taint: &mut Value, time: &Value) {
    if taint["timeAdded"].is_null() {
        taint["timeAdded"] = time.clone();
    }
}
