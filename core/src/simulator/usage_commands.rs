//! What each command about resources, usage and thresholds does.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Simulator;
use super::eviction_managers::ManagedNode;
use crate::api::{Format, Node, NodeName, PodKey, Quantity};
use crate::command::{CommandError, LoadedPod, NodeLoad, NodeResources};
use crate::kubelet::{
    ContainerUsage, KubeletConfiguration, NodeCapacity, NodeResource, NodeUsage, PodMatch,
    PodUsage, UsageCurve, UsageRule,
};

impl Simulator {
    pub(super) fn set_pod_usage(
        &mut self,
        pods: PodMatch,
        usage: PodUsage,
    ) -> Result<(), CommandError> {
        usage.validate().map_err(CommandError::InvalidUsage)?;
        let rule = UsageRule { pods, usage: Arc::new(usage) };
        Arc::make_mut(&mut self.kubelets.usage).push(rule);
        self.update_usage();
        Ok(())
    }

    pub(super) fn set_node_resources(
        &mut self,
        resources: NodeResources,
    ) -> Result<(), CommandError> {
        let NodeResources {
            node: name,
            capacity,
            layout,
            system,
            unused_containers,
            unused_images,
        } = resources;
        system.validate().map_err(CommandError::InvalidUsage)?;
        let capacity = capacity_of(self.api.node(&name)?, capacity);
        let now = self.api.now;
        let Some(managed) = self.managed_mut(name.as_str()) else {
            let mut usage = NodeUsage::new(capacity, system);
            (usage.unused_containers, usage.unused_images) = (unused_containers, unused_images);
            self.manage(&name, ManagedNode::new(layout, usage, now));
            return Ok(());
        };
        let usage = managed.usage_mut(now);
        (usage.capacity, usage.system) = (capacity, system);
        (usage.unused_containers, usage.unused_images) = (unused_containers, unused_images);
        if managed.layout == layout {
            managed.usage_has_changed(now);
            self.plan_eviction_manager(&name);
        } else {
            managed.layout = layout;
            self.start_eviction_manager(&name);
        }
        Ok(())
    }

    /// What a node has and its system uses, as the command that would say so; `None` if there is no
    /// such node. Where nobody has said it, it is what the node's status tells.
    #[must_use]
    pub fn node_resources(&self, node: &str) -> Option<NodeResources> {
        let object = self.api.cluster.get_node(node)?;
        let (usage, layout) = match self.managed(node) {
            Some(managed) => (managed.usage().clone(), managed.layout),
            None => {
                let capacity = capacity_of(object, NodeCapacity::default());
                (NodeUsage::new(capacity, Default::default()), Default::default())
            }
        };
        Some(NodeResources {
            node: node.into(),
            capacity: usage.capacity,
            layout,
            system: usage.system,
            unused_containers: usage.unused_containers,
            unused_images: usage.unused_images,
        })
    }

    /// The kubelet of a node begins to watch over its resources.
    fn manage(&mut self, name: &NodeName, managed: ManagedNode) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.eviction = Some(Arc::new(managed));
        }
        self.sync_pods(name);
        self.start_eviction_manager(name);
    }

    /// A node whose resources nobody gave has those that its status tells.
    fn manage_if_new(&mut self, name: &NodeName) -> Result<(), CommandError> {
        let node = self.api.node(name)?;
        if self.managed(name.as_str()).is_none() {
            let capacity = capacity_of(node, NodeCapacity::default());
            let usage = NodeUsage::new(capacity, Default::default());
            self.manage(name, ManagedNode::new(Default::default(), usage, self.api.now));
        }
        Ok(())
    }

    pub(super) fn load_node(&mut self, load: NodeLoad) -> Result<(), CommandError> {
        let NodeLoad { node: name, resource, usage, leaves } = load;
        let now = self.api.now;
        let curve = match (&usage, &leaves) {
            (Some(usage), None) => {
                usage.validate().map_err(CommandError::InvalidUsage)?;
                usage.delayed(now.since_zero())
            }
            (None, Some(_)) => UsageCurve::default(),
            _ => {
                let error = "give either `usage`, a curve, or `leaves`, how much is to be left";
                return Err(CommandError::InvalidUsage(error.into()));
            }
        };
        self.api.node(&name)?;
        let (capacity, layout) = match self.managed(name.as_str()) {
            Some(managed) => (managed.usage().capacity.clone(), managed.layout),
            None => (capacity_of(self.api.node(&name)?, Default::default()), Default::default()),
        };
        let of_signal = NodeUsage::new(capacity, Default::default());
        let Some(has) = of_signal.capacity(layout, resource.signal()) else {
            let error = format!(
                "nothing says how much {} node \"{name}\" has; say it with `setNodeResources`",
                words(resource)
            );
            return Err(CommandError::InvalidUsage(error));
        };
        self.manage_if_new(&name)?;
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
        self.plan_eviction_manager(&name);
        Ok(())
    }

    pub(super) fn load_pod(&mut self, load: LoadedPod) -> Result<(), CommandError> {
        let LoadedPod { pod: key, container, resource, usage } = load;
        usage.validate().map_err(CommandError::InvalidUsage)?;
        let pod = self.api.cluster.get_pod(&key).cloned();
        let pod = pod.ok_or_else(|| CommandError::PodNotFound(key.clone()))?;
        let name: NodeName = pod.spec.node_name.as_str().into();
        if name.as_str().is_empty() {
            let error = format!("pod \"{}\" runs on no node, so that it uses nothing", key.name());
            return Err(CommandError::InvalidUsage(error));
        }
        self.manage_if_new(&name)?;
        let now = self.api.now;
        let Some(managed) = self.managed(name.as_str()) else { return Ok(()) };
        let found = managed.usage().running().find(|(running, ..)| running.key == key);
        let Some((_, started, known)) = found else {
            let error = format!("pod \"{}\" does not run, so that it uses nothing", key.name());
            return Err(CommandError::InvalidUsage(error));
        };
        let mut changed = PodUsage::clone(known);
        let container =
            if container.is_empty() { crate::kubelet::first_container(&pod) } else { container };
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
            managed.usage_mut(now).set_pod_usage(&key, Arc::new(changed));
            managed.usage_has_changed(now);
        }
        self.plan_eviction_manager(&name);
        Ok(())
    }

    /// The rules have changed: what pods that run use follows.
    fn update_usage(&mut self) {
        let names = self.kubelets.by_node.iter().filter(|(_, kubelet)| kubelet.eviction.is_some());
        let names: Vec<NodeName> = names.map(|(name, _)| name.clone()).collect();
        let now = self.api.now;
        for name in names {
            let Some(rule) = self.kubelets.usage.last() else { continue };
            let Some(managed) = self.managed(name.as_str()) else { continue };
            let running = managed.usage().running().map(|(pod, ..)| pod.key.clone());
            let matched = running.filter_map(|key| {
                let pod = self.api.cluster.get_pod(&key).filter(|pod| rule.pods.matches(pod))?;
                Some((key, crate::kubelet::usage_of(&self.kubelets.usage, pod)))
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
            self.plan_eviction_manager(&name);
        }
    }

    pub(super) fn configure_kubelet(
        &mut self,
        name: &NodeName,
        configuration: Option<KubeletConfiguration>,
        flags: &BTreeMap<String, String>,
    ) -> Result<(), CommandError> {
        let base = configuration.unwrap_or_else(|| self.api.config.kubelet_configuration.clone());
        let defaults = &self.api.config.kubelet_flags;
        let config =
            crate::api_server::eviction_config(self.api.config.release, &base, defaults, flags);
        let config = config.map_err(|error| CommandError::Kubelet(error.to_string()))?;
        self.api.node(name)?;
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else {
            return Err(CommandError::NodeNotFound(name.clone()));
        };
        kubelet.setup = Some(Arc::new(config));
        if kubelet.runs {
            self.restart_kubelet(name);
        }
        Ok(())
    }
}

/// What a node has: as it is said, else as its status says.
fn capacity_of(node: &Node, given: NodeCapacity) -> NodeCapacity {
    let amount = |resource: &str| {
        let value = node.status.other.get("capacity")?.get(resource)?;
        let text = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
        Quantity::parse(&text).ok()
    };
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
