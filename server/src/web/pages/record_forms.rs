//! What a record's page tells programs: its address and a description in the head, an entity tag, and the record as Markdown
//! or JSON at the same address with an ending.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, body};
use kb_core::record::Record;

use super::former_id::moved;
use crate::domain::records::{Found, find};
use crate::feed::Generation;
use crate::render::i18n::{Language, Locale};
use crate::render::record::{Source, markdown, texts};
use crate::render::words::record_href;
use crate::web::error::Problem;
use crate::web::etag;
use crate::web::links::base_url;
use crate::web::state::AppState;

/// Longest description, in characters: what previews of links show.
const MAX_DESCRIPTION: usize = 200;

/// What previews and search engines are told.
#[derive(Debug, Clone)]
pub(super) struct Meta {
    /// The one address of this page; whole once the server's own is known.
    pub(super) canonical: String,
    pub(super) title: String,
    pub(super) description: String,
}

impl Meta {
    pub(super) fn of(record: &Record, language: Language) -> Self {
        let address = record_href(record.id().as_str());
        Self {
            canonical: match language {
                Language::English => address,
                Language::Chinese => language.address(&address),
            },
            title: texts::heading(record, language).text,
            description: description(&texts::root_cause(record, language).text),
        }
    }

    pub(super) fn lead_from(&mut self, base_url: &str) {
        self.canonical = format!("{base_url}{}", self.canonical);
    }
}

fn description(cause: &str) -> String {
    let cause = cause
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('`', "");
    let mut short: String = cause.chars().take(MAX_DESCRIPTION).collect();
    if cause.chars().count() > MAX_DESCRIPTION {
        short.push('…');
    }
    short
}

/// The record in another form, where the address ends in `.md` or `.json` and no record is called so.
pub(super) fn other_form(
    request: &HttpRequest,
    state: &AppState,
    generation: &Generation,
    id: &str,
    locale: Locale,
) -> Option<HttpResponse> {
    let (own, form) = id.rsplit_once('.')?;
    if !matches!(form, "md" | "json") || !matches!(find(generation, id), Ok(Found::Unpublished(_))) {
        return None;
    }
    let published = match find(generation, own).ok()? {
        Found::Published(published) => published,
        Found::Moved(now) => return Some(moved(request, &now, &format!(".{form}"))),
        Found::Unpublished(_) => return None,
    };
    let id = published.record.id();
    if form == "json" {
        let address = format!("/api/v1/records/{id}?view=full");
        let moved = HttpResponse::Found()
            .insert_header((header::LOCATION, address))
            .finish();
        return Some(moved);
    }
    let neighbours = generation.graph.neighbours(id);
    let source = Source::published(&published, &neighbours);
    let text = markdown::render(source, locale.language, &base_url(request, state));
    let response = HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/markdown; charset=utf-8"))
        .append_header((header::VARY, "Accept-Language"))
        .body(text);
    tagged(request, response).ok()
}

/// The answer with a tag of its content; without the content where the reader has it already. What people said of a record
/// changes without a new revision, so the tag is one of bytes.
pub(super) fn tagged(request: &HttpRequest, response: HttpResponse) -> Result<HttpResponse, Problem> {
    let known = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    let (mut response, bytes) = response.into_parts();
    let Ok(bytes) = body::MessageBody::try_into_bytes(bytes) else {
        return Ok(response.map_into_boxed_body());
    };
    let tag = etag::of_bytes(&bytes);
    if known.is_some_and(|known| known.hold(&tag)) {
        return Ok(HttpResponse::NotModified()
            .insert_header((header::ETAG, tag))
            .append_header((header::VARY, "Accept-Language"))
            .finish());
    }
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response.set_body(body::BoxBody::new(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_short_and_of_words() {
        assert_eq!(description("run  `x`\nnow"), "run x now");
        assert_eq!(description(&"a".repeat(500)).chars().count(), MAX_DESCRIPTION + 1);
    }
}
