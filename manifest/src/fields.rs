//! The fields of objects that enter a simulation: one table of everything the engine reads.
//!
//! A cluster holds passwords in many places, and nobody can list them all. The table therefore
//! lists the opposite: a field that is not in it does not enter, wherever a text or a value is read
//! ([`crate::import()`], [`crate::read_scenario`], lines of the console, links, stored work). Kinds
//! that the engine does not use enter with their identity alone.
//!
//! Some fields are for people only: `kubectl get` and `kubectl describe` print them. They are
//! marked [`Use::Shown`], and links leave them out.

/// The purpose of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A run depends on the field.
    Run,
    /// `kubectl` prints the field, and no run depends on it.
    Shown,
}

/// The part of a value that enters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// All of it: for parts of a scenario that hold no object.
    All,
    /// A text, a number or a boolean, or a list of those; nothing of a mapping.
    Word,
    /// A word that may be the newest time in a text.
    Time,
    /// The name of an image, without credentials.
    Image,
    /// The message of a condition, if it is one that Kubernetes writes word for word.
    Message,
    /// A mapping from arbitrary names to words: labels, amounts of resources.
    Words,
    /// The annotations that the engine reads.
    Annotations,
    /// Only the listed fields of a mapping, or of each mapping in a list.
    Fields(&'static [Field]),
    /// All fields; the listed ones have rules of their own.
    Open(&'static [Field]),
    /// An object; its `apiVersion` and `kind` choose the rule.
    Object,
}

/// A field that enters.
#[derive(Debug)]
pub(crate) struct Field {
    name: &'static str,
    used: Use,
    rule: Rule,
}

impl Rule {
    /// The rule for objects of this type.
    pub(crate) fn of_kind(api_version: &str, kind: &str) -> Self {
        let (group, _) = api_version.split_once('/').unwrap_or(("", api_version));
        Self::Fields(match (group, kind) {
            ("", "Node") => NODE,
            ("", "Pod") => POD,
            ("apps" | "extensions", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("batch", "Job") => WORKLOAD,
            ("batch", "CronJob") => CRON_JOB,
            ("policy", "PodDisruptionBudget") => BUDGET,
            ("", "PersistentVolume") => PERSISTENT_VOLUME,
            ("", "PersistentVolumeClaim") => PERSISTENT_VOLUME_CLAIM,
            ("storage.k8s.io", "StorageClass") => STORAGE_CLASS,
            ("storage.k8s.io", "VolumeAttachment") => VOLUME_ATTACHMENT,
            ("resource.k8s.io", "ResourceSlice") => RESOURCE_SLICE,
            ("resource.k8s.io", "ResourceClaim") => RESOURCE_CLAIM,
            ("resource.k8s.io", "ResourceClaimTemplate") => RESOURCE_CLAIM_TEMPLATE,
            ("resource.k8s.io", "DeviceClass") => DEVICE_CLASS,
            ("resource.k8s.io", "DeviceTaintRule") => DEVICE_TAINT_RULE,
            ("scheduling.k8s.io", "PriorityClass") => PRIORITY_CLASS,
            ("coordination.k8s.io", "Lease") => LEASE,
            ("kubelet.config.k8s.io" | "", "KubeletConfiguration") => KUBELET_CONFIGURATION,
            ("", "Service") => SERVICE,
            ("", "Namespace") => NAMESPACE,
            _ => IDENTITY,
        })
    }

    /// The rule of the field `key` of a mapping with this rule, if the field enters.
    pub(crate) fn field(self, key: &str) -> Option<(Self, Use)> {
        let find = |fields: &'static [Field]| fields.iter().find(|field| field.name == key);
        let rule = match self {
            Self::All => self,
            Self::Words => Self::Word,
            Self::Annotations if ANNOTATIONS.contains(&key) => Self::Word,
            Self::Annotations if key == RESTARTED_AT => Self::Time,
            Self::Fields(fields) => return find(fields).map(|field| (field.rule, field.used)),
            Self::Open(fields) => find(fields).map_or(Self::All, |field| field.rule),
            Self::Word | Self::Time | Self::Image | Self::Message | Self::Annotations => {
                return None;
            }
            Self::Object => return None,
        };
        Some((rule, Use::Run))
    }

    /// Whether a value with this rule enters; only messages can be refused.
    pub(crate) fn admits(self, text: Option<&str>) -> bool {
        !matches!(self, Self::Message) || text.is_some_and(|text| MESSAGES.contains(&text))
    }
}

/// Messages of conditions that say no more than the reasons beside them. Writing a condition again
/// with one of them is no change.
const MESSAGES: [&str; 10] = [
    "",
    "Device Taint manager: deleting due to NoExecute taint",
    "Eviction API: evicting",
    "Kubelet stopped posting node status.",
    "PodGC: node no longer exists",
    "Taint manager: deleting due to NoExecute taint",
    "kubelet has no disk pressure",
    "kubelet has sufficient PID available",
    "kubelet has sufficient memory available",
    "kubelet is posting ready status",
];

/// The annotations that the engine reads.
const ANNOTATIONS: [&str; 20] = [
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-index-failure-count",
    "batch.kubernetes.io/job-index-ignored-failure-count",
    "controller.kubernetes.io/pod-deletion-cost",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deprecated.daemonset.template.generation",
    "descheduler.alpha.kubernetes.io/evict",
    "kubernetes.io/config.mirror",
    "kubernetes.io/config.source",
    "node.alpha.kubernetes.io/ttl",
    "scheduler.alpha.kubernetes.io/critical-pod",
    "storageclass.kubernetes.io/is-default-class",
    "taintlab/run-time",
    "taintlab/shutdown-time",
    "taintlab/start-up-time",
    "taintlab/targets",
    "volume.kubernetes.io/selected-node",
];

/// The annotation by whose time templates differ after `kubectl rollout restart`.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

const fn field(name: &'static str, rule: Rule) -> Field {
    Field { name, used: Use::Run, rule }
}

const fn word(name: &'static str) -> Field {
    field(name, Rule::Word)
}

const fn time(name: &'static str) -> Field {
    field(name, Rule::Time)
}

const fn words(name: &'static str) -> Field {
    field(name, Rule::Words)
}

const fn fields(name: &'static str, of: &'static [Field]) -> Field {
    field(name, Rule::Fields(of))
}

const fn open(name: &'static str, of: &'static [Field]) -> Field {
    field(name, Rule::Open(of))
}

/// A field of which only the presence counts.
const fn presence(name: &'static str) -> Field {
    fields(name, &[])
}

/// A field that only people read.
const fn shown(field: Field) -> Field {
    Field { used: Use::Shown, ..field }
}

/// The type and metadata of an object, and the given fields.
macro_rules! object {
    ($($field:expr),* $(,)?) => {
        &[word("apiVersion"), word("kind"), fields("metadata", METADATA), $($field),*]
    };
}

/// The identity of an object, and its age.
const IDENTITY: &[Field] = &[
    word("apiVersion"),
    word("kind"),
    fields("metadata", &[word("name"), word("namespace"), time("creationTimestamp")]),
];

const METADATA: &[Field] = &[
    word("name"),
    word("namespace"),
    word("uid"),
    words("labels"),
    field("annotations", Rule::Annotations),
    time("creationTimestamp"),
    word("deletionTimestamp"),
    word("deletionGracePeriodSeconds"),
    word("finalizers"),
    fields("ownerReferences", OWNER),
    word("generation"),
];

const OWNER: &[Field] = &[
    word("apiVersion"),
    word("kind"),
    word("name"),
    word("uid"),
    word("controller"),
    word("blockOwnerDeletion"),
];

const SELECTOR: &[Field] = &[words("matchLabels"), fields("matchExpressions", REQUIREMENT)];
const REQUIREMENT: &[Field] = &[word("key"), word("operator"), word("values")];
const NODE_TERM: &[Field] =
    &[fields("matchExpressions", REQUIREMENT), fields("matchFields", REQUIREMENT)];
const NODE_SELECTOR: &[Field] = &[fields("nodeSelectorTerms", NODE_TERM)];

const CONDITION: &[Field] = &[
    word("type"),
    word("status"),
    time("lastHeartbeatTime"),
    time("lastTransitionTime"),
    time("lastProbeTime"),
    time("lastUpdateTime"),
    word("reason"),
    field("message", Rule::Message),
    word("observedGeneration"),
];

const NODE: &[Field] = object![
    fields(
        "spec",
        &[
            word("unschedulable"),
            fields("taints", &[word("key"), word("value"), word("effect"), time("timeAdded")]),
            shown(word("podCIDR")),
            shown(word("podCIDRs")),
        ]
    ),
    fields(
        "status",
        &[
            words("capacity"),
            words("allocatable"),
            fields("conditions", CONDITION),
            fields("images", &[field("names", Rule::Image), word("sizeBytes")]),
            shown(fields("addresses", &[word("type"), word("address")])),
            shown(fields(
                "nodeInfo",
                &[
                    word("kubeletVersion"),
                    word("osImage"),
                    word("kernelVersion"),
                    word("containerRuntimeVersion"),
                    word("operatingSystem"),
                    word("architecture"),
                ]
            )),
        ]
    ),
];

const RESOURCES: &[Field] = &[words("requests"), words("limits")];

const CONTAINER: &[Field] = &[
    word("name"),
    field("image", Rule::Image),
    word("restartPolicy"),
    fields("resources", RESOURCES),
    fields(
        "ports",
        &[
            shown(word("name")),
            word("containerPort"),
            word("hostPort"),
            word("hostIP"),
            word("protocol"),
        ],
    ),
];

const POD_TERM: &[Field] = &[
    fields("labelSelector", SELECTOR),
    word("namespaces"),
    fields("namespaceSelector", SELECTOR),
    word("topologyKey"),
    word("matchLabelKeys"),
    word("mismatchLabelKeys"),
];
const POD_AFFINITY: &[Field] = &[
    fields("requiredDuringSchedulingIgnoredDuringExecution", POD_TERM),
    fields(
        "preferredDuringSchedulingIgnoredDuringExecution",
        &[word("weight"), fields("podAffinityTerm", POD_TERM)],
    ),
];

/// The type of a volume; for most types only its presence counts.
const VOLUME: &[Field] = &[
    word("name"),
    fields("emptyDir", &[word("medium"), word("sizeLimit")]),
    fields("persistentVolumeClaim", &[word("claimName"), shown(word("readOnly"))]),
    presence("awsElasticBlockStore"),
    presence("azureDisk"),
    presence("azureFile"),
    presence("cephfs"),
    presence("cinder"),
    presence("configMap"),
    presence("csi"),
    presence("downwardAPI"),
    presence("ephemeral"),
    presence("fc"),
    presence("flexVolume"),
    presence("flocker"),
    presence("gcePersistentDisk"),
    presence("gitRepo"),
    presence("glusterfs"),
    presence("hostPath"),
    presence("image"),
    presence("iscsi"),
    presence("nfs"),
    presence("photonPersistentDisk"),
    presence("portworxVolume"),
    presence("projected"),
    presence("quobyte"),
    presence("rbd"),
    presence("scaleIO"),
    presence("secret"),
    presence("storageos"),
    presence("vsphereVolume"),
];

const POD_SPEC: &[Field] = &[
    word("nodeName"),
    fields(
        "tolerations",
        &[word("key"), word("operator"), word("value"), word("effect"), word("tolerationSeconds")],
    ),
    word("terminationGracePeriodSeconds"),
    fields("containers", CONTAINER),
    fields("initContainers", CONTAINER),
    fields("volumes", VOLUME),
    word("priority"),
    word("priorityClassName"),
    word("preemptionPolicy"),
    word("schedulerName"),
    word("restartPolicy"),
    word("hostNetwork"),
    fields(
        "resourceClaims",
        &[word("name"), word("resourceClaimName"), word("resourceClaimTemplateName")],
    ),
    words("nodeSelector"),
    fields(
        "affinity",
        &[
            fields(
                "nodeAffinity",
                &[
                    fields("requiredDuringSchedulingIgnoredDuringExecution", NODE_SELECTOR),
                    fields(
                        "preferredDuringSchedulingIgnoredDuringExecution",
                        &[word("weight"), fields("preference", NODE_TERM)],
                    ),
                ],
            ),
            fields("podAffinity", POD_AFFINITY),
            fields("podAntiAffinity", POD_AFFINITY),
        ],
    ),
    fields(
        "topologySpreadConstraints",
        &[
            word("maxSkew"),
            word("topologyKey"),
            word("whenUnsatisfiable"),
            fields("labelSelector", SELECTOR),
            word("minDomains"),
            word("matchLabelKeys"),
            word("nodeAffinityPolicy"),
            word("nodeTaintsPolicy"),
        ],
    ),
    fields("schedulingGates", &[word("name")]),
    shown(fields("readinessGates", &[word("conditionType")])),
    words("overhead"),
    fields("resources", RESOURCES),
];

const TERMINATED: &[Field] =
    &[word("exitCode"), word("signal"), word("reason"), time("startedAt"), time("finishedAt")];
const CONTAINER_STATE: &[Field] = &[
    fields("running", &[time("startedAt")]),
    fields("waiting", &[word("reason")]),
    fields("terminated", TERMINATED),
];
const CONTAINER_STATUS: &[Field] = &[
    word("name"),
    word("ready"),
    word("started"),
    word("restartCount"),
    fields("state", CONTAINER_STATE),
    fields("lastState", CONTAINER_STATE),
];

const POD: &[Field] = object![
    fields("spec", POD_SPEC),
    fields(
        "status",
        &[
            word("phase"),
            fields("conditions", CONDITION),
            word("reason"),
            word("nominatedNodeName"),
            fields("resourceClaimStatuses", &[word("name"), word("resourceClaimName")]),
            time("startTime"),
            fields("containerStatuses", CONTAINER_STATUS),
            fields("initContainerStatuses", CONTAINER_STATUS),
            shown(word("qosClass")),
            shown(word("hostIP")),
            shown(word("podIP")),
            shown(fields("podIPs", &[word("ip")])),
        ]
    ),
];

const CLAIM_SPEC: &[Field] = &[
    word("accessModes"),
    word("storageClassName"),
    word("volumeName"),
    fields("resources", &[words("requests")]),
    shown(word("volumeMode")),
    shown(word("volumeAttributesClassName")),
];

const TEMPLATE: &[Field] = &[fields("metadata", METADATA), fields("spec", POD_SPEC)];

const ROLLING_UPDATE: &[Field] = &[
    word("type"),
    fields("rollingUpdate", &[word("maxSurge"), word("maxUnavailable"), word("partition")]),
];

const WORKLOAD_SPEC: &[Field] = &[
    word("replicas"),
    fields("selector", SELECTOR),
    fields("template", TEMPLATE),
    word("minReadySeconds"),
    word("revisionHistoryLimit"),
    // For Deployments.
    fields("strategy", ROLLING_UPDATE),
    word("progressDeadlineSeconds"),
    word("paused"),
    // For StatefulSets and DaemonSets.
    fields("updateStrategy", ROLLING_UPDATE),
    word("podManagementPolicy"),
    fields("ordinals", &[word("start")]),
    fields("volumeClaimTemplates", &[fields("metadata", METADATA), fields("spec", CLAIM_SPEC)]),
    // For Jobs.
    word("parallelism"),
    word("completions"),
    word("completionMode"),
    word("backoffLimit"),
    word("backoffLimitPerIndex"),
    word("maxFailedIndexes"),
    word("activeDeadlineSeconds"),
    word("suspend"),
    word("manualSelector"),
    word("ttlSecondsAfterFinished"),
    word("podReplacementPolicy"),
    fields(
        "podFailurePolicy",
        &[fields(
            "rules",
            &[
                word("action"),
                fields("onExitCodes", &[word("containerName"), word("operator"), word("values")]),
                fields("onPodConditions", &[word("type"), word("status")]),
            ],
        )],
    ),
];

const WORKLOAD: &[Field] = object![
    fields("spec", WORKLOAD_SPEC),
    fields(
        "status",
        &[
            word("observedGeneration"),
            word("replicas"),
            word("readyReplicas"),
            word("availableReplicas"),
            word("unavailableReplicas"),
            word("updatedReplicas"),
            word("fullyLabeledReplicas"),
            word("currentReplicas"),
            word("currentRevision"),
            word("updateRevision"),
            word("collisionCount"),
            fields("conditions", CONDITION),
            word("currentNumberScheduled"),
            word("desiredNumberScheduled"),
            word("numberAvailable"),
            word("numberMisscheduled"),
            word("numberReady"),
            word("numberUnavailable"),
            word("updatedNumberScheduled"),
            word("active"),
            word("succeeded"),
            word("failed"),
            word("ready"),
            word("terminating"),
            word("completedIndexes"),
            word("failedIndexes"),
            time("startTime"),
            time("completionTime"),
        ]
    ),
];

const CRON_JOB: &[Field] = object![fields(
    "spec",
    &[
        shown(word("schedule")),
        shown(word("suspend")),
        fields("jobTemplate", &[fields("metadata", METADATA), fields("spec", WORKLOAD_SPEC)]),
    ]
)];

const BUDGET: &[Field] = object![
    fields(
        "spec",
        &[
            word("minAvailable"),
            word("maxUnavailable"),
            fields("selector", SELECTOR),
            word("unhealthyPodEvictionPolicy"),
        ]
    ),
    fields(
        "status",
        &[
            word("observedGeneration"),
            word("expectedPods"),
            word("currentHealthy"),
            word("desiredHealthy"),
            word("disruptionsAllowed"),
            words("disruptedPods"),
        ]
    ),
];

/// The type of storage and the driver enter; its location and access do not.
const PERSISTENT_VOLUME: &[Field] = object![
    fields(
        "spec",
        &[
            word("accessModes"),
            word("storageClassName"),
            fields("claimRef", &[word("namespace"), word("name")]),
            words("capacity"),
            fields("nodeAffinity", &[fields("required", NODE_SELECTOR)]),
            word("persistentVolumeReclaimPolicy"),
            shown(word("volumeMode")),
            shown(word("volumeAttributesClassName")),
            fields("csi", &[word("driver")]),
            presence("awsElasticBlockStore"),
            presence("azureDisk"),
            presence("azureFile"),
            presence("cephfs"),
            presence("cinder"),
            presence("fc"),
            presence("flexVolume"),
            presence("flocker"),
            presence("gcePersistentDisk"),
            presence("glusterfs"),
            presence("hostPath"),
            presence("iscsi"),
            presence("local"),
            presence("nfs"),
            presence("photonPersistentDisk"),
            presence("portworxVolume"),
            presence("quobyte"),
            presence("rbd"),
            presence("scaleIO"),
            presence("storageos"),
            presence("vsphereVolume"),
        ]
    ),
    fields("status", &[word("phase"), shown(word("reason"))]),
];

const PERSISTENT_VOLUME_CLAIM: &[Field] = object![
    fields("spec", CLAIM_SPEC),
    fields("status", &[word("phase"), shown(word("accessModes")), shown(words("capacity"))]),
];

const STORAGE_CLASS: &[Field] = object![
    word("provisioner"),
    word("volumeBindingMode"),
    word("reclaimPolicy"),
    shown(word("allowVolumeExpansion")),
    fields("allowedTopologies", &[fields("matchLabelExpressions", REQUIREMENT)]),
];

const VOLUME_ATTACHMENT: &[Field] = object![
    fields(
        "spec",
        &[word("attacher"), word("nodeName"), fields("source", &[word("persistentVolumeName")]),]
    ),
    fields("status", &[word("attached")]),
];

const DEVICE_TAINT: &[Field] = &[word("key"), word("value"), word("effect"), time("timeAdded")];
const DEVICE_TOLERATION: &[Field] =
    &[word("key"), word("operator"), word("value"), word("effect"), word("tolerationSeconds")];
const DEVICE: &[Field] = &[
    word("name"),
    fields("taints", DEVICE_TAINT),
    fields("basic", &[fields("taints", DEVICE_TAINT)]),
];

const RESOURCE_SLICE: &[Field] = object![fields(
    "spec",
    &[
        word("driver"),
        fields("pool", &[word("name"), word("generation"), word("resourceSliceCount")]),
        word("nodeName"),
        word("allNodes"),
        fields("nodeSelector", NODE_SELECTOR),
        fields("devices", DEVICE),
    ]
)];

/// `exactly`, which has no name, and each of `firstAvailable`.
const DEVICE_SUBREQUEST: &[Field] = &[
    word("name"),
    word("deviceClassName"),
    word("allocationMode"),
    word("count"),
    fields("tolerations", DEVICE_TOLERATION),
];

/// `v1beta1` has the fields of `exactly` in the request itself.
const DEVICE_REQUEST: &[Field] = &[
    word("name"),
    word("deviceClassName"),
    word("allocationMode"),
    word("count"),
    fields("tolerations", DEVICE_TOLERATION),
    fields("exactly", DEVICE_SUBREQUEST),
    fields("firstAvailable", DEVICE_SUBREQUEST),
];

const DEVICE_CLAIM: &[Field] = &[fields("devices", &[fields("requests", DEVICE_REQUEST)])];

const RESOURCE_CLAIM: &[Field] = object![
    fields("spec", DEVICE_CLAIM),
    fields(
        "status",
        &[
            fields(
                "allocation",
                &[
                    fields(
                        "devices",
                        &[fields(
                            "results",
                            &[
                                shown(word("request")),
                                word("driver"),
                                word("pool"),
                                word("device"),
                                fields("tolerations", DEVICE_TOLERATION),
                            ]
                        )]
                    ),
                    fields("nodeSelector", NODE_SELECTOR)
                ]
            ),
            fields("reservedFor", &[word("apiGroup"), word("resource"), word("name"), word("uid")]),
        ]
    ),
];

const RESOURCE_CLAIM_TEMPLATE: &[Field] =
    object![fields("spec", &[fields("metadata", METADATA), fields("spec", DEVICE_CLAIM)])];

const DEVICE_CLASS: &[Field] = object![];

const DEVICE_TAINT_RULE: &[Field] = object![
    fields(
        "spec",
        &[
            fields("deviceSelector", &[word("driver"), word("pool"), word("device")]),
            fields("taint", DEVICE_TAINT),
        ]
    ),
    fields(
        "status",
        &[fields(
            "conditions",
            &[
                word("type"),
                word("status"),
                time("lastTransitionTime"),
                word("reason"),
                word("observedGeneration"),
            ]
        )]
    ),
];

const PRIORITY_CLASS: &[Field] =
    object![word("value"), word("globalDefault"), word("preemptionPolicy")];

const LEASE: &[Field] = object![fields(
    "spec",
    &[
        word("holderIdentity"),
        word("leaseDurationSeconds"),
        time("renewTime"),
        shown(time("acquireTime")),
    ]
)];

const KUBELET_CONFIGURATION: &[Field] = object![
    words("evictionHard"),
    words("evictionSoft"),
    words("evictionSoftGracePeriod"),
    words("evictionMinimumReclaim"),
    word("evictionMaxPodGracePeriod"),
    word("evictionPressureTransitionPeriod"),
    word("kernelMemcgNotification"),
    word("enforceNodeAllocatable"),
    word("mergeDefaultEvictionSettings"),
    word("localStorageCapacityIsolation"),
    word("shutdownGracePeriod"),
    word("shutdownGracePeriodCriticalPods"),
    words("shutdownGracePeriodByPodPriority"),
    words("featureGates"),
];

const SERVICE: &[Field] = object![fields(
    "spec",
    &[
        shown(word("type")),
        shown(word("clusterIP")),
        shown(fields(
            "ports",
            &[word("name"), word("port"), word("protocol"), word("nodePort"), word("targetPort")]
        )),
        words("selector"),
        word("publishNotReadyAddresses"),
    ]
)];

const NAMESPACE: &[Field] = object![shown(fields("status", &[word("phase")]))];

/// A command: a mapping with the command's name as its only key.
pub(crate) const COMMAND: Rule = Rule::Open(&[
    fields("createNode", NODE),
    fields("updateNode", NODE),
    open("registerNode", &[fields("node", NODE)]),
    fields("createPod", POD),
    fields("updatePod", POD),
    fields("createWorkload", WORKLOAD),
    fields("updateWorkload", WORKLOAD),
    fields("createBudget", BUDGET),
    fields("updateBudget", BUDGET),
    field("createDeviceObject", Rule::Object),
    field("updateDeviceObject", Rule::Object),
]);

/// A scenario: everything outside of objects, and the fields of objects that enter.
pub(crate) const SCENARIO: Rule = Rule::Open(&[
    open("kubernetes", &[open("autoscaler", &[open("nodeGroups", &[fields("template", NODE)])])]),
    open(
        "objects",
        &[
            fields("nodes", NODE),
            fields("pods", POD),
            fields("workloads", WORKLOAD),
            fields("budgets", BUDGET),
            open("nodeGroups", &[fields("pod", POD)]),
            field("others", Rule::Object),
        ],
    ),
    open("steps", &[field("do", COMMAND)]),
]);
