//! How long pods take to start and to end, and run in between, as annotations say.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use super::{RUN_TIME_ANNOTATION, SHUTDOWN_TIME_ANNOTATION, START_UP_TIME_ANNOTATION, Workload};
use crate::time::parse_duration;

impl Workload {
    /// How long its pods take to start, if it says so.
    ///
    /// # Errors
    /// The annotation is no duration.
    pub fn start_up_time(&self) -> Result<Option<Duration>, String> {
        duration_of(&self.metadata.annotations, START_UP_TIME_ANNOTATION)
    }

    /// How long its pods take to end, if it says so.
    ///
    /// # Errors
    /// The annotation is no duration.
    pub fn shutdown_time(&self) -> Result<Option<Duration>, String> {
        duration_of(&self.metadata.annotations, SHUTDOWN_TIME_ANNOTATION)
    }

    /// How long the containers of its pods run, if it says so.
    ///
    /// # Errors
    /// The annotation is no duration.
    pub fn run_time(&self) -> Result<Option<Duration>, String> {
        duration_of(&self.metadata.annotations, RUN_TIME_ANNOTATION)
    }
}

/// The duration that an annotation of an object says.
pub fn duration_of(
    annotations: &BTreeMap<String, String>,
    name: &str,
) -> Result<Option<Duration>, String> {
    let Some(text) = annotations.get(name) else { return Ok(None) };
    let time =
        parse_duration(text).map_err(|error| format!("metadata.annotations[{name}]: {error}"))?;
    Ok(Some(time))
}
