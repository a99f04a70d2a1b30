/**
 * The other fields of `v1.PodCondition`: kept, not read.
 */
export type PodConditionFields = Partial<Record<"lastProbeTime", unknown>>;

/**
 * The other fields of `v1.PodStatus`: kept, not read.
 */
export type PodStatusFields = Partial<
    Record<
        | "allocatedResources"
        | "containerStatuses"
        | "ephemeralContainerStatuses"
        | "extendedResourceClaimStatus"
        | "hostIP"
        | "hostIPs"
        | "initContainerStatuses"
        | "nominatedNodeName"
        | "observedGeneration"
        | "podIP"
        | "podIPs"
        | "qosClass"
        | "resize"
        | "resourceClaimStatuses"
        | "resources"
        | "startTime",
        unknown
    >
>;

/**
 * The other fields of `v1.PodSpec`. Those that the engine reads are typed; affinity, volumes and so
 * on are as Kubernetes has them.
 */
export interface PodSpecFields
    extends Partial<
        Record<
            | "activeDeadlineSeconds"
            | "affinity"
            | "automountServiceAccountToken"
            | "dnsConfig"
            | "dnsPolicy"
            | "enableServiceLinks"
            | "ephemeralContainers"
            | "hostAliases"
            | "hostIPC"
            | "hostNetwork"
            | "hostPID"
            | "hostUsers"
            | "hostname"
            | "hostnameOverride"
            | "imagePullSecrets"
            | "os"
            | "preemptionPolicy"
            | "readinessGates"
            | "resourceClaims"
            | "restartPolicy"
            | "runtimeClassName"
            | "schedulerName"
            | "schedulingGates"
            | "securityContext"
            | "serviceAccount"
            | "serviceAccountName"
            | "setHostnameAsFQDN"
            | "shareProcessNamespace"
            | "subdomain"
            | "topologySpreadConstraints"
            | "volumes"
            | "workloadRef",
            unknown
        >
    > {
    /**
     * The containers.
     */
    containers?: readonly Container[];
    /**
     * The containers that run before the others, and sidecars.
     */
    initContainers?: readonly Container[];
    /**
     * Labels that a node must have.
     */
    nodeSelector?: Record<string, string>;
    /**
     * What running the pod costs by itself.
     */
    overhead?: Record<string, Quantity>;
    /**
     * The priority; a higher one goes later.
     */
    priority?: number;
    /**
     * The class that the priority comes from.
     */
    priorityClassName?: string;
    /**
     * What all containers together ask for and may use (1.34 and later).
     */
    resources?: ResourceRequirements;
}

/**
 * `v1.Container`.
 */
export interface Container
    extends Partial<
        Record<
            | "args"
            | "command"
            | "env"
            | "envFrom"
            | "image"
            | "imagePullPolicy"
            | "lifecycle"
            | "livenessProbe"
            | "ports"
            | "readinessProbe"
            | "resizePolicy"
            | "restartPolicy"
            | "restartPolicyRules"
            | "securityContext"
            | "startupProbe"
            | "stdin"
            | "stdinOnce"
            | "terminationMessagePath"
            | "terminationMessagePolicy"
            | "tty"
            | "volumeDevices"
            | "volumeMounts"
            | "workingDir",
            unknown
        >
    > {
    /**
     * Its name.
     */
    name?: string;
    /**
     * What it asks for and may use.
     */
    resources?: ResourceRequirements;
}

/**
 * `v1.ResourceRequirements`.
 */
export interface ResourceRequirements extends Partial<Record<"claims", unknown>> {
    /**
     * What is asked for: `{ memory: "100Mi" }`.
     */
    requests?: Record<string, Quantity>;
    /**
     * What may be used.
     */
    limits?: Record<string, Quantity>;
}

/**
 * The other fields of a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or PodDisruptionBudget:
 * kept, not read.
 */
export type WorkloadFields = Partial<Record<"status", unknown>>;

/**
 * The other fields of the `spec` of a Deployment, ReplicaSet, StatefulSet, DaemonSet or Job.
 */
export type WorkloadSpecFields = Partial<
    Record<
        | "activeDeadlineSeconds"
        | "backoffLimit"
        | "backoffLimitPerIndex"
        | "completionMode"
        | "completions"
        | "managedBy"
        | "manualSelector"
        | "maxFailedIndexes"
        | "minReadySeconds"
        | "ordinals"
        | "parallelism"
        | "paused"
        | "persistentVolumeClaimRetentionPolicy"
        | "podFailurePolicy"
        | "podManagementPolicy"
        | "podReplacementPolicy"
        | "progressDeadlineSeconds"
        | "revisionHistoryLimit"
        | "serviceName"
        | "strategy"
        | "successPolicy"
        | "suspend"
        | "ttlSecondsAfterFinished"
        | "updateStrategy"
        | "volumeClaimTemplates",
        unknown
    >
>;

/**
 * `v1.PodSpec` as JavaScript gives it.
 */
export interface PodSpecInput<Effect extends string = TaintEffect>
    extends Omit<PodSpec, "tolerations"> {
    /**
     * The tolerations; their order matters: the first that tolerates a taint is the one used.
     */
    tolerations?: readonly TolerationInput<Effect>[];
}

/**
 * `v1.PodStatus` as JavaScript gives it.
 */
export interface PodStatusInput extends Omit<PodStatus, "conditions" | "phase"> {
    /**
     * Ready, DisruptionTarget and so on.
     */
    conditions?: readonly ConditionInput[];
    /**
     * Where the pod is in its life.
     */
    phase?: PodPhase | (string & {});
}

/**
 * `v1.PodTemplateSpec` as JavaScript gives it.
 */
export interface PodTemplateInput {
    /**
     * Labels and annotations of the pods.
     */
    metadata?: ObjectMetaInput;
    /**
     * What is asked for.
     */
    spec?: PodSpecInput<string>;
}

/**
 * The `spec` of a Deployment, ReplicaSet, StatefulSet, DaemonSet or Job as JavaScript gives it.
 */
export interface WorkloadSpecInput extends Omit<WorkloadSpec, "template"> {
    /**
     * What its pods are like.
     */
    template?: PodTemplateInput;
}

/**
 * The `spec` of a CronJob as JavaScript gives it.
 */
export interface CronJobSpecInput
    extends Partial<
        Record<
            | "concurrencyPolicy"
            | "failedJobsHistoryLimit"
            | "schedule"
            | "startingDeadlineSeconds"
            | "successfulJobsHistoryLimit"
            | "suspend"
            | "timeZone",
            unknown
        >
    > {
    /**
     * What its Jobs are like.
     */
    jobTemplate?: JobTemplateInput;
}

/**
 * `v1.JobTemplateSpec` as JavaScript gives it.
 */
export interface JobTemplateInput {
    /**
     * Labels and annotations of the Jobs.
     */
    metadata?: ObjectMetaInput;
    /**
     * What is asked for.
     */
    spec?: WorkloadSpecInput;
}

/**
 * What `EventKind` was called before.
 * @deprecated
 */
export type Happening = EventKind;

/**
 * What `EvictionDecision` was called before.
 * @deprecated
 */
export type Ruling = EvictionDecision;

/**
 * What `UnreachableCause` was called before.
 * @deprecated
 */
export type SilenceCause = UnreachableCause;

/**
 * What `DequeueOutcome` was called before.
 * @deprecated
 */
export type Turn = DequeueOutcome;
