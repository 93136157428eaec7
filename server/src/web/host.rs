//! Under which name a browser reached the server. A page somewhere can make its own name lead to an address in a private
//! network (DNS rebinding) and then read what the reader's browser may read: what is open without a token there is open to
//! names that the operator knows, and to plain addresses, which cannot be made to lead elsewhere.

use std::net::IpAddr;

use actix_web::http::header::{self, HeaderMap};
use actix_web::http::uri::Authority;

use super::error::{Code, Problem};

/// Refuses a request whose `Host` is neither this machine, nor an address, nor that of `--public-url`.
pub(super) fn check(headers: &HeaderMap, public_url: Option<&str>) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host else {
        // Browsers always send one.
        return Ok(());
    };
    let known = authority(host).is_some_and(|host| {
        let name = host.host().trim_matches(['[', ']']);
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok()
            || public_url
                .and_then(|url| url.split_once("://"))
                .and_then(|(_, rest)| authority(rest.split('/').next().unwrap_or_default()))
                .is_some_and(|public| public.host().eq_ignore_ascii_case(name))
    });
    if known {
        return Ok(());
    }
    Err(Problem::new(
        Code::Forbidden,
        format!(
            "this server does not know itself as {host:?}: send a token, or start it with --public-url and this name"
        ),
    ))
}

fn authority(text: &str) -> Option<Authority> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn only_known_names_and_addresses_are_let_through() {
        let public = Some("https://kb.example:8443/gpu");
        for (host, allowed) in [
            ("localhost:8080", true),
            ("LOCALHOST", true),
            ("127.0.0.1:8080", true),
            ("10.1.2.3", true),
            ("[::1]:8080", true),
            ("kb.example:8443", true),
            ("KB.example", true),
            ("evil.example", false),
            ("kb.example.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
            assert_eq!(check(&headers, public).is_ok(), allowed, "{host}");
        }
        assert!(check(&HeaderMap::new(), None).is_ok());
    }
}
