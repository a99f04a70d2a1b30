//! `size --by-cause`: what the code of the WebAssembly programs is for.
//!
//! Functions are counted as the compiler leaves them, before wasm-opt, since they have names only
//! until then.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};
use wasmparser::{KnownCustom, Name, Parser, Payload};

use crate::npm;
use crate::pins::{WASM_TARGET, WEB_PROFILE};
use crate::workspace::Workspace;

/// The committed figures.
const FIGURES: &str = "docs/size-by-cause.txt";
/// The first lines of [`FIGURES`].
const HEADER: &str = "\
# Bytes of code before wasm-opt, by program and cause. `cargo xtask size --by-cause` fails when one has
# grown by more than 2 %; `BLESS=1` writes the new figures, and the commit says why.
";
/// Growth that needs no word.
const FREE_GROWTH: f64 = 1.02;
/// Growth that is too small to ask about.
const FREE_BYTES: u64 = 2_000;

/// Causes by what the name of a function contains; the first that fits counts.
const CAUSES: [(&str, &[&str]); 10] = [
    ("drops", &["drop_in_place", "Drop>::drop"]),
    ("wasm-bindgen", &["wasm_bindgen", "js_sys::", "web_sys::", "tsify::"]),
    ("the worker's codec", &["taintlab_web::wire", "wire::"]),
    ("ordered maps", &["collections::btree"]),
    ("hash maps", &["hashbrown::"]),
    ("clones", &["Clone>::clone", "clone_from", "CloneToUninit"]),
    ("reading by serde", &["::de::", "Deserialize", "Visitor"]),
    ("writing by serde", &["::ser::", "Serialize"]),
    ("sorting", &["slice::sort"]),
    ("Yew", &["yew::", "yew::html", "gloo_"]),
];

/// Prints the causes of each program that is built, and compares them with the committed figures.
///
/// # Errors
/// A program is not built, or a cause has grown.
pub(crate) fn report(workspace: &Workspace) -> Result<()> {
    let mut figures = BTreeMap::new();
    let built = workspace.target_dir().join(WASM_TARGET).join(WEB_PROFILE);
    for (program, path) in [
        ("the page", built.join("taintlab-web.wasm")),
        ("the engine of the page", built.join("engine.wasm")),
        ("the npm package", npm::named_wasm(workspace)),
    ] {
        let wasm = fs::read(&path).with_context(|| {
            format!("{} is not built: run `cargo xtask size` before", path.display())
        })?;
        let causes = causes(&wasm)?;
        let total: u64 = causes.values().map(|it| it.0).sum();
        println!("{program}: {total} bytes of code");
        let mut rows: Vec<_> = causes.into_iter().collect();
        rows.sort_by_key(|(_, (bytes, _))| std::cmp::Reverse(*bytes));
        for (cause, (bytes, functions)) in rows {
            let share = percent(bytes, total);
            println!("{bytes:>10} {share:>5.1} % {functions:>6} functions  {cause}");
            figures.insert((program.to_owned(), cause), bytes);
        }
    }
    compare(workspace, &figures)
}

#[expect(clippy::cast_precision_loss, reason = "a share of some megabytes")]
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Bytes and number of functions by cause.
fn causes(wasm: &[u8]) -> Result<BTreeMap<String, (u64, u64)>> {
    let (mut imported, mut sizes, mut names) = (0, Vec::new(), BTreeMap::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let is_function = matches!(import?.ty, wasmparser::TypeRef::Func(_));
                    imported += u32::from(is_function);
                }
            }
            Payload::CodeSectionEntry(body) => {
                let range = body.range();
                sizes.push(range.end.saturating_sub(range.start));
            }
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(subsections) = section.as_known() {
                    for subsection in subsections {
                        if let Name::Function(functions) = subsection? {
                            for naming in functions {
                                let naming = naming?;
                                names.insert(naming.index, naming.name);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let mut causes = BTreeMap::<String, (u64, u64)>::new();
    for (index, size) in (imported..).zip(sizes) {
        let name = names.get(&index).copied().unwrap_or_default();
        let name = format!("{:#}", rustc_demangle::demangle(name));
        let sum = causes.entry(cause_of(&name)).or_default();
        sum.0 += size;
        sum.1 += 1;
    }
    Ok(causes)
}

/// The cause of a function: one of [`CAUSES`], a room of ours, or another crate.
fn cause_of(name: &str) -> String {
    let of_all = CAUSES.iter().find(|(_, marks)| marks.iter().any(|mark| name.contains(mark)));
    if let Some((cause, _)) = of_all {
        return (*cause).to_owned();
    }
    let own = name.find("taintlab_").and_then(|start| name.get(start..)).unwrap_or(name);
    let own = own.trim_start_matches(['<', '&', '(', '[']);
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut words = own.split("::").map(|it| it.split(|c| !is_word(c)).next().unwrap_or_default());
    let first = words.next().unwrap_or_default();
    match words.next() {
        Some(second) if first.starts_with("taintlab_") => format!("{first}::{second}"),
        _ if matches!(first, "core" | "alloc" | "std") => "Rust's library".to_owned(),
        _ => "the rest".to_owned(),
    }
}

/// Compares the figures with the committed ones, or writes them with `BLESS=1`.
fn compare(workspace: &Workspace, figures: &BTreeMap<(String, String), u64>) -> Result<()> {
    let path = workspace.path(FIGURES);
    if env::var_os("BLESS").is_some() {
        let mut text = HEADER.to_owned();
        for ((program, cause), bytes) in figures {
            writeln!(text, "{program}\t{cause}\t{bytes}")?;
        }
        return Ok(fs::write(path, text)?);
    }
    let text = fs::read_to_string(&path)?;
    let mut before = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [program, cause, bytes] = *fields.as_slice() else { bail!("{FIGURES}: {line}") };
        before.insert((program.to_owned(), cause.to_owned()), bytes.parse::<u64>()?);
    }
    let mut grown = Vec::new();
    for (key, bytes) in figures {
        let was = before.get(key).copied().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "a ratio of some megabytes")]
        let is_more = *bytes as f64 > was as f64 * FREE_GROWTH && *bytes > was + FREE_BYTES;
        if is_more {
            grown.push(format!("{}: {} has grown from {was} to {bytes}", key.0, key.1));
        }
    }
    if grown.is_empty() { Ok(()) } else { bail!("{}", grown.join("; ")) }
}
