//! What keeps a value for JavaScript.

use std::cell::Cell;

use wasm_bindgen::{JsError, JsValue};

use crate::panics;

/// A value that is taken out while it is at work.
///
/// So no state that was left half-way is ever seen again: neither by a call out of a call, nor by a
/// call after a panic.
pub(crate) struct Holder<T>(Cell<Option<Box<T>>>);

impl<T> Holder<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Cell::new(Some(Box::new(value))))
    }

    /// Works with the value.
    ///
    /// # Errors
    /// Those of `work`; or the value is at work already, or was when something panicked.
    pub(crate) fn with<R>(
        &self,
        work: impl FnOnce(&mut T) -> Result<R, JsValue>,
    ) -> Result<R, JsValue> {
        let Some(mut value) = self.0.take() else {
            return Err(JsError::new(why_taken(panics::happened())).into());
        };
        let result = work(&mut value);
        self.0.set(Some(value));
        result
    }
}

const fn why_taken(panicked: bool) -> &'static str {
    if panicked {
        "taintlab: this simulator stopped because of an internal error; create a new one"
    } else {
        "taintlab: this simulator is at work; it cannot be called from its own predicate"
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_value_is_back_after_work_and_gone_after_a_panic() {
        let holder = Holder::new(1);
        let worked = holder.with(|value| {
            *value += 1;
            assert!(holder.0.take().is_none(), "it is taken out while at work");
            Ok(*value)
        });
        assert_eq!(worked.ok(), Some(2));
        let broken = catch_unwind(AssertUnwindSafe(|| {
            holder.with(|_| -> Result<(), JsValue> { panic!("as a test") })
        }));
        assert!(broken.is_err());
        assert!(holder.0.take().is_none(), "what was at work is never seen again");
        let next = Holder::new(3);
        assert_eq!(next.with(|value| Ok(*value)).ok(), Some(3), "the next one works");
    }

    #[test]
    fn says_why_it_cannot_be_used() {
        assert!(why_taken(true).contains("create a new one"));
        assert!(why_taken(false).contains("predicate"));
    }
}
