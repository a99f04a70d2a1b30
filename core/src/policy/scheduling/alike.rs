//! What is known of nodes from placing pods that were alike: a node on which nothing has changed
//! since gives the same answers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::snapshot::{NodeInfo, PodNeeds};

/// Of so many kinds of pods the answers are kept.
const KINDS: usize = 8;

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

/// The answers to pods of several kinds. It is no state: a copy begins without.
#[derive(Debug, Default)]
pub(super) struct KnownAnswers(Vec<(Arc<PodNeeds>, Answers)>);

impl Clone for KnownAnswers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl KnownAnswers {
    /// Takes out the answers to pods that need this.
    pub(super) fn take(&mut self, needs: &Arc<PodNeeds>) -> Answers {
        let known = self.0.iter().position(|(known, _)| known.is_like(needs));
        known.map(|at| self.0.remove(at).1).unwrap_or_default()
    }

    /// Keeps them, in the place of those that were not asked for the longest time.
    pub(super) fn keep(&mut self, needs: Arc<PodNeeds>, answers: Answers) {
        if self.0.len() >= KINDS {
            self.0.remove(0);
        }
        self.0.push((needs, answers));
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
