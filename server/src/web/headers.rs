//! Headers that every answer carries, errors included.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

/// Nothing is loaded from elsewhere and nothing inline runs.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(super) fn secure(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        // To this server alone: with `no-referrer` browsers do not tell the origin of a form either.
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        let name = HeaderName::from_static(name);
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}
