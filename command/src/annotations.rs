//! Annotations of files, for the pages of a pull request.

use serde_json::{Value, json};

/// Severity of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

/// A message about a place in a file.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    pub(crate) rule: &'static str,
    pub(crate) level: Level,
    /// File, line and column, as far as they are known.
    pub(crate) place: Option<(String, Option<u32>, Option<u32>)>,
    pub(crate) text: String,
}

/// Annotations of a workflow of GitHub.
pub(crate) fn github(annotations: &[Annotation]) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let line = |Annotation { rule, level, place, text }: &Annotation| {
        let level = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let mut parts: Vec<String> = Vec::new();
        if let Some((file, line, column)) = place {
            parts.push(format!("file={}", property(file)));
            parts.extend(line.map(|line| format!("line={line}")));
            parts.extend(column.map(|column| format!("col={column}")));
        }
        let title =
            if *rule == "manifest" { (*rule).to_owned() } else { format!("taintlab {rule}") };
        parts.push(format!("title={}", property(&title)));
        format!("::{level} {}::{}\n", parts.join(","), data(text))
    };
    annotations.iter().map(line).collect()
}

/// SARIF 2.1.0, as code scanning reads it.
pub(crate) fn sarif(rules: &[&str], annotations: &[Annotation]) -> Value {
    let result = |Annotation { rule, level, place, text }: &Annotation| {
        let level = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        let locations = match place {
            Some((file, line, column)) => json!([{ "physicalLocation": {
                "artifactLocation": { "uri": file },
                "region": { "startLine": line.unwrap_or(1), "startColumn": column.unwrap_or(1) },
            } }]),
            None => json!([]),
        };
        let message = json!({ "text": text });
        json!({ "ruleId": rule, "level": level, "message": message, "locations": locations })
    };
    let results: Vec<Value> = annotations.iter().map(result).collect();
    let rules: Vec<Value> = rules.iter().map(|rule| json!({ "id": rule })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "taintlab",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}
