//! The cookie that holds the secret of a session.

use actix_web::http::header::HeaderMap;

use super::Way;
use actix_web::http::header;

/// Over TLS the name begins with `__Host-`: no other host can set it, and it is never sent without TLS (RFC 6265bis).
const SECURE: &str = "__Host-peerless";
/// Over plain http browsers refuse that name.
const PLAIN: &str = "peerless";

/// The secret that the browser shows, where a cookie may be used on this way.
pub(in crate::web) fn secret(headers: &HeaderMap, way: Way, insecure_login: bool) -> Option<String> {
    named(headers, name(way, insecure_login)?)
}

pub(in crate::web) fn pending(headers: &HeaderMap, way: Way, insecure_login: bool) -> Option<String> {
    named(headers, &format!("{}-login", name(way, insecure_login)?))
}

/// The header that keeps it, and with nothing takes it away.
pub(in crate::web) fn set_pending(text: &str, way: Way) -> String {
    let (name, secure) = match way {
        Way::Tls => (SECURE, "; Secure"),
        Way::Loopback | Way::Plain => (PLAIN, ""),
    };
    let seconds = if text.is_empty() { 0 } else { 600 };
    format!("{name}-login={text}; Path=/{secure}; HttpOnly; SameSite=Lax; Max-Age={seconds}")
}

fn named(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers
        .get_all(header::COOKIE)
        .filter_map(|line| line.to_str().ok());
    let pairs = cookies.flat_map(|line| line.split(';'));
    let mut own = pairs.filter_map(|pair| {
        let (found, value) = pair.trim().split_once('=')?;
        (found == name).then(|| value.to_owned())
    });
    let first = own.next()?;
    // Two of one name: somebody else set one of them.
    own.next().is_none().then_some(first)
}

/// The name of the cookie; `None` where none may be used.
fn name(way: Way, insecure_login: bool) -> Option<&'static str> {
    match way {
        Way::Tls => Some(SECURE),
        Way::Loopback => Some(PLAIN),
        Way::Plain => insecure_login.then_some(PLAIN),
    }
}

/// The header that hands the secret to the browser. It holds nothing that came from outside.
pub fn set(secret: &str, way: Way) -> String {
    match way {
        Way::Tls => format!("{SECURE}={secret}; Path=/; Secure; HttpOnly; SameSite=Lax"),
        Way::Loopback | Way::Plain => format!("{PLAIN}={secret}; Path=/; HttpOnly; SameSite=Lax"),
    }
}

pub fn cleared(way: Way) -> String {
    set("", way) + "; Max-Age=0"
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn shown(cookie: &'static str, way: Way, insecure: bool) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
        secret(&headers, way, insecure)
    }

    #[test]
    fn each_way_has_its_cookie() {
        let both = "a=b; peerless=plain; __Host-peerless=safe";
        assert_eq!(shown(both, Way::Tls, false).as_deref(), Some("safe"));
        assert_eq!(shown(both, Way::Loopback, false).as_deref(), Some("plain"));
        assert_eq!(shown(both, Way::Plain, true).as_deref(), Some("plain"));
        assert_eq!(shown(both, Way::Plain, false), None);
        assert_eq!(shown("peerless=plain", Way::Tls, true), None);
    }

    #[test]
    fn a_cookie_that_comes_twice_is_none() {
        assert_eq!(shown("peerless=a; peerless=b", Way::Loopback, false), None);
    }
}
