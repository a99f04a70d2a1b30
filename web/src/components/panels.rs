//! The inspector: a panel for each kind of selection.

pub(crate) mod faults;
pub(crate) mod head;
pub(crate) mod inspector;
pub(crate) mod node;
pub(crate) mod overview;
pub(crate) mod pod;
pub(crate) mod pods;
pub(crate) mod workload;
pub(crate) mod zone;
