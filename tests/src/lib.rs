//! Shared pieces of the tests.

pub mod conformance;
pub mod lifecycle;
