//! The targets, each in a file of its own.

pub mod admission;
pub mod answers;
pub mod kubectl;
pub mod kubelet;
pub mod manifest;
pub mod paths;
pub mod policy;
pub mod scenario;
mod seeds;
pub mod taint_eviction;
pub mod values;
pub mod workloads;

use taintlab_manifest::Diagnostic;

use crate::search::Target;

/// All targets, in the order in which they run.
pub const TARGETS: &[Target] = &[
    Target { name: "manifest", run: manifest::run, most_bytes: 256, bounded: 300 },
    Target { name: "scenario", run: scenario::run, most_bytes: 256, bounded: 120 },
    Target { name: "kubectl", run: kubectl::run, most_bytes: 128, bounded: 300 },
    Target { name: "paths", run: paths::run, most_bytes: 128, bounded: 400 },
    Target { name: "kubelet", run: kubelet::run, most_bytes: 128, bounded: 1_000 },
    Target { name: "values", run: values::run, most_bytes: 64, bounded: 20_000 },
    Target { name: "policy", run: policy::run, most_bytes: 128, bounded: 500 },
    Target { name: "admission", run: admission::run, most_bytes: 128, bounded: 1_500 },
    Target { name: "answers", run: answers::run, most_bytes: 128, bounded: 300 },
    Target { name: "taint-eviction", run: taint_eviction::run, most_bytes: 208, bounded: 60 },
    Target { name: "workloads", run: workloads::run, most_bytes: 160, bounded: 10 },
];

/// Checks that diagnostics are about places in a text, and say something.
fn check_places(diagnostics: &[Diagnostic], text: &str, file: &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Ends of lines are the reader's affair: YAML and JSON know more of them than `\n`.
    let lines = 1 + text.matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
    let columns = 1 + text.chars().count();
    for diagnostic in diagnostics {
        let (line, column) = (diagnostic.line as usize, diagnostic.column as usize);
        assert!((1..=lines + 1).contains(&line), "line of {lines}: {diagnostic:?}");
        assert!((1..=columns).contains(&column), "column: {diagnostic:?}");
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        assert_eq!(diagnostic.file, file);
    }
}
