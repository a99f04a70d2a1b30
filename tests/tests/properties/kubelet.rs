//! What must hold for every node, every set of thresholds and every course of usage.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;
use taintlab_core::api::{Pod, PodKey, Quantity};
use taintlab_core::kubelet::{
    Change, ContainerUsage, EvictionConfig, KubeletConfiguration, KubeletVersion, Layout,
    NodeCapacity, NodeUsage, Observations, PodUsage, Point, Pressure, Signal, SystemUsage, Unused,
    UsageCurve, VolumeUsage,
};
use taintlab_core::time::{Span, Timestamp};
use taintlab_tests::kubelet::{ContainerCase, Node, NodeCase, PodCase, version};
use taintlab_tests::kubelet_run::{Entry, Foresight, Happened, Run};

const MI: u64 = 1 << 20;
const END: u64 = 1_500;

/// Not the moment of a pass.
fn end() -> Timestamp {
    Timestamp::from_millis(END * 1_000 + 777)
}

fn quantity(value: u64) -> Quantity {
    Quantity::parse(&value.to_string()).unwrap()
}

fn span(seconds: u64) -> Span {
    Span(Duration::from_secs(seconds))
}

fn curve(most: u64) -> impl Strategy<Value = UsageCurve> {
    let value = move || (0..=most).prop_map(quantity);
    let time = || 0..900_u64;
    prop_oneof![
        value().prop_map(UsageCurve::Constant),
        (value(), value(), time(), time()).prop_map(|(from, to, one, other)| UsageCurve::Ramp {
            from,
            to,
            start: span(one.min(other)),
            end: span(one.max(other)),
        }),
        (value(), value(), time()).prop_map(|(before, after, at)| UsageCurve::Step {
            before,
            after,
            at: span(at)
        }),
        (value(), value(), 3..400_u64, time()).prop_map(|(low, high, period, start)| {
            UsageCurve::Sawtooth { low, high, period: span(period), start: span(start) }
        }),
        proptest::collection::btree_map(time(), value(), 1..5).prop_map(|points| {
            let point = |(at, value)| Point { at: span(at), value };
            UsageCurve::Points(points.into_iter().map(point).collect())
        }),
    ]
}

#[derive(Clone, Debug)]
struct PodInput {
    starts: u64,
    priority: i32,
    request: u64,
    storage_limit: Option<u64>,
    volume_limit: Option<u64>,
    usage: PodUsage,
}

fn pod_input() -> impl Strategy<Value = PodInput> {
    let priority = prop_oneof![
        3 => Just(0), 1 => -1..3_i32, 1 => Just(2_000_000_000), 1 => Just(2_000_001_000),
    ];
    let limit = || prop_oneof![2 => Just(None), 1 => (1..600_u64).prop_map(|mi| Some(mi * MI))];
    let numbers = (prop_oneof![2 => Just(0), 1 => 0..900_u64], priority, 0..800_u64);
    let curves = (curve(900 * MI), curve(500 * MI), curve(300 * MI), curve(500 * MI), curve(200));
    (numbers, limit(), limit(), curves).prop_map(
        |((starts, priority, request), storage_limit, volume_limit, curves)| {
            let (memory, rootfs, logs, bytes, processes) = curves;
            let container = ContainerUsage {
                name: "c".into(),
                memory,
                rootfs,
                logs,
                processes,
                ..ContainerUsage::default()
            };
            let volume = VolumeUsage { name: "v".into(), bytes, ..VolumeUsage::default() };
            let usage = PodUsage {
                containers: vec![container],
                volumes: vec![volume],
                ..PodUsage::default()
            };
            PodInput { starts, priority, request, storage_limit, volume_limit, usage }
        },
    )
}

impl PodInput {
    fn pod(&self, index: usize) -> Pod {
        let mut limits = json!({});
        if let Some(limit) = self.storage_limit {
            limits["ephemeral-storage"] = limit.into();
        }
        let mut source = json!({});
        if let Some(limit) = self.volume_limit {
            source["sizeLimit"] = limit.into();
        }
        let pod = json!({
            "metadata": { "name": format!("p{index}"), "namespace": "d", "uid": index.to_string() },
            "spec": {
                "priority": self.priority,
                "containers": [{
                    "name": "c",
                    "resources": {
                        "requests": { "memory": format!("{}Mi", self.request) },
                        "limits": limits,
                    }
                }],
                "volumes": [{ "name": "v", "emptyDir": source }],
            }
        });
        serde_json::from_value(pod).unwrap()
    }
}

#[derive(Clone, Debug)]
struct Input {
    version: KubeletVersion,
    layout: Layout,
    flags: Vec<(&'static str, String)>,
    system: SystemUsage,
    unused: u64,
    pods: Vec<PodInput>,
}

fn input() -> impl Strategy<Value = Input> {
    let versions = prop_oneof![
        1 => Just(KubeletVersion::QosEra),
        2 => Just(version(20)),
        1 => Just(version(22)),
        2 => Just(version(34)),
    ];
    let layouts = prop_oneof![
        Just(Layout::OneFilesystem),
        Just(Layout::DedicatedImageFs),
        Just(Layout::SplitImageFs),
    ];
    let flags = (
        prop_oneof![
            Just("memory.available<500Mi"),
            Just("memory.available<20%,nodefs.available<10%"),
            Just("nodefs.available<1Gi,imagefs.available<20%"),
            Just("memory.available<300Mi,nodefs.available<500Mi"),
        ],
        prop_oneof![
            Just(("", "")),
            Just(("memory.available<1Gi", "memory.available=1m")),
            Just((
                "memory.available<25%,nodefs.available<2Gi",
                "memory.available=25s,nodefs.available=0s"
            )),
        ],
        prop_oneof![Just(""), Just("memory.available=200Mi,nodefs.available=5%")],
        prop_oneof![Just("0"), Just("12")],
        prop_oneof![Just("5s"), Just("30s"), Just("5m")],
        proptest::bool::ANY,
    );
    let system = (curve(1_500 * MI), curve(2_000 * MI), curve(2_000 * MI));
    let pods = proptest::collection::vec(pod_input(), 0..6);
    (versions, layouts, flags, system, 0..2_000_u64, pods).prop_map(
        |(version, layout, flags, (memory, nodefs, images), unused, pods)| {
            let (hard, (soft, grace), reclaim, most, period, notification) = flags;
            let flags = [
                ("eviction-hard", hard),
                ("eviction-soft", soft),
                ("eviction-soft-grace-period", grace),
                ("eviction-minimum-reclaim", reclaim),
                ("eviction-max-pod-grace-period", most),
                ("eviction-pressure-transition-period", period),
                ("kernel-memcg-notification", if notification { "true" } else { "false" }),
            ];
            let flags = flags.map(|(name, value)| (name, value.to_owned())).to_vec();
            let system = SystemUsage { memory, nodefs, images, ..SystemUsage::default() };
            Input { version, layout, flags, system, unused, pods }
        },
    )
}

impl Input {
    fn config(&self) -> EvictionConfig {
        let mut settings = KubeletConfiguration::default();
        for (name, value) in &self.flags {
            // Blanks are no signals in 1.5.
            if !value.is_empty() {
                settings.set_flag(self.version, name, value).unwrap();
            }
        }
        settings.eviction_config(self.version).unwrap()
    }

    fn usage(&self) -> NodeUsage {
        let some = |mebibytes: u64| Some(quantity(mebibytes * MI));
        let capacity = NodeCapacity {
            memory: some(3_000),
            allocatable_memory: some(2_500),
            nodefs: some(6_000),
            imagefs: some(4_000),
            pids: Some(quantity(4_096)),
            ..NodeCapacity::default()
        };
        let mut usage = NodeUsage::new(capacity, self.system.clone());
        usage.unused_images = Unused { bytes: quantity(self.unused * MI), ..Unused::default() };
        usage
    }

    fn run(&self, foresight: Foresight) -> Run {
        let mut run = Run::new(self.version, self.config(), self.layout, self.usage(), foresight);
        let mut pods: Vec<(usize, &PodInput)> = self.pods.iter().enumerate().collect();
        pods.sort_by_key(|(index, pod)| (pod.starts, *index));
        for (index, pod) in pods {
            // Halfway between passes, so that the order at one moment does not matter.
            let at = Timestamp::from_millis(pod.starts * 1_000 + 333);
            run.advance_to(at);
            run.start(at, &pod.pod(index), Arc::new(pod.usage.clone()));
        }
        run.advance_to(end());
        run
    }
}

fn key(index: usize) -> PodKey {
    PodKey::new("d", &format!("p{index}"))
}

fn kills(log: &[Entry]) -> impl Iterator<Item = &PodKey> {
    log.iter().filter_map(|entry| match &entry.what {
        Happened::Kill(key) => Some(key),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None, rng_seed: RngSeed::Fixed(0),
        ..ProptestConfig::default()
    })]

    /// Passes that are worked out instead of run leave everything as if they had been run.
    #[test]
    fn skipping_passes_changes_nothing(input in input()) {
        let every = input.run(Foresight::None);
        let foreseen = input.run(Foresight::Curves);
        prop_assert_eq!(&every.log, &foreseen.log);
        prop_assert_eq!(every.manager.conditions(end()), foreseen.manager.conditions(end()));
        prop_assert!(foreseen.passes <= every.passes);
    }

    /// Pods of the system are never evicted, not even before anybody else.
    #[test]
    fn critical_pods_stay(input in input()) {
        prop_assume!(!input.version.is_qos_era());
        let run = input.run(Foresight::Curves);
        for (index, pod) in input.pods.iter().enumerate() {
            let spared = pod.priority >= 2_000_000_000;
            prop_assert!(!spared || kills(&run.log).all(|killed| *killed != key(index)));
        }
    }

    /// For the node's sake at most one pod goes in a pass.
    #[test]
    fn one_kill_a_pass(input in input()) {
        let run = input.run(Foresight::Curves);
        let mut since_threshold = None;
        for entry in &run.log {
            match &entry.what {
                Happened::Event(text) if text.contains("EvictionThresholdMet") => {
                    since_threshold = Some(0);
                }
                Happened::Event(text) if text.contains("ExceededGracePeriod") => {
                    // In 1.5 the next pod is tried.
                    since_threshold = since_threshold.map(|_| 0);
                }
                Happened::Event(text) if text.contains(" exceed") && !text.contains("low on") => {
                    since_threshold = None;
                }
                Happened::Kill(_) => {
                    since_threshold = since_threshold.map(|kills| kills + 1);
                    prop_assert!(since_threshold.is_none_or(|kills| kills <= 1), "{:?}", run.log);
                }
                _ => {}
            }
        }
    }

    /// While a threshold is met there is a condition, and for the transition period after it.
    #[test]
    fn a_condition_stays_for_the_transition_period(input in input()) {
        prop_assume!(!input.version.is_qos_era());
        let run = input.run(Foresight::None);
        let period = run.manager.config().pressure_transition_period;
        let mut changes = run.log.iter().filter_map(|entry| match &entry.what {
            Happened::Pressures(now) => Some((entry.at, now)),
            _ => None,
        });
        let none = Vec::new();
        let (mut conditions, mut next) = (&none, changes.next());
        let mut last_observed = [None::<Timestamp>; 3];
        for (at, observed) in &run.observed {
            for pressure in observed {
                last_observed[*pressure as usize] = Some(*at);
            }
            // A pass says what has changed at its own moment.
            while let Some((changed, now)) = next.filter(|(changed, _)| changed <= at) {
                prop_assert_eq!(changed, *at);
                (conditions, next) = (now, changes.next());
            }
            for pressure in Pressure::ALL {
                let last = last_observed[pressure as usize];
                let must = last.is_some_and(|last| *at - last < period);
                prop_assert!(!must || conditions.contains(&pressure), "{pressure:?} at {at}");
            }
        }
        prop_assert!(next.is_none());
    }

    /// A pod that stays is at or below no limit when a pass looks: the limits are what they say.
    #[test]
    fn nobody_stays_above_a_volume_limit(input in input()) {
        prop_assume!(!input.version.is_qos_era());
        let run = input.run(Foresight::Curves);
        for (index, pod) in input.pods.iter().enumerate() {
            let Some(limit) = pod.volume_limit.filter(|_| pod.priority < 2_000_000_000) else {
                continue;
            };
            let lived = !kills(&run.log).any(|killed| *killed == key(index));
            let flat = matches!(pod.usage.volumes[0].bytes, UsageCurve::Constant(_));
            let used = pod.usage.volumes[0].bytes.value_at(Timestamp::ZERO);
            if flat && lived {
                prop_assert!(used <= i64::try_from(limit).unwrap());
            }
        }
    }

    /// What is foreseen is never too late: until then every second looks the same.
    #[test]
    fn forecasts_are_never_too_late(input in input(), at in 0..900_u64) {
        let mut run = input.run(Foresight::Curves);
        for (index, pod) in input.pods.iter().enumerate() {
            // All of them again, since times that are past by then.
            let pod_at = Timestamp::from_secs(pod.starts.min(at));
            run.start(pod_at, &pod.pod(index), Arc::new(pod.usage.clone()));
        }
        let (usage, thresholds) = (&run.usage, run.manager.thresholds());
        let layout = run.manager.layout();
        let now = Timestamp::from_secs(at);
        let sides = |at: Timestamp| -> Vec<bool> {
            let observations = Observations::of(&usage.summary(at, layout).node);
            let met = thresholds.iter().map(|threshold| {
                observations.get(threshold.signal).is_some_and(|seen| threshold.is_met(seen, false))
            });
            met.collect()
        };
        let quiet = usage.quiet_until(now, input.version, layout, thresholds);
        let before = sides(now);
        for second in at..END {
            let at = Timestamp::from_secs(second);
            if at < quiet {
                prop_assert_eq!(&sides(at), &before, "{} s, quiet until {}", second, quiet);
            }
        }
    }
}

/// A pod for the ranking by memory: whether it is measured, priority, request and usage in bytes.
fn ranked_pod() -> impl Strategy<Value = (bool, i32, u64, u64)> {
    (proptest::bool::weighted(0.9), -1..3_i32, 0..12_u64, 0..12_u64)
}

fn ranked(pods: &[(bool, i32, u64, u64)]) -> taintlab_core::kubelet::Ranking {
    let case =
        |(index, (has_stats, priority, request, usage)): (usize, &(bool, i32, u64, u64))| PodCase {
            name: index.to_string(),
            priority: Some(*priority),
            containers: vec![ContainerCase {
                name: "c".into(),
                memory_request: Some(request.to_string()),
                ..ContainerCase::default()
            }],
            has_stats: *has_stats,
            pod_memory_working_set: Some(*usage),
            ..PodCase::default()
        };
    let cases: Vec<PodCase> = pods.iter().enumerate().map(case).collect();
    let node = Node::new(version(30), &[], cases);
    let summary = NodeCase::default().summary(&node.pods);
    node.manager.ranking(Signal::MemoryAvailable, &summary).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0),
        ..ProptestConfig::default()
    })]

    /// What is said to put a pod behind the next one does so, and a little less does not.
    #[test]
    fn what_is_said_to_change_the_order_does(
        pods in proptest::collection::vec(ranked_pod(), 2..8)
    ) {
        let ranking = ranked(&pods);
        let place = |ranking: &taintlab_core::kubelet::Ranking, name: &str| {
            ranking.pods.iter().position(|pod| pod.candidate.pod.name() == name).unwrap()
        };
        for (pod, next) in ranking.pods.iter().zip(ranking.pods.iter().skip(1)) {
            let (name, next) = (pod.candidate.pod.name(), next.candidate.pod.name());
            let index: usize = name.parse().unwrap();
            let is_behind = |change: &Change, less: i64| {
                let mut changed = pods.clone();
                let pod = &mut changed[index];
                match *change {
                    Change::RaisePriority(to) => pod.1 = to - i32::try_from(less).unwrap(),
                    Change::RaiseRequest(to) => pod.2 = u64::try_from(to - less).unwrap(),
                    Change::LowerUsage(to) => pod.3 = u64::try_from(to + less).unwrap(),
                }
                let changed = ranked(&changed);
                place(&changed, name) > place(&changed, next)
            };
            for change in &pod.behind_next_if {
                prop_assert!(is_behind(change, 0), "{change:?} of {name}: {ranking:?}");
                // One less leaves it where it is, or makes both equal, which keeps their order.
                let equal = pods[index].0 && place(&ranking, name) > place(&ranking, next);
                prop_assert!(equal || !is_behind(change, 1) || next < name, "{change:?} of {name}");
            }
            // Where a pod is first because it uses too much, a lower priority may keep it first.
            use taintlab_core::kubelet::{RankKey, RankReason};
            let alone = matches!(
                pod.before_next_by,
                Some(RankReason::Key(RankKey::Priority | RankKey::UsageAboveRequest))
            );
            prop_assert!(!alone || !pod.behind_next_if.is_empty(), "{ranking:?}");
        }
    }
}
