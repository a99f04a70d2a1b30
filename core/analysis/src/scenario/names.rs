//! Duplicate names: the second object would silently replace the first.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use taintlab_rules::api::ObjectMeta;
use taintlab_rules::order::OrderedMap;

use super::Objects;

/// An object with the name of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateName {
    /// The object in words: ``the pod `default/web-1-1` ``.
    pub object: String,
    /// Field of the scenario with the first object: `objects.pods[3]`, or `objects.nodeGroups[0]`.
    pub first: String,
    /// Field of the scenario with the second object.
    pub second: String,
}

impl fmt::Display for DuplicateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, first, second } = self;
        write!(f, "{object} is defined twice: in {first} and in {second}")
    }
}

impl DuplicateName {
    /// Whether a group of nodes makes one of the two.
    #[must_use]
    pub fn is_of_group(&self) -> bool {
        [&self.first, &self.second].iter().any(|path| path.starts_with("objects.nodeGroups["))
    }

    /// Advice on how to resolve it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        if self.is_of_group() {
            "give the group, or `metadata.name` of its template `pod`, another name"
        } else {
            "remove one of the two, or give it another name"
        }
    }
}

/// Duplicates reported at most.
const MOST: usize = 20;

/// Search for duplicate names.
struct Names<'o> {
    objects: &'o Objects,
    found: Vec<DuplicateName>,
}

impl Objects {
    /// Duplicate names among objects given one by one and objects made by groups; the first 20.
    #[must_use]
    pub fn duplicate_names(&self) -> Vec<DuplicateName> {
        let mut names = Names { objects: self, found: Vec::new() };
        names.nodes();
        names.pods();
        let workloads = self.workloads.iter();
        let workloads =
            workloads.map(|workload| name_of(workload.kind.singular(), &workload.metadata));
        names.listed("workload", "workloads", workloads);
        let budgets = self.budgets.iter().map(|budget| name_of("", &budget.metadata));
        names.listed("budget", "budgets", budgets);
        names.found.truncate(MOST);
        names.found
    }
}

impl Names<'_> {
    fn add(&mut self, object: String, first: String, second: String) {
        if self.found.len() < MOST {
            self.found.push(DuplicateName { object, first, second });
        }
    }

    /// Finds duplicates among objects given one by one.
    fn listed<'m>(&mut self, kind: &str, list: &str, names: impl Iterator<Item = Name<'m>>) {
        let mut seen: HashMap<Name<'m>, usize, FixedState> = HashMap::default();
        for (index, name) in names.enumerate() {
            let first = *seen.entry(name).or_insert(index);
            if first != index {
                let path = |index| format!("objects.{list}[{index}]");
                let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
                self.add(format!("the {kind} `{}`", name.join("/")), path(first), path(index));
            }
        }
    }

    /// Finds duplicate nodes. A group names its nodes by its own name and a number, so that groups
    /// of the same name make the same nodes.
    fn nodes(&mut self) {
        let objects = self.objects;
        let nodes = objects.nodes.iter().map(|node| ["", "", &node.metadata.name]);
        self.listed("node", "nodes", nodes);
        let mut groups: OrderedMap<&str, usize> = OrderedMap::new();
        for (index, group) in objects.node_groups.iter().enumerate() {
            if group.count == 0 {
                continue;
            }
            if let Some(first) = groups.get(group.name.as_str()) {
                self.add(format!("the node `{}-1`", group.name), of_group(*first), of_group(index));
            } else {
                groups.insert(&group.name, index);
            }
        }
        for (index, node) in objects.nodes.iter().enumerate() {
            let Some((name, number)) = split_number(&node.metadata.name) else { continue };
            let Some(group) = groups.get(name) else { continue };
            if objects.node_groups.get(*group).is_some_and(|group| number <= group.count) {
                let object = format!("the node `{}`", node.metadata.name);
                self.add(object, format!("objects.nodes[{index}]"), of_group(*group));
            }
        }
    }

    /// Finds duplicate pods. A group names them by its template, the number of the node and the
    /// number of the pod.
    fn pods(&mut self) {
        let objects = self.objects;
        let pods = objects.pods.iter().map(|pod| name_of("", &pod.metadata));
        self.listed("pod", "pods", pods);
        let mut groups: OrderedMap<(&str, &str), usize> = OrderedMap::new();
        for (index, group) in objects.node_groups.iter().enumerate() {
            if group.count == 0 || group.pods_per_node == 0 {
                continue;
            }
            let metadata = group.pod.as_ref().map(|pod| &pod.metadata);
            let name = metadata.map_or("", |metadata| &metadata.name);
            let name = if name.is_empty() { group.name.as_str() } else { name };
            let key = (namespace(metadata.map_or("", |metadata| &metadata.namespace)), name);
            if let Some(first) = groups.get(&key) {
                let object = format!("the pod `{}/{}-1-1`", key.0, key.1);
                self.add(object, of_group(*first), of_group(index));
            } else {
                groups.insert(key, index);
            }
        }
        for (index, pod) in objects.pods.iter().enumerate() {
            let Some((name, on_node)) = split_number(&pod.metadata.name) else { continue };
            let Some((name, number)) = split_number(name) else { continue };
            let key = (namespace(&pod.metadata.namespace), name);
            let Some(group) = groups.get(&key) else { continue };
            let is_made = objects
                .node_groups
                .get(*group)
                .is_some_and(|group| number <= group.count && on_node <= group.pods_per_node);
            if is_made {
                let object = format!("the pod `{}/{}`", key.0, pod.metadata.name);
                self.add(object, format!("objects.pods[{index}]"), of_group(*group));
            }
        }
    }
}

/// Kind, where names of several kinds are compared, then namespace and name.
type Name<'m> = [&'m str; 3];

fn name_of<'m>(kind: &'m str, metadata: &'m ObjectMeta) -> Name<'m> {
    [kind, namespace(&metadata.namespace), &metadata.name]
}

fn of_group(index: usize) -> String {
    format!("objects.nodeGroups[{index}]")
}

fn namespace(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}

/// Splits `web-12` into `web` and 12, if a group could have made it.
fn split_number(name: &str) -> Option<(&str, u32)> {
    let (name, digits) = name.rsplit_once('-')?;
    let number: u32 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some((name, number))
}
