//! Reading a body to its end, or through a sink on a thread of its own.

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::{Bytes, Payload};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::{BodyError, Decoder, Encoding, Pace, Sink};
use crate::web::error::{Code, Problem};

/// A body that was read whole.
#[derive(Debug)]
pub struct Body {
    /// Decompressed.
    pub bytes: Vec<u8>,
    /// Compressed with zstd by the client: the body as sent, to be kept so.
    pub sent_zstd: Option<Vec<u8>>,
}

/// Reads a body of at most `limit` bytes, whatever its type.
pub async fn raw(request: &HttpRequest, mut payload: Payload, limit: u64) -> Result<Body, BodyError> {
    refuse_announced(request, limit)?;
    let encoding = Encoding::of(request.headers())?;
    let mut decoder = Decoder::new(encoding, limit, Vec::new())?;
    let mut sent = (encoding == Encoding::Zstd).then(Vec::new);
    let mut pace = Pace::start();
    while let Some(piece) = pace.next(payload.next()).await? {
        let piece = piece.map_err(|_| BodyError::Broken)?;
        pace.note(piece.len())?;
        if let Some(sent) = &mut sent {
            sent.extend_from_slice(&piece);
        }
        decoder.push(&piece)?;
    }
    Ok(Body {
        bytes: decoder.finish()?,
        sent_zstd: sent,
    })
}

/// Reads a body as UTF-8 text.
pub async fn text(request: &HttpRequest, payload: Payload, limit: u64) -> Result<String, BodyError> {
    let body = raw(request, payload, limit).await?;
    String::from_utf8(body.bytes).map_err(|error| BodyError::NotUtf8(error.utf8_error().valid_up_to()))
}

/// Reads a JSON body. The message names line and column, never what stands there.
pub async fn json<T: DeserializeOwned>(
    request: &HttpRequest,
    payload: Payload,
    limit: u64,
) -> Result<T, Problem> {
    if !is_json(request) {
        return Err(json_needed());
    }
    let body = raw(request, payload, limit).await?;
    parse_json(&body.bytes)
}

/// Parses JSON; known keys may stand there once only.
pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
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

/// Pieces that wait for the thread that works on them.
const PIECES_WAITING: usize = 4;

/// Sends a body through `sink` on a thread of its own, for sinks that compute: the workers stay free.
pub async fn stream<S: Sink + Send + 'static>(
    request: &HttpRequest,
    mut payload: Payload,
    limit: u64,
    sink: S,
) -> Result<S, BodyError> {
    refuse_announced(request, limit)?;
    let encoding = Encoding::of(request.headers())?;
    let (sender, mut receiver) = mpsc::channel::<Bytes>(PIECES_WAITING);
    let work = tokio::task::spawn_blocking(move || {
        let mut decoder = Decoder::new(encoding, limit, sink)?;
        while let Some(piece) = receiver.blocking_recv() {
            if piece.is_empty() {
                return decoder.finish();
            }
            decoder.push(&piece)?;
        }
        // The sender went away without the empty piece that ends a body.
        Err(BodyError::Broken)
    });
    let fed = feed(&mut payload, sender).await;
    match work.await {
        // A refusal by the sink or decoder says more than that the body could not be fed to it.
        Ok(Ok(sink)) => fed.map(|()| sink),
        Ok(Err(BodyError::Broken)) => Err(fed.err().unwrap_or(BodyError::Broken)),
        Ok(Err(refusal)) => Err(refusal),
        Err(_) => Err(BodyError::Broken),
    }
}

async fn feed(payload: &mut Payload, sender: mpsc::Sender<Bytes>) -> Result<(), BodyError> {
    let mut pace = Pace::start();
    while let Some(piece) = pace.next(payload.next()).await? {
        let piece = piece.map_err(|_| BodyError::Broken)?;
        pace.note(piece.len())?;
        if !piece.is_empty() && sender.send(piece).await.is_err() {
            // The worker stopped; its own error says why.
            return Ok(());
        }
    }
    // No one listens only when the worker stopped already, and its own error says why.
    let _ = sender.send(Bytes::new()).await;
    Ok(())
}

/// Refuses what the headers alone give away: an unknown encoding, a length over the limit.
pub fn check_head(request: &HttpRequest, limit: u64) -> Result<(), BodyError> {
    refuse_announced(request, limit)?;
    Encoding::of(request.headers()).map(|_| ())
}

/// Refuses before reading when `Content-Length` alone is over the limit.
fn refuse_announced(request: &HttpRequest, limit: u64) -> Result<(), BodyError> {
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced = announced
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<u64>().ok());
    match announced {
        Some(length) if length > limit => Err(BodyError::TooLarge(limit)),
        _ => Ok(()),
    }
}
