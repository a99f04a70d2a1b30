//! Parts of objects that copies share.

use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

/// A part of an object that its copies share until it is changed in one of them.
///
/// Two that are shared are equal at first sight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shared<T>(Arc<T>);

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> From<T> for Shared<T> {
    fn from(part: T) -> Self {
        Self(Arc::new(part))
    }
}
