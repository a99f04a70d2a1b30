//! Full-text search in small collections: scenarios, commands.

use taintlab_core::order::{Order, OrderedSet};
use taintlab_core::scenario::ScenarioMetadata;

/// Words that mean the same to a user who searches. A word stands for each one of its row.
const MEANINGS: [&[&str]; 12] = [
    &["long", "late", "slow", "slowly", "minute", "minutes", "wait", "time", "delay", "seconds"],
    &["die", "dies", "dead", "lost", "down", "crash", "crashed", "fails", "failure", "unreachable"],
    &["evict", "evicted", "eviction", "killed", "kicked", "removed", "deleted"],
    &["pending", "unschedulable", "schedule", "scheduled", "placed", "0/3"],
    &["stuck", "hang", "hangs", "hanging", "terminating", "frozen"],
    &["az", "zone", "zones", "region", "datacenter", "site"],
    &["memory", "oom", "disk", "pressure", "pid", "kubelet"],
    &["spot", "preemptible", "autoscaler", "karpenter", "scale"],
    &["upgrade", "maintenance", "drain", "cordon", "reboot", "patch"],
    &["budget", "pdb", "disruption"],
    &["volume", "pvc", "storage", "disk", "stateful", "statefulset"],
    &["node", "vm", "machine", "host", "server", "instance"],
];

/// An entry to be found: its texts, each with the weight of its words.
pub(crate) type Entry<'a> = Vec<(f64, &'a str)>;

/// The entry of a scenario: title and tags weigh most, the answer least.
pub(crate) fn of_scenario(about: &ScenarioMetadata) -> Entry<'_> {
    let ScenarioMetadata { name, title, question, answer, tags, .. } = about;
    let tags = tags.iter().map(|tag| (3.0, tag.as_str()));
    let texts = [(4.0, name), (4.0, title), (3.0, question), (1.0, answer)];
    texts.into_iter().map(|(weight, text)| (weight, text.as_str())).chain(tags).collect()
}

/// The places of the entries that fit the search, the best first; all of them if nothing is
/// searched for. A word in few entries counts more than one in many, so that the small words of a
/// question do no harm. A word is found by its beginning, a number as a whole; a word of the same
/// meaning counts half.
pub(crate) fn ranked(search: &str, entries: &[Entry<'_>]) -> Vec<usize> {
    let asked: Vec<String> = words(search).collect();
    if asked.is_empty() {
        return (0..entries.len()).collect();
    }
    let texts: Vec<Vec<(f64, Vec<String>)>> = entries
        .iter()
        .map(|entry| entry.iter().map(|(weight, text)| (*weight, words(text).collect())).collect())
        .collect();
    let mut scores = vec![0.0; entries.len()];
    for word in &asked {
        let meanings = MEANINGS.iter().filter(|row| row.contains(&word.as_str()));
        let alike: OrderedSet<&str> = meanings.flat_map(|row| row.iter().copied()).collect();
        let whole = word.bytes().all(|letter| letter.is_ascii_digit());
        let is_it = |it: &String| if whole { it == word } else { it.starts_with(word.as_str()) };
        let found: Vec<f64> = texts
            .iter()
            .map(|texts| {
                let best = texts.iter().map(|(weight, words)| {
                    if words.iter().any(is_it) {
                        *weight
                    } else if words.iter().any(|it| alike.contains(it.as_str())) {
                        weight / 2.0
                    } else {
                        0.0
                    }
                });
                best.fold(0.0, f64::max)
            })
            .collect();
        let with = found.iter().filter(|weight| **weight > 0.0).count();
        let rare = (1.0 + entries.len() as f64 / with.max(1) as f64).ln() - 0.6;
        for (score, found) in scores.iter_mut().zip(found) {
            *score += found * rare.max(0.0);
        }
    }
    let best = scores.iter().copied().fold(0.0, f64::max);
    let fits = |score: f64| score > 0.0 && score >= 0.5 * best;
    let mut places: Vec<usize> =
        (0..).zip(&scores).filter(|(_, score)| fits(**score)).map(|(place, _)| place).collect();
    let score = |place: &usize| scores.get(*place).copied().unwrap_or_default();
    places.order_by(|a, b| score(b).total_cmp(&score(a)));
    places
}

/// The words of a text, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '/');
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use taintlab_manifest::{ImportOptions, read_scenario};

    use super::*;
    use crate::samples;

    fn found(search: &str) -> Vec<&'static str> {
        let about = |(name, text): (&'static str, &str)| {
            let mut none = |_: &str| Err("there are no files".to_owned());
            let read = read_scenario(text, name, ImportOptions::default(), &mut none);
            (name, read.scenario.unwrap().metadata)
        };
        let all: Vec<_> = samples::all().map(about).collect();
        let entries: Vec<Entry<'_>> = all.iter().map(|(_, about)| of_scenario(about)).collect();
        ranked(search, &entries).into_iter().map(|place| all[place].0).collect()
    }

    #[test]
    fn a_question_finds_its_scenario_whatever_its_words() {
        for (search, wanted, among) in [
            ("why did my pod take 6 minutes", "why-345-seconds", 6),
            ("statefulset stuck", "stuck-terminating", 8),
            ("preemption", "preemption-in-an-outage", 3),
            ("345", "why-345-seconds", 4),
        ] {
            let found = found(search);
            let place = found.iter().position(|name| *name == wanted);
            assert!(place.is_some_and(|place| place < among), "{search}: {found:?}");
        }
        assert_eq!(found("zzzz"), Vec::<&str>::new());
        assert!(found("").len() > 50);
    }
}
