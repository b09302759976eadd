//! JSON as it is written: a key that stands twice in an object is there twice.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

/// A JSON value.
#[derive(Debug)]
pub(super) enum Document {
    Scalar(Value),
    List(Vec<Document>),
    Object(Vec<(String, Document)>),
}

impl Document {
    /// The value that most parsers see: of two fields with one key, the last.
    pub(super) fn value(self) -> Value {
        match self {
            Self::Scalar(value) => value,
            Self::List(entries) => entries.into_iter().map(Self::value).collect(),
            Self::Object(fields) => {
                let fields = fields.into_iter().map(|(key, field)| (key, field.value()));
                Value::Object(fields.collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Document, E> {
        Ok(Document::Scalar(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Scalar(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Document, E> {
        Ok(Document::Scalar(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Document, E> {
        Ok(Document::Scalar(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Document, E> {
        Ok(Document::Scalar(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Document, E> {
        Ok(Document::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Document, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(Document::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Document, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(Document::Object(fields))
    }
}
