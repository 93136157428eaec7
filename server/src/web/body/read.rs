//! Reading a body to its end, or through a sink that computes.

use actix_web::HttpRequest;
use std::task::Poll;

use actix_web::error::PayloadError;
use actix_web::http::header;
use actix_web::web::{self, Bytes, Payload};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::budget::Share;
use super::timed::Timed;
use super::weigh::Weighed;
use super::{BodyError, Bound, Decoder, Encoding, Pace, Sink, sniff};
use crate::web::compute::{Desk, Slice};
use crate::web::error::{Code, Problem};
use crate::web::limits;
use crate::web::places::Place;
use crate::web::state::AppState;

/// Reads a body of at most `limit` bytes, whatever its type.
pub async fn raw(request: &HttpRequest, payload: Payload, limit: u64) -> Result<Vec<u8>, BodyError> {
    let decoder = Decoder::new(Encoding::of(request.headers())?, limit, Vec::new())?;
    whole(request, payload, limit, decoder).await
}

async fn whole(
    request: &HttpRequest,
    mut payload: Payload,
    limit: u64,
    mut decoder: Decoder<Vec<u8>>,
) -> Result<Vec<u8>, BodyError> {
    refuse_announced(request, limit)?;
    let mut share = Share::of(request);
    let mut pace = Pace::of_held(request);
    while let Some(piece) = pace.next(payload.next()).await? {
        let piece = piece.map_err(|_| BodyError::Broken)?;
        pace.note(piece.len())?;
        decoder.push(&piece)?;
        share.grow_to(decoder.sink().capacity())?;
    }
    let body = decoder.finish()?;
    share.grow_to(body.capacity())?;
    share.keep(request);
    Ok(body)
}

/// Reads a JSON body, still as text. Its memory is bounded and counted for all requests before anything is made of it.
pub async fn json_text(
    request: &HttpRequest,
    payload: Payload,
    limit: u64,
    bound: Bound,
) -> Result<Vec<u8>, BodyError> {
    let encoding = Encoding::of(request.headers())?;
    let mut sink = Weighed::new(bound);
    let announced = refuse_announced(request, limit)?;
    if let (Encoding::Identity, Some(bytes)) = (encoding, announced) {
        sink.announce(bytes);
    }
    let decoder = Decoder::new(encoding, limit, sink)?;
    weighed(request, payload, decoder).await
}

/// Reads a report: older agents compress one that repeats a line beyond the ratio.
pub async fn report(request: &HttpRequest, payload: Payload) -> Result<Vec<u8>, BodyError> {
    let limit = limits::REPORT_BYTES;
    let sink = Weighed::new(Bound::Values(limits::REPORT_VALUES));
    let decoder = Decoder::within_limit(Encoding::of(request.headers())?, limit, sink)?;
    refuse_announced(request, limit)?;
    weighed(request, payload, decoder).await
}

async fn weighed(
    request: &HttpRequest,
    mut payload: Payload,
    mut decoder: Decoder<Weighed>,
) -> Result<Vec<u8>, BodyError> {
    let mut share = Share::of(request);
    let mut pace = Pace::of_held(request);
    while let Some(piece) = pace.next(payload.next()).await? {
        let mut piece = piece.map_err(|_| BodyError::Broken)?;
        pace.note(piece.len())?;
        while !piece.is_empty() {
            let part = piece.split_to(piece.len().min(PART));
            decoder.push(&part)?;
            share.grow_to(decoder.sink().bytes())?;
        }
    }
    let weighed = decoder.finish()?;
    share.grow_to(weighed.bytes())?;
    share.keep(request);
    Ok(weighed.body)
}

pub async fn text(request: &HttpRequest, payload: Payload, limit: u64) -> Result<String, BodyError> {
    let body = raw(request, payload, limit).await?;
    String::from_utf8(body).map_err(|error| BodyError::NotUtf8(error.utf8_error().valid_up_to()))
}

/// Reads a JSON body. What a problem says of it is for the client alone and never logged.
pub async fn json<T: DeserializeOwned>(
    request: &HttpRequest,
    payload: Payload,
    limit: u64,
) -> Result<T, Problem> {
    if !is_json(request) {
        return Err(json_needed());
    }
    let body = json_text(request, payload, limit, Bound::Values(limits::JSON_VALUES)).await?;
    parse_json(&body)
}

/// Parses an object of JSON; known keys may stand there once only. The body itself may not be an array, which would be taken for the
/// values of the keys in their order; the objects in it are not looked at.
pub fn parse_json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Problem> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'[') {
        return Err(Problem::new(
            Code::MalformedBody,
            "the body is not the JSON that is expected: it is an array, and an object is needed",
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        Problem::new(
            Code::MalformedBody,
            format!("the body is not the JSON that is expected: {error}"),
        )
    })
}

/// The answer to a body that does not say that it is JSON.
pub fn json_needed() -> Problem {
    Problem::new(
        Code::UnsupportedType,
        "send this body with content-type: application/json",
    )
}

/// True when the body says that it is JSON.
pub fn is_json(request: &HttpRequest) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// Bytes that a sink takes at once: of compressed bodies what they unpack to, of others what fits into a slice of time.
const PART: usize = 8 << 10;

/// Sends a body through `sink`, for sinks that compute: a short body at once, each piece of others on a thread of the
/// pool, which it leaves while the next piece is awaited. However many clients send slowly, they hold no threads.
pub async fn stream<S: Sink + Send + 'static>(
    request: &HttpRequest,
    payload: Payload,
    limit: u64,
    sink: S,
) -> Result<S, BodyError> {
    stream_with(request, payload, limit, sink, async |_: &mut S| Ok(())).await
}

/// As [`stream`], and `between` may look at the sink after each piece.
pub async fn stream_with<S: Sink + Send + 'static>(
    request: &HttpRequest,
    mut payload: Payload,
    limit: u64,
    sink: S,
    mut between: impl AsyncFnMut(&mut S) -> Result<(), BodyError>,
) -> Result<S, BodyError> {
    refuse_announced(request, limit)?;
    let mut pace = Pace::of(request);
    let (encoding, mut head) = sniff::encoding(request, &mut payload, &mut pace).await?;
    let mut decoder = Decoder::new(encoding, limit, Timed::new(sink))?;
    let desk = Desk::of(request);
    let mut found = Share::of_answers(request);
    let mut window = Share::of_windows(request);
    let mut held_in = None;
    let mut work = 0_usize;
    let mut has_begun = false;
    loop {
        let mut piece = match head.take() {
            Some(head) => head,
            None => {
                match next_piece(
                    request,
                    &mut payload,
                    &mut pace,
                    has_begun.then_some(&mut held_in),
                )
                .await?
                {
                    Some(piece) => {
                        let piece = piece.map_err(|_| BodyError::Broken)?;
                        pace.note(piece.len())?;
                        piece
                    }
                    None => break,
                }
            }
        };
        work = work.saturating_add(match encoding {
            Encoding::Identity => piece.len(),
            // Nobody knows what comes out of it.
            Encoding::Gzip | Encoding::Zstd => usize::MAX,
        });
        while !piece.is_empty() {
            let mut rest = piece;
            let push = move || {
                let slice = Slice::begin();
                loop {
                    decoder.push(&rest.split_to(rest.len().min(PART)))?;
                    if rest.is_empty() || encoding != Encoding::Identity || slice.is_over() {
                        return Ok::<_, BodyError>((decoder, rest));
                    }
                }
            };
            let pushed = if has_begun {
                desk.go_on(work, push).await
            } else {
                desk.compute(work, push).await
            };
            has_begun = true;
            (decoder, piece) = pushed.unwrap_or_else(|error| Err(error.into()))?;
            window.grow_to(decoder.memory_usage())?;
            let sink = &mut decoder.sink().sink;
            found.grow_to(sink.memory_usage())?;
            between(sink).await?;
        }
    }
    let ended = desk
        .go_on(work, move || decoder.finish().map(|timed| timed.sink))
        .await;
    let sink = ended.unwrap_or_else(|error| Err(error.into()))?;
    found.grow_to(sink.memory_usage())?;
    found.keep(request);
    Ok(sink)
}

/// The next piece of a text. What was made of the pieces before is held in a place; a text that has come whole needs none.
async fn next_piece(
    request: &HttpRequest,
    payload: &mut Payload,
    pace: &mut Pace,
    held_in: Option<&mut Option<Place>>,
) -> Result<Option<Result<Bytes, PayloadError>>, BodyError> {
    let mut next = payload.next();
    let came = futures_util::poll!(&mut next);
    if matches!(came, Poll::Ready(None)) {
        return Ok(None);
    }
    let state = request.app_data::<web::Data<AppState>>();
    if let (Some(held_in @ None), Some(state)) = (held_in, state) {
        let client = Desk::of(request).client();
        *held_in = Some(state.texts.take(client).map_err(|_| BodyError::Crowded)?);
    }
    match came {
        Poll::Ready(piece) => Ok(piece),
        Poll::Pending => pace.next(next).await,
    }
}

/// Refuses what the headers alone give away: an unknown encoding, a length over the limit.
pub fn check_head(request: &HttpRequest, limit: u64) -> Result<(), BodyError> {
    refuse_announced(request, limit)?;
    Encoding::of(request.headers()).map(|_| ())
}

/// The length that `Content-Length` announces. Refuses before reading when it alone is over the limit.
fn refuse_announced(request: &HttpRequest, limit: u64) -> Result<Option<usize>, BodyError> {
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced = announced
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<u64>().ok());
    match announced {
        Some(length) if length > limit => Err(BodyError::TooLarge(limit)),
        announced => Ok(announced.and_then(|length| usize::try_from(length).ok())),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actix_web::FromRequest as _;
    use actix_web::test::TestRequest;

    use super::*;
    use crate::domain::work_time::Meter;
    use crate::web::compute::NotComputed;

    struct Fails;

    impl Sink for Fails {
        fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
            assert!(piece.is_empty(), "a fault of ours");
            Ok(())
        }
    }

    /// Takes half a second of the processor for each piece.
    struct Burns(usize);

    impl Sink for Burns {
        fn take(&mut self, _: &[u8]) -> Result<(), BodyError> {
            self.0 += 1;
            assert!(self.0 < 20, "nobody stops it");
            let mut meter = Meter::default();
            while meter.spent() < Duration::from_millis(500) {
                meter.time(|| (0..10_000_u32).fold(0_u32, |sum, next| std::hint::black_box(sum ^ next)));
            }
            Ok(())
        }
    }

    #[actix_web::test]
    async fn a_text_that_takes_too_long_for_its_size_is_given_up() {
        let text = zstd::encode_all(vec![b'x'; 8 << 20].as_slice(), 1).unwrap();
        let (request, mut payload) = TestRequest::default()
            .insert_header((header::CONTENT_ENCODING, "zstd"))
            .set_payload(text)
            .to_http_parts();
        let payload = Payload::from_request(&request, &mut payload).await.unwrap();
        let error = stream(&request, payload, 1 << 30, Burns(0)).await.err().unwrap();
        assert_eq!(error, BodyError::TooMuchWork);
        assert_eq!(Problem::from(error).code(), Code::TooMuchWork);
    }

    #[test]
    fn an_array_is_no_object() {
        #[derive(Debug, Deserialize)]
        struct Pair {
            one: u8,
            two: u8,
        }

        let pair: Pair = parse_json(br#" {"one": 1, "two": 2}"#).unwrap();
        assert_eq!((pair.one, pair.two), (1, 2));
        for text in [&b"[1, 2]"[..], b" \n[1,2]", b"[]"] {
            let told = parse_json::<Pair>(text).unwrap_err();
            assert_eq!(told.code(), Code::MalformedBody);
            assert!(told.detail().contains("array"), "{}", told.detail());
        }
    }

    #[actix_web::test]
    async fn a_panic_over_a_body_is_not_the_fault_of_the_body() {
        for length in [10, 1 << 20] {
            let (request, mut payload) = TestRequest::default()
                .set_payload(vec![b'x'; length])
                .to_http_parts();
            let payload = Payload::from_request(&request, &mut payload).await.unwrap();
            let read = stream(&request, payload, 1 << 21, Fails).await;
            let error = read.err().unwrap();
            assert_eq!(error, NotComputed::Panicked.into());
            assert_eq!(Problem::from(error).code(), Code::Internal);
        }
    }
}
