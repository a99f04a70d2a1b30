//! Which pods `kubectl drain` evicts or deletes.
//!
//! Mirrors the filters of `k8s.io/kubectl/pkg/drain`. What a drain does with them, in time, is in
//! the simulator.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::api::{
    MIRROR_ANNOTATION, NodeName, Pod, PodKey, PodPhase, PodResources, VolumeSource, is_default,
};
use crate::cluster::Cluster;
use crate::release::KubernetesRelease;
use crate::time::{Span, Time, format_duration};

/// The flags of `kubectl drain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DrainOptions {
    /// `--ignore-daemonsets`: pods of DaemonSets stay where they are instead of being an error.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_daemonsets: bool,
    /// `--force`: pods without a controller go, too.
    #[serde(skip_serializing_if = "is_default")]
    pub force: bool,
    /// `--delete-emptydir-data`: pods with an emptyDir go, too.
    #[serde(skip_serializing_if = "is_default")]
    pub delete_emptydir_data: bool,
    /// `--disable-eviction`: pods are deleted, whatever budgets say.
    #[serde(skip_serializing_if = "is_default")]
    pub disable_eviction: bool,
    /// `--grace-period`, in seconds; their own unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<u32>,
    /// `--timeout` for each node; zero is forever.
    #[serde(skip_serializing_if = "is_default")]
    pub timeout: Span,
    /// `--pod-selector`: only pods with these labels.
    #[serde(skip_serializing_if = "is_default")]
    pub pod_labels: BTreeMap<String, String>,
    /// `--skip-wait-for-delete-timeout`, in seconds: pods that should have been gone for longer are
    /// left alone, such as those of an unreachable node; zero is never.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_wait_for_delete_timeout_seconds: u32,
    /// `--ignore-errors` of 1.21 and 1.22: of several nodes, go on with the next after an error.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_errors: bool,
}

impl DrainOptions {
    /// The flags as words of a line of `kubectl`.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        let set = [
            ("--ignore-daemonsets", self.ignore_daemonsets),
            ("--force", self.force),
            ("--delete-emptydir-data", self.delete_emptydir_data),
            ("--disable-eviction", self.disable_eviction),
        ];
        let mut words: Vec<String> =
            set.iter().filter(|(_, set)| *set).map(|(flag, _)| String::from(*flag)).collect();
        words.extend(self.grace_period_seconds.map(|grace| format!("--grace-period={grace}")));
        if !self.timeout.0.is_zero() {
            words.push(format!("--timeout={}", self.timeout));
        }
        if !self.pod_labels.is_empty() {
            let labels = self.pod_labels.iter().map(|(key, value)| format!("{key}={value}"));
            words.push(format!("--pod-selector={}", labels.collect::<Vec<_>>().join(",")));
        }
        words
    }

    /// When a pod is left alone because it should have been gone for too long, if ever. Mirrors
    /// `shouldSkipPod`.
    #[must_use]
    pub fn skipped_at(&self, pod: &Pod) -> Option<Time> {
        let seconds = u64::from(self.skip_wait_for_delete_timeout_seconds);
        let deleted = pod.metadata.deletion_timestamp.filter(|_| seconds > 0)?;
        // It has to be more, in whole seconds.
        Some(deleted.saturating_add(Duration::from_secs(seconds + 1)))
    }

    /// Why a drain no longer waits for a pod when its timeout is over.
    #[must_use]
    pub fn why_wait_ends(&self, release: KubernetesRelease) -> String {
        match (release.drain_wait_names_timeout(), self.disable_eviction) {
            (true, false) => self.timeout_reached(),
            (true, true) => "timed out waiting for the condition".into(),
            (false, _) => "context deadline exceeded".into(),
        }
    }

    /// Why a drain no longer tries to evict a pod when its timeout is over.
    #[must_use]
    pub fn timeout_reached(&self) -> String {
        format!("global timeout reached: {}", format_duration(self.timeout.0))
    }
}

/// What is to be done with the pods of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodsForDeletion {
    /// The pods that go, by namespace and name; none does if there are errors.
    pub pods: Vec<PodKey>,
    /// What is said about some of them, as one text; empty if there is nothing to say.
    pub warnings: String,
    /// Why nothing is done at all.
    pub errors: Vec<String>,
}

/// What a filter says about a pod.
enum Verdict {
    Goes,
    GoesWithWarning(&'static str),
    Stays,
    StaysWithWarning(&'static str),
    Forbids(&'static str),
}

/// Sorts the pods of a node out. Mirrors `GetPodsForDeletion`; as there, of several warnings about
/// one pod only the last counts.
///
/// Whether a DaemonSet that a pod names as its controller exists is not asked. `now` is the wall
/// clock.
#[must_use]
pub fn pods_for_deletion(
    cluster: &Cluster,
    node: &str,
    options: &DrainOptions,
    release: KubernetesRelease,
    now: Time,
) -> PodsForDeletion {
    let mut found = PodsForDeletion::default();
    let mut warnings: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut errors: Vec<(&str, Vec<&str>)> = Vec::new();
    let selected = |pod: &Pod| {
        let labels = &pod.metadata.labels;
        options.pod_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    for (key, pod) in cluster.pods_of(node).filter(|(_, pod)| selected(pod)) {
        if options.skipped_at(pod).is_some_and(|time| time <= now) {
            continue;
        }
        let verdict = verdict(pod, options, release);
        if matches!(verdict, Verdict::Goes | Verdict::GoesWithWarning(_)) {
            found.pods.push(key.clone());
        }
        match verdict {
            Verdict::Goes | Verdict::Stays => {}
            Verdict::GoesWithWarning(text) | Verdict::StaysWithWarning(text) => {
                note(&mut warnings, text, key.as_str());
            }
            Verdict::Forbids(text) => note(&mut errors, text, key.as_str()),
        }
    }
    let line = |(text, pods): &(&str, Vec<&str>)| format!("{text}: {}", pods.join(", "));
    found.warnings = warnings.iter().map(line).collect::<Vec<_>>().join("; ");
    found.errors = errors.iter().map(|error| format!("cannot delete {}", line(error))).collect();
    found
}

fn note<'a>(groups: &mut Vec<(&'static str, Vec<&'a str>)>, text: &'static str, pod: &'a str) {
    match groups.iter_mut().find(|(known, _)| *known == text) {
        Some((_, pods)) => pods.push(pod),
        None => groups.push((text, Vec::from([pod]))),
    }
}

/// Mirrors the filters in their order: a pod that stays by one of them is not asked about by the
/// next.
fn verdict(pod: &Pod, options: &DrainOptions, release: KubernetesRelease) -> Verdict {
    let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
    let controller = pod.metadata.owner_references.iter().find(|o| o.controller == Some(true));
    if !ended && controller.is_some_and(|owner| owner.kind == "DaemonSet") {
        return if options.ignore_daemonsets {
            Verdict::StaysWithWarning("ignoring DaemonSet-managed Pods")
        } else {
            Verdict::Forbids("DaemonSet-managed Pods (use --ignore-daemonsets to ignore)")
        };
    }
    if pod.metadata.annotations.contains_key(MIRROR_ANNOTATION) {
        return Verdict::Stays;
    }
    if ended {
        return Verdict::Goes;
    }
    let mut verdict = Verdict::Goes;
    if has_empty_dir(pod) {
        if !options.delete_emptydir_data {
            return Verdict::Forbids(release.drain_local_storage_error());
        }
        verdict = Verdict::GoesWithWarning("deleting Pods with local storage");
    }
    match (controller, options.force) {
        // As upstream, the warning about local storage is lost.
        (Some(_), _) if matches!(verdict, Verdict::GoesWithWarning(_)) => Verdict::Goes,
        (Some(_), _) => verdict,
        (None, true) => Verdict::GoesWithWarning(release.drain_unmanaged_warning()),
        (None, false) => Verdict::Forbids(release.drain_unmanaged_error()),
    }
}

/// Mirrors `hasLocalStorage`; a volume that cannot be read is none.
fn has_empty_dir(pod: &Pod) -> bool {
    if pod.spec.other.get("volumes").is_none() {
        return false;
    }
    let volumes = PodResources::of(pod).map(|resources| resources.volumes).unwrap_or_default();
    volumes.iter().any(|volume| matches!(volume.source, VolumeSource::EmptyDir { .. }))
}

/// What `kubectl drain` does after it could not drain a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterError {
    /// It ends.
    Aborts,
    /// It goes on with the next node, and fails in the end.
    Continues,
    /// It goes on with the next node, and does not fail: `--ignore-errors`.
    Ignores,
}

impl AfterError {
    /// Of a drain of so many nodes.
    #[must_use]
    pub const fn of(release: KubernetesRelease, options: &DrainOptions, nodes: usize) -> Self {
        if release.drain_continues_after_errors() {
            Self::Continues
        } else if release.drain_has_ignore_errors() && options.ignore_errors && nodes > 1 {
            Self::Ignores
        } else {
            Self::Aborts
        }
    }
}

/// What `kubectl drain` says at once of a node that it cannot drain.
#[must_use]
pub fn lines_of_failed_node(
    release: KubernetesRelease,
    node: &str,
    errors: &[String],
    after: AfterError,
) -> Vec<String> {
    let node = quoted(node);
    if after != AfterError::Aborts {
        let space = if release.drain_has_space_before_error() { " " } else { "" };
        let all = aggregate(errors);
        return Vec::from([format!(
            "error: unable to drain node {node} due to error:{space}{all}, continuing command..."
        )]);
    }
    let mut lines = Vec::new();
    if release.drain_warns_before_it_aborts() {
        lines.extend([
            "DEPRECATED WARNING: Aborting the drain command in a list of nodes will be deprecated in \
             v1.23."
                .into(),
            "The new behavior will make the drain command go through all nodes even if one or more \
             nodes failed during the drain."
                .into(),
            "For now, users can try such experience via: --ignore-errors".into(),
        ]);
    }
    lines.push(format!("error: unable to drain node {node}, aborting command...\n"));
    lines
}

/// What `kubectl drain` says in the end of the nodes that were not drained, each with its errors.
/// `is_plain` says that the only error is none of a list, as that of a wait for deleted pods is
/// not.
#[must_use]
pub fn lines_of_pending_nodes(
    release: KubernetesRelease,
    nodes: &[(NodeName, Vec<String>)],
    is_plain: bool,
) -> Vec<String> {
    let mut lines = Vec::from([String::from("There are pending nodes to be drained:")]);
    lines.extend(nodes.iter().map(|(node, _)| format!(" {node}")));
    let errors: Vec<&[String]> =
        nodes.iter().map(|(_, errors)| errors.as_slice()).filter(|all| !all.is_empty()).collect();
    match errors.as_slice() {
        // A list of one is taken for its member, but only once, and since 1.23 there is a list of
        // nodes around it.
        [[error]] if is_plain || !release.drain_continues_after_errors() => {
            lines.push(format!("error: {error}"));
        }
        [all] => lines.extend_from_slice(all),
        nodes => lines.extend(nodes.iter().map(|all| aggregate(all))),
    }
    lines
}

/// How errors of evictions name a pod.
#[must_use]
pub fn named(release: KubernetesRelease, pod: &PodKey) -> String {
    if release.drain_names_namespace_of_evicted_pod() {
        format!("pods/{} -n {}", quoted(pod.name()), quoted(pod.namespace()))
    } else {
        format!("pod {}", quoted(pod.name()))
    }
}

/// Several errors as one text. Mirrors `utilerrors.NewAggregate(…).Error()`.
#[must_use]
pub fn aggregate(errors: &[String]) -> String {
    match errors {
        [error] => error.clone(),
        errors => format!("[{}]", errors.join(", ")),
    }
}

/// As Go prints a string in quotes where there is nothing to escape, which names never have.
#[must_use]
pub fn quoted(name: &str) -> String {
    crate::quote::go_quote(name)
}
