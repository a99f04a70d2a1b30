//! Limits that stop hostile input.

/// How much a text may hold before reading it is given up with an error.
///
/// The defaults take a cluster of thousands of pods as `kubectl get -o yaml` prints it, and keep
/// the memory a text can ask for within a few times its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The length of the text in bytes, before and after aliases are put in place.
    pub bytes: usize,
    /// How deep lists and mappings may be nested.
    pub depth: usize,
    /// Scalars, lists and mappings, counted after aliases are put in place.
    pub nodes: usize,
    /// Objects (and documents) in all.
    pub objects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 512 << 20, depth: 100, nodes: 25_000_000, objects: 500_000 }
    }
}
