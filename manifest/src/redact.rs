//! Redaction of values: drops everything that is not in the table of fields that the engine reads.
//!
//! Texts are reduced while they are decoded. This module reduces values: the edits of a session,
//! lines of the console, links, and work that was stored before the table existed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use taintlab_core::api::json_value;
use taintlab_core::command::Command;
use taintlab_core::scenario::{Scenario, Step};

use crate::dropped::Dropped;
use crate::fields::{COMMAND, Rule, SCENARIO, Use};
use crate::image::without_credentials;
use crate::typed::typed;

/// The annotation in which `kubectl apply` remembers what it applied: a copy of the object.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields that stay, among those that enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All fields that enter.
    Shown,
    /// Fields that a run depends on, without those that only `kubectl` prints.
    Run,
}

/// Removes from a scenario what [`read_scenario`](crate::read_scenario) would have dropped.
///
/// # Errors
/// A part of the scenario has no JSON form; parts that were read always have one.
pub fn redact_scenario(scenario: &mut Scenario, extent: Extent) -> Result<Dropped, String> {
    let mut redactor = Redactor::new(extent);
    let objects = &mut scenario.objects;
    for node in &mut objects.nodes {
        redactor.typed(Arc::make_mut(node), Rule::of_kind("v1", "Node"))?;
    }
    for pod in &mut objects.pods {
        redactor.typed(Arc::make_mut(pod), Rule::of_kind("v1", "Pod"))?;
    }
    for workload in &mut objects.workloads {
        redactor.typed(workload, Rule::of_kind("apps/v1", "Deployment"))?;
    }
    for budget in &mut objects.budgets {
        redactor.typed(budget, Rule::of_kind("policy/v1", "PodDisruptionBudget"))?;
    }
    for object in &mut objects.others {
        redactor.value(object, Rule::Object, None);
    }
    let rule = |of: Rule, key: &str| of.field(key).map_or(Rule::All, |(rule, _)| rule);
    let groups = rule(rule(SCENARIO, "objects"), "nodeGroups");
    for group in &mut objects.node_groups {
        redactor.typed(group, groups)?;
    }
    redactor.typed(&mut scenario.kubernetes, rule(SCENARIO, "kubernetes"))?;
    for Step { command, .. } in &mut scenario.steps {
        redactor.command(command, None)?;
    }
    Ok(redactor.dropped)
}

/// Removes from commands, such as the edits of a session, what an import would have dropped from
/// the objects in them. The copies in which the console's `kubectl apply` remembers an object are
/// reduced likewise, and stay.
///
/// # Errors
/// A command has no JSON form; commands that were read always have one. The commands before it are
/// cleaned.
pub fn redact_commands<'c>(
    commands: impl IntoIterator<Item = &'c mut Command>,
) -> Result<Dropped, String> {
    let mut redactor = Redactor::new(Extent::Shown);
    for command in commands {
        redactor.command(command, None)?;
    }
    Ok(redactor.dropped)
}

/// Redacts a command of the console like [`redact_commands`], and returns what was dropped. Fields
/// that the object already has, as `live` would write it, stay: they were imported with everything,
/// or the engine has written them.
///
/// # Errors
/// The command has no JSON form.
pub fn redact_console_command(
    command: &mut Command,
    live: Option<&Command>,
) -> Result<Dropped, String> {
    let mut redactor = Redactor::new(Extent::Shown);
    redactor.command(command, live)?;
    Ok(redactor.dropped)
}

/// Removes from values the fields that do not enter.
struct Redactor {
    extent: Extent,
    /// Whether the copies made by `kubectl apply` stay.
    keep_copies: bool,
    dropped: Dropped,
}

impl Redactor {
    fn new(extent: Extent) -> Self {
        Self { extent, keep_copies: false, dropped: Dropped::default() }
    }

    fn command(&mut self, command: &mut Command, live: Option<&Command>) -> Result<(), String> {
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
                | Command::CreateDeviceObject(_)
                | Command::UpdateDeviceObject(_)
        );
        if !holds_an_object {
            return Ok(());
        }
        let live = live.map(serde_json::to_value).transpose().map_err(|error| error.to_string())?;
        let before = std::mem::replace(&mut self.keep_copies, true);
        self.typed_beside(command, COMMAND, live.as_ref())?;
        self.keep_copies = before;
        Ok(())
    }

    fn typed<T: Serialize + DeserializeOwned>(
        &mut self,
        value: &mut T,
        rule: Rule,
    ) -> Result<(), String> {
        self.typed_beside(value, rule, None)
    }

    /// Reduces a value through its JSON form.
    fn typed_beside<T: Serialize + DeserializeOwned>(
        &mut self,
        value: &mut T,
        rule: Rule,
        live: Option<&Json>,
    ) -> Result<(), String> {
        let before = self.dropped;
        let mut json = json_value(&*value).map_err(|error| error.to_string())?;
        self.value(&mut json, rule, live);
        if self.dropped != before {
            *value = typed(&json)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &mut Json, rule: Rule, live: Option<&Json>) {
        match value {
            Json::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(item, rule, live.and_then(|live| live.get(index)));
                }
            }
            Json::Object(_) => self.mapping(value, rule, live),
            Json::String(text) => {
                if let Rule::Image = rule
                    && let Cow::Owned(clean) = without_credentials(text)
                    && live.and_then(Json::as_str) != Some(text)
                {
                    self.dropped.credentials += 1;
                    *text = clean;
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn mapping(&mut self, mapping: &mut Json, rule: Rule, live: Option<&Json>) {
        let rule = match rule {
            Rule::Object => {
                let text = |key: &str| mapping.get(key).and_then(Json::as_str).unwrap_or("");
                Rule::of_kind(text("apiVersion"), text("kind"))
            }
            rule => rule,
        };
        let Json::Object(fields) = mapping else { return };
        fields.retain(|key, value| {
            let live = live.and_then(|live| live.get(key));
            match rule.field(key) {
                Some((rule, used))
                    if (used == Use::Run || self.extent == Extent::Shown)
                        && rule.admits(value.as_str()) =>
                {
                    self.value(value, rule, live);
                    return true;
                }
                _ => {}
            }
            if live == Some(&*value) || self.is_copy(key, value) {
                return true;
            }
            self.dropped.count(rule, key);
            false
        });
    }

    /// Whether this is a copy made by `kubectl apply`; if so, it is reduced as well.
    fn is_copy(&mut self, key: &str, value: &mut Json) -> bool {
        let text = value.as_str().filter(|_| self.keep_copies && key == LAST_APPLIED);
        let Some(Ok(mut copy)) = text.map(serde_json::from_str::<Json>) else { return false };
        if copy.get("kind").is_none() {
            return false;
        }
        let before = self.dropped;
        self.value(&mut copy, Rule::Object, None);
        if self.dropped != before {
            *value = format!("{copy}\n").into();
        }
        true
    }
}
