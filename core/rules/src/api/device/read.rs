//! The views with types of the objects of `resource.k8s.io`.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::{
    AllocatedDevice, ClaimConsumer, Device, DeviceKind, DeviceObject, DeviceRequest,
    DeviceSelector, DeviceSubRequest, DeviceTaintRule, ResourceClaim, ResourceSlice, RuleCondition,
};
use crate::api::resources::{Field, ResourceError};
use crate::api::scheduling::{list, node_terms, number, text};
use crate::api::{NodeSelectorTerm, Taint, Toleration};
use crate::time::Time;

type Read<T> = Result<T, ResourceError>;

impl DeviceObject {
    /// Whether all that the engine reads of it can be read.
    ///
    /// # Errors
    /// Names the first field that cannot.
    pub fn check(&self) -> Read<()> {
        match self.kind {
            DeviceKind::ResourceSlice => self.resource_slice().map(|_| ()),
            DeviceKind::ResourceClaim => self.resource_claim().map(|_| ()),
            DeviceKind::DeviceTaintRule => self.device_taint_rule().map(|_| ()),
            DeviceKind::DeviceClass
            | DeviceKind::ResourceClaimTemplate
            | DeviceKind::Empty
            | DeviceKind::Other(_) => Ok(()),
        }
    }

    /// The view of a `ResourceSlice`.
    ///
    /// # Errors
    /// Names the field that cannot be read.
    pub fn resource_slice(&self) -> Read<ResourceSlice> {
        let pool = self.spec("pool");
        Ok(ResourceSlice {
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            driver: self.spec("driver").text()?,
            pool: pool.get("name")?.text()?,
            generation: number(&pool.get("generation")?)?.unwrap_or_default(),
            slice_count: number(&pool.get("resourceSliceCount")?)?.unwrap_or_default(),
            node_name: self.spec("nodeName").text()?,
            all_nodes: self.spec("allNodes").value == Some(&Value::Bool(true)),
            node_selector: node_selector(&self.spec("nodeSelector"))?,
            devices: list(&self.spec("devices"), device)?,
        })
    }

    /// The view of a `ResourceClaim`, or of what a `ResourceClaimTemplate` makes.
    ///
    /// # Errors
    /// Names the field that cannot be read.
    pub fn resource_claim(&self) -> Read<ResourceClaim> {
        let allocation = Field::new("status.allocation", self.status.get("allocation"));
        let results = allocation.get("devices")?.get("results")?;
        let allocated = allocation.value.is_some();
        Ok(ResourceClaim {
            key: self.key(),
            uid: self.metadata.uid.clone(),
            controller: self.metadata.controller().map(|owner| owner.uid.clone()),
            requests: requests(&self.spec("devices"))?,
            allocation: if allocated { Some(list(&results, allocated_device)?) } else { None },
            node_selector: node_selector(&allocation.get("nodeSelector")?)?,
            reserved_for: list(
                &Field::new("status.reservedFor", self.status.get("reservedFor")),
                consumer,
            )?,
        })
    }

    /// The view of a `DeviceTaintRule`.
    ///
    /// # Errors
    /// Names the field that cannot be read.
    pub fn device_taint_rule(&self) -> Read<DeviceTaintRule> {
        let selector = self.spec("deviceSelector");
        let wanted = |name| optional_text(&selector.get(name)?);
        let selector = match selector.value {
            None => None,
            Some(_) => Some(DeviceSelector {
                driver: wanted("driver")?,
                pool: wanted("pool")?,
                device: wanted("device")?,
            }),
        };
        let conditions = Field::new("status.conditions", self.status.get("conditions"));
        let conditions: Vec<_> = list(&conditions, condition)?;
        Ok(DeviceTaintRule {
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            generation: self.generation(),
            selector,
            taint: taint(&self.spec("taint"))?,
            condition: conditions.into_iter().flatten().next(),
        })
    }

    /// `metadata.generation`: counts the changes of `spec`.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.metadata.other.get("generation").and_then(Value::as_i64).unwrap_or_default()
    }

    fn spec<'a>(&'a self, name: &'a str) -> Field<'a> {
        Field::of_spec(&self.spec, name)
    }
}

fn node_selector(field: &Field<'_>) -> Read<Vec<NodeSelectorTerm>> {
    node_terms(field.get("nodeSelectorTerms")?.value)
}

fn optional_text(field: &Field<'_>) -> Read<Option<String>> {
    Ok(if field.value.is_some() { Some(field.text()?) } else { None })
}

fn device(field: &Field<'_>) -> Read<Device> {
    // To v1beta1 all but the name is in `basic`.
    let basic = field.get("basic")?;
    let rest = if basic.value.is_some() { &basic } else { field };
    Ok(Device { name: field.get("name")?.text()?, taints: list(&rest.get("taints")?, taint)? })
}

fn taint(field: &Field<'_>) -> Read<Taint> {
    Ok(Taint {
        key: field.get("key")?.text()?,
        value: field.get("value")?.text()?,
        effect: field.get("effect")?.text()?.as_str().into(),
        time_added: time(&field.get("timeAdded")?)?,
    })
}

fn time(field: &Field<'_>) -> Read<Option<Time>> {
    let Some(text) = optional_text(field)? else { return Ok(None) };
    Time::parse(&text).map(Some).map_err(|error| field.wrong(&error))
}

fn toleration(field: &Field<'_>) -> Read<Toleration> {
    Ok(Toleration {
        key: field.get("key")?.text()?,
        operator: field.get("operator")?.text()?.as_str().into(),
        value: field.get("value")?.text()?,
        effect: field.get("effect")?.text()?.as_str().into(),
        toleration_seconds: number(&field.get("tolerationSeconds")?)?,
    })
}

fn requests(devices: &Field<'_>) -> Read<Vec<DeviceRequest>> {
    list(&devices.get("requests")?, |field| {
        let (exactly, alternatives) = (field.get("exactly")?, field.get("firstAvailable")?);
        let alternatives = if alternatives.value.is_some() {
            list(&alternatives, |field| sub_request(field, field.get("name")?.text()?))?
        } else {
            // To v1beta1 a request itself says what `exactly` does.
            let exactly = if exactly.value.is_some() { &exactly } else { field };
            [sub_request(exactly, String::new())?].into()
        };
        Ok(DeviceRequest { name: field.get("name")?.text()?, alternatives })
    })
}

fn sub_request(field: &Field<'_>, name: String) -> Read<DeviceSubRequest> {
    let count = match field.get("allocationMode")?.text()?.as_str() {
        "All" => None,
        _ => Some(number(&field.get("count")?)?.unwrap_or(1)),
    };
    Ok(DeviceSubRequest {
        name,
        class: field.get("deviceClassName")?.text()?,
        count,
        tolerations: list(&field.get("tolerations")?, toleration)?,
    })
}

fn allocated_device(field: &Field<'_>) -> Read<AllocatedDevice> {
    Ok(AllocatedDevice {
        driver: field.get("driver")?.text()?,
        pool: field.get("pool")?.text()?,
        device: field.get("device")?.text()?,
        tolerations: list(&field.get("tolerations")?, toleration)?,
    })
}

fn consumer(field: &Field<'_>) -> Read<ClaimConsumer> {
    let (group, resource) = (field.get("apiGroup")?.text()?, field.get("resource")?.text()?);
    Ok(ClaimConsumer {
        is_pod: group.is_empty() && resource == "pods",
        name: text(&field.get("name")?)?,
        uid: text(&field.get("uid")?)?,
    })
}

/// The condition, if it is the one that the engine reads.
fn condition(field: &Field<'_>) -> Read<Option<RuleCondition>> {
    let last_transition_time = time(&field.get("lastTransitionTime")?)?;
    if field.get("type")?.text()? != RuleCondition::TYPE {
        return Ok(None);
    }
    Ok(Some(RuleCondition {
        status: field.get("status")?.text()? == "True",
        reason: field.get("reason")?.text()?,
        message: field.get("message")?.text()?,
        observed_generation: number(&field.get("observedGeneration")?)?.unwrap_or_default(),
        last_transition_time: last_transition_time.unwrap_or(Time::ZERO_OF_GO),
    }))
}
