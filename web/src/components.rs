//! The parts of the page: small function components. Their properties are cheap to compare.

pub(crate) mod board;
pub(crate) mod budget;
pub(crate) mod clock_bar;
pub(crate) mod console;
pub(crate) mod create;
pub(crate) mod dialog;
pub(crate) mod dialogs;
pub(crate) mod event_log;
pub(crate) mod export;
pub(crate) mod faults;
pub(crate) mod fleet;
pub(crate) mod forms;
pub(crate) mod header;
pub(crate) mod help;
pub(crate) mod icon;
pub(crate) mod import;
pub(crate) mod inspector;
pub(crate) mod label_form;
pub(crate) mod node_card;
pub(crate) mod node_panel;
pub(crate) mod notices;
pub(crate) mod overview;
pub(crate) mod pod_mark;
pub(crate) mod pod_panel;
pub(crate) mod rates;
pub(crate) mod scenarios;
pub(crate) mod settings;
pub(crate) mod taint_form;
#[cfg(test)]
mod tests;
pub(crate) mod toleration_form;
pub(crate) mod warnings;
pub(crate) mod why;
pub(crate) mod workload_panel;
pub(crate) mod yaml_tab;
pub(crate) mod zone_panel;
