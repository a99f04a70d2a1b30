//! The circumstances under which objects are printed.

use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;

use crate::table::human_duration;

/// The release whose wording is used, and the time to which ages refer.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The release of the API server and of `kubectl`.
    pub release: KubernetesRelease,
    /// The current time.
    pub now: Time,
}

impl View {
    /// The age of a time. Mirrors `translateTimestampSince`.
    pub(crate) fn age(self, time: Option<Time>) -> String {
        match time {
            None => "<unknown>".to_owned(),
            Some(time) if time <= self.now => human_duration(self.now.since(time)),
            // Clocks may differ by a second.
            Some(time) if time.since(self.now).as_secs() < 2 => "0s".to_owned(),
            Some(_) => "<invalid>".to_owned(),
        }
    }
}
