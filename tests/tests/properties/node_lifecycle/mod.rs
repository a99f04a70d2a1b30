//! The node lifecycle through the simulator, over random clusters and scripts with faults.
//!
//! The same scripts are made each time. `TAINTLAB_SEED=NUMBER` makes others, and
//! `TAINTLAB_CASES=NUMBER` multiplies them.

mod behaviour;
mod budgets;
mod generate;
mod kubelets;
mod model;
