//! What Kubernetes evicts, when and why: a deterministic policy engine without IO.
//!
//! This crate is pure. It reads no clock, no random source, no file and no global; time and inputs
//! are arguments, and everything it walks is ordered, so that the same inputs give the same bytes
//! on every platform. It is `no_std`, which makes a stray use of the outside a build error.
//!
//! # The contract
//!
//! A [`Simulator`](simulator::Simulator) owns a cluster and its controllers:
//!
//! 1. **Commands go in** at a time that you choose: `handle_command(now, command)`.
//! 2. **Time passes** when you say so: `advance_to(now)` (or `handle_timeout(now)`) does all that
//!    is due. Time never goes back; an earlier `now` is an error value.
//! 3. **Events come out**: after 1 or 2, call `poll_event()` until it gives nothing.
//! 4. **The next deadline is known, with its reason**: `poll_timeout()`. Nothing happens before
//!    it, so that an idle hour costs nothing.
//!
//! ```
//! use taintlab_core::api::{Node, Pod, Taint, TaintEffect, Toleration, TolerationOperator};
//! use taintlab_core::command::Command;
//! use taintlab_core::event::EventKind;
//! use taintlab_core::release::KubernetesRelease;
//! use taintlab_core::simulator::{Simulator, SimulatorConfig};
//! use taintlab_core::time::Timestamp;
//!
//! let mut node = Node::default();
//! node.metadata.name = "worker-1".into();
//! let mut pod = Pod::default();
//! pod.metadata.name = "web-0".into();
//! pod.spec.node_name = "worker-1".into();
//! pod.spec.tolerations.push(Toleration {
//!     key: "example.com/maintenance".into(),
//!     operator: TolerationOperator::Exists,
//!     effect: TaintEffect::NoExecute,
//!     toleration_seconds: Some(60),
//!     ..Toleration::default()
//! });
//!
//! let config = SimulatorConfig::of(KubernetesRelease::parse("1.34")?);
//! let mut simulator = Simulator::new(config, [node], [pod])?;
//!
//! // At 10 s somebody taints the node.
//! let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
//! let command = Command::Taint { node: "worker-1".into(), taint };
//! simulator.handle_command(Timestamp::from_secs(10), command)?;
//!
//! // Jump from deadline to deadline; nothing ever waits.
//! let mut marked_at = None;
//! while let Some(next) = simulator.poll_timeout() {
//!     simulator.handle_timeout(next.at)?;
//!     while let Some(event) = simulator.poll_event() {
//!         if let EventKind::EventRecorded(recorded) = event.what {
//!             assert_eq!(recorded.message, "Marking for deletion Pod default/web-0");
//!             marked_at = Some(event.at);
//!         }
//!     }
//! }
//! assert_eq!(marked_at, Some(Timestamp::from_secs(70)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The [`controllers`] implement two traits: of a [`Machine`](controllers::Machine) changes and time go
//! in and the next deadline comes out, of a [`Controller`](controllers::Controller) actions besides. Each can be driven alone, by a real watch for example:
//! see `core/examples`.
//!
//! The modules are layers, in three crates that this one shows as one:
//!
//! - `taintlab-rules`: [`time`], [`release`], [`api`]; [`protocol`], [`cluster`], [`queue`]; the pure
//!   rules of [`policy`], such as [`policy::matching`] (which toleration matches which taint, and
//!   why) and [`policy::validation`] (what the API server refuses).
//! - `taintlab-engine`: [`controllers`] and [`kubelet`]; [`command`] and [`event`]; [`simulator`].
//! - `taintlab-analysis`: [`scenario`], [`lanes`], [`condition`] and [`warnings`]; [`report`];
//!   [`plan`] and [`solve`].
#![no_std]

#[doc(inline)]
pub use taintlab_analysis::{condition, lanes, outage, plan, report, scenario, solve, warnings};
#[doc(inline)]
pub use taintlab_engine::{
    command, controllers, event, eviction_timeline, kubelet, pod_state, simulator,
};
#[doc(inline)]
pub use taintlab_rules::{
    api, cluster, order, plural, policy, protocol, queue, release, slices, time,
};
