//! What is known of nodes from placing pods that were alike: a node on which nothing has changed
//! since gives the same answers.

use crate::order::OrderedMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::info::NodeInfo;
use super::needs::PodNeeds;
use super::plugins::Rejectors;

/// Of so many kinds of pods the answers are kept.
const KINDS: usize = 24;

/// What a node says to a pod by itself, whatever is on other nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Whether no filter that looks at the node alone keeps the pod off.
    pub(super) fits: bool,
    /// `PreferNoSchedule` taints that are not tolerated.
    pub(super) taints: i64,
    /// Preferred node affinity.
    pub(super) labels: i64,
    /// Resources left, and how evenly they are used.
    pub(super) least_allocated: i64,
    pub(super) balanced: i64,
}

/// The answers of nodes to pods that need the same, by the place of the node, each with the
/// version of the node.
pub(super) type Answers = Vec<Option<(u64, Answer)>>;

/// The answers to pods of several kinds, and the values of labels. It is no state: a copy begins
/// without answers.
#[derive(Debug, Default)]
pub(super) struct KnownAnswers {
    answers: Vec<(Arc<PodNeeds>, Answers)>,
    pub(super) labels: LabelValues,
    failures: Vec<Failure>,
    /// That of the pod that was placed last.
    failed: Option<usize>,
}

/// Pods that need this fit on no node.
#[derive(Debug)]
struct Failure {
    needs: Arc<PodNeeds>,
    /// The state of the nodes at that moment: see `Snapshot::stamp`.
    at: (u64, u64),
    /// The message, and which plugins rejected it.
    said: Option<(String, Rejectors)>,
}

impl Clone for KnownAnswers {
    fn clone(&self) -> Self {
        Self { labels: self.labels.clone(), ..Self::default() }
    }
}

impl KnownAnswers {
    /// Takes out the answers to pods that need this.
    pub(super) fn take(&mut self, needs: &Arc<PodNeeds>) -> Answers {
        let known = self.answers.iter().position(|(known, _)| known.are_like(needs));
        known.map(|at| self.answers.remove(at).1).unwrap_or_default()
    }

    /// Keeps them, in the place of those that were not asked for the longest time.
    pub(super) fn keep(&mut self, needs: Arc<PodNeeds>, answers: Answers) {
        if self.answers.len() >= KINDS {
            self.answers.remove(0);
        }
        self.answers.push((needs, answers));
    }

    /// Another pod is placed.
    pub(super) fn begin(&mut self) {
        self.failed = None;
    }

    /// Whether it is known that pods with these needs go nowhere, if nothing but the nodes
    /// themselves matters to them.
    pub(super) fn fails(&mut self, needs: &PodNeeds, at: (u64, u64)) -> bool {
        let is_it = |it: &Failure| it.at == at && it.needs.are_like(needs);
        self.failed = self.failures.iter().position(is_it);
        self.failed.is_some()
    }

    /// Such a pod was found to fit nowhere.
    pub(super) fn fail(&mut self, needs: Arc<PodNeeds>, at: (u64, u64)) {
        self.failures.retain(|known| known.at == at);
        if self.failures.len() >= KINDS {
            self.failures.remove(0);
        }
        self.failed = Some(self.failures.len());
        self.failures.push(Failure { needs, at, said: None });
    }

    /// The message for pods like the one placed last, if it fits nowhere.
    pub(super) fn known_failure(&self) -> Option<(String, Rejectors)> {
        self.failures.get(self.failed?)?.said.clone()
    }

    /// Keeps what is said of the pod that was placed last.
    pub(super) fn keep_failure(&mut self, message: &str, rejectors: Rejectors) {
        if let Some(failure) = self.failed.and_then(|at| self.failures.get_mut(at)) {
            failure.said = Some((message.to_string(), rejectors));
        }
    }
}

/// The answer of a node, if it is known and still holds; otherwise it is asked.
pub(super) fn answer_of(
    answers: &mut Answers,
    node: &NodeInfo,
    ask: impl FnOnce() -> Answer,
) -> Answer {
    if answers.len() <= node.place {
        answers.resize(node.place + 1, None);
    }
    match answers.get(node.place) {
        Some(Some((version, answer))) if *version == node.version => *answer,
        _ => {
            let answer = ask();
            if let Some(place) = answers.get_mut(node.place) {
                *place = Some((node.version, answer));
            }
            answer
        }
    }
}

/// The values of some labels of all nodes as numbers, which are compared faster than texts.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelValues {
    /// The version of the nodes' labels: see `Snapshot::label_changes`.
    changes: u64,
    columns: OrderedMap<String, Arc<LabelColumn>>,
    /// Room for what is said of many nodes, so that not each pod asks for memory.
    pub(super) room: Room,
}

/// Numbers of nodes.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// By the place of the node: all 0 while it is not in use.
    pub(super) counts: Vec<i64>,
    /// Of the nodes that fit, in their order.
    pub(super) sums: Vec<f64>,
    pub(super) raw: Vec<i64>,
    pub(super) normalised: Vec<i64>,
}

/// A copy has a room of its own.
impl Clone for Room {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The values of one label.
#[derive(Debug)]
pub(super) struct LabelColumn {
    /// The number of the value, by the place of the node; `None` for a node without the label.
    numbers: Vec<Option<usize>>,
    /// How many values there are.
    pub(super) values: usize,
}

impl LabelValues {
    /// The values of a label among the nodes, whose labels have changed so often.
    pub(super) fn of<'n>(
        &mut self,
        nodes: impl Iterator<Item = &'n NodeInfo>,
        changes: u64,
        label: &str,
    ) -> Arc<LabelColumn> {
        if self.changes != changes {
            self.columns.clear();
            self.changes = changes;
        }
        if let Some(known) = self.columns.get(label) {
            return known.clone();
        }
        let column = Arc::new(LabelColumn::new(nodes, label));
        self.columns.insert(label.to_string(), column.clone());
        column
    }
}

impl LabelColumn {
    fn new<'n>(nodes: impl Iterator<Item = &'n NodeInfo>, label: &str) -> Self {
        let mut known: OrderedMap<&'n str, usize> = OrderedMap::new();
        let mut numbers = Vec::new();
        for node in nodes {
            let Some(value) = node.labels.get(label) else { continue };
            let next = known.len();
            let number = *known.entry(value).or_insert(next);
            if numbers.len() <= node.place {
                numbers.resize(node.place + 1, None);
            }
            if let Some(place) = numbers.get_mut(node.place) {
                *place = Some(number);
            }
        }
        Self { values: known.len(), numbers }
    }

    /// The number of a node's value.
    pub(super) fn of(&self, node: &NodeInfo) -> Option<usize> {
        self.numbers.get(node.place).copied().flatten()
    }
}
