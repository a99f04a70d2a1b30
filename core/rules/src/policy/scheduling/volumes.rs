//! Where the volumes of a pod let it go.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::Rejection;
use super::info::{NodeInfo, PodInfo};
use super::plugins::FilterPlugin;
use super::snapshot::Snapshot;
use crate::api::{PersistentVolume, PersistentVolumeClaim, Pod, PodKey, Quantity, claim_names};
use crate::cluster::Volumes;
use crate::order::{Order, OrderedSet};
use crate::protocol::zone::{REGION_LABEL, ZONE_LABEL};

/// The labels by which volumes that are older than node affinity say where they are.
const TOPOLOGY_LABELS: [&str; 4] = [
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    REGION_LABEL,
    ZONE_LABEL,
];

/// What the claims of one pod ask of nodes, read once. Mirrors the states of `VolumeBinding`,
/// `VolumeZone` and `VolumeRestrictions` in a cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct VolumeState {
    /// The volumes that its claims are bound to.
    bound: Vec<Arc<PersistentVolume>>,
    /// Claims that get a volume once the pod has a node.
    unbound: Vec<Arc<PersistentVolumeClaim>>,
    /// Claims that are for one pod alone.
    for_one_pod: Vec<PodKey>,
    /// How many other pods on nodes use one of these.
    users: i64,
}

impl VolumeState {
    /// The state, and why the pod fits on no node whatever the nodes are. Mirrors
    /// `VolumeBinding.PreFilter`.
    pub(super) fn new(snapshot: &Snapshot, pod: &Pod) -> (Self, Option<Rejection>) {
        let mut state = Self::default();
        let Some(volumes) = &snapshot.volumes else { return (state, None) };
        let refusal = |reason: String| Rejection {
            plugin: FilterPlugin::VolumeBinding,
            reasons: Vec::from([reason]),
            preemption_may_help: false,
        };
        let mut immediate = false;
        // In the order of the volumes: the first that is wrong is told.
        let names = claim_names(pod).unwrap_or_default();
        let keys = names.iter().map(|name| PodKey::new(&pod.metadata.namespace, name));
        for key in keys {
            let Some(claim) = volumes.claim(&key) else {
                let reason = format!("persistentvolumeclaim \"{}\" not found", key.name());
                return (state, Some(refusal(reason)));
            };
            if claim.metadata.deletion_timestamp.is_some() {
                let name = key.name();
                let reason = format!("persistentvolumeclaim \"{name}\" is being deleted");
                return (state, Some(refusal(reason)));
            }
            if claim.is_for_one_pod() && snapshot.config.release.has_read_write_once_pod() {
                state.users += snapshot.users_of_claim(&key, &pod.key());
                state.for_one_pod.push(key.clone());
            }
            if claim.is_bound() {
                state.bound.extend(volumes.volume_of(&key).cloned());
            } else if volumes.class_of(claim).is_some_and(|class| class.waits_for_first_consumer())
                && claim.spec.volume_name.is_empty()
            {
                state.unbound.push(claim.clone());
            } else {
                immediate = true;
            }
        }
        // The least is looked for first (`byPVCSize`).
        state.unbound.order_by(|a, b| compare(a.requested(), b.requested()));
        let reason = "pod has unbound immediate PersistentVolumeClaims";
        let refusal = immediate.then(|| refusal(reason.to_owned()));
        (state, refusal)
    }

    /// Whether nothing of it keeps a pod off any node.
    pub(super) fn is_empty(&self) -> bool {
        self.bound.is_empty() && self.unbound.is_empty() && self.for_one_pod.is_empty()
    }

    /// How many of its claims that are for one pod alone another pod uses.
    pub(super) fn uses_of(&self, other: &PodInfo) -> i64 {
        let uses = self.for_one_pod.iter().filter(|claim| other.claims.contains(claim)).count();
        i64::try_from(uses).unwrap_or(i64::MAX)
    }

    /// Why a claim for one pod keeps it off, with so many more users of such claims than there
    /// are. Mirrors `VolumeRestrictions.Filter`.
    pub(super) fn restrictions(&self, more_users: i64) -> Vec<String> {
        let reason = "node has pod using PersistentVolumeClaim with the same name and \
                      ReadWriteOncePod access mode";
        (self.users + more_users > 0).then(|| reason.to_owned()).into_iter().collect()
    }

    /// Whether the volumes can be reached from the node, or be had there. Mirrors
    /// `volumeBinder.FindPodVolumes`.
    pub(super) fn binding(&self, snapshot: &Snapshot, node: &NodeInfo) -> Vec<String> {
        let Some(volumes) = &snapshot.volumes else { return Vec::new() };
        let mut reasons = Vec::new();
        if !self.bound.iter().all(|volume| is_reachable(volume, &node.name, &node.labels)) {
            reasons.push(snapshot.config.release.volume_affinity_reason().to_owned());
        }
        if find_volumes(volumes, &self.unbound, &node.name, &node.labels).is_none() {
            reasons.push("node(s) didn't find available persistent volumes to bind".to_owned());
        }
        reasons
    }

    /// Whether the node is where the labels of the volumes say. Mirrors `VolumeZone.Filter`.
    pub(super) fn zone(&self, node: &NodeInfo) -> Vec<String> {
        let at_node = |label: &str| node.labels.get(label).map(String::as_str);
        let says_where = TOPOLOGY_LABELS.into_iter().any(|label| at_node(label).is_some());
        let elsewhere = self.bound.iter().any(|volume| {
            TOPOLOGY_LABELS.into_iter().any(|label| {
                let places = volume.metadata.labels.get(label);
                places.is_some_and(|places| {
                    places.split("__").all(|place| at_node(label) != Some(place))
                })
            })
        });
        let conflict = says_where && elsewhere;
        conflict.then(|| "node(s) had no available volume zone".to_owned()).into_iter().collect()
    }
}

impl Snapshot {
    /// The claims of a pod that wait for their first consumer and are to be bound once it goes to
    /// the node: each with a volume that is there, or `None` if one is to be made.
    #[must_use]
    pub fn claims_to_bind(&self, pod: &Pod, node: &str) -> Vec<(PodKey, Option<String>)> {
        let Some(volumes) = &self.volumes else { return Vec::new() };
        let (state, _) = VolumeState::new(self, pod);
        let labels = self.node(node).map(|node| node.labels.clone()).unwrap_or_default();
        find_volumes(volumes, &state.unbound, node, &labels).unwrap_or_default()
    }
}

/// A volume for each claim, or that one is to be made; nothing if one of them can have none.
/// Mirrors `findMatchingVolumes` and `checkVolumeProvisions`.
fn find_volumes(
    volumes: &Volumes,
    claims: &[Arc<PersistentVolumeClaim>],
    node: &str,
    labels: &BTreeMap<String, String>,
) -> Option<Vec<(PodKey, Option<String>)>> {
    let mut chosen: OrderedSet<&str> = OrderedSet::new();
    let mut found = Vec::new();
    for claim in claims {
        let volume = find_matching_volume(volumes, claim, |volume| {
            !chosen.contains(volume.metadata.name.as_str()) && is_reachable(volume, node, labels)
        });
        if let Some(volume) = volume {
            chosen.insert(&volume.metadata.name);
            found.push((claim.key(), Some(volume.metadata.name.clone())));
            continue;
        }
        let class = volumes.class_of(claim)?;
        if !class.is_provisioned() || !class.allows(|label| labels.get(label).cloned()) {
            return None;
        }
        found.push((claim.key(), None));
    }
    Some(found)
}

/// Whether a claim can have the volume. One that another claim of the name had, or that is being
/// deleted, nobody can have.
#[must_use]
pub fn is_free_for(volume: &PersistentVolume, claim: &PodKey) -> bool {
    volume.status.phase != "Released"
        && volume.metadata.deletion_timestamp.is_none()
        && volume.spec.claim_ref.as_ref().is_none_or(|kept| kept.key() == *claim)
}

/// The smallest volume that would do, among those that `may` be. Mirrors
/// `volume.FindMatchingVolume`; selectors of claims are not looked at.
pub fn find_matching_volume<'a>(
    volumes: &'a Volumes,
    claim: &PersistentVolumeClaim,
    may: impl Fn(&PersistentVolume) -> bool,
) -> Option<&'a Arc<PersistentVolume>> {
    let class = claim.spec.storage_class_name.as_deref().unwrap_or("");
    let key = claim.key();
    let fits = |volume: &&Arc<PersistentVolume>| {
        let spec = &volume.spec;
        is_free_for(volume, &key)
            && spec.storage_class_name == class
            && claim.spec.access_modes.iter().all(|mode| spec.access_modes.contains(mode))
            && compare(volume.capacity(), claim.requested()) != Ordering::Less
            && may(volume)
    };
    let fitting = volumes.persistent_volumes().filter(fits);
    fitting.min_by(|a, b| compare(a.capacity(), b.capacity()))
}

/// Compares two amounts; one that is not given is the least.
fn compare(a: Option<&str>, b: Option<&str>) -> Ordering {
    let amount = |text: Option<&str>| Quantity::parse(text?).ok();
    match (amount(a), amount(b)) {
        (Some(a), Some(b)) => a.compare(&b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// Whether a volume can be reached from a node. Mirrors `CheckNodeAffinity`.
fn is_reachable(volume: &PersistentVolume, node: &str, labels: &BTreeMap<String, String>) -> bool {
    let terms = volume.node_terms();
    terms.is_none_or(|terms| terms.iter().any(|term| term.matches(node, labels)))
}
