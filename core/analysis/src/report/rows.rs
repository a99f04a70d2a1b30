//! Failures as rows: zones first, nodes last, with similar failures in one row.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::plural::count;

use super::{Cell, DomainKind, FailureTotal, Fault, Millis, Outline, ReportSubject};

/// Workloads named at most in the sentence of a row.
const MOST_NAMED: usize = 3;

/// A failure, or several similar ones: the same workloads have no ready pod for a while, and the
/// same ones are still short at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct FailureRow {
    /// The domains and the fault: `zone eu-1b lost`, `34 nodes like worker-1 lost`.
    pub name: String,
    /// Effect on the workloads, in a sentence.
    pub what: String,
    /// Kind of the domains.
    pub kind: DomainKind,
    /// The fault.
    pub fault: Fault,
    /// Domains, as indexes in the outline, the worst first.
    pub domains: Vec<usize>,
    /// Harm of the worst of them to all workloads together.
    pub harm: Millis,
    /// Workloads that the worst of them harms.
    pub harmed: usize,
    /// Workloads among these without a ready pod for a while.
    pub at_zero: usize,
    /// Workloads among these that are still short at the end.
    pub never: usize,
    /// Harmful cells of the worst of them, as indexes in the report's cells, the worst first.
    pub cells: Vec<usize>,
}

/// A single failure.
struct Failure<'a> {
    domain: usize,
    harm: u64,
    /// Harmful cells with their indexes, the worst first.
    cells: Vec<(usize, &'a Cell)>,
}

/// Key that similar failures share: rank, fault, a domain that gets a row of its own, and the
/// workloads at zero or without recovery.
type Likeness<'a> =
    (Reverse<u8>, usize, Option<usize>, OrderedSet<(&'a ReportSubject, bool, bool)>);

/// Order of the kinds: larger domains first, but those with all nodes last, since nothing survives
/// them.
fn rank(outline: &Outline, domain: usize) -> u8 {
    let Some(domain) = outline.domains.get(domain).filter(|it| !it.whole_cluster) else {
        return 0;
    };
    match domain.kind {
        DomainKind::Zone => 7,
        DomainKind::Region => 6,
        DomainKind::Label => 5,
        DomainKind::List => 4,
        DomainKind::Pair => 3,
        DomainKind::DevicePool => 2,
        DomainKind::Node => 1,
    }
}

/// All failures that were run, as rows.
pub(super) fn rows(outline: &Outline, cells: &[Cell], totals: &[FailureTotal]) -> Vec<FailureRow> {
    let faults = &outline.faults();
    let place = |fault: &Fault| faults.iter().position(|it| it == fault).unwrap_or(faults.len());
    let mut failures: OrderedMap<(usize, usize), Vec<(usize, &Cell)>> = OrderedMap::new();
    for total in totals {
        failures.entry((total.domain, place(&total.fault))).or_default();
    }
    for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.harm.0 > 0) {
        failures.entry((cell.domain, place(&cell.fault))).or_default().push((number, cell));
    }
    let mut groups: OrderedMap<Likeness<'_>, Vec<Failure<'_>>> = OrderedMap::new();
    for ((domain, fault), mut cells) in failures {
        cells.order_by_key(|(number, cell)| (Reverse(cell.harm), *number));
        let Some(kind) = outline.domains.get(domain).map(|domain| domain.kind) else { continue };
        let folds = matches!(kind, DomainKind::Node | DomainKind::Pair | DomainKind::DevicePool);
        let hurts = cells.iter().map(|(_, cell)| {
            (&cell.worst.subject, cell.at_zero_spread.max.0 > 0, cell.never_whole_again > 0)
        });
        let key = hurts.filter(|(_, zero, never)| *zero || *never).collect();
        let harm = cells.iter().fold(0_u64, |sum, (_, cell)| sum.saturating_add(cell.harm.0));
        let alone = (!folds).then_some(domain);
        let group = groups.entry((Reverse(rank(outline, domain)), fault, alone, key)).or_default();
        group.push(Failure { domain, harm, cells });
    }
    let mut rows: Vec<FailureRow> = Vec::new();
    for ((_, fault, ..), mut group) in groups {
        group.order_by_key(|failure| (Reverse(failure.harm), failure.domain));
        rows.extend(faults.get(fault).and_then(|fault| row(outline, fault, &group)));
    }
    rows.order_by_key(|row| {
        let first = row.domains.first().copied().unwrap_or_default();
        (Reverse(rank(outline, first)), Reverse(row.harm), first, place(&row.fault))
    });
    rows
}

fn row(outline: &Outline, fault: &Fault, group: &[Failure<'_>]) -> Option<FailureRow> {
    let worst = group.first()?;
    let domain = outline.domains.get(worst.domain)?;
    let zero: Vec<_> = worst.cells.iter().filter(|(_, it)| it.at_zero_spread.max.0 > 0).collect();
    let never: Vec<_> = worst.cells.iter().filter(|(_, it)| it.never_whole_again > 0).collect();
    let name = match group.len() {
        1 if domain.whole_cluster => format!("{domain}, which has all nodes, {fault}"),
        1 => format!("{domain} {fault}"),
        number => {
            format!("{} like {} {fault}", count(number, domain.kind.as_str()), domain.name)
        }
    };
    let mut what = Vec::new();
    let named = |cells: &[&(usize, &Cell)]| {
        let mut names: Vec<String> =
            cells.iter().take(MOST_NAMED).map(|(_, cell)| cell.worst.subject.to_string()).collect();
        if cells.len() > MOST_NAMED {
            names.push(format!("{} more", cells.len() - MOST_NAMED));
        }
        names.join(", ")
    };
    let numbers = |cells: &[&(usize, &Cell)]| cells.iter().map(|(it, _)| *it).collect::<Vec<_>>();
    let are_same = numbers(&zero) == numbers(&never);
    if !zero.is_empty() {
        let more = if are_same { ", and still short at the end" } else { "" };
        what.push(format!("no ready pod for a while{more}: {}", named(&zero)));
    }
    if !never.is_empty() && !are_same {
        what.push(format!("still short at the end: {}", named(&never)));
    }
    let short = |failure: &Failure<'_>| {
        let others = failure.cells.iter().map(|(_, cell)| *cell);
        let others = others.filter(|it| it.at_zero_spread.max.0 == 0 && it.never_whole_again == 0);
        others.fold((0, Millis(0)), |(number, longest), cell| {
            (number + 1, cell.below_spread.max.max(longest))
        })
    };
    let (short, longest) = group
        .iter()
        .map(short)
        .fold((0, Millis(0)), |most, next| (most.0.max(next.0), most.1.max(next.1)));
    if short > 0 {
        let each = if group.len() > 1 { "up to " } else { "" };
        let other = if what.is_empty() { "workload" } else { "other workload" };
        what.push(format!("{each}{} short for at most {longest}", count(short, other)));
    }
    Some(FailureRow {
        name,
        what: if what.is_empty() { "no workload is harmed".into() } else { what.join("; ") },
        kind: domain.kind,
        fault: fault.clone(),
        domains: group.iter().map(|failure| failure.domain).collect(),
        harm: Millis(worst.harm),
        harmed: worst.cells.len(),
        at_zero: zero.len(),
        never: never.len(),
        cells: worst.cells.iter().map(|(number, _)| *number).collect(),
    })
}
