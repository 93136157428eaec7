//! Where the next page starts. A cursor holds for one query and one state of the knowledge, and says so when used
//! for another: a page that silently skips or repeats records is worse than an error.

use kb_core::ids::Seq;
use kb_core::text::Sha256;

use super::request::SearchRequest;
use crate::error::SearchError;
use crate::index::Facet;

/// Hexadecimal digits of a fingerprint: 48 bits.
const FINGERPRINT_DIGITS: usize = 12;

/// Reads the offset out of a request's cursor; 0 without one.
pub(super) fn offset(request: &SearchRequest, current: Seq) -> Result<usize, SearchError> {
    let Some(cursor) = request.cursor.as_deref() else {
        return Ok(0);
    };
    let pieces: Vec<&str> = cursor.splitn(4, '.').collect();
    let [seq, offset, of_query] = *pieces else {
        return Err(SearchError::CursorMalformed);
    };
    let given = Seq(seq.parse().map_err(|_| SearchError::CursorMalformed)?);
    let offset = offset.parse().map_err(|_| SearchError::CursorMalformed)?;
    if of_query != fingerprint(request) {
        return Err(SearchError::CursorOfOtherQuery);
    }
    if given != current {
        return Err(SearchError::CursorExpired { given, current });
    }
    Ok(offset)
}

/// The cursor of the page that starts at `offset`.
pub(super) fn make(request: &SearchRequest, current: Seq, offset: usize) -> String {
    format!("{current}.{offset}.{}", fingerprint(request))
}

/// Short name of query and filters. It only has to tell honest mistakes apart.
fn fingerprint(request: &SearchRequest) -> String {
    let mut bytes = request.text.clone().into_bytes();
    for part in Facet::ALL.map(|facet| request.filters.of(facet)) {
        bytes.extend([0xFF, u8::from(part.is_some())]);
        bytes.extend(part.unwrap_or_default().as_bytes());
    }
    bytes.push(u8::from(request.is_typing));
    let digest = Sha256::of(bytes);
    digest.as_str().chars().take(FINGERPRINT_DIGITS).collect()
}
