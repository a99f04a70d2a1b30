//! What `kubectl get pods` shows of a pod. Mirrors `printPod`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{Fields, Pod, PodPhase};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Time;

/// What the columns READY, STATUS and RESTARTS say of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodColumns {
    /// How many containers are ready.
    pub ready: usize,
    /// How many containers there are, with sidecars.
    pub containers: usize,
    /// The column STATUS: `Running`, `CrashLoopBackOff`, `Init:0/1`, `Terminating`.
    pub status: String,
    /// How often its containers were restarted.
    pub restarts: i64,
    /// When the last one was that ended.
    pub last_restart: Option<Time>,
}

impl PodColumns {
    /// The columns of a pod as the API server shows it, such as [`pod_as_served`] gives it.
    ///
    /// [`pod_as_served`]: super::pod_status::pod_as_served
    #[must_use]
    pub fn of(release: KubernetesRelease, pod: &Pod) -> Self {
        let mut columns = Self {
            ready: 0,
            containers: list(&pod.spec.other, "containers").len(),
            status: pod.status.phase.as_str().to_owned(),
            restarts: 0,
            last_restart: None,
        };
        if !pod.status.reason.is_empty() {
            columns.status.clone_from(&pod.status.reason);
        }
        let gated = pod.condition("PodScheduled");
        if gated.is_some_and(|condition| condition.reason == "SchedulingGated") {
            "SchedulingGated".clone_into(&mut columns.status);
        }
        let is_initialized = release.shows_containers_of_initialized_pods()
            && pod.condition("Initialized").is_some_and(|known| known.status.as_str() == "True");
        let (initializing, of_sidecars) = columns.initializing(pod);
        if !initializing || is_initialized {
            (columns.restarts, columns.last_restart) = of_sidecars;
            columns.running(pod, release);
        }
        let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
        if pod.is_terminating() && pod.status.reason == "NodeLost" {
            "Unknown".clone_into(&mut columns.status);
        } else if pod.is_terminating()
            && !(ended && release.shows_phase_of_deleted_pods_that_ended())
        {
            "Terminating".clone_into(&mut columns.status);
        }
        columns
    }

    fn restarted(&mut self, status: &Value) {
        self.restarts += number(status, "/restartCount").unwrap_or(0);
        let ended = ended_at(status);
        self.last_restart = self.last_restart.max(ended);
    }

    /// Sets the status of unfinished init containers. Returns whether one is unfinished, and the
    /// restarts of the sidecars before it with the time of the last.
    fn initializing(&mut self, pod: &Pod) -> (bool, (i64, Option<Time>)) {
        let containers = list(&pod.spec.other, "initContainers");
        let is_sidecar = |name: &str| {
            let mut found = containers.iter().filter(|container| text(container, "/name") == name);
            found.any(|container| text(container, "/restartPolicy") == "Always")
        };
        let sidecars = containers.iter().filter(|c| is_sidecar(text(c, "/name"))).count();
        self.containers += sidecars;
        let mut sidecar_restarts = (0, None);
        for (index, status) in list(&pod.status.other, "initContainerStatuses").iter().enumerate() {
            self.restarted(status);
            let sidecar = is_sidecar(text(status, "/name"));
            if sidecar {
                sidecar_restarts.0 += number(status, "/restartCount").unwrap_or(0);
                let ended = ended_at(status);
                sidecar_restarts.1 = sidecar_restarts.1.max(ended);
            }
            let is = |field: &str| status.get(field).and_then(Value::as_bool) == Some(true);
            if number(status, "/state/terminated/exitCode") == Some(0) {
                continue;
            }
            if sidecar && is("started") {
                self.ready += usize::from(is("ready"));
                continue;
            }
            let waiting = text(status, "/state/waiting/reason");
            self.status = if status.pointer("/state/terminated").is_some() {
                format!("Init:{}", terminated(status))
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{}", containers.len())
            };
            return (true, sidecar_restarts);
        }
        (false, sidecar_restarts)
    }

    fn running(&mut self, pod: &Pod, release: KubernetesRelease) {
        let mut has_running = false;
        let mut failure = None;
        for status in list(&pod.status.other, "containerStatuses").iter().rev() {
            self.restarted(status);
            let waiting = text(status, "/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.status);
            } else if status.pointer("/state/terminated").is_some() {
                self.status = terminated(status);
                if number(status, "/state/terminated/exitCode") != Some(0) {
                    failure = Some(self.status.clone());
                }
            } else if status.get("ready").and_then(Value::as_bool) == Some(true)
                && status.pointer("/state/running").is_some()
            {
                has_running = true;
                self.ready += 1;
            }
        }
        // One container has ended, but others run.
        if self.status == "Completed" && has_running {
            let ready = pod.condition("Ready").is_some_and(|c| c.status.as_str() == "True");
            (if ready { "Running" } else { "NotReady" }).clone_into(&mut self.status);
        } else if self.status == "Completed"
            && let Some(failure) = failure.filter(|_| release.shows_failure_before_completion())
        {
            self.status = failure;
        }
    }
}

/// How a container ended.
fn terminated(status: &Value) -> String {
    let reason = text(status, "/state/terminated/reason");
    let number = |field: &str| number(status, &format!("/state/terminated/{field}")).unwrap_or(0);
    match (reason, number("signal")) {
        ("", 0) => format!("ExitCode:{}", number("exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// The containers of a pod, or their statuses.
fn list<'p>(fields: &'p Fields, name: &str) -> &'p [Value] {
    fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

fn ended_at(status: &Value) -> Option<Time> {
    Time::parse(text(status, "/lastState/terminated/finishedAt")).ok()
}
