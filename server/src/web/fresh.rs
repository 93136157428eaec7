//! Whether a caller has an answer already, by its entity tag.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};

use super::error::Problem;
use super::etag;

pub(super) enum Fresh {
    /// 304: nothing changed.
    Known(HttpResponse),
    Needed(HttpResponseBuilder),
}

/// The beginning of an answer with this tag, which caches may keep and have to ask about.
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
