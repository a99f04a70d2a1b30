//! Pods that are alike for all others, and how many of them are on each node.
//!
//! What a pod says of other pods, by spread constraints and affinity, it says of their namespace,
//! labels and controller: one look at a group answers for all its pods. A Deployment is a group or
//! two, however many pods it has.

use alloc::string::String;
use alloc::sync::Arc;

use super::needs::PodNeeds;
use crate::api::{Labels, PodAffinity};
use crate::order::OrderedMap;

/// Namespace, kind and name of a controller.
pub(super) type OwnerKey = (String, String, String);

/// What other pods can tell of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PodGroup {
    pub(super) namespace: String,
    /// Its controller: kind and name, if it has one.
    pub(super) owner: Option<(String, String)>,
    pub(super) terminating: bool,
    pub(super) labels: Labels,
    /// What it says itself of other pods.
    pub(super) affinity: PodAffinity,
}

impl PodGroup {
    /// Whether it is a pod of that controller.
    pub(super) fn has_owner(&self, (namespace, kind, name): &OwnerKey) -> bool {
        let owner = self.owner.as_ref();
        self.namespace == *namespace
            && owner.is_some_and(|owner| owner.0 == *kind && owner.1 == *name)
    }

    /// The first that there could be of a namespace, or of a controller.
    const fn least(namespace: String, owner: Option<(String, String)>) -> Self {
        Self {
            namespace,
            owner,
            terminating: false,
            labels: Labels::new(),
            affinity: PodAffinity::NONE,
        }
    }
}

/// How many pods of a group are on each node, by the node's place.
pub(super) type CountByPlace = OrderedMap<usize, i64>;

/// The pods of a group.
#[derive(Clone, Debug)]
struct Members {
    nodes: Arc<CountByPlace>,
    /// The needs of the first pod; those of the others are the same or differ a little.
    needs: Arc<PodNeeds>,
}

/// The pods that are on nodes, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct PodGroups {
    all: OrderedMap<Arc<PodGroup>, Members>,
    /// How many of the groups say something about other pods.
    with_affinity: usize,
}

impl PodGroups {
    /// The group if it is there, so that its pods share it.
    pub(super) fn shared(&self, group: Arc<PodGroup>) -> Arc<PodGroup> {
        self.all.get_key_value(&group).map_or(group, |(known, _)| known.clone())
    }

    /// Counts a pod that comes to a node.
    pub(super) fn add(&mut self, group: &Arc<PodGroup>, needs: &Arc<PodNeeds>, place: usize) {
        if let Some(members) = self.all.get_mut(group) {
            *Arc::make_mut(&mut members.nodes).entry(place).or_default() += 1;
            return;
        }
        self.with_affinity += usize::from(!group.affinity.is_empty());
        let nodes = Arc::new(CountByPlace::from([(place, 1)]));
        self.all.insert(group.clone(), Members { nodes, needs: needs.clone() });
    }

    /// Counts a pod that leaves a node.
    pub(super) fn remove(&mut self, group: &Arc<PodGroup>, place: usize) {
        let Some(members) = self.all.get_mut(group) else { return };
        let nodes = Arc::make_mut(&mut members.nodes);
        if let Some(count) = nodes.get_mut(&place) {
            *count -= 1;
            if *count <= 0 {
                nodes.remove(&place);
            }
        }
        if nodes.is_empty() {
            self.all.remove(group);
            self.with_affinity -= usize::from(!group.affinity.is_empty());
        }
    }

    /// The groups that are there.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PodGroup, &CountByPlace)> {
        self.all.iter().map(|(group, members)| (group.as_ref(), members.nodes.as_ref()))
    }

    /// Those that say something about other pods, or `all`.
    pub(super) fn with_affinity(
        &self,
        all: bool,
    ) -> impl Iterator<Item = (&PodGroup, &CountByPlace)> {
        let any = (all || self.with_affinity > 0).then(|| self.iter());
        any.into_iter().flatten().filter(move |(group, _)| all || !group.affinity.is_empty())
    }

    /// Those of a controller.
    pub(super) fn of_owner<'a>(
        &'a self,
        owner: &'a OwnerKey,
    ) -> impl Iterator<Item = (&'a PodGroup, &'a CountByPlace)> {
        self.all_of_owner(owner).map(|(group, members)| (group.as_ref(), members.nodes.as_ref()))
    }

    /// Those of a controller, with what one of their pods needs.
    pub(super) fn needs_of_owner<'a>(
        &'a self,
        owner: &'a OwnerKey,
    ) -> impl Iterator<Item = (&'a Arc<PodGroup>, &'a Arc<PodNeeds>)> {
        self.all_of_owner(owner).map(|(group, members)| (group, &members.needs))
    }

    fn all_of_owner<'a>(
        &'a self,
        owner: &'a OwnerKey,
    ) -> impl Iterator<Item = (&'a Arc<PodGroup>, &'a Members)> {
        let (namespace, kind, name) = owner.clone();
        let least = PodGroup::least(namespace, Some((kind, name)));
        let known = self.all.range::<PodGroup>(&least..);
        known.take_while(|(group, _)| group.has_owner(owner))
    }

    /// Those of a namespace.
    pub(super) fn of_namespace<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a PodGroup, &'a CountByPlace)> {
        let least = PodGroup::least(namespace.into(), None);
        let known = self.all.range::<PodGroup>(&least..);
        let known = known.map(|(group, members)| (group.as_ref(), members.nodes.as_ref()));
        known.take_while(move |(group, _)| group.namespace == namespace)
    }
}
