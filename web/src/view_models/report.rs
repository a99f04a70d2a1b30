//! The resilience report as it is shown: a heat map, what hurts, and what would help.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use taintlab_core::report::{
    Cell, Effect, Finding, Millis, OverAll, Report, ReportOptions, ReportSubject, Run, WorkloadRun,
};
use yew::AttrValue;

use crate::text::count;

/// The map has at most so many rows and columns: those that hurt most.
const MOST_ROWS: usize = 60;
const MOST_COLUMNS: usize = 24;
/// So many workloads and findings are shown.
const MOST_WORKLOADS: usize = 40;
const MOST_FINDINGS: usize = 40;

/// A moment of a run, to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Which run.
    pub(crate) run: Run,
    /// What fails in it, and how.
    pub(crate) name: String,
    /// When, from the fault on.
    pub(crate) at: Millis,
    /// Whom it is about.
    pub(crate) subject: Option<ReportSubject>,
    /// What there is to see.
    pub(crate) what: String,
}

/// A failure and a workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapCell {
    /// The run, at its worst moment.
    pub(crate) moment: Rc<Moment>,
    /// How long it is short.
    pub(crate) below: Millis,
    /// From 0 for harmless to 1 for the worst of the report.
    pub(crate) heat: f64,
    /// How much, to sort by.
    pub(crate) harm: Millis,
    /// The harm of the same in the report before, if that differs.
    pub(crate) before: Option<Millis>,
}

/// A failure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapRow {
    /// What fails, and how.
    pub(crate) name: AttrValue,
    /// All of its harm.
    pub(crate) harm: u64,
    /// What it does, column by column; nothing where it does no harm.
    pub(crate) cells: Vec<Option<MapCell>>,
}

/// A workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorkloadRow {
    /// Which.
    pub(crate) name: String,
    /// Its score, with its arithmetic.
    pub(crate) score: (Option<u32>, String),
    /// Its score in the report before.
    pub(crate) before: Option<u32>,
    /// Its worst failure: what fails, the fewest ready, below, at zero, whole again.
    pub(crate) worst: Option<[String; 5]>,
}

/// What hurts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FindingRow {
    /// In a sentence.
    pub(crate) what: String,
    /// Why.
    pub(crate) why: String,
    /// When it is worst.
    pub(crate) moment: Rc<Moment>,
    /// What would help: the change with its effect, and the YAML.
    pub(crate) effects: Vec<(String, Rc<str>)>,
    /// How many evictions would be unnecessary.
    pub(crate) false_alarms: Option<FalseAlarms>,
}

/// How many pods leave although the nodes come back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FalseAlarms {
    /// How long the outages are.
    pub(crate) outages: Vec<String>,
    /// For each tolerationSeconds, how many leave in each of the outages.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportView {
    /// The report itself.
    pub(crate) report: Report,
    /// What was run, in a line.
    pub(crate) summary: String,
    /// How it differs from the one before, if there was one.
    pub(crate) changes: Option<String>,
    /// The workloads of the map, the worst first.
    pub(crate) columns: Vec<AttrValue>,
    /// The failures of the map, the worst first.
    pub(crate) rows: Vec<MapRow>,
    /// How many failures and workloads hurt besides.
    pub(crate) more: (usize, usize),
    /// The workloads, the worst first.
    pub(crate) workloads: Vec<WorkloadRow>,
    /// What hurts, the worst first.
    pub(crate) findings: Vec<FindingRow>,
}

/// How far the report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The cluster comes to rest.
    Settling,
    /// The failures are run.
    Failing,
    /// What would help is run.
    Helping,
    /// The results are put together.
    Joining,
}

/// What there is of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReportState {
    /// How far it is: runs made, and runs planned. Nothing if none is being made.
    pub(crate) progress: Option<(Stage, usize, usize)>,
    /// It was told to stop.
    pub(crate) stopping: bool,
    /// The last one.
    pub(crate) report: Option<Rc<ReportView>>,
    /// Why there is none.
    pub(crate) error: Option<AttrValue>,
    /// What was asked for last.
    pub(crate) options: Rc<ReportOptions>,
}

/// What is done with reports.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReportMsg {
    /// Begin one.
    Begin(Box<ReportOptions>),
    /// Stop, and show what there is.
    Stop,
    /// Open a moment of a run.
    Open(Rc<Moment>),
    /// Hand the report out as JSON.
    Download,
}

/// What tells a cell of two reports to be the same: what fails, how, and whom it harms.
type Name = (String, ReportSubject);

impl ReportView {
    /// A report, beside the one before it.
    pub(crate) fn of(report: Report, before: Option<&Self>) -> Self {
        // Of another cluster it says nothing.
        let is_same = |it: &&Self| it.report.outline.cluster.is_same(&report.outline.cluster);
        let before = before.filter(is_same);
        let harmful = || report.cells.iter().filter(|cell| cell.harm.0 > 0);
        let mut of_subject: BTreeMap<&ReportSubject, u64> = BTreeMap::new();
        let mut of_failure: BTreeMap<(usize, String), (u64, Vec<&Cell>)> = BTreeMap::new();
        for cell in harmful() {
            *of_subject.entry(&cell.worst.subject).or_default() += cell.harm.0;
            let failure = of_failure.entry((cell.domain, cell.fault.to_string())).or_default();
            failure.0 += cell.harm.0;
            failure.1.push(cell);
        }
        let mut subjects: Vec<_> = of_subject.into_iter().collect();
        subjects.sort_by_key(|(_, harm)| std::cmp::Reverse(*harm));
        let mut failures: Vec<_> = of_failure.into_values().collect();
        failures.sort_by_key(|(harm, _)| std::cmp::Reverse(*harm));
        let more =
            (failures.len().saturating_sub(MOST_ROWS), subjects.len().saturating_sub(MOST_COLUMNS));
        subjects.truncate(MOST_COLUMNS);
        let old: BTreeMap<Name, Millis> =
            before.map(|before| harms(&before.report)).unwrap_or_default();
        let worst = harmful().map(|cell| cell.harm.0).max().unwrap_or(1);
        let rows = failures.into_iter().take(MOST_ROWS).map(|(harm, cells)| {
            let of: BTreeMap<_, _> =
                cells.iter().map(|cell| (&cell.worst.subject, *cell)).collect();
            let cells = subjects.iter().map(|(subject, _)| {
                of.get(subject).map(|cell| map_cell(&report, cell, worst, before.map(|_| &old)))
            });
            let name = of.values().next().map(|cell| name_of(&report, cell));
            MapRow { name: name.unwrap_or_default().into(), harm, cells: cells.collect() }
        });
        let rows = rows.collect();
        Self {
            summary: summary(&report),
            changes: before.map(|before| changes(&report, &before.report, &old)),
            columns: subjects.iter().map(|(it, _)| it.to_string().into()).collect(),
            rows,
            more,
            workloads: workloads(&report, before.map(|before| &before.report)),
            findings: findings(&report),
            report,
        }
    }
}

fn harms(report: &Report) -> BTreeMap<Name, Millis> {
    let harmful = report.cells.iter().filter(|cell| cell.harm.0 > 0);
    harmful.map(|cell| (key(report, cell), cell.harm)).collect()
}

fn key(report: &Report, cell: &Cell) -> Name {
    (name_of(report, cell), cell.worst.subject.clone())
}

fn name_of(report: &Report, cell: &Cell) -> String {
    failure(report, cell.domain, &cell.fault)
}

/// What fails, and how.
fn failure(report: &Report, domain: usize, fault: &taintlab_core::report::Fault) -> String {
    let domain = report.outline.domains.get(domain).map(ToString::to_string);
    format!("{} {fault}", domain.unwrap_or_default())
}

/// To the nearest tenth of a second: what is read. The report as JSON is exact.
pub(crate) const fn rounded(time: Millis) -> Millis {
    Millis((time.0 + 50) / 100 * 100)
}

fn again(figures: &WorkloadRun) -> String {
    match figures.whole_again {
        Some(at) => rounded(at).to_string(),
        None if figures.never_whole_again() => "never".to_owned(),
        None => "-".to_owned(),
    }
}

/// What becomes of a workload, in a sentence.
fn told(figures: &WorkloadRun) -> String {
    let WorkloadRun { subject, wanted, least_ready, below, at_zero, evicted, .. } = figures;
    let (below, at_zero) = (rounded(*below), rounded(*at_zero));
    let zero = if at_zero.0 > 0 { format!(", none for {at_zero}") } else { String::new() };
    let mut text = format!(
        "{subject}: {least_ready} of {wanted} ready at least, fewer than wanted for {below}{zero}, \
         whole again: {}. {evicted} evicted, {} new ones ready",
        again(figures),
        figures.moved,
    );
    for pending in &figures.pending {
        let reason = if pending.reason.is_empty() { "not scheduled yet" } else { &pending.reason };
        text.push_str(&format!(", {} pending ({reason})", pending.pods));
    }
    for (number, what) in [
        (figures.stuck, "stuck terminating"),
        (figures.lost, "lost for good"),
        (figures.preempted, "preempted"),
        (figures.budgets_not_asked, "deleted without asking a budget"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    text
}

fn map_cell(
    report: &Report,
    cell: &Cell,
    worst: u64,
    old: Option<&BTreeMap<Name, Millis>>,
) -> MapCell {
    let name = name_of(report, cell);
    let (seed, fault, domain) = (cell.seed, cell.fault.clone(), cell.domain);
    let moment = Moment {
        run: Run { remedy: None, seed, fault, domain },
        name,
        at: cell.worst.worst_at,
        subject: Some(cell.worst.subject.clone()),
        what: told(&cell.worst),
    };
    let old = old.map(|old| old.get(&key(report, cell)).copied().unwrap_or_default());
    #[expect(clippy::cast_precision_loss, reason = "a shade")]
    let heat = (cell.harm.0 as f64 / worst.max(1) as f64).sqrt();
    MapCell {
        moment: Rc::new(moment),
        below: cell.worst.below,
        heat,
        harm: cell.harm,
        before: old.filter(|old| *old != cell.harm),
    }
}

fn summary(report: &Report) -> String {
    let outline = &report.outline;
    let made = if report.runs_made == report.runs_planned {
        count(report.runs_made, "run")
    } else {
        format!("{} of {}", report.runs_made, count(report.runs_planned, "run"))
    };
    format!(
        "{}, {}, Kubernetes {}: {}, {made}, each watched for {}",
        count(outline.nodes, "node"),
        count(outline.pods, "pod"),
        outline.release,
        count(outline.domains.len(), "failure domain"),
        outline.options.horizon,
    )
}

/// How a report differs from the one before.
fn changes(report: &Report, before: &Report, old: &BTreeMap<Name, Millis>) -> String {
    let new = harms(report);
    let names: BTreeSet<_> = new.keys().chain(old.keys()).collect();
    let (mut less, mut more) = (0, 0);
    for name in names {
        let [a, b] = [old, &new].map(|harms| harms.get(name).copied().unwrap_or_default());
        less += usize::from(b < a);
        more += usize::from(b > a);
    }
    let unlike = report.outline.options != before.outline.options;
    let unlike = if unlike { " It was made with other options." } else { "" };
    let score = before
        .score
        .as_ref()
        .map_or_else(|| "no score".into(), |score| format!("a score of {}", score.score));
    format!(
        "The report before had {score}. {less} pairs of failure and workload improved, and \
         {more} got worse.{unlike}",
    )
}

fn workloads(report: &Report, before: Option<&Report>) -> Vec<WorkloadRow> {
    let rows = report.workloads.iter().take(MOST_WORKLOADS).map(|row| {
        let cell = row.domain.zip(row.fault.as_ref()).and_then(|(domain, fault)| {
            report.cells.iter().find(|cell| {
                cell.domain == domain && cell.fault == *fault && cell.worst.subject == row.subject
            })
        });
        let old = before.and_then(|before| {
            before.workloads.iter().find(|old| old.subject == row.subject).and_then(|it| it.score)
        });
        WorkloadRow {
            name: row.subject.to_string(),
            score: (row.score, row.arithmetic.clone()),
            before: old.filter(|old| Some(*old) != row.score),
            worst: cell.map(|cell| {
                [
                    name_of(report, cell),
                    format!("{}/{}", cell.worst.least_ready, cell.worst.wanted),
                    spread(cell.below_spread),
                    spread(cell.at_zero_spread),
                    again(&cell.worst),
                ]
            }),
        }
    });
    rows.collect()
}

fn spread(times: taintlab_core::report::Spread) -> String {
    if times.min == times.max {
        rounded(times.max).to_string()
    } else {
        let [min, median, p95] = [times.min, times.median, times.p95].map(rounded);
        format!("{min} / {median} / {p95}")
    }
}

fn findings(report: &Report) -> Vec<FindingRow> {
    let rows = report.findings.iter().take(MOST_FINDINGS).map(|finding| FindingRow {
        what: finding.what.clone(),
        why: finding.why.clone(),
        moment: Rc::new(Moment {
            run: finding.run.clone(),
            name: failure(report, finding.run.domain, &finding.run.fault),
            at: finding.at,
            subject: finding.subject.clone(),
            what: finding.what.clone(),
        }),
        effects: finding
            .effects
            .iter()
            .map(|effect| (effect_text(finding, effect), effect.yaml.as_str().into()))
            .collect(),
        false_alarms: false_alarms(finding),
    });
    rows.collect()
}

fn effect_text(finding: &Finding, effect: &Effect) -> String {
    let what = &effect.what;
    if finding.subject.is_none() {
        let ends = effect.drain.as_ref().is_some_and(|drain| drain.ended.is_some());
        if !ends {
            return format!("{what}: no help");
        }
        return format!("{what}: it ends{}", over_all_text(&effect.over_all));
    }
    if effect.harm >= finding.harm {
        let worse = effect.harm > finding.harm;
        return format!("{what}: {}", if worse { "worse" } else { "no help" });
    }
    let less = rounded(Millis(finding.harm.0 - effect.harm.0));
    let all = over_all_text(&effect.over_all);
    match &effect.figures {
        Some(figures) => format!(
            "{what}: {}/{} ready at least, whole again: {}, {less} less harm{all}",
            figures.least_ready,
            figures.wanted,
            again(figures),
        ),
        None => format!("{what}: not reached, {less} less harm{all}"),
    }
}

/// What a change does to all workloads, as far as it was tried.
fn over_all_text(all: &OverAll) -> String {
    let change = rounded(Millis(all.before.0.abs_diff(all.after.0)));
    let sum = match all.after.cmp(&all.before) {
        Ordering::Less => format!("{change} less"),
        Ordering::Equal => "no change".to_owned(),
        Ordering::Greater => format!("{change} more"),
    };
    let mut text =
        format!("; all workloads, {} of {} failures tried: {sum}", all.tried, all.failures);
    if all.made_worse > 0 {
        text += &format!(", {} made worse", all.made_worse);
    }
    text
}

fn false_alarms(finding: &Finding) -> Option<FalseAlarms> {
    let all = &finding.false_alarms;
    let outages: BTreeSet<Millis> = all.iter().map(|alarm| alarm.outage).collect();
    let mut seconds: Vec<Option<u32>> = Vec::new();
    for alarm in all {
        if !seconds.contains(&alarm.seconds) {
            seconds.push(alarm.seconds);
        }
    }
    let rows = seconds.into_iter().map(|tried| {
        let name = tried.map_or_else(|| "as it is".to_owned(), |seconds| format!("{seconds} s"));
        let cells = outages.iter().map(|outage| {
            let found = all.iter().find(|it| it.seconds == tried && it.outage == *outage);
            found.map(|it| it.evicted.to_string()).unwrap_or_default()
        });
        (name, cells.collect())
    });
    let rows: Vec<_> = rows.collect();
    let outages = outages.iter().map(ToString::to_string).collect();
    (!rows.is_empty()).then_some(FalseAlarms { outages, rows })
}
