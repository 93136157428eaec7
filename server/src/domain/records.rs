//! Reading published records: by id, by former id, by code.

use std::sync::Arc;

use kb_core::ids::{IdError, RecordId};
use kb_core::near;

use super::search::search;
use crate::feed::{Generation, PublishedRecord};
use peerless_search::SearchRequest;

/// Records that are named where one asked for is none.
const NEAR: usize = 5;
/// Longest name that near ones are looked for of, in bytes.
const MAX_ASKED_BYTES: usize = 200;

#[derive(Debug, Clone)]
pub enum Found {
    Published(Arc<PublishedRecord>),
    /// It is a former id of this record: redirect.
    Moved(RecordId),
    /// Nowhere among the published ones; the store may know a draft or a withdrawn record.
    Unpublished(RecordId),
}

pub fn find(generation: &Generation, id: &str) -> Result<Found, IdError> {
    let id: RecordId = id.parse()?;
    if let Some(published) = generation.record(&id) {
        return Ok(Found::Published(Arc::clone(published)));
    }
    Ok(match generation.alias(id.as_str()) {
        Some(now) => Found::Moved(now.clone()),
        None => Found::Unpublished(id),
    })
}

/// Published records that carry a code, by id. Codes are many-to-many, so this is always a list.
pub fn by_code(generation: &Generation, code: &str) -> Vec<Arc<PublishedRecord>> {
    let ids = generation.by_code(code).iter();
    ids.filter_map(|id| generation.record(id).cloned()).collect()
}

/// Records that may be meant by a name that no record has: those of such a code first, then those whose id differs from it by a
/// few letters, then what its words find.
///
/// This computes; call it off the async threads.
pub fn near(generation: &Generation, asked: &str) -> Vec<RecordId> {
    if asked.len() > MAX_ASKED_BYTES {
        return Vec::new();
    }
    let mut near: Vec<RecordId> = generation.by_code(asked).to_vec();
    let ids = generation
        .records()
        .map(|published| published.record.id().as_str());
    let ids = near::all_near(asked, ids).into_iter().take(NEAR);
    near.extend(ids.filter_map(|id| id.parse().ok()));
    let request = SearchRequest {
        text: asked.replace(['/', '-', '_'], " "),
        limit: Some(NEAR),
        ..SearchRequest::default()
    };
    match search(generation, &request) {
        Ok(found) => near.extend(found.hits.into_iter().map(|hit| hit.id)),
        // Without them the answer is still right.
        Err(error) => tracing::error!(%error, "no records near one that is none, the index failed"),
    }
    let mut named: Vec<RecordId> = Vec::new();
    for id in near {
        if !named.contains(&id) {
            named.push(id);
        }
    }
    named.truncate(NEAR);
    named
}

pub fn missing(generation: &Generation, asked: &str) -> String {
    let near: Vec<String> = near(generation, asked).iter().map(ToString::to_string).collect();
    let told = format!("there is no published record {asked}");
    if near.is_empty() {
        told
    } else {
        format!("{told}; near it: {}", near.join(", "))
    }
}
