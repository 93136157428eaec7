//! Turns changes of the feed into the next generation. Everything here is computation: it runs off the async threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::{RecordId, Seq};
use kb_core::matcher::Matcher;
use kb_core::record::signature_set;

use super::generation::{Contents, Generation};
use super::graph::Graph;
use super::names::Names;
use super::published::{LeftOut, PublishedRecord};
use crate::search::{IndexKeeper, SearchError};
use crate::store::FeedChange;

/// What the follower keeps between generations.
#[derive(Debug)]
pub(super) struct Assembler {
    records: BTreeMap<RecordId, Arc<PublishedRecord>>,
    left_out: BTreeMap<RecordId, LeftOut>,
    matcher: Option<Arc<Matcher>>,
    names: Arc<Names>,
    graph: Arc<Graph>,
    keeper: IndexKeeper,
}

impl Assembler {
    /// Nothing yet.
    pub(super) fn new() -> Result<Self, SearchError> {
        Ok(Self {
            records: BTreeMap::new(),
            left_out: BTreeMap::new(),
            matcher: None,
            names: Arc::default(),
            graph: Arc::default(),
            keeper: IndexKeeper::new()?,
        })
    }

    /// Takes changes in and builds the generation that holds everything up to `reaches`.
    ///
    /// After an error the assembler is as uncertain as its index: make a new one and feed it everything.
    pub(super) fn apply(
        &mut self,
        changes: Vec<FeedChange>,
        reaches: Seq,
    ) -> Result<Generation, SearchError> {
        let mut before: BTreeMap<RecordId, Option<Arc<PublishedRecord>>> = BTreeMap::new();
        let mut come: BTreeMap<RecordId, Arc<PublishedRecord>> = BTreeMap::new();
        for change in changes {
            let known = self.records.get(&change.id).map(|published| published.seq);
            let pending = come.get(&change.id).map(|published| published.seq);
            if known.max(pending).is_some_and(|newest| newest >= change.seq) {
                continue;
            }
            let held = self.records.remove(&change.id);
            before.entry(change.id.clone()).or_insert(held);
            come.remove(&change.id);
            self.left_out.remove(&change.id);
            let Some(texts) = change.published else { continue };
            match PublishedRecord::read(&change.id, change.seq, change.changed_at, texts) {
                Ok(published) => {
                    come.insert(change.id, Arc::new(published));
                }
                Err(left_out) => self.leave_out(left_out),
            }
        }
        let index = self.keeper.apply(
            before.values().flatten().map(|published| published.slot()),
            come.values()
                .map(|published| (published.slot(), Arc::clone(&published.search))),
        )?;
        self.records.append(&mut come);
        self.take_over(&before);
        let (matcher, rejected) = self.build_matcher();
        Ok(Generation::new(Contents {
            seq: reaches,
            records: self.records.clone(),
            matcher,
            rejected,
            index,
            names: Arc::clone(&self.names),
            graph: Arc::clone(&self.graph),
            left_out: self.left_out.values().cloned().collect(),
        }))
    }

    /// Makes names and graph anew where what has changed shows in them; most edits do not.
    fn take_over(&mut self, before: &BTreeMap<RecordId, Option<Arc<PublishedRecord>>>) {
        let unlike = |alike: fn(&PublishedRecord, &PublishedRecord) -> bool| {
            let mut changed = before.iter().map(|(id, before)| (before, self.records.get(id)));
            changed.any(|pair| match pair {
                (Some(before), Some(after)) => !alike(before, after),
                (None, None) => false,
                _ => true,
            })
        };
        let renamed = unlike(Names::are_those_of);
        let rejoined = renamed || unlike(join_alike);
        if renamed {
            self.names = Arc::new(Names::new(&self.records));
        }
        if rejoined {
            self.graph = Arc::new(Graph::new(&self.records, &self.names.aliases));
        }
    }

    fn leave_out(&mut self, left_out: LeftOut) {
        tracing::error!(
            record = %left_out.id,
            revision = %left_out.revision,
            reason = %left_out.reason,
            "a published record cannot be read and is left out: publish a corrected revision",
        );
        self.left_out.insert(left_out.id.clone(), left_out);
    }

    fn build_matcher(&mut self) -> (Arc<Matcher>, Vec<kb_core::matcher::Rejected>) {
        let published = self
            .records
            .values()
            .map(|published| (&published.record, published.revision));
        let signatures = signature_set(published);
        let (matcher, rejected) = match &self.matcher {
            Some(previous) => previous.rebuild(signatures),
            None => Matcher::build(signatures),
        };
        for entry in &rejected {
            tracing::warn!(record = %entry.id, pattern = %entry.pattern, reason = %entry.reason, "a pattern is not used");
        }
        let matcher = Arc::new(matcher);
        self.matcher = Some(Arc::clone(&matcher));
        (matcher, rejected)
    }
}

/// Whether two faces of one record, which go by the same names, make the same graph: all that it takes of a record.
/// Each edge says which revision states it.
fn join_alike(before: &PublishedRecord, after: &PublishedRecord) -> bool {
    let (one, other) = (&before.record, &after.record);
    let same_source = before.revision == after.revision || after.edges.is_empty();
    same_source
        && before.edges == after.edges
        && one.document.signature == other.document.signature
        && one.document.domain == other.document.domain
        && one.annex.origin == other.annex.origin
}
