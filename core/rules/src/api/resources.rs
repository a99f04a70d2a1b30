//! Requests and limits of a pod, read from its specification.
//!
//! These fields stay untyped in [`Pod`], among those that are kept as they are: most of the engine
//! does not need them, and a pod stays small.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Pod, PodSpecFields, Quantity};

/// Amounts by resource (`v1.ResourceList`): those that decide about eviction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// `cpu`.
    pub cpu: Option<Quantity>,
    /// `memory`.
    pub memory: Option<Quantity>,
    /// `ephemeral-storage`.
    pub ephemeral_storage: Option<Quantity>,
}

/// A container's name, `resources.requests` and `resources.limits`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerResources {
    /// The name, unique in the pod.
    pub name: String,
    /// What it is promised.
    pub requests: Resources,
    /// What it may use at most.
    pub limits: Resources,
    /// Whether it is an init container that goes on running (`restartPolicy: Always`).
    pub is_sidecar: bool,
}

/// A volume of a pod: its name and where its data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The name, unique in the pod.
    pub name: String,
    /// Where its data is.
    pub source: VolumeSource,
}

/// Where a volume's data is (`v1.VolumeSource`), as far as the kubelet's disk is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// `emptyDir`.
    EmptyDir {
        /// `medium`: empty for the node's disk, `Memory` for a tmpfs.
        medium: String,
        /// `sizeLimit`.
        size_limit: Option<Quantity>,
    },
    /// `hostPath`: a folder of the node.
    HostPath,
    /// `configMap` or `gitRepo`: files that the kubelet writes to the node's disk.
    NodeFiles,
    /// Anything else, which the kubelet does not count as the pod's use of the node's disk.
    Other,
}

impl VolumeSource {
    /// Whether the data is on the node's disk and goes with the pod. Mirrors
    /// `volumeutil.IsLocalEphemeralVolume`.
    #[must_use]
    pub fn is_local_ephemeral(&self) -> bool {
        match self {
            Self::EmptyDir { medium, .. } => medium.is_empty(),
            Self::NodeFiles => true,
            Self::HostPath | Self::Other => false,
        }
    }

    /// Whether the data is on the node's disk. Mirrors `localVolumeNames`.
    #[must_use]
    pub fn is_local(&self) -> bool {
        *self == Self::HostPath || self.is_local_ephemeral()
    }
}

/// The fields of a pod that say what it asks for and may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodResources {
    /// `spec.containers`.
    pub containers: Vec<ContainerResources>,
    /// `spec.initContainers`.
    pub init_containers: Vec<ContainerResources>,
    /// `spec.resources`: what all containers together ask for and may use (1.34 and later).
    pub pod_level: Option<ContainerResources>,
    /// `spec.overhead`: what running the pod costs by itself.
    pub overhead: Resources,
    /// `spec.volumes`.
    pub volumes: Vec<Volume>,
    /// `spec.priority`.
    pub priority: Option<i32>,
    /// `spec.priorityClassName`.
    pub priority_class_name: String,
}

/// How well a pod says what it needs (`v1.PodQOSClass`), least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum QosClass {
    /// It asks for nothing and has no limit.
    BestEffort,
    /// Neither of the others.
    Burstable,
    /// Every container has limits of CPU and memory and asks for as much.
    Guaranteed,
}

/// A field of a pod that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceError {
    /// Where, for example `spec.containers[0].resources.requests.memory`.
    pub field: String,
    /// What is wrong and what would be valid.
    pub message: String,
}

impl fmt::Display for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl core::error::Error for ResourceError {}

impl PodResources {
    /// Reads the fields as they are.
    ///
    /// # Errors
    /// The first field that has another type than it should, or no quantity where one belongs.
    pub fn of(pod: &Pod) -> Result<Self, ResourceError> {
        let at = |name| Field::of_spec(&pod.spec.other, name);
        let containers = |field: Field<'_>| -> Result<Vec<_>, ResourceError> {
            field.items()?.iter().map(container).collect()
        };
        let priority = at("priority");
        let priority = match priority.value {
            None => None,
            Some(value) => {
                let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
                Some(number.ok_or_else(|| priority.wrong("must be a number of 32 bits"))?)
            }
        };
        Ok(Self {
            containers: containers(at("containers"))?,
            init_containers: containers(at("initContainers"))?,
            pod_level: match at("resources") {
                Field { value: None, .. } => None,
                field => Some(with_resources(String::new(), &field)?),
            },
            overhead: resources(&at("overhead"))?,
            volumes: at("volumes").items()?.iter().map(volume).collect::<Result<_, _>>()?,
            priority,
            priority_class_name: at("priorityClassName").text()?,
        })
    }

    /// Does what the API server does with a new pod: a container that has a limit and no request
    /// asks for its limit, quantities are put in canonical form, and the priority classes that
    /// Kubernetes brings have their value. Mirrors `SetDefaults_Pod`, `SetDefaults_ResourceList`
    /// and the admission plugin `Priority`.
    pub fn set_defaults(&mut self) {
        for container in self.containers.iter_mut().chain(&mut self.init_containers) {
            let ContainerResources { requests, limits, .. } = container;
            for (request, limit) in requests.all_mut().into_iter().zip(limits.all_mut()) {
                if request.is_none() {
                    request.clone_from(limit);
                }
                for quantity in [request, limit].into_iter().flatten() {
                    quantity.round_up_to_milli();
                }
            }
        }
        let pod_level =
            self.pod_level.iter_mut().flat_map(|pod| [&mut pod.requests, &mut pod.limits]);
        for list in pod_level.chain([&mut self.overhead]) {
            list.all_mut().into_iter().flatten().for_each(Quantity::round_up_to_milli);
        }
        if self.priority.is_none() {
            self.priority = match self.priority_class_name.as_str() {
                "system-node-critical" => Some(2_000_001_000),
                "system-cluster-critical" => Some(2_000_000_000),
                _ => None,
            };
        }
    }

    /// The QoS class; what is asked for all containers together counts alone. Mirrors
    /// `qos.ComputePodQOS`.
    #[must_use]
    pub fn qos_class(&self) -> QosClass {
        let mut guaranteed = true;
        let mut sums: [(Option<Quantity>, Option<Quantity>); 2] = Default::default();
        let containers = self.containers.iter().chain(&self.init_containers);
        let containers = containers.filter(|_| self.pod_level.is_none());
        for container in containers.chain(&self.pod_level) {
            let ContainerResources { requests, limits, .. } = container;
            let pairs = [(&requests.cpu, &limits.cpu), (&requests.memory, &limits.memory)];
            for ((request_sum, limit_sum), (request, limit)) in sums.iter_mut().zip(pairs) {
                add_positive(request_sum, request.as_ref());
                guaranteed &= add_positive(limit_sum, limit.as_ref());
            }
        }
        if sums.iter().all(|(request, limit)| request.is_none() && limit.is_none()) {
            return QosClass::BestEffort;
        }
        let equal = |(request, limit): &(Option<Quantity>, Option<Quantity>)| match (request, limit)
        {
            (Some(request), Some(limit)) => request.compare(limit) == Ordering::Equal,
            (None, None) => true,
            _ => false,
        };
        if guaranteed && sums.iter().all(equal) {
            QosClass::Guaranteed
        } else {
            QosClass::Burstable
        }
    }
}

/// Adds an amount that is more than zero; whether there was one.
fn add_positive(sum: &mut Option<Quantity>, amount: Option<&Quantity>) -> bool {
    let Some(amount) = amount.filter(|amount| amount.sign() > 0) else { return false };
    sum.get_or_insert_default().add(amount);
    true
}

impl Resources {
    fn all_mut(&mut self) -> [&mut Option<Quantity>; 3] {
        [&mut self.cpu, &mut self.memory, &mut self.ephemeral_storage]
    }
}

/// A place in an object and what is there. Where nothing is, nothing can be wrong, and the path is
/// not kept.
pub(super) struct Field<'a> {
    path: Option<Rc<Path<'a>>>,
    pub(super) value: Option<&'a Value>,
}

/// Where a field is. It is written where something is wrong there, and only then: all that is read
/// of all pods would be much to write.
enum Path<'a> {
    Root(String),
    Spec(&'a str),
    Field(Option<Rc<Self>>, &'a str),
    Item(Option<Rc<Self>>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(path) => f.write_str(path),
            Self::Spec(name) => write!(f, "spec.{name}"),
            Self::Field(parent, name) => {
                parent.as_ref().map_or(Ok(()), |parent| parent.fmt(f))?;
                write!(f, ".{name}")
            }
            Self::Item(parent, index) => {
                parent.as_ref().map_or(Ok(()), |parent| parent.fmt(f))?;
                write!(f, "[{index}]")
            }
        }
    }
}

impl<'a> Field<'a> {
    pub(super) fn new(path: impl fmt::Display, value: Option<&'a Value>) -> Self {
        Self { path: value.map(|_| Rc::new(Path::Root(path.to_string()))), value }
    }

    /// A field of `spec` that is kept as it is.
    pub(super) fn of_spec(spec: &'a PodSpecFields, name: &'a str) -> Self {
        let value = spec.get(name);
        Self { path: value.map(|_| Rc::new(Path::Spec(name))), value }
    }

    pub(super) fn wrong(&self, message: &str) -> ResourceError {
        let field = self.path.as_ref().map(ToString::to_string).unwrap_or_default();
        ResourceError { field, message: message.to_string() }
    }

    pub(super) fn get(&self, name: &'a str) -> Result<Self, ResourceError> {
        let value = match self.value {
            None => None,
            Some(Value::Object(map)) => map.get(name).filter(|value| !value.is_null()),
            Some(_) => return Err(self.wrong("must be an object")),
        };
        Ok(Self { path: value.map(|_| Rc::new(Path::Field(self.path.clone(), name))), value })
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, ResourceError> {
        match self.value {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let item = |(index, value)| {
                    let path = Path::Item(self.path.clone(), index);
                    Self { path: Some(Rc::new(path)), value: Some(value) }
                };
                Ok(items.iter().enumerate().map(item).collect())
            }
            Some(_) => Err(self.wrong("must be a list")),
        }
    }

    pub(super) fn text(&self) -> Result<String, ResourceError> {
        match self.value {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong("must be a string")),
        }
    }

    pub(super) fn quantity(&self) -> Result<Option<Quantity>, ResourceError> {
        let text = match self.value {
            None => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(self.wrong("must be a quantity, for example `100Mi`")),
        };
        let read = Quantity::parse(text.trim());
        read.map(Some).map_err(|error| self.wrong(&format!("`{text}`: {error}")))
    }
}

fn resources(field: &Field<'_>) -> Result<Resources, ResourceError> {
    Ok(Resources {
        cpu: field.get("cpu")?.quantity()?,
        memory: field.get("memory")?.quantity()?,
        ephemeral_storage: field.get("ephemeral-storage")?.quantity()?,
    })
}

fn container(field: &Field<'_>) -> Result<ContainerResources, ResourceError> {
    let resources = with_resources(field.get("name")?.text()?, &field.get("resources")?)?;
    let is_sidecar = field.get("restartPolicy")?.text()? == "Always";
    Ok(ContainerResources { is_sidecar, ..resources })
}

fn with_resources(name: String, field: &Field<'_>) -> Result<ContainerResources, ResourceError> {
    Ok(ContainerResources {
        name,
        requests: resources(&field.get("requests")?)?,
        limits: resources(&field.get("limits")?)?,
        is_sidecar: false,
    })
}

fn volume(field: &Field<'_>) -> Result<Volume, ResourceError> {
    let has = |name| Ok(field.get(name)?.value.is_some());
    let empty_dir = field.get("emptyDir")?;
    let source = if empty_dir.value.is_some() {
        VolumeSource::EmptyDir {
            medium: empty_dir.get("medium")?.text()?,
            size_limit: empty_dir.get("sizeLimit")?.quantity()?,
        }
    } else if has("hostPath")? {
        VolumeSource::HostPath
    } else if has("configMap")? || has("gitRepo")? {
        VolumeSource::NodeFiles
    } else {
        VolumeSource::Other
    };
    Ok(Volume { name: field.get("name")?.text()?, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(spec: &str) -> Result<PodResources, ResourceError> {
        let pod: Pod = serde_json::from_str(&format!("{{\"spec\":{spec}}}")).unwrap();
        PodResources::of(&pod)
    }

    /// The worked example A8.
    #[test]
    fn qos_classes() {
        use QosClass::{BestEffort, Burstable, Guaranteed};
        for (resources, before, defaulted) in [
            ("{}", BestEffort, BestEffort),
            (r#"{"requests":{"cpu":"100m"}}"#, Burstable, Burstable),
            (r#"{"requests":{"cpu":0}}"#, BestEffort, BestEffort),
            (r#"{"requests":{"ephemeral-storage":"1Gi"}}"#, BestEffort, BestEffort),
            (
                r#"{"requests":{"cpu":"100m","memory":"1Gi"},
                    "limits":{"cpu":"0.1","memory":"1024Mi"}}"#,
                Guaranteed,
                Guaranteed,
            ),
            (r#"{"limits":{"cpu":1,"memory":"1Gi"}}"#, Burstable, Guaranteed),
            (r#"{"limits":{"memory":"1Gi"}}"#, Burstable, Burstable),
        ] {
            let spec = format!(r#"{{"containers":[{{"name":"c","resources":{resources}}}]}}"#);
            let mut pod = read(&spec).unwrap();
            assert_eq!(pod.qos_class(), before, "{resources}");
            pod.set_defaults();
            assert_eq!(pod.qos_class(), defaulted, "{resources}");
        }
    }

    #[test]
    fn a_limit_becomes_the_request_in_canonical_form() {
        let mut pod = read(
            r#"{"containers":[{"name":"c","resources":{"limits":{"memory":"1024Mi"}}}],
                "priorityClassName":"system-node-critical"}"#,
        )
        .unwrap();
        assert_eq!(pod.containers[0].requests.memory, None);
        pod.set_defaults();
        let request = pod.containers[0].requests.memory.as_ref().unwrap();
        assert_eq!(request.to_string(), "1Gi");
        assert_eq!(pod.priority, Some(2_000_001_000));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (spec, error) in [
            (r#"{"containers":{}}"#, "spec.containers: must be a list"),
            (r#"{"containers":["c"]}"#, "spec.containers[0]: must be an object"),
            (
                r#"{"initContainers":[{"resources":{"requests":{"memory":"1GB"}}}]}"#,
                "spec.initContainers[0].resources.requests.memory: `1GB`: quantities must match \
                 the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            ),
            (
                r#"{"volumes":[{"name":"v","emptyDir":{"sizeLimit":true}}]}"#,
                "spec.volumes[0].emptyDir.sizeLimit: must be a quantity, for example `100Mi`",
            ),
            (r#"{"priority":"high"}"#, "spec.priority: must be a number of 32 bits"),
        ] {
            assert_eq!(read(spec).unwrap_err().to_string(), error);
        }
        assert_eq!(read("{}").unwrap(), PodResources::default());
        assert_eq!(read(r#"{"containers":null,"volumes":null}"#).unwrap(), PodResources::default());
    }

    #[test]
    fn volumes_are_told_apart() {
        let pod = read(
            r#"{"volumes":[{"name":"a","emptyDir":{}},{"name":"b","emptyDir":{"medium":"Memory"}},
                {"name":"c","hostPath":{"path":"/"}},{"name":"d","configMap":{"name":"x"}},
                {"name":"e","gitRepo":{}},{"name":"f","secret":{}}]}"#,
        )
        .unwrap();
        let ephemeral = [true, false, false, true, true, false];
        let local = [true, false, true, true, true, false];
        assert!(pod.volumes.iter().map(|v| v.source.is_local_ephemeral()).eq(ephemeral));
        assert!(pod.volumes.iter().map(|v| v.source.is_local()).eq(local));
    }
}
