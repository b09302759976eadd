//! The protocol's side of the tools: listing them, and calling one.
//!
//! The order of a call: find the tool, check the arguments, dispatch. What is wrong before the
//! arguments is an error of the protocol; from there on it is the tool's answer, so that the model
//! reads it and can do better.

use std::{any::Any, borrow::Cow, collections::HashMap, panic::AssertUnwindSafe};

use futures::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, tool::ToolCallContext},
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest,
        CustomResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult,
        JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{
    arguments,
    reply::{ToolError, note_ignored},
    schema::{self, SchemaError},
    text::{abbreviated, meant},
};

/// The name this server gives itself.
const NAME: &str = "ai-coord";

/// How long a client may keep the list of tools: it changes only with the program.
const LIST_FRESH_MS: u64 = 5 * 60 * 1000;

/// An MCP server for tools that hang on `T`.
pub struct Server<T> {
    state: T,
    router: ToolRouter<T>,
    /// As they are listed, with published schemas.
    tools: Vec<Tool>,
    /// The full schemas, by tool.
    schemas: HashMap<Cow<'static, str>, JsonObject>,
    instructions: String,
}

impl<T: Send + Sync + 'static> Server<T> {
    /// Serves the tools of `router`, which run on `state`. The instructions tell a model when to
    /// use them.
    pub fn new(
        state: T,
        mut router: ToolRouter<T>,
        instructions: impl Into<String>,
    ) -> Result<Self, SchemaError> {
        let mut schemas = HashMap::new();
        for (name, route) in &mut router.map {
            let full = schema::full(name, &route.attr.input_schema)?;
            route.attr.input_schema = schema::published(&full).into();
            // Wrapped for the eyes of whoever reads the source.
            let description = route.attr.description.take();
            route.attr.description = description.map(|it| it.replace('\n', " ").into());
            schemas.insert(name.clone(), full);
        }
        let tools = router.list_all();
        Ok(Self {
            state,
            router,
            tools,
            schemas,
            instructions: instructions.into(),
        })
    }

    /// The tools as clients see them, by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        // Some models call a tool by the name their client shows it under, with the server's in
        // front.
        let known = || self.tools.iter().map(|tool| tool.name.as_ref());
        let advice = match known()
            .find(|known| name.ends_with(known))
            .or_else(|| meant(name, known()))
        {
            Some(known) => format!("did you mean {known}?"),
            None => "tools/list names those there are".into(),
        };
        ErrorData::invalid_params(
            format!("unknown tool {:?}: {advice}", abbreviated(name, 60)),
            None,
        )
    }

    async fn dispatch(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        schema: &JsonObject,
    ) -> Result<CallToolResult, ToolError> {
        let given = request.arguments.take().unwrap_or_default();
        let (arguments, ignored) = arguments::check(&request.name, schema, given)?.into_parts();
        request.arguments = Some(arguments);
        match self
            .router
            .call(ToolCallContext::new(&self.state, request, context))
            .await
        {
            Ok(CallToolResponse::Complete(result)) => Ok(note_ignored(result, &ignored)),
            Ok(_) => Err(ToolError::internal(
                "the tool answered with something other than its result",
            )),
            // Only the extraction of parameters fails in this way.
            Err(error) if error.code == ErrorCode::INVALID_PARAMS => {
                Err(ToolError::new("invalid_arguments", error.message))
            }
            Err(error) => Err(ToolError::internal(error.message)),
        }
    }
}

impl<T: Send + Sync + 'static> ServerHandler for Server<T> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(NAME, env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.clone())
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // Later requests go by what was agreed on, not by what was asked for.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let is_modern = context
            .protocol_version()
            .is_some_and(|version| !version.has_initialize());
        let mut result = ListToolsResult::with_all_items(self.tools.clone());
        result.ttl_ms = is_modern.then_some(LIST_FRESH_MS);
        result.cache_scope = is_modern.then_some(CacheScope::Public);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.router.get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let schema = self
            .schemas
            .get(&name)
            .ok_or_else(|| self.unknown_tool(&name))?;
        // Without an answer the client would wait for its time-out.
        let outcome = AssertUnwindSafe(self.dispatch(request, context, schema))
            .catch_unwind()
            .await;
        let result = outcome.unwrap_or_else(|panic| Err(panicked(&name, panic.as_ref())));
        Ok(result.unwrap_or_else(CallToolResult::from).into())
    }

    /// Requests that are no known method, or whose params don't fit it.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = abbreviated(&request.method, 60);
        Err(match request.method.as_str() {
            "tools/call" => {
                ErrorData::invalid_params(malformed_call(request.params.as_ref()), None)
            }
            "initialize" | "server/discover" | "ping" | "tools/list" => {
                ErrorData::invalid_params(format!("malformed params for {method}"), None)
            }
            _ => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("unknown method {method}"),
                None,
            ),
        })
    }
}

fn malformed_call(params: Option<&Value>) -> &'static str {
    match params {
        Some(params) if !params.get("name").is_some_and(Value::is_string) => {
            "tools/call: name must be a string, the name of a tool"
        }
        Some(params)
            if params
                .get("arguments")
                .is_some_and(|arguments| !arguments.is_object()) =>
        {
            "tools/call: arguments must be an object"
        }
        Some(_) => "tools/call: malformed params",
        None => "tools/call: params with the name of a tool are missing",
    }
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolError {
    let text = panic.downcast_ref::<&str>().copied();
    let reason = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    tracing::error!(tool, reason, "a tool panicked");
    let reason = abbreviated(reason, 200);
    ToolError::internal(format!(
        "{tool} failed through a defect of this server ({reason}): \
         read the state before you try again, and report it"
    ))
}
