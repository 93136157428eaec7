//! One state of the knowledge: records, matcher, index and graph that belong together. Never changes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kb_core::ids::{RecordId, Seq};
use kb_core::matcher::{Matcher, Rejected};

use super::background;
use super::graph::Graph;
use super::names::{Carriers, Names};
use super::published::{LeftOut, PublishedRecord};
use super::search_prior::SearchPrior;
use crate::bundle::archive;
use peerless_search::SearchIndex;
use peerless_search::carried::CarriedDoc;

static GENERATIONS: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub struct Generation {
    /// The feed's seq that this holds; `kb.seq` of every answer.
    pub seq: Seq,
    /// Tells the generations of this process apart; later ones have higher numbers.
    pub number: u64,
    /// How long it took, from the question to the store until it could answer.
    pub built_in: Duration,
    pub matcher: Arc<Matcher>,
    /// That of a first generation is built when it is asked for, or by [`Self::begin_index`].
    pub index: SearchIndex,
    pub graph: Arc<Graph>,
    pub left_out: Vec<LeftOut>,
    /// Patterns and codes that the matcher cannot use; the rest of their records is in.
    pub rejected: Vec<Rejected>,
    records: BTreeMap<RecordId, Arc<PublishedRecord>>,
    names: Arc<Names>,
    archive: OnceLock<Result<Arc<[u8]>, String>>,
}

#[derive(Debug)]
pub(super) struct Contents {
    pub(super) seq: Seq,
    pub(super) records: BTreeMap<RecordId, Arc<PublishedRecord>>,
    pub(super) matcher: Arc<Matcher>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) index: SearchIndex,
    pub(super) names: Arc<Names>,
    pub(super) graph: Arc<Graph>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Generation {
    pub(super) fn new(contents: Contents) -> Self {
        let Contents {
            seq,
            records,
            matcher,
            rejected,
            index,
            names,
            graph,
            left_out,
        } = contents;
        let number = GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1;
        Self {
            seq,
            number,
            built_in: Duration::ZERO,
            matcher,
            index,
            graph,
            left_out,
            rejected,
            records,
            names,
            archive: OnceLock::new(),
        }
    }

    /// Begins to build the index where there is none yet, on a thread that steps back, so that the first search does not wait for
    /// all of it.
    pub fn begin_index(&self) {
        if self.index.is_built() {
            return;
        }
        let index = self.index.clone();
        if let Err(error) = background::begin("index", move || index.build()) {
            tracing::warn!(%error, "no thread could be had for the search index: the first search builds it");
        }
    }

    /// All records as a zip archive, made when it is first asked for and kept as long as this generation. Takes a while;
    /// who asks meanwhile waits for the same one.
    pub fn archive(&self) -> Result<Arc<[u8]>, String> {
        let made = self.archive.get_or_init(|| {
            let records: Vec<_> = self.records.values().map(|published| &published.record).collect();
            let left_out = self.left_out.iter().map(|left_out| &left_out.id);
            archive(self.seq, records.into_iter(), left_out)
                .map(Arc::from)
                .map_err(|error| error.to_string())
        });
        made.clone()
    }

    /// What an index of the same records, made elsewhere, ranks them by.
    pub fn carried(&self) -> Vec<CarriedDoc> {
        let prior = SearchPrior::new(&self.records);
        let each = self.records.values();
        each.map(|published| CarriedDoc {
            document: published.search_doc().clone(),
            prior: prior.of(published.id()),
        })
        .collect()
    }

    pub fn newest(&self, count: usize) -> Vec<&Arc<PublishedRecord>> {
        let newer = |published: &&Arc<PublishedRecord>| std::cmp::Reverse(published.seq);
        let mut records: Vec<_> = self.records.values().collect();
        if count < records.len() {
            records.select_nth_unstable_by_key(count, newer);
            records.truncate(count);
        }
        records.sort_unstable_by_key(newer);
        records
    }

    pub fn record(&self, id: &RecordId) -> Option<&Arc<PublishedRecord>> {
        self.records.get(id)
    }

    /// The id that a former id goes by now.
    pub fn alias(&self, former: &str) -> Option<&RecordId> {
        self.names
            .aliases
            .get(former)
            .filter(|id| self.records.contains_key(id))
    }

    /// Records that carry a code, by id. Codes are compared without case, and `+`, `-`, `_` or nothing before a number
    /// count as a blank; a number alone stands for every code that ends with it.
    pub fn by_code(&self, code: &str) -> &[RecordId] {
        self.names.by_code(code)
    }

    /// Codes after one, each with its records, in the order of their lower-case forms.
    pub fn codes_after(&self, after: Option<&str>) -> impl Iterator<Item = &Carriers> {
        self.names.codes_after(after)
    }

    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Arc<PublishedRecord>> {
        self.records.values()
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}
