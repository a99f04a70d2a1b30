//! The newest of the times in a text.

use taintlab_core::time::Time;

/// The newest time seen so far.
#[derive(Debug, Default)]
pub(crate) struct Newest {
    pub(crate) time: Option<Time>,
    text: String,
}

impl Newest {
    pub(crate) fn see(&mut self, text: &str) {
        // Most times are older than the newest, so compare seconds before parsing.
        let seconds = |text: &str| text.get(..19).unwrap_or("").to_owned();
        if text.ends_with('Z') && !self.text.is_empty() && text.get(..19) < Some(&*self.text) {
            return;
        }
        let Ok(time) = Time::parse(text) else { return };
        if self.time.is_none_or(|newest| newest < time) {
            self.time = Some(time);
            self.text = seconds(&time.to_string());
        }
    }

    /// Takes over the newer of the two times.
    pub(crate) fn merge(&mut self, other: Self) {
        if other.time > self.time {
            *self = other;
        }
    }
}
