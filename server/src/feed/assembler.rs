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
use peerless_search::{Edit, Indexer, PendingIndex, SearchDoc, SearchError, SearchIndex};

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
    /// There is no generation yet.
    Nobody,
    Here(Box<Indexer>),
    /// The index of the first generation may not be built yet: recognising messages does without it.
    Pending(PendingIndex),
}

/// Changes that were taken in and are in no generation yet.
#[derive(Debug)]
pub(super) struct News {
    before: Before,
    intake: Intake,
    /// A part of them is worth threads of its own.
    is_large: bool,
}

/// Where the changes of the index go while records are read.
#[derive(Debug)]
enum Intake {
    /// Its thread takes them in meanwhile.
    Now(Box<Indexer>),
    /// Indexing is most of the work of a start, and messages do not need it: they are kept until the index is built.
    Kept(Vec<Edit>),
}

impl Intake {
    fn take(&mut self, edit: Edit) -> Result<(), SearchError> {
        match self {
            Self::Now(indexer) => indexer.edit(edit),
            Self::Kept(edits) => {
                edits.push(edit);
                Ok(())
            }
        }
    }
}

impl Assembler {
    pub(super) fn new() -> Self {
        Self {
            records: BTreeMap::new(),
            left_out: BTreeMap::new(),
            matcher: None,
            names: Arc::default(),
            graph: Arc::default(),
            indexer: Some(Holder::Nobody),
        }
    }

    /// True once it is known that there will be no index.
    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.indexer, Some(Holder::Pending(pending)) if pending.has_failed())
    }

    /// Why there will be no index, once that is known. The assembler is of no more use then.
    pub(super) fn failure(&mut self) -> Option<SearchError> {
        if !self.has_failed() {
            return None;
        }
        match self.indexer.take() {
            Some(Holder::Pending(pending)) => pending.wait().err(),
            _ => None,
        }
    }

    /// Its index cannot be built.
    #[cfg(test)]
    pub(super) fn fail(&mut self) {
        let fails = || Err(SearchError::Limit(0));
        let (index, pending) = SearchIndex::later(fails, Vec::new(), |_| 1.0);
        index.build();
        self.indexer = Some(Holder::Pending(pending));
    }

    /// Takes changes in and builds the generation that holds everything up to `reaches`. The index of the first one is built
    /// when it is asked for.
    ///
    /// After an error the assembler is as uncertain as its index: make a new one and feed it everything.
    pub(super) fn apply(
        &mut self,
        changes: Vec<FeedChange>,
        reaches: Seq,
    ) -> Result<Generation, SearchError> {
        let mut news = self.begin()?;
        self.take(changes, &mut news)?;
        self.build(news, reaches)
    }

    /// As [`Self::apply`], for changes that come one part after the other: [`Self::take`] each, then [`Self::build`].
    pub(super) fn begin(&mut self) -> Result<News, SearchError> {
        let intake = match self.indexer.take() {
            Some(Holder::Nobody) => Intake::Kept(Vec::new()),
            Some(Holder::Here(indexer)) => Intake::Now(indexer),
            Some(Holder::Pending(pending)) => {
                if !pending.is_built() {
                    // Its threads are started here, and live as long as the process.
                    background::before_threads();
                }
                Intake::Now(Box::new(pending.wait()?))
            }
            None => return Err(SearchError::NotBuilt),
        };
        Ok(News {
            before: Before::new(),
            intake,
            is_large: false,
        })
    }

    pub(super) fn take(&mut self, changes: Vec<FeedChange>, news: &mut News) -> Result<(), SearchError> {
        news.is_large |= takes_threads(changes.len());
        read_each(changes, |read| self.take_in(read, news))
    }

    pub(super) fn build(&mut self, news: News, reaches: Seq) -> Result<Generation, SearchError> {
        let News {
            before,
            intake,
            is_large,
        } = news;
        let (records, previous) = (&self.records, self.matcher.as_deref());
        let matcher = || build_matcher(records, previous);
        let others = || {
            let related = NamesAndGraph::new(&before, records, &self.names, &self.graph);
            let committed = commit(intake, SearchPrior::new(records));
            (committed, related)
        };
        let ((matcher, rejected), (committed, related)) = if is_large {
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

    fn take_in(&mut self, read: Read, news: &mut News) -> Result<(), SearchError> {
        let Read { id, seq, published } = read;
        if self.records.get(&id).is_some_and(|held| held.seq >= seq) {
            return Ok(());
        }
        let held = self.records.remove(&id);
        if let Some(held) = &held {
            news.intake.take(Edit::Remove(held.slot()))?;
        }
        // Of several changes of one record the first one knows what was there before.
        news.before.entry(id.clone()).or_insert(held);
        self.left_out.remove(&id);
        match published {
            Some(Ok(published)) => {
                let document = Arc::clone(&published.search);
                news.intake.take(Edit::Add(published.slot(), document))?;
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

fn commit(intake: Intake, of_record: SearchPrior) -> Result<(SearchIndex, Holder), SearchError> {
    let prior = move |document: &SearchDoc| of_record.of(&document.id);
    match intake {
        Intake::Now(mut indexer) => {
            // tantivy starts a thread for the next documents here.
            background::before_threads();
            let index = indexer.commit(prior)?;
            Ok((index, Holder::Here(indexer)))
        }
        Intake::Kept(edits) => {
            // The threads of the index step back, whoever builds it.
            let new = || background::stepped_back(Indexer::new);
            let (index, pending) = SearchIndex::later(new, edits, prior);
            Ok((index, Holder::Pending(pending)))
        }
    }
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
