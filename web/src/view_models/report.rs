//! The resilience report on the page: a heat map, the findings, and the changes that would help.

use std::cmp::Reverse;

use std::rc::Rc;

use taintlab_core::order::{Order, OrderedMap, OrderedSet};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::report::{
    Cell, ClusterIdentity, DomainKind, Effect, Fault, Finding, Millis, Report, ReportOptions,
    ReportSubject, Run,
};
use taintlab_core::time::Timestamp;
use taintlab_words::report::{FalseAlarms, failure, noun};
use yew::AttrValue;

use crate::text::{at, count};

#[cfg(test)]
mod tests;

/// Columns of a table at most: the workloads that its rows harm most.
const MOST_COLUMNS: usize = 24;
/// Rows of a table at first, and at most.
const FIRST_ROWS: usize = 8;
const MOST_ROWS: usize = 500;
/// Workloads that a row names at most.
const MOST_NAMED: usize = 2;
/// Workloads and findings that are shown at first, and at most.
const FIRST_WORKLOADS: usize = 20;
const MOST_WORKLOADS: usize = 500;
const MOST_FINDINGS: usize = 40;

/// A moment of a run, to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The run.
    pub(crate) run: Run,
    /// The failure: the part that fails, and how.
    pub(crate) name: String,
    /// The time since the fault.
    pub(crate) at: Millis,
    /// The workload that it is about.
    pub(crate) subject: Option<ReportSubject>,
    /// The description of the moment.
    pub(crate) what: String,
}

/// A failure and a workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapCell {
    /// The run, at its worst moment.
    pub(crate) moment: Rc<Moment>,
    /// The time for which pods are missing.
    pub(crate) below: Millis,
    /// The shade, from 0 for harmless to 1 for the worst of the report.
    pub(crate) heat: f64,
    /// The harm.
    pub(crate) harm: Millis,
    /// The harm of the same cell in the report before, if that differs.
    pub(crate) before: Option<Millis>,
}

/// A failure, or several alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapRow {
    /// The part that fails, and how.
    pub(crate) name: AttrValue,
    /// The effect on the workloads, in a sentence.
    pub(crate) what: AttrValue,
    /// The number of the row, and whether it is unfolded, if it stands for several failures.
    pub(crate) folds: Option<(usize, bool)>,
    /// Whether it is one of several that are unfolded.
    pub(crate) is_unfolded: bool,
    /// The harm, column by column; none where there is none.
    pub(crate) cells: Vec<Option<MapCell>>,
}

/// The failures of one kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    /// The kind.
    pub(crate) kind: DomainKind,
    /// The heading: `3 zones`.
    pub(crate) title: String,
    /// The workloads that the rows harm most.
    pub(crate) columns: Vec<ReportSubject>,
    /// The number of further workloads that they harm.
    pub(crate) more_columns: usize,
    /// The failures, the worst first.
    pub(crate) rows: Vec<MapRow>,
    /// The number of further rows.
    pub(crate) more_rows: usize,
}

/// The part of a report that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// A part of the names of failures or workloads.
    pub(crate) text: String,
    /// The harm.
    pub(crate) only: Only,
    /// The rows that are unfolded.
    pub(crate) open: OrderedSet<usize>,
    /// The kinds with all of their rows shown.
    pub(crate) all: OrderedSet<DomainKind>,
    /// Whether all workloads are listed.
    pub(crate) all_workloads: bool,
}

/// The harm that is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Only {
    /// Any harm.
    #[default]
    Any,
    /// No pod is ready for a while.
    Zero,
    /// Pods are missing at the end.
    Never,
}

impl Only {
    fn counts(self, cell: &Cell) -> bool {
        match self {
            Self::Any => cell.harm.0 > 0,
            Self::Zero => cell.at_zero_spread.max.0 > 0,
            Self::Never => cell.never_whole_again > 0,
        }
    }
}

/// A workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorkloadRow {
    /// The name.
    pub(crate) name: String,
    /// The score, with its arithmetic.
    pub(crate) score: (Option<u32>, String),
    /// The score in the report before.
    pub(crate) before: Option<u32>,
    /// The worst failure: its name, the fewest ready, below, at zero, whole again.
    pub(crate) worst: [String; 5],
}

/// The workloads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Workloads {
    /// The workloads that a failure harms, the worst first.
    pub(crate) rows: Vec<WorkloadRow>,
    /// The number of further workloads.
    pub(crate) more: usize,
    /// The number of workloads that no failure harms.
    pub(crate) unharmed: usize,
    /// Number of all workloads.
    pub(crate) all: usize,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FindingRow {
    /// The finding in a sentence.
    pub(crate) what: String,
    /// The reason.
    pub(crate) why: String,
    /// The worst moment.
    pub(crate) moment: Rc<Moment>,
    /// Other findings of the same cause.
    pub(crate) others: Vec<Rc<Moment>>,
    /// The changes that help: each with its effect, and the YAML.
    pub(crate) effects: Vec<(String, Rc<str>)>,
    /// The changes that were tried and do not help, in a line.
    pub(crate) no_help: Option<String>,
    /// The evictions that would be unnecessary.
    pub(crate) false_alarms: Option<FalseAlarms>,
}

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportView {
    /// The report itself.
    pub(crate) report: Report,
    /// The work that it is about.
    pub(crate) work: WorkKey,
    /// The differences from the report before, if there was one of the same cluster.
    pub(crate) changes: Option<String>,
    /// The findings, the worst first.
    pub(crate) findings: Vec<FindingRow>,
    /// The harm in the report before.
    old: Option<OrderedMap<Name, Millis>>,
    /// The score of each workload in the report before.
    old_scores: OrderedMap<ReportSubject, u32>,
    /// The harmful cells of each failure.
    cells: OrderedMap<(usize, String), Vec<usize>>,
    /// The harm of the worst cell, but for failures of the whole cluster.
    worst: u64,
}

/// The work of the page that a report is about: the cluster, and its state at that time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkKey {
    /// The cluster.
    pub(crate) cluster: Rc<ClusterIdentity>,
    /// The release of Kubernetes.
    pub(crate) release: KubernetesRelease,
    /// The name of its branch.
    pub(crate) branch: Rc<str>,
    /// The number of edits of that branch.
    pub(crate) edits: usize,
    /// The moment.
    pub(crate) now: Timestamp,
}

impl WorkKey {
    /// The name of its cluster in a sentence.
    fn name(&self) -> String {
        match self.cluster.name.as_str() {
            "" => "a cluster without a title".to_owned(),
            title => format!("“{title}”"),
        }
    }

    /// The moment: `2m0s on 1.35`, with the differences from another work.
    fn moment(&self, other: &Self) -> String {
        let mut text = format!("{} on {}", at(self.now), self.release);
        if self.branch != other.branch {
            text += &format!(" on branch “{}”", self.branch);
        }
        if self.edits != other.edits {
            text += &format!(" with {}", count(self.edits, "edit"));
        }
        text
    }

    /// The difference between the work on the page and this one, which a report is about.
    fn differs(&self, page: &Self) -> Option<String> {
        if !self.cluster.is_same(&page.cluster) {
            return Some(format!(
                "This report is about another cluster: {}. The page shows {}.",
                self.name(),
                page.name()
            ));
        }
        let differs = (self.now, self.release, &self.branch, self.edits)
            != (page.now, page.release, &page.branch, page.edits);
        differs.then(|| {
            format!("Made at {}; the page shows {}.", self.moment(page), page.moment(self))
        })
    }
}

/// A stage of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The cluster comes to rest.
    Settling,
    /// The failures are run.
    Failing,
    /// The changes that may help are run.
    Helping,
    /// The results are put together.
    Joining,
}

/// The state of reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReportState {
    /// The progress: the stage, runs made, and runs planned. None if no report is being made.
    pub(crate) progress: Option<(Stage, usize, usize)>,
    /// Whether it was told to stop.
    pub(crate) stopping: bool,
    /// The last report.
    pub(crate) report: Option<Rc<ReportView>>,
    /// The reason why there is none.
    pub(crate) error: Option<AttrValue>,
    /// The last options that were asked for.
    pub(crate) options: Rc<ReportOptions>,
    /// The cluster for which they were asked for.
    pub(crate) asked_of: Option<Rc<ClusterIdentity>>,
    /// The names of the branches that show runs of the last report.
    pub(crate) opened: Vec<String>,
}

impl ReportState {
    /// The difference between the work on the page and that of the last report. A run that was
    /// opened from that report, and not edited since, is no other work.
    pub(crate) fn differs(&self, page: &WorkKey) -> Option<String> {
        let work = &self.report.as_ref()?.work;
        let is_run = page.edits == 0
            && page.release == work.release
            && page.cluster.is_same(&work.cluster)
            && self.opened.iter().any(|name| **name == *page.branch);
        if is_run { None } else { work.differs(page) }
    }
}

/// A message about reports.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReportMsg {
    /// Begin a report.
    Begin(Box<ReportOptions>),
    /// Stop, and show the results so far.
    Stop,
    /// Open a moment of a run.
    Open(Rc<Moment>),
    /// Offer the report as JSON.
    Download,
}

/// The identity of a cell across reports: its failure, and the workload that it harms.
type Name = (String, ReportSubject);

impl ReportView {
    /// The view of a report, with the one before it if that is about the same cluster.
    pub(crate) fn of(report: Report, work: WorkKey, before: Option<&Self>) -> Self {
        let is_same = |it: &&Self| it.report.outline.cluster.is_same(&report.outline.cluster);
        let before = before.filter(is_same);
        let mut cells: OrderedMap<(usize, String), Vec<usize>> = OrderedMap::new();
        for (number, cell) in report.cells.iter().enumerate().filter(|(_, it)| it.harm.0 > 0) {
            cells.entry((cell.domain, cell.fault.to_string())).or_default().push(number);
        }
        let old = before.map(|before| harms(&before.report));
        let scores = before.into_iter().flat_map(|before| &before.report.workloads);
        Self {
            changes: before.zip(old.as_ref()).map(|(before, old)| {
                changes(&report, &before.report, old) + &unlike(&work, &before.work)
            }),
            findings: findings(&report),
            old_scores: scores.filter_map(|it| Some((it.subject.clone(), it.score?))).collect(),
            worst: report
                .cells
                .iter()
                .filter(|cell| {
                    let domain = report.outline.domains.get(cell.domain);
                    domain.is_some_and(|domain| !domain.whole_cluster)
                })
                .map(|cell| cell.harm.0)
                .max()
                .unwrap_or(1),
            work,
            old,
            cells,
            report,
        }
    }

    /// The failures that are looked at, kind by kind. Without a text, failures that are alike are
    /// one row; with one, each is by itself, and the one that harms the named workloads most comes
    /// first.
    pub(crate) fn sections(&self, look: &Look) -> Vec<Section> {
        let text = look.text.trim().to_ascii_lowercase();
        let has = |name: &str| name.to_ascii_lowercase().contains(&text);
        let mut named: OrderedSet<&ReportSubject> = OrderedSet::new();
        if !text.is_empty() {
            let subjects = self.report.outline.subjects.iter();
            named.extend(subjects.filter(|subject| has(&subject.to_string())));
        }
        let counts = |cell: &Cell| look.only.counts(cell);
        let is_found = |cell: &Cell| counts(cell) && named.contains(&cell.worst.subject);
        let mut kinds: Vec<(DomainKind, Vec<Unit<'_>>)> = Vec::new();
        for (number, row) in self.report.rows.iter().enumerate() {
            let folded = text.is_empty();
            let mut units = Vec::new();
            if folded {
                let is_open = look.open.contains(&number);
                let name = row.name.clone();
                let unit = self.unit(&row.fault, row.domains.first().copied(), name, &counts);
                let folds = (row.domains.len() > 1).then_some((number, is_open));
                units.push(Unit { what: &row.what, folds, ..unit });
            }
            if !folded || look.open.contains(&number) {
                for domain in row.domains.iter().take(MOST_ROWS) {
                    let name = failure(&self.report, *domain, &row.fault);
                    let is_named = folded || has(&name);
                    let unit = if is_named {
                        self.unit(&row.fault, Some(*domain), name, &counts)
                    } else {
                        self.unit(&row.fault, Some(*domain), name, &is_found)
                    };
                    if is_named || !unit.cells.is_empty() {
                        units.push(Unit { is_unfolded: folded, ..unit });
                    }
                }
            }
            units.retain(|unit| look.only == Only::Any || !unit.cells.is_empty());
            match kinds.last_mut() {
                Some((kind, all)) if *kind == row.kind => all.extend(units),
                _ => kinds.push((row.kind, units)),
            }
        }
        kinds.retain(|(_, units)| !units.is_empty());
        kinds.into_iter().map(|(kind, units)| self.section(kind, units, look)).collect()
    }

    /// A failure, with those of its cells that count.
    fn unit<'a>(
        &'a self,
        fault: &Fault,
        domain: Option<usize>,
        name: String,
        counts: &dyn Fn(&Cell) -> bool,
    ) -> Unit<'a> {
        let numbers = domain.and_then(|domain| self.cells.get(&(domain, fault.to_string())));
        let cells = numbers.into_iter().flatten().filter_map(|it| self.report.cells.get(*it));
        let mut cells: Vec<_> = cells.filter(|cell| counts(cell)).collect();
        cells.order_by_key(|cell| Reverse(cell.harm));
        Unit { name, what: "", folds: None, is_unfolded: false, cells }
    }

    fn section(&self, kind: DomainKind, mut units: Vec<Unit<'_>>, look: &Look) -> Section {
        if !look.text.trim().is_empty() {
            units.order_by_key(|unit| Reverse(unit.harm()));
        }
        let rows = units.len();
        let unfolded = units.iter().filter(|unit| unit.is_unfolded).count();
        let most = if look.all.contains(&kind) { MOST_ROWS } else { FIRST_ROWS + unfolded };
        units.truncate(most);
        // Each row has the same say in the choice of workloads.
        let mut weights: OrderedMap<&ReportSubject, f64> = OrderedMap::new();
        for unit in &units {
            for cell in &unit.cells {
                *weights.entry(&cell.worst.subject).or_default() += share(cell.harm.0, unit.harm());
            }
        }
        let mut columns: Vec<_> = weights.into_iter().collect();
        columns.order_by(|(_, one), (_, other)| other.total_cmp(one));
        let more_columns = columns.len().saturating_sub(MOST_COLUMNS);
        columns.truncate(MOST_COLUMNS);
        let shown = units.into_iter().map(|unit| {
            let of: OrderedMap<_, _> =
                unit.cells.iter().map(|cell| (&cell.worst.subject, *cell)).collect();
            let cell = |subject| of.get(subject).map(|cell| self.map_cell(cell));
            MapRow {
                cells: columns.iter().map(|(subject, _)| cell(*subject)).collect(),
                what: unit.what().into(),
                name: unit.name.into(),
                folds: unit.folds,
                is_unfolded: unit.is_unfolded,
            }
        });
        let domains = self.report.rows.iter().filter(|row| row.kind == kind);
        Section {
            kind,
            title: count(domains.map(|row| row.domains.len()).sum::<usize>(), noun(kind)),
            rows: shown.collect(),
            columns: columns.iter().map(|(subject, _)| (*subject).clone()).collect(),
            more_columns,
            more_rows: rows.saturating_sub(most),
        }
    }

    fn map_cell(&self, cell: &Cell) -> MapCell {
        let (seed, fault, domain) = (cell.seed, cell.fault.clone(), cell.domain);
        let moment = Moment {
            run: Run { remedy: None, seed, fault, domain },
            name: name_of(&self.report, cell),
            at: cell.worst.worst_at,
            subject: Some(cell.worst.subject.clone()),
            what: cell.worst.to_string(),
        };
        let old = self.old.as_ref();
        let old = old.map(|old| old.get(&key(&self.report, cell)).copied().unwrap_or_default());
        MapCell {
            moment: Rc::new(moment),
            below: cell.worst.below,
            heat: share(cell.harm.0, self.worst).sqrt().min(1.0),
            harm: cell.harm,
            before: old.filter(|old| *old != cell.harm),
        }
    }

    /// The workloads that are looked at.
    pub(crate) fn workloads(&self, look: &Look) -> Workloads {
        let text = look.text.trim().to_ascii_lowercase();
        let all = &self.report.workloads;
        let shown = all.iter().filter_map(|row| {
            let (name, worst) = (row.subject.to_string(), row.worst.clone()?);
            let all = name.to_ascii_lowercase() + " " + &worst[0].to_ascii_lowercase();
            let old = self.old_scores.get(&row.subject).copied();
            all.contains(&text).then(|| WorkloadRow {
                name,
                score: (row.score, row.arithmetic.clone()),
                before: old.filter(|old| Some(*old) != row.score),
                worst,
            })
        });
        let mut rows: Vec<_> = shown.collect();
        let most = if look.all_workloads { MOST_WORKLOADS } else { FIRST_WORKLOADS };
        let more = rows.len().saturating_sub(most);
        rows.truncate(most);
        let unharmed = all.iter().filter(|row| row.worst.is_none()).count();
        Workloads { rows, more, unharmed, all: all.len() }
    }
}

/// A row before its columns are known.
struct Unit<'a> {
    name: String,
    what: &'a str,
    folds: Option<(usize, bool)>,
    /// Whether it is one of several that are alike.
    is_unfolded: bool,
    cells: Vec<&'a Cell>,
}

impl Unit<'_> {
    /// The effect on the workloads; for a failure that is unfolded or found, the workloads it
    /// harms.
    fn what(&self) -> String {
        let names = self.cells.iter().take(MOST_NAMED).map(|cell| cell.worst.subject.to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        match self.cells.len() {
            _ if !self.what.is_empty() => self.what.to_owned(),
            0 => String::new(),
            number if number > MOST_NAMED => {
                let more = number - MOST_NAMED;
                format!("{}: {names} and {more} more", count(number, "workload"))
            }
            _ => names,
        }
    }

    fn harm(&self) -> u64 {
        self.cells.iter().fold(0, |sum, cell| sum.saturating_add(cell.harm.0))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a shade, and an order")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn harms(report: &Report) -> OrderedMap<Name, Millis> {
    let harmful = report.cells.iter().filter(|cell| cell.harm.0 > 0);
    harmful.map(|cell| (key(report, cell), cell.harm)).collect()
}

fn key(report: &Report, cell: &Cell) -> Name {
    (name_of(report, cell), cell.worst.subject.clone())
}

fn name_of(report: &Report, cell: &Cell) -> String {
    failure(report, cell.domain, &cell.fault)
}

/// The differences between a report and the one before.
fn changes(report: &Report, before: &Report, old: &OrderedMap<Name, Millis>) -> String {
    let new = harms(report);
    let names: OrderedSet<_> = new.keys().chain(old.keys()).collect();
    let (mut less, mut more) = (0, 0);
    for name in names {
        let [a, b] = [old, &new].map(|harms| harms.get(name).copied().unwrap_or_default());
        less += usize::from(b < a);
        more += usize::from(b > a);
    }
    let unlike = report.outline.options != before.outline.options;
    let unlike = if unlike { " It was made with other options." } else { "" };
    let score = before.score.as_ref();
    let score = score.map_or_else(|| "no score".into(), |it| format!("a score of {}", it.score));
    format!(
        "The report before had {score}. {less} pairs of failure and workload improved, and {more} \
         got worse.{unlike}",
    )
}

/// Other differences from the work of the report before, besides the cluster and the options.
fn unlike(work: &WorkKey, before: &WorkKey) -> String {
    let mut text = String::new();
    if work.release != before.release {
        text += &format!(" It is about {}, this one about {}.", before.release, work.release);
    }
    if work.now != before.now {
        text += &format!(" It was made at {}, this one at {}.", at(before.now), at(work.now));
    }
    text
}

fn findings(report: &Report) -> Vec<FindingRow> {
    let moment = |finding: &Finding| {
        Rc::new(Moment {
            run: finding.run.clone(),
            name: failure(report, finding.run.domain, &finding.run.fault),
            at: finding.at,
            subject: finding.subject.clone(),
            what: finding.what.clone(),
        })
    };
    let rows = report.groups.iter().take(MOST_FINDINGS).filter_map(|group| {
        let mut findings = group.findings.iter().filter_map(|it| report.findings.get(*it));
        let first = findings.next()?;
        let effects = first.effects.iter().filter(|effect| effect.helps);
        let text = |it: &Effect| (format!("{}: {}", it.what, it.text), it.yaml.as_str().into());
        Some(FindingRow {
            what: group.what.clone(),
            why: group.why.clone(),
            moment: moment(first),
            others: findings.take(MOST_ROWS).map(moment).collect(),
            effects: effects.map(text).collect(),
            no_help: first.no_help.clone(),
            false_alarms: FalseAlarms::of(first),
        })
    });
    rows.collect()
}
