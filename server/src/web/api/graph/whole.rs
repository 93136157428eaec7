//! `GET /api/v1/graph`: the whole graph, for programs that draw and compute.

use actix_web::http::header;
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::kinds;
use crate::domain::graph::{Format, GraphAnswer, pieces};
use crate::web::accept;
use crate::web::auth::Anyone;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::etag;
use crate::web::fresh::{Fresh, begin};
use crate::web::state::AppState;

/// The forms, by their word in the address.
const FORMATS: [(&str, Format, &str); 3] = [
    ("json", Format::Json, "application/json"),
    ("graphml", Format::GraphMl, "application/graphml+xml"),
    ("dot", Format::Dot, "text/vnd.graphviz"),
];

/// Which form of what.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WholeQuery {
    /// `json`, `graphml` or `dot`; else the form that `Accept` wants most, `json` where it wants any.
    format: Option<String>,
    /// Kinds of edges, separated by commas: `leads_to`, `preceded_by`, `frequently_confused_with`; all unless said.
    kinds: Option<String>,
}

/// All published records and the edges that they state, sent as it is made.
#[utoipa::path(get, path = "/api/v1/graph", operation_id = "get_graph", tag = "graph", params(WholeQuery), responses(
    (status = 200, description = "The graph",
        content((GraphAnswer = "application/json"), (String = "application/graphml+xml"), (String = "text/vnd.graphviz")),
        headers(("ETag", description = "Changes with the published knowledge; each form has its own"))),
    (status = 304, description = "Nothing changed"),
    (status = 400, description = "No such form or kind", body = ProblemBody),
    (status = 406, description = "`Accept` allows no form of the answer", body = ProblemBody),
))]
pub async fn whole(
    _: Anyone,
    request: HttpRequest,
    query: web::Query<WholeQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let (name, format, media_type) = form(&request, query.format.as_deref())?;
    let kinds = kinds(query.kinds.as_deref())?;
    let generation = state.knowledge.current();
    let mut response = match begin(&request, etag::of_seq_as(generation.seq, name))? {
        Fresh::Known(response) => return Ok(response),
        Fresh::Needed(response) => response,
    };
    response.insert_header((header::VARY, "Accept"));
    if format != Format::Json {
        let name = format!("attachment; filename=\"peerless.{name}\"");
        response.insert_header((header::CONTENT_DISPOSITION, name));
    }
    // Where texts are computed, and not where requests are served: the whole graph takes as long as a large text.
    let desk = Desk::of(&request);
    let pieces = pieces(generation, format, kinds);
    let first = desk.compute(ALL_RECORDS, move || part(pieces)).await?;
    let parts = stream::try_unfold(first, move |made| {
        let desk = desk.clone();
        async move {
            let Some((bytes, pieces)) = made else {
                return Ok::<_, Problem>(None);
            };
            let next = desk.go_on(ALL_RECORDS, move || part(pieces)).await?;
            Ok(Some((bytes, next)))
        }
    });
    Ok(response.content_type(media_type).streaming(parts))
}

/// Bytes of the answer that are made at once, at least.
const PART_BYTES: usize = 64 << 10;

/// The next part of the answer, with what makes the rest.
fn part<I: Iterator<Item = Vec<u8>>>(mut pieces: I) -> Option<(Bytes, I)> {
    let mut part = Vec::new();
    for piece in pieces.by_ref() {
        part.extend_from_slice(&piece);
        if part.len() >= PART_BYTES {
            break;
        }
    }
    (!part.is_empty()).then(|| (Bytes::from(part), pieces))
}

type Form = (&'static str, Format, &'static str);

fn form(request: &HttpRequest, asked: Option<&str>) -> Result<Form, Problem> {
    if let Some(asked) = asked {
        let form = FORMATS.into_iter().find(|(name, ..)| *name == asked);
        let detail = "format is one of json, graphml and dot";
        return form.ok_or_else(|| Problem::new(Code::BadQuery, detail));
    }
    let forms = FORMATS.map(|form| (form.2, form));
    accept::best(request, &forms)
}
