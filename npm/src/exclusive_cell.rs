//! A cell that keeps a value for JavaScript.

use std::cell::Cell;

use wasm_bindgen::{JsError, JsValue};

/// A cell whose value is taken out while it is in use.
///
/// `boundary.js` lets nobody call an object that is at work. So an empty cell means that the module
/// stopped during work, and nobody sees a value that was left half-changed.
pub(crate) struct ExclusiveCell<T>(Cell<Option<Box<T>>>);

impl<T> ExclusiveCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Cell::new(Some(Box::new(value))))
    }

    /// Works with the value.
    ///
    /// # Errors
    /// `work` fails, or an earlier panic left the value unusable.
    pub(crate) fn with<R>(
        &self,
        work: impl FnOnce(&mut T) -> Result<R, JsValue>,
    ) -> Result<R, JsValue> {
        let Some(mut value) = self.0.take() else {
            let message = "this simulator stopped because of an internal error; create a new one";
            return Err(JsError::new(message).into());
        };
        #[cfg(feature = "simulator")]
        taintlab_manifest::memory::grow_ahead();
        let result = work(&mut value);
        self.0.set(Some(value));
        result
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_value_is_back_after_work_and_gone_after_a_panic() {
        let cell = ExclusiveCell::new(1);
        let worked = cell.with(|value| {
            *value += 1;
            assert!(cell.0.take().is_none(), "it is taken out while at work");
            Ok(*value)
        });
        assert_eq!(worked.ok(), Some(2));
        let broken = catch_unwind(AssertUnwindSafe(|| {
            cell.with(|_| -> Result<(), JsValue> { panic!("as a test") })
        }));
        assert!(broken.is_err());
        assert!(cell.0.take().is_none(), "what was at work is never seen again");
        let next = ExclusiveCell::new(3);
        assert_eq!(next.with(|value| Ok(*value)).ok(), Some(3), "the next one works");
    }
}
