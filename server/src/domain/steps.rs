//! A text that is all there, looked up in steps, so that others have their turn in between.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::hits::Hits;
use super::lookup::{LookupError, MatchAnswer, MatchOptions, Matching};
use super::work_time::{Meter, OutOfTime};
use crate::feed::Generation;

/// Bytes of a step.
const STEP: usize = 16 << 10;

pub struct Steps {
    matching: Option<Matching>,
    text: String,
    read: usize,
    meter: Meter,
    limit: Duration,
}

impl Steps {
    pub fn start(generation: &Arc<Generation>, text: String, options: MatchOptions, limit: Duration) -> Self {
        Self {
            matching: Some(Matching::start(Arc::clone(generation), options)),
            text,
            read: 0,
            meter: Meter::default(),
            limit,
        }
    }

    pub fn step(&mut self) -> Option<Result<MatchAnswer, LookupError>> {
        self.next(None)
    }

    pub fn step_noting(&mut self, hits: &mut Hits) -> Option<Result<MatchAnswer, LookupError>> {
        self.next(Some(hits))
    }

    /// Estimated memory of what was found so far, in bytes.
    pub fn memory_usage(&self) -> usize {
        self.matching.as_ref().map_or(0, Matching::memory_usage)
    }

    /// The text, back from a lookup that has ended: a large one is held once.
    pub fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    fn next(&mut self, hits: Option<&mut Hits>) -> Option<Result<MatchAnswer, LookupError>> {
        let rest = self.text.as_bytes().get(self.read..).unwrap_or_default();
        if rest.is_empty() {
            let matching = self.matching.take()?;
            return Some(match hits {
                None => matching.finish(),
                Some(hits) => matching.finish_noting(hits),
            });
        }
        let piece = rest.get(..STEP).unwrap_or(rest);
        let matching = self.matching.as_mut()?;
        self.meter.time(|| match hits {
            None => matching.feed(piece),
            Some(hits) => hits.note(&matching.push(piece)),
        });
        self.read += piece.len();
        (self.meter.spent() > self.limit).then(|| Err(OutOfTime(self.limit).into()))
    }
}

/// What was pasted must not reach a log by way of a debug print.
impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps")
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}
