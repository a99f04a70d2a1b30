//! Hints about the pods that fit nowhere and that a change may help. Each plugin that rejected a pod
//! says which changes matter to it. Mirrors `EventsToRegister` and the plugins' queueing hints.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::affinity::{means_by_all, requires};
use super::info::{NodeInfo, PodInfo};
use super::plugins::{FilterPlugin, Rejectors};
use super::predicates::{matches_node_affinity, tolerates_cordon, untolerated_taint, wants_port};
use super::snapshot::Snapshot;
use crate::api::{
    Node, Pod, PodAffinityTerm, PodKey, ResourceClaim, node_allocatable, pod_resource_claims,
};
use crate::cluster::DeviceChange;

/// The old and the new state of an object.
struct Both<T> {
    old: Option<T>,
    new: Option<T>,
}

/// Subject of an event.
enum Subject {
    Node(Box<Both<NodeInfo>>),
    /// A pod; `own` if it is the one that waits.
    Pod {
        both: Both<PodInfo>,
        own: bool,
    },
    /// A claim, or a volume.
    Volume(Option<PodKey>),
    /// A resource claim.
    ResourceClaim(Both<Arc<ResourceClaim>>),
    /// A slice of devices, or a class of them.
    Devices,
}

/// A change that pods may wait for. Mirrors `ClusterEvent` with its objects.
pub struct ClusterEvent {
    subject: Subject,
    /// Those whom it helps whatever it is in detail.
    always: Rejectors,
    /// Those that look at it in detail.
    asked: Rejectors,
}

impl ClusterEvent {
    /// Whether plugins that rejected a pod register for it. Mirrors `isEventOfInterest`.
    pub const fn concerns(&self, rejectors: Rejectors) -> bool {
        self.is_of_interest()
            && (rejectors.0 == 0 || rejectors.any_of(Rejectors(self.always.0 | self.asked.0)))
    }

    /// Whether any plugin registers for it.
    pub const fn is_of_interest(&self) -> bool {
        self.always.0 | self.asked.0 != 0
    }

    /// A node has come, has changed or is gone. Mirrors `NodeSchedulingPropertiesChange`.
    pub fn of_node(old: Option<&Node>, new: Option<&Node>) -> Self {
        let (mut always, mut asked) = (Rejectors::NONE, Rejectors::NONE);
        let affinity = Rejectors::of(FilterPlugin::NodeAffinity);
        let fit = Rejectors::of(FilterPlugin::NodeResourcesFit);
        let alone = Rejectors::all(&[FilterPlugin::NodeName, FilterPlugin::NodePorts]);
        let both = Both { old: old.map(info), new: new.map(info) };
        match (&both.old, &both.new) {
            (Some(old), Some(new)) => {
                // A plugin that registers for new nodes but not for taints is woken by any change
                // of taints: it may have missed the node while that was not ready
                // (kubernetes#109437).
                if old.taints != new.taints || old.unschedulable && !new.unschedulable {
                    asked = Rejectors::TAINTS | Rejectors::of(FilterPlugin::PodTopologySpread);
                    always = alone
                        | affinity
                        | fit
                        | Rejectors::of(FilterPlugin::InterPodAffinity)
                        | Rejectors::VOLUMES;
                }
                if old.labels != new.labels {
                    asked = asked | affinity | Rejectors::COMPANY;
                    always = always
                        | Rejectors::all(&[FilterPlugin::VolumeBinding, FilterPlugin::VolumeZone])
                        | Rejectors::DEVICES;
                }
                if old.allocatable != new.allocatable {
                    asked = asked | fit;
                }
            }
            (None, Some(_)) => {
                always = alone | Rejectors::VOLUMES | Rejectors::DEVICES;
                asked = Rejectors::TAINTS | affinity | fit | Rejectors::COMPANY;
            }
            (Some(_), None) => asked = Rejectors::of(FilterPlugin::PodTopologySpread),
            (None, None) => {}
        }
        Self { subject: Subject::Node(Box::new(both)), always, asked }
    }

    /// A claim has come or has changed, or a volume if it is `None`.
    pub fn of_volume(claim: Option<PodKey>) -> Self {
        let all = Rejectors::VOLUMES;
        let (always, asked) =
            if claim.is_some() { (Rejectors::NONE, all) } else { (all, Rejectors::NONE) };
        Self { subject: Subject::Volume(claim), always, asked }
    }

    /// An object of devices has come or has changed; a rule changes slices.
    pub fn of_devices(change: &DeviceChange) -> Self {
        let all = Rejectors::DEVICES;
        let (subject, always, asked) = match change {
            DeviceChange::Claim { old, new: Some(new) } => {
                let both = Both { old: old.clone(), new: Some(new.clone()) };
                (Subject::ResourceClaim(both), Rejectors::NONE, all)
            }
            DeviceChange::Rule { old: Some(old), new: Some(new) }
                if old.selector == new.selector && old.taint == new.taint =>
            {
                (Subject::Devices, Rejectors::NONE, Rejectors::NONE)
            }
            DeviceChange::Slice { new: Some(_), .. }
            | DeviceChange::Rule { .. }
            | DeviceChange::Class { exists: true } => (Subject::Devices, all, Rejectors::NONE),
            DeviceChange::Claim { new: None, .. }
            | DeviceChange::Slice { new: None, .. }
            | DeviceChange::Class { exists: false }
            | DeviceChange::Template => (Subject::Devices, Rejectors::NONE, Rejectors::NONE),
        };
        Self { subject, always, asked }
    }
}

/// The node as a cache would know it without its pods.
fn info(node: &Node) -> NodeInfo {
    NodeInfo {
        name: node.metadata.name.as_str().into(),
        labels: node.metadata.labels.clone(),
        taints: node.spec.taints.clone(),
        unschedulable: node.spec.unschedulable,
        allocatable: node_allocatable(node).unwrap_or_default(),
        ..NodeInfo::default()
    }
}

impl Snapshot {
    /// A pod with a node, or with room made for it on one, has come, has changed or is gone; or the
    /// pod that waits has changed (`own`). Mirrors `PodSchedulingPropertiesChange`.
    pub fn pod_event(&self, old: Option<&Pod>, new: Option<&Pod>, own: bool) -> ClusterEvent {
        let read = |pod: Option<&Pod>| pod.and_then(|pod| self.read(pod).ok());
        let both = Both { old: read(old), new: read(new) };
        let (mut always, mut asked) = (Rejectors::NONE, Rejectors::NONE);
        let fit = Rejectors::of(FilterPlugin::NodeResourcesFit);
        match (&both.old, &both.new) {
            (Some(old), Some(new)) => {
                if old.group.labels != new.group.labels {
                    asked = Rejectors::COMPANY;
                }
                if own && old.tolerations.len() != new.tolerations.len() {
                    always = Rejectors::of(FilterPlugin::TaintToleration);
                    asked = asked
                        | Rejectors::all(&[
                            FilterPlugin::NodeUnschedulable,
                            FilterPlugin::PodTopologySpread,
                        ]);
                }
                if own && old.requests != new.requests {
                    always = always | fit;
                }
            }
            (None, Some(_)) => asked = Rejectors::COMPANY,
            (Some(_), None) => {
                always = fit;
                asked = Rejectors::COMPANY
                    | Rejectors::all(&[FilterPlugin::NodePorts, FilterPlugin::VolumeRestrictions]);
            }
            (None, None) => {}
        }
        ClusterEvent { subject: Subject::Pod { both, own }, always, asked }
    }

    /// Whether an event may help a pod that these plugins rejected. Mirrors `isPodWorthRequeuing`.
    pub fn may_help(&self, event: &ClusterEvent, rejectors: Rejectors, pod: &Pod) -> bool {
        if !event.concerns(rejectors) {
            return false;
        }
        if rejectors.0 == 0 || rejectors.any_of(event.always) {
            return true;
        }
        if let Subject::ResourceClaim(both) = &event.subject {
            return self.claim_may_help(both, pod);
        }
        // Unreadable pods are tried again.
        let Ok(pod) = self.read(pod) else { return true };
        let asked = |plugin| Rejectors(rejectors.0 & event.asked.0).any_of(Rejectors::of(plugin));
        match &event.subject {
            Subject::Node(both) => FilterPlugin::ALL
                .into_iter()
                .any(|plugin| asked(plugin) && self.node_may_help(plugin, both, &pod)),
            Subject::Pod { both, own } => FilterPlugin::ALL
                .into_iter()
                .any(|plugin| asked(plugin) && self.pod_may_help(plugin, both, *own, &pod)),
            Subject::Volume(claim) => {
                claim.as_ref().is_some_and(|claim| pod.claims.contains(claim))
            }
            Subject::ResourceClaim(_) | Subject::Devices => false,
        }
    }

    /// The hint of `DynamicResources` for claims (`isSchedulableAfterClaimChange`).
    fn claim_may_help(&self, both: &Both<Arc<ResourceClaim>>, pod: &Pod) -> bool {
        let (Some(new), false) = (&both.new, self.lacks_claims(pod)) else { return false };
        let uses = || pod_resource_claims(pod).iter().any(|it| it.claim.as_ref() == Some(&new.key));
        let Some(old) = &both.old else { return uses() };
        let is_freed = old.allocation.is_some() && new.allocation.is_none();
        let same = old.allocation == new.allocation && old.reserved_for == new.reserved_for;
        is_freed || !same && uses()
    }

    /// The hints of plugins for nodes (`isSchedulableAfterNodeChange`).
    fn node_may_help(&self, plugin: FilterPlugin, both: &Both<NodeInfo>, pod: &PodInfo) -> bool {
        let Both { old, new } = both;
        let (old, new) = (old.as_ref(), new.as_ref());
        // Whether it holds of the node now, and did not before.
        let begins =
            |holds: &dyn Fn(&NodeInfo) -> bool| new.is_some_and(holds) && !old.is_some_and(holds);
        match plugin {
            FilterPlugin::NodeUnschedulable => begins(&|node| !node.unschedulable),
            FilterPlugin::TaintToleration => begins(&|node| {
                untolerated_taint(pod, node, self.config.comparison_operators).is_none()
            }),
            FilterPlugin::NodeAffinity => begins(&|node| matches_node_affinity(pod, node)),
            FilterPlugin::NodeResourcesFit => {
                let most =
                    |node: &NodeInfo, name: &str| self.allocatable(node, name).unwrap_or(i64::MAX);
                let wanted = || pod.requests.iter().filter(|(_, wanted)| **wanted > 0);
                let fits = |node: &NodeInfo| {
                    most(node, "pods") > 0
                        && wanted().all(|(name, wanted)| *wanted <= most(node, name))
                };
                let names = || wanted().map(|(name, _)| name.as_str()).chain(["pods"]);
                new.is_some_and(|new| {
                    let grows = |old| names().any(|name| most(new, name) > most(old, name));
                    fits(new) && old.is_none_or(grows)
                })
            }
            FilterPlugin::InterPodAffinity => {
                let affinity = &pod.group.affinity;
                let places =
                    |key| [old, new].map(|node| node.and_then(|node| node.labels.get(key)));
                let comes = affinity.required.iter().any(|term| {
                    let [was, is] = places(&term.topology_key);
                    is.is_some() && was != is
                });
                let goes = affinity.required_anti.iter().any(|term| {
                    let [was, is] = places(&term.topology_key);
                    old.is_none() || was.is_some() && was != is
                });
                comes || goes
            }
            FilterPlugin::PodTopologySpread => {
                let mut keys = pod.hard_spread().map(|spread| &spread.topology_key);
                let in_domain = |node: &NodeInfo| {
                    pod.hard_spread().all(|it| node.labels.contains_key(&it.topology_key))
                };
                let (was, is) = (old.is_some_and(in_domain), new.is_some_and(in_domain));
                let differs = old.zip(new).is_some_and(|(old, new)| {
                    old.taints != new.taints
                        || keys.any(|key| old.labels.get(key) != new.labels.get(key))
                });
                was != is || is && differs
            }
            _ => false,
        }
    }

    /// The hints of plugins for pods (`isSchedulableAfterPodChange` and others).
    fn pod_may_help(
        &self,
        plugin: FilterPlugin,
        both: &Both<PodInfo>,
        own: bool,
        pod: &PodInfo,
    ) -> bool {
        let release = self.release();
        let (old, new) = (both.old.as_ref(), both.new.as_ref());
        // A pod for which room was made counts as one with a node since 1.36.
        let either = old.or(new);
        let placed = either.is_some_and(|other| !other.node_name.is_empty())
            || !own && release.hints_count_nominated_pods();
        match plugin {
            FilterPlugin::NodeUnschedulable => {
                own && tolerates_cordon(pod, self.config.comparison_operators)
            }
            FilterPlugin::NodePorts => old.is_some_and(|old| {
                let ports = &old.fields.host_ports;
                ports.iter().any(|port| wants_port(pod, port))
            }),
            FilterPlugin::VolumeRestrictions => {
                old.is_some_and(|old| old.claims.iter().any(|claim| pod.claims.contains(claim)))
            }
            FilterPlugin::PodTopologySpread => {
                let near = |other: &PodInfo| other.group.namespace == pod.group.namespace;
                if !(own || placed && either.is_some_and(near)) {
                    return false;
                }
                let retolerates = old
                    .zip(new)
                    .is_some_and(|(old, new)| own && old.tolerations != new.tolerations);
                retolerates && pod.hard_spread().any(|it| it.honors_node_taints)
                    || pod.hard_spread().any(|spread| {
                        let selects = |other: &PodInfo| {
                            let selector = self.spread_selector(pod, spread);
                            selector.is_some_and(|it| it.matches(&other.group.labels))
                        };
                        old.is_some_and(selects) != new.is_some_and(selects)
                    })
            }
            FilterPlugin::InterPodAffinity => {
                let affinity = &pod.group.affinity;
                let all =
                    |terms, other: &PodInfo| means_by_all(self, terms, &pod.group, &other.group);
                let near = |other: &PodInfo| all(&affinity.required, other);
                let repels = |terms: &[PodAffinityTerm], owner: &PodInfo, other: &PodInfo| {
                    let means = |term| requires(self, term, &owner.group, &other.group);
                    match release.hints_ask_for_any_anti_affinity() {
                        true => terms.iter().any(means),
                        false => !terms.is_empty() && terms.iter().all(means),
                    }
                };
                let far = |other: &PodInfo| repels(&affinity.required_anti, pod, other);
                if own {
                    return release.hints_at_both_sides_of_anti_affinity();
                }
                let unwelcome = |other: &PodInfo| {
                    new.is_none()
                        && release.hints_at_both_sides_of_anti_affinity()
                        && repels(&other.group.affinity.required_anti, other, pod)
                };
                placed
                    && (new.is_some_and(near) && !old.is_some_and(near)
                        || old.is_some_and(far) && !new.is_some_and(far)
                        || old.is_some_and(unwelcome))
            }
            _ => false,
        }
    }
}
