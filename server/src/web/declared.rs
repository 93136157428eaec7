//! The parameters of all routes: those of the interface from its description, those of the pages from their list.

use actix_web::http::Method;
use utoipa::OpenApi as _;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};

use super::api::openapi::Description;
use super::pages;
use super::parameters::{Allowed, Parameters, readable};

const OF_PAGES: [&str; 1] = ["lang"];

pub fn parameters() -> Parameters {
    let paths = Description::openapi().paths.paths;
    // Those who watch a server may add what they like.
    let calls = paths.into_iter().filter(|(path, _)| path.starts_with("/api/"));
    let pages = pages::PARAMETERS.iter().map(|(method, pattern, own)| {
        let names = OF_PAGES.iter().chain(*own).map(|name| (*name).to_owned());
        let names = names.collect();
        let is_page = true;
        ((method.clone(), readable(pattern)), Allowed { names, is_page })
    });
    Parameters::of(calls.flat_map(of_path).chain(pages))
}

fn of_path((path, item): (String, PathItem)) -> impl Iterator<Item = ((Method, String), Allowed)> {
    let operations = [
        (Method::GET, item.get),
        (Method::POST, item.post),
        (Method::PUT, item.put),
    ];
    operations.into_iter().filter_map(move |(method, operation)| {
        let allowed = Allowed {
            names: names(operation?),
            is_page: false,
        };
        Some(((method, path.clone()), allowed))
    })
}

fn names(operation: Operation) -> Vec<String> {
    let all = operation.parameters.into_iter().flatten();
    let all = all.filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    });
    all.filter(|parameter| parameter.parameter_in == ParameterIn::Query)
        .map(|parameter| parameter.name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::routes;

    /// Those that answer with a file, are asked by machines that watch, speak the protocol of assistants, or come from a provider
    /// that adds parameters of its own.
    const FREE: [&str; 13] = [
        "/login/oidc/done",
        "/healthz",
        "/readyz",
        "/metrics",
        "/mcp",
        "/static/{file}",
        "/tab/signatures",
        "/tab/{file}",
        "/feed.atom",
        "/llms.txt",
        "/robots.txt",
        "/opensearch.xml",
        "/favicon.ico",
    ];

    #[test]
    fn every_route_is_held_to_its_parameters() {
        let parameters = parameters();
        for declared in routes().table().iter() {
            let pattern = readable(declared.pattern);
            let is_free = FREE.contains(&pattern.as_str());
            assert!(
                parameters.hold(&declared.method, &pattern) != is_free,
                "{} {pattern}",
                declared.method
            );
        }
    }

    #[test]
    fn trackers_may_follow_a_page_and_nothing_else() {
        let parameters = parameters();
        let check = |path: &str, query: &str| {
            let refused = parameters.check(&Method::GET, path, query).err();
            refused.map(|problem| problem.detail().to_owned())
        };
        for query in [
            "",
            "q=x&utm_source=y&fbclid=1&gclid=2&ref=z&lang=zh",
            "domain=cuda",
        ] {
            assert_eq!(check("/search", query), None, "{query}");
        }
        let refused = check("/search", "domian=cuda").unwrap();
        assert!(refused.contains("`domian`: did you mean domain?"), "{refused}");
        assert!(check("/search", "severity=eror").unwrap().contains("tier"));
        assert!(check("/api/v1/search", "utm_source=y").is_some());
        for (path, query, name) in [
            ("/api/v1/search", "domain=&q=", Some("domain")),
            ("/api/v1/search", "q=&domain=cuda", None),
            ("/api/v1/nodes", "q=", Some("q")),
            ("/api/v1/nodes", "model=", Some("model")),
            ("/api/v1/audit", "actor=", Some("actor")),
            ("/nodes", "model=", None),
        ] {
            let told = check(path, query);
            let expected = name.map(|name| format!("{name} is empty: leave it out, or give it a value"));
            assert_eq!(told, expected, "{path}?{query}");
        }
        assert!(
            check("/api/v1/signatures", "x=1")
                .unwrap()
                .contains("there are none")
        );
        assert_eq!(check("/healthz", "x=1"), None);
    }
}
