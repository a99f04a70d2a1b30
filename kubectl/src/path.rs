//! JSONPath as `kubectl` supports it: fields, indexes, slices, filters with one comparison,
//! `range`.

use serde_json::{Number, Value};
use taintlab_manifest::to_json;

use crate::failure::Failure;

/// A path from a value to other values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Index(i64),
    Slice(Option<i64>, Option<i64>),
    All,
    Descend,
    Filter(Path, Option<(Comparison, Value)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Greatest length of a path, in bytes.
const LONGEST: usize = 2_000;

/// Reads a path with or without braces and leading point, as `--sort-by` and custom columns take
/// it. Mirrors `get.RelaxedJSONPathExpression`.
pub(crate) fn relaxed(text: &str) -> Result<Path, Failure> {
    let body = text.trim();
    let body = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or(body);
    parse(body.trim())
}

fn wrong(text: &str) -> Failure {
    Failure::plain(format!(
        "error parsing jsonpath {text}, a path looks like {{.items[*].metadata.name}}"
    ))
}

fn parse(text: &str) -> Result<Path, Failure> {
    // Filters nest, and each level needs some of the stack.
    if text.len() > LONGEST {
        return Err(Failure::plain(format!("a path has at most {LONGEST} characters")));
    }
    let mut steps = Vec::new();
    let mut rest = text.strip_prefix(['$', '@']).unwrap_or(text);
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix("..") {
            steps.push(Step::Descend);
            rest = tail;
            if !rest.starts_with('[') {
                rest = field(rest, &mut steps);
            }
        } else if let Some(tail) = rest.strip_prefix('.') {
            rest = field(tail, &mut steps);
        } else if let Some(tail) = rest.strip_prefix('[') {
            let end = end_of_bracket(tail).ok_or_else(|| wrong(text))?;
            let (inside, tail) = tail.split_at_checked(end).ok_or_else(|| wrong(text))?;
            steps.push(bracket(inside.trim()).ok_or_else(|| wrong(text))?);
            rest = tail.strip_prefix(']').unwrap_or(tail);
        } else if steps.is_empty() {
            rest = field(rest, &mut steps);
        } else {
            return Err(wrong(text));
        }
    }
    Ok(Path(steps))
}

/// Reads a field; a backslash escapes a point in its name.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> &'t str {
    let mut name = String::new();
    let mut chars = text.chars();
    let mut rest = text;
    while let Some(c) = chars.next() {
        match c {
            '.' | '[' => break,
            '\\' => name.extend(chars.next()),
            c => name.push(c),
        }
        rest = chars.as_str();
    }
    match name.as_str() {
        "" => {}
        "*" => steps.push(Step::All),
        _ => steps.push(Step::Field(name)),
    }
    rest
}

/// The index of the bracket that closes the one just opened.
fn end_of_bracket(text: &str) -> Option<usize> {
    let (mut quote, mut depth) = (None, 0_usize);
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(index),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn bracket(inside: &str) -> Option<Step> {
    if inside == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = inside.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        return self::filter(filter.trim());
    }
    if let Some(name) = unquoted(inside) {
        return Some(Step::Field(name));
    }
    if let Some((from, to)) = inside.split_once(':') {
        let bound = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        return Some(Step::Slice(bound(from)?, bound(to)?));
    }
    inside.parse().ok().map(Step::Index)
}

fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    Some(inside.replace("\\.", "."))
}

fn filter(text: &str) -> Option<Step> {
    const SIGNS: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    for (sign, comparison) in SIGNS {
        if let Some((left, right)) = text.split_once(sign) {
            let right = right.trim();
            let value = match unquoted(right) {
                Some(text) => Value::String(text),
                None => serde_json::from_str(right).ok()?,
            };
            return Some(Step::Filter(parse(left.trim()).ok()?, Some((comparison, value))));
        }
    }
    Some(Step::Filter(parse(text).ok()?, None))
}

impl Path {
    /// The values that the path leads to.
    pub(crate) fn evaluate(&self, value: &Value) -> Vec<Value> {
        let mut found = vec![value];
        for step in &self.0 {
            found = found.into_iter().flat_map(|value| step.apply(value)).collect();
        }
        found.into_iter().cloned().collect()
    }
}

impl Step {
    fn apply<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Field(name) => value.get(name.as_str()).into_iter().collect(),
            Self::All => children(value),
            Self::Descend => {
                let mut found = vec![value];
                let mut next = 0;
                while let Some(value) = found.get(next).copied() {
                    found.extend(children(value));
                    next += 1;
                }
                found
            }
            Self::Index(index) => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                place(*index, items.len()).and_then(|at| items.get(at)).into_iter().collect()
            }
            Self::Slice(from, to) => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                let at = |bound: Option<i64>, otherwise| match bound {
                    None => otherwise,
                    Some(bound) => place(bound, items.len()).unwrap_or(0).min(items.len()),
                };
                items.get(at(*from, 0)..at(*to, items.len())).unwrap_or_default().iter().collect()
            }
            Self::Filter(path, comparison) => {
                let holds = |item: &&Value| {
                    let found = path.evaluate(item);
                    match comparison {
                        None => !found.is_empty(),
                        Some((comparison, value)) => {
                            found.first().is_some_and(|found| comparison.holds(found, value))
                        }
                    }
                };
                value.as_array().into_iter().flatten().filter(holds).collect()
            }
        }
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

/// The position of an index, which counts from the end if negative.
fn place(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::Number(left), Value::Number(right)) => {
                left.as_f64().and_then(|left| left.partial_cmp(&right.as_f64()?))
            }
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (left, right) if left == right => Some(std::cmp::Ordering::Equal),
            _ => None,
        };
        let Some(order) = order else { return self == Self::NotEqual };
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A value as a template prints it: strings without quotes, everything else as JSON.
pub(crate) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => compact(value),
    }
}

/// JSON on one line.
fn compact(value: &Value) -> String {
    let mut text = String::new();
    write_compact(&mut text, value);
    text
}

fn write_compact(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_compact(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&to_json(&Value::from(key.as_str())));
                out.push(':');
                write_compact(out, value);
            }
            out.push('}');
        }
        scalar => out.push_str(&to_json(scalar)),
    }
}

/// A part of a template.
enum Part<'t> {
    Text(String),
    Path(Path),
    Range(Path),
    End,
    Wrong(&'t str),
}

/// Expands a template such as `{range .items[*]}{.metadata.name}{"\n"}{end}`.
pub(crate) fn template(template: &str, value: &Value) -> Result<String, Failure> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, tail)) = rest.split_once('{') {
        parts.push(Part::Text(text.to_owned()));
        let end = end_of_brace(tail).ok_or_else(|| Failure::plain("unclosed action"))?;
        let (inside, tail) = tail.split_at_checked(end).unwrap_or((tail, ""));
        parts.push(part(inside.trim())?);
        rest = tail.strip_prefix('}').unwrap_or(tail);
    }
    // A template without braces is a path.
    if parts.is_empty() {
        parts.push(Part::Path(relaxed(template)?));
        rest = "";
    }
    parts.push(Part::Text(rest.to_owned()));
    let mut out = String::new();
    fill(&mut out, &parts, value)?;
    Ok(out)
}

fn end_of_brace(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '}') => return Some(index),
            _ => {}
        }
    }
    None
}

fn part(inside: &str) -> Result<Part<'_>, Failure> {
    if inside == "end" {
        return Ok(Part::End);
    }
    if let Some(path) = inside.strip_prefix("range ") {
        return Ok(Part::Range(parse(path.trim())?));
    }
    if inside.starts_with(['"', '\'']) {
        let Some(text) = unquoted(inside) else { return Ok(Part::Wrong(inside)) };
        let text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"");
        return Ok(Part::Text(text));
    }
    Ok(Part::Path(parse(inside)?))
}

fn fill(out: &mut String, parts: &[Part<'_>], value: &Value) -> Result<(), Failure> {
    let mut index = 0;
    while let Some(part) = parts.get(index) {
        index += 1;
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(path) => {
                let texts: Vec<String> = path.evaluate(value).iter().map(plain_text).collect();
                out.push_str(&texts.join(" "));
            }
            Part::Range(path) => {
                let mut depth = 1_usize;
                let body = parts.get(index..).unwrap_or_default();
                let length = body.iter().position(|part| {
                    match part {
                        Part::Range(_) => depth += 1,
                        Part::End => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                });
                let Some(length) = length else {
                    return Err(Failure::plain("not in range, nothing to end: {end} is missing"));
                };
                let body = body.get(..length).unwrap_or_default();
                for item in path.evaluate(value) {
                    fill(out, body, &item)?;
                }
                index += length + 1;
            }
            Part::End => return Err(Failure::plain("not in range, nothing to end")),
            Part::Wrong(text) => return Err(wrong(text)),
        }
    }
    Ok(())
}

/// The rows of `-o custom-columns=NAME:.metadata.name,…`, titles first.
pub(crate) fn columns(spec: &str, objects: &[Value]) -> Result<Vec<Vec<String>>, Failure> {
    let mut titles = Vec::new();
    let mut paths = Vec::new();
    for column in spec.split(',') {
        let Some((title, path)) = column.split_once(':') else {
            return Err(Failure::plain(format!(
                "unexpected custom-columns spec: {column}, expected <header>:<json-path-expr>"
            )));
        };
        titles.push(title.to_owned());
        paths.push(relaxed(path)?);
    }
    let mut rows = vec![titles];
    for object in objects {
        let cell = |path: &Path| {
            let found = path.evaluate(object);
            if found.is_empty() {
                return "<none>".to_owned();
            }
            found.iter().map(cell_text).collect::<Vec<_>>().join(",")
        };
        rows.push(paths.iter().map(cell).collect());
    }
    Ok(rows)
}

/// The text of a value in a cell; lists and objects look as Go prints them.
fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(cell_text).collect::<Vec<_>>().join(" "))
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{key}:{}", cell_text(value)));
            format!("map[{}]", pairs.collect::<Vec<_>>().join(" "))
        }
        Value::Number(number) => number_text(number),
        value => plain_text(value),
    }
}

fn number_text(number: &Number) -> String {
    compact(&Value::Number(number.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates() {
        let value = json!({ "items": [
            { "metadata": { "name": "a", "labels": { "x.io/z": "1" } }, "n": 1, "l": [1, 2, 3] },
            { "metadata": { "name": "b" }, "n": 2, "ok": true },
        ]});
        for (text, filled) in [
            ("{.items[*].metadata.name}", "a b"),
            (".items[0].n", "1"),
            ("{.items[-1].metadata.name}", "b"),
            ("{range .items[*]}{.metadata.name}{\"\\t\"}{.n}{\"\\n\"}{end}", "a\t1\nb\t2\n"),
            ("{.items[?(@.n==2)].metadata.name}", "b"),
            ("{.items[?(@.n>=1)].n}", "1 2"),
            ("{.items[?(@.ok)].metadata.name}", "b"),
            ("{.items[?(@.metadata.name==\"a\")].n}", "1"),
            ("{.items[0].metadata.labels.x\\.io/z}", "1"),
            ("{.items[0].metadata.labels['x.io/z']}", "1"),
            ("{.items[0].l[1:]}", "2 3"),
            ("{.items[0].l}", "[1,2,3]"),
            ("{.items[1].metadata}", "{\"name\":\"b\"}"),
            ("{..name}", "a b"),
            ("names: {.items[*].metadata['name']}!", "names: a b!"),
            ("{.nothing}", ""),
        ] {
            assert_eq!(template(text, &value).unwrap(), filled, "{text}");
        }
        for text in ["{.items[}", "{", "{range .items[*]}", "{end}", "{.a[x]}", "{\"a}"] {
            assert!(template(text, &value).is_err(), "{text}");
        }
        let rows = columns("N:.metadata.name,X:{.ok}", value["items"].as_array().unwrap()).unwrap();
        assert_eq!(rows, [["N", "X"], ["a", "<none>"], ["b", "true"]]);
    }
}
