//! Lanes: what they say of examples, as text and as a picture, and what holds for all of them.

use std::fs;
use std::path::Path;

use taintlab_core::lanes::{LaneState, LaneSubject, Lanes};
use taintlab_manifest::{SvgOptions, timeline_svg};

use super::examples::scenarios;

/// The examples whose lanes are kept: an eviction with its chain of causes, a zone, one that is
/// stuck, replacements, the kubelet's evictions, a device.
const KEPT: [&str; 6] = [
    "why-345-seconds",
    "one-zone-of-three",
    "stuck-terminating",
    "service-in-an-outage",
    "who-goes-first",
    "gpu-fails",
];

/// Compares with a file, or writes it with `BLESS=1`.
fn check(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lanes").join(name);
    if std::env::var_os("BLESS").is_some() {
        return fs::write(&path, got).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap();
    assert_eq!(got, wanted, "{name}: BLESS=1 writes it anew");
}

fn text(lanes: &Lanes) -> String {
    let mut text = format!("until {}\n", lanes.until);
    for lane in &lanes.lanes {
        text += &format!("\n{lane}\n");
        for segment in &lane.segments {
            for (word, cause) in [("began", &segment.began), ("cause", &segment.cause)] {
                if let Some(cause) = cause {
                    text += &format!("  {word} {} {}: {}\n", segment.from, cause.at, cause.text);
                }
            }
        }
    }
    text
}

#[test]
fn kept_lanes_are_as_they_were() {
    for (name, scenario) in scenarios() {
        if KEPT.contains(&name.as_str()) {
            let lanes = Lanes::of(&scenario).unwrap();
            check(&format!("{name}.txt"), &text(&lanes));
            let options = SvgOptions { title: scenario.metadata.title, ..SvgOptions::default() };
            check(&format!("{name}.svg"), &timeline_svg(&lanes, &options));
        }
    }
}

#[test]
fn segments_follow_one_another_and_agree_with_the_end() {
    for (name, scenario) in scenarios() {
        let lanes = Lanes::of(&scenario).unwrap();
        let report = scenario.run().unwrap();
        assert_eq!(lanes.until, report.simulator.now(), "{name}");
        let states = report.simulator.pod_states();
        for lane in &lanes.lanes {
            for pair in lane.segments.windows(2) {
                assert!(pair[0].to <= pair[1].from, "{name}: {lane}");
            }
            assert!(lane.segments.iter().all(|it| it.from <= it.to), "{name}: {lane}");
            for segment in &lane.segments {
                for cause in [&segment.began, &segment.cause].into_iter().flatten() {
                    assert!(cause.at <= segment.from, "{name}: {lane}");
                    let event = &report.events[cause.event];
                    assert_eq!((event.at, event.what.to_string()), (cause.at, cause.text.clone()));
                }
            }
            let LaneSubject::Pod { pod } = &lane.subject else { continue };
            let goes_on = lane.segments.last().unwrap().goes_on;
            assert_eq!(goes_on, states.get(pod).is_some(), "{name}: {lane}");
        }
    }
}

#[test]
fn an_eviction_leads_to_the_heartbeat_that_did_not_come() {
    let scenario = scenarios().into_iter().find(|(name, _)| name == "why-345-seconds").unwrap().1;
    let lanes = Lanes::of(&scenario).unwrap();
    let of = |wanted: LaneState| {
        let segments = lanes.lanes.iter().flat_map(|lane| &lane.segments);
        segments.into_iter().find(|segment| segment.state == wanted).unwrap()
    };
    let [stuck, counting, unknown] =
        [of(LaneState::Stuck), of(LaneState::Counting), of(LaneState::Unknown)];
    assert_eq!(stuck.cause, counting.began, "the timer");
    assert!(counting.cause.as_ref().unwrap().text.contains("taints: +"), "{counting:?}");
    assert!(
        unknown.cause.as_ref().unwrap().text.contains("heartbeats of node worker-1 stopped"),
        "{unknown:?}"
    );
}
