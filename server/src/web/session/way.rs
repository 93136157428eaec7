//! How a request came here: a secret may go over TLS, or stay on this machine.

use std::net::SocketAddr;

use actix_web::http::header::{self, HeaderMap};

use crate::web::state::AppState;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Encrypted up to the proxy in front.
    Tls,
    /// From this machine, without a proxy between.
    Loopback,
    /// Readable by whoever is on the way.
    Plain,
}

impl Way {
    pub fn of(peer: Option<SocketAddr>, headers: &HeaderMap, state: &AppState) -> Self {
        let text = |name: &str| {
            let last = headers.get_all(name).last();
            last.and_then(|value| value.to_str().ok())
        };
        let is_trusted = state.limiter.is_proxy(peer);
        if is_trusted {
            let protocol = text("x-forwarded-proto").and_then(|value| value.rsplit(',').next());
            if protocol.is_some_and(|protocol| protocol.trim().eq_ignore_ascii_case("https")) {
                return Self::Tls;
            }
        }
        let host = text(header::HOST.as_str()).unwrap_or_default();
        if is_public(host, state.settings.public_url.as_deref()) {
            return Self::Tls;
        }
        let is_forwarded = text("x-forwarded-for").is_some() || text("forwarded").is_some();
        let is_here = peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback());
        if is_here && !is_forwarded {
            Self::Loopback
        } else {
            Self::Plain
        }
    }
}

fn is_public(host: &str, public_url: Option<&str>) -> bool {
    let Some((scheme, rest)) = public_url.and_then(|url| url.split_once("://")) else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let bare = |host: &str| host.strip_suffix(":443").unwrap_or(host).to_ascii_lowercase();
    scheme.eq_ignore_ascii_case("https") && !host.is_empty() && bare(host) == bare(authority)
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn only_the_public_host_is_behind_tls() {
        let public = Some("https://kb.example/gpu");
        assert!(is_public("KB.example", public) && is_public("kb.example:443", public));
        for host in ["", "kb.example:8080", "10.0.0.1", "evil.example"] {
            assert!(!is_public(host, public), "{host}");
        }
        assert!(!is_public("kb.example", Some("http://kb.example")));
        assert!(!is_public("kb.example", None));
    }
}
