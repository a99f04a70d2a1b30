//! Questions about simulated clusters: scenarios with expectations, lanes, warnings, resilience
//! reports, plans, and settings that are found. `taintlab-core` shows this crate together with those
//! below it.
//!
//! ```
//! use taintlab_analysis::condition::Condition;
//! use taintlab_engine::command::Command;
//! use taintlab_engine::simulator::{Simulator, SimulatorConfig};
//! use taintlab_rules::api::{Node, Taint, TaintEffect};
//! use taintlab_rules::time::Timestamp;
//!
//! let mut node = Node::default();
//! node.metadata.name = "worker-1".into();
//! let mut simulator = Simulator::new(SimulatorConfig::default(), [node], [])?;
//! let tainted = Condition::parse("node/worker-1 tainted", &simulator)?;
//! assert!(!tainted.holds(&simulator));
//!
//! let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
//! let command = Command::Taint { node: "worker-1".into(), taint };
//! simulator.handle_command(Timestamp::from_secs(10), command)?;
//! simulator.advance_to(Timestamp::from_secs(11))?;
//! assert!(tainted.holds(&simulator));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
