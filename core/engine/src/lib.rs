//! The controllers and kubelets of Kubernetes as machines without IO, and the simulator that drives
//! them. `taintlab-core` shows this crate together with those around it, and has the contract.
#![no_std]

extern crate alloc;

mod api_server;
pub mod command;
pub mod controllers;
pub mod event;
pub mod eviction_timeline;
pub mod kubelet;
pub mod pod_state;
pub mod simulator;
