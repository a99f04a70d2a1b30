//! Each target for a moment, with the same inputs every time.

use std::panic::resume_unwind;

use taintlab_fuzz::targets::TARGETS;
use taintlab_fuzz::{Limit, search};

/// Runs a target for as long as its bound says.
fn bounded(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    match search(target, 0, Limit::Executions(target.bounded)) {
        Ok(found) => println!("{name}: {found}"),
        Err(failure) => resume_unwind(failure),
    }
}

macro_rules! bounded {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                bounded($name);
            }
        )*

        /// A new target is tested, too.
        #[test]
        fn every_target_is_tested() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

bounded! {
    manifest "manifest"
    scenario "scenario"
    kubectl "kubectl"
    paths "paths"
    kubelet "kubelet"
    values "values"
    policy "policy"
    admission "admission"
    answers "answers"
    taint_eviction "taint-eviction"
    workloads "workloads"
}
