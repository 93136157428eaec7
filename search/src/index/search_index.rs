//! The index of a generation, which may still be to come: recognising messages does without it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::document::SearchDoc;
use super::indexer::{Edit, Indexer};
use super::snapshot::Snapshot;
use crate::error::SearchError;

/// What builds an index; `None` where that failed.
type Build = Box<dyn FnOnce() -> Option<Snapshot> + Send>;

/// The indexer, or why there is none. `None` until the index was built.
type Kept = Mutex<Option<Result<Indexer, SearchError>>>;

/// What a generation is searched by. Who asks first builds it, where nobody did before; who asks meanwhile waits.
#[derive(Clone)]
pub struct SearchIndex {
    shared: Arc<Shared>,
}

struct Shared {
    /// `None` where the index could not be built.
    built: OnceLock<Option<Snapshot>>,
    /// Until somebody builds it.
    build: Mutex<Option<Build>>,
}

/// An index that may not be built yet, and the indexer that will keep it up to date.
#[derive(Debug)]
pub struct PendingIndex {
    index: SearchIndex,
    indexer: Arc<Kept>,
}

impl SearchIndex {
    pub(super) fn of(snapshot: Snapshot) -> Self {
        Self {
            shared: Arc::new(Shared {
                built: OnceLock::from(Some(snapshot)),
                build: Mutex::new(None),
            }),
        }
    }

    /// An index of what these edits make of the empty one of `new`. For `prior` see [`Indexer::commit`].
    pub fn later(
        new: impl FnOnce() -> Result<Indexer, SearchError> + Send + 'static,
        edits: Vec<Edit>,
        prior: impl Fn(&SearchDoc) -> f32 + Send + 'static,
    ) -> (Self, PendingIndex) {
        let indexer = Arc::new(Kept::default());
        // Where nobody follows the feed, nobody wants the indexer, and its threads end.
        let kept: Weak<Kept> = Arc::downgrade(&indexer);
        let build = move || {
            let (indexer, snapshot) = match built_of(new, edits, prior) {
                Ok((indexer, snapshot)) => (Ok(indexer), Some(snapshot)),
                Err(error) => (Err(error), None),
            };
            if let Some(kept) = kept.upgrade() {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(indexer);
            }
            snapshot
        };
        let index = Self {
            shared: Arc::new(Shared {
                built: OnceLock::new(),
                build: Mutex::new(Some(Box::new(build))),
            }),
        };
        let pending = PendingIndex {
            index: index.clone(),
            indexer,
        };
        (index, pending)
    }

    /// Builds it on this thread, unless somebody has begun to.
    pub fn build(&self) {
        let build = self.shared.build.lock();
        let build = build.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(build) = build {
            let ends = Ends(&self.shared.built);
            // Refused only where it is set, and nothing else sets it before.
            ends.0.set(build()).ok();
        }
    }

    /// What queries read. Blocks while the index is being built.
    pub(crate) fn snapshot(&self) -> Result<&Snapshot, SearchError> {
        if !self.is_built() {
            self.build();
        }
        self.shared.built.wait().as_ref().ok_or(SearchError::NotBuilt)
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
        self.shared.built.get().is_some()
    }

    /// True where it is built and can be searched.
    pub fn can_be_searched(&self) -> bool {
        matches!(self.shared.built.get(), Some(Some(_)))
    }

    /// True once it is known that there will be no index.
    fn has_failed(&self) -> bool {
        matches!(self.shared.built.get(), Some(None))
    }
}

fn built_of(
    new: impl FnOnce() -> Result<Indexer, SearchError>,
    edits: Vec<Edit>,
    prior: impl Fn(&SearchDoc) -> f32,
) -> Result<(Indexer, Snapshot), SearchError> {
    let mut indexer = new()?;
    for edit in edits {
        indexer.edit(edit)?;
    }
    let snapshot = indexer.take_in(prior)?;
    Ok((indexer, snapshot))
}

/// Says that there is no index when building ends without one, also by a panic: searches wait for it.
struct Ends<'a>(&'a OnceLock<Option<Snapshot>>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.get_or_init(|| None);
    }
}

impl PendingIndex {
    /// The indexer, after its index was built: here, where nobody has begun to.
    pub fn wait(self) -> Result<Indexer, SearchError> {
        // Whether that failed is told by what it left.
        self.index.snapshot().ok();
        let mut indexer = self.indexer.lock().unwrap_or_else(PoisonError::into_inner);
        indexer.take().unwrap_or(Err(SearchError::NotBuilt))
    }

    /// True where nobody has to wait for it.
    pub fn is_built(&self) -> bool {
        self.index.is_built()
    }

    pub fn has_failed(&self) -> bool {
        self.index.has_failed()
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchIndex")
            .field("is_built", &self.is_built())
            .finish_non_exhaustive()
    }
}
