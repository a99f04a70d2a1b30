//! What Kubernetes evicts, when and why: a deterministic policy engine without IO.
#![no_std]

extern crate alloc;

pub mod api;
pub mod cluster;
pub mod command;
pub mod event;
pub mod flowcontrol;
pub mod matching;
pub mod node_lifecycle;
mod quote;
pub mod rate_limited_timed_queue;
pub mod release;
pub mod scenario;
pub mod simulator;
pub mod taint_eviction;
pub mod taints;
pub mod time;
pub mod timed_worker_queue;
pub mod validation;
