//! Values of the engine's types from JSON that is in hand as a tree.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The value of a JSON form; a text says what is wrong with it.
///
/// It takes the way over text. `serde_json::from_value` would compile each type of the engine once
/// more, which weighs a tenth of a page; what takes this way is a few objects at a time.
///
/// # Errors
/// The JSON has not the form of the type.
pub fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_str(&value.to_string()).map_err(|error| {
        let text = error.to_string();
        // The place is one in a text that nobody has seen.
        match text.rsplit_once(" at line ") {
            Some((text, _)) => text.to_owned(),
            None => text,
        }
    })
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::Taint;

    use super::*;

    #[test]
    fn an_error_says_what_is_wrong_and_no_place() {
        let taint = serde_json::json!({ "key": "a", "effect": "NoExecute" });
        assert_eq!(typed::<Taint>(&taint).unwrap().key, "a");
        let error = typed::<Taint>(&serde_json::json!({ "key": 5 })).unwrap_err();
        assert!(error.starts_with("invalid type: integer `5`, expected a"), "{error}");
        assert!(!error.contains("line"), "{error}");
    }
}
