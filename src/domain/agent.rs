//! Names of agents. Whether a name is taken is a matter of living processes and not known here.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// The name of an agent: 1 to 64 of `A-Z a-z 0-9 . _ @ # -`. Names a file in `agents/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

impl AgentName {
    /// How many characters a name has at the most.
    pub const LIMIT: usize = 64;

    /// The word that stands for the caller in filters; nobody can be called so.
    pub const ME: &str = "me";

    /// A name out of any text: other characters become `-`, the end is cut off. `None` if nothing is left.
    pub fn from_words(text: &str) -> Option<Self> {
        Self::try_from(
            sanitized(text.trim())
                .chars()
                .take(Self::LIMIT)
                .collect::<String>(),
        )
        .ok()
    }

    /// This name with a number, `NAME#2`: for the second process of the same kind.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        let suffix = format!("#{number}");
        let stem = self
            .0
            .chars()
            .take(Self::LIMIT.saturating_sub(suffix.len()));
        Self(stem.chain(suffix.chars()).collect())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text with `-` for what names do not have.
fn sanitized(text: &str) -> String {
    text.chars()
        .map(|it| if is_allowed(it) { it } else { '-' })
        .collect()
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._@#-".contains(character)
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for AgentName {
    type Error = AgentNameError;

    fn try_from(text: String) -> Result<Self, AgentNameError> {
        match text.chars().count() {
            _ if !text.chars().any(|it| it.is_ascii_alphanumeric()) => Err(AgentNameError::Blank),
            length if length > Self::LIMIT => Err(AgentNameError::TooLong { length }),
            _ if text == Self::ME => Err(AgentNameError::Reserved),
            _ => match text.chars().find(|it| !is_allowed(*it)) {
                Some(found) => Err(AgentNameError::Character { found }),
                None => Ok(Self(text)),
            },
        }
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

/// A name that a caller asks for: characters a name cannot have become `-`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RequestedName(AgentName);

impl RequestedName {
    /// The name as it will be known.
    pub fn into_name(self) -> AgentName {
        self.0
    }
}

impl TryFrom<String> for RequestedName {
    type Error = AgentNameError;

    fn try_from(text: String) -> Result<Self, AgentNameError> {
        AgentName::try_from(sanitized(text.trim())).map(Self)
    }
}

impl schemars::JsonSchema for RequestedName {
    fn schema_name() -> Cow<'static, str> {
        "AgentName".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// The text is not an agent's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentNameError {
    /// Nothing of it is a letter or digit.
    #[error("an agent's name needs a letter or digit of A-Z a-z 0-9")]
    Blank,
    /// Longer than 64 characters.
    #[error(
        "an agent's name has at most {} characters, not {length}",
        AgentName::LIMIT
    )]
    TooLong {
        /// How many were given.
        length: usize,
    },
    /// A character that names do not have.
    #[error("an agent's name is made of A-Z a-z 0-9 . _ @ # -, not {found:?}")]
    Character {
        /// The first such character.
        found: char,
    },
    /// `me` stands for the caller.
    #[error("no agent can be called \"me\": in filters that word stands for the caller")]
    Reserved,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_words_make_a_name() {
        for (words, name) in [
            ("claude-code@repo", Some("claude-code@repo")),
            ("Ünï cödé/../x", Some("-n--c-d--..-x")),
            ("  ", None),
            ("é!", None),
            ("me", None),
        ] {
            assert_eq!(
                AgentName::from_words(words).as_ref().map(AgentName::as_str),
                name
            );
        }
        assert_eq!(
            AgentName::from_words(&"x".repeat(100))
                .unwrap()
                .as_str()
                .len(),
            64
        );
    }

    #[test]
    fn a_number_fits_the_longest_name() {
        let longest = AgentName::from_words(&"x".repeat(64)).unwrap().numbered(12);
        assert_eq!(longest.as_str().len(), 64);
        assert!(longest.as_str().ends_with("x#12"));
        assert_eq!(
            AgentName::try_from(String::from(longest.clone())),
            Ok(longest)
        );
    }

    #[test]
    fn files_hold_only_names_that_were_given_out() {
        for wrong in [
            "",
            "..",
            "-#-",
            "a b",
            "a/b",
            "..\u{0}",
            "me",
            &"x".repeat(65),
        ] {
            assert!(
                AgentName::try_from(wrong.to_owned()).is_err(),
                "{wrong:?} was taken"
            );
        }
        assert_eq!(
            RequestedName::try_from("a b".to_owned())
                .unwrap()
                .into_name()
                .as_str(),
            "a-b"
        );
        assert!(RequestedName::try_from("x".repeat(65)).is_err());
    }
}
