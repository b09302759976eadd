//! What has to hold of a document, whatever bytes are in its file: the targets in `fuzz/`.
//!
//! Reading it does not panic. What is refused is so with a reason, and what is taken is written in a way that is taken
//! for the same again.

use std::path::Path;

use serde::Serialize;

use super::{archive::Entry, document, error::StoreError, sequence::Sequence};
use crate::domain::{ProgressLog, Thread};

/// Reads a task, or what stands for an archived one; whether it is one.
pub fn task(bytes: &[u8]) -> bool {
    read::<Entry>(bytes)
}

/// Reads a thread; whether it is one.
pub fn thread(bytes: &[u8]) -> bool {
    read::<Thread>(bytes)
}

/// Reads a progress file; whether it is one.
pub fn progress(bytes: &[u8]) -> bool {
    read::<ProgressLog>(bytes)
}

/// Reads `sequence.json`; whether it is one.
pub fn sequence(bytes: &[u8]) -> bool {
    read::<Sequence>(bytes)
}

fn read<D: document::Document + Serialize>(bytes: &[u8]) -> bool {
    let path = Path::new("document.json");
    let document: D = match document::parse(path, bytes) {
        Ok(document) => document,
        Err(StoreError::Corrupt { reason, .. }) => {
            assert!(!reason.is_empty(), "a person has to know what is wrong");
            return false;
        }
        Err(error) => {
            assert!(
                matches!(error, StoreError::UnsupportedFormat { .. }),
                "{error}"
            );
            return false;
        }
    };
    // Indented, it may be larger than what is read.
    if let Ok(written) = document::encode(path, &document) {
        let again: D = document::parse(path, &written).expect("what was written can be read");
        let again = document::encode(path, &again).expect("it could be written before");
        assert!(again == written, "a document is written as it was read");
    }
    true
}

#[cfg(test)]
mod tests;
