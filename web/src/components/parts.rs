//! Small parts that several views share: fields, buttons, signs, charts.

pub(crate) mod availability;
pub(crate) mod busy;
pub(crate) mod causes;
pub(crate) mod copy;
pub(crate) mod diagnostics;
pub(crate) mod draft;
pub(crate) mod forms;
pub(crate) mod icon;
pub(crate) mod label_form;
pub(crate) mod line_button;
pub(crate) mod modal;
pub(crate) mod name;
pub(crate) mod name_field;
pub(crate) mod new_row;
pub(crate) mod pod_mark;
pub(crate) mod prose;
pub(crate) mod severity;
pub(crate) mod splitter;
pub(crate) mod tabs;
pub(crate) mod taint_chip;
pub(crate) mod taint_editor;
pub(crate) mod tallies;
pub(crate) mod time_budget;
pub(crate) mod toleration_editor;
pub(crate) mod yaml_tab;
