//! Shared pieces of the tests.

pub mod conformance;
pub mod notation;
pub mod text;
