//! Taints, tolerations and answers about them, between JavaScript and the engine, field by field.

pub(crate) mod decode;
pub(crate) mod encode;
