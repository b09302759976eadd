//! The protocol's side of the tools: listing them, and calling one.
//!
//! The order of a call: find the tool, check the arguments, dispatch. What is wrong before the
//! arguments is an error of the protocol; from there on it is the tool's answer, so that the model
//! reads it and can do better.

use std::{any::Any, borrow::Cow, collections::HashMap, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, tool::ToolCallContext},
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString,
        CustomRequest, CustomResult, ErrorCode, GetPromptRequestMethod, GetPromptRequestParams,
        GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
        ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
        ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, PromptsCapability, ReadResourceRequestMethod,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
        ResourcesCapability, ServerCapabilities, ServerConfig, SubscribeRequestMethod,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestMethod,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::Value;

use super::{
    arguments,
    library::{self, Library, Subscriptions},
    reply::{ToolError, note_ignored},
    schema::{self, SchemaError},
    text::{abbreviated, meant},
};

/// The name this server gives itself.
const NAME: &str = "ai-coord";

/// How long a client may keep the list of tools: it changes only with the program.
const LIST_FRESH_MS: u64 = 5 * 60 * 1000;

/// The methods that every server has, beside calling a tool.
const OF_ALL: [&str; 4] = ["initialize", "server/discover", "ping", "tools/list"];

/// The methods that only a server with a library has.
const OF_A_LIBRARY: [&str; 8] = [
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
];

/// The methods that 2026-07-28 does not have any more.
const REMOVED: [&str; 3] = ["ping", "resources/subscribe", "resources/unsubscribe"];

/// The methods that the revisions before it do not have yet.
const ADDED: [&str; 1] = ["subscriptions/listen"];

/// An MCP server for tools that hang on `T`.
pub struct Server<T> {
    state: T,
    router: ToolRouter<T>,
    /// As they are listed, with published schemas.
    tools: Vec<Tool>,
    /// The full schemas, by tool.
    schemas: HashMap<Cow<'static, str>, JsonObject>,
    instructions: String,
    library: Option<Arc<dyn Library>>,
    subscriptions: Arc<Subscriptions>,
}

impl<T: Send + Sync + 'static> Server<T> {
    /// Serves the tools of `router`, which run on `state`. The instructions tell a model when to
    /// use them.
    pub fn new(
        state: T,
        mut router: ToolRouter<T>,
        instructions: impl Into<String>,
    ) -> Result<Self, SchemaError> {
        let schemas = publish(&mut router)?;
        let tools = router.list_all();
        Ok(Self {
            state,
            router,
            tools,
            schemas,
            instructions: instructions.into(),
            library: None,
            subscriptions: Arc::default(),
        })
    }

    /// Offers this to be read, too.
    pub(crate) fn with_library(self, library: Arc<dyn Library>) -> Self {
        Self {
            library: Some(library),
            ..self
        }
    }

    /// What there is to read. Without any, its methods are not known.
    fn library<M: ConstString>(&self) -> Result<&Arc<dyn Library>, ErrorData> {
        let unknown = ErrorData::method_not_found::<M>;
        self.library.as_ref().ok_or_else(unknown)
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
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if self.library.is_some() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
            capabilities.prompts = Some(PromptsCapability::default());
        }
        ServerConfig::new(capabilities)
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

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let library = self.library::<ListResourcesRequestMethod>()?;
        let cursor = request.and_then(|it| it.cursor);
        let page = library.resources(cursor).await?;
        let mut result = ListResourcesResult::with_all_items(page.resources);
        result.next_cursor = page.next_cursor;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let library = self.library::<ListResourceTemplatesRequestMethod>()?;
        Ok(ListResourceTemplatesResult::with_all_items(
            library.templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let library = self.library::<ReadResourceRequestMethod>()?;
        let content = library.read(request.uri.clone()).await?;
        let text = ResourceContents::text(content.to_string(), request.uri);
        let contents = vec![text.with_mime_type("application/json")];
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let library = self.library::<SubscribeRequestMethod>()?;
        // Says what is wrong with the name, or that there is nothing of it.
        library.read(request.uri.clone()).await?;
        let subscriptions = self.subscriptions.clone();
        subscriptions
            .add(library.clone(), context.peer, request.uri)
            .await;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.library::<UnsubscribeRequestMethod>()?;
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let library = self.library.as_ref()?;
        Some(library::accepted(library.as_ref(), requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        if let Some(library) = &self.library {
            library::listen(library.as_ref(), &context).await;
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let library = self.library::<ListPromptsRequestMethod>()?;
        Ok(ListPromptsResult::with_all_items(library.prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let library = self.library::<GetPromptRequestMethod>()?;
        let arguments = request.arguments.unwrap_or_default();
        Ok(library.prompt(&request.name, &arguments)?.into())
    }

    /// Requests that are no known method, or whose params don't fit it.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = abbreviated(&request.method, 60);
        let version = context.protocol_version();
        let is_modern = version.is_some_and(|version| !version.has_initialize());
        let removed: &[&str] = if is_modern { &REMOVED } else { &ADDED };
        Err(match request.method.as_str() {
            other if removed.contains(&other) => unknown_method(&method),
            "tools/call" => {
                ErrorData::invalid_params(malformed_call(request.params.as_ref()), None)
            }
            known
                if OF_ALL.contains(&known)
                    || self.library.is_some() && OF_A_LIBRARY.contains(&known) =>
            {
                ErrorData::invalid_params(format!("malformed params for {method}"), None)
            }
            _ => unknown_method(&method),
        })
    }
}

fn unknown_method(method: &str) -> ErrorData {
    let text = format!("unknown method {method}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)
}

/// Makes of the tools what clients see of them, and returns the full schemas, by tool.
pub(super) fn publish<T: Send + Sync + 'static>(
    router: &mut ToolRouter<T>,
) -> Result<HashMap<Cow<'static, str>, JsonObject>, SchemaError> {
    let mut schemas = HashMap::new();
    for (name, route) in &mut router.map {
        let full = schema::full(name, &route.attr.input_schema)?;
        route.attr.input_schema = schema::published(&full).into();
        // Wrapped for the eyes of whoever reads the source.
        let description = route.attr.description.take();
        route.attr.description = description.map(|it| it.replace('\n', " ").into());
        schemas.insert(name.clone(), full);
    }
    Ok(schemas)
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
