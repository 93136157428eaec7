//! Reads the patterns of a first generation on several threads: of a start that is a large part.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::{available_parallelism, scope};

use super::cache::PatternCache;
use super::slot::Slot;
use crate::signature::RecordSignatures;

/// So many records are worth a thread.
const WORTH_A_THREAD: usize = 256;
/// More threads than this wait for memory, not for processors.
const MAX_THREADS: usize = 4;

/// Has the cache read what it does not know, and gives what it read. Does nothing where there is little to read, or one processor.
pub(super) fn read(signatures: &[RecordSignatures], cache: &PatternCache) -> Vec<Arc<Slot>> {
    let processors = available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let share = signatures.len().div_ceil(processors).max(WORTH_A_THREAD);
    if cache.is_used() || signatures.len() <= share {
        return Vec::new();
    }
    scope(|scope| {
        let shares: Vec<_> = signatures
            .chunks(share)
            .map(|share| scope.spawn(move || read_share(share, cache)))
            .collect();
        // A thread that panics gives nothing: the build reads its share then, and panics where it can be told.
        let read = shares.into_iter().filter_map(|share| share.join().ok());
        read.flatten().collect()
    })
}

/// Errors are left out: the build finds them again and tells them.
fn read_share(share: &[RecordSignatures], cache: &PatternCache) -> Vec<Arc<Slot>> {
    let mut read = Vec::new();
    for record in share {
        for spec in &record.patterns {
            match cache.parts(spec) {
                Ok(Some(parts)) => read.extend(parts.iter().filter_map(|part| cache.slot(&part.spec).ok())),
                Ok(None) => read.extend(cache.slot(spec)),
                Err(_) => {}
            }
        }
        read.extend(record.phrases.iter().filter_map(|spec| cache.phrase(spec).ok()));
    }
    read
}
