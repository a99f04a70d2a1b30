//! Rules that hold by themselves: values in, an answer out.

pub mod admission;
pub mod devices;
pub mod drain;
pub mod endpoints;
pub mod eviction;
pub mod matching;
pub mod scheduling;
pub mod taints;
pub mod validation;
