//! A configuration file as text: what it says, and the same file saying more.
//!
//! Responsibility: whatever is not asked for stays as it is, byte for byte, comments and blanks included; a file for
//! which that cannot be promised is refused.

mod json;
mod toml;

use serde_json::Value;
use thiserror::Error;

use super::setting::{Edit, Mismatch, Setting};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// How a client writes its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    /// Commas before a closing bracket, too.
    JsonWithComments,
    Toml,
}

/// A file cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Broken {
    #[error("line {line}: {reason}; mend it, then run this again")]
    Syntax { line: usize, reason: String },
    #[error("{place} has to be {expected}, and is something else; change it by hand")]
    Mismatch {
        place: String,
        expected: &'static str,
    },
    #[error(
        "it is written in a way that cannot be added to without touching the rest; put in by hand what this command prints without --write"
    )]
    Entangled,
}

impl Format {
    /// A file that says only this.
    pub(super) fn fragment(self, setting: &Setting) -> String {
        match self {
            Self::Json | Self::JsonWithComments => json::fragment(&setting.alone()),
            Self::Toml => toml::fragment(&setting.alone()),
        }
    }

    /// The text, saying this too. None: it does already.
    pub(super) fn merged(self, text: &str, setting: &Setting) -> Result<Option<String>, Broken> {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if body.trim().is_empty() {
            return Ok(Some(self.fragment(setting)));
        }
        let edits = setting.edits(&self.read(body)?)?;
        if edits.is_empty() {
            return Ok(None);
        }
        let merged = self.edited(body, &edits)?;
        // A key that is there twice, for example, is found here: one of them was changed, and the other one counts.
        let done = self
            .read(&merged)
            .is_ok_and(|it| setting.edits(&it) == Ok(vec![]));
        if !done {
            return Err(Broken::Entangled);
        }
        let mark = text.strip_suffix(body).unwrap_or_default();
        Ok(Some(format!("{mark}{merged}")))
    }

    fn read(self, text: &str) -> Result<Value, Broken> {
        match self {
            Self::Json => json::read(text, json::Dialect::Strict),
            Self::JsonWithComments => json::read(text, json::Dialect::WithComments),
            Self::Toml => toml::read(text),
        }
    }

    fn edited(self, text: &str, edits: &[Edit]) -> Result<String, Broken> {
        match self {
            Self::Json | Self::JsonWithComments => json::edited(text, edits),
            Self::Toml => toml::edited(text, edits),
        }
    }
}

impl From<Mismatch> for Broken {
    fn from(Mismatch { place, expected }: Mismatch) -> Self {
        Self::Mismatch { place, expected }
    }
}

#[cfg(test)]
mod tests;
