//! StatefulSets: numbered pods, at most one of each name.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::{Value, json};
use taintlab_rules::api::{
    CopyOnWrite, IntOrPercent, PersistentVolumeClaim, Pod, PodKey, PodPhase, PodTemplate,
    StatefulSetStatus, VolumeStatus, Workload, WorkloadKey, WorkloadKind,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::release::KubernetesRelease;

pub(crate) use super::claims::ordinal_of;
use super::workload::{
    REVISION_LABEL, Reconcile, Reconciler, WorkloadAction, comparable, count, is_available,
    known_revision,
};
use super::{Context, names};

/// The label that has the name of the pod.
pub(super) const POD_NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";

/// The controller of StatefulSets. Mirrors `pkg/controller/statefulset`.
#[derive(Clone, Debug)]
pub struct StatefulSetController {
    reconciler: Reconciler<Step>,
    /// What the templates of each one were, the present one last.
    revisions: OrderedMap<WorkloadKey, Vec<Revision>>,
}

/// A template of a StatefulSet, as a ControllerRevision keeps it.
#[derive(Clone, Debug)]
struct Revision {
    /// The name, which is the label of its pods.
    name: String,
    template: CopyOnWrite<PodTemplate>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Creates a pod of the StatefulSet, whose template is that of the revision.
    Create(Arc<Workload>, i64, String),
    SayRecreated(WorkloadKey, PodKey, PodPhase),
    Delete(Arc<Workload>, PodKey),
    Update(Arc<Workload>, Box<Pod>),
    WriteStatus(Arc<Workload>, Box<StatefulSetStatus>),
}

impl StatefulSetController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        let reconciler = Reconciler::new(release, WorkloadKind::StatefulSet);
        Self { reconciler, revisions: OrderedMap::new() }
    }

    /// Tells it of a ControllerRevision, the oldest first.
    pub fn add_revision(
        &mut self,
        key: WorkloadKey,
        name: String,
        template: CopyOnWrite<PodTemplate>,
    ) {
        self.revisions.entry(key).or_default().push(Revision { name, template });
    }

    /// Pods that are there are of the template that their StatefulSet has now, whatever its hash, unless
    /// its controller has not seen that yet.
    pub fn bootstrap_revisions(&mut self, cluster: &Cluster) {
        let sets = cluster.workloads().filter(|(key, _)| key.kind == WorkloadKind::StatefulSet);
        for (key, set) in sets {
            if !set.is_unobserved()
                && let Some(name) = known_revision(cluster, key)
            {
                let template = set.spec.template.clone();
                self.revisions.insert(key.clone(), Vec::from([Revision { name, template }]));
            }
        }
    }

    /// The label of pods of the present template, if it is known.
    #[must_use]
    pub fn revision(&self, key: &WorkloadKey) -> Option<&str> {
        Some(&self.revisions.get(key)?.last()?.name)
    }

    /// The names of the current and of the update revision; a template that has changed gets one,
    /// or has its old one again. Mirrors `getStatefulSetRevisions`.
    fn current_and_update(&mut self, set: &Workload) -> (String, String) {
        let known = self.revisions.entry(set.key()).or_default();
        let template = &set.spec.template;
        if let Some(same) = known.iter().rposition(|known| known.template == *template) {
            let revision = known.remove(same);
            known.push(revision);
        } else {
            let mut hash = names::template_hash(&comparable(template));
            let name = |hash: &str| format!("{}-{hash}", set.metadata.name);
            while known.iter().any(|known| known.name == name(&hash)) {
                hash = names::template_hash(&hash);
            }
            known.push(Revision { name: name(&hash), template: template.clone() });
        }
        let update = known.last().map(|revision| revision.name.clone()).unwrap_or_default();
        let current = set.status::<StatefulSetStatus>().current_revision;
        let is_known = known.iter().any(|known| known.name == current);
        (if is_known { current } else { update.clone() }, update)
    }

    /// Forgets the oldest revisions that nothing is of, above `revisionHistoryLimit`. Mirrors
    /// `truncateHistory`.
    fn truncate_history(&mut self, set: &Workload, pods: &[&Arc<Pod>], live: [&str; 2]) {
        let Some(known) = self.revisions.get_mut(&set.key()) else { return };
        let limit = set.number("revisionHistoryLimit").unwrap_or(10);
        let limit = usize::try_from(limit).unwrap_or(0);
        if known.len() <= limit {
            return;
        }
        let is_live = |revision: &Revision| {
            live.contains(&revision.name.as_str())
                || pods.iter().any(|pod| revision_of(pod) == Some(revision.name.as_str()))
        };
        let dead = known.iter().filter(|revision| !is_live(revision)).count();
        let mut surplus = dead.saturating_sub(limit);
        known.retain(|revision| {
            let goes = surplus > 0 && !is_live(revision);
            surplus -= usize::from(goes);
            !goes
        });
    }

    fn create(&mut self, cluster: &Cluster, set: &Workload, ordinal: i64, revision: String) {
        let key = pod_name(set, ordinal);
        let claims = if cluster.volumes().is_some() { claims_of(set, &key) } else { Vec::new() };
        for (_, claim) in &claims {
            let message = format!(
                "create Claim {} Pod {} in StatefulSet {} success",
                claim.metadata.name,
                key.name(),
                set.metadata.name
            );
            let event = Reconciler::<Step>::event(set.key(), "Normal", "SuccessfulCreate", message);
            let claim = Box::new(claim.clone());
            self.reconciler.push(WorkloadAction::CreateClaim(claim, event));
        }
        let name = key.name().to_string();
        let index = self.reconciler.release.labels_pods_with_index();
        let known = self.revisions.get(&set.key()).into_iter().flatten();
        let mut known = known.rev().filter(|known| known.name == revision);
        let mut set = set.clone();
        if let Some(known) = known.next() {
            set.spec.template.clone_from(&known.template);
        }
        self.reconciler.create_pod(&set, key, |pod| {
            let labels = &mut pod.metadata.labels;
            labels.insert(POD_NAME_LABEL.into(), name);
            labels.insert(REVISION_LABEL.into(), revision);
            if index {
                labels.insert("apps.kubernetes.io/pod-index".into(), ordinal.to_string());
            }
            use_claims(pod, &claims);
            Vec::new()
        });
    }

    fn say_recreated(&mut self, set: &WorkloadKey, pod: &PodKey, phase: &PodPhase) {
        let (set_name, name) = (&set.name, pod.name());
        if *phase == PodPhase::Failed {
            let message = format!("StatefulSet {set_name} is recreating failed Pod {name}");
            self.reconciler.record(set, "Warning", "RecreatingFailedPod", message);
        } else {
            let message = format!("StatefulSet {set_name} is recreating terminated Pod {name}");
            self.reconciler.record(set, "Normal", "RecreatingTerminatedPod", message);
        }
    }
}

/// One look at a StatefulSet. Mirrors `updateStatefulSet`.
struct Sync<'a> {
    context: &'a Context<'a>,
    release: KubernetesRelease,
    set: &'a Arc<Workload>,
    current: &'a str,
    update: &'a str,
    one_by_one: bool,
    status: StatefulSetStatus,
    steps: Vec<Step>,
}

/// A number below `replicas`: its pod, if there is one, or the revision that it is to be of.
struct Replica<'a> {
    ordinal: i64,
    pod: Option<&'a Arc<Pod>>,
    revision: String,
}

impl<'a> Sync<'a> {
    /// The first number, and that after the last.
    fn range(&self) -> (i64, i64) {
        let start = first_ordinal(self.set, self.release);
        (start, start + self.set.replicas())
    }

    /// A pod is counted with its revision, or with -1 no more.
    fn count_revision(&mut self, revision: Option<&str>, number: i64) {
        if revision == Some(self.current) {
            self.status.current_replicas += number;
        }
        if revision == Some(self.update) {
            self.status.updated_replicas += number;
        }
    }

    /// Whether what the sync does counts only when it is seen.
    const fn counts_as_seen(&self) -> bool {
        self.release.counts_stateful_pods_as_seen()
    }

    /// The revision of a pod that is created. Mirrors `newVersionedStatefulSetPod`.
    fn revision_for(&self, ordinal: i64) -> &'a str {
        let strategy = self.set.spec.other.get("updateStrategy");
        let field = |name: &str| strategy.and_then(|strategy| strategy.get(name));
        let kind = field("type").and_then(Value::as_str).unwrap_or_default();
        let rolling = field("rollingUpdate").is_some_and(|rolling| !rolling.is_null());
        let first = first_ordinal(self.set, self.release);
        let kept = match kind {
            "RollingUpdate" if !rolling => self.set.status::<StatefulSetStatus>().current_replicas,
            "OnDelete" if !rolling => 0,
            _ => partition(self.set),
        };
        if ordinal < first + kept { self.current } else { self.update }
    }

    /// Whether a pod keeps the next from being looked at. Mirrors `isRunningAndReady`, since 1.23
    /// `isRunningAndAvailable`.
    fn waits_for(&self, pod: &Pod) -> bool {
        !is_running_and_ready(pod)
            || (self.release.has_stateful_set_min_ready_seconds()
                && !is_available(self.context, self.set, pod))
    }

    fn delete(&mut self, pod: &Pod) {
        self.steps.push(Step::Delete(self.set.clone(), pod.key()));
    }

    fn run(&mut self, pods: &[&'a Arc<Pod>]) {
        let (start, end) = self.range();
        let mut found: OrderedMap<i64, &Arc<Pod>> = OrderedMap::new();
        let mut condemned: Vec<(i64, &Arc<Pod>)> = Vec::new();
        for pod in pods {
            self.status.replicas += 1;
            self.status.ready_replicas += i64::from(is_running_and_ready(pod));
            if !pod.is_terminating() {
                self.count_revision(revision_of(pod), 1);
            }
            let Some(ordinal) = ordinal_of(self.set, &pod.metadata.name) else { continue };
            if (start..end).contains(&ordinal) {
                found.insert(ordinal, pod);
            } else {
                condemned.push((ordinal, pod));
            }
        }
        if self.release.has_stateful_set_min_ready_seconds() {
            let available = pods.iter().filter(|pod| {
                is_running_and_ready(pod) && is_available(self.context, self.set, pod)
            });
            self.status.available_replicas = Some(count(available));
        }
        condemned.order_by_key(|(ordinal, _)| *ordinal);
        let mut replicas: Vec<Replica<'_>> = (start..end)
            .map(|ordinal| {
                let pod = found.get(&ordinal).copied();
                let revision = match pod {
                    Some(pod) => revision_of(pod).unwrap_or_default(),
                    None => self.revision_for(ordinal),
                };
                Replica { ordinal, pod, revision: revision.into() }
            })
            .collect();
        let unhealthy = |pod: Option<&Arc<Pod>>| pod.is_none_or(|pod| !is_healthy(pod));
        let unhealthy_replicas =
            replicas.iter().filter(|replica| unhealthy(replica.pod)).map(|replica| replica.ordinal);
        let unhealthy_condemned =
            condemned.iter().filter(|(_, pod)| unhealthy(Some(pod))).map(|(ordinal, _)| *ordinal);
        let first_unhealthy = unhealthy_replicas.chain(unhealthy_condemned).min();
        if self.set.metadata.deletion_timestamp.is_some() {
            return;
        }
        for replica in &mut replicas {
            if self.process(replica) {
                return;
            }
        }
        for (ordinal, pod) in condemned.into_iter().rev() {
            if self.condemn(ordinal, pod, first_unhealthy) {
                return;
            }
        }
        self.roll(&replicas);
    }

    /// Looks after one number; whether nothing else is to be done.
    ///
    /// What is created in place of a pod that has ended is what the roll-out sees.
    fn process(&mut self, replica: &mut Replica<'_>) -> bool {
        if let Some(ended) = replica.pod.filter(|pod| self.is_recreated(pod)) {
            if !self.release.recreates_ended_pods_at_once() {
                // It is created when this one is gone.
                if !ended.is_terminating() {
                    self.delete(ended);
                }
                return self.one_by_one;
            }
            let (set, phase) = (self.set.key(), ended.status.phase.clone());
            self.steps.push(Step::SayRecreated(set, ended.key(), phase));
            self.delete(ended);
            if !self.counts_as_seen() || !ended.is_terminating() {
                self.count_revision(Some(&replica.revision), -1);
            }
            self.status.replicas -= 1;
            replica.revision = self.revision_for(replica.ordinal).into();
            replica.pod = None;
        }
        let Some(pod) = replica.pod else {
            let step = Step::Create(self.set.clone(), replica.ordinal, replica.revision.clone());
            self.steps.push(step);
            if !self.counts_as_seen() {
                self.status.replicas += 1;
                self.count_revision(Some(&replica.revision), 1);
            }
            return self.one_by_one;
        };
        if self.one_by_one && (pod.is_terminating() || self.waits_for(pod)) {
            return true;
        }
        if pod.metadata.labels.get(POD_NAME_LABEL) != Some(&pod.metadata.name) {
            let mut pod = Pod::clone(pod);
            pod.metadata.labels.insert(POD_NAME_LABEL.into(), pod.metadata.name.clone());
            self.steps.push(Step::Update(self.set.clone(), Box::new(pod)));
        }
        false
    }

    /// Whether a pod has ended and is replaced by one of its name.
    fn is_recreated(&self, pod: &Pod) -> bool {
        match pod.status.phase {
            PodPhase::Failed => true,
            PodPhase::Succeeded => self.release.recreates_succeeded_pods(),
            _ => false,
        }
    }

    /// Deletes a pod that is one too many; whether nothing else is to be done.
    fn condemn(&mut self, ordinal: i64, pod: &Pod, first_unhealthy: Option<i64>) -> bool {
        if pod.is_terminating() {
            return self.one_by_one;
        }
        if self.one_by_one && !is_running_and_ready(pod) && first_unhealthy != Some(ordinal) {
            return true;
        }
        self.delete(pod);
        if !self.counts_as_seen() {
            self.count_revision(revision_of(pod), -1);
        }
        self.one_by_one
    }

    /// Pods of another template go one by one, the highest number first.
    fn roll(&mut self, replicas: &[Replica<'_>]) {
        if self.set.strategy() == "OnDelete" {
            return;
        }
        let first = first_ordinal(self.set, self.release) + partition(self.set);
        if self.release.has_stateful_set_max_unavailable() {
            return self.roll_several(replicas, first);
        }
        for replica in replicas.iter().rev().take_while(|replica| replica.ordinal >= first) {
            let terminating = replica.pod.is_some_and(|pod| pod.is_terminating());
            if replica.revision != self.update && !terminating {
                if let Some(pod) = replica.pod {
                    self.delete(pod);
                }
                self.status.current_replicas -= 1;
                return;
            }
            if !replica.pod.is_some_and(|pod| is_healthy(pod)) {
                return;
            }
        }
    }

    /// Deletes pods of another template, the highest number first, so that no more than
    /// `maxUnavailable` are away. With `Parallel`, those that are away go whatever their number is.
    /// Mirrors `updateStatefulSetAfterInvariantEstablished`.
    fn roll_several(&mut self, replicas: &[Replica<'_>], first: i64) {
        let allowed = self.set.rolling_update("maxUnavailable").ok().flatten();
        let allowed = allowed.map_or(1, |allowed| allowed.of(self.set.replicas(), false).max(1));
        let is_away = |pod: &Pod| pod.is_terminating() || self.waits_for(pod);
        let away = replicas.iter().filter(|replica| replica.pod.is_none_or(|pod| is_away(pod)));
        let mut budget = allowed - count(away);
        let mut old: Vec<&Pod> = Vec::new();
        for replica in replicas.iter().rev().take_while(|replica| replica.ordinal >= first) {
            let is_old = |pod: &&Arc<Pod>| replica.revision != self.update && !pod.is_terminating();
            let Some(pod) = replica.pod.filter(is_old) else { continue };
            if !self.one_by_one && is_away(pod) {
                old.push(pod);
            } else if budget > 0 {
                budget -= 1;
                old.push(pod);
            }
        }
        // Those that are away are deleted before the others.
        old.order_by_key(|pod| !self.one_by_one && !is_away(pod));
        for pod in old {
            self.delete(pod);
            self.status.current_replicas -= 1;
        }
    }

    /// Mirrors `completeRollingUpdate`.
    fn complete_rolling_update(&mut self) {
        let all_seen = self.status.replicas == self.set.replicas();
        if self.counts_as_seen() && !all_seen {
            return;
        }
        let status = &mut self.status;
        if (self.release.completes_updates_on_delete() || self.set.strategy() != "OnDelete")
            && status.updated_replicas == status.replicas
            && status.ready_replicas == status.replicas
        {
            status.current_replicas = status.updated_replicas;
            status.current_revision.clone_from(&status.update_revision);
        }
    }

    /// Whether the status is written. Mirrors `inconsistentStatus`.
    fn is_inconsistent(&self) -> bool {
        let known: StatefulSetStatus = self.set.status();
        let status = &self.status;
        status.observed_generation > known.observed_generation
            || StatefulSetStatus {
                observed_generation: known.observed_generation,
                collision_count: known.collision_count,
                ..status.clone()
            } != known
    }
}

impl Reconcile for StatefulSetController {
    type Step = Step;

    fn reconciler(&mut self) -> &mut Reconciler<Step> {
        &mut self.reconciler
    }

    fn reconciler_ref(&self) -> &Reconciler<Step> {
        &self.reconciler
    }

    fn observe(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Workload { key, new: Some(_), .. } if key.kind == WorkloadKind::StatefulSet => {
                self.reconciler.enqueue(context, key.clone());
            }
            Change::Workload { key, new: None, .. } => {
                self.revisions.remove(key);
            }
            Change::Pod { old, new, .. } => {
                let pods = (old.as_deref(), new.as_deref());
                self.reconciler.enqueue_owners(context, WorkloadKind::StatefulSet, pods, true);
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Volume(_)
            | Change::Device(_)
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `StatefulSetController.syncStatefulSet`. A pod that is terminating keeps its name
    /// until it is gone, so that there is never another one of that name.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(set) = cluster.get_workload(key) else { return };
        let claimed = self.reconciler.claim(cluster, set, |_| true);
        let pods = claimed.pods(cluster, key);
        let (current, update) = self.current_and_update(set);
        let mut sync = Sync {
            context,
            release: self.reconciler.release,
            set,
            current: &current,
            update: &update,
            one_by_one: set.text("podManagementPolicy") != "Parallel",
            status: StatefulSetStatus {
                observed_generation: set.generation(),
                current_revision: current.clone(),
                update_revision: update.clone(),
                collision_count: Some(
                    set.status::<StatefulSetStatus>().collision_count.unwrap_or(0),
                ),
                ..StatefulSetStatus::default()
            },
            steps: Vec::new(),
        };
        sync.run(&pods);
        sync.complete_rolling_update();
        let inconsistent = sync.is_inconsistent();
        let Sync { status, steps, .. } = sync;
        self.reconciler.steps.extend(steps);
        if inconsistent {
            let step = Step::WriteStatus(set.clone(), Box::new(status));
            self.reconciler.steps.push_back(step);
        }
        self.truncate_history(set, &pods, [&current, &update]);
        if self.reconciler.release.has_stateful_set_min_ready_seconds() {
            self.reconciler.await_availability(context, set);
        }
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::Create(set, ordinal, revision) => {
                self.create(context.cluster, &set, ordinal, revision);
            }
            Step::SayRecreated(set, pod, phase) => self.say_recreated(&set, &pod, &phase),
            Step::Delete(set, pod) => self.reconciler.delete_pod(&set, pod),
            Step::Update(set, pod) => {
                let message = super::workload::done_to(
                    self.reconciler.release,
                    &pod.key(),
                    &set,
                    "update",
                    "Updated",
                );
                self.reconciler.push(WorkloadAction::UpdatePod(pod));
                self.reconciler.record(&set.key(), "Normal", "SuccessfulUpdate", message);
            }
            Step::WriteStatus(set, status) => {
                self.reconciler.write_status(set.key(), *status, BTreeMap::new());
            }
        }
    }

    /// The other pods are created nevertheless, but the status is not written.
    fn refused(&mut self, _: &str) {
        self.reconciler.steps.retain(|step| !matches!(step, Step::WriteStatus(..)));
    }
}

/// The claims of a pod, with the names of their templates. Mirrors `getPersistentVolumeClaims`.
fn claims_of(set: &Workload, pod: &PodKey) -> Vec<(String, PersistentVolumeClaim)> {
    let templates = set.spec.other.get("volumeClaimTemplates").and_then(Value::as_array);
    let claim = |template: &Value| {
        let mut claim = PersistentVolumeClaim::deserialize(template).ok()?;
        let name = core::mem::take(&mut claim.metadata.name);
        claim.metadata.name = format!("{name}-{}", pod.name());
        claim.metadata.namespace = pod.namespace().into();
        claim.status = VolumeStatus::default();
        Some((name, claim))
    };
    templates.into_iter().flatten().filter_map(claim).collect()
}

/// The volumes of a pod that are its claims, before those of the template that have other names.
/// Mirrors `updateStorage`.
fn use_claims(pod: &mut Pod, claims: &[(String, PersistentVolumeClaim)]) {
    if claims.is_empty() {
        return;
    }
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|(name, claim)| {
            let claim = json!({ "claimName": claim.metadata.name });
            json!({ "name": name, "persistentVolumeClaim": claim })
        })
        .collect();
    let own = pod.spec.other.get("volumes").and_then(Value::as_array);
    let is_claim = |volume: &Value| {
        let name = volume.get("name").and_then(Value::as_str);
        claims.iter().any(|(claim, _)| Some(claim.as_str()) == name)
    };
    volumes.extend(own.into_iter().flatten().filter(|volume| !is_claim(volume)).cloned());
    pod.spec.other.set("volumes", Value::Array(volumes));
}

fn revision_of(pod: &Pod) -> Option<&str> {
    pod.metadata.labels.get(REVISION_LABEL).map(String::as_str)
}

/// A pod whose phase was never written runs.
fn is_running_and_ready(pod: &Pod) -> bool {
    matches!(pod.status.phase, PodPhase::Running | PodPhase::Empty) && pod.has_ready_condition()
}

/// Mirrors `isHealthy`.
fn is_healthy(pod: &Pod) -> bool {
    is_running_and_ready(pod) && !pod.is_terminating()
}

/// `spec.updateStrategy.rollingUpdate.partition`.
fn partition(set: &Workload) -> i64 {
    match set.rolling_update("partition").ok().flatten() {
        Some(IntOrPercent::Int(partition)) => partition,
        _ => 0,
    }
}

/// The number of the first pod.
pub(super) fn first_ordinal(set: &Workload, release: KubernetesRelease) -> i64 {
    let start = set.spec.other.get("ordinals").and_then(|ordinals| ordinals.get("start"));
    let start = start.and_then(serde_json::Value::as_i64);
    start.filter(|_| release.has_first_ordinal()).unwrap_or(0)
}

pub(super) fn pod_name(set: &Workload, ordinal: i64) -> PodKey {
    PodKey::new(&set.metadata.namespace, &format!("{}-{ordinal}", set.metadata.name))
}
