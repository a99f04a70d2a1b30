//! Seeds from files of the repository, read once: no copies that grow old.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use taintlab_core::scenario::Scenario;
use taintlab_manifest::{
    Format, ImportOptions, Purpose, export, is_scenario, read_scenario, to_yaml,
};

/// The longest seed: long ones take long to read, and their changes are mostly of the same kind.
const LONGEST: usize = 3_000;

/// The texts of a folder of the repository, by name.
fn texts(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// Scenario files: the examples of the playground.
pub(super) static SCENARIOS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut texts = texts("examples");
    texts.retain(|text| text.len() <= LONGEST && is_scenario(text));
    texts
});

/// The scenarios that are in these files.
fn scenarios() -> impl Iterator<Item = Scenario> {
    SCENARIOS.iter().filter_map(|text| {
        let mut none = |_: &str| Err("no files here".to_owned());
        read_scenario(text, "", ImportOptions::default(), &mut none).scenario
    })
}

/// Manifests: the objects of the examples, in YAML and in JSON.
pub(super) static MANIFESTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut texts = Vec::new();
    for (number, scenario) in scenarios().enumerate() {
        let objects = &scenario.objects;
        let (nodes, pods) = (objects.nodes.iter(), objects.pods.iter());
        let format = if number % 4 == 0 { Format::Json } else { Format::Yaml };
        let (nodes, pods) = (nodes.map(AsRef::as_ref), pods.map(AsRef::as_ref));
        texts.push(export(nodes, pods, &objects.others, Purpose::State, format));
        let workloads = objects.workloads.iter().filter_map(|it| to_yaml(it).ok());
        let budgets = objects.budgets.iter().filter_map(|it| to_yaml(it).ok());
        let documents: Vec<String> = workloads.chain(budgets).collect();
        if !documents.is_empty() {
            texts.push(documents.join("---\n"));
        }
    }
    texts.retain(|text| text.len() <= LONGEST);
    texts.sort();
    texts.dedup();
    texts
});

/// The lines of kubectl in the transcripts.
pub(super) static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let texts = texts("tests/kubectl");
    let mut lines: Vec<String> = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.strip_prefix("$ "))
        .filter(|line| line.contains("kubectl"))
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines.dedup();
    lines
});
