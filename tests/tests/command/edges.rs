//! Reports of twelve small clusters at the edges of what a report can say.
//!
//! Each cluster of `edges/` begins with its judgement, made by hand before it was run: `# says:`
//! lines are parts of what the report has to say, `# runs:` has further options, `# ends:` the exit
//! code. All that it prints is in the text beside it; `BLESS=1 cargo test -p taintlab-tests
//! command::edges` writes these anew.

use std::fs;
use std::path::Path;

use super::host::taintlab;

#[test]
fn small_clusters_are_judged_as_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/edges");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut clusters: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|it| it == "yaml")).collect();
    clusters.sort();
    assert_eq!(clusters.len(), 12);
    let mut wrong = String::new();
    for file in clusters {
        let text = fs::read_to_string(&file).unwrap();
        let said = |what: &str| {
            let lines = text.lines().map_while(|line| line.strip_prefix('#'));
            let values = lines.filter_map(|line| line.strip_prefix(&format!(" {what}: ")));
            values.map(str::to_owned).collect::<Vec<_>>()
        };
        let options = said("runs").join(" ");
        let line = format!("report cluster.yaml --remedies 0 {options}");
        let ran = taintlab(&line, &[("cluster.yaml", &text)]);
        // The version is in the first line.
        let out = ran.out.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        let expected = file.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &out).unwrap();
        }
        let (name, is) =
            (file.file_stem().unwrap().to_string_lossy(), fs::read_to_string(&expected));
        if is.ok().as_ref() != Some(&out) {
            wrong += &format!("{name}: not the text beside it:\n{out}");
        }
        let judgement = said("says");
        assert!(judgement.len() > 2, "{name}: a judgement by hand");
        for part in judgement.iter().filter(|part| !out.contains(*part)) {
            wrong += &format!("{name}: `{part}` is not in\n{out}{}", ran.err);
        }
        let code = said("ends").first().map_or(0, |code| code.parse().unwrap());
        assert_eq!(ran.code, code, "{name}: {}", ran.err);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
