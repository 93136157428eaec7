//! Former ids of records.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::RecordId;

use crate::render::words::record_href;

/// A former id leads to the present one, with whatever else stood in the address: `rest` of the path, and the query.
pub(super) fn moved(request: &HttpRequest, now: &RecordId, rest: &str) -> HttpResponse {
    let mut address = format!("{}{rest}", record_href(now.as_str()));
    if !request.query_string().is_empty() {
        address = format!("{address}?{}", request.query_string());
    }
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, address))
        .finish()
}
