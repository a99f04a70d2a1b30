//! Reads Kubernetes manifests.

mod importer;
mod places;
mod together;

use serde_json::Value as Json;
use taintlab_core::api::{Node, Pod, PodDisruptionBudget, Workload};
use taintlab_core::order::OrderedMap;
use taintlab_core::slices::at_once;
use taintlab_core::time::Time;

use self::importer::Importer;
pub use self::places::{Sought, places_of};
pub use self::together::{Text, import_together};
use crate::diagnostic::Diagnostic;
use crate::dropped::Dropped;
use crate::limits::ImportOptions;
use crate::report::ObjectReport;
use crate::source;
use crate::tree::Split;

/// The contents of a manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The nodes, in the order of the text.
    pub nodes: Vec<Node>,
    /// The pods, in the order of the text. A pod without a namespace is in `default`.
    pub pods: Vec<Pod>,
    /// Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs, in the order of the text. One
    /// without a namespace is in `default`.
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets, in the order of the text. One without a namespace is in `default`.
    pub budgets: Vec<PodDisruptionBudget>,
    /// Objects of kinds that the engine does not use, without dropped fields, in the order of the
    /// text.
    pub others: Vec<Json>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The outcome of each object, in the order of the text.
    pub objects: Vec<ObjectReport>,
    /// Counts of what was dropped from all objects together.
    pub dropped: Dropped,
    /// The newest time in the objects, when somebody last wrote one of them; the text itself is a
    /// little younger. Times in the future, such as `deletionTimestamp`, do not count.
    pub newest_time: Option<Time>,
}

impl Import {
    /// Whether an error made the import leave out an object or the rest of the text.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Whether there is no object at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_cluster() && self.others.is_empty()
    }

    /// Whether there is an object that a simulation needs.
    fn has_cluster(&self) -> bool {
        !self.nodes.is_empty()
            || !self.pods.is_empty()
            || !self.workloads.is_empty()
            || !self.budgets.is_empty()
    }

    /// Number of objects of each kind that the engine does not use, by `apiVersion` and `kind`.
    #[must_use]
    pub fn other_kinds(&self) -> OrderedMap<(String, String), usize> {
        let text = |object: &Json, field: &str| {
            object.get(field).and_then(Json::as_str).unwrap_or("").to_owned()
        };
        let mut counts = OrderedMap::new();
        for object in &self.others {
            *counts.entry((text(object, "apiVersion"), text(object, "kind"))).or_default() += 1;
        }
        counts
    }
}

/// Reads Kubernetes objects from YAML or JSON: single objects, several documents, `List`,
/// `NodeList`, `PodList`, plain lists.
///
/// Reading never fails as a whole: an object with an error is left out, the diagnostics say why,
/// and objects of other kinds are kept. [`Import::objects`] has the outcome of each object. YAML is
/// read as `kubectl` reads it (`yes` is a boolean, `0644` is octal). The objects are checked as the
/// API server would, with the toleration operators `Lt` and `Gt` allowed.
///
/// Only fields that the engine reads enter, and harmless ones that `kubectl` prints, unless
/// [`ImportOptions::keep_all`] says otherwise; kinds that the engine does not use enter with their
/// identity alone. This keeps secrets out; [`Import::dropped`] counts what was left out.
/// `metadata.resourceVersion`, which identifies how one API server stored the object, is always
/// dropped: `kubectl apply` does not take it. A `null` equals an absent field.
///
/// Diagnostics show the name `file`, for example `cluster.yaml`; `options` are [`ImportOptions`],
/// or [`Limits`](crate::Limits) alone.
///
/// ```
/// use taintlab_manifest::ImportOptions;
///
/// let text = "
/// apiVersion: v1
/// kind: Node
/// metadata: {name: worker-1}
/// spec:
///   taints:
///   - {key: maintenance, value: yes, effect: NoExecute}
/// ";
/// let import = taintlab_manifest::import(text, "cluster.yaml", ImportOptions::default());
/// assert_eq!(
///     import.diagnostics[0].to_string(),
///     "cluster.yaml:7:31: spec.taints[0].value: expected a string, found the boolean `yes`\n  \
///      note: Node worker-1 is left out\n  \
///      help: put it in quotes: \"yes\""
/// );
/// ```
#[must_use]
pub fn import(text: &str, file: &str, options: impl Into<ImportOptions>) -> Import {
    at_once(import_in_slices(text, file, options, &|_| {}))
}

/// [`import`] in slices, for texts that take long: it pauses regularly, and after every 10,000
/// objects it passes the number read so far to `watch`. A text that is neither JSON nor YAML may be
/// read twice, and then its objects are counted twice.
pub async fn import_in_slices(
    text: &str,
    file: &str,
    options: impl Into<ImportOptions>,
    watch: &dyn Fn(usize),
) -> Import {
    let options = &options.into();
    let text = source::strip_byte_order_mark(text);
    let new = || Importer::new(file, options.keep_all, watch);
    let mut importer = new();
    if let Err(problem) = source::check(text, &options.limits) {
        importer.refuse(problem);
    } else {
        importer = source::parse(text, options, Split::Items, new).await;
    }
    importer.finish(text).await
}

/// The path of a field inside the object at `path`.
pub(crate) fn join(path: &str, field: &str) -> String {
    match (path.is_empty(), field.is_empty()) {
        (true, _) => field.into(),
        (_, true) => path.into(),
        _ if field.starts_with('[') => format!("{path}{field}"),
        _ => format!("{path}.{field}"),
    }
}
