//! Runs beside one another, and moments of a run: causes, areas, comparisons, conditions.

use taintlab_core::condition::Condition;
use taintlab_core::event::Event;
use taintlab_core::lanes::area::Area;
use taintlab_core::lanes::comparison::{Comparison, Run};
use taintlab_core::lanes::{LaneRecorder, LaneState, LaneSubject, Lanes, Segment};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{Expectation, Player, Scenario};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::examples::scenarios;

fn scenario(name: &str) -> Scenario {
    scenarios().into_iter().find(|(known, _)| known == name).unwrap().1
}

/// A run to its end.
struct Done {
    simulator: Simulator,
    recorder: LaneRecorder,
    events: Vec<Event>,
}

impl Done {
    fn of(scenario: &Scenario) -> Self {
        let mut simulator = scenario.simulator().unwrap();
        let mut recorder = LaneRecorder::new(&simulator);
        let mut player = Player::new(scenario);
        let mut events = Vec::new();
        while let Ok(ended) = player.run_to_end(&mut simulator, 1) {
            let new = simulator.drain_events();
            recorder.record(&simulator, &new);
            events.extend(new);
            if ended == taintlab_core::scenario::Ended::AtRest {
                break;
            }
        }
        Self { simulator, recorder, events }
    }

    /// The segments of an object; those that go on end where the run does.
    fn segments(&self, subject: &LaneSubject) -> Vec<Segment> {
        let segments = self.recorder.segments(subject).iter().cloned();
        let end = self.simulator.now();
        segments.map(|it| Segment { to: if it.goes_on { end } else { it.to }, ..it }).collect()
    }

    fn run<'a>(&'a self, name: &'a str) -> Run<'a> {
        let (simulator, recorder, events) = (&self.simulator, &self.recorder, &self.events);
        Run { name, simulator, recorder, events }
    }
}

#[test]
fn an_eviction_leads_back_to_the_kubelet_that_was_not_heard() {
    let done = Done::of(&scenario("why-345-seconds"));
    let pod = LaneSubject::Pod { pod: taintlab_core::api::PodKey::new("", "web-0") };
    let last = done.recorder.segments(&pod).len() - 1;
    let causes = done.recorder.causes(&pod, last);
    let texts: Vec<_> = causes.iter().map(|it| format!("{} {}", it.at, it.text)).collect();
    for (index, wanted) in [
        "5m45.1s DELETE default/web-0",
        "45.1s default/web-0: deletion scheduled",
        "45.1s node worker-1 taints: +",
        "45.1s node worker-1 dequeued",
        "40.0084s node worker-1 Ready: True -> Unknown",
        "3s heartbeats of node worker-1 stopped",
    ]
    .into_iter()
    .enumerate()
    {
        let text = texts.get(index).map_or("", String::as_str);
        assert!(text.starts_with(wanted), "{index}: {wanted}: {texts:#?}");
    }
    assert_eq!(texts.len(), 6, "{texts:#?}");
}

/// A clock that is set back and runs on finds the same lanes again.
#[test]
fn what_was_forgotten_comes_back_the_same() {
    for (name, scenario) in scenarios() {
        let middle = Done::of(&scenario).simulator.now().as_nanos() / 2;
        let mut simulator = scenario.simulator().unwrap();
        let mut recorder = LaneRecorder::new(&simulator);
        let mut player = Player::new(&scenario);
        let mut seen = 0;
        let mut kept = None;
        loop {
            let next = player.next(&simulator).map(|next| next.at);
            if kept.is_none() && next.is_none_or(|at| at.as_nanos() > middle) {
                kept = Some((simulator.snapshot(), player.clone(), seen));
            }
            let ended = player.run_to_end(&mut simulator, 1).unwrap();
            let events = simulator.drain_events();
            seen += events.len();
            recorder.record(&simulator, &events);
            if ended == taintlab_core::scenario::Ended::AtRest {
                break;
            }
        }
        let Some((snapshot, mut player, events)) = kept else { continue };
        let whole = recorder.lanes(simulator.now());
        simulator.restore(&snapshot);
        recorder.go_back(&simulator, events);
        assert_eq!(recorder.events(), events, "{name}");
        for subject in recorder.subjects() {
            for segment in recorder.segments(subject) {
                assert!(segment.from <= simulator.now(), "{name}: {subject}");
            }
        }
        recorder.play_to_end(&mut player, &mut simulator).unwrap();
        assert_eq!(recorder.lanes(simulator.now()), whole, "{name}");
    }
}

#[test]
fn what_an_area_expects_turned_out_to_be_true() {
    let mut all = 0;
    for (name, scenario) in scenarios() {
        let done = Done::of(&scenario);
        let subjects = done.recorder.subjects().cloned().collect();
        let whole = (Timestamp::ZERO, done.simulator.now());
        let area = Area::of(|it| done.segments(it), &done.events, &subjects, whole);
        for expectation in &area.expect {
            let outcome = expectation.check(&done.events, &done.simulator);
            assert_eq!(outcome.failure, None, "{name}: {}", outcome.expectation);
        }
        all += area.expect.len();
    }
    assert!(all > 500, "{all}");
}

#[test]
fn an_area_counts_and_adds_up() {
    let done = Done::of(&scenario("why-345-seconds"));
    let subjects = done.recorder.subjects().cloned().collect();
    let time = (Timestamp::from_secs(40), Timestamp::from_secs(60));
    let area = Area::of(|it| done.segments(it), &done.events, &subjects, time);
    let states: Vec<_> = area.states.iter().map(ToString::to_string).collect();
    let wanted = [
        "1 zone Normal, 20s",
        "2 nodes ready, 40s",
        "1 node kubelet unreachable, 8.4ms",
        "1 node Unknown, 19.9916s",
        "1 pod ready, 33.4ms",
        "1 pod not ready, 5.0666s",
        "1 pod counting down, 14.9s",
    ];
    assert_eq!(states, wanted);
    let evicted = |it: &Expectation| matches!(it, Expectation::Evicted(_));
    assert!(!area.expect.iter().any(evicted), "that is later");
    assert!(area.expect.len() >= 3, "{:?}", area.expect);
}

#[test]
fn two_releases_part_where_the_grace_period_ends() {
    let old = scenario("why-345-seconds");
    let mut new = old.clone();
    new.kubernetes.release = Some(KubernetesRelease::parse("1.35").unwrap());
    new.expect.clear();
    let [old, new] = [Done::of(&old), Done::of(&new)];
    let same = Comparison::of([old.run("a"), old.run("b")]);
    assert_eq!(same.divergence, None);
    assert!(same.subjects.is_empty() && same.sentence().starts_with("Nothing differs"));
    let comparison = Comparison::of([old.run("1.31"), new.run("1.35")]);
    let divergence = comparison.divergence.as_ref().unwrap();
    assert_eq!(divergence.at.as_nanos() / 1_000_000, 40_008, "50 s since 1.32");
    assert_eq!(
        divergence.text,
        "They diverge at 40.008s: node worker-1 is Unknown (NodeStatusUnknown) in “1.31”, and is kubelet \
         unreachable (the kubelet is stopped) in “1.35”, until they match again at 50.01s."
    );
    assert_eq!(comparison.evicted(), [1, 1]);
    let at = comparison.evictions[0].1.map(|at| at.unwrap().as_nanos() / 1_000_000_000);
    assert!(at[0] < at[1], "{at:?}");
    let markdown = comparison.to_markdown();
    assert!(markdown.contains("| Pods evicted | 1 | 1 |"), "{markdown}");
    assert!(markdown.contains("| default/web-0 evicted | **5m45.1s** | **"), "{markdown}");
}

#[test]
fn other_seconds_change_who_is_evicted_when() {
    let slow = scenario("service-in-an-outage");
    let mut fast = slow.clone();
    fast.set_toleration_seconds(10);
    fast.expect.clear();
    let [slow, fast] = [Done::of(&slow), Done::of(&fast)];
    let comparison = Comparison::of([slow.run("slow"), fast.run("fast")]);
    let first = comparison.evictions.iter().filter_map(|(_, [slow, fast])| slow.zip(*fast));
    assert!(first.clone().count() > 0 && first.clone().all(|(slow, fast)| fast < slow));
    let lost: Vec<_> = comparison.downtimes.iter().collect();
    assert!(
        lost.iter()
            .any(|(_, [slow, fast])| { fast.unwrap().longest_gap.0 < slow.unwrap().longest_gap.0 }),
        "{lost:?}"
    );
}

#[test]
fn conditions_read_as_they_are_written_and_hold_when_it_is_so() {
    let scenario = scenario("why-345-seconds");
    let mut simulator = scenario.simulator().unwrap();
    let mut player = Player::new(&scenario);
    let lines = [
        ("pod/default/web-0 counting", 45_100),
        ("pod/default/web-0 stuck", 345_100),
        ("node/worker-1 unknown", 40_008),
        ("node/worker-1 tainted", 45_100),
        ("node/worker-1 tainted=node.kubernetes.io/unreachable", 45_100),
    ];
    let mut since = [None; 5];
    let conditions = lines.map(|(line, _)| Condition::parse(line, &simulator).unwrap());
    for (condition, (line, _)) in conditions.iter().zip(lines) {
        assert_eq!(condition.to_string(), line);
    }
    while player
        .run_to_end(&mut simulator, 1)
        .is_ok_and(|it| it == taintlab_core::scenario::Ended::TooManyMoments)
    {
        for (condition, since) in conditions.iter().zip(&mut since) {
            if condition.holds(&simulator) {
                since.get_or_insert(simulator.now());
            }
        }
    }
    for ((line, at), since) in lines.into_iter().zip(since) {
        assert_eq!(since.map(|since| since.as_nanos() / 1_000_000), Some(at), "{line}");
    }
    for (line, said) in [
        ("worker-1 tainted", "names no object"),
        ("node/worker-1 gonee", "valid states are tainted, untainted"),
        ("pod/web-0", "is not a state of a pod"),
        ("zone/nowhere normal", "no zone is called"),
        ("deployment/web ready=3", "ready<N"),
    ] {
        let error = Condition::parse(line, &simulator).unwrap_err();
        assert!(error.contains(said), "{line}: {error}");
    }
}

#[test]
fn what_is_offered_can_be_read() {
    for (name, scenario) in scenarios() {
        let simulator = scenario.simulator().unwrap();
        for object in Condition::complete("", &simulator) {
            assert!(object.ends_with(' '), "{name}: {object}");
            for line in Condition::complete(&object, &simulator) {
                let read = Condition::parse(&line, &simulator);
                let zone_without_name = line.starts_with("zone/ ");
                assert!(read.is_ok() || zone_without_name, "{name}: {line}: {read:?}");
            }
        }
    }
    let simulator = scenario("sample-cluster").simulator().unwrap();
    let offered = Condition::complete("node/worker-1 t", &simulator);
    assert_eq!(offered, ["node/worker-1 tainted"]);
}

#[test]
fn lanes_of_a_run_are_those_of_its_recorder() {
    let scenario = scenario("one-zone-of-three");
    let done = Done::of(&scenario);
    let lanes = Lanes::of(&scenario).unwrap();
    assert_eq!(done.recorder.lanes(done.simulator.now()), lanes);
    assert_eq!(done.recorder.last_change(), lanes.last_change());
    let zone = done.recorder.subjects().next().unwrap();
    assert!(done.recorder.segments(zone).iter().any(|it| it.state == LaneState::Normal));
}
