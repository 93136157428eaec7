//! One published record as readers get it, read once from the two texts of its revision.

use std::sync::Arc;

use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::record::Record;
use kb_core::text::Violation;
use kb_core::transition::Edge;
use time::OffsetDateTime;

#[cfg(doc)]
use crate::store::FeedChange;
use crate::store::RevisionTexts;
use peerless_search::{SearchDoc, Slot};

#[derive(Debug, Clone)]
pub struct PublishedRecord {
    pub record: Record,
    pub revision: Revision,
    /// Seq of the change that published it.
    pub seq: Seq,
    pub actor: String,
    pub changed_at: OffsetDateTime,
    /// Why it was published although the gate refused it.
    pub forced: Option<String>,
    /// Ids of records that became this one, beside the former ids that its document names.
    pub former: Vec<RecordId>,
    /// SHA-256 of the document, hex.
    pub document_sha256: String,
    /// SHA-256 of the annex, hex.
    pub annex_sha256: String,
    pub codes: Vec<String>,
    pub edges: Vec<Edge>,
    pub(super) search: Arc<SearchDoc>,
}

/// A published record that this build cannot read: left out of everything, and named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub id: RecordId,
    pub revision: Revision,
    /// Seq of the change that published it.
    pub seq: Seq,
    /// What is wrong, the first few violations.
    pub reason: String,
}

/// Violations named of a record that is left out; the rest are counted.
const NAMED_VIOLATIONS: usize = 3;

impl PublishedRecord {
    pub(super) fn read(
        id: &RecordId,
        seq: Seq,
        changed_at: OffsetDateTime,
        texts: RevisionTexts,
    ) -> Result<Self, LeftOut> {
        let RevisionTexts {
            meta,
            document,
            annex,
        } = texts;
        let left_out = |reason: String| LeftOut {
            id: id.clone(),
            revision: meta.revision,
            seq,
            reason,
        };
        let record =
            Record::from_texts(document, annex).map_err(|found| left_out(name_violations(&found)))?;
        if record.id() != id {
            let reason = format!("the document calls itself {}", record.id());
            return Err(left_out(reason));
        }
        let codes = record.codes();
        Ok(Self {
            edges: record.edges(),
            search: Arc::new(search_doc(&record, &codes)),
            codes,
            revision: meta.revision,
            seq,
            actor: meta.actor,
            changed_at,
            forced: None,
            former: Vec::new(),
            document_sha256: meta.document_sha256,
            annex_sha256: meta.annex_sha256,
            record,
        })
    }

    pub fn id(&self) -> &RecordId {
        self.record.id()
    }

    /// The ids of records that became this one, each with its id.
    pub fn former_ids(&self) -> impl Iterator<Item = (&RecordId, &RecordId)> {
        self.former.iter().map(move |former| (former, self.id()))
    }

    pub fn search_doc(&self) -> &SearchDoc {
        &self.search
    }

    pub(super) fn slot(&self) -> Slot {
        self.seq.0.cast_unsigned()
    }
}

fn name_violations(found: &[Violation]) -> String {
    let named: Vec<String> = found
        .iter()
        .take(NAMED_VIOLATIONS)
        .map(|violation| format!("{:?}{}: {}", violation.part, violation.pointer, violation.reason))
        .collect();
    let unnamed = found.len().saturating_sub(NAMED_VIOLATIONS);
    let more = if unnamed > 0 {
        format!("; and {unnamed} more")
    } else {
        String::new()
    };
    format!("{}{more}", named.join("; "))
}

fn search_doc(record: &Record, codes: &[String]) -> SearchDoc {
    let document = &record.document;
    let annex = &record.annex;
    let filled = |texts: Vec<Option<&str>>| -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for text in texts.into_iter().flatten().filter(|text| !text.is_empty()) {
            // The seeds repeat `action` as `how` and English as Chinese: once is enough.
            if !kept.iter().any(|known| known == text) {
                kept.push(text.to_owned());
            }
        }
        kept
    };
    let workarounds = document
        .workarounds
        .iter()
        .flat_map(|entry| [Some(entry.action.as_str()), entry.how.as_deref()])
        .chain(document.workarounds_zh.iter().map(|text| Some(text.as_str())))
        .chain(
            annex
                .workarounds_zh
                .iter()
                .flat_map(|entry| [entry.action.as_deref(), entry.how.as_deref()]),
        );
    let dead_ends = document
        .dead_ends
        .iter()
        .flat_map(|entry| [Some(entry.action.as_str()), entry.why_fails.as_deref()])
        .chain(
            annex
                .dead_ends_zh
                .iter()
                .flat_map(|entry| [entry.action.as_deref(), entry.why_fails.as_deref()]),
        );
    let examples = annex.examples.iter().map(|example| Some(example.text.as_str()));
    let examples = examples.chain(annex.phrases.iter().map(|phrase| phrase.text.as_deref()));
    let names = codes
        .iter()
        .map(|code| Some(code.as_str()))
        .chain([document.error_code.as_deref(), Some(document.id.as_str())])
        .chain(document.aliases.iter().map(|alias| Some(alias.as_str())));
    SearchDoc {
        id: document.id.clone(),
        title: annex.title.clone(),
        title_zh: annex.title_zh.clone(),
        asked_as: annex.asked_as.clone(),
        examples: filled(examples.collect()),
        signature: document.signature.clone(),
        signature_zh: document.signature_zh.clone(),
        codes: filled(names.collect()),
        root_cause: document.root_cause.clone(),
        root_cause_zh: document.root_cause_zh.clone(),
        workarounds: filled(workarounds.collect()),
        dead_ends: filled(dead_ends.collect()),
        tags: document.tags.clone(),
        domain: document.domain.clone(),
        category: document.category.clone(),
        tier: document.verification_tier.clone().unwrap_or_default(),
        locale: document.locale.clone().unwrap_or_default(),
    }
}
