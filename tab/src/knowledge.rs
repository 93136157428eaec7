//! All records of a pack, compiled.

use std::collections::HashMap;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::matcher::Matcher;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::pack::Pack;

/// All records, ready to be looked for.
#[derive(Debug)]
pub struct Knowledge {
    pub(crate) matcher: Arc<Matcher>,
    pub(crate) briefs: HashMap<RecordId, Map<String, Value>>,
    pub(crate) kb: Box<RawValue>,
}

impl Knowledge {
    /// Compiles the signatures. Patterns that cannot be used are left out, as the server leaves them out.
    pub fn of(pack: Pack) -> Self {
        let mut briefs = HashMap::with_capacity(pack.records.len());
        let mut signatures = Vec::with_capacity(pack.records.len());
        for record in pack.records {
            briefs.insert(record.signatures.id.clone(), record.brief);
            signatures.push(record.signatures);
        }
        let (matcher, _) = Matcher::build(signatures);
        Self {
            matcher: Arc::new(matcher),
            briefs,
            kb: pack.kb,
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.matcher.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.matcher.is_empty()
    }
}
