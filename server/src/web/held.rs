//! Whole answers whose bytes count among those that wait for their readers.

use std::convert::Infallible;

use actix_web::body::SizedStream;
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::stream;

use super::body::Budget;
use super::error::Problem;

/// Bytes that are given to the connection at once.
const PIECE: usize = 32 << 10;

/// Ends a response with a body that holds its share of `budget` until the last piece is taken. Where there is no room, the
/// answer is a 503: the caller asks again when others have read theirs.
pub(super) fn held(
    mut response: HttpResponseBuilder,
    body: impl Into<Bytes>,
    budget: &Budget,
) -> Result<HttpResponse, Problem> {
    let body: Bytes = body.into();
    let mut share = budget.share();
    share.grow_to(body.len())?;
    let length = body.len() as u64;
    let mut left = body;
    let pieces = std::iter::from_fn(move || {
        // The share goes with the closure, when the last piece has gone.
        let _held = &share;
        let piece = left.split_to(left.len().min(PIECE));
        (!piece.is_empty()).then_some(Ok::<_, Infallible>(piece))
    });
    Ok(response.body(SizedStream::new(length, stream::iter(pieces))))
}

#[cfg(test)]
mod tests {
    use actix_web::body;

    use super::*;

    #[actix_web::test]
    async fn an_answer_that_nobody_reads_keeps_its_share() {
        let budget = Budget::of(256 << 10);
        let text = "a".repeat(200 << 10);
        let answer = || held(HttpResponse::Ok(), text.clone(), &budget);
        let unread = answer().unwrap();
        let refused = answer().map(|_| ()).unwrap_err();
        assert_eq!(refused.to_json()["status"], 503);
        assert!(
            held(HttpResponse::Ok(), "small", &budget).is_ok(),
            "small ones always have room"
        );
        drop(unread);
        let read = answer().unwrap().into_body();
        let Ok(read) = body::to_bytes(read).await else {
            panic!("the body has an end");
        };
        assert_eq!(read, text.as_bytes());
        assert!(answer().is_ok(), "what was read is given back");
    }
}
