//! Label and field selectors.

use std::collections::BTreeMap;

use serde_json::Value;
use taintlab_core::api::{LabelSelector, Requirement, SelectorOperator};
use taintlab_core::order::Order;

use crate::failure::Failure;
use crate::fields::{string_map, text};

/// Reads a label selector: `a=b,c!=d,e in (x, y),f,!g`. Mirrors `labels.Parse`.
pub(crate) fn parse_labels(text: &str) -> Result<LabelSelector, Failure> {
    let mut requirements = Vec::new();
    for part in split(text) {
        let part = part.trim();
        if part.is_empty() {
            if text.trim().is_empty() {
                break;
            }
            return Err(unable(text, "found '', expected: identifier"));
        }
        requirements.push(requirement(part).map_err(|why| unable(text, &why))?);
    }
    Ok(LabelSelector { requirements })
}

fn unable(text: &str, why: &str) -> Failure {
    Failure::plain(format!("unable to parse requirement: {why} (in the selector {text:?})"))
}

/// Splits at commas that are not in parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn requirement(part: &str) -> Result<Requirement, String> {
    let make = |key: &str, operator, values: Vec<&str>| {
        let key = key.trim();
        let wrong = taintlab_core::policy::validation::is_qualified_name(key);
        if !wrong.is_empty() {
            return Err(format!("key: Invalid value: {key:?}: {}", wrong.join("; ")));
        }
        let values = values.into_iter().map(|value| value.trim().to_owned()).collect();
        Ok(Requirement { key: key.to_owned(), operator, values })
    };
    if let Some(key) = part.strip_prefix('!') {
        return make(key, SelectorOperator::DoesNotExist, Vec::new());
    }
    if let Some((key, value)) = part.split_once("!=") {
        return make(key, SelectorOperator::NotIn, vec![value]);
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return make(key, SelectorOperator::In, vec![value]);
    }
    for (sign, operator) in [('>', SelectorOperator::Gt), ('<', SelectorOperator::Lt)] {
        if let Some((key, value)) = part.split_once(sign) {
            return make(key, operator, vec![value]);
        }
    }
    if let Some(head) = part.strip_suffix(')') {
        let Some((head, values)) = head.split_once('(') else {
            return Err("found ')', expected: '('".to_owned());
        };
        let mut words = head.split_whitespace();
        let (key, operator) = (words.next().unwrap_or(""), words.next());
        let operator = match operator {
            Some("in") => SelectorOperator::In,
            Some("notin") => SelectorOperator::NotIn,
            other => {
                let found = other.unwrap_or("(");
                return Err(format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt"));
            }
        };
        return make(key, operator, values.split(',').collect());
    }
    if let Some(second) = part.split_whitespace().nth(1) {
        return Err(format!("found '{second}', expected: in, notin, =, ==, !=, gt, lt"));
    }
    make(part, SelectorOperator::Exists, Vec::new())
}

/// A comparison of a field: its path, whether it must be equal, and the value.
pub(crate) struct FieldTerm {
    pub(crate) path: String,
    pub(crate) equal: bool,
    pub(crate) value: String,
}

/// Reads a field selector: `spec.nodeName=a,status.phase!=Running`. Mirrors
/// `fields.ParseSelector`.
pub(crate) fn parse_fields(text: &str) -> Result<Vec<FieldTerm>, Failure> {
    let mut terms = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
            (path, false, value)
        } else if let Some((path, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
            (path, true, value)
        } else {
            return Err(Failure::plain(format!(
                "invalid selector: '{text}'; can't understand '{part}'"
            )));
        };
        let (path, value) = (path.trim().to_owned(), value.trim().to_owned());
        terms.push(FieldTerm { path, equal, value });
    }
    Ok(terms)
}

/// A `metav1.LabelSelector` in JSON form as text; empty if absent or without terms. Mirrors
/// `labels.Selector.String`.
pub(crate) fn selector_text(selector: Option<&Value>) -> String {
    let null = Value::Null;
    let selector = selector.unwrap_or(&null);
    let mut terms: Vec<(String, String)> = string_map(selector.get("matchLabels"))
        .into_iter()
        .map(|(key, value)| (key.clone(), format!("{key}={value}")))
        .collect();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = text(expression, "/key");
        let values = expression.get("values").and_then(Value::as_array);
        let mut values: Vec<&str> =
            values.into_iter().flatten().filter_map(Value::as_str).collect();
        values.order();
        let values = values.join(",");
        let term = match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        terms.push((key.to_owned(), term));
    }
    terms.order_by(|(left, _), (right, _)| left.cmp(right));
    let terms: Vec<String> = terms.into_iter().map(|(_, term)| term).collect();
    terms.join(",")
}

/// The text of a selector, or `<none>` if it is empty. Mirrors `metav1.FormatLabelSelector`.
pub(crate) fn format_selector(selector: Option<&Value>) -> String {
    let text = selector_text(selector);
    if text.is_empty() { "<none>".to_owned() } else { text }
}

/// Whether a `metav1.LabelSelector` in JSON form matches labels; an absent one matches nothing.
pub(crate) fn selects(selector: Option<&Value>, labels: &BTreeMap<String, String>) -> bool {
    let selector = LabelSelector::read("selector", selector).ok().flatten();
    selector.is_some_and(|selector| selector.matches(labels))
}

/// Labels as tables show them: `a=b,c=d`, or `<none>`.
pub(crate) fn format_labels(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return "<none>".to_owned();
    }
    let pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_selectors() {
        let labels = BTreeMap::from([("a".into(), "b".into()), ("n".into(), "5".into())]);
        for (text, matches) in [
            ("", true),
            ("a", true),
            ("a=b", true),
            ("a==b", true),
            ("a = b , n=5", true),
            ("a=c", false),
            ("a!=c", true),
            ("x!=y", true),
            ("!a", false),
            ("!x", true),
            ("a in (b,c)", true),
            ("a notin (b, c)", false),
            ("n>4", true),
            ("n<5", false),
            ("a in (b),!x,n", true),
        ] {
            assert_eq!(parse_labels(text).unwrap().matches(&labels), matches, "{text}");
        }
        for text in ["a in b", "a b", "=", ",", "a,,b", "(a)", "a b (c)", "a)"] {
            assert!(parse_labels(text).is_err(), "{text}");
        }
    }
}
