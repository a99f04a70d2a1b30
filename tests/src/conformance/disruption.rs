//! `disruption_*`: one sync of a budget, or one request of the eviction API.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};
use taintlab_core::api::{BudgetStatus, Pod, PodDisruptionBudget, PodKey, Workload};
use taintlab_core::controllers::disruption::{DisruptionAction, DisruptionController};
use taintlab_core::controllers::{Controller, Machine};
use taintlab_core::policy::eviction::{ApiStatus, DeleteOptions, EvictionError, evict};
use taintlab_core::release::KubernetesRelease;

use super::control::{Driver, describe_event};
use super::{Outcome, compare, with_flagged_case};

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Case {
    Sync(SyncCase),
    Evict(EvictCase),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SyncCase {
    #[expect(dead_code, reason = "a member that every case has")]
    id: u64,
    pod_disruption_budget: PodDisruptionBudget,
    pods: Vec<Pod>,
    #[serde(default)]
    deployments: Vec<Value>,
    #[serde(default)]
    replica_sets: Vec<Value>,
    #[serde(default)]
    stateful_sets: Vec<Value>,
    result: Synced,
    #[serde(default)]
    flagged: bool,
    #[expect(dead_code, reason = "how many answers were seen")]
    #[serde(default)]
    different: u32,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Synced {
    status: Option<BudgetStatus>,
    events: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct EvictCase {
    #[expect(dead_code, reason = "a member that every case has")]
    id: u64,
    #[serde(default)]
    pod: Option<Pod>,
    pod_disruption_budgets: Vec<PodDisruptionBudget>,
    #[serde(default)]
    delete_options: DeleteOptions,
    result: Evicted,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct Evicted {
    #[serde(deserialize_with = "without_retry")]
    status: ApiStatus,
    deletes: Vec<Deleted>,
    /// The condition that is written before the pod is deleted, which is not for the eviction
    /// subresource to decide here.
    #[serde(skip_serializing)]
    updates: Vec<Value>,
    budget_status: Option<Value>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Deleted {
    options: DeleteOptions,
}

/// Runs one case of `disruption_RELEASE`.
pub fn run(line: &str, release: &str) -> Outcome {
    let release = super::release(release);
    let flagged = |case: &Case| matches!(case, Case::Sync(SyncCase { flagged: true, .. }));
    with_flagged_case(line, flagged, |case| match case {
        Case::Sync(case) => sync(case, release),
        Case::Evict(case) => Ok(request(case, release)),
    })
}

fn sync(case: SyncCase, release: KubernetesRelease) -> Result<Outcome, String> {
    let mut controller = DisruptionController::new(release);
    let mut driver = Driver::new();
    let kinds = [
        ("Deployment", case.deployments),
        ("ReplicaSet", case.replica_sets),
        ("StatefulSet", case.stateful_sets),
    ];
    for (kind, objects) in kinds {
        for mut object in objects {
            object["kind"] = kind.into();
            let workload: Workload =
                serde_json::from_value(object).map_err(|error| error.to_string())?;
            driver.put_workload(&mut controller, Arc::new(workload));
        }
    }
    driver.put_pods(&mut controller, case.pods);
    driver.put_budget(&mut controller, case.pod_disruption_budget);
    driver.call(&mut controller, Machine::handle_timeout);
    let mut got = Synced::default();
    while let Some(action) = driver.call(&mut controller, Controller::poll_action) {
        match action {
            DisruptionAction::RecordEvent(event) => got.events.push(describe_event(&event)),
            DisruptionAction::UpdateStatus { status, .. } => got.status = Some(status),
        }
    }
    let now = driver.wall_clock().to_string();
    for condition in got.status.iter_mut().flat_map(|status| &mut *status.conditions) {
        replace(condition, &now.clone().into(), &"NOW".into());
    }
    got.events.sort();
    Ok(compare(&case.result, &got))
}

fn request(mut case: EvictCase, release: KubernetesRelease) -> Outcome {
    case.result.updates.clear();
    let mut controller = DisruptionController::new(release);
    let mut driver = Driver::new();
    for budget in case.pod_disruption_budgets {
        driver.put_budget(&mut controller, budget);
    }
    let result = case.pod.ok_or_else(|| EvictionError::PodNotFound(PodKey::new("", "target")));
    let result = result.and_then(|pod| {
        driver.put_pods(&mut controller, vec![pod.clone()]);
        let budgets = controller.budgets_of(&pod);
        let budgets = budgets.iter().filter_map(|key| driver.cluster.get_budget(key));
        let budgets: Vec<&PodDisruptionBudget> = budgets.map(AsRef::as_ref).collect();
        evict(release, &pod, &budgets, &case.delete_options, driver.wall_clock())
    });
    let got = match result {
        Ok(eviction) => Evicted {
            status: ApiStatus::success(),
            deletes: vec![Deleted { options: eviction.delete_options }],
            budget_status: eviction.charged.map(|(budget, status)| {
                let mut status = serde_json::to_value(status).unwrap_or_default();
                let written = driver.wall_clock().to_string();
                replace(&mut status, &written.into(), &"NOW".into());
                let members =
                    [("name".to_owned(), budget.name().into()), ("status".to_owned(), status)];
                Value::Object(Map::from_iter(members))
            }),
            ..Evicted::default()
        },
        Err(error) => Evicted { status: error.api_status(), ..Evicted::default() },
    };
    compare(&case.result, &got)
}

/// Reads a status without `retryAfterSeconds`, which tells clients of Go to ask again by
/// themselves.
fn without_retry<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApiStatus, D::Error> {
    let mut status = Value::deserialize(deserializer)?;
    if let Some(details) = status.get_mut("details").and_then(Value::as_object_mut) {
        details.remove("retryAfterSeconds");
    }
    serde_json::from_value(status).map_err(de::Error::custom)
}

/// Replaces a value wherever it is.
fn replace(value: &mut Value, old: &Value, new: &Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|value| replace(value, old, new)),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, old, new)),
        value if value == old => value.clone_from(new),
        _ => {}
    }
}
