//! What was asked for where nothing was found, so that the page of the error can say what is near it.

use std::sync::Arc;

use actix_web::web::{Data, Path, Query};
use actix_web::{FromRequest as _, HttpRequest};
use kb_core::ids::RecordId;
use kb_core::near::nearest;

use super::{Code, Problem};
use crate::domain::records::{Found, find, near};
use crate::feed::Generation;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::pages::failure::{Asked, Kind, Near};
use crate::web::pages::locale;
use crate::web::state::AppState;

pub(super) async fn asked(request: &HttpRequest, problem: &Problem) -> Asked {
    let pattern = request.match_pattern().unwrap_or_default();
    let first = pattern.split('/').nth(1).unwrap_or_default();
    let mut asked = Asked::nothing(locale::of(request));
    asked.kind = match first {
        "nodes" => Kind::Node,
        "reports" => Kind::Report,
        "a" => Kind::Answer,
        "kept" => Kind::Kept,
        "unmatched" => Kind::Unmatched,
        "r" => Kind::Record,
        "graph" if problem.code() != Code::BadQuery => Kind::Record,
        "graph" | "search" => Kind::Domain,
        "" => Kind::Address,
        _ => Kind::Other,
    };
    let is_missing = matches!(problem.code(), Code::NotFound | Code::BadId | Code::BadQuery);
    let Some(state) = request.app_data::<Data<AppState>>().filter(|_| is_missing) else {
        return asked;
    };
    let generation = state.knowledge.current();
    match asked.kind {
        Kind::Record => of_record(request, first, generation, &mut asked).await,
        Kind::Domain => of_domain(request, &generation, &mut asked),
        Kind::Address => {
            let meant = of_path(request.path(), &generation);
            asked.near = shown(&generation, meant.as_slice(), &asked);
        }
        _ => {}
    }
    asked
}

async fn of_record(request: &HttpRequest, first: &str, generation: Arc<Generation>, asked: &mut Asked) {
    let names = if first == "r" {
        let path = Path::<String>::extract(request).await;
        let path = path.map(Path::into_inner).unwrap_or_default();
        let id = path.split("/-/").next().unwrap_or_default();
        let id = id.strip_suffix(".json").or(id.strip_suffix(".md")).unwrap_or(id);
        vec![id.to_owned()]
    } else {
        parameters(request, &["from", "to"])
    };
    let is_known = |name: &String| {
        let found = find(&generation, name);
        matches!(found, Ok(Found::Published(_) | Found::Moved(_)))
    };
    let Some(name) = names.iter().find(|name| !is_known(name)) else {
        // The record is there, and what was asked of it is not.
        asked.kind = Kind::OfRecord;
        let records: Vec<RecordId> = names.iter().filter_map(|name| name.parse().ok()).collect();
        asked.near = shown(&generation, &records, asked);
        return;
    };
    asked.words = name.replace(['/', '-', '_'], " ");
    let (name, searched) = (name.clone(), Arc::clone(&generation));
    let work = move || near(&searched, &name);
    let found = Desk::of(request).compute(ALL_RECORDS, work).await;
    // Without them the page is still right.
    asked.near = shown(&generation, &found.unwrap_or_default(), asked);
}

fn shown(generation: &Generation, records: &[RecordId], asked: &Asked) -> Vec<Near> {
    let of = records
        .iter()
        .filter_map(|id| Near::of(generation, id, asked.locale));
    of.collect()
}

fn of_domain(request: &HttpRequest, generation: &Generation, asked: &mut Asked) {
    let domains = &generation.graph.domains().domains;
    let known: Vec<&str> = domains.iter().map(|domain| domain.name.as_str()).collect();
    let wrong = parameters(request, &["domain", "from", "to"]);
    let wrong = wrong.iter().find(|name| !known.contains(&name.as_str()));
    match wrong {
        Some(wrong) => asked.domain = nearest(wrong, known.iter().copied()).map(str::to_owned),
        None => asked.kind = Kind::Other,
    }
}

/// The record whose id an address ends in: `/cuda/x`, `/records/cuda/x`.
fn of_path(path: &str, generation: &Generation) -> Option<RecordId> {
    let path = path.trim_matches('/').to_ascii_lowercase();
    let rest = path.split_once('/').map(|(_, rest)| rest);
    [Some(path.as_str()), rest]
        .into_iter()
        .flatten()
        .find_map(|id| match find(generation, id) {
            Ok(Found::Published(published)) => Some(published.record.id().clone()),
            Ok(Found::Moved(now)) => Some(now),
            _ => None,
        })
}

fn parameters(request: &HttpRequest, names: &[&str]) -> Vec<String> {
    let pairs = Query::<Vec<(String, String)>>::from_query(request.query_string());
    let pairs = pairs.map(Query::into_inner).unwrap_or_default();
    let value = |name: &&str| pairs.iter().find(|(given, _)| given == name);
    let values = names.iter().filter_map(value);
    values.map(|(_, value)| value.trim().to_owned()).collect()
}
