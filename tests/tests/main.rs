//! The tests of the engine and of manifests, as one program: what all of them use is compiled and
//! linked once. There is a folder for each subject; the modules below are its files.
//!
//! `cargo test -p taintlab-tests NAME` runs the tests of which `NAME` is a part of the path, such
//! as
//! `kubelet::worked_examples::`.

mod admission {
    mod policies;
    mod reviews;
    mod worked_examples;
}
mod command {
    mod applied;
    mod asked;
    mod chat;
    mod compared;
    mod counted;
    mod edges;
    mod host;
    mod lines;
    mod linted;
    mod nothing;
    mod outages;
    mod planned;
    mod solved;
    mod targets;
}
mod conformance {
    mod player;
    mod public_vectors;
    mod recorded_answers;
    mod traces;
}
mod kubectl {
    mod endpoint_slices;
    mod transcripts;
}
mod kubelet {
    mod shutdowns;
    mod upstream_cases;
    mod usage;
    mod worked_examples;
}
mod node_lifecycle {
    mod forecasts;
    mod rate_limited_queue;
    mod real_clusters;
    mod upstream_cases;
    mod worked_examples;
}
mod properties;
mod releases;
mod report {
    mod remedies;
    mod worked_examples;
    mod written;
}
mod repository;
mod scenarios {
    pub(crate) mod examples;
    mod lanes;
    mod player;
    mod runs;
    mod text;
}
mod scheduling {
    mod autoscaler;
    mod back_off;
    mod placement;
    mod preemption_runs;
    mod volumes;

    pub(crate) use volumes::{detached_after, node};
}
mod secrets;
mod taint_eviction {
    mod upstream_cases;
    mod worked_examples;
}
mod warnings {
    mod kinds;
}
mod workloads {
    mod completions;
    mod controllers;
    mod descheduler;
    mod evictions;
    mod finalizers;
    mod pod_states;
    mod rules;
}
