//! How a call ends: one compact JSON object, or one line that says what went wrong.
//!
//! Of a result some clients show their model the text, some the structured form, some both, so the
//! two are identical. An error has text only: beside a structured form some clients would not show
//! it.

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde::Serialize;
use serde_json::Value;

use super::text::abbreviated;

/// The unknown arguments named in a result, at most.
const MOST_IGNORED: usize = 8;

/// A tool's result. It serializes to a JSON object, its long texts last: some clients cut there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply<T>(T);

impl<T: Serialize> Reply<T> {
    /// Answers with `result`.
    pub fn new(result: T) -> Self {
        Self(result)
    }
}

impl<T: Serialize> IntoCallToolResult for Reply<T> {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let result = match serde_json::to_value(self.0) {
            Ok(value) => success(value),
            Err(error) => {
                ToolError::internal(format!("the result cannot be written as JSON: {error}")).into()
            }
        };
        Ok(result.into())
    }
}

/// A failed call: a code from the contract, what happened, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    code: &'static str,
    message: String,
}

impl ToolError {
    /// `message` says what happened and what to do next, without the code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A defect of this program.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", message)
    }

    /// One of the contract's codes.
    pub fn code(&self) -> &'static str {
        self.code
    }
}

impl From<ToolError> for CallToolResult {
    fn from(error: ToolError) -> Self {
        Self::error(vec![ContentBlock::text(error.to_string())])
    }
}

impl IntoCallToolResult for ToolError {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::from(self).into())
    }
}

/// Adds to a result which arguments had no effect. They go first, where nothing cuts them off.
pub(super) fn note_ignored(mut result: CallToolResult, ignored: &[String]) -> CallToolResult {
    if let Some(Value::Object(object)) = &mut result.structured_content
        && !ignored.is_empty()
    {
        object.shift_insert(0, "ignored".to_owned(), named(ignored));
        let text = Value::Object(std::mem::take(object));
        return success(text);
    }
    result
}

fn success(value: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// The names, short enough for the result to stay within what clients show.
fn named(ignored: &[String]) -> Value {
    let more = ignored.len().saturating_sub(MOST_IGNORED);
    let names = ignored
        .iter()
        .take(MOST_IGNORED)
        .map(|name| abbreviated(name, 40).into_owned());
    names
        .chain((more > 0).then(|| format!("and {more} more")))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Found {
        zebra: u8,
        apple: Option<u8>,
        text: &'static str,
    }

    fn reply() -> CallToolResult {
        let reply = Reply::new(Found {
            zebra: 1,
            apple: None,
            text: "a\nb",
        });
        match reply.into_call_tool_result() {
            Ok(CallToolResponse::Complete(result)) => result,
            other => panic!("expected a result, got {other:?}"),
        }
    }

    fn text(result: &CallToolResult) -> &str {
        let [block] = result.content.as_slice() else {
            panic!("one block, not {:?}", result.content)
        };
        block.as_text().expect("it is text").text.as_str()
    }

    #[test]
    fn the_text_is_the_structured_form_in_the_order_of_the_struct() {
        let result = reply();
        assert_eq!(text(&result), r#"{"zebra":1,"apple":null,"text":"a\nb"}"#);
        assert_eq!(
            result
                .structured_content
                .as_ref()
                .map(Value::to_string)
                .as_deref(),
            Some(text(&result))
        );
        let written = serde_json::to_string(&result).expect("it can be written");
        assert!(
            written.contains(r#""structuredContent":{"zebra":1,"apple":null,"text":"a\nb"}"#),
            "{written}"
        );
    }

    #[test]
    fn an_error_is_one_line_of_text() {
        let result = CallToolResult::from(ToolError::new("conflict", "the version is 3"));
        assert_eq!(
            serde_json::to_value(result).expect("it can be written"),
            json!({
                "resultType": "complete",
                "content": [{"type": "text", "text": "conflict: the version is 3"}],
                "isError": true,
            })
        );
    }

    #[test]
    fn ignored_arguments_come_first_in_both_forms() {
        let result = note_ignored(reply(), &["reasoning".to_owned()]);
        assert_eq!(
            text(&result),
            r#"{"ignored":["reasoning"],"zebra":1,"apple":null,"text":"a\nb"}"#
        );
        assert_eq!(
            result
                .structured_content
                .as_ref()
                .map(Value::to_string)
                .as_deref(),
            Some(text(&result))
        );
        assert_eq!(note_ignored(reply(), &[]), reply());
    }

    #[test]
    fn an_error_says_nothing_of_ignored_arguments() {
        let error = || CallToolResult::from(ToolError::internal("x"));
        assert_eq!(note_ignored(error(), &["a".to_owned()]), error());
    }

    #[test]
    fn many_ignored_arguments_take_little_room() {
        let ignored: Vec<_> = (0..1000)
            .map(|number| format!("{number}{}", "x".repeat(1000)))
            .collect();
        let named = named(&ignored);
        assert_eq!(named.as_array().map(Vec::len), Some(MOST_IGNORED + 1));
        assert!(named.to_string().ends_with(r#""and 992 more"]"#));
        assert!(named.to_string().len() < 500);
    }

    #[test]
    fn what_cannot_be_written_is_an_internal_error() {
        let unwritable = std::collections::HashMap::from([((1, 2), 3)]);
        let Ok(CallToolResponse::Complete(result)) = Reply::new(unwritable).into_call_tool_result()
        else {
            panic!("a result is expected")
        };
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).starts_with("internal: "));
    }
}
