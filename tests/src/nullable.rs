//! Members of recorded JSON that may be `null`.

use serde::de::{Deserialize, Deserializer};

/// Reads a member that may be `null`, which means the same as absent.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
