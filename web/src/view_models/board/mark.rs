//! The marks of the legend, by the state of a pod. The picture of the board and the cells of a
//! large one draw them.

use taintlab_core::pod_state::{PodHealth, PodVerdict};

/// A mark, by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Ready.
    Disc,
    /// Not ready.
    Ring,
    /// Starting.
    HalfRing,
    /// Pending.
    DashedRing,
    /// Unschedulable.
    DashedSquare,
    /// Succeeded.
    Target,
    /// Evicted, or failed.
    Slashed,
    /// Counting down.
    Diamond,
    /// Being deleted.
    Striped,
    /// Stuck Terminating.
    Bars,
    /// Orphaned, or gone.
    Square,
    /// No pod.
    Speck,
}

/// The colour of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    /// The pod stays and is well.
    Stays,
    /// The pod stays and is not ready.
    Unready,
    /// The pod has no node.
    Pending,
    /// The pod counts down.
    Counting,
    /// The pod is being deleted.
    Terminating,
    /// The pod has ended, or there is none.
    Past,
}

/// The mark of a node without pods.
pub(crate) const NO_POD: (Mark, Tone) = (Mark::Speck, Tone::Past);

/// The mark of a pod.
pub(crate) fn mark_of(verdict: PodVerdict, health: Option<PodHealth>) -> (Mark, Tone) {
    match verdict {
        PodVerdict::Counting => (Mark::Diamond, Tone::Counting),
        PodVerdict::Terminating => (Mark::Striped, Tone::Terminating),
        PodVerdict::Stuck => (Mark::Bars, Tone::Terminating),
        PodVerdict::Evicted => (Mark::Slashed, Tone::Past),
        PodVerdict::Gone => (Mark::Square, Tone::Past),
        PodVerdict::Orphaned => (Mark::Square, Tone::Terminating),
        PodVerdict::Stays => match health.unwrap_or(PodHealth::Ready) {
            PodHealth::Ready => (Mark::Disc, Tone::Stays),
            PodHealth::NotReady => (Mark::Ring, Tone::Unready),
            PodHealth::Starting => (Mark::HalfRing, Tone::Unready),
            PodHealth::Pending => (Mark::DashedRing, Tone::Pending),
            PodHealth::Unschedulable => (Mark::DashedSquare, Tone::Pending),
            PodHealth::Failed => (Mark::Slashed, Tone::Past),
            PodHealth::Succeeded => (Mark::Target, Tone::Past),
        },
    }
}
