//! One pod on one node: when is it evicted?

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{
    ConditionStatus, CronJob, DeviceObject, Node, NodeName, Pod, PodKey, PodResources, Toleration,
    Workload, WorkloadKey,
};
use taintlab_rules::policy::admission::{Addition, AdmissionError, AdmissionPlugin, admit};
use taintlab_rules::policy::matching::{Explanation, explain};
use taintlab_rules::policy::validation::{FieldError, validate_tolerations};
use taintlab_rules::release::FeatureGate;
use taintlab_rules::time::Timestamp;

use super::{ConfigError, InitialState, Simulator, SimulatorConfig};
use crate::api_server::HealthPassTime;
use crate::command::Command;
use crate::controllers::{FirstPod, first_pod};
use crate::eviction_timeline::time_budget::TimeBudget;

/// What happens to the node, at time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum NodeFault {
    /// The taints that it has are put on it: the pod and the taints meet at zero.
    #[default]
    Tainted,
    /// Its kubelet is unreachable, in a cluster that is otherwise healthy.
    #[serde(rename = "lost", alias = "unreachable")]
    Unreachable,
    /// Its kubelet reports that it is not ready, in a cluster that is otherwise healthy.
    NotReady,
}

/// What a user has of a pod.
#[derive(Clone, Debug)]
pub enum PodSource {
    /// The pod, or the template of one (`v1.PodTemplateSpec`). A pod that the API server has stored
    /// was admitted then; anything else is a new pod.
    Pod(Box<Pod>),
    /// A workload: the pod is the one that its controllers make.
    Workload(Box<Workload>),
    /// A CronJob: the pod is that of its next Job.
    CronJob(Box<CronJob>),
}

impl PodSource {
    /// The pod, before admission; `node` is the one on which a DaemonSet runs it.
    #[must_use]
    pub fn into_pod(self, node: &str, config: &SimulatorConfig) -> Pod {
        made_pod(self, node, config, &mut Vec::new())
    }
}

/// Which pod, which node, and what happens to the node.
#[derive(Clone, Debug)]
pub struct EvictionQuestion {
    /// The pod, or what makes it.
    pub pod: PodSource,
    /// The node. Whatever node the pod names, it runs on this one.
    pub node: Node,
    /// What happens to the node.
    pub fault: NodeFault,
    /// ResourceSlices, ResourceClaims and DeviceTaintRules of the cluster: the taints of devices that
    /// the pod has count, too.
    pub devices: Vec<DeviceObject>,
    /// Whether a new pod passes the admission plugins of the API server, as every pod of a cluster
    /// does.
    pub admission: bool,
}

/// When a pod is evicted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhenEvicted {
    /// When it is evicted, and the terms that add up to the moment; `None` if it is not. For a node
    /// that becomes unreachable the last heartbeat comes at that very moment, in step with the
    /// health checks, and so does the report of one that becomes not ready; its
    /// [`range`](TimeBudget::range) counts all other ways in.
    pub budget: Option<TimeBudget>,
    /// How its tolerations answer the taints that the node has in the end.
    pub matching: Explanation,
    /// What the answer takes for granted, in the order in which it came about.
    pub assumed: Vec<Assumption>,
}

/// Something that was added or taken for granted to answer the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Assumption {
    /// The pod is the one that a controller makes of a template.
    PodCreated {
        /// The controller, as its events name it: `replicaset-controller`.
        by: &'static str,
        /// The workload that was given, or the Job of the CronJob that was.
        workload: WorkloadKey,
        /// The pod; a controller that draws lots would end its name with other letters.
        pod: PodKey,
    },
    /// The pod was given a toleration.
    TolerationAdded {
        /// Who adds it.
        by: AdmissionPlugin,
        /// The toleration.
        toleration: Toleration,
        /// Why, in a sentence.
        because: String,
    },
    /// The pod was given the number of its priority class.
    PriorityAdded {
        /// Who adds it.
        by: AdmissionPlugin,
        /// `spec.priorityClassName`.
        class: String,
        /// `spec.priority`.
        priority: i32,
    },
    /// The API server has stored the pod, so that it was admitted then and is taken as it is.
    AlreadyAdmitted,
    /// Admission was left out, as was asked.
    AdmissionSkipped,
    /// The pod names another node; it is taken to run on the one that was given.
    Moved {
        /// The node that it names.
        from: NodeName,
    },
    /// There is another node, which stays healthy. Were there none, the node lifecycle controller
    /// would take the fault for its own and evict nothing.
    OtherNodeHealthy,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodCreated { by, workload, pod } => {
                write!(f, "{by} creates the pod {pod} from the template of {workload}")
            }
            Self::TolerationAdded { by, toleration, because } => {
                write!(f, "{} adds the toleration {toleration}: {because}", by.as_str())
            }
            Self::PriorityAdded { by, class, priority } => {
                write!(f, "{} sets the priority {priority}, that of {class}", by.as_str())
            }
            Self::AlreadyAdmitted => {
                f.write_str("the pod exists, so that admission adds nothing to it")
            }
            Self::AdmissionSkipped => f.write_str("admission is left out, as asked"),
            Self::Moved { from } => {
                write!(f, "the pod runs on this node, although it names node {from}")
            }
            Self::OtherNodeHealthy => f.write_str("another node of the cluster stays healthy"),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhenEvictedError {
    /// The configuration cannot be.
    Config(ConfigError),
    /// Admission would refuse the pod.
    Admission(AdmissionError),
    /// The API server would refuse tolerations of the pod: one error at least.
    Tolerations(Vec<FieldError>),
}

impl fmt::Display for WhenEvictedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Admission(error) => error.fmt(f),
            Self::Tolerations(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&errors.join("; "))
            }
        }
    }
}

impl core::error::Error for WhenEvictedError {}

impl From<ConfigError> for WhenEvictedError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// How many deadlines one eviction takes at most; a few dozen in fact.
const MOST_DEADLINES: usize = 10_000;

/// When a pod is evicted from a node, and why. Health passes take the time that they take on a real
/// machine, unless the configuration says how long.
///
/// # Errors
/// The configuration cannot be, or the API server would not take the pod.
pub fn when_evicted(
    mut config: SimulatorConfig,
    question: EvictionQuestion,
) -> Result<WhenEvicted, WhenEvictedError> {
    let EvictionQuestion { pod, mut node, fault, devices, admission } = question;
    if node.metadata.name.is_empty() {
        node.metadata.name = "node".into();
    }
    let name = node.metadata.name.clone();
    let mut assumed = Vec::new();
    let mut pod = made_pod(pod, &name, &config, &mut assumed);
    let is_stored = is_stored(&pod);
    if !admission {
        assumed.push(Assumption::AdmissionSkipped);
    } else if is_stored {
        assumed.push(Assumption::AlreadyAdmitted);
    } else {
        pass_admission(&mut pod, &config, &mut assumed)?;
    }
    let named = core::mem::replace(&mut pod.spec.node_name, name.clone());
    if !named.is_empty() && named != name {
        assumed.push(Assumption::Moved { from: named.as_str().into() });
    }
    if pod.metadata.name.is_empty() {
        pod.metadata.name = "pod".into();
    }
    let key = pod.key();
    let tolerations = pod.spec.tolerations.clone();
    let command = command_of(fault, &name);
    // The controller of device taints is one of the control plane.
    config.control_plane = !devices.is_empty();
    config.node_lifecycle = command.is_some() || config.control_plane;
    if config.health_pass == HealthPassTime::default() {
        config.health_pass = HealthPassTime::MEASURED;
    }
    let mut nodes = Vec::from([node]);
    if command.is_some() {
        nodes.extend(nodes.first().map(healthy_neighbour));
        assumed.push(Assumption::OtherNodeHealthy);
    }
    let begin = InitialState { devices, ..InitialState::default() };
    let mut simulator = Simulator::beginning_with(config, nodes, [pod], begin)?;
    let validation = simulator.api.validation_options();
    let errors = validate_tolerations(&tolerations, "spec.tolerations", &validation);
    if !is_stored && !errors.is_empty() {
        return Err(WhenEvictedError::Tolerations(errors));
    }
    if let Some(command) = command {
        // The node is there and its kubelet runs, so this cannot be refused.
        let _ = simulator.handle_command(Timestamp::ZERO, command);
    }
    let forecast = simulator.forecast(Timestamp::MAX, MOST_DEADLINES);
    let end = forecast.simulator();
    let taints = end.api.cluster.get_node(&name).map_or(&[][..], |node| &node.spec.taints);
    let gate = end.api.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
    let budget = forecast.time_budget(&key).map(|budget| TimeBudget { over: true, ..budget });
    Ok(WhenEvicted { budget, matching: explain(taints, &tolerations, gate), assumed })
}

/// What makes it happen, if it is not there from the beginning.
fn command_of(fault: NodeFault, node: &str) -> Option<Command> {
    let node = node.into();
    match fault {
        NodeFault::Tainted => None,
        NodeFault::Unreachable => Some(Command::StopKubelet { node }),
        NodeFault::NotReady => Some(Command::SetNodeCondition {
            node,
            type_: READY.into(),
            status: ConditionStatus::False,
            reason: None,
            message: None,
        }),
    }
}

/// The pod that was given, or that its controllers make.
fn made_pod(
    source: PodSource,
    node: &str,
    config: &SimulatorConfig,
    assumed: &mut Vec<Assumption>,
) -> Pod {
    let workload = match source {
        PodSource::Pod(pod) => return *pod,
        PodSource::Workload(workload) => workload,
        PodSource::CronJob(cron_job) => Box::new(cron_job.job(config.start)),
    };
    let FirstPod { pod, additions, controller } = first_pod(&workload, node, config.release);
    assumed.push(Assumption::PodCreated {
        by: controller,
        workload: workload.key(),
        pod: pod.key(),
    });
    assumed.extend(additions.into_iter().map(Assumption::from));
    pod
}

/// Whether the API server has stored it.
fn is_stored(pod: &Pod) -> bool {
    !pod.metadata.uid.is_empty() || pod.metadata.creation_timestamp.is_some()
}

/// What the API server makes of a new pod.
fn pass_admission(
    pod: &mut Pod,
    config: &SimulatorConfig,
    assumed: &mut Vec<Assumption>,
) -> Result<(), WhenEvictedError> {
    let plugins = config.admission().map_err(ConfigError::ApiServerFlag)?;
    let admission = admit(&plugins, config.release, pod, &alloc::collections::BTreeMap::new())
        .map_err(WhenEvictedError::Admission)?;
    admission.apply(pod);
    assumed.extend(admission.additions.into_iter().map(Assumption::from));
    let wrong = |error| WhenEvictedError::Admission(AdmissionError::Resources(error));
    let mut resources = PodResources::of(pod).map_err(wrong)?;
    if resources.priority.is_none() {
        resources.set_defaults();
        if let Some(priority) = resources.priority {
            pod.spec.other.set("priority", priority.into());
            let class = resources.priority_class_name;
            let by = AdmissionPlugin::Priority;
            assumed.push(Assumption::PriorityAdded { by, class, priority });
        }
    }
    Ok(())
}

impl From<Addition<Toleration>> for Assumption {
    fn from(addition: Addition<Toleration>) -> Self {
        let Addition { plugin, added, because } = addition;
        Self::TolerationAdded { by: plugin, toleration: added, because }
    }
}

/// Another node in the same zone.
fn healthy_neighbour(node: &Node) -> Node {
    let mut healthy = Node::default();
    healthy.metadata.name = format!("{}-healthy", node.metadata.name);
    healthy.metadata.labels.clone_from(&node.metadata.labels);
    healthy
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::eviction_timeline::time_budget::Moment;
    use taintlab_rules::api::{Taint, TaintEffect, TolerationOperator};
    use taintlab_rules::time::Time;

    const KEY: &str = "example.com/maintenance";

    fn tolerating(seconds: Option<i64>) -> Pod {
        let mut pod = Pod::default();
        pod.spec.tolerations.push(Toleration {
            key: KEY.into(),
            operator: TolerationOperator::Exists,
            toleration_seconds: seconds,
            effect: TaintEffect::NoExecute,
            ..Toleration::default()
        });
        pod
    }

    fn pod(pod: Pod) -> PodSource {
        PodSource::Pod(Box::new(pod))
    }

    fn workload(kind: &str) -> PodSource {
        let api = if kind == "Job" { "batch/v1" } else { "apps/v1" };
        let spec = json!({"template": {"spec": {"priorityClassName": "system-node-critical"}}});
        let workload =
            json!({"apiVersion": api, "kind": kind, "metadata": {"name": "web"}, "spec": spec});
        PodSource::Workload(Box::new(serde_json::from_value(workload).unwrap()))
    }

    fn ask(pod: PodSource, node: Node, fault: NodeFault, admission: bool) -> WhenEvicted {
        let devices = Vec::new();
        let question = EvictionQuestion { pod, node, fault, devices, admission };
        when_evicted(SimulatorConfig::default(), question).unwrap()
    }

    fn seconds(answer: &WhenEvicted) -> Option<i64> {
        answer.budget.as_ref().map(|budget| budget.evicted_at.as_nanos() / 1_000_000_000)
    }

    /// How long the pod stays on the node with its unreachable taint.
    fn tolerated(answer: &WhenEvicted) -> Option<u64> {
        answer.matching.verdict.evicted_after().map(|after| after.as_secs())
    }

    fn said(answer: &WhenEvicted) -> Vec<String> {
        answer.assumed.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_tainted_node() {
        let mut node = Node::default();
        let at = |node: &Node, source: Pod| {
            seconds(&ask(pod(source), node.clone(), NodeFault::Tainted, true))
        };
        assert_eq!(at(&node, Pod::default()), None, "no taint");
        node.spec.taints.push(Taint::new(KEY, "", TaintEffect::NoExecute));
        assert_eq!(at(&node, Pod::default()), Some(0));
        assert_eq!(at(&node, tolerating(Some(90))), Some(90));
        assert_eq!(at(&node, tolerating(None)), None, "forever");
    }

    #[test]
    fn a_tainted_device_of_the_pod() {
        let device = |object| serde_json::from_value::<DeviceObject>(object).unwrap();
        let (driver, key) = ("gpu.example.com", "gpu.example.com/unhealthy");
        let ask = |seconds: Option<i64>, added: Option<&str>, fault| {
            let tolerations = seconds.map(|seconds| {
                json!({"key": key, "operator": "Exists", "effect": "NoExecute",
                       "tolerationSeconds": seconds})
            });
            let tolerations: Vec<_> = tolerations.into_iter().collect();
            let taint = json!({"key": key, "effect": "NoExecute", "timeAdded": added});
            let slice = json!({"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {
                "driver": driver, "pool": {"name": "n"},
                "devices": [{"name": "gpu-0", "taints": [taint]}],
            }});
            let result = json!({"request": "r", "driver": driver, "pool": "n", "device": "gpu-0",
                                "tolerations": tolerations});
            let claim = json!({"kind": "ResourceClaim", "metadata": {"name": "gpu"}, "status": {
                "allocation": {"devices": {"results": [result]}},
                "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
            }});
            let pod = json!({"metadata": {"name": "p", "uid": "u"}, "spec": {
                "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
            }});
            let question = EvictionQuestion {
                pod: PodSource::Pod(Box::new(serde_json::from_value(pod).unwrap())),
                node: Node::default(),
                fault,
                devices: Vec::from([device(slice), device(claim)]),
                admission: true,
            };
            when_evicted(SimulatorConfig::default(), question).unwrap()
        };
        let answer = ask(Some(120), None, NodeFault::Tainted);
        assert_eq!(seconds(&answer), Some(120));
        let budget = answer.budget.unwrap();
        assert_eq!(budget.device.unwrap().device, "gpu.example.com/n/gpu-0");
        let terms: Vec<_> =
            budget.terms.iter().take(2).map(|it| (&*it.text, &*it.set_by)).collect();
        let field = "status.allocation.devices.results[0].tolerations[0].tolerationSeconds=120";
        let taint = "device gpu.example.com/n/gpu-0 has taint gpu.example.com/unhealthy:NoExecute";
        let tolerates = "claim default/gpu tolerates gpu.example.com/unhealthy:NoExecute";
        assert_eq!(terms, [(taint, ""), (tolerates, field)]);
        assert_eq!(seconds(&ask(None, None, NodeFault::Tainted)), Some(0), "not tolerated");
        // The time counts from `timeAdded`.
        let start = SimulatorConfig::default().start;
        let before = start.to_string().replace(":00Z", ":30Z");
        let later = ask(Some(120), Some(&before), NodeFault::Tainted);
        assert_eq!(seconds(&later), Some(150));
        // The node is lost as well, and has a taint after 50 s: whichever comes first counts.
        let device_first = ask(Some(20), None, NodeFault::Unreachable).budget.unwrap();
        assert!(device_first.device.is_some());
        let node_first = ask(Some(120), None, NodeFault::Unreachable).budget.unwrap();
        assert_eq!(
            (node_first.device, node_first.evicted_at.rounded().as_nanos() / 1_000_000_000),
            (None, 50)
        );
    }

    /// Many clusters, in each of which kubelet and health checks are out of step in another way:
    /// what is said of one of them holds for all.
    #[test]
    fn the_range_holds_all_phases_and_no_more() {
        for (fault, width) in [(NodeFault::Unreachable, 25_103), (NodeFault::NotReady, 5_100)] {
            let asked = ask(pod(tolerating(None)), Node::default(), fault, true);
            let told = asked.budget.unwrap().range.unwrap();
            let told = (told.earliest.as_nanos(), told.latest.as_nanos());
            check_ranges(&format!("{fault:?}"), width, Some(told), |seed, quarter| {
                let at = Timestamp::from_millis(60_003 + drift(seed) + 250 * quarter);
                after_fault(cluster_with(fault, (seed, 0), None, at), at)
            });
        }
    }

    /// C15: with jitter a heartbeat may be 10.4 s old, and nobody knows the phase of a kubelet for
    /// long, even if it began at a known moment: after 25 s its last heartbeat came after two gaps
    /// of 10 to 10.4 s, so that it is 4.2 to 5 s old.
    #[test]
    fn the_range_holds_all_jitter_and_no_more() {
        let fault = NodeFault::Unreachable;
        check_ranges("any phase", 25_503, None, |seed, quarter| {
            let at = Timestamp::from_millis(60_003 + drift(seed) + 250 * quarter);
            after_fault(cluster_with(fault, (seed, seed + 1), None, at), at)
        });
        check_ranges("known phase", 15_903, None, |seed, quarter| {
            let start = Timestamp::from_millis(35_003 + drift(seed) + 125 * quarter);
            let at = start.saturating_add(Duration::from_secs(25));
            after_fault(cluster_with(fault, (0, seed), Some(start), at), at)
        });
    }

    /// Milliseconds by which the fault comes later in every other cluster: health passes, each of
    /// them 0.7 ms late, then end their writes within 3 ms before a tainting pass, so that tokens
    /// are lost to the informer that lags.
    const fn drift(seed: u64) -> u64 {
        415_000 * (seed % 2)
    }

    /// The ranges are as many milliseconds wide as given, each holds all evictions, and some come
    /// near both of its ends.
    fn check_ranges(
        what: &str,
        width: i64,
        told: Option<(i64, i64)>,
        run: impl Fn(u64, u64) -> (i64, Option<(i64, i64)>),
    ) {
        let mut ranges = Vec::from_iter(told);
        let (mut least, mut most) = (i64::MAX, 0);
        for seed in 1..60 {
            for quarter in 0..40 {
                let (evicted, range) = run(seed, quarter);
                ranges.push(range.unwrap());
                (least, most) = (least.min(evicted), most.max(evicted));
            }
        }
        let latest = ranges.iter().map(|(_, latest)| *latest).min().unwrap();
        let earliest = ranges.iter().map(|(earliest, _)| *earliest).max().unwrap();
        assert!(earliest <= least, "{what}: {earliest} {least}");
        assert!(most <= latest, "{what}: {most} {latest}");
        for (earliest, latest) in ranges {
            assert_eq!((latest - earliest) / 1_000_000, width, "{what}");
            assert!(least - earliest < 600_000_000, "{what}: {least} {earliest}");
            assert!(latest - most < 600_000_000, "{what}: {most} {latest}");
        }
    }

    /// Several nodes of a zone are lost at once: which of them is tainted first depends on the
    /// phases, too, and any of them can be the last. In 1.19 and 1.20 spare entries use up tokens,
    /// more or less of them.
    #[test]
    fn the_range_holds_every_order_of_a_zone() {
        for (release, lag, lost, tight) in [
            ("1.18", 3, 3, Some(35_300)),
            ("1.20", 3, 3, None),
            ("1.34", 0, 3, Some(35_300)),
            ("1.34", 3, 2, Some(35_203)),
        ] {
            let (least, most, ranges) = lose_nodes(release, lag, lost, &["z"; 8]);
            for (earliest, latest) in ranges {
                assert!(earliest <= least, "{release}: {earliest} {least}");
                assert!(most <= latest, "{release}: {most} {latest}");
                assert!(least - earliest < 600_000_000, "{release}: {least} {earliest}");
                if let Some(tight) = tight {
                    let width = (latest - earliest) / 1_000_000;
                    assert!((tight..tight + 500).contains(&width), "{release}: {width}");
                    assert!(latest - most < 1_500_000_000, "{release}: {most} {latest}");
                }
            }
        }
    }

    /// A zone that is lost as a whole is partially disrupted until all of its nodes are found, more
    /// or less of them at once: meanwhile nothing is tainted, and then the limiter has no token.
    #[test]
    fn the_range_holds_all_ways_in_which_a_zone_is_lost() {
        let zones = ["z", "z", "z", "z", "z", "y", "y", "y", "y"];
        // With a lag longer than a write, several tokens of a zone may be lost.
        for (lag, lost, zones) in [(3, 5, &zones[..]), (50, 5, &zones), (50, 3, &["z"; 8])] {
            let (least, most, ranges) = lose_nodes("1.34", lag, lost, zones);
            for (earliest, latest) in ranges {
                assert!(earliest <= least && most <= latest, "{earliest} {least} {most} {latest}");
            }
        }
    }

    /// Nodes that are not found at about the same time do not change places.
    #[test]
    fn nodes_that_are_lost_one_after_another_have_their_own_ranges() {
        for (release, least) in [("1.18", 15_100), ("1.33", 15_100), ("1.34", 25_103)] {
            for seed in 1..20 {
                let mut simulator = zone(release, 3, seed, &["z"; 8]);
                let (at, later) = (Timestamp::from_secs(61), Timestamp::from_secs(77));
                for (at, node) in [(at, "n1"), (later, "n0")] {
                    simulator.advance_to(at).unwrap();
                    let command = command_of(NodeFault::Unreachable, node).unwrap();
                    simulator.handle_command(at, command).unwrap();
                }
                for (pod, at) in [("p1", at), ("p0", later)] {
                    let (_, range) = of_pod(&simulator, pod, at);
                    let (earliest, latest) = range.unwrap();
                    let width = (latest - earliest) / 1_000_000;
                    assert!(
                        (least..least + 300).contains(&width),
                        "{release} {seed} {pod}: {width}"
                    );
                }
            }
        }
    }

    /// Many clusters with nodes of these zones, the first `lost` of which are lost at once: how
    /// long after that a pod of theirs is evicted, at least and at most, and all ranges of that.
    fn lose_nodes(
        release: &str,
        lag: u64,
        lost: usize,
        zones: &[&str],
    ) -> (i64, i64, Vec<(i64, i64)>) {
        let (mut least, mut most, mut ranges) = (i64::MAX, 0, Vec::new());
        for seed in 1..150 {
            let before = zone(release, lag, seed, zones);
            for quarter in 0..20 {
                let mut simulator = before.clone();
                // The health pass at 130 s ends its writes just before a tainting pass.
                let at = Timestamp::from_millis(70_003 + 500 * quarter);
                simulator.advance_to(at).unwrap();
                for node in 0..lost {
                    let node = alloc::format!("n{node}");
                    let command = command_of(NodeFault::Unreachable, &node).unwrap();
                    simulator.handle_command(at, command).unwrap();
                }
                let forecast = simulator.look_ahead();
                for pod in 0..lost {
                    let pod = PodKey::new("", &alloc::format!("p{pod}"));
                    let (evicted, range) = after(forecast.time_budget(&pod).unwrap(), at);
                    (least, most) = (least.min(evicted), most.max(evicted));
                    ranges.push(range.unwrap());
                }
            }
        }
        (least, most, ranges)
    }

    /// Nodes `n0`, `n1`, … of these zones, each with a pod `p0`, `p1`, …, phases of that seed, and
    /// an informer that lags by so many milliseconds.
    fn zone(release: &str, lag: u64, seed: u64, zones: &[&str]) -> Simulator {
        let mut config = SimulatorConfig {
            release: taintlab_rules::release::KubernetesRelease::parse(release).unwrap(),
            node_lifecycle: true,
            health_pass: HealthPassTime::MEASURED,
            ..SimulatorConfig::default()
        };
        config.health_pass.informer_lag.0 = Duration::from_millis(lag);
        config.kubelets.phase_seed = seed;
        let nodes = zones.iter().enumerate().map(|(number, zone)| {
            serde_json::from_value::<Node>(json!({ "metadata": {
                "name": alloc::format!("n{number}"),
                "labels": { "topology.kubernetes.io/zone": zone },
            } }))
            .unwrap()
        });
        let pods = (0..zones.len()).map(|number| {
            let mut pod = Pod::default();
            pod.metadata.name = alloc::format!("p{number}");
            pod.spec.node_name = alloc::format!("n{number}");
            pod.spec.tolerations = tolerations_of_300_seconds().into();
            pod
        });
        Simulator::new(config, nodes, pods).unwrap()
    }

    /// Once a health check has found it out, no phase is open.
    #[test]
    fn what_a_health_check_has_found_has_no_range() {
        for (fault, found) in [(NodeFault::Unreachable, 49), (NodeFault::NotReady, 4)] {
            let at = Timestamp::from_secs(61);
            let (mut simulator, pod) = cluster_with(fault, (1, 0), None, at);
            let mut ranges = |millis| {
                simulator.advance_to(Timestamp::from_millis(millis)).unwrap();
                let budget = simulator.look_ahead().time_budget(&pod);
                budget.is_some_and(|budget| budget.range.is_some())
            };
            assert!(ranges(61_000), "{fault:?}");
            let last = (61..120).map(|second| second * 1_000).take_while(|at| ranges(*at)).last();
            assert_eq!(last.unwrap() / 1_000 - 61, found, "{fault:?}");
        }
    }

    /// A cluster with these seeds of phases and jitter in which something happens to the node of a
    /// pod, whose kubelet is started anew if that is given.
    fn cluster_with(
        fault: NodeFault,
        seeds: (u64, u64),
        restart: Option<Timestamp>,
        at: Timestamp,
    ) -> (Simulator, PodKey) {
        let health_pass = HealthPassTime::MEASURED;
        let mut config =
            SimulatorConfig { node_lifecycle: true, health_pass, ..SimulatorConfig::default() };
        (config.kubelets.phase_seed, config.kubelets.jitter_seed) = seeds;
        let mut node = Node::default();
        node.metadata.name = "node".into();
        let healthy = healthy_neighbour(&node);
        let mut pod = Pod::default();
        pod.metadata.name = "pod".into();
        pod.spec.node_name = "node".into();
        pod.spec.tolerations = tolerations_of_300_seconds().into();
        let key = pod.key();
        let mut simulator = Simulator::new(config, [node, healthy], [pod]).unwrap();
        if let Some(restart) = restart {
            let command = Command::RestartKubelet { node: "node".into() };
            simulator.handle_command(restart, command).unwrap();
        }
        simulator.advance_to(at).unwrap();
        simulator.handle_command(at, command_of(fault, "node").unwrap()).unwrap();
        (simulator, key)
    }

    /// How long after the fault the pod is evicted, and the range of that, in nanoseconds.
    fn after_fault(
        (simulator, pod): (Simulator, PodKey),
        at: Timestamp,
    ) -> (i64, Option<(i64, i64)>) {
        after(simulator.look_ahead().time_budget(&pod).unwrap(), at)
    }

    fn of_pod(simulator: &Simulator, pod: &str, at: Timestamp) -> (i64, Option<(i64, i64)>) {
        after(simulator.look_ahead().time_budget(&PodKey::new("", pod)).unwrap(), at)
    }

    fn after(budget: TimeBudget, at: Timestamp) -> (i64, Option<(i64, i64)>) {
        let after = |moment: Moment| moment.as_nanos() - Moment::from(at).as_nanos();
        let range = budget.range.map(|range| (after(range.earliest), after(range.latest)));
        (after(budget.evicted_at), range)
    }

    fn tolerations_of_300_seconds() -> Vec<Toleration> {
        ["not-ready", "unreachable"]
            .map(|condition| Toleration {
                key: format!("node.kubernetes.io/{condition}"),
                operator: TolerationOperator::Exists,
                effect: TaintEffect::NoExecute,
                toleration_seconds: Some(300),
                ..Toleration::default()
            })
            .into()
    }

    #[test]
    fn a_new_pod_gets_the_tolerations_that_admission_adds() {
        let fault = NodeFault::Unreachable;
        let answer = ask(pod(Pod::default()), Node::default(), fault, true);
        assert!(seconds(&answer).unwrap() > 340, "{:?}", answer.budget);
        assert_eq!(tolerated(&answer), Some(300));
        assert_eq!(
            said(&answer),
            [
                "DefaultTolerationSeconds adds the toleration \
                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s: no toleration of the \
                 pod covers node.kubernetes.io/not-ready:NoExecute",
                "DefaultTolerationSeconds adds the toleration \
                 node.kubernetes.io/unreachable:NoExecute op=Exists for 300s: no toleration of the \
                 pod covers node.kubernetes.io/unreachable:NoExecute",
                "another node of the cluster stays healthy",
            ]
        );
        let without = ask(pod(Pod::default()), Node::default(), fault, false);
        assert!(seconds(&without).unwrap() < 100);
        assert_eq!(without.assumed[0], Assumption::AdmissionSkipped);
    }

    #[test]
    fn a_pod_that_is_stored_has_been_admitted() {
        let mut stored = Pod::default();
        stored.metadata.creation_timestamp = Some(Time::from_unix_seconds(0));
        stored.spec.node_name = "other".into();
        let answer = ask(pod(stored), Node::default(), NodeFault::Unreachable, true);
        assert!(seconds(&answer).unwrap() < 100, "its tolerations are what they are");
        assert_eq!(
            said(&answer),
            [
                "the pod exists, so that admission adds nothing to it",
                "the pod runs on this node, although it names node other",
                "another node of the cluster stays healthy",
            ]
        );
    }

    #[test]
    fn tolerations_of_a_new_pod_are_those_that_the_api_server_takes() {
        let mut refused = tolerating(Some(90));
        refused.spec.tolerations.push(Toleration { value: "1".into(), ..Toleration::default() });
        let ask = |pod: Pod, admission| {
            let (pod, devices) = (PodSource::Pod(Box::new(pod)), Vec::new());
            let (node, fault) = (Node::default(), NodeFault::Unreachable);
            let question = EvictionQuestion { pod, node, fault, devices, admission };
            when_evicted(SimulatorConfig::default(), question)
        };
        for admission in [true, false] {
            let error = ask(refused.clone(), admission).unwrap_err().to_string();
            let said = "spec.tolerations[1].operator: Invalid value: \"\": operator must be Exists";
            assert!(error.starts_with(said), "{error}");
        }
        refused.metadata.uid = "1".into();
        assert!(ask(refused, true).is_ok(), "the API server has taken it");
    }

    #[test]
    fn a_workload_has_the_pod_that_its_controller_makes() {
        for (kind, by, name) in [
            ("Deployment", "replicaset-controller", "default/web-"),
            ("ReplicaSet", "replicaset-controller", "default/web-"),
            ("StatefulSet", "statefulset-controller", "default/web-0"),
            ("Job", "job-controller", "default/web-"),
        ] {
            let answer = ask(workload(kind), Node::default(), NodeFault::Unreachable, true);
            assert_eq!(tolerated(&answer), Some(300), "{kind}");
            assert!(seconds(&answer).unwrap() > 340, "{kind}");
            let words = said(&answer);
            let begin = format!("{by} creates the pod {name}");
            assert!(words[0].starts_with(&begin), "{kind}: {words:?}");
            let priority = "Priority sets the priority 2000001000, that of system-node-critical";
            assert!(words.iter().any(|text| text == priority), "{kind}: {words:?}");
        }
    }

    #[test]
    fn a_pod_of_a_daemon_set_stays() {
        let answer = ask(workload("DaemonSet"), Node::default(), NodeFault::Unreachable, true);
        assert_eq!((answer.budget.as_ref(), tolerated(&answer)), (None, None));
        let by = |by| {
            let added = answer.assumed.iter().filter_map(|assumed| {
                let Assumption::TolerationAdded { by, .. } = assumed else { return None };
                Some(*by)
            });
            added.filter(|plugin| *plugin == by).count()
        };
        assert_eq!(by(AdmissionPlugin::DaemonSetController), 6);
        assert_eq!(by(AdmissionPlugin::DefaultTolerationSeconds), 0, "they are there already");
    }

    #[test]
    fn a_cron_job_has_the_pod_of_its_job() {
        let cron_job = json!({
            "metadata": {"name": "nightly", "namespace": "batch"},
            "spec": {"jobTemplate": {"spec": {"template": {"spec": {}}}}},
        });
        let cron_job = PodSource::CronJob(Box::new(serde_json::from_value(cron_job).unwrap()));
        let answer = ask(cron_job, Node::default(), NodeFault::Unreachable, true);
        assert_eq!(tolerated(&answer), Some(300));
        let text = said(&answer).remove(0);
        let minutes = SimulatorConfig::default().start.unix_seconds() / 60;
        assert!(text.contains(&format!("the template of job/batch/nightly-{minutes}")), "{text}");
    }

    #[test]
    fn flags_of_the_api_server_count() {
        let mut config = SimulatorConfig::default();
        let flag = "default-unreachable-toleration-seconds";
        config.api_server_flags.insert(flag.into(), "20".into());
        let question = |pod| EvictionQuestion {
            pod,
            node: Node::default(),
            fault: NodeFault::Unreachable,
            devices: Vec::new(),
            admission: true,
        };
        let answer = when_evicted(config.clone(), question(workload("Deployment"))).unwrap();
        assert_eq!(tolerated(&answer), Some(20));
        config.api_server_flags.insert(flag.into(), "soon".into());
        assert!(when_evicted(config, question(workload("Deployment"))).is_err());
    }

    #[test]
    fn the_old_name_of_a_fault_is_read() {
        let read = |name: &str| serde_json::from_value::<NodeFault>(json!(name)).unwrap();
        assert_eq!(read("lost"), NodeFault::Unreachable);
        assert_eq!(read("unreachable"), NodeFault::Unreachable);
        assert_eq!(serde_json::to_value(NodeFault::Unreachable).unwrap(), "lost");
    }
}
