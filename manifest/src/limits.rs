//! How a text is read: limits that stop hostile input, and what is kept of it.

/// How much a text may hold before reading it is given up with an error.
///
/// The defaults take a cluster of thousands of pods as `kubectl get -o yaml` prints it, and keep
/// the memory a text can ask for within a few times its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The length of the text in bytes.
    pub bytes: usize,
    /// How deep lists and mappings may be nested.
    pub depth: usize,
    /// Scalars, lists and mappings.
    pub nodes: usize,
    /// Scalars, lists and mappings that anchors and aliases copy. Each 64 bytes of text count as
    /// one more.
    pub copies: usize,
    /// Objects (and documents) in all.
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

/// How a text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Where reading stops.
    pub limits: Limits,
    /// Whether to keep what is dropped otherwise, since the engine does not read it: what is
    /// secret, too.
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
