//! Facts of the recording against those of the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::recorded::Trace;
use super::seen::{Life, Printed, Seen, without_suffix};
use crate::conformance::runner::{FileReport, SHOWN};

/// How much later or earlier a moment may be, in seconds: latencies of a loaded machine.
pub(super) const LATENCY: f64 = 1.0;
/// How much older or younger an age in a table may be, in seconds.
const AGE: u64 = 3;
/// Events that are compared by whether they were recorded, not by how often.
const BUDGET_REASONS: [&str; 3] =
    ["NoControllers ", "CalculateExpectedPodCountFailed ", "MultiplePodDisruptionBudgets "];
/// How many attempts of the scheduler there may be more or fewer.
const RACES: u64 = 1;
/// What a life's moments are.
const MOMENTS: [&str; 5] = ["created", "bound", "ready", "deleted", "gone"];

/// Compares fact by fact.
pub(super) fn report(trace: &Trace, got: &Seen) -> FileReport {
    let mut report = TraceReport::default();
    report.nodes(&trace.seen, got);
    report.pods(trace, got);
    report.events(&trace.seen, got);
    for (expected, got_line) in trace.seen.printed.iter().zip(&got.printed) {
        report.printed(expected, got_line, &trace.seen, got);
    }
    FileReport {
        name: trace.name.clone(),
        agree: report.agree,
        skipped: 0,
        total: report.total,
        differences: report.differences,
    }
}

#[derive(Default)]
struct TraceReport {
    agree: usize,
    total: usize,
    differences: String,
}

impl TraceReport {
    fn fact(&mut self, agrees: bool, about: &str, expected: &str, got: &str) {
        self.total += 1;
        if agrees {
            self.agree += 1;
        } else if self.total - self.agree <= SHOWN {
            let _ = write!(
                self.differences,
                "\n  {about}\n    expected  {expected}\n    got       {got}"
            );
        }
    }

    /// Each state of a node that lasts is a fact.
    fn nodes(&mut self, expected: &Seen, got: &Seen) {
        let names: BTreeSet<&String> = expected.nodes.keys().chain(got.nodes.keys()).collect();
        for name in names {
            let of = |seen: &Seen| lasting(seen.nodes.get(name).map_or(&[], Vec::as_slice));
            let (expected, got) = (of(expected), of(got));
            for at in 0..expected.len().max(got.len()) {
                let (one, other) = (expected.get(at), got.get(at));
                let agrees = one.zip(other).is_some_and(|(one, other)| {
                    one.1 == other.1 && (one.0 - other.0).abs() <= LATENCY
                });
                let show = |state: Option<&(f64, String)>| {
                    state.map_or("nothing".to_owned(), |(t, state)| format!("{t:.2} s {state}"))
                };
                self.fact(agrees, &format!("node {name}"), &show(one), &show(other));
            }
        }
    }

    /// Each life of a pod is a fact. Those whose names are drawn are compared in order.
    fn pods(&mut self, trace: &Trace, got: &Seen) {
        let (expected, got) = (groups(&trace.seen), groups(got));
        let names: BTreeSet<&String> = expected.keys().chain(got.keys()).copied().collect();
        let none = Vec::new();
        for name in names {
            let (expected, got) =
                (expected.get(name).unwrap_or(&none), got.get(name).unwrap_or(&none));
            for at in 0..expected.len().max(got.len()) {
                let (one, other) = (expected.get(at), got.get(at));
                let agrees = one.zip(other).is_some_and(|(one, other)| {
                    one.moments.iter().zip(&other.moments).all(|moments| match moments {
                        (Some(one), Some(other)) => (one - other).abs() <= LATENCY,
                        (None, None) => true,
                        // It had just not happened when the recording ended.
                        (Some(t), None) | (None, Some(t)) => (trace.until - t).abs() <= LATENCY,
                    })
                });
                self.fact(agrees, &format!("pod {name}"), &life(one), &life(other));
            }
        }
    }

    /// How often an event was recorded is a fact.
    fn events(&mut self, expected: &Seen, got: &Seen) {
        let names: BTreeSet<&String> = expected.events.keys().chain(got.events.keys()).collect();
        for name in names {
            // How often a budget is looked at depends on how late its informers are.
            if name.starts_with("NoPods ") {
                continue;
            }
            let once = BUDGET_REASONS.iter().any(|reason| name.starts_with(reason));
            let count = |seen: &Seen| {
                let count = seen.events.get(name).copied().unwrap_or_default();
                if once { count.min(1) } else { count }
            };
            let (one, other) = (count(expected), count(got));
            let times = |count| format!("{count} times");
            let agrees = if name.starts_with("FailedScheduling ") {
                // Whether a pod is tried between two writes that are some ms apart is a race.
                one.abs_diff(other) <= RACES && one.min(other) > 0
            } else {
                one == other
            };
            self.fact(agrees, &format!("event {name}"), &times(one), &times(other));
        }
    }

    /// What a line of kubectl printed is a fact.
    fn printed(&mut self, expected: &Printed, got: &Printed, seen: &Seen, engine: &Seen) {
        let exits = |printed: &Printed| format!("exit {}", printed.exit);
        let mut difference = (expected.exit != got.exit).then(|| (exits(expected), exits(got)));
        for (one, other) in [(&expected.stdout, &got.stdout), (&expected.stderr, &got.stderr)] {
            difference = difference.or_else(|| text_difference(one, other, seen, engine));
        }
        let about = format!("kubectl {}", expected.line);
        let (one, other) = difference.clone().unwrap_or_default();
        self.fact(difference.is_none(), &about, &one, &other);
    }
}

/// The states that are not over at once.
fn lasting(states: &[(f64, String)]) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    for (at, state) in states.iter().enumerate() {
        let ends = states.get(at + 1).map_or(f64::INFINITY, |next| next.0);
        if ends - state.0 > LATENCY && kept.last().is_none_or(|last| last.1 != state.1) {
            kept.push(state.clone());
        }
    }
    kept
}

fn groups(seen: &Seen) -> BTreeMap<&String, Vec<&Life>> {
    let mut groups: BTreeMap<&String, Vec<&Life>> = BTreeMap::new();
    for life in seen.pods.values() {
        groups.entry(&life.group).or_default().push(life);
    }
    let whole = |moment: Option<f64>| moment.map_or(i64::MAX, |t| t.round() as i64);
    for lives in groups.values_mut() {
        lives.sort_by_key(|life| {
            let [created, bound, ready, deleted, gone] = life.moments.map(whole);
            (created, deleted, gone, bound, ready)
        });
    }
    groups
}

fn life(life: Option<&&Life>) -> String {
    let Some(life) = life else { return "nothing".to_owned() };
    let moments = MOMENTS.iter().zip(life.moments);
    let moments = moments.filter_map(|(name, t)| Some(format!("{name} {:.2}", t?)));
    moments.collect::<Vec<_>>().join(", ")
}

/// The first line that only one of two texts has.
fn text_difference(
    expected: &str,
    got: &str,
    seen: &Seen,
    engine: &Seen,
) -> Option<(String, String)> {
    let is_of_budget = |line: &&str| {
        line.contains(" NoPods ")
            || BUDGET_REASONS.iter().any(|reason| line.contains(&format!(" {reason}")))
    };
    let mut left = without_bookkeeping(got);
    left.retain(|line| !is_of_budget(line));
    let mut missing = Vec::new();
    for line in without_bookkeeping(expected).into_iter().filter(|line| !is_of_budget(line)) {
        match left.iter().position(|other| same_line(line, other, seen, engine)) {
            Some(at) => {
                left.remove(at);
            }
            None => missing.push(line),
        }
    }
    let (missing, left) = (without_races(missing), without_races(left));
    if missing.is_empty() && left.is_empty() {
        return None;
    }
    let show = |lines: Vec<&str>| lines.first().map_or("no such line", |line| line).to_owned();
    Some((show(missing), show(left)))
}

/// The lines of a text without what an API server keeps for itself of each object: who set which
/// field (`managedFields`, of which `kubectl` prints some hundred lines to 1.20), how often
/// anything has been written (`resourceVersion`), and the UID.
fn without_bookkeeping(text: &str) -> Vec<&str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(outer) = inside {
            let more =
                indent(line) > outer || indent(line) == outer && trimmed.starts_with(['-', ']']);
            if more {
                continue;
            }
            inside = None;
        }
        if matches!(trimmed, "managedFields:" | "\"managedFields\": [") {
            inside = Some(indent(line));
            continue;
        }
        let kept = ["resourceVersion:", "uid:", "\"resourceVersion\":", "\"uid\":"];
        if !kept.iter().any(|field| trimmed.starts_with(field)) {
            lines.push(line);
        }
    }
    lines
}

/// Of lines that only one side has, those that are no race of the scheduler: of each pod one
/// attempt more.
fn without_races(mut lines: Vec<&str>) -> Vec<&str> {
    let mut tried = BTreeSet::new();
    lines.retain(|line| {
        let pod = line.split_whitespace().find(|word| word.starts_with("pod/"));
        !(line.contains(" FailedScheduling ") && tried.insert(pod.map(str::to_owned)))
    });
    lines
}

/// Whether two lines say the same, but for what is drawn by lot, and ages.
fn same_line(expected: &str, got: &str, seen: &Seen, engine: &Seen) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) =
        (expected.split_whitespace().collect(), got.split_whitespace().collect());
    // An event that is repeated at once, and the Service that the control plane creates when it
    // starts.
    let any_age = ["FailedScheduling", "service/kubernetes"];
    let ages = if any_age.iter().any(|word| one.contains(word)) { u64::MAX } else { AGE };
    let of_pod = one.iter().any(|word| seen.pods.values().any(|life| life.name == *word));
    one.len() == other.len()
        && one.iter().zip(&other).all(|(one, other)| {
            one == other
                || age(one).zip(age(other)).is_some_and(|(a, b)| a.abs_diff(b) <= ages)
                || without_lots(one, seen) == without_lots(other, engine)
                || is_address(one) && is_address(other)
                || clock(one).zip(clock(other)).is_some_and(|(a, b)| a.abs_diff(b) <= AGE)
                || is_drawn(one, other)
                || of_pod && seen.nodes.contains_key(*one) && seen.nodes.contains_key(*other)
        })
}

/// A word with groups in place of the names of pods, such as `default/web-7c5d-x2k9p,`.
fn without_lots(word: &str, seen: &Seen) -> String {
    let parts = word.split_inclusive(['/', ',', ':', ';', '"', '\'']);
    let parts = parts.map(|part| {
        let name = part.trim_end_matches(['/', ',', ':', ';', '"', '\'']);
        let known = match seen.sets.contains(name) {
            true => format!("{}-*", without_suffix(name)),
            false => seen.group_of_pod(name),
        };
        part.replacen(name, &known, usize::from(!name.is_empty()))
    });
    parts.collect()
}

/// The seconds of a time of day, such as `05:41:07` or `2026-11-22T05:41:07Z`.
fn clock(text: &str) -> Option<u64> {
    let text = text.trim_matches('"').trim_end_matches('Z');
    let text = text.split_once('T').map_or(text, |(_, time)| time);
    let parts: Vec<u64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    Some(hours * 3600 + minutes * 60 + seconds)
}

/// Whether both are numbers that nobody can know: identities and hashes.
fn is_drawn(one: &str, other: &str) -> bool {
    let drawn = [
        "containerd://",
        "sha256:",
        "controller-uid=",
        "controller-revision-hash=",
        "pod-template-hash=",
    ];
    drawn.iter().any(|begin| one.starts_with(begin) && other.starts_with(begin))
}

/// The seconds of an age as kubectl prints it: `2m5s`.
fn age(text: &str) -> Option<u64> {
    let mut seconds = 0;
    let mut number = String::new();
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' => {
                number.push(letter);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return None,
        };
        seconds += number.parse::<u64>().ok()? * unit;
        number.clear();
    }
    (number.is_empty() && !text.is_empty()).then_some(seconds)
}

fn is_address(text: &str) -> bool {
    text.split('.').count() == 4 && text.split('.').all(|part| part.parse::<u8>().is_ok())
}
