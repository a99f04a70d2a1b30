//! The scenarios that come with the page.

/// A list of files of `examples/`, by name.
macro_rules! samples {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../examples/", $name, ".yaml")))),+]
    };
}

/// The files of `examples/`, the sample cluster first: name and text.
pub(crate) const ALL: &[(&str, &str)] = samples![
    "sample-cluster",
    "default-tolerations",
    "three-effects",
    "toleration-is-not-attraction",
    "truth-table-of-matching",
    "order-of-tolerations",
    "two-taints",
    "taint-removed-in-time",
    "lengthen-toleration-in-flight",
    "shorten-toleration-in-flight",
    "small-toleration-seconds",
    "zero-and-negative-seconds",
    "numeric-tolerations",
    "daemonset-pods-stay",
    "bare-pod-vanishes",
    "disruption-budget-is-not-asked",
    "evicted-again-and-again",
    "node-deleted-while-timer-runs",
    "timer-follows-the-name",
    "controller-restarts",
    "delete-fails-five-times",
    "two-taints-one-removed-1.18",
    "two-taints-one-removed-1.20",
    "lost-eviction-1.32",
    "lost-eviction-1.33",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_example_is_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".yaml"))
            .collect();
        let listed: BTreeSet<String> = ALL.iter().map(|(name, _)| format!("{name}.yaml")).collect();
        assert_eq!(listed, files);
    }
}
