//! Reading published records: by id, by former id, by code.

use std::sync::Arc;

use kb_core::ids::{IdError, RecordId};

use crate::feed::{Generation, PublishedRecord};

/// Where an id leads.
#[derive(Debug, Clone)]
pub enum Found {
    /// To a published record.
    Published(Arc<PublishedRecord>),
    /// It is a former id of this record: redirect.
    Moved(RecordId),
    /// Nowhere among the published ones; the store may know a draft or a withdrawn record.
    Unpublished(RecordId),
}

/// Finds a published record by id or former id.
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
