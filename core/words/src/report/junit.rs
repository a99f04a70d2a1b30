//! The report for CI, as JUnit.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::report::{Report, TargetResult, TargetVerdict};

use super::targets::sentence;
use super::{Broken, escaped};

/// A case of the test suite.
struct Case<'a> {
    name: String,
    out: String,
    failures: Vec<Cow<'a, str>>,
    is_skipped: bool,
}

/// A case for each workload, which fails if it breaks a rule, for each target, which fails if it is
/// missed and is skipped if it was not asked, and for each broken rule about no workload.
#[must_use]
pub fn junit(report: &Report, targets: &[TargetResult], broken: &[Broken]) -> String {
    let workloads = report.workloads.iter().map(|row| {
        let out = match row.score {
            Some(score) => format!("score {score}: {}", row.arithmetic),
            None => row.arithmetic.clone(),
        };
        let own = broken.iter().filter(|it| it.subject.as_ref() == Some(&row.subject));
        let failures = own.map(|it| it.text.as_str().into()).collect();
        Case { name: row.subject.to_string(), out, failures, is_skipped: false }
    });
    let targets = targets.iter().map(|it| {
        let out = sentence(it);
        let is_missed = it.verdict == TargetVerdict::Missed;
        Case {
            name: format!("{}, {}", it.subject, it.target),
            failures: is_missed.then(|| out.clone().into()).into_iter().collect(),
            is_skipped: it.verdict == TargetVerdict::NotAsked,
            out,
        }
    });
    let general = broken.iter().filter(|it| it.subject.is_none());
    let general = general.map(|it| Case {
        name: it.rule.clone(),
        out: String::new(),
        failures: Vec::from([it.text.as_str().into()]),
        is_skipped: false,
    });
    let cases: Vec<Case<'_>> = workloads.chain(targets).chain(general).collect();
    let failures = cases.iter().filter(|case| !case.failures.is_empty()).count();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    text += &format!(
        "  <testsuite name=\"taintlab report\" tests=\"{}\" failures=\"{failures}\">\n",
        cases.len()
    );
    text += "    <properties>\n";
    for (name, value) in properties(report) {
        let value = escaped(&value);
        text += &format!("      <property name=\"{name}\" value=\"{value}\"/>\n");
    }
    text += "    </properties>\n";
    for Case { name, out, failures, is_skipped } in &cases {
        let name = escaped(name);
        text += &format!("    <testcase classname=\"taintlab report\" name=\"{name}\">");
        for failure in failures {
            let failure = escaped(failure);
            text += &format!("<failure message=\"{failure}\">{failure}</failure>");
        }
        text += if *is_skipped { "<skipped/>" } else { "" };
        text += &format!("<system-out>{}</system-out></testcase>\n", escaped(out));
    }
    let notes = escaped(&report.notes.join("\n"));
    text + &format!("    <system-out>{notes}</system-out>\n  </testsuite>\n</testsuites>\n")
}

/// The known properties of the report.
fn properties(report: &Report) -> impl Iterator<Item = (&'static str, String)> {
    let outline = &report.outline;
    let (cluster, source) = (&outline.cluster, &outline.options.source);
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    let properties = [
        ("report", Some(report.heading.clone())),
        ("cluster", filled(cluster.name.clone())),
        ("digest", Some(cluster.digest.clone())),
        ("context", source.context.clone()),
        ("server", source.server.clone()),
        ("moment", cluster.at.map(|at| at.to_string())),
        ("release", Some(outline.release.to_string())),
        ("taintlab", Some(outline.version.clone())),
        ("notRead", filled(source.not_read.join("; "))),
        ("verdict", report.verdict.clone()),
        ("score", report.score.as_ref().map(|it| it.score.to_string())),
        ("missing", filled(report.missing.join("; "))),
    ];
    properties.into_iter().filter_map(|(name, value)| Some((name, value?)))
}
