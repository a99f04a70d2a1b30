//! What `kubectl` prints differently from release to release.

use taintlab_core::api::{Node, Pod};
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_kubectl::{Context, Outcome, run};

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "kubectl_says_unlabeled",
        last: "1.21",
        before: "node/n labeled\n",
        after: "node/n unlabeled\n",
        observe: |release| kubectl(release, "label node n a-").stdout,
    },
    Difference {
        name: "kubectl_delete_names_namespace",
        last: "1.33",
        before: "pod \"p\" deleted\n",
        after: "pod \"p\" deleted from d namespace\n",
        observe: |release| kubectl(release, "delete pod p -n d").stdout,
    },
    Difference {
        name: "kubectl_warns_in_capitals",
        last: "1.20",
        before: "warning",
        after: "Warning",
        observe: |release| {
            let outcome = kubectl(release, "delete pod p -n d --force");
            outcome.stderr.split(':').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drain_local_storage_error",
        last: "1.19",
        before: "error: cannot delete Pods with local storage (use --delete-local-data to \
                 override): d/e",
        after: "error: cannot delete Pods with local storage (use --delete-emptydir-data to \
                override): d/e",
        observe: |release| drain_lines(release, "--force").pop().unwrap(),
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| {
            let line = drain_lines(release, "--delete-emptydir-data").pop().unwrap();
            line.starts_with("error: cannot delete Pods not managed by ReplicationController")
                .to_string()
        },
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.29",
        before: "false",
        after: "true",
        observe: |release| {
            let line = drain_lines(release, "--delete-emptydir-data").pop().unwrap();
            let text = "error: cannot delete Pods that declare no controller (use --force to \
                        override): d/e, d/p";
            (line == text).to_string()
        },
    },
    Difference {
        name: "drain_unmanaged_warning",
        last: "1.23",
        before: "WARNING: deleting Pods not managed by ReplicationController, ReplicaSet, Job, \
                 DaemonSet or StatefulSet: d/e, d/p",
        after: "Warning: deleting Pods that declare no controller: d/e, d/p",
        observe: |release| drain_lines(release, "--force --delete-emptydir-data").swap_remove(0),
    },
    Difference {
        name: "drain_warning_word",
        last: "1.23",
        before: "WARNING",
        after: "Warning",
        observe: |release| {
            let line = drain_lines(release, "--force --delete-emptydir-data").swap_remove(0);
            line.split(':').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drained_word",
        last: "1.22",
        before: "node/n evicted",
        after: "node/n drained",
        observe: |release| {
            drain_lines(release, "--force --delete-emptydir-data --grace-period=0").pop().unwrap()
        },
    },
    Difference {
        name: "drain_continues_after_errors",
        last: "1.22",
        before: "aborting",
        after: "continuing",
        observe: |release| {
            let line = drain_lines(release, "").swap_remove(0);
            let command =
                line.trim_end().split(", ").find(|part| part.ends_with("command...")).unwrap();
            command.split(' ').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drain_wait_names_timeout",
        last: "1.26",
        before: "global timeout reached: 5s",
        after: "context deadline exceeded",
        observe: |release| {
            let lines = drain_lines(release, "--force --delete-emptydir-data --timeout=5s");
            let line =
                lines.iter().find(|line| line.starts_with("There are pending pods")).unwrap();
            line.split("terminate: ").last().unwrap().trim_end_matches(']').to_owned()
        },
    },
    Difference {
        name: "jobs_have_status_column",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| release.jobs_have_status_column().to_string(),
    },
];

/// What a drain of the node `n` prints in the end, with its errors: a pod `d/p` and a pod `d/e` with
/// an emptyDir are there, which nobody manages.
fn drain_lines(release: KubernetesRelease, flags: &str) -> Vec<String> {
    let mut node = Node::default();
    node.metadata.name = "n".into();
    let pod = |name: &str, volumes: &str| -> Pod {
        serde_json::from_str(&format!(
            r#"{{"metadata":{{"namespace":"d","name":"{name}"}},
                 "spec":{{"nodeName":"n","volumes":[{volumes}]}}}}"#
        ))
        .unwrap()
    };
    let pods = [pod("p", ""), pod("e", r#"{"name":"v","emptyDir":{}}"#)];
    let mut simulator = Simulator::new(SimulatorConfig::of(release), [node], pods).unwrap();
    let line = format!("drain n {flags}");
    for command in run(&Context::new(&simulator, &[]), &line, None).commands {
        simulator.handle_command(Timestamp::ZERO, command).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(100)).unwrap();
    let printed = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        EventKind::DrainPrinted { line, .. } => Some(line),
        _ => None,
    });
    printed.collect()
}

/// What `kubectl` of that release does on a node `n` with a label `a` and a pod `d/p`.
fn kubectl(release: KubernetesRelease, line: &str) -> Outcome {
    let mut node = Node::default();
    node.metadata.name = "n".into();
    node.metadata.labels.insert("a".into(), "b".into());
    let mut pod = Pod::default();
    pod.metadata.name = "p".into();
    pod.metadata.namespace = "d".into();
    pod.spec.node_name = "n".into();
    let simulator = Simulator::new(SimulatorConfig::of(release), [node], [pod]).unwrap();
    run(&Context::new(&simulator, &[]), line, None)
}
