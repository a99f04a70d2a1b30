//! Expectations in words.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use taintlab_rules::api::PodKey;
use taintlab_rules::plural::count;
use taintlab_rules::time::Span;

use super::{AvailabilityExpectation, EventExpectation, Expectation, TaintExpectation, Window};

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicted(e) => write!(f, "{} is evicted{}", e.pod, e.window()),
            Self::NotEvicted(e) => write!(f, "{} is not evicted{}", e.pod, e.window()),
            Self::Gone(e) => write!(f, "{} is gone{}", e.pod, e.window()),
            Self::Present(e) => write!(f, "{} is still there", e.pod),
            Self::Event(e) => {
                write!(f, "{e} is recorded{}", e.window())?;
                e.times.map_or(Ok(()), |times| write!(f, ", {}", count(times, "time")))
            }
            Self::NoEvent(e) => write!(f, "{e} is not recorded{}", e.window()),
            Self::NodeTainted(e) => {
                write!(f, "node {} is tainted {e}{}", e.node, e.window())
            }
            Self::NodeNotTainted(e) => {
                write!(f, "node {} is not tainted {e}{}", e.node, e.window())
            }
            Self::NodeUntainted(e) => {
                write!(f, "node {} loses the taint {e}{}", e.node, e.window())
            }
            Self::NodeCondition(e) => {
                write!(f, "node {} becomes {}={}{}", e.node, e.type_, e.status, e.window())
            }
            Self::NoNodeCondition(e) => {
                write!(f, "node {} does not become {}={}{}", e.node, e.type_, e.status, e.window())
            }
            Self::ZoneState(e) => {
                write!(f, "{} becomes {}{}", zone(&e.zone), e.state, e.window())
            }
            Self::NoZoneState(e) => {
                write!(f, "{} does not become {}{}", zone(&e.zone), e.state, e.window())
            }
            Self::ZoneRate(e) => {
                write!(f, "{} gets {} nodes a second{}", zone(&e.zone), e.rate, e.window())
            }
            Self::Ranking(e) => {
                write!(f, "for {} of {} the order is {}", e.signal, e.node, list(&e.pods))
            }
            Self::Available(e) => {
                write!(f, "{} of {} is {}", e.signal, e.node, e.amount)
            }
            Self::ReadyReplicas(e) => {
                let (pods, are) = pods(e.replicas);
                write!(f, "{pods} of {} {are} ready{}", e.workload, e.window())
            }
            Self::NoReadyReplicas(e) => {
                let (pods, are) = pods(e.replicas);
                write!(f, "not {pods} of {} {are} ready{}", e.workload, e.window())
            }
            Self::Availability(e) => {
                write!(f, "availability of {}:", e.workload)?;
                for (name, value) in e.fields() {
                    if let Some(value) = value {
                        write!(f, " {name} {value}")?;
                    }
                }
                Ok(())
            }
            Self::Scheduled(e) => {
                let on = if e.node.is_empty() { "a node" } else { &e.node };
                write!(f, "{} is scheduled to {on}{}", e.pod, e.window())
            }
            Self::NotScheduled(e) => {
                let on = if e.node.is_empty() { "a node" } else { &e.node };
                write!(f, "{} is not scheduled to {on}{}", e.pod, e.window())
            }
            Self::PodsOn(e) => {
                let on = if e.node.is_empty() { "no node" } else { &e.node };
                let (pods, are) = pods(e.pods);
                write!(f, "{pods} of {} {are} on {on}", e.workload)
            }
            Self::PodStatus(e) => write!(f, "{} is {}", e.pod, e.status),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, time) in [("at", self.at), ("from", self.from), ("by", self.by)] {
            if let Some(time) = time {
                write!(f, " {word} {time}")?;
            }
        }
        Ok(())
    }
}

/// The taint as text; `*` if any key matches.
impl fmt::Display for TaintExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", if self.key.is_empty() { "*" } else { &self.key }, self.effect)
    }
}

impl fmt::Display for EventExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("event")?;
        if let Some(reason) = &self.reason {
            write!(f, " {reason}")?;
        }
        if let Some(message) = &self.message {
            write!(f, " \"{message}\"")?;
        }
        if let Some(pod) = &self.pod {
            write!(f, " about pod {pod}")?;
        }
        if let Some(node) = &self.node {
            write!(f, " about node {node}")?;
        }
        if let Some(workload) = &self.workload {
            write!(f, " about {workload}")?;
        }
        Ok(())
    }
}

/// A zone in a sentence.
fn zone(text: &str) -> String {
    if text.is_empty() { "nodes without a zone".into() } else { format!("zone {text}") }
}

impl AvailabilityExpectation {
    pub(super) fn fields(&self) -> [(&'static str, Option<Span>); 3] {
        [
            ("longestBelow", self.longest_below),
            ("longestAtZero", self.longest_at_zero),
            ("replicaTimeLost", self.replica_time_lost),
        ]
    }
}

/// Number of pods in words, and the matching verb.
fn pods(number: u32) -> (String, &'static str) {
    (count(number, "pod"), if number == 1 { "is" } else { "are" })
}

/// Pods in a sentence.
pub(super) fn list(pods: &[PodKey]) -> String {
    let names: Vec<String> = pods.iter().map(ToString::to_string).collect();
    names.join(", ")
}
