//! The controllers and kubelets of Kubernetes as machines without IO, and the simulator that drives
//! them. `taintlab-core` shows this crate together with those around it, and has the contract.
//!
//! ```
//! use taintlab_engine::command::Command;
//! use taintlab_engine::event::EventKind;
//! use taintlab_engine::simulator::{Simulator, SimulatorConfig};
//! use taintlab_rules::api::{Node, Pod, Taint, TaintEffect};
//! use taintlab_rules::time::Timestamp;
//!
//! let mut node = Node::default();
//! node.metadata.name = "worker-1".into();
//! let mut pod = Pod::default();
//! pod.metadata.name = "web-0".into();
//! pod.spec.node_name = "worker-1".into();
//! let mut simulator = Simulator::new(SimulatorConfig::default(), [node], [pod])?;
//!
//! let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
//! let command = Command::Taint { node: "worker-1".into(), taint };
//! simulator.handle_command(Timestamp::from_secs(10), command)?;
//! simulator.advance_to(Timestamp::from_secs(20))?;
//!
//! let mut messages = Vec::new();
//! while let Some(event) = simulator.poll_event() {
//!     if let EventKind::EventRecorded(recorded) = event.what {
//!         messages.push(recorded.message.to_string());
//!     }
//! }
//! assert_eq!(messages, ["Marking for deletion Pod default/web-0"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
