//! Scenarios, and what was stored of a session.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Error, Value as Json};
use taintlab_core::command::Command;
use taintlab_core::scenario::{Scenario, Step};

use super::tree::Tree;
use super::{Dropped, LastApplied, Redactor};

/// Drops from a scenario what [`read_scenario`](crate::read_scenario) would have dropped, for one
/// that was stored before that was so.
///
/// # Errors
/// A part of the scenario has no JSON form, which nothing that was read has. The scenario may be
/// cleaned in part.
pub fn redact_scenario(scenario: &mut Scenario) -> Result<Dropped, Error> {
    let mut redactor = Redactor::new(false);
    let objects = &mut scenario.objects;
    for node in &mut objects.nodes {
        let node = Arc::make_mut(node);
        redactor.typed(node, |redactor, node| redactor.object(node, "Node", true))?;
    }
    for pod in &mut objects.pods {
        let pod = Arc::make_mut(pod);
        redactor.typed(pod, |redactor, pod| redactor.object(pod, "Pod", true))?;
    }
    for workload in &mut objects.workloads {
        let kind = workload.kind.as_str();
        redactor.typed(workload, |redactor, workload| redactor.object(workload, kind, true))?;
    }
    for budget in &mut objects.budgets {
        redactor.typed(budget, |redactor, budget| {
            redactor.object(budget, "PodDisruptionBudget", true);
        })?;
    }
    for group in &mut objects.node_groups {
        redactor.typed(group, Redactor::node_group)?;
    }
    for object in &mut objects.others {
        redactor.other(object);
    }
    redactor.last_applied = LastApplied::KeptIfClean;
    for Step { command, .. } in &mut scenario.steps {
        redactor.typed_command(command)?;
    }
    Ok(redactor.dropped)
}

/// Drops from commands, such as the edits of a session, what an import would have dropped from the
/// objects in them. What `kubectl apply` of the console remembers of objects that it was given
/// stays.
///
/// # Errors
/// A command has no JSON form, which none that was read has. Those before it are cleaned.
pub fn redact_commands<'c>(
    commands: impl IntoIterator<Item = &'c mut Command>,
) -> Result<Dropped, Error> {
    let mut redactor = Redactor::new(false);
    redactor.last_applied = LastApplied::KeptIfClean;
    for command in commands {
        redactor.typed_command(command)?;
    }
    Ok(redactor.dropped)
}

/// Drops from a command of the console what may be secret, and tells what that is. Copies that
/// `kubectl apply` made stay: the console made them itself.
///
/// # Errors
/// The command has no JSON form.
pub fn redact_console_command(command: &mut Command) -> Result<Dropped, Error> {
    let mut redactor = Redactor::new(false);
    redactor.last_applied = LastApplied::Kept;
    redactor.typed_command(command)?;
    Ok(redactor.dropped)
}

impl Redactor {
    /// Cleans the tree of a scenario that is being read.
    pub(crate) fn scenario<T: Tree>(&mut self, scenario: &mut T) {
        scenario.retain_entries(&mut |key, value| {
            match key {
                "objects" => self.objects(value),
                "steps" => value.each_item(&mut |step| {
                    step.retain_entries(&mut |key, command| {
                        if key == "do" {
                            self.command(command);
                        }
                        true
                    });
                }),
                _ => {}
            }
            true
        });
    }

    fn objects<T: Tree>(&mut self, objects: &mut T) {
        objects.retain_entries(&mut |key, list| {
            list.each_item(&mut |object| match key {
                "nodes" => self.object(object, "Node", true),
                "pods" => self.object(object, "Pod", true),
                "workloads" => {
                    let kind = object.get("kind").and_then(T::text).unwrap_or("").to_owned();
                    self.object(object, &kind, true);
                }
                "budgets" => self.object(object, "PodDisruptionBudget", true),
                "nodeGroups" => self.node_group(object),
                "others" => self.other(object),
                _ => {}
            });
            true
        });
    }

    fn node_group<T: Tree>(&mut self, group: &mut T) {
        group.retain_entries(&mut |key, value| {
            if key == "pod" {
                self.object(value, "Pod", true);
            }
            true
        });
    }

    fn other<T: Tree>(&mut self, object: &mut T) {
        let kind = object.get("kind").and_then(T::text).unwrap_or("").to_owned();
        self.object(object, &kind, false);
    }

    fn command<T: Tree>(&mut self, command: &mut T) {
        command.retain_entries(&mut |name, content| {
            match name {
                "createNode" | "updateNode" => self.object(content, "Node", true),
                "registerNode" => content.retain_entries(&mut |key, node| {
                    if key == "node" {
                        self.object(node, "Node", true);
                    }
                    true
                }),
                "createPod" | "updatePod" => self.object(content, "Pod", true),
                "createWorkload" | "updateWorkload" => {
                    let kind = content.get("kind").and_then(T::text).unwrap_or("").to_owned();
                    self.object(content, &kind, true);
                }
                "createBudget" | "updateBudget" => {
                    self.object(content, "PodDisruptionBudget", true);
                }
                _ => {}
            }
            true
        });
    }

    fn typed_command(&mut self, command: &mut Command) -> Result<(), Error> {
        let holds_an_object = matches!(
            command,
            Command::CreateNode(_)
                | Command::UpdateNode(_)
                | Command::RegisterNode { .. }
                | Command::CreatePod(_)
                | Command::UpdatePod(_)
                | Command::CreateWorkload(_)
                | Command::UpdateWorkload(_)
                | Command::CreateBudget(_)
                | Command::UpdateBudget(_)
        );
        if holds_an_object { self.typed(command, Self::command) } else { Ok(()) }
    }

    /// Cleans a value through its JSON form.
    fn typed<T: Serialize + DeserializeOwned>(
        &mut self,
        value: &mut T,
        clean: impl FnOnce(&mut Self, &mut Json),
    ) -> Result<(), Error> {
        let before = self.dropped;
        let mut json = serde_json::to_value(&*value)?;
        clean(self, &mut json);
        if self.dropped != before {
            *value = serde_json::from_value(json)?;
        }
        Ok(())
    }
}
