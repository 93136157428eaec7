//! Whole answers whose bytes count among those that wait for their readers.

use std::convert::Infallible;

use actix_web::body::{BoxBody, MessageBody, SizedStream};
use actix_web::dev::ServiceResponse;
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::{Stream, stream};

use super::body::Budget;
use super::error::Problem;
use super::limits;

/// Ends a response with a body that holds its share of `budget` until the last piece is taken. Where there is no room, the
/// answer is a 503: the caller asks again when others have read theirs.
pub(super) fn held(
    mut response: HttpResponseBuilder,
    body: impl Into<Bytes>,
    budget: &Budget,
) -> Result<HttpResponse, Problem> {
    Ok(response.body(pieces_of(body.into(), budget)?))
}

/// The same for the body of any response that is there whole: the connection would copy all of it at once.
pub(super) fn hold<B: MessageBody + 'static>(
    response: ServiceResponse<B>,
    budget: &Budget,
) -> ServiceResponse<BoxBody> {
    let (request, response) = response.into_parts();
    let (head, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(body) if body.len() > limits::ANSWER_PIECE_BYTES => match pieces_of(body, budget) {
            Ok(pieces) => BoxBody::new(pieces),
            Err(problem) => return ServiceResponse::from_err(problem, request),
        },
        Ok(body) => BoxBody::new(body),
        Err(body) => body.boxed(),
    };
    ServiceResponse::new(request, head.set_body(body))
}

fn pieces_of(
    body: Bytes,
    budget: &Budget,
) -> Result<SizedStream<impl Stream<Item = Result<Bytes, Infallible>> + use<>>, Problem> {
    let mut share = budget.share();
    share.grow_to(body.len())?;
    let length = body.len() as u64;
    let mut left = body;
    let pieces = std::iter::from_fn(move || {
        // The share goes with the closure, when the last piece has gone.
        let _held = &share;
        let piece = left.split_to(left.len().min(limits::ANSWER_PIECE_BYTES));
        (!piece.is_empty()).then_some(Ok::<_, Infallible>(piece))
    });
    Ok(SizedStream::new(length, stream::iter(pieces)))
}

#[cfg(test)]
mod tests {
    use actix_web::body;

    use super::*;

    #[actix_web::test]
    async fn an_answer_that_nobody_reads_keeps_its_share() {
        let budget = Budget::of(256 << 10, limits::ANSWER_FREE_BYTES);
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
