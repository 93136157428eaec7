//! Reads the records of changes, many of them on several threads: of a start that is a large part.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread::{available_parallelism, scope};

use kb_core::ids::{RecordId, Seq};

use super::published::{LeftOut, PublishedRecord};
use crate::store::FeedChange;

/// So many changes are worth a thread.
const WORTH_A_THREAD: usize = 64;
/// More threads than this wait for memory, not for processors.
const MAX_THREADS: usize = 4;

/// Whether [`read_each`] starts threads for so many changes.
pub(super) fn takes_threads(changes: usize) -> bool {
    changes > WORTH_A_THREAD
}

pub(super) struct Read {
    pub(super) id: RecordId,
    pub(super) seq: Seq,
    /// `None`: withdrawn.
    pub(super) published: Option<Result<PublishedRecord, LeftOut>>,
}

/// Reads all and hands them over in order, each as soon as those before it are read. Ends with the first refused one.
pub(super) fn read_each<E>(
    mut changes: Vec<FeedChange>,
    mut take: impl FnMut(Read) -> Result<(), E>,
) -> Result<(), E> {
    let processors = available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let share = changes.len().div_ceil(processors).max(WORTH_A_THREAD);
    if changes.len() <= share {
        return changes.into_iter().map(read).try_for_each(take);
    }
    scope(|scope| {
        let mut readers = Vec::new();
        while !changes.is_empty() {
            let rest = changes.split_off(share.min(changes.len()));
            let part = std::mem::replace(&mut changes, rest);
            let (done, comes) = channel();
            let reader = scope.spawn(move || {
                for read in part.into_iter().map(read) {
                    if done.send(read).is_err() {
                        // Nobody takes any more after one that was refused.
                        break;
                    }
                }
            });
            readers.push((reader, comes));
        }
        for (reader, comes) in readers {
            comes.iter().try_for_each(&mut take)?;
            reader.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        Ok(())
    })
}

fn read(change: FeedChange) -> Read {
    let FeedChange {
        seq,
        id,
        changed_at,
        published,
        forced,
        former,
    } = change;
    let read = |texts| {
        let read = PublishedRecord::read(&id, seq, changed_at, texts)?;
        Ok(PublishedRecord {
            forced,
            former,
            ..read
        })
    };
    Read {
        published: published.map(read),
        id,
        seq,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::{change, document, tombstone};

    #[test]
    fn many_are_read_in_order() {
        let changes = (1..=300).map(|seq| {
            let id = format!("t/r{seq}");
            match seq % 7 {
                0 => tombstone(seq, &id),
                1 => change(seq, &id, "no document", "{}"),
                _ => change(
                    seq,
                    &id,
                    &document(&id, "an error").to_string(),
                    r#"{"schema_version": 1}"#,
                ),
            }
        });
        let mut read = Vec::new();
        let take = |one| {
            read.push(one);
            Ok::<_, ()>(())
        };
        read_each(changes.collect(), take).unwrap();
        assert_eq!(read.len(), 300);
        for (seq, read) in (1..).zip(read) {
            assert_eq!(
                (read.seq, read.id.as_str()),
                (Seq(seq), format!("t/r{seq}").as_str())
            );
            match read.published {
                None => assert_eq!(seq % 7, 0),
                Some(Err(left_out)) => assert_eq!((seq % 7, left_out.seq), (1, read.seq)),
                Some(Ok(published)) => assert_eq!(published.id(), &read.id),
            }
        }
    }

    #[test]
    fn one_that_is_refused_ends_it() {
        let changes = (1..=300).map(|seq| tombstone(seq, &format!("t/r{seq}")));
        let mut taken = 0;
        let take = |read: Read| {
            taken += 1;
            if read.seq == Seq(200) {
                Err(read.seq)
            } else {
                Ok(())
            }
        };
        assert_eq!(read_each(changes.collect(), take), Err(Seq(200)));
        assert_eq!(taken, 200);
    }
}
