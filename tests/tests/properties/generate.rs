//! Random scripts as values of proptest.

use proptest::collection::vec;
use proptest::prelude::*;
pub(crate) use taintlab_tests::random::{Script, bytes};

/// A script of up to 24 commands.
pub(crate) fn script() -> impl Strategy<Value = Script> {
    let number = || any::<u64>().no_shrink();
    (number(), vec(number(), 0..25))
        .prop_map(|(cluster, steps)| taintlab_tests::random::script(cluster, &steps))
}
