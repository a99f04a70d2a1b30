//! The pods that each budget selects, counted, so that a change of a pod does not look at all
//! budgets, nor a look at a budget at all of its pods.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{
    LabelSelector, OwnerReference, Pod, PodKey, Requirement, SelectorOperator,
};
use taintlab_rules::order::{OrderedMap, OrderedSet};

type Labels = BTreeMap<String, String>;

/// The pods of all budgets. Copies share what does not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage {
    budgets: OrderedMap<PodKey, Arc<Covered>>,
    /// By namespace.
    index: OrderedMap<String, Arc<SelectorIndex>>,
}

/// The budgets of a namespace by what their selectors require.
#[derive(Clone, Debug, Default)]
struct SelectorIndex {
    /// Those that require one of some values of a label, by label and value.
    by_label: OrderedMap<String, OrderedMap<String, OrderedSet<PodKey>>>,
    /// Those that require no such thing.
    others: OrderedSet<PodKey>,
}

/// The pods of a budget.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    selector: Option<LabelSelector>,
    pods: OrderedMap<PodKey, Seen>,
    healthy: i64,
    /// How many pods have each controller, or none. Entries keep their places.
    owners: Vec<(Option<OwnerReference>, usize)>,
}

/// A pod as it was when it was last counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    healthy: bool,
    /// The place of its controller.
    owner: usize,
}

impl Covered {
    fn selects(&self, pod: &Pod) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(&pod.metadata.labels))
    }

    /// How many pods there are.
    pub(super) fn len(&self) -> usize {
        self.pods.len()
    }

    /// How many of them are ready, and not terminating.
    pub(super) fn healthy(&self) -> i64 {
        self.healthy
    }

    /// Whether the pod is one of these.
    pub(super) fn is_healthy(&self, pod: &PodKey) -> bool {
        self.pods.get(pod).is_some_and(|seen| seen.healthy)
    }

    pub(super) fn contains(&self, pod: &PodKey) -> bool {
        self.pods.contains_key(pod)
    }

    /// All of them, by name.
    pub(super) fn pods(&self) -> impl Iterator<Item = &PodKey> {
        self.pods.keys()
    }

    /// The controllers of the pods, each once; `None` for pods without one.
    pub(super) fn owners(&self) -> impl Iterator<Item = Option<&OwnerReference>> {
        self.owners.iter().filter(|(_, pods)| *pods > 0).map(|(owner, _)| owner.as_ref())
    }

    /// Counts a pod as it is now.
    fn count(&mut self, key: &PodKey, pod: &Pod) {
        let controller = pod.metadata.controller();
        let is_it = |(owner, pods): &(Option<OwnerReference>, usize)| {
            *pods > 0 && owner.as_ref() == controller
        };
        let known = self.pods.get(key).copied();
        let same = known.filter(|seen| self.owners.get(seen.owner).is_some_and(is_it));
        let owner = same.map(|seen| seen.owner);
        let owner = owner.or_else(|| self.owners.iter().position(is_it));
        let seen = |owner| Seen { healthy: is_healthy(pod), owner };
        if let Some(owner) = owner
            && known == Some(seen(owner))
        {
            return;
        }
        self.forget(key);
        // A place whose last pod has gone is there for another controller.
        let free = || self.owners.iter().position(|(_, pods)| *pods == 0);
        let owner = owner.or_else(free).unwrap_or(self.owners.len());
        match self.owners.get_mut(owner) {
            Some((_, pods)) if *pods > 0 => *pods += 1,
            Some(place) => *place = (controller.cloned(), 1),
            None => self.owners.push((controller.cloned(), 1)),
        }
        self.healthy += i64::from(is_healthy(pod));
        self.pods.insert(key.clone(), seen(owner));
    }

    fn forget(&mut self, key: &PodKey) {
        let Some(seen) = self.pods.remove(key) else { return };
        self.healthy -= i64::from(seen.healthy);
        if let Some((_, pods)) = self.owners.get_mut(seen.owner) {
            *pods -= 1;
        }
    }
}

fn is_healthy(pod: &Pod) -> bool {
    !pod.is_terminating() && pod.has_ready_condition()
}

impl SelectorIndex {
    /// Files a budget under the requirement that the fewest others have.
    fn add(&mut self, budget: &PodKey, selector: Option<&LabelSelector>) {
        // Without a selector a budget has no pods.
        let Some(selector) = selector else { return };
        let requirements = selector.requirements.iter();
        let listed = requirements.filter(|one| one.operator == SelectorOperator::In);
        let Some(rarest) = listed.min_by_key(|one| self.shared(one)) else {
            self.others.insert(budget.clone());
            return;
        };
        let values = self.by_label.entry(rarest.key.clone()).or_default();
        for value in &rarest.values {
            values.entry(value.clone()).or_default().insert(budget.clone());
        }
    }

    /// How many budgets at most are filed under a value of the requirement.
    fn shared(&self, requirement: &Requirement) -> usize {
        let Some(known) = self.by_label.get(&requirement.key) else { return 0 };
        let budgets = requirement.values.iter().filter_map(|value| known.get(value));
        budgets.map(OrderedSet::len).max().unwrap_or(0)
    }

    fn remove(&mut self, budget: &PodKey) {
        self.others.remove(budget);
        for values in self.by_label.values_mut() {
            values.retain(|_, budgets| {
                budgets.remove(budget);
                !budgets.is_empty()
            });
        }
    }

    /// The budgets that may select a pod with these labels.
    fn candidates<'a>(&'a self, labels: &Labels) -> impl Iterator<Item = &'a PodKey> {
        let filed = labels.iter().filter_map(|(key, value)| self.by_label.get(key)?.get(value));
        self.others.iter().chain(filed.flatten())
    }
}

impl Coverage {
    pub(super) fn is_empty(&self) -> bool {
        self.budgets.is_empty()
    }

    pub(super) fn get(&self, budget: &PodKey) -> Option<&Arc<Covered>> {
        self.budgets.get(budget)
    }

    /// Whether a budget has another selector than was known, or was not known.
    pub(super) fn is_news(&self, budget: &PodKey, selector: Option<&LabelSelector>) -> bool {
        self.get(budget).is_none_or(|covered| covered.selector.as_ref() != selector)
    }

    /// Adds a budget in the place of one of its name; `pods` are those among which it selects.
    pub(super) fn put<'a>(
        &mut self,
        budget: &PodKey,
        selector: Option<LabelSelector>,
        pods: impl Iterator<Item = (&'a PodKey, &'a Arc<Pod>)>,
    ) {
        self.remove(budget);
        let index = self.index.entry(budget.namespace().into()).or_default();
        Arc::make_mut(index).add(budget, selector.as_ref());
        let mut covered = Covered { selector, ..Covered::default() };
        for (key, pod) in pods {
            if key.namespace() == budget.namespace() && covered.selects(pod) {
                covered.count(key, pod);
            }
        }
        self.budgets.insert(budget.clone(), Arc::new(covered));
    }

    pub(super) fn remove(&mut self, budget: &PodKey) {
        if self.budgets.remove(budget).is_some()
            && let Some(index) = self.index.get_mut(budget.namespace())
        {
            Arc::make_mut(index).remove(budget);
        }
    }

    /// The budgets that may select one of these versions of a pod, by name.
    fn candidates(&self, namespace: &str, versions: [Option<&Pod>; 2]) -> OrderedSet<PodKey> {
        let Some(index) = self.index.get(namespace) else { return OrderedSet::new() };
        let labels = versions.into_iter().flatten().map(|pod| &pod.metadata.labels);
        labels.flat_map(|labels| index.candidates(labels)).cloned().collect()
    }

    /// The budgets that select a pod, by name.
    pub(super) fn of(&self, pod: &Pod) -> Vec<PodKey> {
        let key = pod.key();
        let mut budgets = self.candidates(key.namespace(), [Some(pod), None]);
        budgets.retain(|budget| self.get(budget).is_some_and(|covered| covered.contains(&key)));
        budgets.into_iter().collect()
    }

    /// A pod was another one: the budgets that selected it or do so now, by name, with whether they
    /// do now.
    pub(super) fn observe(
        &mut self,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) -> Vec<(PodKey, bool)> {
        let mut concerned = Vec::new();
        for budget in self.candidates(key.namespace(), [old, new]) {
            let Some(covered) = self.budgets.get_mut(&budget) else { continue };
            let selected = new.filter(|pod| covered.selects(pod));
            match selected {
                Some(pod) => Arc::make_mut(covered).count(key, pod),
                None if covered.contains(key) => Arc::make_mut(covered).forget(key),
                None => continue,
            }
            concerned.push((budget, selected.is_some()));
        }
        concerned
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use serde_json::json;

    use super::*;

    fn pod(name: usize, app: &str, owner: Option<&str>, ready: bool) -> Arc<Pod> {
        let owners = owner.map(|owner| {
            let (version, kind) = ("apps/v1", "ReplicaSet");
            json!({ "apiVersion": version, "kind": kind, "name": owner, "controller": true })
        });
        let ready = if ready { "True" } else { "False" };
        let pod = json!({
            "metadata": {
                "name": format!("p{name}"),
                "namespace": "a",
                "labels": { "app": app, "tier": "web" },
                "ownerReferences": Vec::from_iter(owners),
            },
            "status": { "conditions": [{ "type": "Ready", "status": ready }] },
        });
        Arc::new(serde_json::from_value(pod).unwrap())
    }

    fn budgets() -> Vec<(PodKey, Option<LabelSelector>)> {
        let required = |labels: &[(&str, &str)]| {
            let mut selector = LabelSelector::default();
            for (key, value) in labels {
                selector.require(key, value);
            }
            Some(selector)
        };
        let mut either = LabelSelector::default();
        either.require("app", "x");
        either.requirements[0].values.push("y".into());
        let mut any = LabelSelector::default();
        any.requirements.push(Requirement {
            key: "app".into(),
            operator: SelectorOperator::Exists,
            values: Vec::new(),
        });
        let selectors = [
            required(&[("app", "x")]),
            required(&[("tier", "web"), ("app", "y")]),
            Some(either),
            Some(any),
            required(&[]),
            None,
        ];
        let named = selectors.into_iter().enumerate();
        named.map(|(at, selector)| (PodKey::new("a", &format!("b{at}")), selector)).collect()
    }

    /// Whatever pods become, what is counted is what a look at all of them finds.
    #[test]
    fn what_is_filed_and_counted_is_what_a_look_at_all_finds() {
        let mut coverage = Coverage::default();
        let mut pods: OrderedMap<PodKey, Arc<Pod>> = OrderedMap::new();
        let budgets = budgets();
        let (early, late) = budgets.split_at(3);
        for (budget, selector) in early {
            coverage.put(budget, selector.clone(), pods.iter());
        }
        let mut seed = 7_usize;
        for turn in 0..600 {
            if turn == 200 {
                for (budget, selector) in late {
                    coverage.put(budget, selector.clone(), pods.iter());
                }
            }
            seed = (seed * 1_103_515_245 + 12_345) % (1 << 31);
            let (name, app) = (seed / 7 % 12, ["x", "y", "z"][seed / 89 % 3]);
            let owner = [None, Some("s"), Some("t")][seed / 1_013 % 3];
            let new = (!(seed / 5_003).is_multiple_of(5))
                .then(|| pod(name, app, owner, (seed / 9).is_multiple_of(2)));
            let key = PodKey::new("a", &format!("p{name}"));
            let old = match &new {
                Some(new) => pods.insert(key.clone(), new.clone()),
                None => pods.remove(&key),
            };
            coverage.observe(&key, old.as_deref(), new.as_deref());
            let known = if turn < 200 { early } else { &budgets };
            for (budget, selector) in known {
                let covered = coverage.get(budget).unwrap();
                let selected = || {
                    pods.iter().filter(|(_, pod)| {
                        let labels = &pod.metadata.labels;
                        selector.as_ref().is_some_and(|selector| selector.matches(labels))
                    })
                };
                let keys: Vec<&PodKey> = selected().map(|(key, _)| key).collect();
                assert_eq!(covered.pods().collect::<Vec<_>>(), keys, "{budget}, turn {turn}");
                let healthy = selected().filter(|(_, pod)| is_healthy(pod)).count();
                assert_eq!(covered.healthy(), i64::try_from(healthy).unwrap(), "turn {turn}");
                let owners: OrderedSet<Option<&str>> = selected()
                    .map(|(_, pod)| pod.metadata.controller().map(|owner| owner.name.as_str()))
                    .collect();
                let counted: Vec<_> = covered.owners().map(|it| it.map(|it| &*it.name)).collect();
                assert_eq!(counted.len(), owners.len(), "each once, turn {turn}");
                assert_eq!(OrderedSet::from_iter(counted), owners, "turn {turn}");
            }
            for (_, pod) in pods.iter() {
                let selects = |covered: &Arc<Covered>| covered.selects(pod);
                let all =
                    known.iter().filter(|(budget, _)| coverage.get(budget).is_some_and(selects));
                let all: Vec<PodKey> = all.map(|(budget, _)| budget.clone()).collect();
                assert_eq!(coverage.of(pod), all, "turn {turn}");
            }
        }
    }
}
