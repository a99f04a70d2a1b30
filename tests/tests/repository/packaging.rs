//! What leaves the repository, and what GitHub and Renovate read of it: every way to get the native
//! command names every platform, and files that nothing else reads are well formed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use taintlab_manifest::{Limits, read_value};

use super::{read, root};

const TARGETS: [&str; 6] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
];

fn yaml(text: &str, file: &str) -> Value {
    read_value(text, file, &Limits::default()).unwrap_or_else(|wrong| panic!("{wrong:?}"))
}

/// Krew's `Plugin` v1alpha2, as its index checks one: names, selectors, address and hash.
#[test]
fn the_manifest_for_krew_is_one() {
    // As krew-release-bot fills it in.
    let mut text = String::new();
    for line in read(".krew.yaml").lines() {
        match line.split_once("{{addURIAndSha \"") {
            Some((indent, rest)) => {
                let address = rest.split('"').next().unwrap();
                let hash = "0".repeat(64);
                text += &format!("{indent}uri: {address}\n{indent}sha256: \"{hash}\"\n");
            }
            None => text += &format!("{line}\n"),
        }
    }
    let plugin = yaml(&text.replace("{{ .TagName }}", "v0.1.0"), ".krew.yaml");
    assert_eq!(plugin["apiVersion"], "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!(
        (&plugin["kind"], &plugin["metadata"]["name"]),
        (&"Plugin".into(), &"taintlab".into())
    );
    let spec = &plugin["spec"];
    assert_eq!(spec["version"], "v0.1.0");
    let short = spec["shortDescription"].as_str().unwrap();
    assert!(short.len() <= 50 && !short.ends_with('.'), "{short}");
    let platforms = spec["platforms"].as_array().unwrap();
    assert_eq!(platforms.len(), TARGETS.len());
    for (platform, target) in platforms.iter().zip(TARGETS) {
        let address = platform["uri"].as_str().unwrap();
        assert!(address.ends_with(&format!("/v0.1.0/taintlab-{target}.tar.gz")), "{address}");
        let system = platform["selector"]["matchLabels"]["os"].as_str().unwrap();
        let program = if system == "windows" { "taintlab.exe" } else { "taintlab" };
        assert_eq!(platform["bin"], program);
        assert_eq!(platform["files"][0]["from"], program);
        assert!(target.contains(system), "{target} for {system}");
    }
}

/// The registry takes a provenance only of packages that say that they come from this repository,
/// and only with a token of the run.
#[test]
fn the_release_publishes_all_that_is_packed() {
    let text = read(".github/workflows/release.yml");
    let workflow = yaml(&text, "release.yml");
    let jobs = &workflow["jobs"];
    let steps = |job: &str| jobs[job]["steps"].to_string();
    assert!(steps("npm").contains("npm publish") && steps("npm").contains("--provenance"));
    assert_eq!(jobs["npm"]["permissions"]["id-token"], "write");
    assert!(steps("image").contains("--file packaging/Dockerfile"));
    assert_eq!(jobs["image"]["permissions"]["packages"], "write");
    // Nothing is published that others cannot build.
    assert!(steps("checks").contains("cargo xtask reproducible"));
    for job in ["manifests", "npm", "image"] {
        assert!(jobs[job]["needs"].as_array().unwrap().contains(&"checks".into()), "{job}");
    }
    // Whatever is attached is in the sums.
    let before = jobs["manifests"]["needs"].as_array().unwrap();
    let attaches = |job: &str| steps(job).contains("gh release upload");
    let attaching = jobs.as_object().unwrap().keys().filter(|job| attaches(job));
    let others: Vec<Value> =
        attaching.filter(|job| *job != "manifests").map(|it| it.as_str().into()).collect();
    assert!(!others.is_empty() && others.iter().all(|job| before.contains(job)), "{others:?}");
    let package: Value = serde_json::from_str(&read("npm/package/package.json")).unwrap();
    let repository = env!("CARGO_PKG_REPOSITORY");
    assert_eq!(package["repository"]["url"], format!("git+{repository}.git"));
    for file in [".krew.yaml", "packaging/taintlab.rb", "cli/Cargo.toml"] {
        assert!(read(file).contains(&format!("{repository}/releases/download/")), "{file}");
    }
}

#[test]
fn the_release_builds_every_platform() {
    let workflow = yaml(&read(".github/workflows/release.yml"), "release.yml");
    let matrix = workflow["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().unwrap();
    let built: Vec<&str> = matrix.iter().map(|it| it["target"].as_str().unwrap()).collect();
    assert_eq!(built, TARGETS);
    let formula = read("packaging/taintlab.rb");
    let script = read("packaging/action.sh");
    for target in TARGETS.iter().filter(|target| !target.contains("windows")) {
        assert!(formula.contains(&format!("taintlab-{target}.tar.gz")), "{target}");
        assert!(script.contains(&format!("target={target}")), "{target}");
    }
    let package = read("npm/package/package.json");
    for platform in ["linux", "darwin", "win32"] {
        for processor in ["x64", "arm64"] {
            assert!(package.contains(&format!("\"@taintlab/{platform}-{processor}\": \"0.1.0\"")));
        }
    }
    assert!(yaml(&read(".pre-commit-hooks.yaml"), "hooks")[0]["entry"] == "taintlab lint");
    let action = yaml(&read("action.yml"), "action.yml");
    assert_eq!(action["runs"]["using"], "composite");
}

/// What kwctl writes into the module are the requests that `taintlab policy` sends it.
#[test]
fn the_policy_of_kubewarden_is_described() {
    use taintlab_admission::{Settings, Target, policies};
    let metadata = yaml(&read("kubewarden/metadata.yml"), "metadata.yml");
    let policy = policies(Target::Kubewarden, &Settings::default()).unwrap();
    let sorted = |rules: &Value| {
        let rules = rules.as_array().unwrap().iter().map(ToString::to_string);
        rules.collect::<BTreeSet<_>>()
    };
    assert_eq!(sorted(&metadata["rules"]), sorted(&policy[0]["spec"]["rules"]));
    let version = metadata["annotations"]["io.kubewarden.policy.version"].as_str().unwrap();
    let package = yaml(&read("kubewarden/artifacthub-pkg.yml"), "artifacthub-pkg.yml");
    assert_eq!((version, &package["version"]), (env!("CARGO_PKG_VERSION"), &version.into()));
    let address = metadata["annotations"]["io.kubewarden.policy.ociUrl"].as_str().unwrap();
    let module = format!("{address}:v{version}");
    assert_eq!(package["containersImages"][0]["image"], module.as_str());
    assert_eq!(policy[0]["spec"]["module"], format!("registry://{module}"));
    // The example is one that `taintlab policy` could print.
    let readme = read("kubewarden/README.md");
    let example = readme.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let settings = &yaml(example, "README.md")["spec"]["settings"];
    assert_eq!(Settings::read(settings).unwrap().taints.len(), 2);
}

/// The file names of a folder, sorted.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// GitHub shows no template with a mistake, and says so nowhere.
#[test]
fn templates_of_issues_are_forms() {
    let folder = ".github/ISSUE_TEMPLATE";
    let mut forms = Vec::new();
    for name in names(folder) {
        let form = yaml(&read(Path::new(folder).join(&name)), &name);
        if name == "config.yml" {
            assert!(form["contact_links"][0]["url"].as_str().unwrap().contains("security"));
            continue;
        }
        let mut ids = BTreeSet::new();
        for field in form["body"].as_array().unwrap() {
            let kind = field["type"].as_str().unwrap();
            assert!(["textarea", "input", "dropdown"].contains(&kind), "{name}: {kind}");
            assert!(field["attributes"]["label"].is_string(), "{name}");
            assert!(ids.insert(field["id"].as_str().unwrap().to_owned()), "{name}: an id twice");
        }
        assert!(form["name"].is_string() && form["description"].is_string(), "{name}");
        forms.push((name, ids));
    }
    let fields = |name: &str, wanted: &[&str]| {
        let (_, ids) = forms.iter().find(|(file, _)| file == name).unwrap();
        assert!(wanted.iter().all(|it| ids.contains(*it)), "{name}: {ids:?}");
    };
    fields("bug.yml", &["what", "scenario", "release"]);
    fields("kubernetes.yml", &["release", "objects", "cluster"]);
    fields("feature.yml", &["question"]);
}

/// Renovate says nothing of a pattern that finds nothing, and the version then stays for ever.
#[test]
fn renovate_finds_what_is_pinned() {
    let renovate: Value = serde_json::from_str(&read("renovate.json")).unwrap();
    let list = |value: &Value| -> Vec<String> {
        let items = value.as_array().unwrap().iter();
        items.map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let mut places = Vec::new();
    for manager in renovate["customManagers"].as_array().unwrap() {
        for file in list(&manager["managerFilePatterns"]) {
            let text = read(&file);
            for pattern in list(&manager["matchStrings"]) {
                // The texts between the groups, which every match has.
                let fixed: Vec<&str> = pattern.split("(?<").collect();
                let fixed = fixed.into_iter().map(|part| part.rsplit(')').next().unwrap());
                let fixed: Vec<&str> = fixed.filter(|part| !part.is_empty()).collect();
                let missing = fixed.iter().find(|part| !text.contains(**part));
                assert_eq!((fixed.is_empty(), missing), (false, None), "{file}: {pattern}");
                let fixed = fixed.concat();
                places.push(fixed);
            }
        }
    }
    let pins = read("xtask/src/pins.rs");
    let versions = pins.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("pub(crate) const ")?.split_once(": &str = ")?;
        name.ends_with("VERSION").then_some(name)
    });
    for version in versions {
        let found = places.iter().any(|fixed| fixed.contains(version));
        assert!(found, "renovate.json does not find {version} of xtask/src/pins.rs");
    }
    // Crates of wasm-bindgen are of one release.
    let lock = read("Cargo.lock");
    let rules = renovate["packageRules"].as_array().unwrap();
    let together = rules.iter().find(|rule| rule["groupName"] == "wasm-bindgen").unwrap();
    let together = list(&together["matchPackageNames"]);
    assert!(together.iter().all(|name| lock.contains(&format!("name = \"{name}\"\n"))));
    assert!(together.contains(&"wasm-bindgen".into()));
}

/// A tag of an action can be moved to other code, a commit cannot.
#[test]
fn workflows_pin_actions_and_may_only_read() {
    let folder = ".github/workflows";
    let mut pins = BTreeMap::new();
    let mut tasks = Vec::new();
    for name in names(folder) {
        let text = read(Path::new(folder).join(&name));
        for line in text.lines() {
            let line = line.trim().trim_start_matches("- ");
            let Some(used) = line.strip_prefix("uses: ") else {
                tasks.extend(line.strip_prefix("run: cargo xtask ").map(str::to_owned));
                continue;
            };
            let (action, pin) = used.split_once('@').unwrap();
            let (commit, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{used}"));
            let is_commit = commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
            assert!(is_commit && version.split('.').count() == 3, "{name}: {used}");
            let first = pins.entry(action.to_owned()).or_insert_with(|| pin.to_owned());
            assert_eq!(first, pin, "{name}: {action} has two versions");
        }
        let workflow = yaml(&text, &name);
        assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}), "{name}");
        for (job, its) in workflow["jobs"].as_object().unwrap() {
            assert!(its["timeout-minutes"].is_u64(), "{name}: {job} may run for six hours");
        }
    }
    assert!(pins.len() >= 4, "{pins:?}");
    // A task that is renamed is renamed here.
    let main = read("xtask/src/main.rs").to_lowercase();
    let suites = read("xtask/src/suite.rs").to_lowercase();
    assert!(tasks.len() > 5, "{tasks:?}");
    for task in tasks {
        let (task, word) = task.split_once(' ').unwrap_or((&task, ""));
        assert!(main.contains(&format!("task::{task} ")), "no task `{task}`");
        let is_suite = suites.contains(&format!("suite::{word} "));
        assert!(task != "test" || is_suite, "no suite `{word}`");
    }
}

/// A registry takes no path without a version, and files of a package come from its folder alone.
/// `cargo xtask package` packs the crates, and builds them from there.
#[test]
fn crates_are_ready_for_a_registry() {
    let folders = [
        "core",
        "core/rules",
        "core/engine",
        "core/analysis",
        "core/words",
        "manifest",
        "kubectl",
        "answers",
        "admission",
        "command",
        "cli",
        "mdbook-taintlab",
    ];
    let workspace = read("Cargo.toml");
    for folder in folders {
        let manifest = read(Path::new(folder).join("Cargo.toml"));
        for field in ["description", "documentation", "readme", "keywords", "categories"] {
            let is_there = manifest.lines().any(|line| line.starts_with(&format!("{field} = ")));
            assert!(is_there, "{folder}: {field}");
        }
        assert!(manifest.contains("repository.workspace = true"), "{folder}");
        let stays = manifest.lines().any(|line| line.starts_with("publish"));
        assert!(!stays, "{folder} is not published");
        // The front page on docs.rs. A program has none.
        if folder != "cli" {
            let library = read(Path::new(folder).join("src/lib.rs"));
            assert!(library.contains("//! ```\n//! use "), "{folder} has no example");
        }
        assert!(root().join(folder).join("LICENSE").is_file(), "{folder}");
        let ours = manifest.lines().filter(|line| line.starts_with("taintlab-"));
        let needed = ours.map(|line| line.split_once(' ').unwrap().0);
        for name in needed {
            let its = workspace.lines().find(|line| line.starts_with(&format!("{name} = ")));
            let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
            assert!(its.unwrap().contains(&version), "{folder} needs {name}, without {version}");
        }
    }
}
