//! PodDisruptionBudgets: what they allow.

mod coverage;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::Value;
use taintlab_rules::api::{
    BudgetStatus, IntOrPercent, OwnerReference, Pod, PodDisruptionBudget, PodKey, Workload,
    WorkloadKey, WorkloadKind,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::policy::eviction::budget_selector;
use taintlab_rules::protocol::{ObjectReference, RecordedEvent, RequestId, TimeoutReason};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::queue::work_queue::NumberedWorkQueue;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Time, Timestamp};

use self::coverage::{Coverage, Covered};
use super::{Context, Controller, Machine, WorkTicket};

/// How long a pod may stay after its eviction was granted. Mirrors `DeletionTimeout`.
const DELETION_TIMEOUT: Duration = Duration::from_secs(2 * 60);

/// Longest time between a recorded choice and its cause, in nanoseconds.
const CHOSEN_WITHIN: u64 = 1_000_000_000;

/// Works out what each budget allows. Mirrors `pkg/controller/disruption`.
#[derive(Clone, Debug)]
pub struct DisruptionController {
    release: KubernetesRelease,
    budgets: Coverage,
    /// Whether it was told of any pod: until then budgets need not look for theirs.
    knows_pods: bool,
    queue: NumberedWorkQueue<PodKey>,
    /// Budgets to look at again, since an evicted pod may have stayed.
    rechecks: TimerQueue<PodKey>,
    actions: VecDeque<DisruptionAction>,
    /// Budgets chosen among several of a pod, each with its time.
    choices: Vec<(Timestamp, PodKey)>,
}

/// What the disruption controller wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum DisruptionAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// Write the status of a budget.
    UpdateStatus {
        /// Which one.
        budget: PodKey,
        /// What it is now.
        status: BudgetStatus,
    },
}

/// Why it is not known how many pods there should be.
struct ScaleError {
    /// The event that is recorded besides.
    reason: Option<&'static str>,
    message: String,
}

impl DisruptionController {
    /// A controller that knows nothing yet: tell it of all budgets and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            release,
            budgets: Coverage::default(),
            knows_pods: false,
            queue: NumberedWorkQueue::default(),
            rechecks: TimerQueue::default(),
            actions: VecDeque::new(),
            choices: Vec::new(),
        }
    }

    /// Where a pod that changes has several budgets, only one of them is looked at: the one that
    /// was chosen at about that time, each entry once, or the first by name. Without entries all
    /// are, as upstream after some changes: each draws lots.
    pub fn prefer(&mut self, choices: Vec<(Timestamp, PodKey)>) {
        self.choices = choices;
    }

    /// The chosen one of several budgets. Mirrors `getPdbForPod`.
    fn choose(&mut self, now: Timestamp, budgets: &[PodKey]) -> Option<PodKey> {
        if self.choices.is_empty() || budgets.len() < 2 {
            return None;
        }
        let distance = |at: Timestamp| at.as_nanos().abs_diff(now.as_nanos());
        let near =
            self.choices.iter().enumerate().filter(|(_, (at, budget))| {
                distance(*at) < CHOSEN_WITHIN && budgets.contains(budget)
            });
        let nearest = near.min_by_key(|(_, (at, _))| distance(*at)).map(|(entry, _)| entry);
        match nearest {
            Some(entry) => Some(self.choices.remove(entry).1),
            None => budgets.first().cloned(),
        }
    }

    /// The budgets that select a pod, by name.
    #[must_use]
    pub fn budgets_of(&self, pod: &Pod) -> Vec<PodKey> {
        self.budgets.of(pod)
    }

    /// Whether there is no budget at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.budgets.is_empty()
    }

    /// A budget is there, or has changed.
    fn observe_budget(&mut self, context: &mut Context<'_>, budget: &PodDisruptionBudget) {
        let (key, selector) = (budget.key(), budget_selector(self.release, budget));
        if self.budgets.is_news(&key, selector.as_ref()) {
            let pods = self.knows_pods.then(|| context.cluster.pods());
            self.budgets.put(&key, selector, pods.into_iter().flatten());
        }
        self.queue.push(context.sequence, key);
    }

    fn observe_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        self.knows_pods = true;
        let concerned = self.budgets.observe(key, old, new);
        // Of a pod that is gone those count that selected it.
        let selecting = concerned.iter().filter(|(_, selects)| *selects || new.is_none());
        let selecting: Vec<PodKey> = selecting.map(|(budget, _)| budget.clone()).collect();
        let chosen = self.choose(context.now, &selecting);
        for (budget, _) in concerned {
            if chosen.as_ref().is_none_or(|chosen| *chosen == budget) {
                self.queue.push(context.sequence, budget);
            }
        }
        if let [first, _, ..] = selecting.as_slice()
            && new.is_some()
        {
            let first = chosen.as_ref().unwrap_or(first).name();
            let message = format!(
                "Pod \"{}\"/\"{}\" matches multiple PodDisruptionBudgets.  Chose \"{first}\" \
                 arbitrarily.",
                key.namespace(),
                key.name()
            );
            let object = ObjectReference::Pod { api_version: "v1", pod: key.clone() };
            self.record(object, "Warning", "MultiplePodDisruptionBudgets", message);
        }
    }

    /// The scale of a controller has changed: its budgets are looked at.
    fn observe_scale(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let pods = cluster.pods_of_workload(key);
        let pods = pods.iter().filter_map(|pod| cluster.get_pod(pod));
        let budgets: OrderedSet<PodKey> = pods.flat_map(|pod| self.budgets.of(pod)).collect();
        for budget in budgets {
            self.queue.push(context.sequence, budget);
        }
    }

    fn record(
        &mut self,
        object: ObjectReference,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) {
        let component = "controllermanager";
        let event = RecordedEvent { involved_object: object, type_, reason, message, component };
        self.actions.push_back(DisruptionAction::RecordEvent(event));
    }

    /// Mirrors `DisruptionController.sync`.
    fn sync(&mut self, context: &mut Context<'_>, key: &PodKey) {
        let cluster = context.cluster;
        let (Some(budget), Some(covered)) = (cluster.get_budget(key), self.budgets.get(key)) else {
            return;
        };
        let covered = covered.clone();
        let object = || ObjectReference::Budget { budget: key.clone() };
        if covered.len() == 0 {
            self.record(object(), "Normal", "NoPods", "No matching pods found".into());
        }
        let written = BudgetStatus::of(budget);
        let (expected_pods, desired_healthy) = match self.expected(cluster, budget, &covered) {
            Ok(expected) => expected,
            Err(error) => {
                if let Some(reason) = error.reason {
                    self.record(object(), "Warning", reason, error.message.clone());
                }
                let message =
                    format!("Failed to calculate the number of expected pods: {}", error.message);
                self.record(object(), "Warning", "CalculateExpectedPodCountFailed", message);
                // The rest is left as it was. Mirrors `failSafe`.
                let (budget, mut status) =
                    (key.clone(), BudgetStatus { disruptions_allowed: 0, ..written });
                if self.release.has_budget_conditions() {
                    status.set_disruption_allowed(context.wall_clock(), Some(&error.message));
                }
                self.actions.push_back(DisruptionAction::UpdateStatus { budget, status });
                return;
            }
        };
        let now = context.wall_clock();
        let disrupted_pods = self.disrupted_pods(cluster, key, &covered, &written, now);
        let evicted = disrupted_pods.keys().map(|name| PodKey::new(key.namespace(), name));
        let current_healthy =
            covered.healthy() - count(evicted.filter(|pod| covered.is_healthy(pod)).count());
        let allowed = (current_healthy - desired_healthy).max(0);
        if let Some(first) = disrupted_pods.values().min() {
            let start = context.start.unix_seconds();
            let ends = first.saturating_add(DELETION_TIMEOUT).unix_seconds().saturating_sub(start);
            let at = Timestamp::from_secs(u64::try_from(ends).unwrap_or(0).saturating_add(1));
            self.rechecks.start(context.sequence, at.max(context.now), key.clone());
        }
        let mut status = BudgetStatus {
            expected_pods,
            current_healthy,
            desired_healthy,
            disruptions_allowed: if expected_pods <= 0 { 0 } else { allowed },
            disrupted_pods,
            observed_generation: budget.generation(),
            conditions: written.conditions.clone(),
        };
        if self.release.has_budget_conditions() {
            status.set_disruption_allowed(now, None);
        }
        if status != written {
            let budget = key.clone();
            self.actions.push_back(DisruptionAction::UpdateStatus { budget, status });
        }
    }

    /// How many pods there should be, and how many must be healthy. Mirrors `getExpectedPodCount`.
    fn expected(
        &mut self,
        cluster: &Cluster,
        budget: &PodDisruptionBudget,
        covered: &Covered,
    ) -> Result<(i64, i64), ScaleError> {
        let limits = budget.limits();
        let [min, max] =
            limits.map_err(|error| ScaleError { reason: None, message: error.to_string() })?;
        match (min, max) {
            (_, Some(max)) => {
                let expected = self.expected_scale(cluster, budget, covered)?;
                Ok((expected, (expected - max.of(expected, true)).max(0)))
            }
            (Some(IntOrPercent::Int(least)), None) => Ok((count(covered.len()), least)),
            (Some(part), None) => {
                let expected = self.expected_scale(cluster, budget, covered)?;
                Ok((expected, part.of(expected, true)))
            }
            (None, None) => Ok((0, 0)),
        }
    }

    /// How many pods the controllers of these want. Mirrors `getExpectedScale`.
    fn expected_scale(
        &mut self,
        cluster: &Cluster,
        budget: &PodDisruptionBudget,
        covered: &Covered,
    ) -> Result<i64, ScaleError> {
        let namespace = budget.key();
        let scale =
            |owner: Option<&OwnerReference>| scale_of(cluster, namespace.namespace(), owner?).ok();
        let scales: Option<Vec<(WorkloadKey, i64)>> = covered.owners().map(scale).collect();
        if let Some(scales) = scales {
            let scales = scales.into_iter().collect::<OrderedMap<_, _>>();
            return Ok(scales.into_values().fold(0, i64::saturating_add));
        }
        // The first pod whose scale is not known is named.
        let mut scales: OrderedMap<WorkloadKey, i64> = OrderedMap::new();
        let mut unmanaged = false;
        for pod in covered.pods().filter_map(|pod| cluster.get_pod(pod)) {
            let name = &pod.metadata.name;
            let Some(owner) = pod.metadata.controller() else {
                if !self.release.leaves_out_unmanaged_pods() {
                    let message = format!("found no controller ref for pod \"{name}\"");
                    return Err(ScaleError { reason: Some("NoControllerRef"), message });
                }
                unmanaged = true;
                continue;
            };
            match scale_of(cluster, namespace.namespace(), owner) {
                Ok((key, scale)) => {
                    scales.insert(key, scale);
                }
                Err(Some(kind)) if self.release.names_missing_scale() => {
                    let (resource, group) = (kind.resource(), kind.group());
                    let message =
                        format!("{resource}.{group} does not implement the scale subresource");
                    return Err(ScaleError { reason: None, message });
                }
                Err(_) => {
                    let message = format!("found no controllers for pod \"{name}\"");
                    let is_told = !self.release.omits_event_about_missing_controllers();
                    return Err(ScaleError { reason: is_told.then_some("NoControllers"), message });
                }
            }
        }
        if unmanaged && self.release.warns_of_unmanaged_pods() {
            let message = format!(
                "Pods selected by this PodDisruptionBudget (selector: {}) were found to be \
                 unmanaged. As a result, the status of the PDB cannot be calculated correctly, \
                 which may result in undefined behavior. To account for these pods please set \
                 \".spec.minAvailable\" field of the PDB to an integer value.",
                go_selector(budget.spec.selector.as_ref())
            );
            let object = ObjectReference::Budget { budget: budget.key() };
            self.record(object, "Warning", "UnmanagedPods", message);
        }
        Ok(scales.into_values().fold(0, i64::saturating_add))
    }

    /// Pods whose eviction was granted a short time ago, and that are not seen to terminate.
    /// Mirrors `buildDisruptedPodMap`.
    fn disrupted_pods(
        &mut self,
        cluster: &Cluster,
        budget: &PodKey,
        covered: &Covered,
        status: &BudgetStatus,
        now: Time,
    ) -> BTreeMap<String, Time> {
        let mut found = BTreeMap::new();
        for (name, since) in &status.disrupted_pods {
            let pod = PodKey::new(budget.namespace(), name);
            let there = cluster.get_pod(&pod).filter(|_| covered.contains(&pod));
            if there.is_none_or(|pod| pod.is_terminating()) {
                continue;
            }
            if since.saturating_add(DELETION_TIMEOUT) < now {
                // The namespace is there twice.
                let namespace = budget.namespace();
                let message = format!(
                    "Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
                );
                let object = ObjectReference::Pod { api_version: "v1", pod };
                self.record(object, "Warning", "NotDeleted", message);
            } else {
                found.insert(name.clone(), *since);
            }
        }
        found
    }
}

impl Machine for DisruptionController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Pod { key, old, new } => {
                self.observe_pod(context, key, old.as_deref(), new.as_deref());
            }
            Change::Budget { new: Some(budget), .. } => self.observe_budget(context, budget),
            Change::Budget { key, new: None, .. } => self.budgets.remove(key),
            Change::Workload { key, old, new } => {
                let scale = |workload: &Option<Arc<Workload>>| {
                    workload.as_ref().map(|workload| workload.replicas())
                };
                if scale(old) != scale(new) {
                    self.observe_scale(context, key);
                }
            }
            Change::Node { .. } | Change::Lease { .. } | Change::Volume(_) | Change::Device(_) => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        if let Some(key) = self.rechecks.pop_due(context.now).or_else(|| self.queue.pop()) {
            self.sync(context, &key);
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.rechecks.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        let budget = self.rechecks.peek()?.clone();
        Some(TimeoutReason::RecheckBudget { budget })
    }

    /// After all others, so that one look at a budget tells of all that has happened.
    fn next_work(&self) -> Option<WorkTicket> {
        self.queue.first().map(|number| (2, number))
    }
}

impl Controller for DisruptionController {
    type Action = DisruptionAction;
    type Answer = ();

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<DisruptionAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}

/// The controller whose scale counts for a pod, and that scale; or the kind of the controller, if
/// it is one without. Mirrors `DisruptionController.finders`.
fn scale_of(
    cluster: &Cluster,
    namespace: &str,
    owner: &OwnerReference,
) -> Result<(WorkloadKey, i64), Option<WorkloadKind>> {
    let kind = owner.workload_key(namespace).map(|key| key.kind);
    let without_scale =
        kind.filter(|kind| matches!(kind, WorkloadKind::DaemonSet | WorkloadKind::Job));
    let owner = get_owner(cluster, namespace, owner).ok_or(without_scale)?;
    let above = owner.metadata.controller();
    let deployment = above.and_then(|above| get_owner(cluster, namespace, above)).filter(|top| {
        (owner.kind, top.kind) == (WorkloadKind::ReplicaSet, WorkloadKind::Deployment)
    });
    let counts = deployment.unwrap_or(owner);
    match counts.kind {
        WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet => {
            Ok((counts.key(), counts.replicas()))
        }
        WorkloadKind::DaemonSet | WorkloadKind::Job => Err(Some(counts.kind)),
    }
}

/// The controller of an object, if it is there and not another one of its name.
fn get_owner<'a>(
    cluster: &'a Cluster,
    namespace: &str,
    reference: &OwnerReference,
) -> Option<&'a Workload> {
    let uid = &reference.uid;
    let owner = cluster.get_workload(&reference.workload_key(namespace)?)?;
    let known = &owner.metadata.uid;
    (uid.is_empty() || known.is_empty() || known == uid || owner.inferred).then_some(owner)
}

/// A `metav1.LabelSelector` as Go's `%v` prints it.
fn go_selector(selector: Option<&Value>) -> String {
    let Some(selector) = selector else { return "nil".into() };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let labels: String = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}: {},", text(value)))
        .collect();
    let part = |value: &Value, name: &str| value.get(name).map_or_else(String::new, text);
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let expressions: String = expressions
        .into_iter()
        .flatten()
        .map(|one| {
            let values = one.get("values").and_then(Value::as_array);
            let values: Vec<String> = values.into_iter().flatten().map(text).collect();
            format!(
                "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
                part(one, "key"),
                part(one, "operator"),
                values.join(" ")
            )
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
