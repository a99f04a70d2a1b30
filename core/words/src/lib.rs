//! Sentences and tables, worded once for the command and the page.
#![no_std]

extern crate alloc;

pub mod matching;
pub mod outage;
mod parts;
pub mod plan;
pub mod report;
pub mod solve;
mod table;

pub use self::table::{Style, table};
