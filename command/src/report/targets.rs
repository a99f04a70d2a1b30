//! Targets of workloads: those of their annotations, and those of a file.

use std::collections::BTreeMap;

use taintlab_answers::problem::{Problem, ProblemCode};
use taintlab_core::report::{Plan, ReportSubject, TARGETS_ANNOTATION, Target, Targets};
use taintlab_manifest::{Limits, Sought, read_value};
use taintlab_words::report::is_match;

use super::changed::places;
use crate::host::Host;
use crate::reading::{Input, named, read_text};
use crate::stop::{Done, Stop};

/// Targets by the names of workloads, with `*` for any characters, the longest name last.
#[derive(Default)]
pub(super) struct TargetsFile(Vec<Named>);

struct Named {
    name: String,
    targets: Vec<Target>,
    place: String,
}

impl TargetsFile {
    /// The file of `--targets`; no targets without one.
    pub(super) fn read(host: &dyn Host, file: Option<&String>) -> Done<Self> {
        let Some(file) = file else { return Ok(Self::default()) };
        let (text, file) = (read_text(host, file)?, named(file));
        let map = read_value::<BTreeMap<String, String>>(&text, file, &Limits::default());
        let map = map.map_err(|wrong| {
            let problem = |it| Problem::of_diagnostic(it, ProblemCode::InvalidManifest);
            Stop::problems(&wrong.into_iter().map(problem).collect::<Vec<_>>())
        })?;
        let named = |(name, value): (String, String)| {
            let is_there =
                |line: &str| line.trim_start_matches([' ', '{', '"', '\'']).starts_with(&name);
            let line = text.lines().position(is_there);
            let line = line.map(|line| format!(":{}", line + 1)).unwrap_or_default();
            let place = format!("{file}{line}: error: {name}");
            let targets =
                Target::parse_all(&value).map_err(|why| Stop::failed(format!("{place}: {why}")))?;
            Ok(Named { name, targets, place })
        };
        let mut all: Vec<Named> = map.into_iter().map(named).collect::<Done<_>>()?;
        all.sort_by_key(|it| it.name.len());
        Ok(Self(all))
    }

    /// Adds the targets of the file in the place of others; of several names that match, the
    /// longest counts.
    pub(super) fn add_to(&self, targets: &mut Targets, subjects: &[ReportSubject]) {
        for Named { name, targets: own, .. } in &self.0 {
            for subject in subjects.iter().filter(|it| is_match(name, &it.to_string())) {
                targets.insert(subject.clone(), own.clone());
            }
        }
    }

    /// Refuses a name that matches no workload, since its targets would never be missed.
    pub(super) fn check(&self, subjects: &[ReportSubject]) -> Done<()> {
        let is_of_none =
            |it: &&Named| !subjects.iter().any(|subject| is_match(&it.name, &subject.to_string()));
        let Some(Named { place, .. }) = self.0.iter().find(is_of_none) else { return Ok(()) };
        let known: Vec<String> = subjects.iter().take(5).map(ToString::to_string).collect();
        let more = if subjects.len() > 5 { " and more" } else { "" };
        let known = known.join(", ");
        Err(Stop::failed(format!("{place}: there is no such workload; there are {known}{more}")))
    }
}

/// The targets in the annotations of a cluster.
pub(super) fn of_annotations(plan: &Plan, inputs: &[Input]) -> Done<Targets> {
    plan.targets().map_err(|(subject, why)| {
        let kind = match &subject {
            ReportSubject::Workload(key) => key.kind.as_str(),
            ReportSubject::Pod(_) => "Pod",
        };
        let text = subject.to_string();
        let mut parts = text.split('/').skip(1).map(str::to_owned);
        let sought = Sought {
            kind: kind.to_owned(),
            namespace: parts.next().unwrap_or_default(),
            name: parts.next().unwrap_or_default(),
            fields: vec![format!("metadata.annotations.{TARGETS_ANNOTATION}")],
        };
        let place = places(inputs, &[sought]).into_iter().next().flatten();
        let place = place.map(|(file, line, column)| format!("{file}:{line}:{column}: "));
        let place = place.unwrap_or_default();
        Stop::failed(format!("{place}error: {subject}: annotation {TARGETS_ANNOTATION}: {why}"))
    })
}
