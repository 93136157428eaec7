//! `GET /api/v1/export.ndjson`: every published record, one line each, in seq order.

use actix_web::HttpResponse;
use actix_web::web::{self, Bytes};
use kb_core::ids::Seq;

use crate::bundle::Line;
use crate::store::FeedPage;
use crate::web::auth::Anyone;
use crate::web::error::{Problem, ProblemBody};
use crate::web::state::AppState;

/// Records read at once; each is 512 KiB at most.
const PAGE: u32 = 50;

/// Every published record; `peerless import` reads it.
#[utoipa::path(get, path = "/api/v1/export.ndjson", tag = "records", responses(
    (status = 200, description = "One Line for each record", body = Line, content_type = "application/x-ndjson"),
    (status = 503, description = "The database does not answer", body = ProblemBody),
))]
pub async fn export(_: Anyone, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    // The first page before the status: a database that is down is a 503, not a broken stream.
    let first = state.store.feed(Seq::default(), PAGE).await?;
    let pages = futures_util::stream::unfold(Some(first), move |page| {
        let state = state.clone();
        async move {
            let page = page?;
            let lines = lines(&page);
            let next = if page.more {
                state.store.feed(page.reaches, PAGE).await.map(Some)
            } else {
                Ok(None)
            };
            Some(match next {
                Ok(next) => (Ok(lines), next),
                // Ends the stream in the middle, so that the client cannot take it for whole.
                Err(error) => (Err(actix_web::Error::from(Problem::from(error))), None),
            })
        }
    });
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(pages))
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
        };
        // Strings and a number always have a JSON form.
        if serde_json::to_writer(&mut text, &line).is_ok() {
            text.push(b'\n');
        }
    }
    Bytes::from(text)
}
