//! How long pods take to start, as an annotation says.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use super::{START_UP_TIME_ANNOTATION, Workload};
use crate::time::parse_duration;

impl Workload {
    /// How long its pods take to start, if it says so.
    ///
    /// # Errors
    /// The annotation is no duration.
    pub fn start_up_time(&self) -> Result<Option<Duration>, String> {
        start_up_time(&self.metadata.annotations)
    }
}

/// What an object's annotation says of the time pods take to start.
pub(crate) fn start_up_time(
    annotations: &BTreeMap<String, String>,
) -> Result<Option<Duration>, String> {
    let Some(text) = annotations.get(START_UP_TIME_ANNOTATION) else { return Ok(None) };
    let time = parse_duration(text)
        .map_err(|error| format!("metadata.annotations[{START_UP_TIME_ANNOTATION}]: {error}"))?;
    Ok(Some(time))
}
