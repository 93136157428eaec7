//! `/reviews`: who waits for whom.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::layout::{Layout, Section};
use super::{html_not_shared, locale};
use crate::domain::curate::merges_into;
use crate::render::i18n::history::Words;
use crate::render::words::{moment, record_href};
use crate::web::auth::Editor;
use crate::web::error::Problem;
use crate::web::state::AppState;

const MOST: u32 = 200;

#[derive(Debug, Template)]
#[template(path = "pages/reviews.html")]
struct ReviewsPage {
    layout: Layout,
    words: &'static Words,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    record: String,
    href: String,
    revision: String,
    asks: &'static str,
    by: String,
    at: String,
    note: String,
}

pub async fn get(_: Editor, request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let locale = locale::of(&request);
    let words = Words::of(locale.language);
    let reviews = state.store.open_reviews(MOST).await?;
    let waiting = reviews.into_iter().map(|review| Waiting {
        asks: match (review.asks.is_withdrawal(), merges_into(&review)) {
            (_, Some(_)) => words.to_merge,
            (true, None) => words.to_withdraw,
            (false, None) => words.to_publish,
        },
        href: locale.href(format!("{}/-/revisions", record_href(review.record.as_str()))),
        record: review.record.to_string(),
        revision: review.revision.to_string(),
        by: review.asked_by.name,
        at: moment(review.asked_at),
        note: match (review.note.unwrap_or_default(), review.asks.replaced_by()) {
            (note, Some(other)) => format!("{note} ({}: {other})", words.asks_instead),
            (note, None) => note,
        },
    });
    html_not_shared(&ReviewsPage {
        layout: Layout::new(format!("{} · Peerless", words.waiting), Section::Reviews)
            .in_both("/reviews")
            .spoken(locale),
        words,
        waiting: waiting.collect(),
    })
}
