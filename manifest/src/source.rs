//! Detects the encoding and the syntax of a text, and recognises well-known texts that are no
//! manifests.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Position, Problem, Severity};
use crate::json;
use crate::limits::{ImportOptions, Limits};
use crate::tree::{Sink, Split};
#[cfg(feature = "yaml")]
use crate::yaml;

/// The command that prints everything a simulation needs to know about a cluster.
///
/// Add `leases` of the namespace `kube-node-lease`, and heartbeats continue at the exact second.
pub const HOW_TO_GET_COMMAND: &str =
    "kubectl get nodes,pods,deploy,rs,sts,ds,jobs,pdb,pc,pvc,pv,sc -A -o yaml";

/// The help that tells how to get a manifest of a cluster.
pub(crate) const HOW_TO_GET: &str =
    "take the output of `kubectl get nodes,pods,deploy,rs,sts,ds,jobs,pdb,pc,pvc,pv,sc -A -o yaml`";

/// The longest text, in bytes, that is tried as YAML if it begins like JSON but is not: YAML allows
/// brackets too.
const BRACKETED_YAML: usize = 1 << 20;

/// Makes text of the bytes of a file: UTF-8, or UTF-16 with a byte order mark, as
/// `kubectl … > file` writes it in Windows PowerShell.
///
/// # Errors
/// The bytes are not text; the diagnostic says where.
///
/// ```
/// let bytes = b"\xff\xfek\0i\0n\0d\0";
/// assert_eq!(taintlab_manifest::text_from_bytes(bytes, "a.yaml")?, "kind");
/// # Ok::<(), Box<taintlab_manifest::Diagnostic>>(())
/// ```
pub fn text_from_bytes<'b>(bytes: &'b [u8], file: &str) -> Result<Cow<'b, str>, Box<Diagnostic>> {
    let utf16 = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks_exact(2);
        let whole = pairs.remainder().is_empty();
        let units = pairs.filter_map(|pair| pair.try_into().ok()).map(read);
        let text = char::decode_utf16(units).collect::<Result<String, _>>();
        let text = text.ok().filter(|_| whole).map(Cow::Owned);
        text.ok_or_else(|| Problem::new(Position::START, "this is not valid UTF-16"))
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or(&[]);
            let before = std::str::from_utf8(before).unwrap_or("");
            let message = "this byte is not UTF-8, so the file is not a text that can be read";
            Problem::new(end_of(before), message).help("save it as UTF-8")
        }),
    };
    text.map_err(|problem| Box::new(problem.into_diagnostic(Severity::Error, file)))
}

/// The position just after `text`.
fn end_of(text: &str) -> Position {
    let last = text.rsplit('\n').next().unwrap_or("");
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    Position { line: number(text.matches('\n').count()), column: number(last.chars().count()) }
}

pub(crate) fn strip_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Refuses a text that cannot or should not be read.
pub(crate) fn check(text: &str, limits: &Limits) -> Result<(), Problem> {
    if text.len() > limits.bytes {
        let message = format!("the text has {} bytes, more than {}", text.len(), limits.bytes);
        return Err(Problem::new(Position::START, message).help("import less at once"));
    }
    if text.bytes().take(64).any(|byte| byte == 0) {
        let message = "this looks like UTF-16, or like no text at all";
        return Err(Problem::new(Position::START, message).help("save it as UTF-8"));
    }
    Ok(())
}

/// A sink that knows whether the text had an error.
pub(crate) trait Reader {
    fn failed(&self) -> bool;
}

/// Reads a text as JSON or YAML, whichever it is.
pub(crate) async fn parse<'t, R: Reader + Sink<'t>>(
    text: &'t str,
    options: &ImportOptions,
    split: Split,
    new: impl Fn() -> R,
) -> R {
    let begin = text.trim_start();
    let looks_like_json = begin.starts_with(['{', '[']) && !begin.starts_with("{{");
    let mut reader = new();
    if !looks_like_json {
        parse_yaml(text, options, split, &mut reader).await;
        return reader;
    }
    json::parse(text, options, split, &mut reader).await;
    if cfg!(feature = "yaml") && reader.failed() && text.len() <= BRACKETED_YAML {
        let mut second = new();
        parse_yaml(text, options, split, &mut second).await;
        // Return the error of the syntax that was probably meant.
        let quoted_key = begin.trim_start_matches(['{', '[', ' ', '\n', '\r', '\t']);
        if !second.failed() || !quoted_key.starts_with(['"', '}', ']']) {
            return second;
        }
    }
    reader
}

#[cfg(feature = "yaml")]
async fn parse_yaml<'t>(
    text: &'t str,
    options: &ImportOptions,
    split: Split,
    sink: &mut dyn Sink<'t>,
) {
    yaml::parse(text, options, split, sink).await;
}

#[cfg(not(feature = "yaml"))]
async fn parse_yaml<'t>(_: &'t str, _: &ImportOptions, _: Split, sink: &mut dyn Sink<'t>) {
    let message = "this is not JSON, and this build reads no YAML";
    sink.problem(Problem::new(Position::START, message).help("take the build that reads YAML"));
}

/// Recognises a well-known text, such as a table of `kubectl get`, from which no object could be
/// read.
pub(crate) fn not_a_manifest(text: &str) -> Option<Problem> {
    let lines = || text.lines().map(str::trim_end).zip(1_u32..);
    let content = |line: &str| {
        let line = line.trim_start();
        !(line.is_empty() || line.starts_with('#') || line == "---" || line == "...")
    };
    let Some((first, line)) = lines().find(|(line, _)| content(line)) else {
        let problem = Problem::new(Position::START, "the file is empty");
        return Some(problem.help(HOW_TO_GET));
    };
    let first = first.trim_start();
    let lower = first.to_ascii_lowercase();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| lower.starts_with(prefix));
    let (message, help) = if is_table(first) {
        ("this looks like the table that `kubectl get` prints", HOW_TO_GET)
    } else if starts(&["<!doctype", "<html", "<?xml", "<head", "<body"]) {
        ("this looks like a web page", HOW_TO_GET)
    } else if starts(&KUBECTL_ERRORS) {
        ("this is an error message of kubectl, not an object", HOW_TO_GET)
    } else if starts(&["no resources found"]) {
        ("kubectl found no objects", HOW_TO_GET)
    } else if starts(&["$ ", "# kubectl", "kubectl ", "ps ", "root@"]) {
        ("this line is a command, not YAML", "remove it, and keep what the command printed")
    } else if first.starts_with("Name:") && first.trim_end() != "Name:" {
        ("this looks like the output of `kubectl describe`", HOW_TO_GET)
    } else if text.contains("{{") {
        (
            "this looks like a template, which is not YAML before it is rendered",
            "import what it renders to, for example the output of `helm template`",
        )
    } else {
        return None;
    };
    Some(Problem::new(Position { line, column: 1 }, message).help(help))
}

const KUBECTL_ERRORS: [&str; 7] = [
    "error: ",
    "error from server",
    "unable to connect to the server",
    "the connection to the server",
    "you must be logged in",
    "couldn't get current server api group list",
    "please enter username",
];

/// Whether a line is the heading of a table: three or more words, the first three in capitals.
fn is_table(line: &str) -> bool {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let capital = |word: &&str| word.chars().all(|c| c.is_ascii_uppercase() || "-()".contains(c));
    columns.len() >= 3
        && columns.iter().take(3).all(capital)
        && matches!(columns.first(), Some(&("NAME" | "NAMESPACE" | "LAST")))
}
