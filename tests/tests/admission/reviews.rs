//! The policy of Kubewarden: its answers to AdmissionReviews.
//!
//! The pods are those of a real control plane of 1.36.2. A host that speaks waPC asks the module the
//! same (`cargo xtask test policy`). `BLESS=1` writes the answers anew.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use taintlab_tolerations::{validate, validate_settings};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubewarden/reviews")
}

fn read(name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder().join(name)).unwrap()).unwrap()
}

fn answer(case: &Value) -> Value {
    let settings = case["settings"].clone();
    let answer = match case["review"].as_str() {
        None => validate_settings(settings.to_string().as_bytes()),
        Some(review) => {
            let request = json!({"settings": settings, "request": read(review)["request"]});
            validate(request.to_string().as_bytes())
        }
    };
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn reviews_are_answered() {
    let mut cases = read("cases.json");
    let bless = std::env::var_os("BLESS").is_some();
    let list = cases.as_array_mut().unwrap();
    assert!(list.len() > 20);
    for case in list {
        let answer = answer(case);
        for warning in answer["warnings"].as_array().into_iter().flatten() {
            assert!(warning.as_str().unwrap().chars().count() <= taintlab_admission::LONGEST);
        }
        if bless {
            case["answer"] = answer;
        } else {
            assert_eq!(answer, case["answer"], "{}", case["name"]);
        }
    }
    if bless {
        let text = serde_json::to_string_pretty(&cases).unwrap();
        fs::write(folder().join("cases.json"), text + "\n").unwrap();
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_a_reason() {
    for (request, said) in [
        ("", "this is no JSON: "),
        ("[]", "request.object: expected an object, found nothing"),
        (r#"{"settings":3,"request":{}}"#, "settings: expected an object, found the number `3`"),
        (
            r#"{"request":{"object":{"kind":"Pod","spec":{"tolerations":[{"key":5}]}}}}"#,
            "spec.tolerations[0].key: expected a string, found the number `5`",
        ),
    ] {
        let answer: Value = serde_json::from_slice(&validate(request.as_bytes())).unwrap();
        assert_eq!((&answer["accepted"], &answer["code"]), (&json!(false), &json!(400)));
        assert!(answer["message"].as_str().unwrap().starts_with(said), "{answer}");
    }
}

#[test]
fn many_warnings_are_counted() {
    let tolerations = vec![json!({"operator": "Exists"}); 30];
    let object = json!({"kind": "Pod", "spec": {"tolerations": tolerations}});
    let answer = validate(json!({"request": {"object": object}}).to_string().as_bytes());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let warnings = answer["warnings"].as_array().unwrap();
    assert_eq!((warnings.len(), &warnings[9]), (10, &json!("and 21 more")));
}
