/**
 * An effect of taints. A text that the compiler knows must be one of Kubernetes' effects; of what
 * is a `string`, as in the objects of `@kubernetes/client-node`, nothing more is asked.
 */
export type EffectText<Given extends string> = Given &
    (string extends Given ? string : TaintEffect);

/**
 * The other fields of an object whose fields are all known here: none.
 */
export type NoOtherFields = Partial<Record<never, unknown>>;

/**
 * The other fields of `metav1.ObjectMeta`: kept, not read.
 */
export type ObjectMetaFields = Partial<
    Record<
        | "finalizers" | "generateName" | "generation" | "managedFields"
        | "resourceVersion" | "selfLink",
        unknown
    >
>;

/**
 * The other fields of `metav1.OwnerReference`: kept, not read.
 */
export type OwnerReferenceFields = Partial<Record<"blockOwnerDeletion", unknown>>;

/**
 * The other fields of `v1.NodeSpec`: kept, not read.
 */
export type NodeSpecFields = Partial<
    Record<"configSource" | "externalID" | "podCIDR" | "podCIDRs" | "providerID", unknown>
>;

/**
 * The other fields of `v1.NodeStatus`.
 */
export interface NodeStatusFields
    extends Partial<
        Record<
            | "addresses"
            | "config"
            | "daemonEndpoints"
            | "declaredFeatures"
            | "features"
            | "images"
            | "nodeInfo"
            | "phase"
            | "runtimeHandlers"
            | "volumesAttached"
            | "volumesInUse",
            unknown
        >
    > {
    /**
     * What the node has.
     */
    capacity?: Record<string, Quantity>;
    /**
     * What pods may ask for; as `capacity` unless given.
     */
    allocatable?: Record<string, Quantity>;
}

/**
 * Metadata as JavaScript gives it: times are texts or dates.
 */
export interface ObjectMetaInput
  extends Omit<ObjectMeta, "creationTimestamp" | "deletionTimestamp"> {
    /**
     * When the API server stored the object first.
     */
    creationTimestamp?: Time | Date;
    /**
     * When the object will be gone at the latest.
     */
    deletionTimestamp?: Time | Date;
}

/**
 * A condition of a node or a pod as JavaScript gives it: times are texts or dates.
 */
export interface ConditionInput
    extends Partial<
        Record<"lastHeartbeatTime" | "lastProbeTime" | "lastTransitionTime", Time | Date>
    > {
    /**
     * The type, for example `Ready`.
     */
    type?: string;
    /**
     * Whether it holds.
     */
    status?: ConditionStatus | (string & {});
    /**
     * Why, in one word.
     */
    reason?: string;
    /**
     * Why, in a sentence.
     */
    message?: string;
    /**
     * The `metadata.generation` this condition was set for.
     */
    observedGeneration?: number;
}

/**
 * `v1.NodeSpec` as JavaScript gives it.
 */
export interface NodeSpecInput<Effect extends string = TaintEffect>
    extends Omit<NodeSpec, "taints"> {
    /**
     * The taints; their order matters.
     */
    taints?: readonly TaintInput<Effect>[];
}

/**
 * `v1.NodeStatus` as JavaScript gives it.
 */
export interface NodeStatusInput extends Omit<NodeStatus, "conditions"> {
    /**
     * Ready, MemoryPressure, DiskPressure, PIDPressure and so on.
     */
    conditions?: readonly ConditionInput[];
}
