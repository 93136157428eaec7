//! An address that is wrong in nothing but the case of its letters or in its slashes, and the one that was meant.

use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse};

use super::{Code, Problem};

/// Below these, names have a case of their own.
const NAMES_WITH_CASE: [&str; 5] = ["a", "kept", "nodes", "reports", "unmatched"];
/// For programs, which are told of their mistakes.
const FOR_PROGRAMS: [&str; 6] = ["api", "healthz", "mcp", "metrics", "readyz", "static"];

pub(super) fn lead(request: &HttpRequest, problem: &Problem) -> Option<HttpResponse> {
    // The other page may know the id or the parameter that this one refused.
    let is_address = matches!(problem.code(), Code::NotFound | Code::BadId | Code::BadQuery);
    if !is_address || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let path = tidied(request.path());
    let is_better = path != request.path() && request.resource_map().match_pattern(&path).is_some();
    if !is_better || is_for_programs(&path) {
        return None;
    }
    let query = match request.query_string() {
        "" => String::new(),
        query => format!("?{query}"),
    };
    let response = HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, format!("{path}{query}")))
        .finish();
    Some(response)
}

/// A path with one slash between its parts, none at its end, and in lower case what has no case of its own. It begins with one
/// slash: behind two a browser reads the name of another server.
fn tidied(path: &str) -> String {
    let mut tidied = String::with_capacity(path.len());
    let mut keeps_case = false;
    for (nth, part) in path.split('/').filter(|part| !part.is_empty()).enumerate() {
        let lower = lower(part);
        if nth == 0 {
            keeps_case = NAMES_WITH_CASE.contains(&lower.as_str());
        }
        tidied.push('/');
        tidied.push_str(if nth > 0 && keeps_case { part } else { &lower });
    }
    if tidied.is_empty() {
        tidied.push('/');
    }
    tidied
}

/// In lower case, but for what is percent-encoded: that is the same in either case.
fn lower(part: &str) -> String {
    let mut encoded = 0;
    let letters = part.chars().map(|letter| {
        encoded = if letter == '%' { 3_u8 } else { encoded };
        let kept = encoded > 0;
        encoded = encoded.saturating_sub(1);
        if kept { letter } else { letter.to_ascii_lowercase() }
    });
    letters.collect()
}

fn is_for_programs(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    FOR_PROGRAMS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::tidied;

    #[test]
    fn names_keep_their_case_and_two_slashes_are_never_left() {
        for (path, expected) in [
            ("/r/CUDA/Peer-Access/", "/r/cuda/peer-access"),
            ("/R//cuda/x/-/Graph", "/r/cuda/x/-/graph"),
            ("/Nodes/Host-A/", "/nodes/Host-A"),
            ("//evil.example/", "/evil.example"),
            ("///", "/"),
            ("/search", "/search"),
            ("/R/CUDA%2FX%3C", "/r/cuda%2Fx%3C"),
        ] {
            assert_eq!(tidied(path), expected);
            assert_eq!(tidied(expected), expected);
        }
    }
}
