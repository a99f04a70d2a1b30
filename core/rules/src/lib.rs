//! The rules of Kubernetes as pure functions, and the words that they are about: objects, times,
//! releases, zones and queues. `taintlab-core` shows this crate together with those above it.
#![no_std]

extern crate alloc;

pub mod api;
pub mod cluster;
pub mod order;
pub mod plural;
pub mod policy;
pub mod protocol;
pub mod queue;
pub mod quote;
pub mod release;
pub mod slices;
pub mod time;
