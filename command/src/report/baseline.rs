//! Comparison of a report with an earlier one.

use serde::Serialize;
use serde_json::Value;
use taintlab_answers::read::decode;
use taintlab_core::report::{
    Difference, EarlierReport, Plan, Report, ReportOptions, Verdict, judge,
};
use taintlab_manifest::is_scenario;
use taintlab_words::report::{
    Broken, ChangedObject, difference_markdown, difference_terminal, worse,
};

use super::changed::{changed, to_json};
use super::targets::{TargetsFile, of_annotations};
use super::{cluster_in, put_together, run_all, stop_of};
use crate::annotations::{Annotation, Level};
use crate::host::Host;
use crate::line::ReportOptions as Line;
use crate::reading::{Input, named, read_inputs};
use crate::stop::{Done, Stop};

/// The rule of every annotation.
pub(super) const RULE: &str = "worse-than-baseline";

/// The report before.
pub(super) struct Baseline {
    report: EarlierReport,
    /// The texts that it is about; none if it was made before.
    inputs: Vec<Input>,
}

/// The difference from the baseline.
pub(super) struct Compared {
    pub(super) difference: Difference,
    /// Changes in the objects, if those of the baseline are known.
    pub(super) changed: Option<Vec<ChangedObject>>,
}

/// The difference as a part of a report in JSON.
#[derive(Serialize)]
pub(super) struct Written<'r> {
    difference: &'r Difference,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Vec<Value>>,
}

impl Baseline {
    /// The baseline of a command line, if there is one.
    pub(super) fn of(
        host: &dyn Host,
        line: &Line,
        options: &ReportOptions,
        file: &TargetsFile,
    ) -> Done<Option<Self>> {
        let Some(first) = line.baseline.first() else { return Ok(None) };
        let inputs = read_inputs(host, &line.baseline, &[])?;
        if let [Input { file, text, .. }] = inputs.as_slice()
            && let Some(report) = report_in(file, text)?
        {
            // Times end with the horizon, so those of another one cannot be compared.
            let (was, is) = (report.outline.options.horizon, options.horizon);
            if was != is {
                let why =
                    format!("its runs were watched for {was}, not {is}; give --horizon {was}");
                return Err(Stop::failed(format!("{}: error: {why}", named(file))));
            }
            return Ok(Some(Self { report, inputs: Vec::new() }));
        }
        let cluster = cluster_in(host, &inputs, first, &line.kubernetes)?;
        let options = ReportOptions { remedies: 0, ..options.clone() };
        let plan = Plan::new(cluster.scenario, options);
        let mut plan = plan.map_err(|error| stop_of("report", &error, &line.kubernetes))?;
        let runs = plan.runs();
        let made = run_all(host, &mut plan, runs, Vec::new(), false, super::workers_of(line)?)?;
        if made.interrupted {
            return Err(Stop::failed("error: --baseline: it was interrupted"));
        }
        let report = put_together(plan.outline(), &made.results);
        let mut report =
            report.map_err(|error| Stop::failed(format!("error: --baseline: {error}")))?;
        let mut targets = of_annotations(&plan, &inputs)?;
        file.add_to(&mut targets, &report.outline.subjects);
        judge(&mut report, &targets);
        Ok(Some(Self { report: report.into(), inputs }))
    }

    /// Difference of a report of these texts.
    pub(super) fn compare(&self, report: &Report, inputs: &[Input]) -> Compared {
        let of_manifests = |inputs: &[Input]| {
            !inputs.is_empty() && !inputs.iter().any(|input| is_scenario(&input.text))
        };
        let known = of_manifests(&self.inputs) && of_manifests(inputs);
        Compared {
            difference: Difference::of(&self.report, report),
            changed: known.then(|| changed(&self.inputs, inputs)),
        }
    }
}

/// The report that a text is, unless it is something else.
fn report_in(file: &str, text: &str) -> Done<Option<EarlierReport>> {
    if !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    if value.get("outline").is_none() || value.get("cells").is_none() {
        return Ok(None);
    }
    decode(value, "").map(Some).map_err(|wrong| {
        let why = wrong.0;
        let why = why.trim_start_matches('.');
        Stop::failed(format!("{}: error: this report is damaged: {why}", named(file)))
    })
}

impl Compared {
    /// Broken rules: of the baseline itself, and of workloads that got worse.
    pub(super) fn broken(&self) -> Vec<Broken> {
        worse(&self.difference)
    }

    pub(super) fn terminal(&self, host: &dyn Host) -> String {
        difference_terminal(&self.difference, self.changed.as_deref(), host.style())
    }

    pub(super) fn markdown(&self) -> String {
        difference_markdown(&self.difference, self.changed.as_deref())
    }

    pub(super) fn json(&self) -> Written<'_> {
        let changed = self.changed.as_ref();
        let changed = changed.map(|changed| changed.iter().map(to_json).collect());
        Written { difference: &self.difference, changed }
    }

    /// Workloads that got worse, each at the first change in its object.
    pub(super) fn annotations(&self) -> Vec<Annotation> {
        let changed = self.changed.as_deref().unwrap_or_default();
        let missing = self.difference.missing.len();
        let broken = self.broken();
        let (of_baseline, of_workloads) = broken.split_at(missing.min(broken.len()));
        let of_baseline = of_baseline.iter().map(|it| Annotation {
            rule: RULE,
            level: Level::Error,
            place: None,
            text: it.text.clone(),
        });
        let said = self.difference.with_verdict(Verdict::Worse).zip(of_workloads);
        let said = said.map(|(change, broken)| {
            let is_own = |it: &&ChangedObject| it.subject.is_some() && it.subject == change.subject;
            let own: Vec<&ChangedObject> = changed.iter().filter(is_own).collect();
            // Another object is to blame where its own is as before.
            let first = own.first().copied().or(changed.first());
            let place = first.and_then(|it| Some((it.file.clone()?, it.line, it.column)));
            let whats = own.iter().map(|it| format!("\n{}", it.what));
            let text = format!("{}{}", broken.text, whats.collect::<String>());
            Annotation { rule: RULE, level: Level::Error, place, text }
        });
        of_baseline.chain(said).collect()
    }
}
