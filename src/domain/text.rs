//! Texts that callers send, each a type of its own, so that a blank or oversized one exists nowhere behind the door.
//!
//! The limits of the product contract stand here and nowhere else; the schemas carry them as `maxLength`.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// The text is blank or too long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing but white space.
    #[error("{what} is blank")]
    Blank {
        /// What the text is.
        what: &'static str,
    },
    /// Longer than the limit.
    #[error("{what} has {length} characters, at most {limit} are taken")]
    TooLong {
        /// What the text is.
        what: &'static str,
        /// How many characters (not bytes) were given.
        length: usize,
        /// How many are taken.
        limit: usize,
    },
}

fn check(what: &'static str, limit: usize, text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Blank { what });
    }
    match text.chars().count() {
        length if length > limit => Err(TextError::TooLong {
            what,
            length,
            limit,
        }),
        _ => Ok(()),
    }
}

macro_rules! texts {
    ($($(#[$meta:meta])* $name:ident($what:literal, $limit:literal);)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// How many characters are taken.
            pub const LIMIT: usize = $limit;

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = TextError;

            fn try_from(text: String) -> Result<Self, TextError> {
                check($what, Self::LIMIT, &text)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "maxLength": Self::LIMIT })
            }
        }
    )*};
}

texts! {
    /// What a task is called, in a list.
    Title("the title", 200);
    /// What is to be done.
    Description("the description", 8_000);
    /// What has to be there for the task to count as done.
    ExpectedOutput("the expected output", 4_000);
    /// What was said beside an action: a summary, reason, feedback, note or current step.
    Note("the text", 4_000);
    /// What a message says.
    Content("the message", 8_000);
    /// A word that groups tasks.
    Tag("the tag", 64);
    /// A file's path, as the caller spells it.
    FilePath("the path", 1_024);
    /// A directory's path, as the caller or the system spells it.
    DirectoryPath("the directory", 4_096);
    /// The name of a commit or branch.
    Reference("the name", 256);
}

impl From<Note> for Content {
    /// Feedback is also a message; what fits a note fits a message.
    fn from(note: Note) -> Self {
        Self(note.0)
    }
}

const _: () = assert!(Note::LIMIT <= Content::LIMIT, "a note has to fit a message");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_characters() {
        assert!(Title::try_from("ä".repeat(200)).is_ok());
        assert_eq!(
            Title::try_from("ä".repeat(201)),
            Err(TextError::TooLong {
                what: "the title",
                length: 201,
                limit: 200
            })
        );
    }

    #[test]
    fn blank_text_is_refused() {
        for blank in ["", " ", "\n\t\u{2003}"] {
            assert_eq!(
                Note::try_from(blank.to_owned()),
                Err(TextError::Blank { what: "the text" })
            );
        }
    }

    #[test]
    fn a_file_cannot_bring_in_what_a_caller_could_not() {
        assert!(serde_json::from_str::<Title>("\" \"").is_err());
        assert!(serde_json::from_str::<Title>(&format!("\"{}\"", "x".repeat(201))).is_err());
        assert_eq!(
            serde_json::from_str::<Title>("\" x \"").unwrap().as_str(),
            " x "
        );
    }
}
