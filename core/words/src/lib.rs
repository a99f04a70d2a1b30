//! The sentences and tables of reports, worded once for the command and the page.
#![no_std]

extern crate alloc;

pub mod report;
mod table;

pub use self::table::{Style, table};
