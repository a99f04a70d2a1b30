//! What `kubectl drain` prints differently from release to release.

use serde_json::{Value, json};
use taintlab_core::command::Command;
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use taintlab_kubectl::{Context, run};

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "dry_run_warns_of_old_definitions",
        last: "1.18",
        before: "false",
        after: "true",
        observe: warns_of_definitions,
    },
    Difference {
        name: "dry_run_warns_of_old_definitions",
        last: "1.21",
        before: "true",
        after: "false",
        observe: warns_of_definitions,
    },
    Difference {
        name: "drain_local_storage_error",
        last: "1.19",
        before: "cannot delete Pods with local storage (use --delete-local-data to override): d/e",
        after: "cannot delete Pods with local storage (use --delete-emptydir-data to override): \
                d/e",
        observe: |release| last_line(release, "n --force").replace("error: ", ""),
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.23",
        before: "cannot delete Pods not managed by ReplicationController, ReplicaSet, Job, \
                 DaemonSet or StatefulSet (use --force to override): d/q",
        after: "cannot delete Pods declare no controller (use --force to override): d/q",
        observe: |release| last_line(release, "m").replace("error: ", ""),
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.29",
        before: "cannot delete Pods declare no controller (use --force to override): d/q",
        after: "cannot delete cannot delete Pods that declare no controller (use --force to \
                override): d/q",
        observe: |release| last_line(release, "m").replace("error: ", ""),
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.35",
        before: "cannot delete cannot delete Pods that declare no controller (use --force to \
                 override): d/q",
        after: "cannot delete Pods that declare no controller (use --force to override): d/q",
        observe: |release| last_line(release, "m").replace("error: ", ""),
    },
    Difference {
        name: "drain_unmanaged_warning",
        last: "1.23",
        before: "deleting Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or \
                 StatefulSet: d/e, d/p",
        after: "deleting Pods that declare no controller: d/e, d/p",
        observe: |release| {
            let printed = drain(release, "n --force --delete-emptydir-data");
            let (line, _) = printed.split_once('\n').unwrap();
            line.split_once(": ").unwrap().1.to_owned()
        },
    },
    Difference {
        name: "drain_warning_word",
        last: "1.24",
        before: "WARNING: ignoring DaemonSet-managed Pods: d/s\nnode/s drained",
        after: "Warning: ignoring DaemonSet-managed Pods: d/s\nnode/s drained",
        observe: |release| drain(release, "s --ignore-daemonsets"),
    },
    // One error of one node has `error: ` in front where it is the only one of a single list.
    Difference {
        name: "drain_continues_after_errors",
        last: "1.22",
        before: IS_AN_ERROR,
        after: IS_A_LINE,
        observe: |release| last_line(release, "s"),
    },
    // So it is where pods are deleted, but for the errors of the deletion itself.
    Difference {
        name: "drain_continues_after_errors",
        last: "1.22",
        before: IS_AN_ERROR,
        after: IS_A_LINE,
        observe: |release| last_line(release, "s --disable-eviction --timeout=5s"),
    },
    // Several errors of one node are a line each.
    Difference {
        name: "drain_continues_after_errors",
        last: "1.22",
        before: "node \"n\", aborting command...\n\n\
                 There are pending nodes to be drained:\n n\n\
                 LOCAL STORAGE: d/e\nUNMANAGED: d/p\n[1]",
        after: "node \"n\" due to error:[LOCAL STORAGE: d/e, UNMANAGED: d/p], \
                continuing command...\n\
                There are pending nodes to be drained:\n n\n\
                LOCAL STORAGE: d/e\nUNMANAGED: d/p\n[1]",
        observe: |release| unable(release, "n"),
    },
    // Several nodes are a line each.
    Difference {
        name: "drain_continues_after_errors",
        last: "1.22",
        before: "node \"n\", aborting command...\n\n\
                 There are pending nodes to be drained:\n n\n m\n z\n\
                 LOCAL STORAGE: d/e\nUNMANAGED: d/p\n[1]",
        after: "node \"n\" due to error:[LOCAL STORAGE: d/e, UNMANAGED: d/p], \
                continuing command...\n\
                error: unable to drain node \"m\" due to error:UNMANAGED: d/q, \
                continuing command...\n\
                node/z drained\n\
                There are pending nodes to be drained:\n n\n m\n\
                [LOCAL STORAGE: d/e, UNMANAGED: d/p]\nUNMANAGED: d/q\n[1]",
        observe: |release| unable(release, "n m z"),
    },
    Difference {
        name: "drain_warns_before_it_aborts",
        last: "1.21",
        before: ABORTS,
        after: WARNS_AND_ABORTS,
        observe: |release| drain(release, "s"),
    },
    Difference {
        name: "drain_warns_before_it_aborts",
        last: "1.22",
        before: WARNS_AND_ABORTS,
        after: CONTINUES,
        observe: |release| drain(release, "s"),
    },
    // A dry run fails in the same words.
    Difference {
        name: "drain_warns_before_it_aborts",
        last: "1.21",
        before: ABORTS,
        after: WARNS_AND_ABORTS,
        observe: |release| drain(release, "s --dry-run=client").replace(CORDONED, ""),
    },
    Difference {
        name: "drain_warns_before_it_aborts",
        last: "1.22",
        before: WARNS_AND_ABORTS,
        after: CONTINUES,
        observe: |release| drain(release, "s --dry-run=client").replace(CORDONED, ""),
    },
    Difference {
        name: "drain_has_ignore_errors",
        last: "1.20",
        before: NO_IGNORE_ERRORS,
        after: IGNORES_ERRORS,
        observe: |release| drain(release, "n m z --ignore-errors"),
    },
    Difference {
        name: "drain_has_ignore_errors",
        last: "1.22",
        before: IGNORES_ERRORS,
        after: NO_IGNORE_ERRORS,
        observe: |release| drain(release, "n m z --ignore-errors"),
    },
    Difference {
        name: "drain_has_space_before_error",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| printed(release, "s").contains("due to error: cannot").to_string(),
    },
    Difference {
        name: "drain_always_says_drained",
        last: "1.22",
        before: "evicted deleted drained drained",
        after: "drained drained drained drained",
        observe: |release| {
            let lines = ["m", "m --disable-eviction", "m --dry-run=client", "z"];
            let words = lines.map(|line| {
                let line = last_line(release, &format!("{line} --force --grace-period=0"));
                line.split(' ').nth(1).unwrap().to_owned()
            });
            words.join(" ")
        },
    },
    Difference {
        name: "drain_names_namespace_of_awaited_pod",
        last: "1.26",
        before: "error when waiting for pod \"q\" terminating",
        after: "error when waiting for pod \"q\" in namespace \"d\" to terminate",
        observe: |release| {
            let line = last_line(release, "m --force --timeout=5s").replace("error: ", "");
            line.split(": ").next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drain_wait_names_timeout",
        last: "1.31",
        before: "global timeout reached: 5s",
        after: "context deadline exceeded",
        observe: |release| {
            let line = last_line(release, "m --force --timeout=5s").replace("error: ", "");
            line.split_once(": ").unwrap().1.to_owned()
        },
    },
    // Whoever waits for deleted pods has no list of errors, and never had the drain's own text.
    Difference {
        name: "drain_wait_names_timeout",
        last: "1.31",
        before: "error: timed out waiting for the condition",
        after: "error: context deadline exceeded",
        observe: |release| last_line(release, "m --force --timeout=5s --disable-eviction"),
    },
    Difference {
        name: "drain_names_namespace_of_evicted_pod",
        last: "1.19",
        before: "error when evicting pod \"q\" (will retry after 5s): Cannot evict pod as it would \
                 violate the pod's disruption budget.\n\
                 error when evicting pod \"q\": global timeout reached: 3s",
        after: "error when evicting pods/\"q\" -n \"d\" (will retry after 5s): Cannot evict pod as \
                it would violate the pod's disruption budget.\n\
                error when evicting pods/\"q\" -n \"d\": global timeout reached: 3s",
        observe: |release| {
            let printed = drain(
                release,
                "m --force --ignore-daemonsets --timeout=3s --pod-selector=kept=yes",
            );
            let errors = printed.lines().map(|line| line.trim_start_matches("error: "));
            let errors = errors.filter(|line| line.starts_with("error when evicting"));
            errors.collect::<Vec<_>>().join("\n")
        },
    },
    Difference {
        name: "drain_can_be_tried_on_server",
        last: "1.21",
        before: "evicting pod d/q (server dry run)\n\
                 There are pending pods in node \"m\" when an error occurred: \
                 /, Kind= doesn't support dry-run\n\
                 pod/q\n",
        after: "evicting pod d/q (server dry run)\nnode/m drained (server dry run)",
        observe: |release| {
            let printed = drain(release, "m --force --dry-run=server");
            let (_, rest) = printed.split_once("d/q\n").unwrap();
            let rest = rest.split_once("error: unable").map_or(rest, |(before, _)| before);
            let named = rest.split_once("error when evicting ").and_then(|(before, rest)| {
                rest.split_once(": ").map(|(_, error)| format!("{before}{error}"))
            });
            named.unwrap_or_else(|| rest.to_owned())
        },
    },
    // Who waits for what is not deleted waits in vain.
    Difference {
        name: "drain_can_be_tried_on_server",
        last: "1.21",
        before: "error: /, Kind= doesn't support dry-run",
        after: "tried",
        observe: |release| {
            let line = dry_delete(release);
            let tried = ["in vain", "node/m drained (server dry run)"];
            if tried.contains(&line.as_str()) { "tried".to_owned() } else { line }
        },
    },
    Difference {
        name: "drain_waits_for_dry_deletes",
        last: "1.36",
        before: "in vain",
        after: "node/m drained (server dry run)",
        observe: |release| {
            let line = dry_delete(release);
            // To 1.21 it cannot be tried.
            if line.ends_with("doesn't support dry-run") { "in vain".to_owned() } else { line }
        },
    },
    Difference {
        name: "drain_has_no_delete_local_data",
        last: "1.30",
        before: "node/n drained (dry run)",
        after: "See 'kubectl drain --help' for usage.",
        observe: |release| last_line(release, "n --force --delete-local-data --dry-run=client"),
    },
];

/// The only error of a drain, in one list.
const IS_AN_ERROR: &str =
    "error: cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): d/s";

/// The same without the word.
const IS_A_LINE: &str =
    "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): d/s";

/// A drain that fails, to 1.21.
const ABORTS: &str = "error: unable to drain node \"s\", aborting command...\n\n\
                      There are pending nodes to be drained:\n s\nerror: DAEMON SET: d/s\n[1]";

/// The same in 1.22.
const WARNS_AND_ABORTS: &str = "\
    DEPRECATED WARNING: Aborting the drain command in a list of nodes will be deprecated in \
    v1.23.\n\
    The new behavior will make the drain command go through all nodes even if one or more nodes \
    failed during the drain.\n\
    For now, users can try such experience via: --ignore-errors\n\
    error: unable to drain node \"s\", aborting command...\n\n\
    There are pending nodes to be drained:\n s\nerror: DAEMON SET: d/s\n[1]";

/// The same since 1.23.
const CONTINUES: &str = "\
    error: unable to drain node \"s\" due to error:DAEMON SET: d/s, continuing command...\n\
    There are pending nodes to be drained:\n s\nDAEMON SET: d/s\n[1]";

/// What a dry run that fails says first.
const CORDONED: &str = "node/s cordoned (dry run)\n";

/// Errors that are ignored are told, and forgotten.
const IGNORES_ERRORS: &str = "\
    error: unable to drain node \"n\" due to error:[LOCAL STORAGE: d/e, UNMANAGED: d/p], \
    continuing command...\n\
    error: unable to drain node \"m\" due to error:UNMANAGED: d/q, continuing command...\n\
    node/z drained";

const NO_IGNORE_ERRORS: &str = "error: unknown flag: --ignore-errors\n\
                                See 'kubectl drain --help' for usage.\n[1]";

/// Errors whose words differ between releases, each a row of its own, and what stands for them.
const ERRORS: [(&str, &str); 8] = [
    ("cannot delete Pods with local storage (use --delete-local-data to override)", STORAGE),
    ("cannot delete Pods with local storage (use --delete-emptydir-data to override)", STORAGE),
    (
        "cannot delete Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or \
         StatefulSet (use --force to override)",
        UNMANAGED,
    ),
    (
        "cannot delete cannot delete Pods that declare no controller (use --force to override)",
        UNMANAGED,
    ),
    ("cannot delete Pods declare no controller (use --force to override)", UNMANAGED),
    ("cannot delete Pods that declare no controller (use --force to override)", UNMANAGED),
    ("cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)", "DAEMON SET"),
    ("due to error: ", "due to error:"),
];
const STORAGE: &str = "LOCAL STORAGE";
const UNMANAGED: &str = "UNMANAGED";

/// What a drain prints, with a word for each error.
fn drain(release: KubernetesRelease, line: &str) -> String {
    ERRORS.iter().fold(printed(release, line), |text, (error, word)| text.replace(error, word))
}

/// Whether a drain that is only tried tells of the old version of a resource that it asks for.
fn warns_of_definitions(release: KubernetesRelease) -> String {
    let warning = "Warning: apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated";
    printed(release, "s --ignore-daemonsets --dry-run=server").contains(warning).to_string()
}

/// What stands after the first `error: unable to drain `.
fn unable(release: KubernetesRelease, line: &str) -> String {
    drain(release, line).split_once("error: unable to drain ").unwrap().1.to_owned()
}

/// The last line of a server dry run that deletes; `in vain` if it has waited for the pod.
fn dry_delete(release: KubernetesRelease) -> String {
    let flags = "m --force --dry-run=server --disable-eviction --timeout=5s";
    let line = last_line(release, flags);
    let waited = ["error: timed out waiting for the condition", "error: context deadline exceeded"];
    if waited.contains(&line.as_str()) { "in vain".to_owned() } else { line }
}

/// The last line before the exit code.
fn last_line(release: KubernetesRelease, line: &str) -> String {
    let printed = printed(release, line);
    printed.trim_end_matches("\n[1]").lines().last().unwrap().to_owned()
}

/// What a drain prints from the beginning to the end, and `[1]` if it fails. Nobody manages the
/// pods `e`, which has an emptyDir, and `p` of the node `n` and `q` of `m`, which a budget keeps
/// if it is labelled; a DaemonSet manages `s`; `z` has no pods.
fn printed(release: KubernetesRelease, line: &str) -> String {
    printed_with(release, line, [])
}

/// The same where something happens 1 s after it began, but for writes that are made to fail, which
/// are from the beginning.
fn printed_with(
    release: KubernetesRelease,
    line: &str,
    happens: impl IntoIterator<Item = Value>,
) -> String {
    let kept = line.contains("kept");
    let pod = |name: &str, node: &str, owners: Value, volumes: Value| {
        json!({
            "metadata": { "namespace": "d", "name": name, "labels": { "kept": "yes" },
                          "ownerReferences": owners },
            "spec": { "nodeName": node, "volumes": volumes },
        })
    };
    let owner = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "s", "uid": "s",
                        "controller": true });
    let budget = json!({ "metadata": { "namespace": "d", "name": "b" }, "spec": {
        "minAvailable": 9, "selector": { "matchLabels": { "kept": "yes" } } } });
    let nodes = ["n", "m", "s", "z"].map(|name| json!({ "metadata": { "name": name } }));
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": kept },
        "objects": {
            "nodes": nodes,
            "pods": [
                pod("e", "n", json!([]), json!([{ "name": "v", "emptyDir": {} }])),
                pod("p", "n", json!([]), json!([])),
                pod("q", "m", json!([]), json!([])),
                pod("s", "s", json!([owner]), json!([])),
            ],
            "budgets": if kept { vec![budget] } else { Vec::new() },
        },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(5)).unwrap();
    simulator.drain_events();
    let commands = happens.into_iter().map(|it| serde_json::from_value::<Command>(it).unwrap());
    let (fails, happens): (Vec<Command>, Vec<Command>) =
        commands.partition(|command| matches!(command, Command::FailPodWrites { .. }));
    for command in fails {
        simulator.handle_command(simulator.now(), command).unwrap();
    }
    let outcome = run(&Context::new(&simulator, &[]), &format!("drain {line}"), None);
    let mut text = outcome.terminal;
    let mut failed = outcome.exit_code == 1;
    if !outcome.commands.is_empty() {
        text.clear();
        for command in outcome.commands {
            simulator.handle_command(simulator.now(), command).unwrap();
        }
        for command in happens {
            simulator.handle_command(Timestamp::from_secs(6), command).unwrap();
        }
        simulator.advance_to(Timestamp::from_secs(100)).unwrap();
        for event in simulator.drain_events() {
            match event.what {
                EventKind::DrainPrinted { line, .. } => text += &(line + "\n"),
                EventKind::DrainEnded { failed: it, .. } => failed = it,
                _ => {}
            }
        }
    }
    if failed { text + "[1]" } else { text.trim_end().to_owned() }
}

/// What a budget forbids is tried again until the timeout, or for ever, in a dry run too.
#[test]
fn a_dry_run_on_the_server_asks_budgets() {
    let drain = "m --force --ignore-daemonsets --pod-selector=kept=yes --dry-run=server";
    let first = KubernetesRelease::parse("1.22").unwrap();
    for release in KubernetesRelease::all().filter(|release| *release >= first) {
        let refused = "node/m cordoned (server dry run)\nevicting pod d/q (server dry run)\n\
                       error when evicting pods/\"q\" -n \"d\" (will retry after 5s): Cannot evict \
                       pod as it would violate the pod's disruption budget.";
        let lines = |text: String| {
            let lines = text.lines().filter(|line| !line.to_lowercase().starts_with("warning:"));
            lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(lines(printed(release, drain)), refused, "{release}");
        let over = lines(printed(release, &format!("{drain} --timeout=3s")));
        let over = over.strip_prefix(refused).unwrap();
        assert!(over.contains("There are pending pods in node \"m\""), "{release}: {over}");
        let error = "error when evicting pods/\"q\" -n \"d\": global timeout reached: 3s\n[1]";
        assert!(over.ends_with(error), "{release}: {over}");
        let free = lines(printed(release, "m --force --dry-run=server"));
        assert!(free.ends_with("node/m drained (server dry run)"), "{release}: {free}");
    }
}

/// A DELETE that is refused ends the drain of a node at once, in the words of the API server, and
/// nothing is said of an eviction. Pods that come later in the list stay.
#[test]
fn a_delete_that_is_refused_is_told_as_it_is() {
    for release in KubernetesRelease::all() {
        let fails = json!({ "failPodWrites": {
            "pod": "d/p", "verb": "delete", "times": 1, "error": "InternalError" } });
        let line = "n --force --delete-emptydir-data --disable-eviction --timeout=5s";
        let printed = printed_with(release, line, [fails.clone()]);
        let error = "Internal error occurred: simulated";
        let pending = format!(
            "There are pending pods in node \"n\" when an error occurred: {error}\npod/e\npod/p\n"
        );
        assert!(printed.contains(&pending), "{release}: {printed}");
        assert!(!printed.contains("evict"), "{release}: {printed}");
        assert!(!printed.contains("pod/e deleted"), "nobody waits for it: {printed}");
        let ends = format!(" n\nerror: {error}\n[1]");
        assert!(printed.ends_with(&ends), "{release}: {printed}");
    }
}

/// An eviction that is refused is an error of its pod alone, unless it is a 429: that is tried
/// again after 5 s, as what a budget forbids.
#[test]
fn an_eviction_that_is_refused_is_told_with_its_pod() {
    let line = "n --force --delete-emptydir-data --timeout=50s";
    let fails = |error: &str| json!({ "failPodWrites": { "pod": "d/p", "verb": "delete", "times": 2, "error": error } });
    for release in KubernetesRelease::all() {
        let named = if release.drain_names_namespace_of_evicted_pod() {
            "pods/\"p\" -n \"d\""
        } else {
            "pod \"p\""
        };
        for (error, words) in [
            ("InternalError", "Internal error occurred: simulated"),
            ("Forbidden", "pods \"p\" is forbidden: simulated"),
        ] {
            let printed = printed_with(release, line, [fails(error)]);
            let told = format!("error when evicting {named}: {words}");
            let pending = format!(
                "There are pending pods in node \"n\" when an error occurred: {told}\npod/p\n"
            );
            assert!(printed.contains(&pending), "{release}: {printed}");
            assert!(printed.contains("pod/e evicted"), "the other goes: {release}: {printed}");
            assert!(printed.ends_with("[1]"), "{release}: {printed}");
        }
        let printed = printed_with(release, line, [fails("TooManyRequests")]);
        let again = format!(
            "error when evicting {named} (will retry after 5s): the server has received too many \
             requests and has asked us to try again later (post pods.policy p)"
        );
        assert_eq!(printed.matches(&again).count(), 2, "{release}: {printed}");
        assert_eq!(printed.matches("evicting pod d/p\n").count(), 3, "{release}: {printed}");
        assert!(printed.contains("pod/p evicted"), "{release}: {printed}");
        assert!(!printed.ends_with("[1]"), "{release}: {printed}");
    }
}

/// After an error the pods are listed once more, and what is wrong with those that came meanwhile
/// is told, without a line end.
#[test]
fn errors_of_the_second_list_are_told() {
    let late = json!({ "createPod": {
        "metadata": { "namespace": "d", "name": "late" },
        "spec": { "nodeName": "m", "volumes": [{ "name": "v", "emptyDir": {} }] } } });
    for release in KubernetesRelease::all() {
        let printed = printed_with(release, "m --force --timeout=5s", [late.clone()]);
        let listed = format!(
            "\npod/q\nFollowing errors occurred while getting the list of pods to delete:\n\
             cannot delete {}: d/late",
            release.drain_local_storage_error()
        );
        let (_, rest) = printed.split_once(&listed).unwrap_or_else(|| panic!("{printed}"));
        let next = if release.drain_warns_before_it_aborts() {
            "DEPRECATED WARNING: Aborting"
        } else {
            "error: unable to drain node \"m\""
        };
        assert!(rest.starts_with(next), "{release}: {printed}");
        let undisturbed = printed_with(release, "m --force --timeout=5s", []);
        assert!(!undisturbed.contains("Following errors"), "{release}: {undisturbed}");
    }
}
