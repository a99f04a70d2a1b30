//! How what `kubectl` prints differs between releases, read from the tags of `kubernetes/kubectl`
//! unless something else is said.

use super::KubernetesRelease;

impl KubernetesRelease {
    /// Whether `kubectl drain` says before it aborts that it will go on in the next release: in
    /// 1.22 alone.
    #[must_use]
    pub const fn drain_warns_before_it_aborts(self) -> bool {
        self.minor == 22
    }

    /// Whether `kubectl --dry-run=server` asks for the definitions of custom resources as
    /// `v1beta1`, of which the API server warns: in 1.19 to 1.21.
    #[must_use]
    pub const fn dry_run_warns_of_old_definitions(self) -> bool {
        matches!(self.minor, 19..=21)
    }

    /// What `kubectl describe pvc` calls the pods that use a claim: `Mounted By` to 1.19, `Used By`
    /// since (kubernetes/kubernetes#95635).
    #[must_use]
    pub const fn describe_claim_title_of_pods(self) -> &'static str {
        if self.minor >= 20 { "Used By" } else { "Mounted By" }
    }

    /// Whether `kubectl drain` has the flag `--ignore-errors`: in 1.21 and 1.22.
    #[must_use]
    pub const fn drain_has_ignore_errors(self) -> bool {
        matches!(self.minor, 21 | 22)
    }
}

changes! {
    kustomize_version = 24:
        "`kubectl version` prints the version of Kustomize that is part of it: v4.5.4.";
    kustomize_version = 25: "`kubectl version` prints the version v4.5.7 of Kustomize.";
    kustomize_version = 27: "`kubectl version` prints the version v5.0.1 of Kustomize.";
    kustomize_version = 28:
        "`kubectl version` prints a version of Kustomize between two releases, which begins with \
         v5.0.4.";
    kustomize_version = 31: "`kubectl version` prints the version v5.4.2 of Kustomize.";
    kustomize_version = 32: "`kubectl version` prints the version v5.5.0 of Kustomize.";
    kustomize_version = 33: "`kubectl version` prints the version v5.6.0 of Kustomize.";
    kustomize_version = 34: "`kubectl version` prints the version v5.7.1 of Kustomize.";
    kustomize_version = 36: "`kubectl version` prints the version v5.8.1 of Kustomize.";
    dry_run_warns_of_old_definitions = 19:
        "`kubectl drain --dry-run=server` prints a warning about the version of custom resource \
         definitions.";
    dry_run_warns_of_old_definitions = 22, believed:
        "`kubectl drain --dry-run=server` prints no warning about the version of custom resource \
         definitions.";
    drain_local_storage_error = 20:
        "`kubectl drain` names the flag `--delete-emptydir-data`, no longer \
         `--delete-local-data`.";
    describe_claim_title_of_pods = 20:
        "`kubectl describe pvc` says `Used By`, no longer `Mounted By` \
         (kubernetes/kubernetes#95635).";
    drain_has_ignore_errors = 21: "`kubectl drain` has the flag `--ignore-errors`.";
    drain_warns_before_it_aborts = 22:
        "`kubectl drain` says before it aborts that it will go on in the next release.";
    drain_has_ignore_errors = 23: "`kubectl drain` has no flag `--ignore-errors`.";
    drain_warns_before_it_aborts = 23:
        "`kubectl drain` no longer says before it aborts that it will go on in the next \
         release.";
    drain_unmanaged_error = 24:
        "`kubectl drain` says of pods without a controller that they `declare no controller`.";
    drain_unmanaged_warning = 24:
        "`kubectl drain` warns of pods that `declare no controller`.";
    drain_warning_word = 25:
        "What `kubectl drain` warns of begins with `Warning`, no longer `WARNING`.";
    drain_unmanaged_error = 30:
        "`kubectl drain` says `cannot delete Pods that declare no controller`.";
    drain_unmanaged_error = 36:
        "`kubectl drain` says `cannot delete` of pods without a controller once, no longer twice.";
}

since! {
    /// Whether `resource.k8s.io/v1` is served, with devices and the claims for them: since 1.34.
    serves_devices = 34;
    /// Whether EndpointSlices are shown here: since 1.22, where their endpoints tell `serving` and
    /// `terminating`.
    shows_endpoint_slices = 22;
    /// Whether `kubectl api-resources` lists `devicetaintrules`: since 1.36, where
    /// `resource.k8s.io/v1beta2` has them. A cluster serves that version only if it is told to.
    serves_device_taint_rules = 36;
    /// Whether `resource.k8s.io/v1` has `DeviceTaintRule`, which every cluster serves: since 1.37.
    has_device_taint_rules_in_v1 = 37;
    /// Whether the tables of volumes and claims have the column `VOLUMEATTRIBUTESCLASS`: since
    /// 1.29, where the API came (kubernetes/kubernetes#121104).
    shows_volume_attributes_class = 29;
    /// Whether the table of priority classes has the column `PREEMPTIONPOLICY`: since 1.32.
    shows_preemption_policy = 32;
    /// Whether `kubectl describe node` says that a lease is missing: since 1.19, before it showed
    /// one without values.
    describe_says_that_lease_is_missing = 19;
    /// Whether `kubectl describe` tells the operator `Exists` of tolerations: since 1.19.
    describe_tells_operator_exists = 19;
    /// Whether `kubectl describe` takes the age of an event that has no `firstTimestamp` from its
    /// `eventTime`: since 1.19.
    describe_reads_event_time = 19;
    /// Whether `kubectl describe` names the reporting controller of an event without a source, and
    /// no host: since 1.20.
    describe_names_reporting_controller = 20;
    /// Whether the last column of the pods in `kubectl describe node` is `Age`: since 1.21, `AGE`
    /// before.
    describe_node_writes_age = 21;
    /// Whether `kubectl describe deployment` says nothing of ReplicaSets where there are none:
    /// since
    /// 1.22.
    describe_leaves_out_absent_replica_sets = 22;
    /// Whether `kubectl describe job` tells the completion mode, which the API server sets since
    /// then: 1.22.
    describe_tells_completion_mode = 22;
    /// Whether `kubectl get pods` tells when a container was last restarted: since 1.22
    /// (kubernetes/kubernetes#100142), where the cell is a text and no number.
    shows_time_of_last_restart = 22;
    /// Whether the table of pods tells how the containers are as soon as the pod has the condition
    /// `Initialized`, whatever its init containers say: since 1.28, which is not certain.
    shows_containers_of_initialized_pods = 28, believed;
    /// Whether the table of pods tells how a container failed if another has completed: since 1.35,
    /// which is not certain.
    shows_failure_before_completion = 35, believed;
    /// Whether `kubectl get nodes -o wide` tells the architecture after the version of the kernel:
    /// since 1.36.
    shows_architecture_of_kernel = 36;
    /// Whether `kubectl describe job` counts `Active` pods, with those that are ready: since 1.23,
    /// `Running` before.
    describe_counts_active_pods = 23;
    /// Whether `kubectl describe` reads `series` of events: since 1.23.
    describe_reads_event_series = 23;
    /// Whether `kubectl` counts init containers when it computes a QoS class: since 1.24.
    qos_of_kubectl_counts_init_containers = 24;
    /// Whether `kubectl describe deployment` lists old ReplicaSets without replicas too: since 1.27.
    describe_lists_empty_replica_sets = 27;
    /// Whether `kubectl describe node` takes the resources of a pod as a whole instead of the sum of
    /// its containers': since 1.36.
    describe_counts_pod_level_resources = 36;
    /// Whether `kubectl describe node` counts the devices of `ResourceSlices` of that node: since
    /// 1.36.
    describe_tells_node_local_slices = 36;
    /// Whether `kubectl describe` keeps the case of names in fields that it knows nothing of, such
    /// as `Pod CIDRs`: since 1.36, `Pod Cid Rs` before.
    describe_keeps_case_of_names = 36;
    /// Whether `kubectl scale -o yaml` prints the new number of replicas: since 1.36. Before, the old
    /// one.
    scale_prints_new_replicas = 36;
    /// Whether `kubectl describe` shows events of a single object alone, unless `--show-events` is
    /// given: since 1.36. Before, those of each object.
    describe_shows_events_of_one_object = 36;
    /// Whether `kubectl label` says `modified` if it has both added labels and removed some, and
    /// `unlabeled` with `--overwrite` too: since 1.36. Before, the length of the object decided.
    kubectl_says_modified_labels = 36;
    /// Whether `kubectl describe` calls the thresholds of a probe `successThreshold` and
    /// `failureThreshold`: since 1.37 (kubernetes#140015), `#success` and `#failure` before.
    describe_names_thresholds_of_probes = 37;
    /// Whether `kubectl describe statefulset` tells the Service, the policy of pod management and that
    /// of keeping claims: since 1.37 (kubernetes#137547).
    describe_tells_policies_of_stateful_set = 37;
    /// Whether errors of `kubectl run` tell which restart policies are valid, and not where its help
    /// is: since 1.37.
    run_tells_restart_policies = 37;
    /// Whether `kubectl get` refuses `--label-columns` with `custom-columns`: since 1.37
    /// (kubernetes#138094). Before, the flag had no effect there.
    get_refuses_labels_of_custom_columns = 37;
    /// Whether `kubectl get storageclasses` marks the default class that counts, the newest, and not
    /// every one: since 1.37 (kubernetes#135964).
    shows_effective_default_class = 37;
    /// Whether `kubectl drain` says `drained` at the end of every node: since 1.23. Before, it says
    /// `evicted` or `deleted` once it has said so of a pod.
    drain_always_says_drained = 23;
    /// Whether an error of an eviction tells the namespace of the pod: since 1.20.
    drain_names_namespace_of_evicted_pod = 20;
    /// Whether `kubectl drain` tells the namespace of a pod for which it has waited in vain: since
    /// 1.27.
    drain_names_namespace_of_awaited_pod = 27;
    /// Whether there is a space after `due to error:`: since 1.31.
    drain_has_space_before_error = 31;
    /// Whether `kubectl drain --dry-run=server` finds out what kind a pod is, and so whether the
    /// API server supports that: since 1.22.
    drain_can_be_tried_on_server = 22;
    /// Whether `kubectl drain` has no flag `--delete-local-data` any longer: since 1.31.
    drain_has_no_delete_local_data = 31;
    /// Whether `kubectl describe node` shows what others than the kubelet recorded about the node:
    /// since 1.24.
    describe_node_shows_events_of_controllers = 24;
    /// Whether `kubectl describe priorityclass` tells the preemption policy: since 1.24.
    describe_tells_preemption_policy = 24;
    /// Whether `kubectl describe pod` tells the service account, the runtime class and the topology
    /// spread constraints: since 1.25.
    describe_tells_service_account = 25;
    /// Whether `kubectl version --short` says that the flag will go: since 1.24.
    version_short_is_deprecated = 24;
    /// Whether `kubectl version` has no flag `--short` any longer: since 1.28.
    version_is_always_short = 28;
    /// Whether `kubectl describe` tells seccomp profiles: since 1.27.
    describe_tells_seccomp_profile = 27;
    /// Whether `kubectl describe pod` computes the QoS class and does not read it from the status:
    /// since 1.29.
    describe_computes_qos_class = 29;
    /// Whether `kubectl describe` tells node selector and tolerations of a pod template: since
    /// 1.30.
    describe_tells_template_tolerations = 30;
    /// Whether `kubectl describe job` tells `Suspend`, `Backoff Limit` and `TTL Seconds After
    /// Finished`: since 1.30.
    describe_tells_backoff_limit = 30;
    /// Whether a pod that is deleted and has ended is shown by its phase: since 1.31, `Terminating`
    /// before (kubernetes/kubernetes#122038).
    shows_phase_of_deleted_pods_that_ended = 31;
    /// Whether `kubectl describe daemonset` tells the namespace: since 1.33.
    describe_tells_namespace_of_daemon_set = 33;
    /// Whether `kubectl describe` says `Optional` of the sources of projected volumes: since 1.33.
    describe_says_optional_of_projected_volume = 33;
    /// Whether `kubectl describe` tells the names of ports: since 1.34.
    describe_tells_names_of_ports = 34;
    /// Whether `kubectl describe` tells which part of an object an event is about: since 1.35.
    describe_tells_field_path_of_events = 35;
    /// Whether `kubectl label` says `unlabeled` of an object that has lost a label: since 1.23.
    kubectl_says_unlabeled = 23;
    /// Whether `kubectl delete` says from which namespace an object was deleted
    /// (kubernetes#126619): since 1.34.
    kubectl_delete_names_namespace = 34;
    /// Whether the warning of `kubectl delete --force` begins with a capital letter: since 1.25.
    kubectl_warns_in_capitals = 25;
    /// Whether `kubectl drain` goes on with the next node after an error: since 1.23, as was said
    /// before by a warning.
    drain_continues_after_errors = 23;
    /// Whether `kubectl taint` names taints that are to be both set and removed as `key=effect`:
    /// since 1.23, as JSON before.
    taint_names_conflicts_as_pairs = 23;
    /// Whether `kubectl get jobs` has a column `STATUS`: since 1.30.
    jobs_have_status_column = 30;
}

impl KubernetesRelease {
    /// The version of Kustomize that `kubectl version` prints, as its `go.mod` requires it: since
    /// 1.24.
    #[must_use]
    pub const fn kustomize_version(self) -> Option<&'static str> {
        Some(match self.minor {
            ..=23 => return None,
            24 => "v4.5.4",
            25 | 26 => "v4.5.7",
            27 => "v5.0.1",
            28..=30 => "v5.0.4-0.20230601165947-6ce0bf390ce3",
            31 => "v5.4.2",
            32 => "v5.5.0",
            33 => "v5.6.0",
            34 | 35 => "v5.7.1",
            _ => "v5.8.1",
        })
    }

    /// What `kubectl drain` says of pods with an emptyDir, whose flag was called
    /// `--delete-local-data` to 1.19.
    #[must_use]
    pub const fn drain_local_storage_error(self) -> &'static str {
        if self.minor >= 20 {
            "Pods with local storage (use --delete-emptydir-data to override)"
        } else {
            "Pods with local storage (use --delete-local-data to override)"
        }
    }

    /// What `kubectl drain` says of pods without a controller: they are *not managed by …* to 1.23,
    /// *declare no controller* since 1.24. In 1.30 to 1.35 the words before it are there twice.
    #[must_use]
    pub const fn drain_unmanaged_error(self) -> &'static str {
        match self.minor {
            ..=23 => {
                "Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or \
                 StatefulSet (use --force to override)"
            }
            24..=29 => "Pods declare no controller (use --force to override)",
            30..=35 => "cannot delete Pods that declare no controller (use --force to override)",
            _ => "Pods that declare no controller (use --force to override)",
        }
    }

    /// The same as a warning.
    #[must_use]
    pub const fn drain_unmanaged_warning(self) -> &'static str {
        if self.minor >= 24 {
            "deleting Pods that declare no controller"
        } else {
            "deleting Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or \
             StatefulSet"
        }
    }

    /// What comes before the warnings of `kubectl drain`: `Warning` since 1.25, `WARNING` before.
    #[must_use]
    pub const fn drain_warning_word(self) -> &'static str {
        if self.minor >= 25 { "Warning" } else { "WARNING" }
    }
}

until! {
    /// Whether `kubectl describe node` has the line `Kube-Proxy Version`: to 1.35.
    describe_tells_kube_proxy_version = 35;
    /// Whether `kubectl drain --dry-run=server --disable-eviction` waits for pods that it did not
    /// delete: to 1.36 (kubernetes#137543).
    drain_waits_for_dry_deletes = 36;
    /// Whether `kubectl drain` names its timeout when it gives up waiting for a pod: to 1.31; since
    /// then it says `context deadline exceeded`.
    drain_wait_names_timeout = 31;
}
