//! The components of the page, by subject: functions whose properties are cheap to compare.

pub(crate) mod board;
pub(crate) mod caption;
pub(crate) mod clock_bar;
pub(crate) mod console;
pub(crate) mod dialogs;
pub(crate) mod header;
pub(crate) mod lanes;
pub(crate) mod log;
pub(crate) mod notices;
pub(crate) mod pane;
pub(crate) mod panels;
pub(crate) mod parts;
pub(crate) mod questions;
pub(crate) mod story;
#[cfg(test)]
mod tests;
pub(crate) mod workloads;
