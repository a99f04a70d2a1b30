//! Fuzz targets, and the search that runs them on stable Rust.
//!
//! A target is a function of bytes that panics where the code is wrong: that is what `cargo fuzz`
//! calls, too. [`mod@search`] makes bytes from numbers, so that a run comes again with its seed.

pub mod mutate;
pub mod search;
#[cfg(feature = "targets")]
pub mod targets;

pub use search::{Found, Limit, Target, search, show};
