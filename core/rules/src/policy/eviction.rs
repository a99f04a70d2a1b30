//! The eviction API: whether a budget lets a pod go. Mirrors
//! `pkg/registry/core/pod/storage/eviction.go`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::api::{
    BudgetStatus, LabelSelector, Pod, PodDisruptionBudget, PodKey, PodPhase, is_default,
};
use crate::release::KubernetesRelease;
use crate::time::Time;

/// How many evictions of a budget may be granted and not seen. Mirrors `MaxDisruptedPodSize`.
const MAX_DISRUPTED_PODS: usize = 2000;

/// `metav1.DeleteOptions`, as far as evictions have them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeleteOptions {
    /// In seconds; that of the pod, unless given.
    #[serde(skip_serializing_if = "is_default")]
    pub grace_period_seconds: Option<i64>,
    /// What must hold of the pod.
    #[serde(skip_serializing_if = "is_default")]
    pub preconditions: Preconditions,
    /// `All` if nothing is to be written.
    #[serde(skip_serializing_if = "is_default")]
    pub dry_run: Vec<String>,
}

/// `metav1.Preconditions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Preconditions {
    /// The version of the pod.
    #[serde(skip_serializing_if = "is_default")]
    pub resource_version: Option<String>,
}

/// What comes of an eviction that is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// With what the pod is deleted.
    pub delete_options: DeleteOptions,
    /// The budget that it is charged to, and what is written to its status.
    pub charged: Option<(PodKey, BudgetStatus)>,
}

/// Why a pod is not evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvictionError {
    /// 404: there is no such pod.
    PodNotFound(PodKey),
    /// 500: several budgets select the pod, which the eviction API does not support.
    SeveralBudgets {
        /// Which.
        budgets: Vec<PodKey>,
    },
    /// 429: the disruption controller has not looked at the budget since it was changed.
    NotProcessed {
        /// Which budget.
        budget: PodKey,
    },
    /// 403: the status of the budget is not what it can be.
    Forbidden {
        /// Which budget.
        budget: PodKey,
        /// What is wrong with it.
        reason: &'static str,
        /// The cause in the answer; none if empty.
        cause: String,
    },
    /// 429: the budget does not allow it now.
    DisruptionBudget {
        /// Which budget.
        budget: PodKey,
        /// How many healthy pods it needs.
        needs: i64,
        /// How many there are.
        has: i64,
        /// The cause in the answer; that it needs more if empty.
        cause: String,
    },
}

/// `metav1.Status`: what the API server answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ApiStatus {
    /// `Success` or `Failure`.
    pub status: String,
    /// In a sentence.
    #[serde(skip_serializing_if = "is_default")]
    pub message: String,
    /// In one word.
    #[serde(skip_serializing_if = "is_default")]
    pub reason: String,
    /// The HTTP status; absent for success.
    #[serde(skip_serializing_if = "is_default")]
    pub code: u16,
    /// About what.
    #[serde(skip_serializing_if = "is_default")]
    pub details: StatusDetails,
}

/// `metav1.StatusDetails`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct StatusDetails {
    /// The name of the object.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// Its group.
    #[serde(skip_serializing_if = "is_default")]
    pub group: String,
    /// Its kind, or its resource.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: String,
    /// More reasons.
    #[serde(skip_serializing_if = "is_default")]
    pub causes: Vec<StatusCause>,
}

/// `metav1.StatusCause`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct StatusCause {
    /// In one word.
    pub reason: String,
    /// In a sentence.
    pub message: String,
}

impl ApiStatus {
    /// The request was carried out.
    #[must_use]
    pub fn success() -> Self {
        Self { status: "Success".into(), ..Self::default() }
    }
}

impl EvictionError {
    /// The answer of the API server.
    #[must_use]
    pub fn api_status(&self) -> ApiStatus {
        let (code, reason) = match self {
            Self::PodNotFound(_) => (404, "NotFound"),
            Self::SeveralBudgets { .. } => (500, ""),
            Self::Forbidden { .. } => (403, "Forbidden"),
            Self::NotProcessed { .. } | Self::DisruptionBudget { .. } => (429, "TooManyRequests"),
        };
        let cause = |message: String| StatusDetails {
            causes: Vec::from([StatusCause { reason: "DisruptionBudget".into(), message }]),
            ..StatusDetails::default()
        };
        let details = match self {
            Self::PodNotFound(pod) => StatusDetails {
                name: pod.name().into(),
                kind: "pods".into(),
                ..StatusDetails::default()
            },
            Self::SeveralBudgets { .. } => StatusDetails::default(),
            Self::Forbidden { budget, cause: known, .. } => StatusDetails {
                name: budget.name().into(),
                group: "policy".into(),
                kind: "poddisruptionbudget".into(),
                ..if known.is_empty() { StatusDetails::default() } else { cause(known.clone()) }
            },
            Self::NotProcessed { budget } => cause(format!(
                "The disruption budget {} is still being processed by the server.",
                budget.name()
            )),
            Self::DisruptionBudget { cause: known, .. } if !known.is_empty() => {
                cause(known.clone())
            }
            Self::DisruptionBudget { budget, needs, has, .. } => cause(format!(
                "The disruption budget {} needs {needs} healthy pods and has {has} currently",
                budget.name()
            )),
        };
        let (status, message) = ("Failure".into(), self.to_string());
        ApiStatus { status, message, reason: reason.into(), code, details }
    }
}

impl fmt::Display for EvictionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodNotFound(pod) => write!(f, "pods \"{}\" not found", pod.name()),
            Self::SeveralBudgets { .. } => f.write_str(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource \
                 does not support.",
            ),
            Self::Forbidden { budget, reason, .. } => {
                write!(f, "poddisruptionbudget.policy \"{}\" is forbidden: {reason}", budget.name())
            }
            Self::NotProcessed { .. } | Self::DisruptionBudget { .. } => {
                f.write_str("Cannot evict pod as it would violate the pod's disruption budget.")
            }
        }
    }
}

impl core::error::Error for EvictionError {}

/// Which pods a budget is about. Until `policy/v1`, an empty selector selects nothing.
#[must_use]
pub fn budget_selector(
    release: KubernetesRelease,
    budget: &PodDisruptionBudget,
) -> Option<LabelSelector> {
    let selector = budget.selector().ok().flatten();
    selector.filter(|selector| release.has_policy_v1() || !selector.requirements.is_empty())
}

/// Decides about the eviction of a pod that `budgets` select, at `now`. Mirrors
/// `EvictionREST.Create`.
///
/// # Errors
/// What the API server answers instead.
pub fn evict(
    release: KubernetesRelease,
    pod: &Pod,
    budgets: &[&PodDisruptionBudget],
    options: &DeleteOptions,
    now: Time,
) -> Result<Eviction, EvictionError> {
    let mut eviction = Eviction { delete_options: options.clone(), charged: None };
    if ignores_budgets(pod) {
        if release.evicts_unready_pods_within_budgets()
            && pod.status.phase == PodPhase::Pending
            && !pod.is_terminating()
        {
            expect_version(&mut eviction.delete_options, pod);
        }
        return Ok(eviction);
    }
    let budget = match budgets {
        _ if pod.metadata.labels.is_empty() => return Ok(eviction),
        [] => return Ok(eviction),
        [budget] => *budget,
        _ => {
            let budgets = budgets.iter().map(|budget| budget.key()).collect();
            return Err(EvictionError::SeveralBudgets { budgets });
        }
    };
    let mut status = BudgetStatus::of(budget);
    if !pod.has_ready_condition() && lets_unready_go(release, budget, &status) {
        eviction.delete_options.preconditions = Preconditions::default();
        expect_version(&mut eviction.delete_options, pod);
        return Ok(eviction);
    }
    check_and_decrement(release, budget, &mut status)?;
    if status.disruptions_allowed == 0 && release.has_budget_conditions() {
        status.set_disruption_allowed(now, None);
    }
    if options.dry_run.is_empty() {
        status.disrupted_pods.insert(pod.metadata.name.clone(), now);
        eviction.charged = Some((budget.key(), status));
    }
    Ok(eviction)
}

/// Whether budgets have nothing to say about a pod. Mirrors `canIgnorePDB`.
fn ignores_budgets(pod: &Pod) -> bool {
    pod.has_ended() || pod.status.phase == PodPhase::Pending || pod.is_terminating()
}

/// Whether a pod that is not ready may go without counting.
fn lets_unready_go(
    release: KubernetesRelease,
    budget: &PodDisruptionBudget,
    status: &BudgetStatus,
) -> bool {
    let always = release.has_unhealthy_pod_eviction_policy()
        && budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow";
    let healthy = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
    always || release.evicts_unready_pods_within_budgets() && healthy
}

/// The pod must be the one that was looked at, unless the request says which one.
fn expect_version(options: &mut DeleteOptions, pod: &Pod) {
    if options.preconditions.resource_version.is_none() {
        let version = pod.metadata.other.get("resourceVersion");
        let version = version.and_then(serde_json::Value::as_str);
        options.preconditions.resource_version = version.map(String::from);
    }
}

/// Why a budget refuses an eviction, where it is not for want of healthy pods; else empty.
fn refusal(budget: &str, status: &BudgetStatus) -> String {
    let condition = status.disruption_allowed().filter(|known| {
        let text = |name: &str| known.get(name).and_then(serde_json::Value::as_str);
        text("status") == Some("False") && text("message").is_some_and(|text| !text.is_empty())
    });
    let text = |name: &str| {
        let text = condition.and_then(|known| known.get(name)?.as_str());
        text.unwrap_or_default()
    };
    let (reason, message) = (text("reason"), text("message"));
    let refused = refused(budget);
    if reason == "SyncFailed" {
        return format!("{refused} because it failed sync: {message}");
    }
    if status.current_healthy <= status.desired_healthy {
        return String::new();
    }
    if condition.is_some() { format!("{refused} ({reason}): {message}") } else { refused }
}

fn refused(budget: &str) -> String {
    format!("The disruption budget {budget} does not allow evicting pods currently")
}

/// Mirrors `EvictionREST.checkAndDecrement`.
fn check_and_decrement(
    release: KubernetesRelease,
    budget: &PodDisruptionBudget,
    status: &mut BudgetStatus,
) -> Result<(), EvictionError> {
    let key = budget.key();
    if status.observed_generation < budget.generation() {
        return Err(EvictionError::NotProcessed { budget: key });
    }
    let forbidden = |reason, cause: &str| {
        let cause = match release.tells_cause_of_forbidden_evictions() {
            true => format!("{}: {cause}", refused(key.name())),
            false => String::new(),
        };
        Err(EvictionError::Forbidden { budget: key.clone(), reason, cause })
    };
    if status.disruptions_allowed < 0 {
        let reason = "pdb disruptions allowed is negative";
        return forbidden(reason, reason);
    }
    if status.disrupted_pods.len() > MAX_DISRUPTED_PODS {
        return forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        );
    }
    if status.disruptions_allowed == 0 {
        let (needs, has) = (status.desired_healthy, status.current_healthy);
        let cause = if release.says_why_eviction_is_refused() {
            refusal(key.name(), status)
        } else {
            String::new()
        };
        return Err(EvictionError::DisruptionBudget { budget: key, needs, has, cause });
    }
    status.disruptions_allowed -= 1;
    Ok(())
}
