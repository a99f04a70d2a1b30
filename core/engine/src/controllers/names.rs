//! Names that controllers make up: hashes where upstream draws lots.

use alloc::format;
use alloc::string::{String, ToString};

/// The letters and digits of generated names. Mirrors `rand.alphanums`.
const ALPHABET: [char; 27] = [
    'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w', 'x',
    'z', '2', '4', '5', '6', '7', '8', '9',
];

/// 32-bit FNV-1a.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Five letters that depend on `seed` and `number` alone. Mirrors the form of `names.generateName`.
pub(crate) fn suffix(seed: &str, number: u64) -> String {
    let mut rest = hash(&format!("{seed}#{number}"));
    let letter = |_| {
        let letter = ALPHABET.get(rest as usize % ALPHABET.len()).copied().unwrap_or('b');
        rest /= 27;
        letter
    };
    (0..5).map(letter).collect()
}

/// The label by which pods of one template are told from those of another. Mirrors the form of
/// `ComputeHash` and `rand.SafeEncodeString`.
pub(super) fn template_hash(template: &str) -> String {
    let digits = hash(template).to_string();
    let letter = |byte: u8| ALPHABET.get(usize::from(byte) % ALPHABET.len()).copied();
    digits.bytes().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_form_of_kubernetes() {
        let names: alloc::collections::BTreeSet<String> =
            (0..1000).map(|number| suffix("default/web", number)).collect();
        assert!(names.len() > 990, "{}", names.len());
        assert!(names.iter().all(|name| name.chars().all(|c| ALPHABET.contains(&c))));
        assert_ne!(template_hash("a"), template_hash("b"));
        assert_eq!(suffix("default/web", 3), suffix("default/web", 3));
    }
}
