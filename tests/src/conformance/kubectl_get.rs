//! `kubectl_get_*`: the API server's tables, and how `kubectl get` prints them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_kubectl::print::{TableOptions, get};

use super::kubectl_describe::view;
use super::{Outcome, compare, with_flagged_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    kind: String,
    objects: Vec<Value>,
    options: Options,
    columns: Vec<String>,
    cells: Vec<Vec<Value>>,
    text: String,
    #[serde(default)]
    flagged: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    wide: bool,
    no_headers: bool,
    all_namespaces: bool,
    show_labels: bool,
    with_kind: bool,
    label_columns: Vec<String>,
}

#[derive(PartialEq, Serialize)]
struct Answer {
    columns: Vec<String>,
    cells: Vec<Vec<Value>>,
    text: String,
}

/// Runs one case of that release.
pub fn run(release: &str, line: &str) -> Outcome {
    with_flagged_case(
        line,
        |case: &Case| !case.flagged.is_null(),
        |case| {
            let options = case.options;
            let options = TableOptions {
                wide: options.wide,
                no_headers: options.no_headers,
                all_namespaces: options.all_namespaces,
                show_labels: options.show_labels,
                with_kind: options.with_kind,
                label_columns: options.label_columns,
            };
            let table = get(view(release), &case.kind, &case.objects, &options)?;
            let expected = Answer { columns: case.columns, cells: case.cells, text: case.text };
            let text = table.text(&options);
            Ok(compare(&expected, &Answer { columns: table.columns, cells: table.rows, text }))
        },
    )
}
