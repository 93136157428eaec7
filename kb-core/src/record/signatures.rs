//! From records to what the matcher needs of them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::codes::is_real_code;
use super::{Document, Record};
use crate::annex::{Action, Severity};
use crate::ids::{RecordId, Revision};
use crate::signature::{PatternSpec, RecordSignatures};

/// Id of the pattern that the document's `regex` makes.
pub(crate) const DOCUMENT_PATTERN: &str = "0";

/// Pattern `0`: the document's `regex`, without regard to case.
pub(crate) fn document_pattern(document: &Document) -> Option<PatternSpec> {
    document.regex.as_ref().map(|regex| PatternSpec {
        id: DOCUMENT_PATTERN.to_owned(),
        regex: regex.clone(),
        flags: "i".to_owned(),
        captures: Vec::new(),
    })
}

impl Record {
    /// Pattern `0` from the document's `regex`, then the annex's patterns.
    pub fn patterns(&self) -> Vec<PatternSpec> {
        document_pattern(&self.document)
            .into_iter()
            .chain(self.annex.patterns.iter().cloned())
            .collect()
    }

    /// The annex's codes, and the document's `error_code` where it looks like a real one; each once.
    pub fn codes(&self) -> Vec<String> {
        let mut codes = self.annex.codes.clone();
        if let Some(code) = &self.document.error_code
            && is_real_code(code)
            && !codes.contains(code)
        {
            codes.push(code.clone());
        }
        codes
    }

    /// Whether it tells of nothing that is lost and asks for nothing: harmless, an info, or a warning with nothing to do.
    pub fn is_notice(&self) -> bool {
        self.annex.harmless.is_some() || self.is_mild()
    }

    fn is_mild(&self) -> bool {
        match self.annex.severity {
            Some(Severity::Info) => true,
            Some(Severity::Warning) => self.annex.action == Some(Action::None),
            _ => false,
        }
    }

    /// What the matcher needs of this record alone: `leads_to` holds its own statements as written, and `cancels` is
    /// empty; [`signature_set`] adds what others say.
    pub fn signatures(&self, revision: Revision) -> RecordSignatures {
        let stated = self.document.transition_graph.leads_to.iter();
        let leads_to = stated.filter_map(|edge| edge.error_id.parse().ok()).collect();
        RecordSignatures {
            id: self.id().clone(),
            revision,
            domain: self.document.domain.clone(),
            signature: self.document.signature.clone(),
            patterns: self.patterns(),
            phrases: self.annex.phrases.clone(),
            codes: self.codes(),
            applies_to: self.annex.applies_to.clone(),
            leads_to,
            cancels: Vec::new(),
            only_alone: self.annex.relations.only_alone,
            wraps_others: self.annex.relations.wraps_others,
            notice: self.is_notice(),
            harmless: self
                .annex
                .harmless
                .as_ref()
                .map(|harmless| harmless.unless.clone()),
            severity: self.annex.severity,
            action: self.annex.action,
            at_fault: self.annex.at_fault.as_ref().map(|at_fault| at_fault.who),
            only_with: self.annex.relations.only_with.clone(),
            window_seconds: self.annex.relations.window_seconds,
            of_gpu: self.annex.relations.of_gpu.clone(),
            not_of_others: self.annex.relations.not_of_others.clone(),
        }
    }
}

/// What the matcher needs of all published records, in their order. What one record says of another (what precedes
/// it, what it takes away) stands with the other, and former ids are led to today's; so this needs the whole set.
pub fn signature_set<'r>(records: impl IntoIterator<Item = (&'r Record, Revision)>) -> Vec<RecordSignatures> {
    signature_set_by(records, [])
}

/// The same where records have former ids that their documents do not name, each with the record's id of today.
pub fn signature_set_by<'r>(
    records: impl IntoIterator<Item = (&'r Record, Revision)>,
    former: impl IntoIterator<Item = (&'r RecordId, &'r RecordId)>,
) -> Vec<RecordSignatures> {
    let records: Vec<(&Record, Revision)> = records.into_iter().collect();
    let mut today = ids_of_today(&records);
    for (former, now) in former {
        today.entry(former).or_insert(now);
    }
    let mut cancelled_by: BTreeMap<&RecordId, BTreeSet<&RecordId>> = BTreeMap::new();
    let mut followed_by: BTreeMap<&RecordId, BTreeSet<&RecordId>> = BTreeMap::new();
    for (record, _) in &records {
        let cancelled = record.annex.relations.cancels.iter();
        for cancelled in cancelled.filter_map(|id| today.get(id)) {
            cancelled_by.entry(cancelled).or_default().insert(record.id());
        }
        let preceding = &record.document.transition_graph.preceded_by;
        let preceding = preceding
            .iter()
            .filter_map(|edge| edge.error_id.parse::<RecordId>().ok());
        for earlier in preceding.filter_map(|id| today.get(&id).copied()) {
            followed_by.entry(earlier).or_default().insert(record.id());
        }
    }
    let with_others = |(record, revision): &(&'r Record, Revision)| {
        let mut signatures = record.signatures(*revision);
        for target in signatures.leads_to.iter_mut().chain(&mut signatures.only_with) {
            if let Some(now) = today.get(target) {
                *target = (*now).clone();
            }
        }
        let stated_by_others = followed_by.get(record.id()).into_iter().flatten().copied();
        signatures.leads_to.extend(stated_by_others.cloned());
        let cancelling = cancelled_by.get(record.id()).into_iter().flatten().copied();
        signatures.cancels = cancelling.cloned().collect();
        signatures
    };
    records.iter().map(with_others).collect()
}

fn ids_of_today<'r>(records: &[(&'r Record, Revision)]) -> FxHashMap<&'r RecordId, &'r RecordId> {
    let mut today: FxHashMap<&RecordId, &RecordId> = FxHashMap::default();
    for (record, _) in records {
        today.insert(record.id(), record.id());
    }
    for (record, _) in records {
        for former in &record.document.aliases {
            today.entry(former).or_insert(record.id());
        }
    }
    today
}
