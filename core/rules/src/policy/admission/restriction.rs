//! The admission plugin `PodTolerationRestriction`.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{Addition, AdmissionPlugin, exists};
use crate::api::{QosClass, TaintEffect, Toleration, TolerationOperator, well_known};

/// The annotation of a namespace with the tolerations its pods get: a JSON list.
pub const DEFAULT_TOLERATIONS_ANNOTATION: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";

/// The annotation of a namespace with the tolerations its pods may have: a JSON list.
pub const WHITELIST_ANNOTATION: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

/// The plugin's configuration for the whole cluster, for namespaces without annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct TolerationRestriction {
    /// What pods get.
    pub default: Vec<Toleration>,
    /// What pods may have; anything, if it is empty.
    pub whitelist: Vec<Toleration>,
}

/// What holds for the pods of one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceTolerations {
    /// What pods get.
    pub default: Vec<Toleration>,
    /// What pods may have; anything, if it is empty.
    pub whitelist: Vec<Toleration>,
    /// Whether the whitelist is the namespace's own, not the cluster's.
    pub own_whitelist: bool,
}

/// Why `PodTolerationRestriction` refuses a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestrictionError {
    /// An annotation of the namespace is no list of tolerations.
    Annotation {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The whitelist does not allow a toleration of the pod.
    Conflict {
        /// `namespace` or `cluster`: whose whitelist.
        scope: &'static str,
    },
}

impl fmt::Display for RestrictionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Annotation { name, message } => {
                write!(
                    f,
                    "annotation {name} of the namespace: {message}; must be a JSON list of \
                     tolerations"
                )
            }
            Self::Conflict { scope } => write!(
                f,
                "pod tolerations (possibly merged with namespace default tolerations) conflict \
                 with its {scope} whitelist"
            ),
        }
    }
}

impl core::error::Error for RestrictionError {}

impl TolerationRestriction {
    /// What holds for a namespace with these annotations. An annotation that is there counts, also
    /// if it is empty.
    ///
    /// # Errors
    /// An annotation that is no list of tolerations.
    pub fn of_namespace(
        &self,
        annotations: &BTreeMap<String, String>,
    ) -> Result<NamespaceTolerations, RestrictionError> {
        let own = |name: &'static str| match annotations.get(name).map(String::as_str) {
            None => Ok(None),
            Some("") => Ok(Some(Vec::new())),
            Some(text) => serde_json::from_str(text)
                .map(Some)
                .map_err(|error| RestrictionError::Annotation { name, message: error.to_string() }),
        };
        let (default, whitelist) =
            (own(DEFAULT_TOLERATIONS_ANNOTATION)?, own(WHITELIST_ANNOTATION)?);
        Ok(NamespaceTolerations {
            default: default.unwrap_or_else(|| self.default.clone()),
            own_whitelist: whitelist.is_some(),
            whitelist: whitelist.unwrap_or_else(|| self.whitelist.clone()),
        })
    }
}

/// Adds what the namespace gives, and refuses what it does not allow.
pub(super) fn restrict(
    policy: &NamespaceTolerations,
    qos_class: QosClass,
    tolerations: &mut Vec<Toleration>,
    additions: &mut Vec<Addition<Toleration>>,
) -> Result<(), RestrictionError> {
    let mut extra = policy.default.clone();
    if qos_class != QosClass::BestEffort {
        extra.push(exists(well_known::MEMORY_PRESSURE, TaintEffect::NoSchedule));
    }
    if !extra.is_empty() {
        let merged = merge_tolerations(tolerations, &extra);
        for added in merged.iter().filter(|kept| !tolerations.contains(kept)) {
            let because = if policy.default.contains(added) {
                "it is a default of the namespace".to_owned()
            } else {
                format!("the pod is {qos_class:?}, so that it may run under memory pressure")
            };
            let plugin = AdmissionPlugin::PodTolerationRestriction;
            additions.push(Addition { plugin, added: added.clone(), because });
        }
        *tolerations = merged;
    }
    let allowed = |toleration: &Toleration| {
        policy.whitelist.iter().any(|entry| is_superset(entry, toleration))
    };
    if !policy.whitelist.is_empty() && !tolerations.iter().all(allowed) {
        let scope = if policy.own_whitelist { "namespace" } else { "cluster" };
        return Err(RestrictionError::Conflict { scope });
    }
    Ok(())
}

/// Whether `all` tolerates whatever `toleration` does, for as long. Mirrors
/// `tolerations.isSuperset`: an empty operator of `toleration` is not taken for `Equal`.
#[must_use]
pub fn is_superset(all: &Toleration, toleration: &Toleration) -> bool {
    if all == toleration {
        return true;
    }
    let any_key = all.key.is_empty() && all.operator == TolerationOperator::Exists;
    if all.key != toleration.key && !any_key {
        return false;
    }
    if all.effect != toleration.effect && !all.effect.is_empty() {
        return false;
    }
    if all.effect == TaintEffect::NoExecute
        && let Some(most) = all.toleration_seconds
        && toleration.toleration_seconds.is_none_or(|seconds| seconds > most)
    {
        return false;
    }
    match all.operator {
        TolerationOperator::Empty | TolerationOperator::Equal => {
            toleration.operator == TolerationOperator::Equal && all.value == toleration.value
        }
        TolerationOperator::Exists => true,
        _ => false,
    }
}

/// Both lists, without those that another one covers. Mirrors `tolerations.MergeTolerations`.
#[must_use]
pub fn merge_tolerations(first: &[Toleration], second: &[Toleration]) -> Vec<Toleration> {
    let all: Vec<&Toleration> = first.iter().chain(second).collect();
    let mut merged: Vec<Toleration> = Vec::with_capacity(all.len());
    for (index, toleration) in all.iter().enumerate() {
        let covered = merged.iter().any(|kept| is_superset(kept, toleration))
            || all
                .iter()
                .skip(index + 1)
                .any(|later| later != toleration && is_superset(later, toleration));
        if !covered {
            merged.push((*toleration).clone());
        }
    }
    merged
}
