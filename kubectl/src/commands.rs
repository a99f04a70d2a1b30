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
        Object::Other(resource, _) => {
            Err(Failure::plain(format!("{} cannot be created here", resource.plural)))
        }
    }
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
