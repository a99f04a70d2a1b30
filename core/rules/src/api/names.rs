//! The forms of names, keys and values.
//!
//! Each function returns messages about what is wrong with a text, none if it is valid. Lengths
//! are in bytes, as in Go.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::release::KubernetesRelease;

const QUALIFIED_NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
     start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
     regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric \
     characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
     'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const DNS1123_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
     alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
     (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const DNS1123_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
     characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  \
     or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// Messages of [`is_qualified_name`] or [`is_valid_label_value`] in the words of a release.
#[must_use]
pub fn label_words(release: KubernetesRelease, messages: Vec<String>) -> Vec<String> {
    if release.counts_bytes_of_labels() { in_bytes(messages) } else { messages }
}

/// Rewords messages as releases since 1.35 do.
pub(crate) fn in_bytes(messages: Vec<String>) -> Vec<String> {
    let word = |message: String| match message.strip_prefix("a qualified name ") {
        Some(rest) => format!("a valid label key {rest}"),
        None => match message.strip_suffix(" characters") {
            Some(start) => format!("{start} bytes"),
            None => message,
        },
    };
    messages.into_iter().map(word).collect()
}

/// A label key, a taint key: `name` or `prefix/name`. Mirrors `validation.IsQualifiedName`.
/// The words are those of releases to 1.34; see [`label_words`].
#[must_use]
pub fn is_qualified_name(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let (prefix, name) = match text.split_once('/') {
        None => (None, text),
        Some((prefix, name)) => (Some(prefix), name),
    };
    if name.contains('/') {
        errors.push(format!(
            "a qualified name {QUALIFIED_NAME} with an optional DNS subdomain prefix and '/' \
             (e.g. 'example.com/MyName')"
        ));
        return errors;
    }
    match prefix {
        None => {}
        Some("") => errors.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            let messages = is_dns1123_subdomain(prefix);
            errors.extend(messages.into_iter().map(|message| format!("prefix part {message}")));
        }
    }
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push(format!("name part {}", too_long(63)));
    }
    if !has_qualified_form(name) {
        errors.push(format!("name part {QUALIFIED_NAME}"));
    }
    errors
}

/// A label value, a taint value; may be empty. Mirrors `validation.IsValidLabelValue`. The words are
/// those of releases to 1.34; see [`label_words`].
#[must_use]
pub fn is_valid_label_value(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 63 {
        errors.push(too_long(63));
    }
    if !text.is_empty() && !has_qualified_form(text) {
        errors.push(LABEL_VALUE.to_owned());
    }
    errors
}

/// Labels of DNS joined by dots, such as `example.com`. Mirrors `validation.IsDNS1123Subdomain`.
#[must_use]
pub fn is_dns1123_subdomain(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 253 {
        errors.push(too_long(253));
    }
    if !text.split('.').all(has_label_form) {
        errors.push(DNS1123_SUBDOMAIN.to_owned());
    }
    errors
}

/// A label of DNS, such as `my-name`. Mirrors `validation.IsDNS1123Label`.
#[must_use]
pub fn is_dns1123_label(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 63 {
        errors.push(too_long(63));
    }
    if !has_label_form(text) {
        errors.push(DNS1123_LABEL.to_owned());
    }
    errors
}

/// The name of a node. Mirrors `ValidateNodeName`.
#[must_use]
pub fn validate_node_name(name: &str) -> Vec<String> {
    is_dns1123_subdomain(name)
}

/// The name of a pod. Mirrors `ValidatePodName`.
#[must_use]
pub fn validate_pod_name(name: &str) -> Vec<String> {
    is_dns1123_subdomain(name)
}

/// The name of a namespace. Mirrors `ValidateNamespaceName`.
#[must_use]
pub fn validate_namespace_name(name: &str) -> Vec<String> {
    is_dns1123_label(name)
}

/// Mirrors `validation.MaxLenError`.
fn too_long(length: usize) -> String {
    format!("must be no more than {length} characters")
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn has_qualified_form(text: &str) -> bool {
    has_form(text, u8::is_ascii_alphanumeric, b"-_.")
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn has_label_form(text: &str) -> bool {
    has_form(text, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(), b"-")
}

/// `outer` characters at both ends, those or `inner` ones between.
fn has_form(text: &str, outer: fn(&u8) -> bool, inner: &[u8]) -> bool {
    match text.as_bytes() {
        [only] => outer(only),
        [first, between @ .., last] => {
            let between = between.iter().all(|byte| outer(byte) || inner.contains(byte));
            outer(first) && outer(last) && between
        }
        [] => false,
    }
}
