//! The index of a generation, which may still be on its way: recognising messages does without it.

use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use super::document::SearchDoc;
use super::indexer::Indexer;
use super::snapshot::Snapshot;
use crate::error::SearchError;

/// `None` where the index could not be built.
type Built = OnceLock<Option<Snapshot>>;

/// What a generation is searched by. Who asks it while it is being built waits.
#[derive(Debug, Clone)]
pub struct SearchIndex {
    built: Arc<Built>,
}

/// A commit on a thread of its own.
#[derive(Debug)]
pub struct Committing {
    thread: JoinHandle<Result<Indexer, SearchError>>,
    index: SearchIndex,
}

impl SearchIndex {
    pub(super) fn of(snapshot: Snapshot) -> Self {
        Self {
            built: Arc::new(OnceLock::from(Some(snapshot))),
        }
    }

    /// What queries read. Blocks while the index is being built.
    pub(crate) fn snapshot(&self) -> Result<&Snapshot, SearchError> {
        self.built.wait().as_ref().ok_or(SearchError::NotBuilt)
    }

    /// Number of records. Blocks while the index is being built.
    pub fn len(&self) -> usize {
        self.snapshot().map_or(0, Snapshot::documents)
    }

    /// True when nothing is published.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True where nobody has to wait for it.
    pub fn is_built(&self) -> bool {
        self.built.get().is_some()
    }

    /// True once it is known that there will be no index.
    fn has_failed(&self) -> bool {
        matches!(self.built.get(), Some(None))
    }
}

impl Indexer {
    /// [`Self::commit`] beside the caller, who has the index at once.
    pub fn commit_meanwhile(
        mut self,
        prior: impl Fn(&SearchDoc) -> f32 + Send + 'static,
    ) -> Result<(SearchIndex, Committing), SearchError> {
        let built = Arc::new(Built::new());
        let ends = Ends(Arc::clone(&built));
        let commit = move || {
            let snapshot = self.take_in(prior)?;
            // Refused only where it is set, and nothing else sets it before.
            ends.0.set(Some(snapshot)).ok();
            Ok(self)
        };
        let thread = thread::Builder::new().name("index".to_owned()).spawn(commit);
        let thread = thread.map_err(tantivy::TantivyError::from)?;
        let index = SearchIndex { built };
        let committing = Committing {
            thread,
            index: index.clone(),
        };
        Ok((index, committing))
    }
}

/// Says that there is no index when the thread ends without one, also by a panic: searches wait for it.
struct Ends(Arc<Built>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.get_or_init(|| None);
    }
}

impl Committing {
    pub fn wait(self) -> Result<Indexer, SearchError> {
        self.thread.join().unwrap_or(Err(SearchError::NotBuilt))
    }

    pub fn has_failed(&self) -> bool {
        self.index.has_failed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::document;

    #[test]
    fn a_search_is_told_of_a_build_that_panicked() {
        let mut indexer = Indexer::new().unwrap();
        let document = document("t/one", "an error");
        indexer.add(1, Arc::new(document)).unwrap();
        let fails = |_: &SearchDoc| panic!("the test says so");
        let (index, committing) = indexer.commit_meanwhile(fails).unwrap();
        assert!(matches!(index.snapshot(), Err(SearchError::NotBuilt)));
        assert!(committing.has_failed());
        assert!(committing.wait().is_err());
    }
}
