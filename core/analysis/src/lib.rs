//! Questions about simulated clusters: scenarios with expectations, lanes, warnings, resilience
//! reports, plans, and settings that are found. `taintlab-core` shows this crate together with those
//! below it.
#![no_std]

extern crate alloc;

pub mod condition;
pub mod lanes;
pub mod outage;
pub mod plan;
pub mod report;
pub mod scenario;
pub mod solve;
pub mod warnings;
