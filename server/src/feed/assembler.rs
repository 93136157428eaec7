//! Turns changes of the feed into the next generation. Everything here is computation: it runs off the async threads.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use kb_core::ids::{RecordId, Seq};
use kb_core::matcher::{Matcher, Rejected};
use kb_core::record::signature_set_by;

use super::background;
use super::generation::{Contents, Generation};
use super::graph::Graph;
use super::names::Names;
use super::published::{LeftOut, PublishedRecord};
use super::reading::{Read, read_each, takes_threads};
use super::search_prior::SearchPrior;
use crate::store::FeedChange;
use peerless_search::{Committing, Indexer, SearchDoc, SearchError, SearchIndex};

type Records = BTreeMap<RecordId, Arc<PublishedRecord>>;

/// What stood under each id that has changed.
type Before = BTreeMap<RecordId, Option<Arc<PublishedRecord>>>;

#[derive(Debug)]
pub(super) struct Assembler {
    records: Records,
    left_out: BTreeMap<RecordId, LeftOut>,
    matcher: Option<Arc<Matcher>>,
    names: Arc<Names>,
    graph: Arc<Graph>,
    /// `None` after an error.
    indexer: Option<Holder>,
}

/// Who has the indexer between two generations.
#[derive(Debug)]
enum Holder {
    Here(Box<Indexer>),
    /// The index of the first generation is still being built: recognising messages does without it.
    Commit(Committing),
}

impl Assembler {
    pub(super) fn new() -> Result<Self, SearchError> {
        // The threads of the index step back: at a start they are most of the work, and messages do not need it.
        let indexer = background::stepped_back(Indexer::new)?;
        Ok(Self {
            records: BTreeMap::new(),
            left_out: BTreeMap::new(),
            matcher: None,
            names: Arc::default(),
            graph: Arc::default(),
            indexer: Some(Holder::Here(Box::new(indexer))),
        })
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.indexer, Some(Holder::Commit(commit)) if commit.has_failed())
    }

    /// Takes changes in and builds the generation that holds everything up to `reaches`. The index of the first one is built
    /// beside what comes next; searches wait for it.
    ///
    /// After an error the assembler is as uncertain as its index: make a new one and feed it everything.
    pub(super) fn apply(
        &mut self,
        changes: Vec<FeedChange>,
        reaches: Seq,
    ) -> Result<Generation, SearchError> {
        let mut before = Before::new();
        let mut indexer = match self.indexer.take() {
            Some(Holder::Here(indexer)) => *indexer,
            Some(Holder::Commit(commit)) => commit.wait()?,
            None => return Err(SearchError::NotBuilt),
        };
        let takes_threads = takes_threads(changes.len());
        // The index has the longest way to go, so it gets each record as soon as it is read.
        read_each(changes, |read| self.take_in(read, &mut indexer, &mut before))?;
        let (records, previous) = (&self.records, self.matcher.as_deref());
        let matcher = || build_matcher(records, previous);
        let others = || {
            let related = NamesAndGraph::new(&before, records, &self.names, &self.graph);
            let committed = commit(indexer, SearchPrior::new(records), previous.is_none());
            (committed, related)
        };
        let ((matcher, rejected), (committed, related)) = if takes_threads {
            std::thread::scope(|scope| {
                let matcher = scope.spawn(matcher);
                let others = others();
                let built = matcher.join().unwrap_or_else(|panic| resume_unwind(panic));
                (built, others)
            })
        } else {
            (matcher(), others())
        };
        let (index, indexer) = committed?;
        self.indexer = Some(indexer);
        self.matcher = Some(Arc::clone(&matcher));
        self.names = related.names;
        self.graph = related.graph;
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

    fn take_in(&mut self, read: Read, indexer: &mut Indexer, before: &mut Before) -> Result<(), SearchError> {
        let Read { id, seq, published } = read;
        if self.records.get(&id).is_some_and(|held| held.seq >= seq) {
            return Ok(());
        }
        let held = self.records.remove(&id);
        if let Some(held) = &held {
            indexer.remove(held.slot());
        }
        // Of several changes of one record the first one knows what was there before.
        before.entry(id.clone()).or_insert(held);
        self.left_out.remove(&id);
        match published {
            Some(Ok(published)) => {
                indexer.add(published.slot(), Arc::clone(&published.search))?;
                self.records.insert(id, Arc::new(published));
            }
            Some(Err(left_out)) => self.leave_out(left_out),
            None => {}
        }
        Ok(())
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
}

struct NamesAndGraph {
    names: Arc<Names>,
    graph: Arc<Graph>,
}

impl NamesAndGraph {
    /// Makes them anew where what has changed shows in them; most edits do not.
    fn new(before: &Before, records: &Records, names: &Arc<Names>, graph: &Arc<Graph>) -> Self {
        let unlike = |alike: fn(&PublishedRecord, &PublishedRecord) -> bool| {
            let mut changed = before.iter().map(|(id, before)| (before, records.get(id)));
            changed.any(|pair| match pair {
                (Some(before), Some(after)) => !alike(before, after),
                (None, None) => false,
                _ => true,
            })
        };
        let renamed = unlike(Names::are_those_of);
        let rejoined = renamed || unlike(join_alike);
        let names = if renamed {
            Arc::new(Names::new(records))
        } else {
            Arc::clone(names)
        };
        let graph = if rejoined {
            Arc::new(Graph::new(records, &names.aliases))
        } else {
            Arc::clone(graph)
        };
        Self { names, graph }
    }
}

fn commit(
    mut indexer: Indexer,
    of_record: SearchPrior,
    is_first: bool,
) -> Result<(SearchIndex, Holder), SearchError> {
    let prior = move |document: &SearchDoc| of_record.of(&document.id);
    if is_first {
        let (index, commit) = indexer.commit_meanwhile(prior)?;
        return Ok((index, Holder::Commit(commit)));
    }
    // tantivy starts a thread for the next documents here.
    background::before_threads();
    let index = indexer.commit(prior)?;
    Ok((index, Holder::Here(Box::new(indexer))))
}

fn build_matcher(records: &Records, previous: Option<&Matcher>) -> (Arc<Matcher>, Vec<Rejected>) {
    let published = records
        .values()
        .map(|published| (&published.record, published.revision));
    let former = records.values().flat_map(|published| published.former_ids());
    let signatures = signature_set_by(published, former);
    let (matcher, rejected) = match previous {
        Some(previous) => previous.rebuild(signatures),
        None => Matcher::build(signatures),
    };
    for entry in &rejected {
        tracing::warn!(record = %entry.id, pattern = %entry.pattern, reason = %entry.reason, "a pattern is not used");
    }
    (Arc::new(matcher), rejected)
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
