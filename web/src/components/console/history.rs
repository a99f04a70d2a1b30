//! The lines that were typed: rules for storing them, and for when a line is complete.

use js_sys::{Array, JSON};
use wasm_bindgen::{JsCast, JsValue};

use crate::browser;

/// The storage key of typed lines, which stay over a reload.
const KEY: &str = "taintlab.console";

/// The lines that are stored.
pub(crate) fn stored() -> Vec<String> {
    let known = browser::stored(KEY).and_then(|text| JSON::parse(&text).ok());
    let lines = known.and_then(|known| known.dyn_into::<Array>().ok()).unwrap_or_default();
    lines.iter().filter_map(|line| line.as_string()).collect()
}

/// Stores the lines that certainly hold no secret; the others last until the page is left.
pub(crate) fn store(history: &[String]) {
    let lines = history.iter().filter(|line| may_be_stored(line));
    let lines: Array = lines.map(|line| JsValue::from_str(line)).collect();
    if lines.length() == 0 {
        browser::forget(KEY);
    } else if let Ok(text) = JSON::stringify(&lines) {
        // A browser that stores nothing has a history until the page is left.
        let _ = browser::store(KEY, &String::from(text));
    }
}

/// Whether a line consists of names and flags only: no manifest, no value that could be a password.
pub(crate) fn may_be_stored(line: &str) -> bool {
    const VERBS: [&str; 14] = [
        "api-resources",
        "cordon",
        "delete",
        "describe",
        "drain",
        "events",
        "get",
        "help",
        "label",
        "rollout",
        "scale",
        "taint",
        "uncordon",
        "version",
    ];
    const WORDS: [&str; 5] = ["token", "passw", "secret", "credential", "<<"];
    let small = line.to_ascii_lowercase();
    let verb = small.split_whitespace().find(|word| !matches!(*word, "$" | "k" | "kubectl"));
    !line.contains('\n')
        && verb.is_some_and(|verb| VERBS.contains(&verb))
        && !WORDS.iter().any(|word| small.contains(word))
}

/// Whether the text is a here document that has not ended.
pub(crate) fn wants_more(text: &str) -> bool {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let Some((_, mark)) = first.rsplit_once("<<") else { return false };
    let mark = mark.trim().trim_start_matches('-').trim_matches(['\'', '"']);
    !mark.is_empty()
        && !mark.contains(char::is_whitespace)
        && !rest.lines().any(|line| line == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_could_hold_a_secret_are_not_stored() {
        for (line, stored) in [
            ("kubectl taint nodes worker-1 example.com/gpu=a100:NoExecute", true),
            ("get pods -A", true),
            ("$ kubectl drain worker-1 --ignore-daemonsets", true),
            ("kubectl apply -f - <<EOF\na: 1\nEOF", false),
            ("kubectl get pods\nhunter2", false),
            ("kubectl patch pod a -p '{\"spec\":{}}'", false),
            ("kubectl annotate pod a note=hunter2", false),
            ("kubectl create secret generic a --from-literal=a=b", false),
            ("kubectl get pods --token=hunter2", false),
            ("echo hunter2 | kubectl apply -f -", false),
            ("hunter2", false),
        ] {
            assert_eq!(may_be_stored(line), stored, "{line}");
        }
    }

    #[test]
    fn a_here_document_ends_with_its_mark() {
        for (text, more) in [
            ("get nodes", false),
            ("apply -f - <<EOF", true),
            ("apply -f - <<EOF\na: 1", true),
            ("apply -f - <<EOF\na: 1\nEOF", false),
            ("apply -f - <<'END'\na: 1\nEOF", true),
            ("label node a x=<<", false),
        ] {
            assert_eq!(wants_more(text), more, "{text}");
        }
    }
}
