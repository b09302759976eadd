//! A tool's request, extracted from arguments that have been checked.

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    handler::server::{common::FromContextPart, tool::ToolCallContext},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Take `Parameters(request): Parameters<CreateTask>` in a tool: its schema is `CreateTask`'s.
///
/// `rmcp`'s macro finds this type by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters<P>(pub P);

impl<P: JsonSchema> JsonSchema for Parameters<P> {
    fn schema_name() -> Cow<'static, str> {
        P::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        P::json_schema(generator)
    }
}

impl<S, P: DeserializeOwned> FromContextPart<ToolCallContext<'_, S>> for Parameters<P> {
    /// The arguments fit the schema already, so what fails here is a rule that only the request's
    /// types know. The server turns it into the tool's error.
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        let arguments = Value::Object(context.arguments.take().unwrap_or_default());
        serde_path_to_error::deserialize(arguments)
            .map(Self)
            .map_err(|error| {
                let path = error.path().to_string();
                let problem = error.into_inner();
                let message = if path == "." {
                    problem.to_string()
                } else {
                    format!("{path}: {problem}")
                };
                ErrorData::invalid_params(message, None)
            })
    }
}
