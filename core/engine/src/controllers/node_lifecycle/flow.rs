//! Concurrent work of the controller: workers, and the client that they share.
//!
//! Upstream these are goroutines. Here each is a [`Flow`] of steps that sleeps during a request or
//! while it waits for a token.

use alloc::collections::VecDeque;
use core::time::Duration;

use taintlab_rules::api::NodeName;
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::queue::flowcontrol::TokenBucketRateLimiter;
use taintlab_rules::time::Timestamp;

use super::config::{DEFAULT_QPS, NodeLifecycleConfig};
use super::work::Step;

/// Nodes whose `NoSchedule` taints are updated in parallel. Mirrors `scheduler.UpdateWorkerSize`.
const NODE_WORKERS: usize = 8;
/// Newly bound pods that are processed in parallel. Mirrors `podUpdateWorkerSize`.
const POD_WORKERS: usize = 4;
/// Default burst of a client. Mirrors `rest.DefaultBurst`.
const DEFAULT_BURST: i32 = 10;

/// Kind of work that a flow belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FlowKind {
    /// A worker of the health pass.
    Pass,
    /// A tainting pass, or in the legacy path an eviction pass.
    Tainting,
    /// A changed node.
    Node(NodeName),
    /// A newly bound pod.
    Pod,
}

/// A sleeping sequence of steps.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) kind: FlowKind,
    pub(super) steps: VecDeque<Step>,
}

/// The flows of a controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// Kind of the current steps.
    pub(super) current: Option<FlowKind>,
    pub(super) asleep: OrderedMap<(Timestamp, u64), Flow>,
    pub(super) sequence: u64,
    /// Nodes in progress that have changed again.
    pub(super) changed: OrderedSet<NodeName>,
}

impl Flows {
    /// Time at which the next flow continues.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.asleep.first_key_value().map(|((at, _), _)| *at)
    }

    fn count(&self, is_meant: impl Fn(&FlowKind) -> bool) -> usize {
        self.asleep.values().filter(|flow| is_meant(&flow.kind)).count()
    }

    /// Whether a worker for another node is free.
    pub(super) fn has_node_worker(&self) -> bool {
        self.count(|kind| matches!(kind, FlowKind::Node(_))) < NODE_WORKERS
    }

    /// Whether a worker for another pod is free.
    pub(super) fn has_pod_worker(&self) -> bool {
        self.count(|kind| *kind == FlowKind::Pod) < POD_WORKERS
    }

    /// Whether a tainting pass is in progress.
    pub(super) fn is_tainting(&self) -> bool {
        !self.asleep.is_empty() && self.count(|kind| *kind == FlowKind::Tainting) > 0
    }

    /// Whether a node is in progress; if so, it is looked at again afterwards.
    pub(super) fn defer(&mut self, name: &NodeName) -> bool {
        let is_at_hand = !self.asleep.is_empty()
            && self.count(|kind| matches!(kind, FlowKind::Node(node) if node == name)) > 0;
        if is_at_hand {
            self.changed.insert(name.clone());
        }
        is_at_hand
    }
}

/// Client of the controller: all its requests wait for tokens from one bucket, as do its Events,
/// which are sent one after the other alongside the other requests.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// `None` means no limit.
    bucket: Option<TokenBucketRateLimiter>,
    /// Number of unsent Events, and the time of the next one.
    events: u64,
    event_at: Timestamp,
    write_time: Duration,
}

impl Client {
    /// A client with a full burst; there is no limit if writes take no time.
    pub(crate) fn new(config: &NodeLifecycleConfig) -> Self {
        let or = |value: f32| if value == 0.0 { DEFAULT_QPS } else { value };
        let burst = if config.kube_api_burst == 0 { DEFAULT_BURST } else { config.kube_api_burst };
        let is_throttled = !config.write_time.is_zero() && config.kube_api_qps >= 0.0;
        Self {
            bucket: is_throttled
                .then(|| TokenBucketRateLimiter::new(or(config.kube_api_qps), burst)),
            events: 0,
            event_at: Timestamp::ZERO,
            write_time: config.write_time,
        }
    }

    /// Records an Event, which is sent after the earlier ones.
    pub(crate) fn record(&mut self, now: Timestamp) {
        if self.bucket.is_some() {
            self.send_events(now);
            if self.events == 0 {
                self.event_at = self.event_at.max(now);
            }
            self.events += 1;
        }
    }

    /// Time at which a request made now is sent.
    pub(crate) fn reserve(&mut self, now: Timestamp) -> Timestamp {
        self.send_events(now);
        self.bucket.as_mut().map_or(now, |bucket| bucket.reserve(now))
    }

    /// Takes tokens for the Events whose turn has come.
    fn send_events(&mut self, now: Timestamp) {
        let Some(bucket) = &mut self.bucket else { return };
        while self.events > 0 && self.event_at <= now {
            self.events -= 1;
            self.event_at = bucket.reserve(self.event_at).saturating_add(self.write_time);
        }
    }
}
