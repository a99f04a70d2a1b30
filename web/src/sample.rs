//! The sample cluster that the page begins with, as code that the build makes of
//! `examples/sample-cluster.yaml`: the page must not wait for what reads YAML.

use serde_json::Value;
use taintlab_core::api::{
    ConditionStatus, Node, NodeCondition, NodeSpec, NodeStatus, ObjectMeta, OwnerReference, Pod,
    PodCondition, PodPhase, PodSpec, PodStatus, Taint, TaintEffect, Toleration, TolerationOperator,
};
use taintlab_core::scenario::{Objects, Scenario, ScenarioMetadata};

include!(concat!(env!("OUT_DIR"), "/sample_cluster.rs"));
