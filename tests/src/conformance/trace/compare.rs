//! Facts of the recording against those of the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::play::Played;
use super::recorded::Trace;
use super::seen::{LATENCY, Life, NodeState, Printed, Recorded, Seen, without_suffix};
use crate::conformance::report::{FileReport, SHOWN};

/// Least duration of a compared state of a node, in seconds: a state of about [`LATENCY`] may be
/// shorter on the other side.
const LASTING: f64 = 1.5;
/// How much older or younger an age in a table may be, in seconds.
const AGE: u64 = 3;
/// Events that are compared by whether they were recorded, not by how often.
const BUDGET_REASONS: [&str; 3] =
    ["NoControllers ", "CalculateExpectedPodCountFailed ", "MultiplePodDisruptionBudgets "];
/// How many attempts of the scheduler there may be more or fewer.
const RACES: u64 = 1;
/// What a life's moments are.
const MOMENTS: [&str; 5] = ["created", "bound", "ready", "deleted", "gone"];
/// How a message begins that stands for several, of which nobody knows which.
const COMBINED: &str = "(combined from similar events)";
/// What comes before a value that was drawn: identities and hashes.
const DRAWN: [&str; 6] = [
    "containerd://",
    "sha256:",
    "controller-uid=",
    "controller-revision-hash=",
    "pod-template-hash=",
    "pod-template-generation=",
];

/// Compares fact by fact.
pub(super) fn report(trace: &Trace, played: &Played) -> FileReport {
    let mut report = TraceReport {
        sides: (&trace.seen, &played.seen),
        agree: 0,
        differ: 0,
        skipped: 0,
        differences: String::new(),
    };
    report.nodes();
    report.pods(trace.until);
    report.events();
    for (expected, got) in trace.seen.printed.iter().zip(&played.seen.printed) {
        report.printed(expected, got);
    }
    FileReport {
        name: trace.name.clone(),
        agree: report.agree,
        skipped: report.skipped,
        total: report.agree + report.differ + report.skipped,
        taken: trace.taken() + played.taken,
        differences: report.differences,
    }
}

struct TraceReport<'s> {
    /// The recording, and the engine.
    sides: (&'s Seen, &'s Seen),
    agree: usize,
    differ: usize,
    skipped: usize,
    differences: String,
}

impl TraceReport<'_> {
    fn fact(&mut self, agrees: bool, about: &str, expected: &str, got: &str) {
        if agrees {
            self.agree += 1;
            return;
        }
        self.differ += 1;
        if self.differ <= SHOWN {
            let _ = write!(
                self.differences,
                "\n  {about}\n    expected  {expected}\n    got       {got}"
            );
        }
    }

    /// Each state of a node that lasts is a fact: `Ready`, and the taints with their values and
    /// times.
    fn nodes(&mut self) {
        let (expected, got) = self.sides;
        let names: BTreeSet<&String> = expected.nodes.keys().chain(got.nodes.keys()).collect();
        for name in names {
            let of = |seen: &Seen| lasting(seen.nodes.get(name).map_or(&[], Vec::as_slice));
            let (expected, got) = (of(expected), of(got));
            for at in 0..expected.len().max(got.len()) {
                let (one, other) = (expected.get(at), got.get(at));
                let agrees = one.zip(other).is_some_and(|(one, other)| {
                    let added = one.added.iter().zip(&other.added);
                    one.text == other.text && is_near(one.at, other.at) && { added }
                        .all(|(one, other)| one.is_nan() && other.is_nan() || is_near(*one, *other))
                });
                self.fact(agrees, &format!("node {name}"), &state(one), &state(other));
            }
        }
    }

    /// Each life of a pod is a fact, and the node that it was on is another, unless that was taken
    /// from the record. Of those whose names are drawn each is compared with the one most like it.
    fn pods(&mut self, until: f64) {
        let (expected, got) = self.sides;
        let (expected, got) = (groups(expected), groups(got));
        let names: BTreeSet<&String> = expected.keys().chain(got.keys()).copied().collect();
        for name in names {
            let [mut one, mut other] =
                [&expected, &got].map(|lives| lives.get(name).cloned().unwrap_or_default());
            let about = format!("pod {name}");
            let is_like = |one: &Life, other: &Life| same_moments(one, other, until);
            let node = |one: &Life, other: &Life| one.node == other.node;
            for (one, other) in take_pairs(&mut one, &mut other, |a, b| is_like(a, b) && node(a, b))
            {
                self.fact(true, &about, "", "");
                if !other.by_lot && (!one.node.is_empty() || !other.node.is_empty()) {
                    self.fact(true, &about, "", "");
                }
            }
            for (one, other) in take_pairs(&mut one, &mut other, is_like) {
                self.fact(true, &about, "", "");
                if !other.by_lot {
                    let (one, other) = (life(Some(one)), life(Some(other)));
                    self.fact(false, &format!("{about}: node"), &one, &other);
                }
            }
            for at in 0..one.len().max(other.len()) {
                let (one, other) = (one.get(at).copied(), other.get(at).copied());
                self.fact(false, &about, &life(one), &life(other));
                if let Some((one, other)) = one.zip(other).filter(|(_, other)| !other.by_lot) {
                    self.fact(
                        one.node == other.node,
                        &format!("{about}: node"),
                        &one.node,
                        &other.node,
                    );
                }
            }
        }
    }

    /// How often an event was recorded is a fact, and in which words is another.
    fn events(&mut self) {
        let (expected, got) = self.sides;
        let names: BTreeSet<&String> = expected.events.keys().chain(got.events.keys()).collect();
        let none = Recorded::default();
        for name in names {
            // How often a budget is looked at depends on how late its informers are.
            if name.starts_with("NoPods ") {
                self.skipped += 1;
                continue;
            }
            let one = expected.events.get(name).unwrap_or(&none);
            let other = got.events.get(name).unwrap_or(&none);
            let once = BUDGET_REASONS.iter().any(|reason| name.starts_with(reason));
            let is_attempt = name.starts_with("FailedScheduling ");
            let count = |recorded: &Recorded| {
                if once { recorded.times.min(1) } else { recorded.times }
            };
            let times = |recorded| format!("{} times", count(recorded));
            let ((said, combined), (says, _)) = (messages(one, expected), messages(other, got));
            // Whether a pod is tried between two writes that are some ms apart is a race: one
            // attempt more, in words that the other side has, too.
            let (more, fewer) =
                if one.times > other.times { (&said, &says) } else { (&says, &said) };
            let is_race = is_attempt
                && one.times.min(other.times) > 0
                && one.times.abs_diff(other.times) <= RACES
                && more.is_subset(fewer);
            let agrees = count(one) == count(other) || is_race;
            self.fact(agrees, &format!("event {name}"), &times(one), &times(other));
            if one.times == 0 || other.times == 0 {
                continue;
            }
            // A repeated Event keeps the text of its first attempt.
            let missing = said.difference(&says).next();
            let more = says.difference(&said).next().filter(|_| !combined && !is_attempt);
            let show =
                |text: Option<&String>| text.map_or("no other words".to_owned(), Clone::clone);
            self.fact(
                missing.is_none() && more.is_none(),
                &format!("words of event {name}"),
                &show(missing),
                &show(more),
            );
        }
    }

    /// What a line of kubectl printed is a fact, and in which order is another.
    fn printed(&mut self, expected: &Printed, got: &Printed) {
        let exit = |printed: &Printed| format!("exit {}", printed.exit.unwrap_or_default());
        let compare = |got: &Printed| {
            let is_waited_for = expected.exit.is_some();
            let difference = is_waited_for && expected.exit != got.exit;
            let mut difference = difference.then(|| (exit(expected), exit(got)));
            let mut disorder = None;
            for (one, other) in [(&expected.stdout, &got.stdout), (&expected.stderr, &got.stderr)] {
                let text = Text { seen: self.sides.0, engine: self.sides.1, line: &expected.line };
                match text.difference(one, other) {
                    Ok(lines) => disorder = disorder.or(lines),
                    Err(lines) => difference = difference.or(Some(lines)),
                }
            }
            (difference, disorder)
        };
        // The recorded line read the cluster at some moment of its time.
        let mut best = compare(got);
        if let (Some(_), Some(later)) = (&best.0, &got.later) {
            let (difference, disorder) = compare(later);
            if difference.is_none() {
                best = (None, disorder);
            }
        }
        let (difference, disorder) = best;
        let about = format!("kubectl {}", expected.line);
        let (one, other) = difference.clone().unwrap_or_default();
        self.fact(difference.is_none(), &about, &one, &other);
        let lines = expected.stdout.lines().count().max(expected.stderr.lines().count());
        if difference.is_none() && lines > 1 {
            let about = format!("order of the lines of {about}");
            let (one, other) = disorder.clone().unwrap_or_default();
            self.fact(disorder.is_none(), &about, &format!("{one}\n      {other}"), "other order");
        }
    }
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= LATENCY
}

fn state(state: Option<&NodeState>) -> String {
    let Some(NodeState { at, text, added }) = state else { return "nothing".to_owned() };
    let added = added.iter().filter(|added| !added.is_nan());
    let added: String = added.map(|added| format!(", added at {added:.0} s")).collect();
    format!("{at:.2} s {text}{added}")
}

/// The states that are not over at once.
fn lasting(states: &[NodeState]) -> Vec<NodeState> {
    let mut kept: Vec<NodeState> = Vec::new();
    for (at, state) in states.iter().enumerate() {
        let ends = states.get(at + 1).map_or(f64::INFINITY, |next| next.at);
        if ends - state.at > LASTING && kept.last().is_none_or(|last| last.text != state.text) {
            kept.push(state.clone());
        }
    }
    kept
}

/// The pairs of both lists that are alike, each taken once; what is left stays in its order.
fn take_pairs<'l>(
    one: &mut Vec<&'l Life>,
    other: &mut Vec<&'l Life>,
    is_like: impl Fn(&Life, &Life) -> bool,
) -> Vec<(&'l Life, &'l Life)> {
    let mut pairs = Vec::new();
    one.retain(|life| match other.iter().position(|another| is_like(life, another)) {
        Some(at) => {
            pairs.push((*life, other.remove(at)));
            false
        }
        None => true,
    });
    pairs
}

fn same_moments(one: &Life, other: &Life, until: f64) -> bool {
    one.moments.iter().zip(&other.moments).all(|moments| match moments {
        (Some(one), Some(other)) => is_near(*one, *other),
        (None, None) => true,
        // It had just not happened when the recording ended.
        (Some(t), None) | (None, Some(t)) => is_near(until, *t),
    })
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

fn life(life: Option<&Life>) -> String {
    let Some(life) = life else { return "nothing".to_owned() };
    let moments = MOMENTS.iter().zip(life.moments);
    let moments = moments.filter_map(|(name, t)| Some(format!("{name} {:.2}", t?)));
    let text = moments.collect::<Vec<_>>().join(", ");
    format!("{text} ({})", if life.node.is_empty() { "no node" } else { &life.node })
}

/// The messages of an Event without what is drawn, and whether some are combined.
fn messages(recorded: &Recorded, seen: &Seen) -> (BTreeSet<String>, bool) {
    let (combined, whole): (Vec<&String>, Vec<&String>) =
        recorded.messages.iter().partition(|text| text.starts_with(COMBINED));
    (whole.into_iter().map(|text| plain(text, seen)).collect(), !combined.is_empty())
}

/// A message without what is drawn.
fn plain(text: &str, seen: &Seen) -> String {
    // A map chooses which of several budgets is named.
    let text = text.split_once(" Chose ").map_or(text, |(before, _)| before);
    let words = text.split_whitespace().map(|word| match is_uid(word) {
        true => "UID".to_owned(),
        false => without_lots(word, seen),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn is_uid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && word.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// What a line of kubectl printed on both sides.
struct Text<'s> {
    seen: &'s Seen,
    engine: &'s Seen,
    line: &'s str,
}

impl Text<'_> {
    /// The first two lines whose order is another, if all of them are the same; else the first that
    /// only one of two texts has.
    fn difference(
        &self,
        expected: &str,
        got: &str,
    ) -> Result<Option<(String, String)>, (String, String)> {
        let is_of_budget = |line: &&str| {
            line.contains(" NoPods ")
                || BUDGET_REASONS.iter().any(|reason| line.contains(&format!(" {reason}")))
        };
        // Without those events a budget may have none at all.
        let is_heading = |line: &&str| {
            let heads = ["Events:", "Type ", "---- "];
            self.line.starts_with("describe pdb")
                && heads.iter().any(|head| line.trim_start().starts_with(head))
        };
        let [expected, got] = [expected, got].map(|text| {
            let mut lines = without_bookkeeping(text);
            lines.retain(|line| !is_of_budget(line) && !is_heading(line));
            lines
        });
        let mut left: Vec<(usize, &str)> = got.iter().copied().enumerate().collect();
        let (mut missing, mut order) = (Vec::new(), Vec::new());
        for line in &expected {
            match left.iter().position(|(_, other)| self.same_line(line, other)) {
                Some(at) => order.push((*line, left.remove(at).0)),
                None => missing.push(*line),
            }
        }
        let mut left: Vec<&str> = left.into_iter().map(|(_, line)| line).collect();
        self.drop_races(&mut missing, self.seen, &got, self.engine);
        self.drop_races(&mut left, self.engine, &expected, self.seen);
        if missing.is_empty() && left.is_empty() {
            return Ok(self.disorder(&order));
        }
        let show = |lines: Vec<&str>| lines.first().map_or("no such line", |line| line).to_owned();
        Err((show(missing), show(left)))
    }

    /// Of lines that only one side has, drops those that are a race of the scheduler: of each pod
    /// one attempt more, in words that the other side has, too.
    fn drop_races(&self, lines: &mut Vec<&str>, own: &Seen, others: &[&str], other: &Seen) {
        let message = |line: &str, seen: &Seen| {
            let text = line.split_once("FailedScheduling")?.1;
            let words = text.split_whitespace();
            // Age, and the object or the component, are before the message.
            let words = words.skip_while(|word| {
                let word = word.trim_matches(['(', ')']);
                age(word).is_some()
                    || word.starts_with("pod/")
                    || word == "default-scheduler"
                    || word.starts_with('x')
                    || word == "over"
            });
            Some(plain(&words.collect::<Vec<_>>().join(" "), seen))
        };
        let mut tried = BTreeSet::new();
        lines.retain(|line| {
            let Some(text) = message(line, own) else { return true };
            let pod = line.split_whitespace().find(|word| word.starts_with("pod/"));
            let pod = pod.map(|word| without_lots(word, own));
            let is_of_pod = |name: &str| {
                pod.as_deref().is_none_or(|pod| name.ends_with(&pod.replace("pod/", "Pod/")))
            };
            let said = others.iter().any(|line| message(line, other).as_ref() == Some(&text))
                || other.events.iter().any(|(name, recorded)| {
                    name.starts_with("FailedScheduling ")
                        && is_of_pod(name)
                        && messages(recorded, other).0.contains(&text)
                });
            !(said && tried.insert(pod))
        });
    }

    /// The first two lines that have another order in the other text. Lines with drawn names have
    /// none, and neither have descriptions of them, events of about the same time and pods that are
    /// drained beside one another.
    fn disorder(&self, lines: &[(&str, usize)]) -> Option<(String, String)> {
        let is_drawn = |line: &str| {
            let parts = line.split([' ', '/', ',', ':', ';', '"', '\'', '(', ')', '[', ']']);
            { parts }.any(|name| !name.is_empty() && self.seen.is_drawn(name))
        };
        let age_of_event = |line: &str| {
            let words = || line.split_whitespace();
            words().find(|word| matches!(*word, "Normal" | "Warning"))?;
            words().find_map(age)
        };
        let is_text = self.line.starts_with("describe") || self.line.contains("-o");
        if self.line.starts_with("drain") || is_text && lines.iter().any(|(line, _)| is_drawn(line))
        {
            return None;
        }
        let certain: Vec<&(&str, usize)> =
            lines.iter().filter(|(line, _)| !is_drawn(line)).collect();
        certain.iter().enumerate().find_map(|(at, (line, place))| {
            let (before, _) = certain.iter().take(at).find(|(before, earlier)| {
                let ages = age_of_event(line).zip(age_of_event(before));
                earlier > place && ages.is_none_or(|(one, other)| one.abs_diff(other) > AGE)
            })?;
            Some(((*before).to_owned(), (*line).to_owned()))
        })
    }

    /// Whether two lines say the same, but for what is drawn by lot, and ages.
    fn same_line(&self, expected: &str, got: &str) -> bool {
        let Self { seen, engine, line } = self;
        let (one, other): (Vec<&str>, Vec<&str>) =
            (expected.split_whitespace().collect(), got.split_whitespace().collect());
        // An event that is repeated at once, and what the control plane creates when it starts.
        let any_age = ["FailedScheduling", "service/kubernetes"];
        let of_control_plane = ["ns", "namespace", "namespaces", "leases", "lease"];
        let is_old = any_age.iter().any(|word| one.contains(word))
            || line.split_whitespace().any(|word| of_control_plane.contains(&word));
        let ages = if is_old { u64::MAX } else { AGE };
        // kubectl sorts the pods of a reason, and the reasons come out of a map.
        if expected.contains("unable to drain node") && got.contains("unable to drain node") {
            let sorted = |words: &[&str], seen: &Seen| {
                let mut words: Vec<String> =
                    words.iter().map(|word| without_lots(bare(word), seen)).collect();
                words.sort();
                words
            };
            return sorted(&one, seen) == sorted(&other, engine);
        }
        let of_pod = one.iter().any(|word| seen.is_drawn(word));
        let is_value = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| one.get(at));
            before.is_some_and(|word| word.ends_with("-hash:") || word.ends_with("-uid:"))
        };
        one.len() == other.len()
            && one.iter().zip(&other).enumerate().all(|(at, (one, other))| {
                one == other
                    || age(bare(one))
                        .zip(age(bare(other)))
                        .is_some_and(|(a, b)| a.abs_diff(b) <= ages)
                    || without_lots(one, seen) == without_lots(other, engine)
                    || is_address(one) && is_address(other)
                    || clock(one).zip(clock(other)).is_some_and(|(a, b)| a.abs_diff(b) <= AGE)
                    || is_value(at)
                    || of_pod && seen.nodes.contains_key(*one) && seen.nodes.contains_key(*other)
            })
    }
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
        let kept =
            ["resourceVersion:", "uid:", "\"resourceVersion\":", "\"uid\":", "taintlab/run-time"];
        if !kept.iter().any(|field| trimmed.starts_with(field)) {
            lines.push(line);
        }
    }
    lines
}

/// A word with groups in place of the names of pods, such as `default/web-7c5d-x2k9p,`, and without
/// the values of labels that are drawn.
fn without_lots(word: &str, seen: &Seen) -> String {
    let ends = ['/', ',', ':', ';', '"', '\''];
    if let Some(drawn) = DRAWN.iter().find(|drawn| word.starts_with(**drawn) && drawn.contains(':'))
    {
        return (*drawn).to_owned();
    }
    let parts = word.split_inclusive(ends);
    let parts = parts.map(|part| {
        let name = part.trim_end_matches(ends);
        let known = match DRAWN.iter().find(|drawn| name.starts_with(**drawn)) {
            Some(drawn) => (*drawn).to_owned(),
            None if seen.sets.contains(name) => format!("{}-*", without_suffix(name)),
            None => seen.group_of_pod(name),
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

/// A word without the brackets around it.
fn bare(word: &str) -> &str {
    word.trim_matches(['(', ')', '[', ']', ','])
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
