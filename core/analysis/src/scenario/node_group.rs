//! Groups of identical nodes, and their pods, in a few lines.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{Labels, Node, Pod, is_default};
use taintlab_rules::policy::admission::default_tolerations;
use taintlab_rules::protocol::zone::{REGION_LABEL, ZONE_LABEL};

/// Nodes that differ only in their number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeGroup {
    /// Prefix of the names: `worker` makes `worker-1`, `worker-2` and so on.
    pub name: String,
    /// Number of nodes, at most 10,000.
    pub count: u32,
    /// Zone of the nodes, `region/zone` or `zone`, set as the labels
    /// `topology.kubernetes.io/region` and `topology.kubernetes.io/zone`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zone: String,
    /// Further labels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub labels: BTreeMap<String, String>,
    /// Pods on each node, at most 250: `web-1-1` and `web-1-2` on `worker-1` if the template is
    /// named `web`. Two groups whose templates have the same name make the same pods, which is an
    /// error.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pods_per_node: u32,
    /// Template of the pods. Without tolerations, they get the default ones of Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Pod>,
}

/// Maximum number of nodes in a group, and of pods on a node.
const MOST_NODES: u32 = 10_000;
const MOST_PODS: u32 = 250;

impl NodeGroup {
    /// Checks the name and the numbers.
    ///
    /// # Errors
    /// The name is empty, or a number is out of range.
    pub fn check(&self) -> Result<(), String> {
        if self.name.is_empty() {
            return Err("name: a group of nodes needs a name, for example `worker`".into());
        }
        if self.count > MOST_NODES {
            return Err(format!("count: {} is too many; {MOST_NODES} is the most", self.count));
        }
        if self.pods_per_node > MOST_PODS {
            let number = self.pods_per_node;
            return Err(format!("podsPerNode: {number} is too many; {MOST_PODS} is the most"));
        }
        Ok(())
    }

    /// Nodes of the group.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        let (region, zone) = self.zone.split_once('/').unwrap_or(("", &self.zone));
        let mut labels = Labels::from(self.labels.clone());
        for (label, value) in [(REGION_LABEL, region), (ZONE_LABEL, zone)] {
            if !value.is_empty() {
                labels.insert(label.into(), value.into());
            }
        }
        (1..=self.count.min(MOST_NODES)).map(move |number| {
            let mut node = Node::default();
            node.metadata.name = format!("{}-{number}", self.name);
            node.metadata.labels.clone_from(&labels);
            node
        })
    }

    /// Pods of all its nodes.
    pub fn pods(&self) -> impl Iterator<Item = Pod> {
        let mut template = self.pod.clone().unwrap_or_default();
        if template.spec.tolerations.is_empty() {
            template.spec.tolerations = default_tolerations().into();
        }
        if template.metadata.name.is_empty() {
            template.metadata.name.clone_from(&self.name);
        }
        let per_node = self.pods_per_node.min(MOST_PODS);
        (1..=self.count.min(MOST_NODES)).flat_map(move |number| {
            let pod = |index: u32| {
                let mut pod = template.clone();
                pod.metadata.name = format!("{}-{number}-{index}", template.metadata.name);
                pod.spec.node_name = format!("{}-{number}", self.name);
                pod
            };
            (1..=per_node).map(pod).collect::<Vec<_>>()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_pods_are_numbered() {
        let mut group = NodeGroup {
            name: "a".into(),
            count: 2,
            zone: "eu/eu-1".into(),
            pods_per_node: 2,
            ..NodeGroup::default()
        };
        let nodes: Vec<Node> = group.nodes().collect();
        assert_eq!(nodes[1].metadata.name, "a-2");
        assert_eq!(nodes[1].metadata.labels[ZONE_LABEL], "eu-1");
        assert_eq!(nodes[1].metadata.labels[REGION_LABEL], "eu");
        let pods: Vec<Pod> = group.pods().collect();
        let names: Vec<&str> = pods.iter().map(|pod| pod.metadata.name.as_str()).collect();
        assert_eq!(names, ["a-1-1", "a-1-2", "a-2-1", "a-2-2"]);
        assert_eq!(pods[3].spec.node_name, "a-2");
        assert_eq!(pods[3].spec.tolerations, default_tolerations().into());
        assert_eq!(group.check(), Ok(()));
        group.count = MOST_NODES + 1;
        assert_eq!(group.check().unwrap_err(), "count: 10001 is too many; 10000 is the most");
    }
}
