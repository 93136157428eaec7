//! Whether a request was sent by a page of this server: browsers say so, and pages of others cannot say it for them.

use actix_web::http::header::{self, HeaderMap};
use actix_web::http::uri::{Authority, Uri};

/// True where `Origin`, or `Referer` without it, names the host that was asked, or that of `--public-url`.
pub(in crate::web) fn is_own(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(from) = text(header::ORIGIN).or_else(|| text(header::REFERER)) else {
        return false;
    };
    let Some(from) = authority(from) else {
        return false;
    };
    let host: Option<Authority> = text(header::HOST).and_then(|host| host.parse().ok());
    let public = public_url.and_then(authority);
    [host, public]
        .into_iter()
        .flatten()
        .any(|own| own.as_str().eq_ignore_ascii_case(from.as_str()))
}

fn authority(url: &str) -> Option<Authority> {
    let uri: Uri = url.parse().ok()?;
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    uri.authority().filter(|_| is_web).cloned()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn own(lines: &[(header::HeaderName, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("kb.local:8080"));
        for (name, value) in lines {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
        is_own(&headers, Some("https://kb.example/gpu"))
    }

    #[test]
    fn only_pages_of_this_server_are_own() {
        for origin in ["http://kb.local:8080", "https://kb.example", "https://KB.example"] {
            assert!(own(&[(header::ORIGIN, origin)]), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://kb.local",
            "http://kb.local:8081",
            "https://evil.example",
            "https://kb.example.evil.example",
            "https://evil.example/kb.example",
            "ftp://kb.example",
            "kb.example",
        ] {
            assert!(!own(&[(header::ORIGIN, origin)]), "{origin}");
        }
        assert!(own(&[(header::REFERER, "http://kb.local:8080/account?x=y")]));
        assert!(!own(&[(
            header::REFERER,
            "http://evil.example/?http://kb.local:8080/"
        )]));
        assert!(!own(&[
            (header::ORIGIN, "null"),
            (header::REFERER, "http://kb.local:8080/")
        ]));
        assert!(!own(&[]));
    }
}
