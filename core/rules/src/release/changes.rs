//! What a release rests on: which of its differences from the others are known, and how.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{
    KubernetesRelease, disruption, feature_gates, jobs, kubectl, kubelet, node_lifecycle,
    scheduling, taint_eviction, workloads,
};
use crate::order::Order;

/// How it is known that a rule changed with a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The running code of both sides was recorded, and is what the engine is compared with.
    Recorded,
    /// The source of that release and of one before it, or of the change that says so, was read.
    Read,
    /// The rule was read, but with which minor release it came is inferred: from pull requests,
    /// release notes or enhancement proposals.
    Believed,
}

impl Basis {
    /// `recorded`, `read` or `believed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Read => "read",
            Self::Believed => "believed",
        }
    }
}

/// A rule that is another one from a release on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The method of [`KubernetesRelease`] that knows it.
    pub name: &'static str,
    /// The first release in which it is so.
    pub since: KubernetesRelease,
    /// How that is known.
    pub basis: Basis,
    doc: &'static str,
}

/// Subjects and their changes.
type Subject = (&'static str, &'static [&'static [Change]]);

const SUBJECTS: [Subject; 9] = [
    ("Taint eviction", &[taint_eviction::SINCE, taint_eviction::UNTIL, taint_eviction::CHANGES]),
    ("Node lifecycle", &[node_lifecycle::SINCE, node_lifecycle::UNTIL, node_lifecycle::CHANGES]),
    ("Kubelet", &[kubelet::SINCE, kubelet::UNTIL, kubelet::CHANGES]),
    ("Scheduler", &[scheduling::SINCE, scheduling::UNTIL, scheduling::CHANGES]),
    ("Workloads", &[workloads::SINCE, workloads::UNTIL, workloads::CHANGES]),
    ("Jobs", &[jobs::SINCE, jobs::UNTIL, jobs::CHANGES]),
    ("Budgets, evictions by the API, pod garbage collection", &[disruption::SINCE]),
    ("Feature gates", &[feature_gates::CHANGES]),
    ("kubectl", &[kubectl::SINCE, kubectl::UNTIL, kubectl::CHANGES]),
];

impl Change {
    pub(super) const fn new(
        name: &'static str,
        doc: &'static str,
        minor: u8,
        basis: Basis,
    ) -> Self {
        Self { name, since: KubernetesRelease::of(minor), basis, doc }
    }

    /// All of them by subject, those of a subject in the order in which they came.
    pub fn all() -> impl Iterator<Item = (&'static str, Vec<Self>)> {
        SUBJECTS.into_iter().map(|(subject, lists)| {
            let mut changes = lists.concat();
            changes.order_by_key(|change| change.since);
            (subject, changes)
        })
    }

    /// Whether the release is inferred, and not read.
    #[must_use]
    pub const fn is_believed(&self) -> bool {
        matches!(self.basis, Basis::Believed)
    }

    /// What changed, as Markdown: the first sentence of the method's doc. If the rule came to an
    /// end, it says until when it held.
    #[must_use]
    pub fn text(&self) -> String {
        let doc = self.doc.trim();
        let sentence = doc.split_once(". ").map_or(doc, |(first, _)| first);
        let sentence = sentence.trim_end_matches('.');
        let sentence = sentence.strip_prefix("Whether ").unwrap_or(sentence);
        let mut rest = sentence.chars();
        let first = rest.next().into_iter().map(|first| first.to_ascii_uppercase());
        first.chain(rest).collect()
    }
}

impl KubernetesRelease {
    /// What the answers of this release rest on, in a sentence or two.
    #[must_use]
    pub fn rests_on(self) -> String {
        let base = KubernetesRelease::of(20);
        if self == base {
            return "Verified against recordings of the running code of Kubernetes 1.20.2.".into();
        }
        let between = |change: &Change| match self < base {
            true => self < change.since && change.since <= base,
            false => base < change.since && change.since <= self,
        };
        let changes = Change::all().flat_map(|(_, changes)| changes);
        let changes: Vec<Change> = changes.filter(between).collect();
        let known = |basis| changes.iter().filter(|change| change.basis == basis).count();
        let (read, believed) = (known(Basis::Read), known(Basis::Believed));
        let recorded = match known(Basis::Recorded) {
            0 => String::new(),
            recorded => format!("{recorded} recorded, "),
        };
        let which = match self < base {
            true => format!("without {} changes since {self}", changes.len()),
            false => format!("with {} changes up to {self}", changes.len()),
        };
        let mut text = format!(
            "Recorded from 1.20.2, {which}: {recorded}{read} read in Kubernetes' source, {believed} \
             believed to have come with their release."
        );
        text += match self.minor {
            18 => " Its taint manager (1.18.6) was recorded.",
            33 => " A control plane of 1.33.5 was recorded, and is played beside it.",
            34 => " A control plane of 1.34.2 was recorded, and is played beside it.",
            36 => " Its running code and a control plane of 1.36.2 were recorded.",
            _ => "",
        };
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_believed_says_so() {
        let doubts = ["not certain", "taken to"];
        for (subject, changes) in Change::all() {
            assert!(!changes.is_empty(), "{subject}");
            for change in changes {
                assert!(change.since > KubernetesRelease::OLDEST, "{change:?}");
                assert!(change.since <= KubernetesRelease::NEWEST, "{change:?}");
                assert!(change.text().len() > 20, "{change:?}");
                let is_method = change.doc.starts_with(' ');
                let in_doubt = doubts.iter().any(|doubt| change.doc.contains(doubt));
                if is_method {
                    assert_eq!(change.basis == Basis::Believed, in_doubt, "{change:?}");
                }
            }
        }
    }

    /// A method that compares releases cannot be forgotten in the lists.
    #[test]
    fn every_method_is_listed() {
        let sources = [
            include_str!("disruption.rs"),
            include_str!("jobs.rs"),
            include_str!("kubectl.rs"),
            include_str!("kubelet.rs"),
            include_str!("node_lifecycle.rs"),
            include_str!("scheduling.rs"),
            include_str!("taint_eviction.rs"),
            include_str!("workloads.rs"),
        ];
        let methods = sources.iter().flat_map(|source| source.split("pub const fn ").skip(1));
        let all: Vec<Change> = Change::all().flat_map(|(_, all)| all).collect();
        for method in methods {
            let name = method.split('(').next().unwrap();
            assert!(all.iter().any(|change| change.name == name), "`{name}` is in no `changes!`");
        }
    }

    #[test]
    fn a_release_says_what_it_rests_on() {
        let said = |minor| KubernetesRelease::of(minor).rests_on();
        assert!(
            said(20).starts_with(
                "Verified against recordings of the running code of Kubernetes 1.20.2"
            )
        );
        assert!(said(18).ends_with("Its taint manager (1.18.6) was recorded."), "{}", said(18));
        assert!(said(31).contains("changes up to 1.31: "), "{}", said(31));
        assert!(said(34).contains("A control plane of 1.34.2 was recorded"), "{}", said(34));
        assert!(said(36).contains("a control plane of 1.36.2 were recorded"), "{}", said(36));
        assert!(said(37).contains("changes up to 1.37: "), "{}", said(37));
        assert!(said(37).ends_with("believed to have come with their release."), "{}", said(37));
        assert!(said(18).contains(": 1 recorded, "), "{}", said(18));
        assert!(said(35).contains(": 2 recorded, "), "{}", said(35));
        assert!(!said(33).contains("1.33: 1 recorded, "), "{}", said(33));
        let number = |text: &String| {
            let words = text.split("with ").nth(1).unwrap();
            words.split(' ').next().unwrap().parse::<usize>().unwrap()
        };
        for minor in 21..KubernetesRelease::NEWEST.minor {
            assert!(number(&said(minor)) <= number(&said(minor + 1)), "{minor}");
        }
    }
}
