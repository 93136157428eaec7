//! The graph: all of it, and ways between two records. What lies around one record is asked of the record.

pub mod path;
pub mod whole;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};
use kb_core::transition::EdgeKind;

use crate::feed::GraphError;
use crate::web::error::{Code, Problem};
use crate::web::etag;

pub(in crate::web) fn kinds(text: Option<&str>) -> Result<Vec<EdgeKind>, Problem> {
    let words = text.unwrap_or_default().split(',').map(str::trim);
    let words: Vec<&str> = words.filter(|_| text.is_some()).collect();
    if words.iter().any(|word| word.is_empty()) {
        let known = EdgeKind::ALL.map(EdgeKind::as_str).join(", ");
        let detail =
            format!("kinds is empty or has an empty word: leave it out for all, or name some of {known}");
        return Err(Problem::new(Code::BadQuery, detail));
    }
    words
        .into_iter()
        .map(|word| {
            word.parse::<EdgeKind>().map_err(|error| {
                let detail = format!("{error}, separated by commas; {word:?} is none");
                Problem::new(Code::BadQuery, detail)
            })
        })
        .collect()
}

pub(super) enum Fresh {
    /// 304: nothing changed.
    Known(HttpResponse),
    Needed(HttpResponseBuilder),
}

pub(super) fn begin(request: &HttpRequest, tag: HeaderValue) -> Result<Fresh, Problem> {
    let known = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    let is_known = known.is_some_and(|known| known.hold(&tag));
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, tag));
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    Ok(if is_known {
        Fresh::Known(response.status(StatusCode::NOT_MODIFIED).finish())
    } else {
        Fresh::Needed(response)
    })
}

impl From<GraphError> for Problem {
    fn from(error: GraphError) -> Self {
        let code = match error {
            GraphError::NoRecord(_) => Code::NotFound,
            GraphError::Depth(_) => Code::BadQuery,
        };
        Self::new(code, error.to_string())
    }
}
