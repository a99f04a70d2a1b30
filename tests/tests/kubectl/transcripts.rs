//! The transcripts of `tests/kubectl/*.txt`: lines of `kubectl` and what they print.
//!
//! A transcript begins with settings, then come lines that begin with `$ ` and, until the next of
//! them, what is printed. The settings, before the first `$ `:
//!
//! - `kubernetes RELEASE`
//! - `nodeLifecycle`: kubelets and the node lifecycle controller take part
//! - `controlPlane`: the scheduler, the controllers of workloads and budgets as well
//! - `gate NAME`: a feature gate is on
//! - then manifests, between `---` and `...`
//!
//! `$ wait DURATION` lets time pass, and shows what a drain that is under way prints, with the
//! time. `$ stop NODE` stops the kubelet of a node. `$ kubectl …` runs a line; a here document follows it with
//! `> ` in front of its lines. What a line prints to the standard error output has `! ` in front,
//! and `[1]` at the end says that it failed.
//!
//! `BLESS=1 cargo test -p taintlab-tests kubectl` rewrites what is printed; read the
//! difference before you commit it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, InitialVolumes, Simulator, SimulatorConfig};
use taintlab_core::time::parse_duration;
use taintlab_kubectl::{Context, Outcome, run};
use taintlab_manifest::{ImportOptions, import};

/// A cluster and what happened to it.
struct Terminal {
    simulator: Simulator,
    events: Vec<Event>,
}

impl Terminal {
    fn new(settings: &str) -> Self {
        let (settings, manifests) = settings.split_once("---\n").unwrap_or((settings, ""));
        let mut config = SimulatorConfig::of(KubernetesRelease::NEWEST);
        for line in settings.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ') {
                Some(("kubernetes", release)) => {
                    config.release = KubernetesRelease::parse(release).unwrap();
                }
                Some(("gate", name)) => {
                    config.feature_gates.insert(name.to_owned(), true);
                }
                None if line == "nodeLifecycle" => config.node_lifecycle = true,
                None if line == "controlPlane" => {
                    config.node_lifecycle = true;
                    config.control_plane = true;
                }
                _ => panic!("unknown setting {line}"),
            }
        }
        let manifests = manifests.strip_suffix("...\n").unwrap_or(manifests);
        // What kubectl prints of an object that has everything.
        let objects = import(manifests, "transcript", ImportOptions::keep_all());
        assert!(!objects.has_errors(), "{:#?}", objects.diagnostics);
        let begin = InitialState {
            workloads: objects.workloads,
            budgets: objects.budgets,
            volumes: InitialVolumes {
                persistent_volumes: of_kind(&objects.others, "PersistentVolume"),
                claims: of_kind(&objects.others, "PersistentVolumeClaim"),
                classes: of_kind(&objects.others, "StorageClass"),
                attachments: Vec::new(),
            },
            services: of_kind(&objects.others, "Service"),
            priority_classes: of_kind(&objects.others, "PriorityClass"),
            devices: ["ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass"]
                .iter()
                .flat_map(|kind| of_kind(&objects.others, kind))
                .collect(),
            ..InitialState::default()
        };
        let simulator =
            Simulator::beginning_with(config, objects.nodes, objects.pods, begin).unwrap();
        Self { simulator, events: Vec::new() }
    }

    fn type_line(&mut self, line: &str) -> String {
        if let Some(duration) = line.strip_prefix("wait ") {
            let then = self.simulator.now().saturating_add(parse_duration(duration).unwrap());
            self.simulator.advance_to(then).unwrap();
            let events = self.simulator.drain_events();
            let text = events.iter().filter_map(drain_line).collect();
            self.events.extend(events);
            return text;
        }
        if let Some(node) = line.strip_prefix("stop ") {
            let command = Command::StopKubelet { node: node.into() };
            self.simulator.handle_command(self.simulator.now(), command).unwrap();
            return String::new();
        }
        let outcome = run(&Context::new(&self.simulator, &self.events), line, None);
        for command in &outcome.commands {
            let now = self.simulator.now();
            self.simulator
                .handle_command(now, command.clone())
                .expect("planned commands are taken");
        }
        self.events.extend(self.simulator.drain_events());
        printed(&outcome)
    }
}

/// The objects of a kind among others.
fn of_kind<T: serde::de::DeserializeOwned>(others: &[serde_json::Value], kind: &str) -> Vec<T> {
    let others = others.iter().filter(|object| object["kind"] == kind).cloned();
    others.map(|object| serde_json::from_value(object).unwrap()).collect()
}

/// What a drain that is under way says.
fn drain_line(event: &Event) -> Option<String> {
    match &event.what {
        EventKind::DrainPrinted { is_error, line, .. } => {
            Some(format!("{}: {}{line}\n", event.at, if *is_error { "! " } else { "" }))
        }
        EventKind::DrainEnded { failed, .. } => {
            Some(format!("{}: [{}]\n", event.at, u8::from(*failed)))
        }
        _ => None,
    }
}

/// What a terminal shows, with `! ` before what is an error.
fn printed(outcome: &Outcome) -> String {
    let mut text = String::new();
    let mut errors = outcome.stderr.lines().peekable();
    let mut lines = outcome.stdout.lines().peekable();
    for line in outcome.terminal.lines() {
        // A line that both could have printed is taken for the normal output.
        if lines.next_if(|next| *next == line).is_some() {
            let _ = writeln!(text, "{line}");
        } else {
            assert_eq!(errors.next(), Some(line));
            let _ = writeln!(text, "! {line}");
        }
    }
    assert_eq!((lines.next(), errors.next()), (None, None));
    assert_eq!(outcome.exit_code == 0, outcome.exit_code != 1);
    if outcome.exit_code == 1 {
        assert!(!outcome.stderr.is_empty(), "an error says what is wrong");
        text.push_str("[1]\n");
    }
    text
}

/// The transcript with what is really printed.
fn replay(transcript: &str) -> String {
    let at = if transcript.starts_with("$ ") { 0 } else { transcript.find("\n$ ").unwrap() + 1 };
    let (settings, steps) = transcript.split_at(at);
    let mut terminal = Terminal::new(settings);
    let mut out = settings.to_owned();
    for step in format!("\n{steps}").split("\n$ ").skip(1) {
        let mut lines = step.lines();
        let mut line = lines.next().unwrap().to_owned();
        let _ = writeln!(out, "$ {line}");
        for more in lines.map_while(|line| line.strip_prefix("> ").or((line == ">").then_some("")))
        {
            let _ =
                writeln!(out, "{}", if more.is_empty() { ">".into() } else { format!("> {more}") });
            line.push('\n');
            line.push_str(more);
        }
        out.push_str(&terminal.type_line(&line));
        if step.ends_with("\n") && step != steps {
            out.push('\n');
        }
    }
    out
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kubectl");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut failures = String::new();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let got = replay(&text);
        if got != text {
            if std::env::var_os("BLESS").is_some() {
                fs::write(path, &got).unwrap();
            }
            for (line, (got, wanted)) in got.lines().zip(text.lines()).enumerate() {
                if got != wanted {
                    let _ = writeln!(
                        failures,
                        "{}:{}:\n  expected {wanted}\n  got      {got}",
                        path.display(),
                        line + 1
                    );
                    break;
                }
            }
            let _ = writeln!(failures, "{} differs", path.display());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
