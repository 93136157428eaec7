//! Which parameters an address may have. One that is misspelt would change the meaning silently: a filter that does not
//! filter, an order that is not kept. So a call of the interface is refused, and a page says what is wrong.

use std::collections::HashMap;

use actix_web::http::Method;
use actix_web::web::Query;
use kb_core::near;

use super::error::{Code, Problem};

/// What search engines, mail programs and other sites add to the address of a page, and what begins such a name.
const TRACKERS: [&str; 9] = [
    "ref", "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "igshid",
];
const TRACKERS_BEGIN: [&str; 2] = ["utm_", "mc_"];
/// Call and parameter that say something where they are empty: a search for nothing lists everything.
const MAY_BE_EMPTY: (&str, &str) = ("/api/v1/search", "q");

#[derive(Debug)]
pub struct Parameters(HashMap<(Method, String), Allowed>);

#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) names: Vec<String>,
    /// Others link to it, and add parameters of their own.
    pub(super) is_page: bool,
}

impl Parameters {
    pub(super) fn of(routes: impl IntoIterator<Item = ((Method, String), Allowed)>) -> Self {
        Self(routes.into_iter().collect())
    }

    #[cfg(test)]
    pub(super) fn hold(&self, method: &Method, pattern: &str) -> bool {
        self.0.contains_key(&(method.clone(), readable(pattern)))
    }

    pub(super) fn check(&self, method: &Method, pattern: &str, query: &str) -> Result<(), Problem> {
        if query.is_empty() {
            return Ok(());
        }
        let method = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let Some(allowed) = self.0.get(&(method.clone(), readable(pattern))) else {
            return Ok(());
        };
        // What cannot be taken apart its handler refuses.
        let Ok(pairs) = Query::<Vec<(String, String)>>::from_query(query) else {
            return Ok(());
        };
        let unknown = pairs.iter().map(|(name, _)| name.as_str());
        let unknown = unknown.filter(|name| !allowed.has(name));
        if let Some(name) = unknown.into_iter().next() {
            return Err(allowed.refuse(name));
        }
        // A form of a page sends what was not filled in. A program that sends a filter means one, and would get everything.
        let is_asked = !allowed.is_page && method == Method::GET;
        let may_be_empty = |name: &str| (pattern, name) == MAY_BE_EMPTY;
        let mut empty = pairs
            .iter()
            .filter(|(name, value)| value.is_empty() && !may_be_empty(name));
        match empty.next() {
            Some((name, _)) if is_asked => {
                let detail = format!("{name} is empty: leave it out, or give it a value");
                Err(Problem::new(Code::BadQuery, detail))
            }
            _ => Ok(()),
        }
    }
}

impl Allowed {
    fn has(&self, name: &str) -> bool {
        let is_tracker =
            || TRACKERS.contains(&name) || TRACKERS_BEGIN.iter().any(|begin| name.starts_with(begin));
        self.names.iter().any(|known| known == name) || (self.is_page && is_tracker())
    }

    fn refuse(&self, name: &str) -> Problem {
        let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let (what, shown) = (if self.is_page { "page" } else { "call" }, near::shown(name));
        let detail = format!(
            "this {what} has no parameter {shown}: {}",
            near::choices(name, &known)
        );
        Problem::new(Code::BadQuery, detail)
    }
}

/// A pattern without its regular expressions: `/api/v1/records/{id}`.
pub(super) fn readable(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut in_regex = false;
    for character in pattern.chars() {
        match character {
            ':' => in_regex = true,
            '}' => in_regex = false,
            _ => {}
        }
        if !in_regex {
            text.push(character);
        }
    }
    text
}
