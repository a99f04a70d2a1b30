//! What each command about resources, usage and thresholds does.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{Format, Node, NodeName, PodKey, Quantity};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::release::KubernetesRelease;

use super::eviction_managers::ManagedNode;
use super::{KubeletError, Kubelets};
use crate::controllers::Context;
use crate::kubelet::{
    ContainerUsage, Layout, NodeCapacity, NodeResource, NodeUsage, PodMatch, PodResource, PodUsage,
    SystemUsage, UsageCurve, UsageRule,
};

impl Kubelets {
    /// What pods use that match, from now on.
    pub(crate) fn set_pod_usage(
        &mut self,
        context: &mut Context<'_>,
        pods: PodMatch,
        usage: PodUsage,
    ) -> Result<(), KubeletError> {
        usage.validate().map_err(KubeletError::InvalidUsage)?;
        let rule = UsageRule { pods, usage: Arc::new(usage) };
        Arc::make_mut(&mut self.usage).push(rule);
        self.update_usage(context);
        Ok(())
    }

    /// What a node has, its system uses and nobody uses.
    pub(crate) fn set_node_resources(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        layout: Layout,
        given: NodeUsage,
    ) -> Result<(), KubeletError> {
        given.system.validate().map_err(KubeletError::InvalidUsage)?;
        let node = node(context.cluster, name)?;
        let capacity = capacity_of(node, given.capacity.clone());
        let huge_pages = huge_pages(self.config.release, node);
        let now = context.now;
        let Some(managed) = self.managed_mut(name.as_str()) else {
            let mut usage = given;
            (usage.capacity, usage.huge_pages) = (capacity, huge_pages);
            self.manage(context, name, ManagedNode::new(layout, usage, now));
            return Ok(());
        };
        let usage = managed.usage_mut(now);
        (usage.capacity, usage.system) = (capacity, given.system);
        usage.huge_pages = huge_pages;
        usage.unused_containers = given.unused_containers;
        usage.unused_images = given.unused_images;
        if managed.layout == layout {
            managed.usage_has_changed(now);
            self.plan_eviction_manager(context, name);
        } else {
            managed.layout = layout;
            self.start_eviction_manager(context, name);
        }
        Ok(())
    }

    /// The kubelet of a node begins to watch over its resources.
    fn manage(&mut self, context: &mut Context<'_>, name: &NodeName, managed: ManagedNode) {
        if let Some(kubelet) = self.by_node.get_mut(name.as_str()) {
            kubelet.eviction = Some(Arc::new(managed));
        }
        self.sync_pods(context, name);
        self.start_eviction_manager(context, name);
    }

    /// A node whose resources nobody gave has those that its status tells.
    fn manage_if_new(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
    ) -> Result<(), KubeletError> {
        let node = node(context.cluster, name)?;
        if self.managed(name.as_str()).is_none() {
            let mut usage = usage_by_status(node);
            usage.huge_pages = huge_pages(self.config.release, node);
            let managed = ManagedNode::new(Layout::default(), usage, context.now);
            self.manage(context, name, managed);
        }
        Ok(())
    }

    /// The system of a node uses something from now on, by a curve or until so much is left.
    pub(crate) fn load_node(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        resource: NodeResource,
        usage: Option<UsageCurve>,
        leaves: Option<Quantity>,
    ) -> Result<(), KubeletError> {
        let now = context.now;
        let curve = match (&usage, &leaves) {
            (Some(usage), None) => {
                usage.validate().map_err(KubeletError::InvalidUsage)?;
                usage.delayed(now.since_zero())
            }
            (None, Some(_)) => UsageCurve::default(),
            _ => {
                let error = "give either `usage`, a curve, or `leaves`, the amount that remains";
                return Err(KubeletError::InvalidUsage(error.into()));
            }
        };
        let node = node(context.cluster, name)?;
        let (capacity, layout) = match self.managed(name.as_str()) {
            Some(managed) => (managed.usage().capacity.clone(), managed.layout),
            None => (capacity_of(node, NodeCapacity::default()), Layout::default()),
        };
        let mut of_signal = NodeUsage::new(capacity, SystemUsage::default());
        of_signal.huge_pages = huge_pages(self.config.release, node);
        let Some(has) = of_signal.capacity(layout, resource.signal()) else {
            let error = format!(
                "nothing says how much {} node \"{name}\" has; say it with `setNodeResources`",
                words(resource)
            );
            return Err(KubeletError::InvalidUsage(error));
        };
        self.manage_if_new(context, name)?;
        let Some(managed) = self.managed_mut(name.as_str()) else { return Ok(()) };
        let usage = managed.usage_mut(now);
        *usage.system.curve_mut(resource) = curve;
        if let Some(leaves) = leaves {
            let used = usage.shares(layout, resource.signal(), now).0;
            let fill = has.saturating_sub(leaves.value()).saturating_sub(used).max(0);
            let fill = UsageCurve::Constant(Quantity::new(fill, Format::BinarySI));
            *usage.system.curve_mut(resource) = fill;
        }
        managed.usage_has_changed(now);
        self.plan_eviction_manager(context, name);
        Ok(())
    }

    /// A container of a pod uses something by a curve from now on; its first if none is named.
    pub(crate) fn load_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        container: String,
        resource: PodResource,
        usage: &UsageCurve,
    ) -> Result<(), KubeletError> {
        usage.validate().map_err(KubeletError::InvalidUsage)?;
        let pod = context.cluster.get_pod(key);
        let pod = pod.ok_or_else(|| KubeletError::PodNotFound(key.clone()))?;
        let name: NodeName = pod.spec.node_name.as_str().into();
        if name.as_str().is_empty() {
            let error = format!("pod \"{}\" runs on no node, so that it uses nothing", key.name());
            return Err(KubeletError::InvalidUsage(error));
        }
        self.manage_if_new(context, &name)?;
        let now = context.now;
        let Some(managed) = self.managed(name.as_str()) else { return Ok(()) };
        let found = managed.usage().running().find(|(running, ..)| running.key == *key);
        let Some((_, started, known)) = found else {
            let error = format!("pod \"{}\" does not run, so that it uses nothing", key.name());
            return Err(KubeletError::InvalidUsage(error));
        };
        let mut changed = PodUsage::clone(known);
        let container =
            if container.is_empty() { crate::kubelet::first_container(pod) } else { container };
        let place = changed.containers.iter().position(|known| known.name == container);
        let place = place.unwrap_or_else(|| {
            let name = container.clone();
            changed.containers.push(ContainerUsage { name, ..ContainerUsage::default() });
            changed.containers.len() - 1
        });
        if let Some(container) = changed.containers.get_mut(place) {
            *container.curve_mut(resource) = usage.delayed(now - started);
        }
        if let Some(managed) = self.managed_mut(name.as_str()) {
            managed.usage_mut(now).set_pod_usage(key, Arc::new(changed));
            managed.usage_has_changed(now);
        }
        self.plan_eviction_manager(context, &name);
        Ok(())
    }

    /// The rules have changed: what pods that run use follows.
    fn update_usage(&mut self, context: &mut Context<'_>) {
        let names = self.by_node.iter().filter(|(_, kubelet)| kubelet.eviction.is_some());
        let names: Vec<NodeName> = names.map(|(name, _)| name.clone()).collect();
        let now = context.now;
        for name in names {
            let Some(rule) = self.usage.last() else { continue };
            let Some(managed) = self.managed(name.as_str()) else { continue };
            let running = managed.usage().running().map(|(pod, ..)| pod.key.clone());
            let matched = running.filter_map(|key| {
                let pod = context.cluster.get_pod(&key).filter(|pod| rule.pods.matches(pod))?;
                Some((key, crate::kubelet::usage_of(&self.usage, pod)))
            });
            let matched: Vec<(PodKey, Arc<PodUsage>)> = matched.collect();
            if matched.is_empty() {
                continue;
            }
            if let Some(managed) = self.managed_mut(name.as_str()) {
                for (key, usage) in matched {
                    managed.usage_mut(now).set_pod_usage(&key, usage);
                }
                managed.usage_has_changed(now);
            }
            self.plan_eviction_manager(context, &name);
        }
    }
}

fn node<'a>(cluster: &'a Cluster, name: &NodeName) -> Result<&'a Node, KubeletError> {
    let node = cluster.get_node(name.as_str());
    node.map(AsRef::as_ref).ok_or_else(|| KubeletError::NodeNotFound(name.clone()))
}

/// What a node has whose resources nobody gave: as its status says.
pub(crate) fn usage_by_status(node: &Node) -> NodeUsage {
    NodeUsage::new(capacity_of(node, NodeCapacity::default()), SystemUsage::default())
}

/// Memory in the huge pages of a node, if it is not available. Mirrors `adjustForHugePages`.
fn huge_pages(release: KubernetesRelease, node: &Node) -> i64 {
    let capacity = node.status.other.get("capacity").and_then(Value::as_object);
    let pages = capacity.into_iter().flatten();
    let pages = pages.filter(|(name, _)| name.starts_with("hugepages-"));
    match release.subtracts_huge_pages() {
        true => pages.filter_map(|(_, value)| read(value)).map(|amount| amount.value()).sum(),
        false => 0,
    }
}

fn read(amount: &Value) -> Option<Quantity> {
    let text = amount.as_str().map_or_else(|| amount.to_string(), ToString::to_string);
    Quantity::parse(&text).ok()
}

/// What a node has: as it is said, else as its status says.
fn capacity_of(node: &Node, given: NodeCapacity) -> NodeCapacity {
    let amount = |resource: &str| read(node.status.other.get("capacity")?.get(resource)?);
    NodeCapacity {
        memory: given.memory.or_else(|| amount("memory")),
        nodefs: given.nodefs.or_else(|| amount("ephemeral-storage")),
        ..given
    }
}

const fn words(resource: NodeResource) -> &'static str {
    match resource {
        NodeResource::Memory => "memory",
        NodeResource::Nodefs => "disk space",
        NodeResource::NodefsInodes => "inodes",
        NodeResource::Images => "space for images",
        NodeResource::ImagesInodes => "inodes for images",
        NodeResource::Processes => "process IDs",
    }
}
