//! Options of reading a text: limits that stop hostile input, and the fields to keep.

/// The most that a text may hold; beyond it, reading ends with an error.
///
/// The defaults take a cluster of thousands of pods as `kubectl get -o yaml` prints it, and keep
/// the memory a text can ask for within a few times its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Length of the text in bytes.
    pub bytes: usize,
    /// Nesting depth of lists and mappings.
    pub depth: usize,
    /// Number of scalars, lists and mappings.
    pub nodes: usize,
    /// Scalars, lists and mappings that anchors and aliases copy. Every 64 bytes of text count as
    /// one more.
    pub copies: usize,
    /// Objects and documents in all.
    pub objects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 512 << 20,
            depth: 100,
            nodes: 50_000_000,
            copies: 1_000_000,
            objects: 500_000,
        }
    }
}

/// Options of reading a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// The limits at which reading stops.
    pub limits: Limits,
    /// Whether to keep the fields that the engine does not read, secrets included; otherwise they
    /// are dropped.
    pub keep_all: bool,
}

impl ImportOptions {
    /// Keeps everything, within the default limits.
    #[must_use]
    pub fn keep_all() -> Self {
        Self { keep_all: true, ..Self::default() }
    }
}

impl From<&Limits> for ImportOptions {
    fn from(limits: &Limits) -> Self {
        Self { limits: *limits, keep_all: false }
    }
}
