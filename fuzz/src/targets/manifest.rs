//! Kubernetes manifests as text.

use taintlab_core::scenario::Scenario;
use taintlab_manifest::{
    Format, ImportOptions, Purpose, export, import, read_scenario, write_scenario,
};

use super::{check_places, seeds};
use crate::mutate::{Bytes, text};
use crate::show;

/// Words of objects, put in place of others.
pub(super) const VOCABULARY: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "spec",
    "status",
    "items",
    "List",
    "NodeList",
    "PodList",
    "Node",
    "Pod",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "PodDisruptionBudget",
    "PriorityClass",
    "PersistentVolumeClaim",
    "ResourceSlice",
    "DeviceTaintRule",
    "Lease",
    "Event",
    "Secret",
    "taints",
    "tolerations",
    "tolerationSeconds",
    "effect",
    "operator",
    "timeAdded",
    "labels",
    "annotations",
    "ownerReferences",
    "deletionTimestamp",
    "conditions",
    "allocatable",
    "containers",
    "resources",
    "affinity",
    "topologySpreadConstraints",
    "replicas",
    "selector",
    "template",
    "strategy",
    "minAvailable",
    "maxUnavailable",
    "schedule",
    "capacity",
    "merge",
];

/// Reads a manifest; every diagnostic is about a place in it, and what was read is the same once
/// it is written and read again.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let keep_all = bytes.one_in(3);
    let format = if bytes.one_in(2) { Format::Json } else { Format::Yaml };
    let text = text(&mut bytes, &seeds::MANIFESTS, VOCABULARY, 8_000);
    show("manifest", &text);
    let options = ImportOptions { keep_all, ..ImportOptions::default() };
    let read = import(&text, "m", options);
    check_places(&read.diagnostics, &text, "m");
    assert!(read.objects.len() <= 8_000, "more objects than bytes");

    let written = export(&read.nodes, &read.pods, &read.others, Purpose::State, format);
    let again = import(&written, "w", options);
    assert!(!again.has_errors(), "{:?}\n{written}", again.diagnostics);
    assert_eq!(again.nodes, read.nodes, "{written}");
    assert_eq!(again.pods, read.pods, "{written}");
    assert_eq!(again.others, read.others, "{written}");

    let scenario = read.into_scenario(Scenario::default());
    let written = write_scenario(&scenario);
    let mut none = |_: &str| Err("no files here".to_owned());
    let again = read_scenario(&written, "w", options, &mut none);
    // Objects of one name are an error of a scenario only.
    if again.diagnostics.iter().all(|diagnostic| !diagnostic.is_error()) {
        assert_eq!(again.scenario, Some(scenario), "{written}");
    }
    check_places(&again.diagnostics, &written, "w");
}
