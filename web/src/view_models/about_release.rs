//! How the behaviour of a release is known.

use taintlab_core::release::{Change, KubernetesRelease};

/// The texts of changes, by subject.
pub(crate) type Changes = Vec<(String, Vec<String>)>;

/// The evidence for a release, the changes that came with it, and the changes up to it that are
/// only believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AboutRelease {
    /// The evidence.
    pub(crate) rests_on: String,
    /// The changes that came with it.
    pub(crate) came: Changes,
    /// The changes that are believed to have come by then.
    pub(crate) believed: Changes,
}

impl AboutRelease {
    /// The evidence for that release.
    pub(crate) fn of(release: KubernetesRelease) -> Self {
        Self {
            rests_on: release.rests_on(),
            came: changes(&|change| change.since == release),
            believed: changes(&|change| change.since <= release && change.is_believed()),
        }
    }
}

fn changes(is_wanted: &dyn Fn(&Change) -> bool) -> Changes {
    let all = Change::all().map(|(subject, changes)| {
        let wanted = changes.iter().filter(|change| is_wanted(change));
        (subject.to_owned(), wanted.map(Change::text).collect::<Vec<_>>())
    });
    all.filter(|(_, texts)| !texts.is_empty()).collect()
}
