//! Every file of tests is compiled, and no line is too wide.

use std::path::Path;

use super::{files, read, root};

/// A file that is named in no program would be compiled by nobody, and none of its tests would run.
#[test]
fn every_file_of_tests_is_part_of_a_program() {
    for folder in ["tests/tests", "manifest/tests"] {
        let paths = files(folder, &["rs"]);
        assert!(paths.len() > 3, "only {} files in `{folder}`", paths.len());
        for path in paths.iter().filter(|path| !path.ends_with("main.rs")) {
            let declared = is_declared(Path::new(folder), path);
            assert!(declared, "no `mod` names `{}`", path.display());
        }
    }
}

/// Whether the module that a file is in has a `mod` for it.
fn is_declared(program: &Path, path: &Path) -> bool {
    let folder = path.parent().unwrap();
    let mut module = path.with_extension("");
    if module.ends_with("mod") {
        module = folder.to_owned();
    }
    let parent = module.parent().unwrap();
    let name = module.file_name().unwrap().to_str().unwrap();
    let declaration = format!("mod {name};");
    let has = |text: &str| {
        let declared = |line: &str| line.trim().trim_start_matches("pub(crate) ") == declaration;
        text.lines().any(declared)
    };
    if parent == program {
        return has(&read(program.join("main.rs")));
    }
    for file in [parent.join("mod.rs"), parent.with_extension("rs")] {
        if root().join(&file).is_file() {
            return has(&read(file));
        }
    }
    // A folder without a file of its own: its modules are written into `main.rs`.
    let main = read(program.join("main.rs"));
    let begin = format!("\nmod {} {{\n", parent.file_name().unwrap().to_str().unwrap());
    let inline = main.split_once(&begin).and_then(|(_, rest)| rest.split_once("\n}"));
    inline.is_some_and(|(inside, _)| has(inside))
}

/// How many columns a line of code has at most.
const WIDTH: usize = 100;

/// How wide a line is without the longest text in it, which nobody can break.
fn width(line: &str) -> usize {
    let columns = line.chars().count();
    let texts = ['"', '\'', '`', '/'].into_iter().map(|quote| {
        let parts: Vec<usize> = line.split(quote).map(|part| part.chars().count()).collect();
        // What is before the first quote is code; what begins in this line may end in another.
        parts.into_iter().skip(1).max().unwrap_or_default()
    });
    columns - texts.max().unwrap_or_default()
}

#[test]
fn no_line_is_too_wide_but_for_a_text_in_it() {
    assert_eq!(width(&format!("    f(\"{}\")", "x".repeat(200))), 9);
    assert!(width(&format!("let {} = 1;", "x ".repeat(60))) > WIDTH);
    let folders = [
        "core",
        "kubectl",
        "manifest",
        "mdbook-taintlab",
        "npm/embed",
        "npm/package",
        "npm/src",
        "npm/tests",
        "tests/benches",
        "tests/e2e",
        "tests/src",
        "tests/tests",
        "web",
        "xtask",
    ];
    let extensions = ["rs", "toml", "mjs", "js", "ts", "css"];
    let mut wide = Vec::new();
    for file in folders.into_iter().flat_map(|folder| files(folder, &extensions)) {
        if file
            .components()
            .any(|part| ["node_modules", "pkg"].iter().any(|it| part.as_os_str() == *it))
        {
            continue;
        }
        for (index, line) in read(&file).lines().enumerate() {
            if line.chars().count() > WIDTH && width(line) > WIDTH {
                wide.push(format!("{}:{}", file.display(), index + 1));
            }
        }
    }
    assert!(wide.is_empty(), "lines of more than {WIDTH} columns:\n{}", wide.join("\n"));
}
