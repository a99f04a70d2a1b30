//! Every file of tests is compiled.

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
    let has = |text: &str| text.lines().any(|line| line.trim() == declaration);
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
