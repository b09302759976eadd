//! Documents as bytes and values: reading within bounds, and encoding within the same bounds.
//!
//! Responsibility: what a file must be to be read at all (regular, small, UTF-8, one JSON value),
//! and to say in a person's words where one is wrong.
//!
//! Reading takes no lock: documents are replaced by rename, so a reader sees the old or the new one.
//! Only a person's editor writes in place; therefore a document that doesn't parse is read again for
//! a moment before it counts as corrupt.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::dir::{Dir, Signature, Stat};
use super::error::StoreError;
use crate::domain::FormatVersion;

/// The largest document that is read, and so the largest that is written: 4 MiB.
pub(crate) const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

/// How long a document that doesn't parse may be in the middle of being saved.
pub(super) const SAVING: Duration = Duration::from_millis(50);
const SAVING_STEP: Duration = Duration::from_millis(5);

/// What the text of a file can be read as.
pub(crate) trait Document: Sized {
    /// Reads the whole text.
    fn parse(text: &str) -> serde_json::Result<Self>;

    /// What is wrong with a text that is not one, with line and field where they are known.
    fn explain(text: &str) -> String;
}

impl<D: DeserializeOwned> Document for D {
    fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    fn explain(text: &str) -> String {
        explain::<D>(text)
    }
}

/// Reads a document. `None`: it doesn't exist.
pub(crate) fn read<D: Document>(folder: &Dir, file_name: &str) -> Result<Option<D>, StoreError> {
    Ok(read_signed(folder, file_name)?.map(|(document, _)| document))
}

/// Reads a document as it is at this moment, even if somebody is saving it.
pub(crate) fn read_now<D: Document>(
    folder: &Dir,
    file_name: &str,
) -> Result<Option<D>, StoreError> {
    let read = read_within(folder, file_name, Duration::ZERO)?;
    Ok(read.map(|(document, _)| document))
}

/// Reads a document, with the signature of the file it was read from.
pub(crate) fn read_signed<D: Document>(
    folder: &Dir,
    file_name: &str,
) -> Result<Option<(D, Signature)>, StoreError> {
    read_within(folder, file_name, SAVING)
}

fn read_within<D: Document>(
    folder: &Dir,
    file_name: &str,
    patience: Duration,
) -> Result<Option<(D, Signature)>, StoreError> {
    let started = Instant::now();
    loop {
        let Some((file, stat)) = folder.open_file(file_name)? else {
            return Ok(None);
        };
        let path = folder.path_of(file_name);
        let bytes = read_bounded(&path, file, stat)?;
        match parse(&path, &bytes) {
            Ok(document) => return Ok(Some((document, stat.signature()))),
            Err(StoreError::Corrupt { .. }) if started.elapsed() < patience => {
                thread::sleep(SAVING_STEP);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The document's file content: indented JSON, ending in one newline.
///
/// `path` is for the error: a document that could not be read back is refused here, before anything
/// is written.
pub(crate) fn encode<D: Serialize>(path: &Path, document: &D) -> Result<Vec<u8>, StoreError> {
    let mut bytes = serde_json::to_vec_pretty(document)
        .map_err(|error| StoreError::storage("encode", path, error))?;
    bytes.push(b'\n');
    check_size(path, &bytes)?;
    Ok(bytes)
}

pub(super) fn check_size(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let size = size_of(bytes);
    if size > SIZE_LIMIT {
        return Err(StoreError::TooLarge {
            path: path.to_path_buf(),
            size,
            limit: SIZE_LIMIT,
        });
    }
    Ok(())
}

/// Bounded twice: by what `stat` says, so that a huge file isn't read at all, and while reading,
/// because it may have grown since.
fn read_bounded(path: &Path, file: File, stat: Stat) -> Result<Vec<u8>, StoreError> {
    check_readable(path, stat.size())?;
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size()).unwrap_or(0) + 1);
    file.take(SIZE_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| StoreError::storage("read", path, error))?;
    check_readable(path, size_of(&bytes))?;
    Ok(bytes)
}

fn check_readable(path: &Path, size: u64) -> Result<(), StoreError> {
    if size > SIZE_LIMIT {
        let reason = format!("it has {size} bytes, expected at most {SIZE_LIMIT}; move it away");
        return Err(StoreError::corrupt(path.to_path_buf(), reason));
    }
    Ok(())
}

fn size_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

pub(super) fn parse<D: Document>(path: &Path, bytes: &[u8]) -> Result<D, StoreError> {
    let corrupt = |reason| StoreError::corrupt(path.to_path_buf(), reason);
    let text = text_of(bytes).map_err(corrupt)?;
    D::parse(text).map_err(|_| match foreign_version(text) {
        Some(found) => StoreError::UnsupportedFormat {
            path: path.to_path_buf(),
            found,
        },
        None => corrupt(D::explain(text)),
    })
}

fn text_of(bytes: &[u8]) -> Result<&str, String> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let reason = "line 1: it starts with a byte-order mark; save it as UTF-8 without one";
        return Err(reason.to_owned());
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.iter().take(error.valid_up_to());
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: it is not UTF-8 text")
    })
}

/// What is wrong, with line and field. Parses again: only a damaged document pays for the tracking.
fn explain<D: DeserializeOwned>(text: &str) -> String {
    let mut json = serde_json::Deserializer::from_str(text);
    let (field, error) = match serde_path_to_error::deserialize::<_, D>(&mut json) {
        Err(error) => (error.path().to_string(), error.into_inner()),
        Ok(_) => match json.end() {
            Err(error) => (String::new(), error),
            Ok(()) => return "it was changed while it was read".to_owned(),
        },
    };
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let text = text
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&text);
    // A file that ends within a key has a place, but the place has no name.
    let field = field.trim_end_matches('?').trim_end_matches('.');
    match (line, field) {
        (0, "") => text.to_owned(),
        (0, field) => format!("{field}: {text}"),
        (line, "") => format!("line {line}: {text}"),
        (line, field) => format!("line {line}, {field}: {text}"),
    }
}

/// The stated version, if the document is an object that states another one than ours.
fn foreign_version(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Header {
        #[serde(rename = "formatVersion")]
        format_version: Option<serde_json::Value>,
    }
    let header: Header = serde_json::from_str(text).ok()?;
    let version = header.format_version?;
    let shown: String = version.to_string().chars().take(40).collect();
    (version.as_u64() != Some(FormatVersion::CURRENT)).then_some(shown)
}
