//! Compares a program with recorded answers of Kubernetes.
//!
//! ```ignore
//! #[path = "taintlab-vectors/runners/vectors.rs"]
//! mod vectors;
//!
//! #[test]
//! fn tolerations_match() {
//!     let report = vectors::run("taintlab-vectors".as_ref(), "tolerates", |case| {
//!         json!({"tolerates": my_tolerates(&case["toleration"], &case["taint"])})
//!     });
//!     let report = report.unwrap();
//!     assert!(report.agrees(), "{report}");
//! }
//! ```
//!
//! `index.json` says which members of a case are the answer; the others are what the function gets. A
//! member that is absent, null, empty or false counts as the same. It needs the crates `serde_json`
//! and `flate2`.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Error, ErrorKind, Result};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Map, Value};

/// Result for all cases of a family.
#[derive(Debug, Default)]
pub struct Report {
    /// Name of the family.
    pub family: String,
    /// Number of cases that agree.
    pub agreed: usize,
    /// Number of cases that differ.
    pub differed: usize,
    /// Number of cases that differ, and in which Kubernetes itself does not always say the same.
    pub uncertain: usize,
    /// The first differences, in words.
    pub differences: Vec<String>,
}

impl Report {
    /// Whether nothing differs.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.differed == 0 && self.agreed > 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, agreed, differed, uncertain, differences } = self;
        for difference in differences {
            writeln!(f, "{difference}")?;
        }
        write!(f, "{family}: {agreed} of {} agree", agreed + differed)?;
        if *uncertain > 0 { write!(f, ", {uncertain} uncertain differ") } else { Ok(()) }
    }
}

/// Asks `answer` every case of a family.
///
/// # Errors
/// The folder has no such family, or a file cannot be read.
pub fn run(folder: &Path, family: &str, mut answer: impl FnMut(&Value) -> Value) -> Result<Report> {
    let index: Value = serde_json::from_slice(&fs::read(folder.join("index.json"))?)?;
    let known =
        index["families"].as_array().and_then(|all| all.iter().find(|it| it["family"] == family));
    let known =
        known.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("no family {family}")))?;
    let names = |member: &str| -> Vec<&str> {
        known[member].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let (answers, uncertain) = (names("answer"), names("uncertain"));
    let certain = names("uncertainUnless");
    let file = fs::File::open(folder.join(format!("{family}.jsonl.gz")))?;
    let mut report = Report { family: family.to_owned(), ..Report::default() };
    for (number, line) in BufReader::new(GzDecoder::new(file)).lines().enumerate() {
        let mut case: Map<String, Value> = serde_json::from_str(&line?)?;
        let mut expected: Map<String, Value> =
            answers.iter().filter_map(|name| case.remove_entry(*name)).collect();
        for (list, members) in known["steps"].as_object().into_iter().flatten() {
            let steps = case.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            let seen = steps.filter_map(Value::as_object_mut).map(|step| {
                let members = members.as_array().into_iter().flatten().filter_map(Value::as_str);
                Value::Object(members.filter_map(|name| step.remove_entry(name)).collect())
            });
            expected.insert(list.clone(), seen.collect());
        }
        let (case, expected) = (Value::Object(case), Value::Object(expected));
        let got = answer(&case);
        if same(&plain(&got), &plain(&expected)) {
            report.agreed += 1;
        } else if uncertain.iter().any(|name| !is_empty(&case[*name]))
            || certain.iter().any(|name| is_empty(&case[*name]))
        {
            report.uncertain += 1;
        } else {
            report.differed += 1;
            if report.differences.len() < 3 {
                let number = number + 1;
                let text = format!(
                    "{family}, case {number}: {case}\n  expected {expected}\n  got      {got}"
                );
                report.differences.push(text);
            }
        }
    }
    Ok(report)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) | Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// A value without members that are absent, null, empty or false.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| (name.clone(), plain(member)));
            Value::Object(members.filter(|(_, member)| !is_empty(member)).collect())
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        value => value.clone(),
    }
}

/// Whether two plain values are the same; numbers with a fraction may differ in the last digits.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Number(one), Value::Number(other)) if one.is_f64() || other.is_f64() => {
            let (one, other) =
                (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= 1e-6 * one.abs().max(other.abs())
        }
        (one, other) => one == other,
    }
}
