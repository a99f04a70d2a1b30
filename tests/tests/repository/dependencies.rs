//! What the engine is built from: nothing through which IO, a clock or chance could come in.
//!
//! Three walls: `core` is `no_std`; so is each crate it is built from; and those crates are the
//! ones listed here, with exactly the features listed here. A new one is looked at, then listed.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{ENGINE, root};

/// The crates the engine is built from, with their features and the reason why each is harmless.
const ALLOWED: &[(&str, &[&str], &str)] = &[
    ("chrono", &["alloc"], "calendar arithmetic; without `clock` and `now` it cannot ask the time"),
    ("foldhash", &[], "hashing with a seed that we give; without `std` it has no random one"),
    ("hashbrown", &[], "hash tables; without `default-hasher` each table names its hasher"),
    ("itoa", &[], "writes integers, for serde_json"),
    ("memchr", &[], "searches bytes, for serde_json"),
    ("num-traits", &[], "traits of numbers, for chrono"),
    ("serde", &["alloc", "derive", "rc", "serde_derive"], "traits and derives"),
    ("serde_core", &["alloc", "rc", "result"], "the traits of serde"),
    ("serde_json", &["alloc"], "values of JSON; without `std` it has no readers and writers"),
    ("slab", &[], "a vector with holes"),
    ("taintlab-analysis", &[], "the engine's questions"),
    ("taintlab-core", &[], "the engine"),
    ("taintlab-engine", &[], "the engine's machines"),
    ("taintlab-rules", &[], "the engine's rules"),
    ("zmij", &[], "writes floating-point numbers, for serde_json"),
];

/// What a feature would bring in.
fn danger(feature: &str) -> &'static str {
    match feature {
        "std" => "the standard library: files, sockets, threads, clocks, random hash seeds",
        "clock" | "now" => "the time of the machine",
        "wasmbind" | "js-sys" | "js" => "the clock or the random numbers of a browser",
        "default-hasher" => "a hasher that nobody chose",
        "rand" | "getrandom" | "compile-time-rng" | "runtime-rng" => "random numbers",
        "default" => "whatever the crate thinks is usual, mostly `std`",
        _ => "something that has not been looked at",
    }
}

fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root()).args(arguments).arg("--locked");
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The crates that end up in the engine's wasm, with the features that the engine alone asks for.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    // Not `cargo metadata`: its features are those of the whole workspace together.
    let tree = cargo(&[
        "tree",
        "--package=taintlab-core",
        "--edges=normal,no-proc-macro",
        "--target=wasm32-unknown-unknown",
        "--prefix=none",
        "--no-dedupe",
        "--format={p}|{f}",
    ]);
    let mut dependencies = BTreeMap::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let (package, features) = line.split_once('|').unwrap();
        let (name, _) = package.split_once(' ').unwrap();
        let features = features.split(',').filter(|feature| !feature.is_empty());
        dependencies.insert(name.to_owned(), features.map(str::to_owned).collect());
    }
    dependencies
}

/// What is wrong with these dependencies, one line each.
fn objections(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut objections = Vec::new();
    for (name, features) in dependencies {
        let Some((_, allowed, _)) = ALLOWED.iter().find(|(known, ..)| known == name) else {
            objections.push(format!(
                "`{name}` is new among the engine's dependencies. If nothing in it reads a clock, a \
                 random source, a file or a global, add it to ALLOWED with its features and reason."
            ));
            continue;
        };
        for feature in features.iter().filter(|feature| !allowed.contains(&feature.as_str())) {
            objections.push(format!(
                "`{name}` is built with the feature `{feature}`, which brings in {}. Leave it out \
                 (`default-features = false`), or find out which dependency asks for it: `cargo \
                 tree -p taintlab-core -e features -i {name}`.",
                danger(feature)
            ));
        }
    }
    for (name, allowed, _) in ALLOWED {
        match dependencies.get(*name) {
            None => {
                objections.push(format!("`{name}` is not used any more: take it from ALLOWED."))
            }
            Some(features) => {
                for feature in allowed.iter().filter(|f| !features.iter().any(|known| known == **f))
                {
                    objections.push(format!("`{name}` has no `{feature}` any more: see ALLOWED."));
                }
            }
        }
    }
    objections
}

#[test]
fn the_engine_is_built_from_known_crates_with_known_features() {
    let objections = objections(&dependencies());
    assert!(objections.is_empty(), "\n{}\n", objections.join("\n"));
}

#[test]
fn a_clock_or_a_new_crate_is_noticed() {
    let mut dependencies = dependencies();
    dependencies.get_mut("chrono").unwrap().push("now".into());
    dependencies.insert("getrandom".into(), Vec::new());
    dependencies.remove("slab");
    let text = objections(&dependencies).join("\n");
    assert!(text.contains("`chrono` is built with the feature `now`"), "{text}");
    assert!(text.contains("the time of the machine"), "{text}");
    assert!(text.contains("`getrandom` is new"), "{text}");
    assert!(text.contains("`slab` is not used any more"), "{text}");
}

/// `taintlab mcp` answers on standard input and output, and nothing of the native command can do else.
#[test]
fn the_native_command_has_no_sockets() {
    let tree = cargo(&[
        "tree",
        "--package=taintlab",
        "--edges=normal",
        "--target=x86_64-unknown-linux-musl",
        "--prefix=none",
        "--format={p}",
    ]);
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"taintlab-command"), "{names:?}");
    for name in ["async-io", "hyper", "mio", "socket2", "tokio"] {
        assert!(!names.contains(&name), "`{name}` brings sockets: see cli/Cargo.toml");
    }
}

/// What makes a crate `no_std` when its feature `std` is off and it is neither tested nor
/// documented.
const NO_STD: [&str; 5] = [
    "#![no_std]",
    r#"#![cfg_attr(not(feature = "std"), no_std)]"#,
    r#"#![cfg_attr(not(any(feature = "std", test)), no_std)]"#,
    r#"#![cfg_attr(all(not(test), not(feature = "std")), no_std)]"#,
    "#![cfg_attr(not(doc), no_std)]",
];

/// A crate that is not `no_std` could not be hindered from asking the outside.
#[test]
fn every_crate_is_no_std() {
    let metadata: Value = serde_json::from_str(&cargo(&[
        "metadata",
        "--format-version=1",
        "--filter-platform=wasm32-unknown-unknown",
    ]))
    .unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    for name in dependencies().keys() {
        let library = packages
            .iter()
            .filter(|package| package["name"] == name.as_str())
            .flat_map(|package| package["targets"].as_array().unwrap())
            .find(|target| target["kind"].as_array().unwrap().iter().any(|kind| kind == "lib"));
        let path =
            library.unwrap_or_else(|| panic!("`{name}` has no library"))["src_path"].as_str();
        let source = fs::read_to_string(path.unwrap()).unwrap();
        let attribute = source.lines().any(|line| NO_STD.contains(&line.trim()));
        assert!(attribute, "`{name}` is not `no_std`: {}", path.unwrap());
    }
}

#[test]
fn the_engine_is_no_std_and_without_unsafe() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    for folder in ENGINE {
        let library = read(&format!("{folder}/lib.rs"));
        assert!(library.lines().any(|line| line == "#![no_std]"), "{folder} is not `no_std`");
    }
    let lints = "[lints]\nworkspace = true\n";
    for package in [
        "core",
        "core/rules",
        "core/engine",
        "core/analysis",
        "core/words",
        "manifest",
        "kubectl",
        "answers",
        "command",
        "cli",
        "web",
    ] {
        let manifest = read(&format!("{package}/Cargo.toml"));
        assert!(manifest.contains(lints), "{package} does not take the workspace's lints");
    }
    let workspace_manifest = read("Cargo.toml");
    for lint in ["unsafe_code = \"forbid\"", "iter_over_hash_type = \"deny\""] {
        assert!(workspace_manifest.lines().any(|line| line == lint), "`{lint}` is gone");
    }
    // What `no_std` shuts out comes back with one line.
    let mut files: Vec<_> = ENGINE.iter().map(|folder| root().join(folder)).collect();
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("extern crate std"), "{} brings `std` back", path.display());
        seen += 1;
    }
    assert!(seen > 20, "only {seen} files");
}
