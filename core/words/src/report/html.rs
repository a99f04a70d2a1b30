//! The report as one page, without references to other files.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::order::{Order, OrderedMap};
use taintlab_core::plural::count;
use taintlab_core::report::{
    Cell, DomainKind, FailureRow, Report, ReportSubject, TargetResult, WorkloadScore,
};

use super::{
    CAUSES, Cause, MOST, WORKLOAD_COLUMNS, causes, escaped, harmed, score_reasons, sections,
    spared, targets, title, title_score, verdict,
};

/// Pictures of a page at most: the worst findings about a workload.
pub const MOST_PICTURES: usize = 5;
/// Names in an unfolded list at most.
const MOST_NAMES: usize = 200;
/// Rows and columns of a heat map at most: those with the most harm.
const MOST_ROWS: usize = 60;
const MOST_COLUMNS: usize = 30;
/// The hottest colour of the style sheet, which go from white over yellow to red.
const MOST_HEAT: u64 = 16;

const STYLE: &str = include_str!("html/style.css");
const SORT: &str = include_str!("html/sort.js");

/// No request at all, and no style or script but those of the page: the style sheet, that of the
/// pictures, and the script, by their digests.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-JCuH6kR/f/BdRN5LB3pvSudv78y2eMvSfVmq9cdUeao=' \
    'sha256-TR689GRzPSzlAG6pCzG62Gd031wPOuMhO6BJl9FT4cA='; \
    script-src 'sha256-fCPN+NHbWc1ql84qcyCIDiaJ34RVVLkr07ke0tvicxk='; \
    base-uri 'none'; form-action 'none'";

/// A finding as a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The finding in a sentence.
    pub what: String,
    /// Its SVG.
    pub svg: String,
}

/// The report as one page, with its targets and pictures of the worst findings.
#[must_use]
pub fn html(report: &Report, targets: &[TargetResult], pictures: &[Picture]) -> String {
    let (score, heading) = (title_score(report), escaped(&report.heading));
    let verdict = verdict(report);
    let verdict = verdict.map(|it| format!("<p><strong>{}</strong></p>", escaped(&it)));
    let notes: Vec<_> = score_reasons(report).into_iter().chain(report.notes.clone()).collect();
    let sections: Vec<_> =
        sections(report).iter().map(|(kind, rows)| heat_map(report, *kind, rows)).collect();
    let head = WORKLOAD_COLUMNS.map(|title| {
        let title = title.to_ascii_uppercase();
        format!("<th scope=\"col\"><button type=\"button\">{title}</button></th>")
    });
    let harmed = harmed(report);
    let rows: Vec<_> = harmed.iter().map(|(row, cells)| workload(report, row, cells)).collect();
    let causes: Vec<_> = causes(report).iter().take(MOST * 5).map(cause).collect();
    let drawn = pictures.iter().map(|it| format!("<h3>{}</h3>\n{}", escaped(&it.what), it.svg));
    let drawn: Vec<_> = drawn.collect();
    let drawn = if drawn.is_empty() {
        String::new()
    } else {
        format!("<h2>The worst, drawn</h2>\n{}", drawn.join("\n"))
    };
    format!(
        "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Resilience: {score}. {heading}</title>
<style>{}</style>
<h1>Resilience: {score}</h1>
<p>{heading}</p>
{}
<ul class=\"dim\">{}</ul>
{}<h2>Failures and workloads</h2>
<p class=\"dim\">How long each workload has fewer ready pods than it wants; the darker, the worse.</p>
{}
<h2>Workloads</h2>
<div class=\"scroll\"><table><thead><tr>{}</tr></thead>
<tbody>{}</tbody></table></div>
<p class=\"dim\">{}</p>
<h2>{CAUSES}</h2>
<ol>{}</ol>
{drawn}
<script>{}</script>
</html>
",
        STYLE.trim_end(),
        verdict.unwrap_or_default(),
        elements(&notes, "li"),
        targets_table(targets),
        sections.join("\n"),
        head.concat(),
        rows.join("\n"),
        spared(report),
        causes.join("\n"),
        SORT.trim_end(),
    )
}

fn targets_table(results: &[TargetResult]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let rows = targets::rows(results, usize::MAX).into_iter();
    let rows: String = rows.map(|row| format!("<tr>{}</tr>", elements(&row, "td"))).collect();
    format!(
        "<h2>{}</h2>\n<div class=\"scroll\"><table><tr>{}</tr>{rows}</table></div>\n",
        targets::summary(results),
        elements(&targets::COLUMNS.map(ToString::to_string), "th"),
    )
}

fn elements(texts: &[String], tag: &str) -> String {
    texts.iter().map(|text| format!("<{tag}>{}</{tag}>", escaped(text))).collect()
}

/// A row of the table of workloads; what is sorted by number has it as a key.
fn workload(report: &Report, row: &WorkloadScore, cells: &[String]) -> String {
    let cell = row.cell.and_then(|number| report.cells.get(number));
    let of = |key: &dyn Fn(&Cell) -> String| cell.map(key);
    let keys = [
        row.score.map(|score| score.to_string()),
        None,
        None,
        of(&|cell| cell.worst.least_ready.to_string()),
        of(&|cell| cell.below_spread.max.0.to_string()),
        of(&|cell| cell.at_zero_spread.max.0.to_string()),
        of(&|cell| {
            let whole = cell.worst.whole_again;
            whole.map_or_else(|| "Infinity".into(), |it| it.0.to_string())
        }),
    ];
    let tds = keys.iter().zip(cells).map(|(key, cell)| {
        let key = key.as_ref().map(|key| format!(" class=\"n\" data-k=\"{key}\""));
        format!("<td{}>{}</td>", key.unwrap_or_default(), escaped(cell))
    });
    format!("<tr>{}</tr>", tds.collect::<String>())
}

fn cause(cause: &Cause<'_>) -> String {
    let finding = cause.finding;
    let mut text = format!(
        "<li><strong>{}</strong><br>{} <span class=\"dim\">(worst {} after the failure)</span>",
        escaped(&cause.group.what),
        escaped(&cause.group.why),
        finding.at
    );
    if !cause.like.is_empty() {
        let others = cause.like.iter().take(MOST_NAMES).map(|it| it.what.clone());
        let others = elements(&others.collect::<Vec<_>>(), "li");
        let more = count(cause.like.len(), "more finding");
        text += &format!("<details><summary>{more} like this</summary><ul>{others}</ul></details>");
    }
    for (line, yaml) in &cause.effects {
        let (line, yaml) = (escaped(line), escaped(yaml));
        text += &format!("<details><summary>{line}</summary><pre>{yaml}</pre></details>");
    }
    if let Some(no_help) = &finding.no_help {
        text += &format!("<p class=\"dim\">{}</p>", escaped(no_help));
    }
    if let Some(alarms) = &cause.false_alarms {
        let (head, rows) = alarms.table();
        let head = elements(&head, "th");
        let rows = rows.iter().map(|row| format!("<tr>{}</tr>", elements(row, "td")));
        let rows: String = rows.collect();
        text += "<p>Unnecessary evictions, by the length of the outage:</p>";
        text += &format!("<div class=\"scroll\"><table><tr>{head}</tr>{rows}</table></div>");
    }
    text + "</li>"
}

/// The failures of a kind by the workloads that they harm most.
fn heat_map(report: &Report, kind: DomainKind, rows: &[&FailureRow]) -> String {
    let domains = &report.outline.domains;
    let counts = |cell: &&Cell| domains.get(cell.domain).is_some_and(|it| !it.whole_cluster);
    let most = report.cells.iter().filter(counts).map(|cell| cell.harm.0).max().unwrap_or(1).max(1);
    let shown = rows.get(..MOST_ROWS).unwrap_or(rows);
    let cells = |row: &FailureRow| {
        row.cells.iter().filter_map(|number| report.cells.get(*number)).collect::<Vec<_>>()
    };
    let mut columns: Vec<(&ReportSubject, f64)> = Vec::new();
    let mut places: OrderedMap<&ReportSubject, usize> = OrderedMap::new();
    for row in shown {
        for cell in cells(row) {
            // Each row has the same say in the choice of workloads.
            let share = share(cell.harm.0, row.harm.0);
            let place = *places.entry(&cell.worst.subject).or_insert(columns.len());
            match columns.get_mut(place) {
                Some((_, sum)) => *sum += share,
                None => columns.push((&cell.worst.subject, share)),
            }
        }
    }
    columns.order_by(|(_, one), (_, other)| other.total_cmp(one));
    let more_columns = columns.len().saturating_sub(MOST_COLUMNS);
    columns.truncate(MOST_COLUMNS);
    let lines = shown.iter().map(|row| {
        let of: OrderedMap<_, _> =
            cells(row).into_iter().map(|cell| (&cell.worst.subject, cell)).collect();
        let tds = columns.iter().map(|(subject, _)| match of.get(subject) {
            Some(cell) => map_cell(row, cell, most),
            None => "<td class=\"h\"></td>".into(),
        });
        let (name, what) = (folded(report, row), escaped(&row.what));
        let tds: String = tds.collect();
        format!("<tr><th scope=\"row\">{name}<small>{what}</small></th>{tds}</tr>")
    });
    let lines: Vec<_> = lines.collect();
    let heads = columns
        .iter()
        .map(|(subject, _)| format!("<th scope=\"col\">{}</th>", escaped(&subject.to_string())));
    let more = [(rows.len() - shown.len(), "more row"), (more_columns, "more workload")];
    let more = more.iter().filter(|(number, _)| *number > 0);
    let more: Vec<_> = more.map(|(number, what)| count(*number, what)).collect();
    let more = if more.is_empty() {
        String::new()
    } else {
        format!("<p class=\"dim\">and {}: see --json</p>", more.join(" and "))
    };
    format!(
        "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"map\"><thead><tr><th></th>{}</tr>\
         </thead><tbody>{}</tbody></table></div>{more}",
        title(kind),
        heads.collect::<String>(),
        lines.join("\n"),
    )
}

#[expect(clippy::cast_precision_loss, reason = "an order only")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn map_cell(row: &FailureRow, cell: &Cell, most: u64) -> String {
    let (run, below) = (&cell.worst, cell.below_spread);
    let text = format!(
        "{}, {}: {} of {} ready at least, below for {below}, at zero for {}",
        run.subject, row.name, run.least_ready, run.wanted, cell.at_zero_spread
    );
    let (level, text) = (part_of(MOST_HEAT, cell.harm.0, most), escaped(&text));
    format!("<td class=\"h h{level}\" title=\"{text}\">{below}</td>")
}

/// The name of a row; unfolded it lists its failures.
fn folded(report: &Report, row: &FailureRow) -> String {
    let name = escaped(&row.name);
    if row.domains.len() == 1 {
        return name;
    }
    let domains = row.domains.iter().filter_map(|number| report.outline.domains.get(*number));
    let mut names: Vec<_> = domains.take(MOST_NAMES).map(|domain| domain.name.clone()).collect();
    let more = row.domains.len() - names.len();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let names = escaped(&names.join(", "));
    format!("<details><summary>{name}</summary><small>{names}</small></details>")
}

/// `range * sqrt(harm / most)`, rounded half down: in integers, which are the same everywhere.
fn part_of(range: u64, harm: u64, most: u64) -> u64 {
    let harm = harm.min(most);
    // The result is the least n with 2n + 1 >= twice the value.
    let square = (u128::from(harm) * u128::from(4 * range * range)).div_ceil(most.into());
    let root = square.isqrt();
    let twice = if root * root < square { root + 1 } else { root };
    u64::try_from(twice / 2).unwrap_or(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_goes_by_the_square_root_of_the_share() {
        let heat = |harm, most| part_of(MOST_HEAT, harm, most);
        assert_eq!([heat(0, 7), heat(1, 4), heat(9, 7)], [0, 8, MOST_HEAT]);
        assert!(STYLE.contains(&format!(".h{MOST_HEAT}{{")));
    }
}
