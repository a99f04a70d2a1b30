//! The report as gauges of Prometheus.

use alloc::format;
use alloc::string::{String, ToString};

use taintlab_core::report::{Millis, Outcome, Report, TargetResult, TargetVerdict, worst_outcomes};

/// A time of an outcome.
type Time = fn(&Outcome) -> Millis;

/// The report in the text format of Prometheus: the score of the cluster and of each workload, and for
/// each kind of failure the time without any ready pod and with fewer than wanted; for each target
/// that was asked whether it is met, and the longest time.
#[must_use]
pub fn prometheus(report: &Report, targets: &[TargetResult]) -> String {
    let mut text = String::new();
    let head = |text: &mut String, name: &str, help: &str| {
        *text += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
    };
    if let Some(score) = &report.score {
        head(&mut text, "taintlab_score", "Score of the cluster, from 0 for lost to 100.");
        text += &format!("taintlab_score {}\n", score.score);
    }
    head(&mut text, "taintlab_workload_score", "Score of a workload in its worst failure.");
    for row in &report.workloads {
        if let Some(score) = row.score {
            let labels = labels(&[("workload", &row.subject.to_string())]);
            text += &format!("taintlab_workload_score{labels} {score}\n");
        }
    }
    let outcomes = worst_outcomes(report);
    let gauges: [(&str, &str, Time); 2] = [
        ("taintlab_zero_ready_seconds", "Time without any ready pod.", |it| it.at_zero),
        ("taintlab_below_seconds", "Time with fewer ready pods than wanted.", |it| it.below),
    ];
    for (name, help, time) in gauges {
        head(&mut text, name, &format!("{help} In the worst failure of a kind."));
        for (subject, kind, fault, outcome) in &outcomes {
            let labels = labels(&[
                ("workload", &subject.to_string()),
                ("kind", kind.as_str()),
                ("fault", &fault.to_string()),
            ]);
            text += &format!("{name}{labels} {}\n", seconds(time(outcome)));
        }
    }
    if targets.is_empty() {
        return text;
    }
    let asked = || targets.iter().filter_map(|it| Some((it, it.worst?)));
    let own = |it: &TargetResult| {
        labels(&[("workload", &it.subject.to_string()), ("target", &it.target.to_string())])
    };
    head(&mut text, "taintlab_target_met", "Whether a target is met: 1 or 0.");
    for (it, _) in asked() {
        let met = u8::from(it.verdict == TargetVerdict::Met);
        text += &format!("taintlab_target_met{} {met}\n", own(it));
    }
    head(&mut text, "taintlab_target_seconds", "Longest time in the failures of a target.");
    for (it, worst) in asked() {
        text += &format!("taintlab_target_seconds{} {}\n", own(it), seconds(worst));
    }
    text
}

fn seconds(Millis(millis): Millis) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

/// Labels with their values quoted.
fn labels(labels: &[(&str, &str)]) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut text = String::new();
    for (name, value) in labels {
        let comma = if text.is_empty() { "" } else { "," };
        text += &format!("{comma}{name}=\"{}\"", quoted(value));
    }
    format!("{{{text}}}")
}
