//! `GET /api/v1/export.ndjson`: every published record, one line each, in seq order; `GET /api/v1/export.zip`: the same
//! as files. Both carry a tag, so that a mirror asks often and loads once.

use std::sync::Arc;

use actix_web::http::{StatusCode, header};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::stream;
use kb_core::ids::Seq;

use crate::bundle::{Line, licence};
use crate::store::{FeedPage, Store, StoreError};
use crate::web::auth::Anyone;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Problem, ProblemBody};
use crate::web::etag;
use crate::web::limits;
use crate::web::places::Place;
use crate::web::shared::in_pieces;
use crate::web::state::AppState;

/// Records read at once; each is 512 KiB at most. An export that nobody reads holds them.
const PAGE: u32 = 4;

/// Every published record; `peerless import` reads it.
#[utoipa::path(get, path = "/api/v1/export.ndjson", operation_id = "export_ndjson", tag = "records", responses(
    // A text: OpenAPI 3.1 has no word for lines of JSON, and clients would take the whole for one value.
    (status = 200, description = "A line of JSON for each record, of the form `Line`, under CC-BY-4.0", body = String,
        content_type = "application/x-ndjson",
        headers(("ETag" = String, description = "The state of the records: \"s512\""))),
    (status = 304, description = "Nothing changed"),
    (status = 429, description = "This address has too many exports under way", body = ProblemBody),
    (status = 503, description = "The database does not answer, or too many exports are under way", body = ProblemBody),
))]
pub async fn export(
    _: Anyone,
    request: HttpRequest,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    // Before the database is asked: who has no place is refused at once.
    let place = state.exports.take(Desk::of(&request).client())?;
    // Asked before the records: should one change meanwhile, the next request with this tag loads again.
    let head = state.store.head_seq().await?;
    let Some(mut response) = unless_known(&request, head)? else {
        return Ok(not_modified(head));
    };
    // The first page before the status: a database that is down is a 503, not a broken stream.
    let first = state.store.feed(Seq::default(), PAGE).await?;
    let rest = Rest {
        store: Arc::clone(&state.store),
        lines: lines(&first),
        after: first.more.then_some(first.reaches),
        _place: place,
    };
    let pieces = stream::unfold(Some(rest), |rest| async move {
        let mut rest = rest?;
        match rest.next().await {
            Ok(piece) => piece.map(|piece| (Ok(piece), Some(rest))),
            // Ends the stream in the middle, so that the client cannot take it for whole.
            Err(error) => Some((Err(actix_web::Error::from(Problem::from(error))), None)),
        }
    });
    Ok(response.content_type("application/x-ndjson").streaming(pieces))
}

/// What of an export is still to be sent.
struct Rest {
    store: Arc<dyn Store>,
    /// Of the page that was read last.
    lines: Bytes,
    /// Where the next page begins, if there is one.
    after: Option<Seq>,
    _place: Place,
}

impl Rest {
    /// The next piece. No page is read before the one before it was taken.
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        while self.lines.is_empty() {
            let Some(after) = self.after else {
                return Ok(None);
            };
            let page = self.store.feed(after, PAGE).await?;
            self.after = page.more.then_some(page.reaches);
            self.lines = lines(&page);
        }
        let length = self.lines.len().min(limits::ANSWER_PIECE_BYTES);
        Ok(Some(self.lines.split_to(length)))
    }
}

/// A zip archive.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
pub struct Archive(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// Every published record as files: `<id>.json` and `<id>.ext.json`, with `manifest.json` (seq, number of records,
/// licence) and `LICENSE.txt`. Unpacked, `peerless check` and `peerless import` read it. The same state gives the same
/// bytes.
#[utoipa::path(get, path = "/api/v1/export.zip", operation_id = "export_zip", tag = "records", responses(
    (status = 200, description = "A zip archive, under CC-BY-4.0", body = Archive, content_type = "application/zip",
        headers(("ETag" = String, description = "The state of the records: \"s512\""))),
    (status = 304, description = "Nothing changed"),
))]
pub async fn export_zip(
    _: Anyone,
    request: HttpRequest,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let seq = generation.seq;
    let Some(mut response) = unless_known(&request, seq)? else {
        return Ok(not_modified(seq));
    };
    let desk = Desk::of(&request);
    let made = desk.compute(ALL_RECORDS, move || generation.archive()).await?;
    let archive = made.map_err(|reason| Problem::internal(&ArchiveFailed(reason)))?;
    let name = format!("attachment; filename=\"peerless-records-{seq}.zip\"");
    Ok(response
        .content_type("application/zip")
        .insert_header((header::CONTENT_DISPOSITION, name))
        // It is packed already.
        .insert_header((header::CONTENT_ENCODING, "identity"))
        .body(in_pieces(Bytes::from_owner(archive))))
}

#[derive(Debug, thiserror::Error)]
#[error("the archive of all records could not be written: {0}")]
struct ArchiveFailed(String);

/// The beginning of an answer made from the records as of `seq`; `None` for a caller who has it already.
pub(in crate::web) fn unless_known(
    request: &HttpRequest,
    seq: Seq,
) -> Result<Option<HttpResponseBuilder>, Problem> {
    let tag = etag::of_seq(seq);
    let known = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    if known.is_some_and(|known| known.hold(&tag)) {
        return Ok(None);
    }
    let mut response = HttpResponse::Ok();
    name_state(&mut response, seq);
    Ok(Some(response))
}

/// 304 for a caller who has the records as of `seq`.
pub(in crate::web) fn not_modified(seq: Seq) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    name_state(&mut response, seq);
    response.status(StatusCode::NOT_MODIFIED).finish()
}

fn name_state(response: &mut HttpResponseBuilder, seq: Seq) {
    response.insert_header((header::ETAG, etag::of_seq(seq)));
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    response.insert_header((header::LINK, format!("<{}>; rel=\"license\"", licence::URL)));
}

fn lines(page: &FeedPage) -> Bytes {
    let mut text = Vec::new();
    for change in &page.changes {
        let Some(published) = &change.published else {
            continue;
        };
        let line = Line {
            id: change.id.clone(),
            revision: published.meta.revision,
            document: published.document.clone(),
            annex: published.annex.clone(),
            withdrawn: false,
        };
        // Strings and a number always have a JSON form.
        if serde_json::to_writer(&mut text, &line).is_ok() {
            text.push(b'\n');
        }
    }
    Bytes::from(text)
}
