//! Optional fields of files: there or left out, never `null`.
//!
//! Serde reads a `null` as left out. The server never writes one, so it comes from an edit that meant something.

use serde::{Deserialize, Deserializer};

/// Reads a field that is there. With `#[serde(default)]` one that is left out is `None` and does not come here.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
