//! The objects that the warnings are about.

use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::order::OrderedMap;
use taintlab_core::slices::Pace;
use taintlab_core::warnings::{Severity, Subject, Warning};

use super::selection::Selection;
use crate::text::count;

/// The marks on the board, and the numbers of warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WarningMarks {
    /// Pods with the most pressing severity of their warnings. Notes give no mark: they are true of
    /// many pods, and nothing is wrong with these yet.
    pub(crate) pods: OrderedMap<PodKey, Severity>,
    /// Nodes with the most pressing severity of their warnings.
    pub(crate) nodes: OrderedMap<NodeName, Severity>,
    /// The numbers of critical warnings, warnings and notes.
    pub(crate) counts: [usize; 3],
}

impl WarningMarks {
    /// The marks of these warnings, made in slices.
    pub(crate) async fn of(warnings: &[Warning]) -> Self {
        let (mut marked, mut pace) = (Self::default(), Pace::every(1_000));
        // The most pressing come first, and stay.
        for Warning { severity, subjects, .. } in warnings {
            let [critical, warning, note] = &mut marked.counts;
            *match severity {
                Severity::Critical => critical,
                Severity::Warning => warning,
                Severity::Note => note,
            } += 1;
            if *severity == Severity::Note {
                continue;
            }
            for subject in subjects {
                pace.step().await;
                match subject {
                    Subject::Pod { name } => {
                        marked.pods.entry(name.clone()).or_insert(*severity);
                    }
                    Subject::Node { name } => {
                        marked.nodes.entry(name.clone()).or_insert(*severity);
                    }
                    Subject::Owner { .. }
                    | Subject::Budget { .. }
                    | Subject::ResourceClaim { .. }
                    | Subject::TaintRule { .. }
                    | Subject::Zone { .. } => {}
                }
            }
        }
        marked
    }
}

/// The numbers of each severity, in words: `1 critical warning, 2 notes`.
pub(crate) fn counted([critical, warning, note]: [usize; 3]) -> String {
    let all =
        [(critical, Severity::Critical), (warning, Severity::Warning), (note, Severity::Note)];
    let said = all.iter().filter(|(number, _)| *number > 0);
    let said: Vec<String> =
        said.map(|(number, severity)| count(*number, severity.noun())).collect();
    said.join(", ")
}

/// The numbers of warnings about an object, by severity.
pub(crate) fn counts_about(warnings: &[Warning], selection: &Selection) -> [usize; 3] {
    let about = |wanted: Severity| {
        let of = warnings.iter().filter(|one| one.severity == wanted && is_about(one, selection));
        of.count()
    };
    [about(Severity::Critical), about(Severity::Warning), about(Severity::Note)]
}

/// The selection of a click on an object.
pub(crate) fn selects(subject: &Subject) -> Option<Selection> {
    match subject {
        Subject::Pod { name } => Some(Selection::Pod(name.clone())),
        Subject::Node { name } => Some(Selection::Node(name.clone())),
        Subject::Zone { name } => Some(Selection::Zone(name.as_str().into())),
        Subject::Owner { .. }
        | Subject::Budget { .. }
        | Subject::ResourceClaim { .. }
        | Subject::TaintRule { .. } => None,
    }
}

/// Whether a warning is about that object.
pub(crate) fn is_about(warning: &Warning, selection: &Selection) -> bool {
    warning.subjects.iter().any(|subject| match (subject, selection) {
        (Subject::Owner { kind, name }, Selection::Workload(key)) => {
            key.kind.as_str() == kind.as_str() && key.name == *name
        }
        _ => selects(subject).as_ref() == Some(selection),
    })
}
