//! No line panics, and what a line plans is what happens.

use std::time::Duration;

use proptest::prelude::*;
use taintlab_core::api::{Node, Pod, Taint, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_kubectl::{Context, command_line_of, complete, run};

use super::check;

/// Three nodes, two of them tainted, and two pods; with workloads if asked for.
fn cluster(control_plane: bool) -> Simulator {
    let node = |name: &str, taints: &[Taint]| {
        let mut node = Node::default();
        node.metadata.name = name.into();
        node.metadata.labels.insert("disk".into(), "ssd".into());
        node.spec.taints = taints.to_vec();
        node
    };
    let nodes = [
        node("a", &[]),
        node("b", &[Taint::new("k", "v", TaintEffect::NoSchedule)]),
        node(
            "c",
            &[
                Taint::new("k", "", TaintEffect::NoExecute),
                Taint::new("l", "1", TaintEffect::NoSchedule),
            ],
        ),
    ];
    let pod = |name: &str, node: &str| {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.namespace = "default".into();
        pod.metadata.labels.insert("app".into(), name.into());
        pod.spec.node_name = node.into();
        pod
    };
    let config = if control_plane {
        SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST)
    } else {
        SimulatorConfig::of(KubernetesRelease::NEWEST)
    };
    Simulator::new(config, nodes, [pod("p", "a"), pod("q", "b")]).unwrap()
}

/// What lines are made of: what there is, and what comes close to it.
const WORDS: &str = r#"
    kubectl k taint cordon uncordon drain get describe delete label annotate scale apply create
    replace patch run rollout status restart help version api-resources nodes node no pods po
    pod events deployments deployment sts pdb ns leases all a b c p q node/a pod/p pods,nodes
    k=v:NoSchedule k- k:NoExecute- x=y x- -l disk=ssd -A -n default -o wide yaml json name
    jsonpath={.items[*].metadata.name} custom-columns=N:.metadata.name --all --overwrite --force
    --grace-period=0 --grace-period -1 --now --ignore-daemonsets --timeout=3s --dry-run=client
    --dry-run=server --dry-run --replicas=2 --replicas -f - -p {"spec":{"unschedulable":true}}
    --image=x -- --sort-by=.metadata.name --field-selector=spec.nodeName=a --no-headers
    --show-labels -h --cascade=orphan --disable-eviction --type=merge -w '' = : / --= -
"#;
/// The same, with spaces.
const PHRASES: [&str; 2] = ["disk in (ssd)", "jsonpath={range .items[*]}{.a}{end}"];

fn word() -> impl Strategy<Value = String> {
    let words = WORDS.split_whitespace().chain(PHRASES).map(str::to_owned).collect::<Vec<_>>();
    prop_oneof![8 => prop::sample::select(words), 1 => "\\PC{0,6}"]
}

fn line() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 0..8).prop_map(|words| {
        let words: Vec<String> = words
            .into_iter()
            .map(|word| if word.contains([' ', '{']) { format!("'{word}'") } else { word })
            .collect();
        words.join(" ")
    })
}

const STDIN: &str = "{apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: a}}";

/// Every line ends, with an error code exactly where there is an error; what it plans is taken.
#[test]
fn every_line_ends_well_or_says_why() {
    check(2_000, (prop::collection::vec(line(), 1..4), any::<bool>()), |(lines, control_plane)| {
        let mut simulator = cluster(control_plane);
        let mut events = Vec::new();
        for line in &lines {
            let outcome = run(&Context::new(&simulator, &events), line, Some(STDIN));
            prop_assert!(outcome.exit_code <= 1);
            prop_assert!(outcome.exit_code == 0 || !outcome.stderr.is_empty(), "{line}");
            prop_assert_eq!(outcome.terminal.len(), outcome.stdout.len() + outcome.stderr.len());
            let again = run(&Context::new(&simulator, &events), line, Some(STDIN));
            prop_assert_eq!(&outcome, &again, "planning has no effect");
            let now = simulator.now();
            for command in outcome.commands {
                let result = simulator.handle_command(now, command);
                prop_assert!(result.is_ok(), "{line}: {result:?}");
            }
            simulator.advance_to(now.saturating_add(Duration::from_secs(3))).unwrap();
            events.extend(simulator.drain_events());
        }
        Ok(())
    });
}

/// Any text can be completed anywhere.
#[test]
fn anything_can_be_completed() {
    let text = prop_oneof![line(), "\\PC{0,40}"];
    check(2_000, (text, 0_usize..60), |(text, cursor)| {
        let simulator = cluster(true);
        let cursor = cursor.min(text.len());
        for completion in complete(&Context::new(&simulator, &[]), &text, cursor) {
            let word = text.get(completion.start..text.floor_char_boundary(cursor));
            prop_assert!(
                word.is_some_and(|word| completion.text.starts_with(word)),
                "{completion:?}"
            );
        }
        Ok(())
    });
}

/// The line of a command has the effect of the command.
#[test]
fn a_command_and_its_line_do_the_same() {
    check(2_000, command(), |command| {
        let mut by_command = cluster(true);
        let mut by_line = by_command.clone();
        let now = by_command.now();
        let line = command_line_of(&command, &by_command);
        prop_assume!(by_command.handle_command(now, command).is_ok());
        let Some(line) = line else { return Ok(()) };
        let outcome = run(&Context::new(&by_line, &[]), &line, None);
        prop_assert_eq!(outcome.exit_code, 0, "{}: {}", line, outcome.stderr);
        for command in outcome.commands {
            by_line.handle_command(now, command).unwrap();
        }
        prop_assert_eq!(objects(&by_command), objects(&by_line), "{}", line);
        Ok(())
    });
}

/// The nodes and pods; `kubectl taint` puts new taints in front, so that their order says nothing.
fn objects(simulator: &Simulator) -> (Vec<Node>, Vec<Pod>) {
    let nodes = simulator.cluster().nodes().map(|(_, node)| {
        let mut node = Node::clone(node);
        node.spec.taints.sort();
        node
    });
    (nodes.collect(), simulator.cluster().pods().map(|(_, pod)| Pod::clone(pod)).collect())
}

fn command() -> impl Strategy<Value = Command> {
    let node = || prop::sample::select(&["a", "b", "c"][..]).prop_map(Into::into);
    let effect = || {
        prop::sample::select(
            &[TaintEffect::NoSchedule, TaintEffect::NoExecute, TaintEffect::PreferNoSchedule][..],
        )
    };
    let taint = || {
        ("[kl]", "[v1]?", effect())
            .prop_map(|(key, value, effect)| Taint::new(&key, &value, effect))
    };
    let labels = || prop::collection::btree_map("[a-d]|disk", "[xy]?", 0..4);
    let pod = || {
        prop::sample::select(&["p", "q"][..])
            .prop_map(|name| taintlab_core::api::PodKey::new("", name))
    };
    prop_oneof![
        (node(), prop::collection::vec(taint(), 0..3))
            .prop_map(|(node, taints)| Command::SetTaints { node, taints }),
        (node(), taint()).prop_map(|(node, taint)| Command::Taint { node, taint }),
        (node(), "[kl]", prop::option::of(effect())).prop_map(|(node, key, effect)| {
            Command::Untaint { node, key, effect: effect.unwrap_or_default() }
        }),
        (node(), any::<bool>())
            .prop_map(|(node, unschedulable)| Command::SetUnschedulable { node, unschedulable }),
        (node(), labels()).prop_map(|(node, labels)| Command::SetNodeLabels { node, labels }),
        (pod(), labels()).prop_map(|(pod, labels)| Command::SetPodLabels { pod, labels }),
        (pod(), any::<bool>(), prop::option::of(1_u32..9)).prop_map(
            |(pod, force, grace_period_seconds)| {
                Command::DeletePod {
                    pod,
                    force,
                    grace_period_seconds: grace_period_seconds.filter(|_| !force),
                }
            }
        ),
        node().prop_map(|node| Command::DeleteNode { node }),
        (node(), labels()).prop_map(|(name, labels): (taintlab_core::api::NodeName, _)| {
            let mut node = Node::default();
            node.metadata.name = format!("new-{name}");
            node.metadata.labels = labels.into();
            Command::CreateNode(node)
        }),
    ]
}
