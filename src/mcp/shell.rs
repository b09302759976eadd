//! What surrounds every request, whatever it asks for: the two revisions' rules about versions.
//!
//! One connection may carry both revisions in any order: `initialize` and the requests that rest on
//! it (up to 2025-11-25), and requests that bring everything along in `_meta` (2026-07-28). Which
//! one a request belongs to is decided by the request alone.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, Service,
    model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::caller::Shutdown;

/// Where a modern result names its server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

const NO_VERSION: &str = "no protocol version: send initialize first (revisions up to 2025-11-25), \
    or name one in params._meta[\"io.modelcontextprotocol/protocolVersion\"] (2026-07-28)";

/// Wraps a handler for one conversation.
#[derive(Debug)]
pub(crate) struct Shell<H> {
    handler: H,
    server_info: Option<Value>,
    shutdown: CancellationToken,
}

impl<H: ServerHandler> Shell<H> {
    /// Callers see `shutdown` as theirs: see [`Caller`](super::caller::Caller).
    pub(crate) fn new(handler: H, shutdown: CancellationToken) -> Self {
        let server_info = serde_json::to_value(handler.get_info().server_info).ok();
        Self {
            handler,
            server_info,
            shutdown,
        }
    }

    /// Modern clients have no `initialize` result to know the server by.
    fn sign(&self, result: &mut ServerResult) {
        let meta = match result {
            ServerResult::CallToolResult(result) => &mut result.meta,
            ServerResult::ListToolsResult(result) => &mut result.meta,
            ServerResult::DiscoverResult(result) => &mut result.meta,
            ServerResult::ListResourcesResult(result) => &mut result.meta,
            ServerResult::ListResourceTemplatesResult(result) => &mut result.meta,
            ServerResult::ReadResourceResult(result) => &mut result.meta,
            ServerResult::ListPromptsResult(result) => &mut result.meta,
            ServerResult::GetPromptResult(result) => &mut result.meta,
            _ => return,
        };
        if let Some(server_info) = &self.server_info {
            meta.get_or_insert_default()
                .insert(SERVER_INFO.to_owned(), server_info.clone());
        }
    }
}

impl<H: ServerHandler> Service<RoleServer> for Shell<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if context.protocol_version().is_none() && !needs_no_version(&request) {
            return Err(ErrorData::invalid_params(NO_VERSION, None));
        }
        let is_modern = context
            .meta
            .protocol_version()
            .is_some_and(|version| !version.has_initialize());
        context
            .extensions
            .insert(Shutdown::from(self.shutdown.clone()));
        let mut result = self.handler.handle_request(request, context).await?;
        if is_modern {
            self.sign(&mut result);
        }
        Ok(result)
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler
            .handle_notification(notification, context)
            .await
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.handler)
    }
}

/// `initialize` establishes the version, also where its params are malformed and have to be
/// explained; `ping` may come before it.
fn needs_no_version(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) | ClientRequest::PingRequest(_) => true,
        ClientRequest::CustomRequest(request) => request.method == "initialize",
        _ => false,
    }
}
