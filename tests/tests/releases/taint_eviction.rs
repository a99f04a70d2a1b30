//! What the taint-eviction controller does differently from release to release.

use taintlab_core::api::PodKey;
use taintlab_core::event::{EventKind, ObjectReference, RecordedEvent};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_tests::notation;
use taintlab_tests::text::Session;

use super::{Difference, play, verbs};

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "cancels_when_tolerated_forever",
        last: "1.19",
        before: "Marking",
        after: "Cancelling",
        observe: |release| {
            verbs(&play(
                release,
                "node n a; pod d/p on n tolerates a/9; at 1s tolerations d/p a/inf; run",
            ))
        },
    },
    Difference {
        name: "immediate_eviction_uses_timer",
        last: "1.29",
        before: "Marking Cancelling",
        after: "Marking",
        observe: |release| {
            verbs(&play(
                release,
                "node n; pod d/p on n; fail d/p delete 3; at 1s taints n a; at 1015ms taints n; run",
            ))
        },
    },
    Difference {
        name: "keeps_tombstones",
        last: "1.32",
        before: "tombstone of d/p\ntainted node n: a:NoExecute\n",
        after: "tainted node n: a:NoExecute\n",
        observe: |release| {
            let mut session = play(release, "node n a; pod d/p on n tolerates a/1; advance 1s");
            session.execute("state").unwrap()
        },
    },
    Difference {
        name: "taint_eviction_component",
        last: "1.28",
        before: "taint-controller",
        after: "taint-eviction-controller",
        observe: |release| first_event(&evicted(release), |event| event.component.to_owned()),
    },
    Difference {
        name: "has_taint_eviction_controller",
        last: "1.28",
        before: "true",
        after: "false",
        observe: |release| {
            let mut session = Session::default();
            let flag = "--controllers=*,-taint-eviction-controller";
            let lines = format!("cluster {release} {flag}\nnode n\npod d/p on n\nat 1s taints n a");
            session.execute(&lines).unwrap();
            verbs(&session).contains("Marking").to_string()
        },
    },
    Difference {
        name: "event_reference_has_api_version",
        last: "1.28",
        before: "",
        after: "v1",
        observe: |release| {
            first_event(&evicted(release), |event| match event.involved_object {
                ObjectReference::Pod { api_version, .. } => api_version.to_owned(),
                _ => "no pod".to_owned(),
            })
        },
    },
    Difference {
        name: "PodDisruptionConditions",
        last: "1.25",
        before: "",
        after: "DisruptionTarget",
        observe: |release| conditions(&evicted(release)),
    },
    Difference {
        name: "sets_observed_generation",
        last: "1.33",
        before: "None",
        after: "Some(3)",
        observe: |release| {
            let mut pod = notation::pod(&PodKey::new("d", "p"), "n", Vec::new());
            pod.metadata.other.set("generation", 3.into());
            let node = notation::node("n", notation::taints("a").unwrap());
            let config = SimulatorConfig::of(release);
            let mut simulator = Simulator::new(config, [node], [pod.clone()]).unwrap();
            simulator.advance_to(Timestamp::ZERO).unwrap();
            let pod = simulator.cluster().get_pod(&pod.key()).unwrap();
            let condition = pod.condition("DisruptionTarget");
            format!("{:?}", condition.and_then(|condition| condition.observed_generation))
        },
    },
    Difference {
        name: "has_enable_taint_manager_flag",
        last: "1.26",
        before: "true",
        after: "false",
        observe: |release| {
            let flag = format!("cluster {release} --enable-taint-manager=false");
            Session::default().execute(&flag).is_ok().to_string()
        },
    },
];

/// A pod that does not tolerate the taint that its node gets.
fn evicted(release: KubernetesRelease) -> Session {
    play(release, "node n; pod d/p on n; at 1s taints n a")
}

fn first_event(session: &Session, part: fn(&RecordedEvent) -> String) -> String {
    let recorded = session.log().iter().find_map(|event| match &event.what {
        EventKind::EventRecorded(event) => Some(event),
        _ => None,
    });
    part(recorded.unwrap())
}

fn conditions(session: &Session) -> String {
    let pods = session.simulator().unwrap().cluster().pods();
    let types = pods.flat_map(|(_, pod)| pod.status.conditions.iter().map(|c| c.type_.clone()));
    types.collect::<Vec<_>>().join(" ")
}
