//! Which nodes a pod fits on.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::affinity::AffinityState;
use super::devices::DeviceState;
use super::info::{NodeInfo, PodInfo, add};
use super::plugins::FilterPlugin;
use super::predicates::{matches_node_affinity, tolerates_cordon, untolerated_taint, wants_port};
use super::snapshot::Snapshot;
use super::spread::SpreadState;
use super::volumes::VolumeState;
use super::{Rejection, SchedulingError};
use crate::api::{
    Amounts, HostPort, Pod, PodKey, ResourceError, SelectorOperator, Taint, claim_names,
    container_images, overhead_cpu,
};
use crate::order::OrderedSet;
use crate::release::{AbsentNodes, KubernetesRelease, TaintReason};

/// One pod being scheduled: what its filters need to know of all nodes, counted once.
pub(super) struct Cycle<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) key: PodKey,
    pub(super) pod: PodInfo,
    /// The images that count for its scores.
    pub(super) images: Vec<String>,
    /// The number of images of containers among them.
    pub(super) container_images: usize,
    /// The UID of its controller; empty if it has none.
    pub(super) controller_uid: String,
    /// How much less CPU its scores count than it requests.
    pub(super) uncounted_cpu: i64,
    /// Why it fits on no node whatever the nodes are. Mirrors a refusal by `PreFilter`.
    pub(super) refusal: Option<Rejection>,
    /// How many nodes there are.
    pub(super) node_count: usize,
    /// Node on which room was made for the pod, or empty.
    pub(super) nominated: String,
    spread: SpreadState,
    affinity: AffinityState,
    volumes: VolumeState,
    pub(super) devices: DeviceState<'a>,
}

/// A node with other pods than it has: those that are taken away and added in thought, for
/// nominations and preemption. Mirrors what `PreFilterExtensions` and clones of `NodeInfo` are for.
#[derive(Clone, Default)]
pub(super) struct Change {
    pods: i64,
    requested: Amounts,
    /// The ports that pods take then, if that is not as it is.
    ports: Option<OrderedSet<HostPort>>,
    /// How many more users there are of claims that are for one pod alone.
    claim_users: i64,
    /// How many pods more each constraint counts in the node's part of the cluster.
    pub(super) spread: Vec<i64>,
    pub(super) affinity: AffinityState,
}

impl<'a> Cycle<'a> {
    /// # Errors
    /// A field of the pod that cannot be read.
    pub(super) fn new(snapshot: &'a Snapshot, pod: &Pod) -> Result<Self, SchedulingError> {
        let key = pod.key();
        let info = snapshot.read(pod)?;
        let wrong = |error: ResourceError| SchedulingError { object: format!("pod {key}"), error };
        let (milli, whole) = overhead_cpu(pod).map_err(wrong)?;
        let exact = snapshot.config.release.scores_overhead_in_thousandths();
        let claims = claim_names(pod).map_err(wrong)?;
        let missing = snapshot.claims.as_ref().and_then(|known| {
            claims
                .into_iter()
                .find(|claim| !known.contains(&(key.namespace().to_owned(), claim.clone())))
        });
        // The first plugin that looks for the claim.
        let plugin = match snapshot.config.release.has_read_write_once_pod() {
            true => FilterPlugin::VolumeRestrictions,
            false => FilterPlugin::VolumeBinding,
        };
        let refusal = missing.map(|claim| Rejection {
            plugin,
            reasons: Vec::from([format!("persistentvolumeclaim \"{claim}\" not found")]),
            preemption_may_help: false,
        });
        let (volumes, unbound) = VolumeState::new(snapshot, pod);
        let (devices, unclaimed) = DeviceState::new(snapshot, pod);
        let controller = pod.metadata.controller();
        let with_init = snapshot.config.release.scores_images_of_init_containers();
        let images = |volumes| container_images(pod, with_init, volumes).map_err(wrong);
        Ok(Self {
            volumes,
            devices,
            container_images: images(false)?.len(),
            images: images(snapshot.config.release.scores_images_of_volumes())?,
            controller_uid: controller.map_or_else(String::new, |owner| owner.uid.clone()),
            uncounted_cpu: if exact { 0 } else { milli.saturating_sub(whole) },
            refusal: refusal.or(unbound).or(unclaimed),
            node_count: snapshot.node_count(),
            nominated: pod.nominated_node_name().to_owned(),
            spread: SpreadState::new(snapshot, &info),
            affinity: AffinityState::new(snapshot, &info.group),
            snapshot,
            key,
            pod: info,
        })
    }

    pub(super) fn release(&self) -> KubernetesRelease {
        self.snapshot.config.release
    }

    /// Whether the plugin DynamicResources is asked for room before preemption.
    pub(super) fn deallocates_claims(&self) -> bool {
        self.release().deallocates_claims() || self.snapshot.devices.is_some()
    }

    /// The filters in the release's order. Those of volumes and devices are asked of pods with
    /// claims alone: they keep no other pod off.
    pub(super) fn plugins(&self) -> impl Iterator<Item = FilterPlugin> {
        use FilterPlugin::{
            DynamicResources, InterPodAffinity, NodeAffinity, NodeName, NodePorts,
            NodeResourcesFit, NodeUnschedulable, PodTopologySpread, TaintToleration, VolumeBinding,
            VolumeRestrictions, VolumeZone,
        };
        let release = self.release();
        let [second, third, fourth, fifth, sixth] = if release.filters_taints_before_resources() {
            [NodeName, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit]
        } else {
            [NodeResourcesFit, NodeName, NodePorts, NodeAffinity, TaintToleration]
        };
        let [seventh, last] = if release.filters_spread_before_pod_affinity() {
            [PodTopologySpread, InterPodAffinity]
        } else {
            [InterPodAffinity, PodTopologySpread]
        };
        let of_volumes = if self.volumes.is_empty() {
            [None; 3]
        } else {
            [VolumeRestrictions, VolumeBinding, VolumeZone].map(Some)
        };
        let first = [NodeUnschedulable, second, third, fourth, fifth, sixth].into_iter();
        let of_devices = (!self.devices.is_empty()).then_some(DynamicResources);
        first.chain(of_volumes.into_iter().flatten()).chain([seventh, last]).chain(of_devices)
    }

    /// Adds a pod to the node in thought (`amount` 1), or takes one away (-1).
    pub(super) fn alter(&self, change: &mut Change, node: &NodeInfo, pod: &PodInfo, amount: i64) {
        change.pods += amount;
        add(&mut change.requested, &pod.requests, amount);
        if !pod.fields.host_ports.is_empty() {
            let ports = change.ports.get_or_insert_with(|| node.ports.clone());
            for port in &pod.fields.host_ports {
                if amount > 0 {
                    ports.insert(port.clone());
                } else {
                    ports.remove(port);
                }
            }
        }
        change.claim_users += amount * self.volumes.uses_of(pod);
        self.spread.alter(&mut change.spread, &self.pod.group.namespace, node, pod, amount);
        let here = core::iter::once((node, amount));
        change.affinity.add(self.snapshot, &self.pod.group, &pod.group, here);
    }

    /// The first filter that keeps the pod off the node. With pods of no lower priority for which
    /// room was made on the node it is asked twice: with them and without. Mirrors
    /// `RunFilterPluginsWithNominatedPods`.
    pub(super) fn first_rejection(&self, node: &NodeInfo, change: &Change) -> Option<Rejection> {
        let mut with: Option<Change> = None;
        for (key, pod) in self.snapshot.nominated_on(&node.name) {
            if *key != self.key && pod.fields.priority >= self.pod.fields.priority {
                self.alter(with.get_or_insert_with(|| change.clone()), node, pod, 1);
            }
        }
        let ask =
            |change: &Change| self.plugins().find_map(|plugin| self.filter(plugin, node, change));
        with.and_then(|with| ask(&with)).or_else(|| ask(change))
    }

    /// Whether no filter keeps the pod off that looks at the node alone. With
    /// [`fits_among`](Self::fits_among) it is the same as no
    /// [`first_rejection`](Self::first_rejection), without its words.
    pub(super) fn fits_alone(&self, node: &NodeInfo, unchanged: &Change) -> bool {
        (!node.unschedulable || self.unschedulable(node).is_empty())
            && untolerated_taint(&self.pod, node, self.snapshot.config.comparison_operators)
                .is_none()
            && matches_node_affinity(&self.pod, node)
            && self.shortages(node, unchanged).next().is_none()
            && !self.has_port_conflict(node, unchanged)
    }

    /// Whether [`fits_among`](Self::fits_among) any nodes, whichever they are: nothing that it
    /// looks at is there.
    pub(super) fn fits_among_all(&self) -> bool {
        self.pod.node_name.is_empty()
            && self.volumes.is_empty()
            && self.devices.is_empty()
            && !self.snapshot.has_nominated()
            && self.spread.is_empty()
            && self.affinity.allows_all(&self.pod.group)
    }

    /// Whether none of the other filters does.
    pub(super) fn fits_among(&self, node: &NodeInfo, unchanged: &Change) -> bool {
        let wanted = &self.pod.node_name;
        (wanted.is_empty() || **wanted == *node.name)
            && self.volumes_fit(node)
            && (self.devices.is_empty() || self.devices.filter(node).is_empty())
            && match self.snapshot.nominated_on(&node.name).next() {
                Some(_) => self.first_rejection(node, unchanged).is_none(),
                None => [FilterPlugin::PodTopologySpread, FilterPlugin::InterPodAffinity]
                    .into_iter()
                    .all(|plugin| self.filter(plugin, node, unchanged).is_none()),
            }
    }

    /// The only nodes that the pod can go to, if its affinity names them. Mirrors the
    /// `PreFilterResult` of `NodeAffinity`.
    pub(super) fn named_nodes(&self) -> Option<OrderedSet<String>> {
        let terms = self.pod.fields.required_node_terms.as_ref()?;
        let mut names = OrderedSet::new();
        for term in terms {
            let field = term.match_fields.iter().find(|field| {
                field.key == "metadata.name" && field.operator == SelectorOperator::In
            })?;
            names.extend(field.values.iter().cloned());
        }
        Some(names)
    }

    /// What is said of nodes that the pod's affinity does not name, in releases that have words of
    /// their own for them.
    pub(super) fn absent_nodes(&self) -> Option<impl Fn(&str) -> Option<Rejection>> {
        let AbsentNodes::HaveReason(reason) = self.release().absent_nodes() else { return None };
        let named = self.named_nodes()?;
        Some(move |node: &str| {
            (!named.contains(node)).then(|| Rejection {
                plugin: FilterPlugin::NodeAffinity,
                reasons: Vec::from([reason.to_owned()]),
                preemption_may_help: false,
            })
        })
    }

    /// Whether a node is one of those that the message does not mention, since the pod's affinity
    /// does not name it.
    pub(super) fn unmentioned_nodes(&self) -> impl Fn(&str) -> bool {
        let named = match self.release().absent_nodes() {
            AbsentNodes::AreFiltered | AbsentNodes::HaveReason(_) => None,
            // What keeps a pod off all nodes is said before affinity is read.
            _ if self.refusal.is_some() => None,
            AbsentNodes::MayBePreempted | AbsentNodes::AreLeftOut => self.named_nodes(),
        };
        move |node: &str| named.as_ref().is_some_and(|named| !named.contains(node))
    }

    /// What one filter says.
    pub(super) fn filter(
        &self,
        plugin: FilterPlugin,
        node: &NodeInfo,
        change: &Change,
    ) -> Option<Rejection> {
        let release = self.release();
        let (reasons, preemption_may_help) = match plugin {
            FilterPlugin::NodeUnschedulable => (self.unschedulable(node), false),
            FilterPlugin::NodeName => {
                let wanted = &self.pod.node_name;
                let other = !wanted.is_empty() && **wanted != *node.name;
                (other.then(|| release.node_name_reason().to_owned()).into_iter().collect(), false)
            }
            FilterPlugin::TaintToleration => (self.untolerated(node), false),
            FilterPlugin::NodeAffinity => {
                let other = !matches_node_affinity(&self.pod, node);
                let reason = other.then(|| release.node_affinity_reason().to_owned());
                (reason.into_iter().collect(), false)
            }
            FilterPlugin::NodePorts => {
                let reason = "node(s) didn't have free ports for the requested pod ports";
                let taken = self.has_port_conflict(node, change);
                (taken.then(|| reason.to_owned()).into_iter().collect(), true)
            }
            FilterPlugin::NodeResourcesFit => {
                let reason = |name: &str| match name {
                    "pods" => "Too many pods".to_owned(),
                    name => format!("Insufficient {name}"),
                };
                let hopeless = release.gives_up_on_small_nodes() && self.is_too_small(node);
                (self.shortages(node, change).map(reason).collect(), !hopeless)
            }
            FilterPlugin::VolumeRestrictions => {
                (self.volumes.restrictions(change.claim_users), true)
            }
            FilterPlugin::VolumeBinding => (self.volumes.binding(self.snapshot, node), false),
            FilterPlugin::VolumeZone => (self.volumes.zone(node), false),
            FilterPlugin::PodTopologySpread => {
                self.spread.filter(self.snapshot, node, &change.spread)
            }
            FilterPlugin::InterPodAffinity => {
                self.affinity.filter(self.snapshot, &self.pod.group, node, &change.affinity)
            }
            FilterPlugin::DynamicResources => (self.devices.filter(node), false),
        };
        (!reasons.is_empty()).then_some(Rejection { plugin, reasons, preemption_may_help })
    }

    fn volumes_fit(&self, node: &NodeInfo) -> bool {
        let volumes = &self.volumes;
        volumes.is_empty()
            || volumes.restrictions(0).is_empty()
                && volumes.binding(self.snapshot, node).is_empty()
                && volumes.zone(node).is_empty()
    }

    /// Mirrors `nodeunschedulable.Filter`.
    fn unschedulable(&self, node: &NodeInfo) -> Vec<String> {
        let kept_off = node.unschedulable
            && !tolerates_cordon(&self.pod, self.snapshot.config.comparison_operators);
        kept_off.then(|| "node(s) were unschedulable".to_owned()).into_iter().collect()
    }

    /// Mirrors `tainttoleration.Filter`.
    fn untolerated(&self, node: &NodeInfo) -> Vec<String> {
        let taint = untolerated_taint(&self.pod, node, self.snapshot.config.comparison_operators);
        let reason = |taint: &Taint| match self.release().untolerated_taint_reason() {
            TaintReason::DidNotTolerate => format!(
                "node(s) had taint {{{}: {}}}, that the pod didn't tolerate",
                taint.key, taint.value
            ),
            TaintReason::Untolerated => {
                format!("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value)
            }
            TaintReason::WithoutTaint => "node(s) had untolerated taint(s)".to_owned(),
        };
        taint.map(reason).into_iter().collect()
    }

    /// Whether a port that the pod wants is taken. Mirrors `HostPortInfo.CheckConflict`.
    fn has_port_conflict(&self, node: &NodeInfo, change: &Change) -> bool {
        let taken = change.ports.as_ref().unwrap_or(&node.ports);
        taken.iter().any(|port| wants_port(&self.pod, port))
    }

    /// Whether the pod requests more of a resource than the node has.
    fn is_too_small(&self, node: &NodeInfo) -> bool {
        self.pod.requests.iter().any(|(name, wanted)| {
            let most = self.snapshot.allocatable(node, name);
            most.is_some_and(|most| *wanted > most)
        })
    }

    /// The resources of which the node has too little; `pods` if it has too many. Mirrors
    /// `noderesources.fitsRequest`.
    fn shortages<'b>(
        &'b self,
        node: &'b NodeInfo,
        change: &'b Change,
    ) -> impl Iterator<Item = &'b str> {
        let release = self.release();
        let allocatable = move |name: &str| self.snapshot.allocatable(node, name);
        let pods = i64::try_from(node.pods.len()).unwrap_or(i64::MAX).saturating_add(change.pods);
        let crowded = allocatable("pods").is_some_and(|most| pods >= most);
        let requests = &self.pod.requests;
        let wanted = move |name: &str| requests.get(name).copied().unwrap_or_default();
        let others = requests.keys().map(String::as_str).filter(|name| !NATIVE.contains(name));
        // A pod that asks for nothing at all fits even where more is used than there is.
        let asks = NATIVE.into_iter().any(|name| wanted(name) > 0) || others.clone().count() > 0;
        let is_short = move |name: &&str| {
            let fits_zero = match NATIVE.contains(name) {
                true => release.fits_zero_requests(),
                false => release.fits_zero_extended_requests(),
            };
            let wanted = wanted(name);
            if wanted == 0 && fits_zero {
                return false;
            }
            let used = node.requested.get(*name).copied().unwrap_or_default();
            let more = change.requested.get(*name).copied().unwrap_or_default();
            let used = used.saturating_add(more);
            allocatable(name).is_some_and(|most| wanted.saturating_add(used) > most)
        };
        let resources = NATIVE.into_iter().chain(others).filter(move |_| asks).filter(is_short);
        crowded.then_some("pods").into_iter().chain(resources)
    }
}

/// The resources that every node has, in the order in which they are compared.
const NATIVE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

impl Snapshot {
    /// Allocatable amount of a resource; `None` is unlimited.
    pub(super) fn allocatable(&self, node: &NodeInfo, name: &str) -> Option<i64> {
        let lenient = !self.config.requires_allocatable;
        match node.allocatable.get(name) {
            Some(most) => Some(*most),
            None if lenient && (name == "pods" || NATIVE.contains(&name)) => None,
            None => Some(0),
        }
    }
}
