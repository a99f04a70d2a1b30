//! A verb: its name, its flags, and the function that runs it.

use crate::failure::Failure;
use crate::flags::{self, Arguments, Flag};
use crate::session::Session;

/// The function that runs a verb.
type Run = fn(&mut Session<'_>, &Arguments) -> Result<(), Failure>;

/// A verb.
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// The text after `kubectl` in the usage line.
    pub(crate) usage: &'static str,
    /// A sentence that says what the verb does.
    pub(crate) about: &'static str,
    pub(crate) examples: &'static str,
    pub(crate) flags: &'static [&'static Flag],
    pub(crate) run: Run,
}

/// Flags that every verb has.
pub(crate) static COMMON: [&Flag; 2] = [&flags::NAMESPACE, &flags::HELP];

impl Verb {
    /// The verb's flags, and those that every verb has.
    pub(crate) fn all_flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.flags.iter().chain(&COMMON).copied()
    }
}
