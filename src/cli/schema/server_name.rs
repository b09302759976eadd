//! The name that a person gave this server in a client's settings.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// A name that every client takes as it is, and that needs no quoting in JSON, TOML or a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerName(String);

impl ServerName {
    /// How many characters it has.
    pub(super) fn length(&self) -> usize {
        self.0.len()
    }
}

impl AsRef<str> for ServerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ServerName {
    type Err = UnusableName;

    fn from_str(text: &str) -> Result<Self, UnusableName> {
        // A leading hyphen would make an option of it where it stands on a command line.
        let starts_well = text.starts_with(|it: char| it.is_ascii_alphanumeric());
        let kept = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        if starts_well && text.chars().all(kept) {
            Ok(Self(text.to_owned()))
        } else {
            Err(UnusableName)
        }
    }
}

/// Some client would change the name, or refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected A-Z a-z 0-9 _ -, beginning with a letter or digit: clients change other names")]
pub(super) struct UnusableName;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_every_client_keeps() {
        for text in ["ai-coord", "a", "Queue_2", "2nd"] {
            assert_eq!(text.parse(), Ok(ServerName(text.to_owned())), "{text:?}");
        }
        for text in [
            "", "-x", "_x", "a b", "a.b", "a'b", "a\"b", "a\n", "é", "a:b", "a(b)",
        ] {
            assert_eq!(text.parse::<ServerName>(), Err(UnusableName), "{text:?}");
        }
    }
}
