//! The encoding of a text that does not say it: `curl --data-binary @train.log.gz` sends no `Content-Encoding`.

use actix_web::HttpRequest;
use actix_web::web::{Bytes, BytesMut, Payload};
use futures_util::StreamExt as _;
use kb_core::intake::Form;

use super::{BodyError, Encoding, Pace};

/// Bytes that tell gzip and zstd from text.
const HEAD_BYTES: usize = 4;

/// What the header says, else what the first bytes say; and the first bytes, where they were read for it.
pub(super) async fn encoding(
    request: &HttpRequest,
    payload: &mut Payload,
    pace: &mut Pace,
) -> Result<(Encoding, Option<Bytes>), BodyError> {
    let said = Encoding::of(request.headers())?;
    if said != Encoding::Identity {
        return Ok((said, None));
    }
    let mut head = BytesMut::new();
    while head.len() < HEAD_BYTES {
        let Some(piece) = pace.next(payload.next()).await? else {
            break;
        };
        let piece = piece.map_err(|_| BodyError::Broken)?;
        pace.note(piece.len())?;
        if head.is_empty() && piece.len() >= HEAD_BYTES {
            return Ok((of_head(&piece), Some(piece)));
        }
        head.extend_from_slice(&piece);
    }
    Ok((of_head(&head), Some(head.freeze())))
}

fn of_head(head: &[u8]) -> Encoding {
    match Form::of(head) {
        Some(Form::Gzip) => Encoding::Gzip,
        Some(Form::Zstd) => Encoding::Zstd,
        // The reader of the text says what it is.
        _ => Encoding::Identity,
    }
}
