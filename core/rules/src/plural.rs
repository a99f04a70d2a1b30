//! Numbers with their nouns in sentences.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

/// Names in a sentence, at most ten: `a, b, c, …`.
#[must_use]
pub fn names(known: &[&str]) -> String {
    const MOST: usize = 10;
    let first: Vec<&str> = known.iter().take(MOST).copied().collect();
    format!("{}{}", first.join(", "), if known.len() > MOST { ", …" } else { "" })
}

/// `there is no node `x`: there are a, b`, or that the cluster has none. Empty names are no names.
#[must_use]
pub fn no_such(kind: &str, name: &str, known: &[&str]) -> String {
    let known: Vec<&str> = known.iter().filter(|name| !name.is_empty()).copied().collect();
    let rest = match known.as_slice() {
        [] => "the cluster has none".into(),
        known => format!("there are {}", names(known)),
    };
    format!("there is no {kind} `{name}`: {rest}")
}

/// `1 pod`, `2 pods`.
#[must_use]
pub fn count<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    if number == N::from(1) { format!("1 {what}") } else { format!("{number} {what}s") }
}
