//! What Kubernetes evicts, when and why: a deterministic policy engine without IO.
#![no_std]

extern crate alloc;

pub mod api;
pub mod cluster;
pub mod command;
pub mod event;
pub mod matching;
mod quote;
mod quote;
pub mod release;
pub mod scenario;
pub mod simulator;
pub mod taint_eviction;
pub mod time;
pub mod timed_worker_queue;
pub mod validation;
