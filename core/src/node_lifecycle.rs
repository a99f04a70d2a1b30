//! What the node lifecycle controller decides about nodes and their zones.
//!
//! Mirrors `k8s.io/kubernetes/pkg/controller/nodelifecycle`.

pub mod zone;
