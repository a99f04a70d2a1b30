//! `taintlab solve`: the smallest change of settings that meets wishes.

use std::fmt::Write;

use serde_json::Value;
use taintlab_core::scenario::Scenario;
use taintlab_core::solve::{
    Change, Knob, Outcome, Setting, Solve, SolveOptions, Trial, Wish, apply, patch,
};
use taintlab_manifest::{Limits, read_scenario};

use super::host::{Ran, taintlab_words};

const CHAPTER: &str = include_str!("../../../docs/book/src/how-to/find-the-setting.md");

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: shop}
spec:
  replicas: COUNT
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {TOLERATIONScontainers: [{name: c, resources: {requests: {cpu: \"1\"}}}]}
---
";

/// Nodes `a`, `b` and so on, each in a zone, and Deployments without pods.
fn cluster(nodes: &[&str], workloads: &[(&str, u32, Option<u32>)]) -> String {
    let mut text = String::new();
    for (index, name) in nodes.iter().enumerate() {
        let zone = ["z1", "z2"][index % 2];
        let _ = write!(
            text,
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{kubernetes.io/hostname: \
             {name}, topology.kubernetes.io/zone: {zone}}}}}\nstatus: {{allocatable: {{cpu: \"8\", \
             pods: \"20\"}}}}\n---\n"
        );
    }
    for (name, replicas, seconds) in workloads {
        let toleration = |key: &str| {
            let seconds = seconds.unwrap_or_default();
            format!(
                "{{key: node.kubernetes.io/{key}, operator: Exists, effect: NoExecute, \
                 tolerationSeconds: {seconds}}}"
            )
        };
        let tolerations = seconds.map(|_| {
            format!("tolerations: [{}, {}], ", toleration("not-ready"), toleration("unreachable"))
        });
        let tolerations = tolerations.unwrap_or_default();
        let object = DEPLOYMENT.replace("NAME", name).replace("COUNT", &replicas.to_string());
        text += &object.replace("TOLERATIONS", &tolerations);
    }
    text
}

fn solve(wishes: &[&str], options: &str, cluster: &str) -> Ran {
    let mut words = vec!["solve", "cluster.yaml"];
    for wish in wishes {
        words.extend(["--want", wish]);
    }
    words.extend(options.split_whitespace());
    taintlab_words(&words, &[("cluster.yaml", cluster)])
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"))
}

const LOST: &str = "deployment/shop/web: below <= 90s if a node is lost";
const AWAY: &str = "no move if a node is away for 60s";

/// The parts between fences that begin so.
fn fences(start: &str) -> Vec<&'static str> {
    let begins = format!("```{start}\n");
    let parts = CHAPTER.split(begins.as_str()).skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn the_chapter_shows_what_is_printed() {
    let [shop] = fences("yaml shop")[..] else { panic!("one cluster") };
    let lines = CHAPTER.lines().filter_map(|line| line.strip_prefix("npx taintlab solve "));
    let shown = fences("text");
    let mut outputs = String::new();
    for line in lines {
        let words = line.split('\'').enumerate().flat_map(|(index, part)| {
            if index % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
        });
        let words: Vec<&str> =
            ["solve"].into_iter().chain(words).filter(|it| *it != "||").collect();
        let words: Vec<&str> = words.into_iter().take_while(|it| *it != "true").collect();
        outputs += &taintlab_words(&words, &[("shop.yaml", shop)]).out;
    }
    assert!(shown.len() >= 2);
    for text in shown {
        for part in text.split("…\n") {
            assert!(outputs.contains(part), "{part}\nis not in\n{outputs}");
        }
    }
}

#[test]
fn the_seconds_that_just_fit_are_found_and_hold() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, None)]);
    let ran = solve(&[LOST, AWAY], "--json", &text);
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = json(&ran);
    let setting = &found["answers"][0]["settings"][0];
    assert_eq!(setting["type"], "tolerationSeconds", "{found}");
    let seconds = u32::try_from(setting["seconds"].as_u64().unwrap()).unwrap();
    assert_eq!(found["tried"], 1);
    assert_eq!(found["answers"][0]["over"], 0);
    // Written by hand: that is enough, and a second more is not.
    let by_hand = |seconds| cluster(&["a", "b", "c"], &[("web", 2, Some(seconds))]);
    let nothing = solve(&[LOST, AWAY], "", &by_hand(seconds));
    assert_eq!(nothing.code, 0, "{nothing:?}");
    assert!(nothing.out.starts_with("Nothing has to change: the cluster meets all wishes\n"));
    let more = json(&solve(&[LOST, AWAY], "--json", &by_hand(seconds + 1)));
    assert!(more["now"]["over"].as_u64().unwrap() > 0, "{more}");
    assert_eq!(more["answers"][0]["settings"][0]["seconds"], seconds);
}

#[test]
fn the_patch_is_what_changes() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, Some(300)), ("api", 2, Some(20))]);
    let ran = solve(&[LOST], "--only tolerationSeconds", &text);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("The smallest change: tolerationSeconds "), "{}", ran.out);
    let patch = ran.out.split("\n\n").find(|part| part.starts_with("apiVersion:")).unwrap();
    assert!(patch.contains("name: web\n") && !patch.contains("containers"), "{patch}");
    let markdown = solve(&[LOST], "--only tolerationSeconds --markdown", &text);
    assert!(markdown.out.starts_with("## The smallest change: "), "{}", markdown.out);
    assert!(markdown.out.contains("\n```yaml\napiVersion: apps/v1\n"), "{}", markdown.out);
}

#[test]
fn a_statefulset_needs_somebody_and_a_drain_a_budget() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, None)]).replace("Deployment", "StatefulSet");
    let wish = "sts/shop/web: below <= 2m if a node is lost";
    let ran = solve(&[wish], "--changes 1", &text);
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = "The smallest change: taint node.kubernetes.io/out-of-service after 1m";
    assert!(ran.out.starts_with(said), "{}", ran.out);
    assert!(ran.out.contains("  kubectl taint nodes NODE node.kubernetes.io/out-of-service="));
    // Both pods are on a node that is drained: they leave at the same time unless a budget says no.
    let pods = pods("web", "ReplicaSet", &["a", "a"]);
    let text =
        cluster(&["a", "b", "c"], &[("web", 2, None)]).replace("Deployment", "ReplicaSet") + &pods;
    let wish = "rs/shop/web: atZero <= 0s if node a is drained";
    let ran = solve(&[wish], "", &text);
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = "The smallest change: maxUnavailable 1 for PodDisruptionBudget shop/web\n";
    assert!(ran.out.starts_with(said), "{}", ran.out);
    assert!(ran.out.contains("kind: PodDisruptionBudget\n"), "{}", ran.out);
}

/// Pods of an owner of that name, on these nodes, as they are in a cluster.
fn pods(owner: &str, kind: &str, nodes: &[&str]) -> String {
    let toleration = |key: &str| {
        format!(
            "{{key: node.kubernetes.io/{key}, operator: Exists, effect: NoExecute, tolerationSeconds: \
             300}}"
        )
    };
    let tolerations = ["not-ready", "unreachable"].map(toleration).join(", ");
    let pod = |(index, node): (usize, &&str)| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {owner}-{index}\n  namespace: shop\n  labels: \
             {{app: web, pod-template-hash: {owner}}}\n  ownerReferences: [{{apiVersion: apps/v1, kind: \
             {kind}, name: {owner}, uid: {owner}, controller: true}}]\nspec: {{nodeName: {node}, \
             tolerations: [{tolerations}], containers: [{{name: c, resources: {{requests: {{cpu: \
             \"1\"}}}}}}]}}\nstatus: {{phase: Running, conditions: [{{type: Ready, status: \
             \"True\"}}]}}\n---\n"
        )
    };
    nodes.iter().enumerate().map(pod).collect()
}

#[test]
fn pods_that_are_there_roll_out() {
    let set = cluster(&[], &[("set", 2, None)])
        .replace("kind: Deployment", "kind: ReplicaSet")
        .replace("app: set", "app: web, pod-template-hash: set")
        .replace(
            "namespace: shop}",
            "namespace: shop, uid: set, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: \
             web, uid: web, controller: true}]}",
        );
    let deployment = cluster(&["a", "b", "c"], &[("web", 2, None)])
        .replace("namespace: shop}", "namespace: shop, uid: web, generation: 4}")
        .replace("spec:\n  replicas", "status: {observedGeneration: 4}\nspec:\n  replicas");
    let text = deployment + &set + &pods("set", "ReplicaSet", &["a", "b"]);
    let found = json(&solve(&[LOST, AWAY], "--json", &text));
    assert_eq!(found["answers"][0]["settings"][0]["type"], "tolerationSeconds", "{found}");
    assert_eq!(found["tried"], 1);
}

#[test]
fn none_in_reach_is_said_with_what_comes_nearest() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, None)]);
    let wishes = ["deployment/shop/web: below <= 60s if a node is lost", AWAY];
    let options = "--only tolerationSeconds,replicas";
    let ran = solve(&wishes, options, &text);
    assert_eq!(ran.code, 1, "{ran:?}");
    let said = "No change in reach meets all wishes: all 5 changes were tried\n";
    assert!(ran.out.starts_with(said), "{}", ran.out);
    assert!(ran.out.contains("\nWhat comes nearest\n\nCHANGE "), "{}", ran.out);
    assert!(
        ran.out.contains("tolerationSeconds of deployment/shop/web: each second from 0 to 300\n")
    );
    let found = json(&solve(&wishes, &format!("{options} --json"), &text));
    assert_eq!(found["answers"].as_array().unwrap().len(), 0);
    assert_eq!(found["allTried"], true);
    let front = found["front"].as_array().unwrap();
    let figures = |it: &Value| (it["over"].as_u64().unwrap(), it["moved"].as_u64().unwrap());
    let front: Vec<(u64, u64)> = front.iter().map(figures).collect();
    assert_eq!(front.len(), 2, "{found}");
    assert!(front[0].1 == 0 && front[0].0 > 0 && front[1] == (0, 1), "{front:?}");
    // A limit of tries proves nothing.
    let few = json(&solve(&wishes, &format!("{options} --json --tries 2"), &text));
    assert_eq!((few["allTried"].as_bool(), few["tried"].as_u64()), (Some(false), Some(2)));
}

#[test]
fn threads_change_nothing() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, None)]);
    let wishes = ["deployment/shop/web: below <= 50s if a node is lost", AWAY];
    let out = |workers: u32| {
        let options =
            format!("--only tolerationSeconds,flags --changes 2 --json --workers {workers}");
        solve(&wishes, &options, &text).out
    };
    assert_eq!(out(1), out(3));
}

#[test]
fn mistakes_are_said_with_their_place() {
    let text = cluster(&["a", "b"], &[("web", 1, None)]);
    for (wish, options, why) in [
        (
            "deployment/shop/web: below < 90s if a node is lost",
            "",
            "--want 'deployment/shop/web: below < 90s if a node is lost': character 28: expected `<=`",
        ),
        (
            "deployment/shop/api: below <= 90s if a node is lost",
            "",
            "there is no workload `deployment/shop/api`: there are deployment/shop/web\n",
        ),
        ("no move if node x is lost", "", "there is no node `x`: there are a, b\n"),
        ("no move if a region is lost", "", "no node has a region\n"),
        (AWAY, "--only seconds", "--only: expected one of tolerationSeconds, budget, "),
        (AWAY, "--json --markdown", "--json and --markdown cannot be used together"),
    ] {
        let ran = solve(&[wish], options, &text);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    let none = taintlab_words(&["solve", "cluster.yaml"], &[("cluster.yaml", &text)]);
    assert!(none.err.starts_with("error: solve: --want: which wish?"), "{}", none.err);
}

/// A cluster as a scenario.
fn scenario(text: &str) -> Scenario {
    let mut whole = "apiVersion: taintlab/v1\nkind: Scenario\nobjects:\n".to_owned();
    for (list, kind) in [("nodes", "Node"), ("workloads", "Deployment")] {
        let _ = writeln!(whole, "  {list}:");
        for object in text.split("---\n").filter(|it| it.contains(&format!("kind: {kind}\n"))) {
            for (place, line) in object.lines().enumerate() {
                let dash = if place == 0 { "- " } else { "  " };
                let _ = writeln!(whole, "    {dash}{line}");
            }
        }
    }
    let load = &mut |_: &str| unreachable!("it names no file");
    let opened = read_scenario(&whole, "cluster.yaml", &Limits::default(), load);
    opened.scenario.unwrap_or_else(|| panic!("{:?}", opened.diagnostics))
}

/// What the search finds: the changes of the smallest size, or the nearest ones.
fn searched(solve: &Solve) -> (Option<Vec<Change>>, Vec<Change>) {
    if solve.now().outcome.is_met() {
        return (Some(vec![solve.now()]), Vec::new());
    }
    let mut all = Vec::new();
    let mut smallest: Option<(usize, usize)> = None;
    let mut met = Vec::new();
    for (place, trial) in solve.trials().iter().enumerate() {
        if smallest.is_some_and(|size| trial.size() > size) {
            break;
        }
        let tried = solve.run(trial, &|| false).unwrap();
        if let Some(change) = tried.met.clone() {
            smallest = Some(trial.size());
            met.push(change);
        }
        all.push((place, tried));
    }
    if !met.is_empty() {
        return (Some(met), Vec::new());
    }
    let mut known = vec![solve.now()];
    let mut done = 0;
    loop {
        let (open, next) = solve.open(&all, &known, done);
        done = next;
        if open.is_empty() {
            return (None, solve.front(&known));
        }
        known.extend(open.iter().filter_map(|it| solve.approach(&all, *it, &|| false)));
    }
}

/// Every combination of at most two settings, with every second up to a limit.
fn grid(solve: &Solve, most: u32) -> Vec<Vec<Setting>> {
    let values = |knob: &Knob| -> Vec<Setting> {
        match knob {
            Knob::Values(values) => values.clone(),
            Knob::Seconds(seconds) => (0..=most).map(|it| seconds.setting(it)).collect(),
        }
    };
    let knobs: Vec<Vec<Setting>> = solve.knobs().iter().map(values).collect();
    let mut all: Vec<Vec<Setting>> = knobs.iter().flatten().map(|it| vec![it.clone()]).collect();
    for (place, first) in knobs.iter().enumerate() {
        for second in knobs.iter().skip(place + 1) {
            let pairs = first
                .iter()
                .flat_map(|one| second.iter().map(|two| vec![one.clone(), two.clone()]));
            all.extend(pairs);
        }
    }
    all
}

fn size(settings: &[Setting]) -> (usize, usize) {
    let sums = settings.iter().map(|it| (it.fields(), it.cost()));
    sums.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

/// The search against every combination of a grid.
fn agrees(text: &str, wishes: &[&str], kinds: &[&str], most_fields: usize, most: u32) -> bool {
    let scenario = scenario(text);
    let wishes: Vec<Wish> = wishes.iter().map(|it| Wish::parse(it).unwrap()).collect();
    let kinds = kinds.iter().map(|it| (*it).to_owned()).collect();
    let options = SolveOptions { most_fields, kinds, ..SolveOptions::default() };
    let solve = Solve::new(scenario.clone(), wishes.clone(), &options).unwrap();
    let mut brute: Vec<(Vec<Setting>, Outcome)> = vec![(Vec::new(), solve.now().outcome)];
    for settings in grid(&solve, most) {
        if size(&settings).0 > most_fields {
            continue;
        }
        let changed = apply(&scenario, &settings).unwrap();
        let outcome = solve.outcome_of(changed, &settings).unwrap();
        brute.push((settings, outcome));
    }
    let met = brute.iter().filter(|(_, outcome)| outcome.is_met());
    let smallest = met.clone().map(|(settings, _)| size(settings)).min();
    let (found, front) = searched(&solve);
    let sizes = found.as_ref().map(|it| size(&it[0].settings));
    assert_eq!(sizes, smallest, "{wishes:?} {kinds:?}", kinds = options.kinds);
    for change in found.iter().flatten() {
        // Of all seconds that would do, none is nearer to those of the cluster as it is.
        let seconds = |settings: &[Setting]| {
            settings.iter().find_map(|it| match it {
                Setting::TolerationSeconds { seconds, .. } => Some(*seconds),
                _ => None,
            })
        };
        let others = |settings: &[Setting]| -> Vec<Setting> {
            let mut all: Vec<Setting> = settings.to_vec();
            all.retain(|it| !matches!(it, Setting::TolerationSeconds { .. }));
            all
        };
        let now = solve.knobs().iter().find_map(|it| match it {
            Knob::Seconds(seconds) => Some(seconds.now),
            Knob::Values(_) => None,
        });
        let (Some(own), Some(now)) = (seconds(&change.settings), now) else { continue };
        let alike = met.clone().filter(|(it, _)| others(it) == others(&change.settings));
        let nearest = alike.filter_map(|(it, _)| Some(seconds(it)?.abs_diff(now))).min();
        assert_eq!(Some(own.abs_diff(now)), nearest, "{wishes:?}");
        assert!(!patch(&scenario, &change.settings).unwrap().is_empty());
    }
    if found.is_none() {
        let all = brute.into_iter().map(|(settings, outcome)| Change { settings, outcome });
        let best = solve.front(&all.collect::<Vec<_>>());
        let figures = |front: &[Change]| {
            front.iter().map(|it| (it.outcome.moved, it.outcome.over)).collect::<Vec<_>>()
        };
        assert_eq!(figures(&front), figures(&best), "{wishes:?}");
    }
    found.is_some()
}

#[test]
fn the_seconds_are_those_of_brute_force() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, Some(40)), ("api", 1, Some(90))]);
    let mut met = 0;
    let below = |limit: &str| format!("deployment/shop/web: below <= {limit} if a node is lost");
    let sets: [(&str, &[&str]); 7] = [
        ("80s", &[AWAY]),
        ("66s", &[AWAY]),
        ("58s", &[AWAY]),
        ("200s", &["deployment/shop/web: no move if a zone is away for 100s"]),
        ("75s", &["deployment/shop/web: below <= 62s if a node is away for 61s"]),
        // Evicted in time, or not at all: both would do, the second only without the first wish.
        ("70s", &["deployment/shop/web: below <= 65s if a node is away for 90s"]),
        ("300s", &["deployment/shop/web: below <= 91s if a node is away for 90s"]),
    ];
    for (limit, others) in sets {
        let first = below(limit);
        let wishes: Vec<&str> =
            [first.as_str()].into_iter().chain(others.iter().copied()).collect();
        met += usize::from(agrees(&text, &wishes, &["tolerationSeconds"], 1, 110));
    }
    assert!((3..7).contains(&met), "{met} of 7 can be met");
}

#[test]
fn combinations_are_those_of_brute_force() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, Some(30))]);
    let below = "deployment/shop/web: below <= 45s if a node is lost";
    let kinds = ["tolerationSeconds", "spread", "flags"];
    let soon = agrees(&text, &[below], &kinds, 2, 28);
    let not = agrees(&text, &[below, AWAY], &kinds, 2, 28);
    assert!(soon && !not);
}

#[test]
fn trials_come_by_their_size() {
    let text = cluster(&["a", "b", "c"], &[("web", 2, None)]);
    let wishes = vec![Wish::parse(LOST).unwrap()];
    let solve = Solve::new(scenario(&text), wishes, &SolveOptions::default()).unwrap();
    assert_eq!(solve.trials().len(), solve.combinations());
    assert!(solve.trials().is_sorted_by_key(Trial::size));
    assert!(solve.trials().iter().all(|it| (1..=3).contains(&it.size().0)));
}
