//! Pods, stats and nodes for tests of the kubelet's eviction manager, and a driver that plays the
//! rest of the kubelet.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use taintlab_core::api::{Pod, PodKey};
use taintlab_core::kubelet::{
    ActionResult, ContainerStats, EvictionConfig, EvictionManager, EvictionManagerAction,
    EvictionManagerReport, Forecast, FsStats, KubeletConfiguration, KubeletPod, KubeletVersion,
    Layout, MemoryStats, NodeStats, PodStats, PodStatusPatch, Reclaim, RequestId, RlimitStats,
    Summary, VolumeStats,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Timestamp;

/// The kubelet of `1.minor`.
///
/// # Panics
/// If the engine does not know that release.
#[must_use]
pub fn version(minor: u8) -> KubeletVersion {
    KubernetesRelease::new(minor).expect("a known release").into()
}

/// A pod with what is measured of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PodCase {
    /// The name, and the UID.
    pub name: String,
    /// `spec.priority`.
    pub priority: Option<i32>,
    /// Whether it comes from the node itself.
    pub r#static: bool,
    /// Whether it is the copy of one that does.
    pub mirror: bool,
    /// Its containers.
    pub containers: Vec<ContainerCase>,
    /// Its init containers.
    pub init_containers: Vec<ContainerCase>,
    /// Its volumes.
    pub volumes: Vec<VolumeCase>,
    /// `spec.overhead.memory`.
    pub overhead_memory: Option<String>,
    /// Whether anything is measured of it.
    pub has_stats: bool,
    /// Its working set.
    pub pod_memory_working_set: Option<u64>,
    /// How many processes it has.
    pub process_count: Option<u64>,
    /// `spec.terminationGracePeriodSeconds`.
    pub termination_grace_period_seconds: Option<i64>,
    /// Local storage that it uses, in bytes.
    pub ephemeral_storage_used: Option<u64>,
    /// `spec.resources.requests.memory`.
    pub pod_memory_request: Option<String>,
}

impl PodCase {
    /// A pod with one container, of which only memory is measured.
    #[must_use]
    pub fn of_memory(name: &str, priority: i32, request: Option<&str>, usage: u64) -> Self {
        Self {
            name: name.into(),
            priority: Some(priority),
            containers: vec![ContainerCase {
                name: "c1".into(),
                memory_request: request.map(Into::into),
                memory_working_set: Some(usage),
                ..ContainerCase::default()
            }],
            has_stats: true,
            pod_memory_working_set: Some(usage),
            ..Self::default()
        }
    }
}

/// A container with what is measured of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContainerCase {
    /// Its name.
    pub name: String,
    /// `restartPolicy: Always` of an init container.
    pub restartable: bool,
    /// `resources.requests.cpu`.
    pub cpu_request: Option<String>,
    /// `resources.requests.memory`.
    pub memory_request: Option<String>,
    /// `resources.limits.memory`.
    pub memory_limit: Option<String>,
    /// `resources.requests.ephemeral-storage`.
    pub ephemeral_request: Option<String>,
    /// `resources.limits.ephemeral-storage`.
    pub ephemeral_limit: Option<String>,
    /// Its working set.
    pub memory_working_set: Option<u64>,
    /// Space of its writable layer.
    pub rootfs_used: Option<u64>,
    /// Inodes of its writable layer.
    pub rootfs_inodes_used: Option<u64>,
    /// Space of its logs.
    pub logs_used: Option<u64>,
    /// Inodes of its logs.
    pub logs_inodes_used: Option<u64>,
}

/// A volume with what is measured of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VolumeCase {
    /// Its name.
    pub name: String,
    /// Its kind; `emptyDirMemory` for one in memory.
    pub r#type: String,
    /// `sizeLimit` of an `emptyDir`.
    pub size_limit: Option<String>,
    /// Space.
    pub used: Option<u64>,
    /// Inodes.
    pub inodes_used: Option<u64>,
}

fn list(pairs: &[(&str, &Option<String>)]) -> Value {
    let some = pairs.iter().filter_map(|(name, value)| {
        let value = Option::clone(value)?;
        Some(((*name).to_owned(), Value::String(value)))
    });
    Value::Object(some.collect::<Map<String, Value>>())
}

impl ContainerCase {
    fn spec(&self) -> Value {
        json!({
            "name": self.name,
            "restartPolicy": self.restartable.then_some("Always"),
            "resources": {
                "requests": list(&[
                    ("cpu", &self.cpu_request),
                    ("memory", &self.memory_request),
                    ("ephemeral-storage", &self.ephemeral_request),
                ]),
                "limits": list(&[
                    ("memory", &self.memory_limit),
                    ("ephemeral-storage", &self.ephemeral_limit),
                ]),
            }
        })
    }

    fn stats(&self, time: Option<Timestamp>) -> ContainerStats {
        let fs = |used_bytes: Option<u64>, inodes_used: Option<u64>| {
            let known = used_bytes.is_some() || inodes_used.is_some();
            known.then_some(FsStats { time, used_bytes, inodes_used, ..FsStats::default() })
        };
        ContainerStats {
            name: self.name.clone(),
            memory: self.memory_working_set.map(|bytes| working_set(bytes, time)),
            rootfs: fs(self.rootfs_used, self.rootfs_inodes_used),
            logs: fs(self.logs_used, self.logs_inodes_used),
        }
    }
}

fn working_set(bytes: u64, time: Option<Timestamp>) -> MemoryStats {
    MemoryStats { time, working_set_bytes: Some(bytes), ..MemoryStats::default() }
}

impl PodCase {
    /// Its key, in the namespace `default`.
    #[must_use]
    pub fn key(&self) -> PodKey {
        PodKey::new("default", &self.name)
    }

    /// The object, as an API server would give it.
    ///
    /// # Panics
    /// If it is no pod, which cannot be.
    #[must_use]
    pub fn pod(&self) -> Pod {
        let mut annotations = BTreeMap::new();
        if self.r#static {
            annotations.insert("kubernetes.io/config.source", "file");
        }
        if self.mirror {
            annotations.insert("kubernetes.io/config.mirror", "x");
        }
        let volume = |volume: &VolumeCase| {
            let mut source = json!({});
            let kind = volume.r#type.strip_suffix("Memory").unwrap_or(&volume.r#type);
            if kind != volume.r#type {
                source["medium"] = "Memory".into();
            }
            if let Some(limit) = &volume.size_limit {
                source["sizeLimit"] = limit.as_str().into();
            }
            json!({ "name": volume.name, kind: source })
        };
        let containers = |list: &[ContainerCase]| -> Vec<Value> {
            list.iter().map(ContainerCase::spec).collect()
        };
        let pod = json!({
            "metadata": {
                "name": self.name,
                "namespace": "default",
                "uid": self.name,
                "annotations": annotations,
            },
            "spec": {
                "priority": self.priority,
                "containers": containers(&self.containers),
                "initContainers": containers(&self.init_containers),
                "volumes": self.volumes.iter().map(volume).collect::<Vec<_>>(),
                "overhead": list(&[("memory", &self.overhead_memory)]),
                "resources": self.pod_memory_request.as_ref().map(|memory| {
                    json!({ "requests": { "memory": memory } })
                }),
                "terminationGracePeriodSeconds": self.termination_grace_period_seconds,
            }
        });
        serde_json::from_value(pod).expect("a pod")
    }

    /// What the kubelet reads of it.
    ///
    /// # Errors
    /// Names what cannot be read.
    pub fn kubelet_pod(&self, version: KubeletVersion) -> Result<KubeletPod, String> {
        KubeletPod::as_stored(version, &self.pod()).map_err(|error| error.to_string())
    }

    /// What is measured of it.
    #[must_use]
    pub fn stats(&self, time: Option<Timestamp>) -> Option<PodStats> {
        let volume = |volume: &VolumeCase| VolumeStats {
            name: volume.name.clone(),
            fs: FsStats {
                time,
                used_bytes: volume.used,
                inodes_used: volume.inodes_used,
                ..FsStats::default()
            },
        };
        self.has_stats.then(|| PodStats {
            pod: self.key(),
            uid: self.name.clone(),
            containers: {
                let sidecars = self.init_containers.iter().filter(|of| of.restartable);
                self.containers.iter().chain(sidecars).map(|of| of.stats(time)).collect()
            },
            memory: self.pod_memory_working_set.map(|bytes| working_set(bytes, time)),
            volumes: self.volumes.iter().map(volume).collect(),
            ephemeral_storage: self.ephemeral_storage_used.map(|bytes| FsStats {
                time,
                used_bytes: Some(bytes),
                ..FsStats::default()
            }),
            process_count: self.process_count,
        })
    }
}

/// What is measured of a node.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the names are those of the stats")]
pub struct NodeCase {
    pub stats_time: Option<u64>,
    pub memory_available: Option<u64>,
    pub memory_working_set: Option<u64>,
    pub allocatable_available: Option<u64>,
    pub allocatable_working_set: Option<u64>,
    pub nodefs_available: Option<u64>,
    pub nodefs_capacity: Option<u64>,
    pub nodefs_inodes_free: Option<u64>,
    pub nodefs_inodes: Option<u64>,
    pub imagefs_available: Option<u64>,
    pub imagefs_capacity: Option<u64>,
    pub imagefs_inodes_free: Option<u64>,
    pub imagefs_inodes: Option<u64>,
    pub containerfs_available: Option<u64>,
    pub containerfs_capacity: Option<u64>,
    pub containerfs_inodes_free: Option<u64>,
    pub containerfs_inodes: Option<u64>,
    pub max_pid: Option<i64>,
    pub num_processes: Option<i64>,
}

impl NodeCase {
    /// The stats of the node and of these pods.
    #[must_use]
    pub fn summary(&self, pods: &[PodCase]) -> Summary {
        let time = self.stats_time.map(Timestamp::from_secs);
        let memory = |available_bytes: Option<u64>, working_set_bytes: Option<u64>| {
            let usage_bytes = working_set_bytes;
            Some(MemoryStats { time, available_bytes, usage_bytes, working_set_bytes })
        };
        let fs = |available_bytes, capacity_bytes, inodes_free, inodes| {
            Some(FsStats {
                time,
                available_bytes,
                capacity_bytes,
                inodes_free,
                inodes,
                ..FsStats::default()
            })
        };
        let node = NodeStats {
            memory: memory(self.memory_available, self.memory_working_set),
            pods_memory: memory(self.allocatable_available, self.allocatable_working_set),
            fs: fs(
                self.nodefs_available,
                self.nodefs_capacity,
                self.nodefs_inodes_free,
                self.nodefs_inodes,
            ),
            image_fs: fs(
                self.imagefs_available,
                self.imagefs_capacity,
                self.imagefs_inodes_free,
                self.imagefs_inodes,
            ),
            container_fs: self.containerfs_capacity.and_then(|_| {
                fs(
                    self.containerfs_available,
                    self.containerfs_capacity,
                    self.containerfs_inodes_free,
                    self.containerfs_inodes,
                )
            }),
            rlimit: Some(RlimitStats {
                time,
                max_pid: self.max_pid,
                running_processes: self.num_processes,
            }),
        };
        Summary { node, pods: pods.iter().filter_map(|pod| pod.stats(time)).collect() }
    }
}

/// A kubelet with its node and pods, for passes at moments of one's choice.
pub struct Node {
    /// Its manager.
    pub manager: EvictionManager,
    /// Its pods.
    pub pods: Vec<PodCase>,
    /// Whether evicted pods leave.
    pub leaves: bool,
}

impl Node {
    /// A node whose kubelet has these flags besides `--enforce-node-allocatable=none`.
    ///
    /// # Panics
    /// If the kubelet would not start.
    #[must_use]
    pub fn new(version: KubeletVersion, flags: &[(&str, &str)], pods: Vec<PodCase>) -> Self {
        Self::with_layout(version, Layout::OneFilesystem, flags, pods)
    }

    /// The same with another place for images.
    ///
    /// # Panics
    /// If the kubelet would not start.
    #[must_use]
    pub fn with_layout(
        version: KubeletVersion,
        layout: Layout,
        flags: &[(&str, &str)],
        pods: Vec<PodCase>,
    ) -> Self {
        let mut settings = KubeletConfiguration::default();
        for (name, value) in [("enforce-node-allocatable", "none")].iter().chain(flags) {
            settings.set_flag(version, name, value).expect("a flag");
        }
        let config = settings.eviction_config(version).expect("a kubelet that starts");
        Self::with_config(version, layout, config, pods)
    }

    /// The same with a configuration.
    ///
    /// # Panics
    /// If a pod cannot be read.
    #[must_use]
    pub fn with_config(
        version: KubeletVersion,
        layout: Layout,
        config: EvictionConfig,
        pods: Vec<PodCase>,
    ) -> Self {
        let now = Timestamp::ZERO;
        let mut manager = EvictionManager::new(version, config, "node".into(), layout, now);
        for pod in &pods {
            let kubelet_pod = Arc::new(pod.kubelet_pod(version).expect("a pod"));
            manager.handle_pod_update(now, &pod.key(), Some(kubelet_pod));
        }
        Self { manager, pods, leaves: true }
    }

    /// A pass at a moment, in seconds, with these stats; every kill succeeds.
    pub fn pass(&mut self, seconds: u64, node: NodeCase) -> Seen {
        self.pass_with(seconds, node, node, &mut |_| Some(ActionResult::Done))
    }

    /// The same with other stats after something was deleted, and other results of kills.
    pub fn pass_with(
        &mut self,
        seconds: u64,
        node: NodeCase,
        after_gc: NodeCase,
        kill: &mut dyn FnMut(&PodKey) -> Option<ActionResult>,
    ) -> Seen {
        let now = Timestamp::from_secs(seconds);
        self.manager.handle_memory_notification(now);
        let pods = self.pods.clone();
        let mut stats = |seen: &Seen| {
            let node = if seen.reclaimed.is_empty() { node } else { after_gc };
            let stats_time = node.stats_time.or(Some(seconds));
            Some(NodeCase { stats_time, ..node }.summary(&pods))
        };
        let (seen, _) = drain(&mut self.manager, now, &mut stats, kill);
        if self.leaves {
            for name in &seen.evicted {
                self.remove(seconds, name);
            }
        }
        seen
    }

    /// A pod is gone.
    pub fn remove(&mut self, seconds: u64, name: &str) {
        let now = Timestamp::from_secs(seconds);
        self.manager.handle_pod_update(now, &PodKey::new("default", name), None);
        self.pods.retain(|pod| pod.name != name);
    }

    /// What the node is under.
    #[must_use]
    pub fn conditions(&self) -> Vec<&'static str> {
        self.manager.node_conditions().iter().map(|pressure| pressure.name()).collect()
    }
}

/// A kill that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillSeen {
    /// Who.
    pub pod: String,
    /// After how many seconds.
    pub grace_period_override: i64,
    /// The status it got.
    pub patch: PodStatusPatch,
}

/// What a manager did, as a driver saw it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Events, `object|type|reason|message`.
    pub events: Vec<String>,
    /// The annotations of the last event that had some.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Kills, in order.
    pub kills: Vec<KillSeen>,
    /// Who was evicted, by what the manager says.
    pub evicted: Vec<String>,
    /// Statuses of pods, in order.
    pub patches: Vec<(PodKey, PodStatusPatch)>,
    /// What was deleted.
    pub reclaimed: Vec<Reclaim>,
    /// Reports.
    pub reports: Vec<EvictionManagerReport>,
}

/// Carries out all that a manager wants, with these answers.
pub fn drain(
    manager: &mut EvictionManager,
    now: Timestamp,
    stats: &mut dyn FnMut(&Seen) -> Option<Summary>,
    kill: &mut dyn FnMut(&PodKey) -> Option<ActionResult>,
) -> (Seen, Option<RequestId>) {
    let mut seen = Seen::default();
    let mut unanswered = None;
    while let Some(action) = manager.poll_action() {
        match action {
            EvictionManagerAction::CollectStats { id } => {
                let summary = stats(&seen).map(Arc::new);
                manager.handle_stats(now, id, summary, Forecast::unknown(now));
            }
            EvictionManagerAction::Reclaim { id, what } => {
                seen.reclaimed.push(what);
                manager.handle_action_result(now, id, ActionResult::Done);
            }
            EvictionManagerAction::RecordEvent { event, annotations } => {
                let object = match &event.involved_object {
                    taintlab_core::event::ObjectReference::Node { node } => format!("node/{node}"),
                    taintlab_core::event::ObjectReference::Pod { pod, .. } => {
                        format!("pod/{}", pod.name())
                    }
                    taintlab_core::event::ObjectReference::Budget { budget } => budget.to_string(),
                    taintlab_core::event::ObjectReference::Workload { workload } => {
                        workload.to_string()
                    }
                };
                seen.events
                    .push(format!("{object}|{}|{}|{}", event.type_, event.reason, event.message));
                if !annotations.is_empty() {
                    seen.annotations = Some(annotations);
                }
            }
            EvictionManagerAction::PatchPodStatus { pod, patch } => {
                seen.patches.push((pod, patch));
            }
            EvictionManagerAction::KillPod { id, pod, grace_period_override, .. } => {
                seen.kills.push(KillSeen {
                    pod: pod.name().to_owned(),
                    grace_period_override,
                    patch: status_of(&seen, &pod),
                });
                match kill(&pod) {
                    Some(result) => manager.handle_action_result(now, id, result),
                    None => unanswered = Some(id),
                }
            }
            EvictionManagerAction::Report(report) => {
                if let EvictionManagerReport::Evicted { pods } = &report {
                    seen.evicted.extend(pods.iter().map(|pod| pod.name().to_owned()));
                }
                seen.reports.push(report);
            }
        }
    }
    (seen, unanswered)
}

/// The last status that a pod got.
fn status_of(seen: &Seen, pod: &PodKey) -> PodStatusPatch {
    let patch = seen.patches.iter().rev().find(|(key, _)| key == pod);
    patch.expect("the status is set before the kill").1.clone()
}
