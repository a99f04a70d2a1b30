//! The modules of a crate in layers: none uses one that uses it, directly or by way of others.
//!
//! What counts is what the source names, `crate::…` and `super::…`; what comments name does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::read;

/// Which module names which, and where it does so first.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// All source files below a folder, with the path of their module.
fn modules(root: &Path) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let relative = path.strip_prefix(root).unwrap().with_extension("");
                let mut module: Vec<String> =
                    relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
                if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                    module.pop();
                }
                found.push((module, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The lines of a source but for comments; an import that takes several is one.
fn lines(source: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut imports = false;
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        match lines.last_mut().filter(|_| imports) {
            Some(last) => last.push_str(line.trim()),
            None => lines.push(line.to_owned()),
        }
        let begins = line.starts_with("use ") || line.starts_with("pub") && line.contains(" use ");
        imports = (imports || begins) && !line.contains(';');
    }
    lines
}

/// What a group of an import names first: `a` and `b` of `{a::{c, d}, b}`.
fn group(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(String::new()),
            c => {
                if let Some(name) = names.last_mut().filter(|_| depth == 1) {
                    name.push(c);
                }
            }
        }
        if depth == 0 {
            break;
        }
    }
    let first = |name: String| name.trim().split("::").next().unwrap_or_default().to_owned();
    names.into_iter().map(first).filter(|name| !name.is_empty()).collect()
}

/// The paths that a line names, from the root of the crate, if `module` holds it.
fn named(line: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (start, prefix) in [("crate::", None), ("super::", Some(module))] {
        for (index, _) in line.match_indices(start) {
            let before = line[..index].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let mut rest = &line[index + start.len()..];
            let mut path: Vec<String> = match prefix {
                None => Vec::new(),
                Some(module) => module[..module.len().saturating_sub(1)].to_vec(),
            };
            while let Some(after) = rest.strip_prefix("super::") {
                path.pop();
                rest = after;
            }
            loop {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                path.push(rest[..end.unwrap_or(rest.len())].to_owned());
                rest = &rest[end.unwrap_or(rest.len())..];
                let Some(after) = rest.strip_prefix("::") else { break };
                rest = after;
            }
            if rest.starts_with('{') {
                path.pop();
                paths.extend(group(rest).into_iter().map(|name| {
                    let mut path = path.clone();
                    path.push(name);
                    path
                }));
            } else {
                paths.push(path);
            }
        }
    }
    paths
}

/// Which of the modules directly below `parent` name which others of them.
fn graph(modules: &[(Vec<String>, String)], parent: &[String]) -> Graph {
    let depth = parent.len();
    let siblings: BTreeSet<&String> = modules
        .iter()
        .filter(|(module, _)| module.len() > depth && module.starts_with(parent))
        .map(|(module, _)| &module[depth])
        .collect();
    let mut graph = Graph::new();
    for (module, source) in modules.iter().filter(|(module, _)| module.len() > depth) {
        if !module.starts_with(parent) {
            continue;
        }
        let from = &module[depth];
        for line in lines(source) {
            for path in named(&line, module) {
                let Some(to) = path.get(depth).filter(|_| path.starts_with(parent)) else {
                    continue;
                };
                if to != from && siblings.contains(to) {
                    let place = format!("{}: {}", module.join("::"), line.trim());
                    graph.entry(from.clone()).or_default().entry(to.clone()).or_insert(place);
                }
            }
        }
    }
    graph
}

/// A way from a module back to itself, if there is one.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn walk(
        graph: &Graph,
        at: &str,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|known| known == at) {
            return Some(way[start..].to_vec());
        }
        if !done.insert(at.to_owned()) {
            return None;
        }
        way.push(at.to_owned());
        for next in graph.get(at).into_iter().flat_map(BTreeMap::keys) {
            if let Some(found) = walk(graph, next, way, done) {
                return Some(found);
            }
        }
        way.pop();
        None
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| walk(graph, start, &mut Vec::new(), &mut done))
}

/// A cycle in words: who names whom, and where.
fn words(graph: &Graph, cycle: &[String]) -> String {
    let next = cycle.iter().cycle().skip(1);
    let line = |(from, to): (&String, &String)| {
        let place = graph.get(from).and_then(|named| named.get(to)).map_or("", String::as_str);
        format!("  `{from}` names `{to}` ({place})\n")
    };
    cycle.iter().zip(next).map(line).collect()
}

#[test]
fn a_cycle_is_found() {
    let sources = [
        ("a", "use crate::b::Thing;"),
        ("b", "// use crate::a is only said\nuse super::c;"),
        ("c", "fn f() { crate::a::g() }"),
        ("d", "use crate::a::{self, g};"),
        ("e", "use crate::{\n    d::{h, i},\n    f,\n};"),
        ("f", "use super::{e, g};"),
    ];
    let modules: Vec<_> =
        sources.iter().map(|(name, text)| (vec![(*name).to_owned()], (*text).to_owned())).collect();
    let found = graph(&modules, &[]);
    assert_eq!(cycle(&found).unwrap(), ["a", "b", "c"]);
    assert!(words(&found, &cycle(&found).unwrap()).contains("`c` names `a` (c: fn f()"));
    assert_eq!(cycle(&graph(&modules[..2], &[])), None);
    let found = graph(&modules[3..], &[]);
    assert_eq!(found["e"].keys().collect::<Vec<_>>(), ["d", "f"]);
    assert_eq!(cycle(&found).unwrap(), ["e", "f"]);
}

/// The cycles among the modules of a crate, at any depth, in words.
fn cycles(source: &str) -> String {
    let modules = modules(&folder(source));
    let parents: BTreeSet<&[String]> =
        modules.iter().flat_map(|(module, _)| (0..module.len()).map(|it| &module[..it])).collect();
    let mut cycles = String::new();
    for parent in parents {
        let graph = graph(&modules, parent);
        if let Some(found) = cycle(&graph) {
            let place = format!("{source}: {}", parent.join("::"));
            cycles += &format!("modules of {place} form a cycle:\n{}", words(&graph, &found));
        }
    }
    cycles
}

#[test]
fn the_modules_of_every_crate_are_layers() {
    let members = read("Cargo.toml");
    let (_, members) = members.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let crates: Vec<&str> = members.split('"').skip(1).step_by(2).collect();
    assert!(crates.len() > 15, "{crates:?}");
    let cycles: String = crates.iter().map(|name| cycles(&format!("{name}/src"))).collect();
    assert!(cycles.is_empty(), "\n{cycles}");
}

/// What several controllers share, and the question about a workload that does not run.
const SHARED: [&str; 5] = ["claims", "first_pod", "names", "node_ttl", "workload"];

#[test]
fn controllers_do_not_know_one_another() {
    let graph = graph(&modules(&folder("core/engine/src")), &["controllers".to_owned()]);
    assert!(graph.len() > 5, "{:?}", graph.keys());
    for (from, named) in graph.iter().filter(|(from, _)| !SHARED.contains(&from.as_str())) {
        let other = named.iter().find(|(to, _)| !SHARED.contains(&to.as_str()));
        assert!(other.is_none(), "`{from}` names another controller: {other:?}");
    }
}

#[test]
fn no_controller_and_no_kubelet_knows_the_simulator() {
    for (module, source) in modules(&folder("core/engine/src")) {
        if module.first().is_some_and(|top| ["controllers", "kubelet"].contains(&top.as_str())) {
            let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in lines {
                assert!(!line.contains("Simulator"), "{}: {}", module.join("::"), line.trim());
            }
        }
    }
}
