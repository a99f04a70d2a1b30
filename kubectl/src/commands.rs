//! Commands that create an object, or change it into another.

use serde::de::DeserializeOwned;
use serde_json::Value;
use taintlab_core::api::{Node, Pod, WorkloadKind};
use taintlab_core::command::Command;
use taintlab_manifest::typed;

use crate::failure::Failure;
use crate::objects::Object;
use crate::resources::{self, Resource};

/// The command that creates an object.
pub(crate) fn creation(object: &Object) -> Result<Command, Failure> {
    match object {
        Object::Node(node) => Ok(Command::CreateNode(Node::clone(node))),
        Object::Pod(pod) => Ok(Command::CreatePod(Pod::clone(pod))),
        Object::Other(resource, value) if is_workload(resource) => {
            Ok(Command::CreateWorkload(without_status(value)?))
        }
        Object::Other(resource, value) if **resource == resources::BUDGETS => {
            Ok(Command::CreateBudget(without_status(value)?))
        }
        Object::Other(resource, value) if resources::is_of_devices(resource) => {
            Ok(Command::CreateDeviceObject(typed(value).map_err(Failure::plain)?))
        }
        Object::Other(resource, _) => Err(uncreatable(resource)),
    }
}

/// Whether objects of a type can be created.
pub(crate) fn is_creatable(resource: &Resource) -> bool {
    is_workload(resource)
        || resources::is_of_devices(resource)
        || [&resources::NODES, &resources::PODS, &resources::BUDGETS].contains(&resource)
}

/// The refusal to create an object of a type that has no command for it.
pub(crate) fn uncreatable(resource: &Resource) -> Failure {
    let instead = match resource.kind {
        "Namespace" => ": a namespace exists once a pod or workload is in it",
        "PriorityClass" => ": import them with the cluster",
        _ if resources::is_storage(resource) => ": import them with the cluster",
        _ => "",
    };
    Failure::plain(format!("{} cannot be created here{instead}", resource.plural))
}

/// The command that changes an existing object into this one.
pub(crate) fn update(object: &Object) -> Result<Command, Failure> {
    match object {
        Object::Node(node) => Ok(Command::UpdateNode(Node::clone(node))),
        Object::Pod(pod) => Ok(Command::UpdatePod(Pod::clone(pod))),
        Object::Other(resource, value) if is_workload(resource) => {
            Ok(Command::UpdateWorkload(without_status(value)?))
        }
        Object::Other(resource, value) if **resource == resources::BUDGETS => {
            Ok(Command::UpdateBudget(without_status(value)?))
        }
        Object::Other(resource, value) if resources::is_of_devices(resource) => {
            Ok(Command::UpdateDeviceObject(typed(value).map_err(Failure::plain)?))
        }
        Object::Other(resource, _) => {
            Err(Failure::plain(format!("{} cannot be changed here", resource.plural)))
        }
    }
}

fn is_workload(resource: &Resource) -> bool {
    WorkloadKind::from_word(resource.singular).is_some()
}

/// Reads an object from its JSON form, without its status.
fn without_status<T: DeserializeOwned>(value: &Value) -> Result<T, Failure> {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        fields.remove("status");
    }
    typed(&value).map_err(Failure::plain)
}
