//! Every difference between releases, on every release, so that a boundary cannot move unnoticed.
//!
//! A row names the method of [`KubernetesRelease`] (or the feature gate) that knows the difference,
//! the last release of the old behaviour, and what is seen before and after. A rule that changes
//! twice has two rows; each speaks of the releases up to the other change. Every row runs the
//! engine, or the console, and looks at it from outside.

mod devices;
mod drain;
mod kubectl;
mod kubelet;
mod node_lifecycle;
mod scheduling;
mod taint_eviction;
mod tolerations;
mod workloads;

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::panic::catch_unwind;
use std::path::Path;

use taintlab_core::event::{Event, EventKind, RequestVerb};
use taintlab_core::release::{FeatureGate, KubernetesRelease};
use taintlab_tests::text::Session;

struct Difference {
    name: &'static str,
    last: &'static str,
    before: &'static str,
    after: &'static str,
    observe: fn(KubernetesRelease) -> String,
}

fn differences() -> impl Iterator<Item = &'static Difference> {
    let subjects = [
        devices::DIFFERENCES,
        drain::DIFFERENCES,
        kubectl::DIFFERENCES,
        kubelet::DIFFERENCES,
        node_lifecycle::DIFFERENCES,
        scheduling::DIFFERENCES,
        taint_eviction::DIFFERENCES,
        tolerations::DIFFERENCES,
        workloads::DIFFERENCES,
    ];
    subjects.into_iter().flatten()
}

/// Runs a script on a release.
fn play(release: KubernetesRelease, script: &str) -> Session {
    let mut session = Session::default();
    let lines = script.replace(';', "\n");
    session.execute(&format!("cluster {release}\n{lines}")).unwrap();
    session
}

/// The first words of the events' messages.
fn verbs(session: &Session) -> String {
    let verb = |event: &Event| match &event.what {
        EventKind::EventRecorded(event) => event.message.split(' ').next().map(str::to_owned),
        _ => None,
    };
    session.log().iter().filter_map(verb).collect::<Vec<_>>().join(" ")
}

fn last_of(difference: &Difference) -> KubernetesRelease {
    KubernetesRelease::parse(difference.last).unwrap()
}

/// The releases that a row speaks of: where the rule of a method changes more than once, those
/// between the changes before and after.
fn range_of(difference: &Difference) -> RangeInclusive<KubernetesRelease> {
    let last = last_of(difference);
    let others = || differences().filter(|other| other.name == difference.name).map(last_of);
    let before = others().filter(|other| *other < last).max();
    let first = KubernetesRelease::all().find(|release| before.is_none_or(|it| it < *release));
    let after = others().filter(|other| last < *other).min();
    first.unwrap()..=after.unwrap_or(KubernetesRelease::NEWEST)
}

#[test]
fn every_difference_on_every_release() {
    let mut failures = String::new();
    for difference in differences() {
        let (last, range) = (last_of(difference), range_of(difference));
        for release in KubernetesRelease::all().filter(|release| range.contains(release)) {
            let expected = if release <= last { difference.before } else { difference.after };
            let observed = catch_unwind(|| (difference.observe)(release));
            let got = observed.unwrap_or_else(|_| "a panic".to_owned());
            if got != expected {
                let name = difference.name;
                failures += &format!("{name} on {release}: expected {expected:?}, got {got:?}\n");
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// A gate can be switched where its stage allows it.
#[test]
fn gates_can_be_switched() {
    let patches = |cluster: &str| {
        let mut session = Session::default();
        session.execute(&format!("cluster {cluster}\nnode n\npod d/p on n\nat 1s taints n a")).map(
            |_| {
                let sent = |event: &Event| {
                    matches!(&event.what, EventKind::Request { verb: RequestVerb::PatchStatus, .. })
                };
                session.log().iter().any(sent)
            },
        )
    };
    assert_eq!(patches("1.25 PodDisruptionConditions=true"), Ok(true));
    assert_eq!(patches("1.26 PodDisruptionConditions=false"), Ok(false));
    assert_eq!(patches("1.30 PodDisruptionConditions=false"), Ok(false));
    assert_eq!(patches("1.31 PodDisruptionConditions=true"), Ok(true));
    for wrong in ["1.24 PodDisruptionConditions=true", "1.31 PodDisruptionConditions=false"] {
        assert!(patches(wrong).is_err(), "{wrong}");
    }
    // Off unless switched on: the operator is refused, and where a pod has it, it never matches.
    let mut session = Session::default();
    let refused = session.execute("cluster 1.35\nnode n a=5\npod d/p on n tolerates a>3/inf");
    assert!(refused.unwrap().contains("Unsupported value: \"Gt\""));
    for release in ["1.34 stand-in", "1.35 stand-in"] {
        let script = format!("cluster {release}\nnode n a=5\npod d/p on n tolerates a>3/inf");
        let mut session = Session::default();
        session.execute(&script).unwrap();
        assert!(verbs(&session).starts_with("Marking"), "{release}");
    }
}

/// Whoever adds a method or a gate adds a row.
#[test]
fn no_difference_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/rules/src");
    let mut files = vec![folder.join("release.rs")];
    let parts = fs::read_dir(folder.join("release")).unwrap();
    files.extend(parts.map(|entry| entry.unwrap().path()));
    let source: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    // Most are `name = 30;` or `name = 30, believed;` in a macro.
    let in_tables = source
        .lines()
        .filter_map(|line| line.trim().split_once(" = "))
        .filter(|(_, minor)| {
            // With a text it is of `changes!`, whose methods are found below.
            let minor = minor.strip_suffix(';').filter(|rest| !rest.contains('"'));
            let minor = minor.and_then(|rest| rest.split(',').next());
            minor.is_some_and(|minor| minor.parse::<u8>().is_ok())
        })
        .map(|(name, _)| name.to_owned());
    let methods = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const fn "))
        .filter_map(|rest| rest.split_once("(self) -> "))
        .filter(|(_, result)| !result.starts_with("Option<Self>"))
        .map(|(name, _)| name.to_owned())
        // Of a gate or of a change, not of a release.
        .filter(|name| !["name", "$name", "as_str", "is_older"].contains(&name.as_str()));
    let gates = FeatureGate::ALL.into_iter().map(|gate| gate.name().to_owned());
    let known: BTreeSet<String> = methods.chain(in_tables).chain(gates).collect();
    let tested: BTreeSet<String> =
        differences().map(|difference| difference.name.to_owned()).collect();
    assert!(known.len() >= 8, "the source has changed: {known:?}");
    assert_eq!(known, tested);
}
