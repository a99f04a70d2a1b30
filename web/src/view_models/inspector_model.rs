//! The contents of the inspector, updated when some of them have changed.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use taintlab_core::api::{ConditionStatus, PodKey, Shared, Toleration};
use taintlab_core::command::NodeResources;
use taintlab_core::controllers::node_lifecycle::ZoneView as ZoneRates;
use taintlab_core::controllers::taint_eviction::EvictionDecision;
use taintlab_core::event::EventKind;
use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use taintlab_core::kubelet::Ranking;
use taintlab_core::lanes::{Cause, LaneSubject};
use taintlab_core::policy::scheduling::Decision;
use taintlab_core::policy::validation::ValidationOptions;
use taintlab_core::simulator::{
    Availability, DeviceView, EvictionView, NodeView as NodeHealth, PodExplanation, Simulator,
    StorageView, UsageSeries, devices_of_node, pods_with_device,
};
use taintlab_core::time::Timestamp;
use taintlab_manifest::to_yaml;

use super::board::{BoardModel, NodeView, PodView, Totals};
use super::late_eviction::LateEviction;
use super::selection::{PodGroup, Selection};
use super::workloads::{Track, track};
use crate::samples::SAMPLE;
use crate::session::{Gone, RowKind, Session};

/// The contents of the inspector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InspectorModel {
    /// The whole cluster, as nothing is selected.
    Overview(Rc<Overview>),
    /// A node.
    Node(InspectedNode),
    /// A pod.
    Pod(Box<InspectedPod>),
    /// All pods of a group.
    Pods(Rc<InspectedPods>),
    /// A pod that is gone, its time budget, and the causes of its end.
    Gone(Rc<Gone>, Option<Rc<TimeBudget>>, Vec<Cause>),
    /// A zone.
    Zone(InspectedZone),
    /// A workload, and its pods.
    Workload(Rc<Track>, Vec<Rc<PodView>>),
}

impl Default for InspectorModel {
    fn default() -> Self {
        Self::Overview(Rc::default())
    }
}

/// All pods of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InspectedPods {
    /// The group.
    pub(crate) group: PodGroup,
    /// The pods that are there, by key; as many as are listed.
    pub(crate) pods: Vec<Rc<PodView>>,
    /// The pods that are gone, the last one first; as many as are listed.
    pub(crate) gone: Vec<Rc<Gone>>,
    /// The number of all of them.
    pub(crate) total: usize,
}

/// Pods that are listed at most; more are only counted.
const MOST_PODS: usize = 200;

impl InspectedPods {
    fn new(session: &Session, model: &BoardModel, group: PodGroup) -> Self {
        let there = || model.pods().values().filter(|pod| group.holds(pod.state));
        let left = || session.gone().iter().rev().filter(|gone| group.holds_gone(gone));
        let pods: Vec<_> = there().take(MOST_PODS).cloned().collect();
        let gone = left().take(MOST_PODS - pods.len()).cloned().collect();
        Self { group, pods, gone, total: there().count() + left().count() }
    }
}

/// The whole cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overview {
    /// Whether this is the sample cluster, and nobody has done anything.
    pub(crate) is_first_minute: bool,
    /// The time that the release takes to delete a pod that tolerates a lost node for five minutes;
    /// only in the first minute.
    pub(crate) late_eviction: Option<Duration>,
    /// Whether the user has done something, or let time pass.
    pub(crate) tried: bool,
    /// The numbers of objects.
    pub(crate) totals: Totals,
    /// The expectations of the scenario, and their outcomes until now.
    pub(crate) outcomes: Vec<Expected>,
}

/// An expectation of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    /// The expectation, in words.
    pub(crate) text: String,
    /// The reason why it is not met; absent if it is.
    pub(crate) failure: Option<String>,
    /// Whether it may still be met.
    pub(crate) open: bool,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InspectedNode {
    /// The node on the board.
    pub(crate) view: Rc<NodeView>,
    /// Its labels; absent if pods are bound to a node that does not exist.
    pub(crate) labels: Option<Shared<BTreeMap<String, String>>>,
    /// The status of each of its conditions.
    pub(crate) conditions: Vec<(String, ConditionStatus)>,
    /// The object as YAML.
    pub(crate) yaml: Rc<str>,
    /// The state of its kubelet; absent unless there are kubelets.
    pub(crate) kubelet: Option<Rc<NodeHealth>>,
    /// The usage of its resources; absent unless they were described.
    pub(crate) resources: Option<Rc<InspectedResources>>,
    /// Its resources, and the part that its system uses.
    pub(crate) has: Option<Rc<NodeResources>>,
    /// Its devices.
    pub(crate) devices: Vec<InspectedDevice>,
}

/// A device of a node, and the pods that have it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InspectedDevice {
    /// The device with its taints.
    pub(crate) view: DeviceView,
    /// The pods.
    pub(crate) pods: Vec<PodKey>,
}

fn devices(simulator: &Simulator, node: &str) -> Vec<InspectedDevice> {
    let views = devices_of_node(simulator, node).into_iter();
    let inspected = |view| InspectedDevice { pods: pods_with_device(simulator, &view), view };
    views.map(inspected).collect()
}

/// The resources of a node, their usage, and the view of its kubelet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InspectedResources {
    /// The view of the kubelet.
    pub(crate) view: EvictionView,
    /// The usage that each signal watches, and the pods in the order of eviction.
    pub(crate) signals: Vec<(UsageSeries, Option<Ranking>)>,
    /// The kubelet's flags about eviction.
    pub(crate) flags: Vec<(&'static str, String)>,
    /// The time of all this.
    pub(crate) now: Timestamp,
}

/// The time before and after now on a chart, and its number of moments.
const CHART: (Duration, usize) = (Duration::from_secs(300), 61);

fn resources(session: &Session, node: &str) -> Option<InspectedResources> {
    let simulator = session.simulator();
    let view = simulator.eviction_view(node)?;
    let now = session.now();
    let (around, points) = CHART;
    let from = Timestamp::from_nanos(
        now.as_nanos().saturating_sub(Timestamp::ZERO.saturating_add(around).as_nanos()),
    );
    let to = now.saturating_add(around);
    let signals = view.signals.iter().filter_map(|known| {
        let series = simulator.usage_series(node, known.signal, from, to, points)?;
        Some((series, simulator.eviction_ranking(node, known.signal)))
    });
    Some(InspectedResources {
        signals: signals.collect(),
        flags: simulator.eviction_flags(node).unwrap_or_default(),
        view,
        now,
    })
}

/// A zone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InspectedZone {
    /// The key, by which it is on the board.
    pub(crate) key: Rc<str>,
    /// The view of the node lifecycle controller; absent unless that runs.
    pub(crate) rates: Option<Rc<ZoneRates>>,
    /// The time of that view.
    pub(crate) now: Timestamp,
}

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InspectedPod {
    /// The pod on the board.
    pub(crate) view: Rc<PodView>,
    /// The labels.
    pub(crate) labels: Shared<BTreeMap<String, String>>,
    /// The tolerations.
    pub(crate) tolerations: Shared<Vec<Toleration>>,
    /// The message of its status.
    pub(crate) message: String,
    /// The object as YAML.
    pub(crate) yaml: Rc<str>,
    /// The reason why it stays or goes.
    pub(crate) explanation: Rc<PodExplanation>,
    /// The last decision of the controller, and its time.
    pub(crate) decided: Option<(Timestamp, EvictionDecision)>,
    /// The time budget of its end, if it ended or will end as things are.
    pub(crate) budget: Option<Rc<TimeBudget>>,
    /// The time budget of the pod that had its name before it, if there was one.
    pub(crate) earlier: Option<Rc<TimeBudget>>,
    /// The wall-clock time at which it is deleted or gone, if a timer runs.
    pub(crate) wall_clock: Option<String>,
    /// The validation options of the API server.
    pub(crate) options: ValidationOptions,
    /// The causes of its present state, the last one first.
    pub(crate) causes: Vec<Cause>,
    /// The decision of the scheduler about each node; absent unless the pod waits for it.
    pub(crate) scheduling: Option<Rc<Decision>>,
    /// Its claims, and the places of their volumes; absent if it has none.
    pub(crate) storage: Option<Rc<StorageView>>,
}

impl InspectorModel {
    /// The time of contents that change with time alone, usage or a chart; absent without any.
    pub(crate) fn as_of(&self) -> Option<Timestamp> {
        match self {
            Self::Node(node) => node.resources.as_ref().map(|known| known.now),
            Self::Workload(track, _) => Some(track.availability.until),
            _ => None,
        }
    }

    /// The view of the selection, as it is now.
    pub(crate) fn new(
        session: &Session,
        model: &BoardModel,
        baseline: &[Availability],
        selection: Option<&Selection>,
    ) -> Self {
        let found = selection.and_then(|selection| match selection {
            Selection::Node(name) => model.node(name.as_str()).map(|view| {
                let object = session.simulator().cluster().get_node(name.as_str()).cloned();
                let kubelet = session.simulator().node_view(name.as_str()).map(Rc::new);
                let resources = resources(session, name.as_str()).map(Rc::new);
                let has = session.simulator().node_resources(name.as_str()).map(Rc::new);
                let yaml =
                    object.as_deref().and_then(|it| to_yaml(it).ok()).unwrap_or_default().into();
                let devices = devices(session.simulator(), name.as_str());
                let view = view.clone();
                let conditions = object.iter().flat_map(|node| &node.status.conditions);
                let node = InspectedNode {
                    view,
                    conditions: conditions
                        .map(|it| (it.type_.clone(), it.status.clone()))
                        .collect(),
                    labels: object.map(|node| node.metadata.labels.clone()),
                    yaml,
                    kubelet,
                    resources,
                    has,
                    devices,
                };
                Self::Node(node)
            }),
            Selection::Zone(key) => model.zone(key).map(|view| {
                let mut zones = session.simulator().zones().into_iter();
                let rates = zones.find(|zone| zone.key.as_str() == &*view.key).map(Rc::new);
                Self::Zone(InspectedZone { key: view.key.clone(), rates, now: session.now() })
            }),
            Selection::Workload(key) => {
                let simulator = session.simulator();
                let workload = simulator.cluster().get_workload(key);
                workload.and_then(|found| track(simulator, key, found, baseline)).map(|track| {
                    let pods = track.view.pods.iter();
                    let pods = pods.filter_map(|pod| model.pod(pod).cloned());
                    let pods = pods.take(MOST_PODS).collect();
                    Self::Workload(Rc::new(track), pods)
                })
            }
            Selection::Pods(group) => {
                Some(Self::Pods(Rc::new(InspectedPods::new(session, model, *group))))
            }
            Selection::Pod(key) => pod(session, model, key).or_else(|| gone(session, key)),
        });
        found.unwrap_or_else(|| Self::Overview(Rc::new(overview(session, model))))
    }
}

fn pod(session: &Session, model: &BoardModel, key: &PodKey) -> Option<InspectorModel> {
    let simulator = session.simulator();
    let view = model.pod(key)?.clone();
    let object = simulator.cluster().get_pod(key)?.clone();
    let wall_clock = view
        .state
        .timer
        .filter(|timer| !timer.never_ends())
        .map(|timer| simulator.wall_clock(timer.until).truncated_to_seconds().to_string());
    Some(InspectorModel::Pod(Box::new(InspectedPod {
        view,
        storage: StorageView::of_pod(simulator, &object).map(Rc::new),
        yaml: to_yaml(&*object).unwrap_or_default().into(),
        labels: object.metadata.labels.clone(),
        tolerations: object.spec.tolerations.clone(),
        message: object.status.message.clone(),
        explanation: Rc::new(simulator.explain(key)?),
        decided: last_decision(session, key),
        budget: session.time_budget(key).map(Rc::new),
        earlier: session.earlier_time_budget(key).map(Rc::new),
        wall_clock,
        options: simulator.validation_options(),
        causes: causes(session, key),
        scheduling: simulator.scheduling_decision(key).map(Rc::new),
    })))
}

/// The last decision about the pod that is there, and not about an earlier one of its name.
fn last_decision(session: &Session, key: &PodKey) -> Option<(Timestamp, EvictionDecision)> {
    let own = session.rows().iter().rev().take_while(|row| {
        !matches!(&row.kind, RowKind::Happened(EventKind::PodDeleted { pod, .. }) if pod == key)
    });
    own.filter_map(|row| {
        let RowKind::Happened(EventKind::Decided(decision)) = &row.kind else { return None };
        (decision.pod == *key).then_some((row.at, &decision.decision))
    })
    .find(|(_, decision)| !matches!(decision, EvictionDecision::PodGone { .. }))
    .map(|(at, decision)| (at, decision.clone()))
}

fn gone(session: &Session, key: &PodKey) -> Option<InspectorModel> {
    let gone = session.gone().iter().rev().find(|gone| gone.pod == *key)?;
    let budget = session.time_budget(key).map(Rc::new);
    Some(InspectorModel::Gone(gone.clone(), budget, causes(session, key)))
}

/// The causes of the present or last state of a pod, the last one first; empty if there is only
/// one.
fn causes(session: &Session, key: &PodKey) -> Vec<Cause> {
    let lane = LaneSubject::Pod { pod: key.clone() };
    let now = session.now();
    let last = session.recorder().segments(&lane).iter().rposition(|it| it.from <= now);
    let causes = last.map(|last| session.recorder().causes(&lane, last));
    causes.filter(|causes| causes.len() > 1).unwrap_or_default()
}

fn overview(session: &Session, model: &BoardModel) -> Overview {
    let start = &session.timeline().start;
    let outcomes = if start.expect.is_empty() {
        Vec::new()
    } else {
        let events = session.events();
        // Nothing more happens by itself, so the outcome is final.
        let goes_on = session.next().is_some();
        let outcomes = start.expect.iter().map(|expectation| {
            let outcome = expectation.check(&events, session.simulator());
            let open = goes_on && expectation.is_open(session.now());
            Expected { text: outcome.expectation, failure: outcome.failure, open }
        });
        outcomes.collect()
    };
    let tried = !session.timeline().log.is_empty() || session.now() > Timestamp::ZERO;
    let is_first_minute = start.metadata.name == SAMPLE && !tried;
    let late_eviction = is_first_minute
        .then(|| LateEviction::total_in(session.simulator().config().release))
        .flatten();
    Overview { is_first_minute, late_eviction, tried, totals: model.board().totals, outcomes }
}

#[cfg(test)]
mod tests {
    use taintlab_core::command::Command;
    use taintlab_core::pod_state::PodVerdict;

    use super::*;
    use crate::view_models::board::DriverDevices;

    /// A pod `p` that tolerates the taint `k` of its node for a second.
    fn session() -> Session {
        let scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "objects": {
                "nodes": [{ "metadata": { "name": "n" },
                    "spec": { "taints": [{ "key": "k", "effect": "NoExecute" }] } }],
                "pods": [{ "metadata": { "name": "p" }, "spec": {
                    "nodeName": "n",
                    "tolerations": [{ "key": "k", "operator": "Exists", "effect": "NoExecute",
                        "tolerationSeconds": 1 }]
                } }]
            }
        }));
        Session::new(scenario.unwrap()).unwrap()
    }

    #[test]
    fn a_decision_about_a_pod_is_not_told_of_the_next_one_of_its_name() {
        let mut session = session();
        let key = PodKey::new("", "p");
        session.seek(Timestamp::from_secs(60));
        let last = last_decision(&session, &key).map(|(_, decision)| decision);
        assert_eq!(last, None, "the pod is gone");
        assert!(session.time_budget(&key).is_some_and(|budget| budget.over));
        let pod = serde_json::from_value(serde_json::json!({ "metadata": { "name": "p" } }));
        session.apply(vec![Command::CreatePod(pod.unwrap())]).unwrap();
        assert_eq!(last_decision(&session, &key), None);
        assert_eq!(session.time_budget(&key), None);
        assert!(session.earlier_time_budget(&key).is_some());
        // The earlier pod had a decision.
        session.seek(Timestamp::from_nanos(500_000_000));
        assert!(last_decision(&session, &key).is_some());
        assert_eq!(session.earlier_time_budget(&key), None);
    }

    /// The first GPU of a node fails after a minute; the pod that has it goes 2 min later.
    #[test]
    fn a_node_says_how_many_devices_it_has_and_which_are_tainted() {
        let mut session = Session::new(crate::samples::read("gpu-fails").unwrap()).unwrap();
        let mut model = BoardModel::default();
        let mut words = |session: &mut Session, at: u64| {
            session.seek(Timestamp::from_secs(at));
            model.update(session);
            let node = model.node("worker-1").unwrap();
            let words: Vec<_> = node.devices.iter().map(DriverDevices::words).collect();
            let train = model.pod(&PodKey::new("default", "train"));
            let selection = Selection::Node("worker-1".into());
            let shown = InspectorModel::new(session, &model, &[], Some(&selection));
            let InspectorModel::Node(inspected) = shown else { panic!("a node") };
            let pods = inspected.devices.iter().map(|it| (it.view.device.clone(), it.pods.len()));
            let pods: Vec<_> = pods.collect();
            (words.join("; "), train.map(|pod| pod.state.verdict), pods, node.is_fine())
        };
        let pods = vec![("gpu-0".to_owned(), 1), ("gpu-1".to_owned(), 1)];
        let healthy = "2 devices of gpu.example.com".to_owned();
        let tainted =
            format!("{healthy}, gpu-0 tainted gpu.example.com/unhealthy=xid-79:NoExecute");
        let (stays, counting) = (Some(PodVerdict::Stays), Some(PodVerdict::Counting));
        let before = (healthy.clone(), stays, pods.clone(), true);
        assert_eq!(words(&mut session, 59), before);
        assert_eq!(words(&mut session, 61), (tainted, counting, pods, false));
        // Back in time it is as it was.
        assert_eq!(words(&mut session, 59), before);
    }
}
