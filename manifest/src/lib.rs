//! Kubernetes manifests and Taintlab scenario files, in and out.
