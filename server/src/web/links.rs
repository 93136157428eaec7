//! Where the server is, for addresses that leave it.

use actix_web::HttpRequest;
use actix_web::http::header;

use super::state::AppState;

/// Where readers reach this server, for commands that they copy and addresses that leave it.
pub(super) fn base_url(request: &HttpRequest, state: &AppState) -> String {
    if let Some(url) = &state.settings.public_url {
        return url.clone();
    }
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    format!("http://{}", host.unwrap_or("127.0.0.1:8080"))
}
