//! Numbers with their nouns in sentences.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;

/// `1 pod`, `2 pods`.
#[must_use]
pub fn count<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    if number == N::from(1) { format!("1 {what}") } else { format!("{number} {what}s") }
}
