//! Values of several parts: bounded lists, metadata, what an implementer hands in.

use std::{borrow::Cow, ops::Deref};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    present::present,
    text::{DirectoryPath, FilePath, Note, Reference},
};

/// The version of the file format. There is one so far, and absent reads as that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct FormatVersion;

impl FormatVersion {
    /// The only one that this program reads and writes.
    pub const CURRENT: u64 = 1;
}

impl TryFrom<u64> for FormatVersion {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        match number {
            Self::CURRENT => Ok(Self),
            newer => Err(format!(
                "format version {newer} is not known, only {}",
                Self::CURRENT
            )),
        }
    }
}

impl From<FormatVersion> for u64 {
    fn from(_: FormatVersion) -> Self {
        FormatVersion::CURRENT
    }
}

/// A list of at most `MAX` entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    try_from = "Vec<T>",
    into = "Vec<T>",
    bound(serialize = "T: Clone + Serialize")
)]
pub struct Bounded<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Default for Bounded<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for Bounded<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: PartialEq, const MAX: usize> Bounded<T, MAX> {
    /// The same list with each entry once, at its first place.
    #[must_use]
    pub fn unique(self) -> Self {
        let mut unique = Vec::with_capacity(self.0.len());
        for entry in self.0 {
            if !unique.contains(&entry) {
                unique.push(entry);
            }
        }
        Self(unique)
    }
}

impl<T, const MAX: usize> TryFrom<Vec<T>> for Bounded<T, MAX> {
    type Error = BoundedError;

    fn try_from(entries: Vec<T>) -> Result<Self, BoundedError> {
        match entries.len() {
            length if length > MAX => Err(BoundedError { length, limit: MAX }),
            _ => Ok(Self(entries)),
        }
    }
}

impl<T, const MAX: usize> From<Bounded<T, MAX>> for Vec<T> {
    fn from(list: Bounded<T, MAX>) -> Self {
        list.0
    }
}

impl<T: schemars::JsonSchema, const MAX: usize> schemars::JsonSchema for Bounded<T, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("ListOf{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "array",
            "items": generator.subschema_for::<T>(),
            "maxItems": MAX
        })
    }
}

/// The list is too long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{length} entries, at most {limit} are taken")]
pub struct BoundedError {
    length: usize,
    limit: usize,
}

/// A JSON object that belongs to the task's creator; the server only keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// How many bytes of compact JSON are taken.
    pub const LIMIT: usize = 4_096;

    /// How deep its objects and lists may nest: far from where parsers refuse what we have written.
    pub const DEPTH: usize = 32;

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<Map<String, Value>> for Metadata {
    type Error = MetadataError;

    fn try_from(object: Map<String, Value>) -> Result<Self, MetadataError> {
        let value = Value::Object(object);
        if depth(&value) > Self::DEPTH {
            return Err(MetadataError::TooDeep);
        }
        let Value::Object(object) = value else {
            return Ok(Self::default());
        };
        let metadata = Self(object);
        match serde_json::to_vec(&metadata).map_or(usize::MAX, |json| json.len()) {
            length if length > Self::LIMIT => Err(MetadataError::TooLong { length }),
            _ => Ok(metadata),
        }
    }
}

/// How many objects and lists stand in one another. A parser has bounded it before.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Object(object) => object.values().map(depth).max(),
        Value::Array(list) => list.iter().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

impl schemars::JsonSchema for Metadata {
    fn schema_name() -> Cow<'static, str> {
        "Metadata".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "x-maxBytes": Self::LIMIT })
    }
}

/// The object is too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// Too much of it.
    #[error(
        "the metadata has {length} bytes of JSON, at most {} are taken",
        Metadata::LIMIT
    )]
    TooLong {
        /// How many bytes there are.
        length: usize,
    },
    /// Objects and lists in one another, without end.
    #[error("the metadata nests more than {} levels deep", Metadata::DEPTH)]
    TooDeep,
}

/// What an implementer handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What was done, for the reviewer.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub summary: Option<Note>,
    /// The files to look at.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub files: Bounded<FilePath, 256>,
    /// The commit that holds the work.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub commit: Option<Reference>,
    /// The branch that was checked out in the implementer's worktree.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub branch: Option<Reference>,
    /// The implementer's worktree.
    pub directory: DirectoryPath,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_ends_at_its_bound() {
        assert!(Bounded::<u8, 2>::try_from(vec![1, 2]).is_ok());
        assert!(Bounded::<u8, 2>::try_from(vec![1, 2, 3]).is_err());
        assert!(serde_json::from_str::<Bounded<u8, 2>>("[1,2,3]").is_err());
    }

    #[test]
    fn each_entry_stands_once_at_its_first_place() {
        let list = Bounded::<u8, 9>::try_from(vec![3, 1, 3, 2, 1]).unwrap();
        assert_eq!(&*list.unique(), [3, 1, 2]);
    }

    #[test]
    fn metadata_counts_bytes_of_json() {
        let of = |length: usize| {
            let object = json!({ "k": "x".repeat(length) });
            Metadata::try_from(object.as_object().unwrap().clone())
        };
        let frame = r#"{"k":""}"#.len();
        assert!(of(4_096 - frame).is_ok());
        assert_eq!(
            of(4_097 - frame),
            Err(MetadataError::TooLong { length: 4_097 })
        );
    }

    #[test]
    fn metadata_nests_only_so_deep() {
        let nested = |depth: usize| {
            let value = (1..depth).fold(json!({ "a": 1 }), |inner, _| json!({ "a": inner }));
            Metadata::try_from(value.as_object().unwrap().clone())
        };
        assert!(nested(32).is_ok());
        assert_eq!(nested(33), Err(MetadataError::TooDeep));
    }
}
