//! `POST /mcp`: from actix to rmcp, which speaks the protocol, and back. Two versions of the `http` crate meet here.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{self, Bytes, Payload};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use http_body_util::{BodyExt as _, Full};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;

use super::tools::{Source, Tools};
use crate::web::auth::{Anyone, Caller};
use crate::web::compute::Desk;
use crate::web::error::{Code, Problem};
use crate::web::held::held;
use crate::web::links::base_url;
use crate::web::state::AppState;
use crate::web::{body, limits};

/// Hosts by which a server is reached on its own machine. Others must be named by `--public-url`: a page somewhere must not
/// reach a server in a private network through the browser of one who can (DNS rebinding).
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

pub async fn mcp(
    caller: Anyone,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let bound = body::Bound::Values(limits::JSON_VALUES);
    let message = body::json_text(&request, payload, limits::MCP_BYTES, bound).await?;
    let says_json = request.content_type().eq_ignore_ascii_case("application/json");
    let mut asked = http::Request::builder().method("POST").uri("/mcp");
    for (name, value) in request.headers() {
        // The body is plain by now.
        if !matches!(
            name.as_str(),
            "content-encoding" | "content-length" | "transfer-encoding"
        ) {
            asked = asked.header(name.as_str(), value.as_bytes());
        }
    }
    let mut asked = asked
        .body(Full::new(Bytes::from(message)))
        .map_err(|error| Problem::internal(&error))?;
    asked.extensions_mut().insert(Caller(caller.0));

    let base_url = base_url(&request, &state);
    let answers = state.answers.clone();
    let (head, answer) = service(state, base_url, Desk::of(&request))
        .handle(asked)
        .await
        .into_parts();
    let Ok(answer) = answer.collect().await;
    let status = StatusCode::from_u16(head.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if !status.is_success() && !head.headers.contains_key(http::header::CONTENT_TYPE) {
        let mut why = String::from_utf8_lossy(&answer.to_bytes()).into_owned();
        if status == StatusCode::FORBIDDEN {
            why.push_str(". A server that is reached under another name than localhost must know it: start it with --public-url");
        }
        // What is no message of the protocol rmcp refuses as it refuses another type.
        let code = match code(status) {
            Code::UnsupportedType if says_json => Code::MalformedBody,
            code => code,
        };
        return Err(Problem::new(code, why));
    }
    let mut response = HttpResponse::build(status);
    for (name, value) in &head.headers {
        response.insert_header((name.as_str(), value.as_bytes()));
    }
    held(response, answer.to_bytes(), &answers)
}

/// Our code for what rmcp refuses before there is a message to answer.
fn code(status: StatusCode) -> Code {
    match status {
        StatusCode::FORBIDDEN => Code::Forbidden,
        StatusCode::NOT_ACCEPTABLE => Code::NotAcceptable,
        StatusCode::PAYLOAD_TOO_LARGE => Code::TooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedType,
        status if status.is_client_error() => Code::MalformedBody,
        _ => Code::Internal,
    }
}

fn service(
    state: web::Data<AppState>,
    base_url: String,
    desk: Desk,
) -> StreamableHttpService<Tools, NeverSessionManager> {
    let public_url = state.settings.public_url.as_deref();
    let mut hosts: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
    let mut origins: Vec<String> = LOOPBACK.map(|host| format!("http://{host}:*")).to_vec();
    if let Some((scheme, rest)) = public_url.and_then(|url| url.split_once("://")) {
        let authority = rest.split('/').next().unwrap_or_default();
        // Programs leave out the port that a scheme has anyway.
        let default = if scheme.eq_ignore_ascii_case("https") {
            ":443"
        } else {
            ":80"
        };
        let authority = authority.strip_suffix(default).unwrap_or(authority);
        hosts.push(authority.to_owned());
        origins.push(format!("{scheme}://{authority}"));
    }
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_max_request_body_bytes(usize::try_from(limits::MCP_BYTES).unwrap_or(usize::MAX))
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins);
    let tools = move || {
        Ok(Tools {
            source: Source::Live(Arc::clone(&state.knowledge)),
            store: Some(Arc::clone(&state.store)),
            clock: Arc::clone(&state.clock),
            token: None,
            base_url: Some(base_url.clone()),
            answers: state.answers.clone(),
            desk: desk.clone(),
        })
    };
    StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config)
}
