//! Which priority a new pod gets. Mirrors the admission plugin `Priority`.

use alloc::string::{String, ToString};
use core::fmt;

use crate::api::{Pod, PriorityClass};
use crate::release::KubernetesRelease;

/// The `preemptionPolicy` of a class that says nothing, and of pods of no class.
const PREEMPT_LOWER_PRIORITY: &str = "PreemptLowerPriority";

/// The priority of a pod, as admission works it out from its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodPriority {
    /// `spec.priorityClassName`; empty if the pod is of no class.
    pub class_name: String,
    /// `spec.priority`.
    pub value: i64,
    /// `spec.preemptionPolicy`; `None` in releases that do not have it.
    pub preemption_policy: Option<String>,
}

/// Why a pod gets no priority. Displays the API server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityError {
    /// There is no class of that name.
    NotFound(String),
    /// The pod says another priority than its class has.
    Value {
        /// What the pod says.
        given: String,
        /// What the class has.
        computed: i64,
    },
    /// The pod says another `preemptionPolicy` than its class has.
    PreemptionPolicy {
        /// What the pod says.
        given: String,
        /// What the class has.
        computed: String,
    },
}

impl fmt::Display for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(name) => write!(f, "no PriorityClass with name {name} was found"),
            Self::Value { given, computed } => write!(
                f,
                "the integer value of priority ({given}) must not be provided in pod spec; \
                 priority admission controller computed {computed} from the given PriorityClass \
                 name"
            ),
            Self::PreemptionPolicy { given, computed } => write!(
                f,
                "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; \
                 priority admission controller computed {computed} from the given PriorityClass \
                 name"
            ),
        }
    }
}

impl core::error::Error for PriorityError {}

/// The priority of a new pod among these classes. Without a class it is that of the class that is
/// the global default, of several the one with the lowest value; and 0 without such a class.
/// Mirrors `priority.admitPod`.
///
/// # Errors
/// There is no such class, or the pod says something else than its class.
pub fn admit_priority<'a>(
    release: KubernetesRelease,
    classes: impl Iterator<Item = &'a PriorityClass>,
    pod: &Pod,
) -> Result<PodPriority, PriorityError> {
    let given = |name: &str| pod.spec.other.get(name);
    let text = |name: &str| given(name).and_then(|value| value.as_str()).unwrap_or("");
    let name = text("priorityClassName");
    let mut classes = classes;
    let class = if name.is_empty() {
        classes.filter(|class| class.global_default).min_by_key(|class| class.value)
    } else {
        let class = classes.find(|class| class.metadata.name == name);
        Some(class.ok_or_else(|| PriorityError::NotFound(name.to_string()))?)
    };
    let value = class.map_or(0, |class| class.value);
    if let Some(given) = given("priority").filter(|given| given.as_i64() != Some(value)) {
        return Err(PriorityError::Value { given: given.to_string(), computed: value });
    }
    let policy = class.map_or("", |class| class.preemption_policy.as_str());
    let policy = if policy.is_empty() { PREEMPT_LOWER_PRIORITY } else { policy };
    let given = text("preemptionPolicy");
    let preemption_policy = release.has_preemption_policy().then(|| policy.to_string());
    if preemption_policy.is_some() && !given.is_empty() && given != policy {
        let (given, computed) = (given.to_string(), policy.to_string());
        return Err(PriorityError::PreemptionPolicy { given, computed });
    }
    let class_name = class.map_or_else(String::new, |class| class.metadata.name.clone());
    Ok(PodPriority { class_name, value, preemption_policy })
}

impl PodPriority {
    /// Writes it into the pod; 0 without a class is the same as nothing, and is left out.
    pub fn apply(&self, pod: &mut Pod) {
        if self.class_name.is_empty() {
            return;
        }
        pod.spec.other.set("priorityClassName", self.class_name.as_str().into());
        pod.spec.other.set("priority", self.value.into());
        if let Some(policy) = &self.preemption_policy {
            pod.spec.other.set("preemptionPolicy", policy.as_str().into());
        }
    }
}
