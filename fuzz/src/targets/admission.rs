//! Settings of the policy about tolerations, and the objects that it judges, in JSON.

use serde_json::Value;
use taintlab_admission::cel::{validations, variables};
use taintlab_admission::{Settings, correct, judge};

use crate::mutate::{Bytes, text};
use crate::show;

/// Settings and an object, on either side of an empty line.
const SEEDS: &[&str] = &[
    "{\"mode\":\"mutate\",\"release\":\"1.34\",\"taints\":[\"gpu=true:NoSchedule\",\"a:NoExecute\"],\n\
     \"tolerationSeconds\":{\"min\":30,\"max\":300},\"sayTime\":true}\n\n\
     {\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"tolerations\":[\n\
     {\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\n\
     \"tolerationSeconds\":6000}]}}",
    "{\"mode\":\"deny\",\"tolerationSeconds\":{\"max\":9223372036},\"allowBlanketExists\":false}\n\n\
     {\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"template\":{\"spec\":{\"tolerations\":[\n\
     {\"operator\":\"Exists\"},{\"key\":\"gpu\",\"operator\":\"Equal\",\"value\":\"true\"}]}}}}",
    "{}\n\n{\"kind\":\"CronJob\",\"metadata\":{\"name\":\"c\"},\"spec\":{\"jobTemplate\":{\"spec\":\n\
     {\"template\":{\"spec\":{\"tolerations\":null}}}}}}",
    "{\"taints\":[\"a=b:NoExecute\"]}\n\n{\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"d\"},\n\
     \"spec\":{\"template\":{\"spec\":{\"tolerations\":[{\"key\":\"b\",\"operator\":\"Exists\"}]}}}}",
];

const WORDS: &[&str] = &[
    "tolerations",
    "spec",
    "template",
    "Pod",
    "null",
    "Exists",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unreachabel",
    "NoExecute",
    "tolerationSeconds",
    "min",
    "max",
];

/// Reads settings, the same once they are written and read again, and judges an object: what is
/// corrected can be judged, too.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let text = text(&mut bytes, SEEDS, WORDS, 2_000);
    show("settings and object", &text);
    let (settings, object) = text.split_once("\n\n").unwrap_or((&text, "{}"));
    let Ok(settings) = serde_json::from_str::<Value>(settings) else { return };
    let Ok(settings) = Settings::read(&settings) else { return };
    let written = settings.to_value();
    let again = Settings::read(&written).unwrap_or_else(|e| panic!("{written}: {e:?}"));
    assert_eq!(again.to_value(), written);
    assert!(!variables(&settings).is_empty() || validations(&settings).is_empty());
    let Ok(object) = serde_json::from_str::<Value>(object) else { return };
    let judged = judge(&object, &settings);
    let corrected = correct(&object, &settings);
    assert_eq!(judged.is_ok(), corrected.is_ok(), "{object}");
    if let Ok(Some(corrected)) = corrected {
        assert!(judge(&corrected, &settings).is_ok(), "{corrected}");
        assert_eq!(correct(&corrected, &settings), Ok(None), "{corrected}");
    }
}
