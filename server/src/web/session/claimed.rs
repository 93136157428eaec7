//! The login that a proxy names, which has signed somebody on.

use actix_web::http::header::HeaderMap;
use std::net::SocketAddr;

use crate::web::state::AppState;

#[expect(
    clippy::option_option,
    reason = "no proxy, a proxy that names nobody, and a login are three answers"
)]
/// What the proxy says; the outer `None`: no proxy is in front that may say anything.
pub(in crate::web) fn claimed(
    peer: Option<SocketAddr>,
    headers: &HeaderMap,
    state: &AppState,
) -> Option<Option<String>> {
    let name = state.settings.login_header.as_deref()?;
    if !state.limiter.is_proxy(peer) {
        return None;
    }
    let mut lines = headers.get_all(name);
    let first = lines.next().and_then(|value| value.to_str().ok());
    // Two lines: one of them is the client's.
    let only = first.filter(|_| lines.next().is_none());
    Some(
        only.map(str::trim)
            .filter(|login| !login.is_empty())
            .map(str::to_owned),
    )
}
