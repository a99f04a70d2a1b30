//! The Taintlab playground: a page that shows a cluster, lets the user change it, and plays what
//! Kubernetes would evict, when, and why.
//!
//! It holds no rule of Kubernetes: what happens comes from `taintlab-core`, what files mean from
//! `taintlab-manifest`. One component, `App`, owns the session; everything else is a small
//! component with properties that are cheap to compare.

mod model;
mod playback;
mod session;
mod text;
mod words;
