//! Facts about the cluster that a text was taken from: its release, and its clock.

use std::cmp::Reverse;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use taintlab_core::order::OrderedMap;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;

use crate::diagnostic::cut;
use crate::import::Import;

/// The Kubernetes versions that nodes report, and the release to simulate.
///
/// A kubelet may be older than the control plane but never newer, so the control plane is at least
/// as new as the newest kubelet.
///
/// Printed as a sentence:
/// `3 nodes report v1.30.4, 1 node reports v1.29.9; the control plane is at least 1.30`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetectedRelease {
    /// The release to simulate: the newest kubelet's, or the nearest known one.
    pub release: KubernetesRelease,
    /// The newest version that nodes report, as written: `v1.30.4-gke.100`.
    pub newest: String,
    /// Whether the engine knows the release of that version.
    pub known: ReleaseKnown,
    /// The reported versions with their numbers of nodes, newest first.
    pub versions: Vec<(String, usize)>,
    /// Number of nodes that report no version.
    pub unreported: usize,
}

/// Whether the engine knows a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReleaseKnown {
    /// The release is known.
    Yes,
    /// Older than the oldest known release, which is the nearest.
    TooOld,
    /// Newer than the newest known release, which is the nearest.
    TooNew,
}

/// The numbers of a version such as `v1.30.4-gke.100`: major, minor, patch.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(version.len());
    let mut parts = version.get(..end)?.split('.').map(str::parse::<u32>);
    let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
    Some([major, minor, parts.next().and_then(Result::ok).unwrap_or(0)])
}

fn release_of([major, minor, _]: [u32; 3]) -> (KubernetesRelease, ReleaseKnown) {
    let minor = match major {
        0 => 0,
        1 => minor,
        _ => u32::MAX,
    };
    let release = KubernetesRelease::nearest(minor);
    let known = match u8::try_from(minor).ok().and_then(KubernetesRelease::new) {
        Some(_) => ReleaseKnown::Yes,
        None if release == KubernetesRelease::OLDEST => ReleaseKnown::TooOld,
        None => ReleaseKnown::TooNew,
    };
    (release, known)
}

impl Import {
    /// The release that the nodes' `status.nodeInfo.kubeletVersion` suggests; `None` if no node
    /// reports a version.
    #[must_use]
    pub fn detected_release(&self) -> Option<DetectedRelease> {
        let mut counts: OrderedMap<(Reverse<[u32; 3]>, &str), usize> = OrderedMap::new();
        let mut unreported = 0;
        for node in &self.nodes {
            let version = node.kubelet_version();
            match version.and_then(numbers) {
                Some(numbers) => {
                    *counts.entry((Reverse(numbers), version.unwrap_or(""))).or_default() += 1;
                }
                None => unreported += 1,
            }
        }
        let (Reverse(newest), text) = counts.keys().next()?;
        let (release, known) = release_of(*newest);
        let newest = cut(text).into_owned();
        let versions =
            counts.iter().map(|((_, version), count)| (cut(version).into_owned(), *count));
        Some(DetectedRelease { release, newest, known, versions: versions.collect(), unreported })
    }

    /// The scenario that begins with these objects.
    ///
    /// The text supplies what `base` leaves open: the release of the newest kubelet
    /// ([`detected_release`](Self::detected_release)), and a start at the newest time in the
    /// objects ([`newest_time`](Self::newest_time)), so that ages, grace periods and leases
    /// continue where they were. Leases of nodes count. The objects of `base` are replaced.
    #[must_use]
    pub fn into_scenario(self, base: Scenario) -> Scenario {
        let mut scenario = base;
        let kubernetes = &mut scenario.kubernetes;
        if kubernetes.release.is_none() {
            kubernetes.release = self.detected_release().map(|detected| detected.release);
        }
        scenario.start = scenario.start.or(self.newest_time);
        let objects = &mut scenario.objects;
        objects.nodes = self.nodes.into_iter().map(Arc::new).collect();
        objects.pods = self.pods.into_iter().map(Arc::new).collect();
        objects.workloads = self.workloads;
        objects.budgets = self.budgets;
        objects.others = self.others;
        objects.node_groups.clear();
        objects.files.clear();
        scenario
    }
}

impl fmt::Display for DetectedRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 5;
        let nodes =
            |count: usize| if count == 1 { "1 node".into() } else { format!("{count} nodes") };
        let verb = |count: usize| if count == 1 { "reports" } else { "report" };
        let mut separator = "";
        for (version, count) in self.versions.iter().take(MOST) {
            write!(f, "{separator}{} {} {version}", nodes(*count), verb(*count))?;
            separator = ", ";
        }
        let more: usize = self.versions.iter().skip(MOST).map(|(_, count)| count).sum();
        if more > 0 {
            write!(f, ", {} {} older versions", nodes(more), verb(more))?;
        }
        if self.unreported > 0 {
            write!(f, ", {} {} none", nodes(self.unreported), verb(self.unreported))?;
        }
        let release = self.release;
        match self.known {
            ReleaseKnown::Yes => write!(f, "; the control plane is at least {release}"),
            ReleaseKnown::TooOld => {
                write!(f, "; that is older than {release}, the oldest known here and the nearest")
            }
            ReleaseKnown::TooNew => {
                write!(f, "; that is newer than {release}, the newest known here and the nearest")
            }
        }
    }
}
