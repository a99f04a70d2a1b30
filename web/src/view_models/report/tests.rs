//! A report of 500 nodes and 400 workloads, with results that are made up.

use taintlab_core::order::OrderedSet;
use taintlab_core::report::{Domain, Outline, Plan, RunResult, WorkloadRun, report as join};

use taintlab_manifest::{ImportOptions, read_scenario};

use super::*;
use crate::samples;

const NODES: usize = 500;
const WORKLOADS: usize = 400;
/// Nodes with a database of one pod that never comes back.
const DATABASES: usize = 5;
/// Workloads with a pod on each node.
const ON_A_NODE: usize = 24;

fn subject(name: &str) -> ReportSubject {
    serde_json::from_value(name.into()).unwrap()
}

/// The outline of the sample cluster, and the figures of one of its workloads, to be changed.
fn sample() -> (Outline, RunResult, WorkloadRun) {
    let (name, text) = samples::all().find(|(name, _)| *name == "sample-cluster").unwrap();
    let mut none = |_: &str| Err("there are no files".to_owned());
    let read = read_scenario(text, name, ImportOptions::default(), &mut none);
    let scenario = read.scenario.unwrap();
    let mut plan = Plan::new(scenario, ReportOptions::default()).unwrap();
    let runs = plan.runs();
    let result = plan.run(runs.first().unwrap()).unwrap();
    let figures = result.workloads.first().unwrap().clone();
    (plan.outline().clone(), result, figures)
}

fn short(figures: &WorkloadRun, subject: ReportSubject, seconds: u64) -> WorkloadRun {
    let time = Millis(seconds * 1_000);
    WorkloadRun {
        subject,
        wanted: 30,
        least_ready: 29,
        below: time,
        at_zero: Millis(0),
        longest_gap: time,
        replica_time_lost: time,
        whole_again: Some(time),
        ..figures.clone()
    }
}

fn large() -> Report {
    let (mut outline, result, figures) = sample();
    let any = outline.domains.iter().find(|it| it.kind == DomainKind::Node).unwrap().clone();
    let domain = |kind, name: String| Domain {
        kind,
        nodes: vec![name.as_str().into()],
        name,
        ..any.clone()
    };
    let nodes = (0..NODES).map(|node| domain(DomainKind::Node, format!("node-{node}")));
    let zones = ["a", "b", "c"].map(|zone| domain(DomainKind::Zone, zone.to_owned()));
    outline.domains = nodes.chain(zones).collect();
    let web = |number: usize| subject(&format!("deployment/shop/web-{number}"));
    let database = |number: usize| subject(&format!("statefulset/data/db-{number}"));
    outline.subjects =
        (0..WORKLOADS - DATABASES).map(web).chain((0..DATABASES).map(database)).collect();
    outline.nodes = NODES;
    let results = (0..outline.domains.len()).map(|number| {
        let mut workloads = Vec::new();
        if number < DATABASES {
            let hour = Millis(3_600_000);
            workloads.push(WorkloadRun {
                wanted: 1,
                least_ready: 0,
                at_zero: hour,
                whole_again: None,
                ..short(&figures, database(number), 3_600)
            });
        }
        let here = if number < NODES { ON_A_NODE } else { WORKLOADS - DATABASES };
        let others = (0..here).map(|it| (number * ON_A_NODE + it) % (WORKLOADS - DATABASES));
        workloads.extend(others.map(|it| short(&figures, web(it), 345)));
        let run = Run { remedy: None, seed: 1, fault: Fault::Lost, domain: number };
        RunResult { run, workloads, ..result.clone() }
    });
    let results: Vec<_> = results.collect();
    join(&outline, &results).unwrap()
}

fn names(section: &Section) -> Vec<&str> {
    section.rows.iter().map(|row| &*row.name).collect()
}

#[test]
fn in_a_report_of_500_nodes_and_400_workloads_the_worst_comes_first() {
    let view = ReportView::of(large(), WorkKey::default(), None);
    let sections = view.sections(&Look::default());
    let titles: Vec<_> = sections.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["3 zones", "500 nodes"]);
    let [zones, nodes] = sections.as_slice() else { panic!() };
    assert_eq!(zones.rows.len(), 3);
    assert_eq!(zones.more_columns, WORKLOADS - DATABASES - MOST_COLUMNS);
    // Each node with a database is by itself, all others are in one row.
    assert_eq!(nodes.rows.len(), DATABASES + 1);
    assert_eq!(nodes.rows[0].name, "node node-0 lost");
    assert!(nodes.rows[0].what.contains(": statefulset/data/db-0; 24 other"));
    let last = nodes.rows.last().unwrap();
    assert_eq!(last.name, "495 nodes like node-5 lost");
    assert_eq!(last.what, "up to 24 workloads short for at most 5m45s");
    // No row is empty, and each database is seen.
    for row in sections.iter().flat_map(|section| &section.rows) {
        assert!(row.cells.iter().any(Option::is_some), "{} is empty", row.name);
    }
    for number in 0..DATABASES {
        assert!(nodes.columns.contains(&subject(&format!("statefulset/data/db-{number}"))));
    }
}

#[test]
fn alike_nodes_are_unfolded_and_more_rows_are_shown_when_asked_for() {
    let view = ReportView::of(large(), WorkKey::default(), None);
    let (number, _) = view.sections(&Look::default())[1].rows.last().unwrap().folds.unwrap();
    let look = Look { open: OrderedSet::from([number]), ..Look::default() };
    let nodes = &view.sections(&look)[1];
    assert_eq!(nodes.rows.len() + nodes.more_rows, DATABASES + 1 + 495);
    assert!(nodes.rows.len() > 400);
    let unfolded: Vec<_> = nodes.rows.iter().filter(|row| row.is_unfolded).collect();
    assert_eq!(unfolded[0].name, "node node-5 lost");
    // Its columns may be those of others, so its own workloads are named.
    assert!(unfolded[1].what.starts_with("24 workloads: deployment/shop/web-"));
    assert!(unfolded[1].what.ends_with(" and 22 more"));
}

#[test]
fn a_search_finds_failures_and_workloads() {
    let view = ReportView::of(large(), WorkKey::default(), None);
    let look = Look { text: "DB-3".to_owned(), ..Look::default() };
    let sections = view.sections(&look);
    assert_eq!(sections.len(), 1, "no zone harms it");
    assert_eq!(names(&sections[0]), ["node node-3 lost"]);
    assert_eq!(sections[0].columns, [subject("statefulset/data/db-3")]);
    assert_eq!(view.workloads(&look).rows.len(), 1);
    let look = Look { text: "node-49".to_owned(), ..Look::default() };
    let sections = view.sections(&look);
    assert_eq!(sections[0].rows.len() + sections[0].more_rows, 11, "49 and 490 to 499");
    let look = Look { only: Only::Never, ..Look::default() };
    let sections = view.sections(&look);
    assert_eq!(sections[0].rows.len(), DATABASES);
    assert!(sections[0].rows.iter().all(|row| row.cells.iter().flatten().count() == 1));
    assert_eq!(view.sections(&Look { text: "nobody".to_owned(), ..Look::default() }), []);
}

#[test]
fn only_reports_of_one_cluster_are_compared() {
    let first = ReportView::of(large(), WorkKey::default(), None);
    let again = ReportView::of(large(), WorkKey::default(), Some(&first)).changes.unwrap();
    assert!(again.contains("0 pairs of failure and workload improved"), "{again}");
    let mut other = large();
    other.outline.cluster.digest = "another".to_owned();
    assert_eq!(ReportView::of(other, WorkKey::default(), Some(&first)).changes, None);
}

fn work(name: &str, seconds: u64) -> WorkKey {
    WorkKey {
        cluster: ClusterIdentity { name: name.to_owned(), ..ClusterIdentity::default() }.into(),
        branch: "main".into(),
        now: Timestamp::from_secs(seconds),
        ..WorkKey::default()
    }
}

#[test]
fn a_report_tells_how_it_was_made_where_another_one_differs() {
    let first = ReportView::of(large(), work("a", 0), None);
    let other = WorkKey { release: KubernetesRelease::parse("1.31").unwrap(), ..work("a", 120) };
    let changes = ReportView::of(large(), other, Some(&first)).changes.unwrap();
    let said = format!(
        " It is about {}, this one about 1.31. It was made at 0s, this one at 2m0s.",
        KubernetesRelease::default()
    );
    assert!(changes.ends_with(&said), "{changes}");
}

#[test]
fn a_report_says_when_the_page_shows_something_else() {
    let made = work("a", 120);
    let mut state = ReportState {
        report: Some(Rc::new(ReportView::of(large(), made.clone(), None))),
        ..ReportState::default()
    };
    let release = KubernetesRelease::default();
    let old = KubernetesRelease::parse("1.31").unwrap();
    let run = WorkKey { branch: "node a lost".into(), ..work("a", 300) };
    for (page, said) in [
        (made.clone(), None),
        (work("b", 120), Some("This report is about another cluster: “a”. The page shows “b”.")),
        (work("a", 150), Some("Made at 2m0s on NOW; the page shows 2m30s on NOW.")),
        (
            WorkKey { release: old, ..made.clone() },
            Some("Made at 2m0s on NOW; the page shows 2m0s on 1.31."),
        ),
        (
            WorkKey { edits: 1, ..made },
            Some("Made at 2m0s on NOW with 0 edits; the page shows 2m0s on NOW with 1 edit."),
        ),
        (
            run.clone(),
            Some(
                "Made at 2m0s on NOW on branch “main”; the page shows 5m0s on NOW on branch “node \
                 a lost”.",
            ),
        ),
    ] {
        let said = said.map(|said| said.replace("NOW", &release.to_string()));
        assert_eq!(state.differs(&page), said);
    }
    // Its own run is its subject, until that is edited.
    state.opened.push("node a lost".to_owned());
    assert_eq!(state.differs(&run), None);
    assert!(state.differs(&WorkKey { edits: 1, ..run.clone() }).is_some());
    assert!(state.differs(&WorkKey { release: old, ..run }).is_some());
}

#[test]
fn durations_are_rounded_in_one_way() {
    let texts = [0, 7, 99, 100, 12_575, 59_960, 11_592_575].map(|it| Millis(it).to_string());
    assert_eq!(texts, ["0s", "7ms", "99ms", "100ms", "12.6s", "1m0s", "3h13m12.6s"]);
}
