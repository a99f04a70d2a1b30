//! `replicaset_*`, `deployment_*`, `statefulset_*`, `job_*`: one look of the controllers of
//! workloads of 1.20.2 and 1.36.2 at an object.
//!
//! The controller is driven alone: it is told of all objects, the workload first, and asked to do
//! one piece of work. Nothing of what it wants done is carried out, as the caches of informers show
//! nothing of it while a controller works.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use taintlab_core::api::{JobStatus, Pod, PodKey, Workload, WorkloadKey, WorkloadKind};
use taintlab_core::cluster::{Change, Cluster};
use taintlab_core::controllers::deployment::DeploymentController;
use taintlab_core::controllers::job::JobController;
use taintlab_core::controllers::replica_set::ReplicaSetController;
use taintlab_core::controllers::stateful_set::StatefulSetController;
use taintlab_core::controllers::workload::{WorkloadAction, WriteAnswer};
use taintlab_core::controllers::{Context, Controller};
use taintlab_core::protocol::{ObjectReference, RecordedEvent};
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::time::{Time, Timestamp};

use super::{Outcome, compare, with_flagged_case};

/// The time of a case that says none.
const NOW: &str = "2026-11-22T00:00:00Z";
/// The finalizer by which Jobs keep their pods.
const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

fn midnight() -> String {
    NOW.to_owned()
}

/// How many characters of a generated name are by chance.
const RANDOM_SUFFIX: usize = 5;

/// What a case and an answer have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(default)]
    flagged: bool,
    #[serde(default, rename = "different")]
    _different: u64,
    replica_set: Option<Value>,
    deployment: Option<Value>,
    stateful_set: Option<Value>,
    job: Option<Value>,
    #[serde(default)]
    pods: Vec<Pod>,
    /// The ReplicaSets of the same Deployment, or of the Deployment itself.
    #[serde(default)]
    other_replica_sets: Vec<Value>,
    #[serde(default)]
    replica_sets: Vec<Value>,
    #[serde(default)]
    template_hash: String,
    #[serde(default)]
    update_revision: String,
    #[serde(default)]
    previous_revision: String,
    #[serde(default = "midnight")]
    now: String,
    result: Answer,
}

#[derive(Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct Answer {
    creates: Vec<Value>,
    deletes: Vec<String>,
    patches: Vec<Value>,
    updates: Vec<Value>,
    status: Option<Value>,
    /// The engine writes once what the controller writes in several requests of one sync.
    #[serde(skip_serializing)]
    earlier_statuses: Vec<Value>,
    events: Vec<String>,
    error: String,
    forget: Option<bool>,
}

/// Runs one case of `replicaset_RELEASE`.
pub fn replica_set(line: &str, release: &str) -> Outcome {
    let release = super::release(release);
    run(line, WorkloadKind::ReplicaSet, |case, objects| {
        let mut controller = ReplicaSetController::new(release);
        objects.add(WorkloadKind::ReplicaSet, &case.other_replica_sets)?;
        Ok(objects.sync(&mut controller))
    })
}

/// Runs one case of `deployment_RELEASE`.
pub fn deployment(line: &str, release: &str) -> Outcome {
    let release = super::release(release);
    run(line, WorkloadKind::Deployment, |case, objects| {
        let mut controller = DeploymentController::new(release);
        objects.add(WorkloadKind::ReplicaSet, &case.replica_sets)?;
        let answer = objects.sync(&mut controller);
        // The engine's hash of a template is another, of the same form.
        let hash = |created: &Value| {
            created.pointer("/labels/pod-template-hash")?.as_str().map(str::to_owned)
        };
        let Some(hash) = answer.creates.first().and_then(hash) else { return Ok(answer) };
        let text = serde_json::to_string(&answer).map_err(|error| error.to_string())?;
        let text = text.replace(&hash, &case.template_hash);
        serde_json::from_str(&text).map_err(|error| error.to_string())
    })
}

/// Runs one case of `statefulset_RELEASE`.
pub fn stateful_set(line: &str, release: &str) -> Outcome {
    let release = super::release(release);
    run(line, WorkloadKind::StatefulSet, |case, objects| {
        let mut controller = StatefulSetController::new(release);
        let (key, update) = (objects.workload.key(), &objects.workload.spec.template);
        // Of the other template only its name is known.
        let mut previous = update.clone();
        previous.metadata.annotations.insert("revision".into(), "previous".into());
        controller.add_revision(key.clone(), case.previous_revision.clone(), previous);
        controller.add_revision(key, case.update_revision.clone(), update.clone());
        Ok(objects.sync(&mut controller))
    })
}

/// Runs one case of `job_RELEASE`.
pub fn job(line: &str, release: &str) -> Outcome {
    let release = super::release(release);
    run(line, WorkloadKind::Job, |case, objects| {
        let mut controller = JobController::new(release);
        controller.follow_upstream();
        objects.keeps_pods = release.tracks_jobs_with_finalizers();
        let mut answer = objects.sync(&mut controller);
        if objects.workload.status::<JobStatus>().is_finished() {
            // The controller takes finalizers off the pods of such a Job in another queue.
            answer.patches.clear();
        }
        // Only old releases tell their queue what came of it.
        if case.result.forget.is_some() {
            let sync = controller.last_sync();
            answer.error = sync.error.clone().unwrap_or_default();
            answer.forget = Some(sync.forget);
        }
        Ok(answer)
    })
}

fn run(
    line: &str,
    kind: WorkloadKind,
    sync: impl FnOnce(&Case, &mut Objects) -> Result<Answer, String>,
) -> Outcome {
    with_flagged_case(
        line,
        |case: &Case| case.flagged,
        |case| {
            let workload = match kind {
                WorkloadKind::ReplicaSet => &case.replica_set,
                WorkloadKind::Deployment => &case.deployment,
                WorkloadKind::StatefulSet => &case.stateful_set,
                WorkloadKind::Job | WorkloadKind::DaemonSet => &case.job,
            };
            let workload = workload.as_ref().ok_or_else(|| format!("no {kind} in the case"))?;
            let mut objects = Objects::new(read(kind, workload)?, &case.now)?;
            for pod in &case.pods {
                objects.put_pod(pod.clone());
            }
            let got = sync(&case, &mut objects)?;
            Ok(compare(&case.result.normal(&case.now), &got.normal(&case.now)))
        },
    )
}

fn read(kind: WorkloadKind, value: &Value) -> Result<Workload, String> {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        fields.insert("kind".into(), kind.as_str().into());
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The objects of a case, and what a controller is to be told of.
struct Objects {
    start: Time,
    /// Whether Jobs keep their pods by a finalizer.
    keeps_pods: bool,
    workload: Arc<Workload>,
    cluster: Cluster,
    changes: Vec<Change>,
}

impl Objects {
    fn new(workload: Workload, now: &str) -> Result<Self, String> {
        let workload = Arc::new(workload);
        let mut objects = Self {
            start: Time::parse(now)?,
            keeps_pods: false,
            workload: workload.clone(),
            cluster: Cluster::default(),
            changes: Vec::new(),
        };
        objects.put_workload(workload);
        Ok(objects)
    }

    fn put_workload(&mut self, workload: Arc<Workload>) {
        let key: WorkloadKey = workload.key();
        self.cluster.put_workload(workload.clone());
        self.changes.push(Change::Workload { key, old: None, new: Some(workload) });
    }

    fn add(&mut self, kind: WorkloadKind, workloads: &[Value]) -> Result<(), String> {
        for workload in workloads {
            self.put_workload(Arc::new(read(kind, workload)?));
        }
        Ok(())
    }

    fn put_pod(&mut self, pod: Pod) {
        let (key, new) = (pod.key(), Arc::new(pod));
        self.cluster.put_pod(&key, new.clone());
        self.changes.push(Change::Pod { key, old: None, new: Some(new) });
    }

    /// Lets a controller look at the workload once.
    fn sync<C>(&self, controller: &mut C) -> Answer
    where
        C: Controller<Action = WorkloadAction, Answer = WriteAnswer>,
    {
        let mut sequence = Sequence::default();
        let mut context = Context {
            now: Timestamp::ZERO,
            start: self.start,
            cluster: &self.cluster,
            sequence: &mut sequence,
        };
        for change in &self.changes {
            controller.handle_change(&mut context, change);
        }
        controller.handle_timeout(&mut context);
        let mut answer = Answer::default();
        let mut names = BTreeMap::new();
        let mut events = Vec::new();
        while let Some(action) = controller.poll_action(&mut context) {
            if let WorkloadAction::CreatePod { id, .. } | WorkloadAction::DeletePod { id, .. } =
                &action
            {
                let id = *id;
                self.note(&mut answer, &mut events, &mut names, action);
                controller.handle_action_result(&mut context, id, WriteAnswer::Done);
            } else {
                self.note(&mut answer, &mut events, &mut names, action);
            }
        }
        answer.events = events.iter().map(|event| self.event_line(event, &names)).collect();
        answer
    }

    fn note(
        &self,
        answer: &mut Answer,
        events: &mut Vec<RecordedEvent>,
        names: &mut BTreeMap<String, String>,
        action: WorkloadAction,
    ) {
        match action {
            WorkloadAction::RecordEvent(event) => events.push(event),
            WorkloadAction::CreatePod { pod, event, .. } => {
                answer.creates.push(self.created_pod(&pod, names));
                events.push(event);
            }
            WorkloadAction::CreateClaim(claim, event) => {
                answer.creates.push(json!(claim));
                events.push(event);
            }
            WorkloadAction::DeletePod { pod, .. } => {
                answer.deletes.push(format!("pods/{}", pod.name()));
            }
            WorkloadAction::ReleasePod { pod } => {
                let owner = json!({ "$patch": "delete", "uid": self.workload.metadata.uid });
                answer.patches.push(self.patch(&pod, owner));
            }
            WorkloadAction::AdoptPod { pod, owner } => {
                let mut patch = self.patch(&pod, json!(owner));
                if self.workload.kind == WorkloadKind::Job && self.keeps_pods {
                    patch["body"]["metadata"]["finalizers"] = json!([FINALIZER]);
                }
                answer.patches.push(patch);
            }
            WorkloadAction::UpdatePod(pod) => {
                let mut object = json!(pod);
                if let Value::Object(fields) = &mut object {
                    fields.remove("apiVersion");
                    fields.remove("kind");
                }
                let target = format!("pods/{}", pod.metadata.name);
                answer.updates.push(json!({ "target": target, "object": object }));
            }
            WorkloadAction::CreateReplicaSet(set) => answer.creates.push(json!({
                "kind": "replicasets",
                "name": set.metadata.name,
                "labels": set.metadata.labels,
                "annotations": set.metadata.annotations,
                "replicas": set.replicas(),
            })),
            WorkloadAction::UpdateReplicaSet(set) => answer.updates.push(json!({
                "target": format!("replicasets/{}", set.metadata.name),
                "annotations": set.metadata.annotations,
                "replicas": set.replicas(),
                "minReadySeconds": set.number("minReadySeconds"),
            })),
            WorkloadAction::DeleteWorkload(key) => {
                answer.deletes.push(format!("{}/{}", key.kind.resource(), key.name.name()));
            }
            WorkloadAction::UpdateStatus { status, .. } => answer.status = Some(status.to_value()),
            WorkloadAction::FinalizePod { pod } => {
                let removed = json!({ "$deleteFromPrimitiveList/finalizers": [FINALIZER] });
                let target = format!("pods/{}", pod.name());
                answer.patches.push(json!({ "target": target, "body": { "metadata": removed } }));
            }
            WorkloadAction::UpdateDaemonSetStatus { .. } => {}
        }
    }

    /// A pod that is created; `names` gets the name that the recorder gives to such a pod.
    fn created_pod(&self, pod: &Pod, names: &mut BTreeMap<String, String>) -> Value {
        let name = pod.metadata.name.as_str();
        if self.workload.kind == WorkloadKind::StatefulSet {
            let prefix = format!("{}-", self.workload.metadata.name);
            return json!({
                "kind": "pods",
                "name": name,
                "generateName": prefix,
                "labels": pod.metadata.labels,
            });
        }
        let prefix = &name[..name.len().saturating_sub(RANDOM_SUFFIX)];
        names.insert(name.to_owned(), format!("{prefix}NEW"));
        let finalizers = pod.metadata.other.get("finalizers").cloned().unwrap_or_default();
        json!({
            "kind": "pods",
            "generateName": prefix,
            "labels": pod.metadata.labels,
            "annotations": pod.metadata.annotations,
            "finalizers": finalizers,
        })
    }

    fn patch(&self, key: &PodKey, owner: Value) -> Value {
        let uid = self.cluster.get_pod(key).map(|pod| pod.metadata.uid.clone());
        let metadata = json!({ "ownerReferences": [owner], "uid": uid });
        json!({ "target": format!("pods/{}", key.name()), "body": { "metadata": metadata } })
    }

    fn event_line(&self, event: &RecordedEvent, names: &BTreeMap<String, String>) -> String {
        let object = match &event.involved_object {
            ObjectReference::Workload { workload } => {
                format!("{}/{}", workload.kind, workload.name.name())
            }
            other => format!("{other:?}"),
        };
        let mut message = event.message.clone();
        if let Some((before, name)) = message.rsplit_once(' ')
            && let Some(new) = names.get(name)
        {
            message = format!("{before} {new}");
        }
        format!("{} {} {object} {message}", event.type_, event.reason)
    }
}

impl Answer {
    /// The same with what is not ordered in an order, without what is empty.
    fn normal(mut self, now: &str) -> Self {
        let normal = |value| normal(value, now);
        self.earlier_statuses.clear();
        let text = |value: &Value| value.to_string();
        self.creates = self.creates.into_iter().map(normal).collect();
        self.patches = self.patches.into_iter().map(normal).collect();
        self.updates = self.updates.into_iter().map(normal).collect();
        self.status = self.status.map(normal);
        self.creates.sort_by_key(text);
        self.patches.sort_by_key(text);
        self.deletes.sort();
        self.events.sort();
        self
    }
}

/// A value without members that are empty; the time of the case is `NOW`.
fn normal(value: Value, now: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, normal(value, now)));
            let is_empty = |value: &Value| match value {
                Value::Null => true,
                Value::Array(list) => list.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                _ => false,
            };
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect::<Map<_, _>>())
        }
        Value::Array(list) => {
            Value::Array(list.into_iter().map(|value| normal(value, now)).collect())
        }
        Value::String(text) if text == now => "NOW".into(),
        value => value,
    }
}
