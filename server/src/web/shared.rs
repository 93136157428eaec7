//! An answer that is the same for all callers: made once for each state of the knowledge, and copied for none.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::body::SizedStream;
use actix_web::web::Bytes;
use futures_util::{Stream, stream};

use super::limits;

#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<Mutex<Option<(u64, Bytes)>>>);

impl Shared {
    /// The answer for the generation of this number. Who asks while it is made waits for the same one.
    pub fn get<E>(&self, generation: u64, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Bytes, E> {
        // What a panic elsewhere left is whole.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, answer)) = kept.as_ref()
            && *of == generation
        {
            return Ok(answer.clone());
        }
        let answer = Bytes::from(make()?);
        *kept = Some((generation, answer.clone()));
        Ok(answer)
    }
}

/// Sends in pieces what many callers share: a whole body is copied for each of them, also for those that do not read.
pub(super) fn in_pieces(whole: Bytes) -> SizedStream<impl Stream<Item = Result<Bytes, Infallible>>> {
    let length = whole.len();
    let pieces = (0..length)
        .step_by(limits::ANSWER_PIECE_BYTES)
        .map(move |from| Ok(whole.slice(from..length.min(from + limits::ANSWER_PIECE_BYTES))));
    SizedStream::new(length as u64, stream::iter(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_made_once_for_each_generation() {
        let shared = Shared::default();
        let get = |generation, text: &str| {
            let made = shared.get(generation, || Ok::<_, Infallible>(text.as_bytes().to_vec()));
            String::from_utf8(made.unwrap().to_vec()).unwrap()
        };
        assert_eq!(get(1, "first"), "first");
        assert_eq!(get(1, "again"), "first");
        assert_eq!(get(2, "second"), "second");
        let fails = shared.get(3, || Err::<Vec<u8>, _>("no"));
        assert_eq!(fails, Err("no"));
        assert_eq!(get(3, "third"), "third");
    }
}
