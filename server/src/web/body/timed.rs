//! Processor time of a text that is worked on while it comes: so much for the request, and so much for each byte. Who closes
//! the connection behind a large text is not seen before the text is read, so the work for nobody needs a bound, too.

use super::{BodyError, Sink};
use crate::domain::work_time::Meter;
use crate::web::limits;

/// Ends the reading when what comes of it takes too long.
pub(super) struct Timed<S> {
    pub(super) sink: S,
    meter: Meter,
    bytes: usize,
}

impl<S> Timed<S> {
    pub(super) fn new(sink: S) -> Self {
        Self {
            sink,
            meter: Meter::default(),
            bytes: 0,
        }
    }
}

impl<S: Sink> Sink for Timed<S> {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.meter.time(|| self.sink.take(piece))?;
        self.bytes = self.bytes.saturating_add(piece.len());
        let megabytes = u32::try_from(self.bytes / 1_000_000).unwrap_or(u32::MAX);
        let allowed = limits::WORK_TIME.saturating_add(limits::MEGABYTE_TIME.saturating_mul(megabytes));
        if self.meter.spent() > allowed {
            return Err(BodyError::TooMuchWork);
        }
        Ok(())
    }
}
