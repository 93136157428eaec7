//! Whether what GPUs got from others is what was sent.

use std::collections::BTreeMap;

use crate::gpu::{CallError, Windows};
use crate::worker::place::Place;
use crate::worker::protocol::{self, FlowKind, Measure, WrongData};

use super::holdings::pattern;
use super::{Bench, Trouble};

impl Bench {
    /// What must have arrived, and where: the first piece of each GPU's buffer, which others send the same of theirs.
    pub(super) fn expected<'a>(
        &'a self,
        measure: &Measure,
        bytes: usize,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Vec<Arrival<'a>>, Trouble> {
        let between = measure.flows.iter().filter_map(|flow| match flow.kind {
            FlowKind::Copy {
                source: protocol::Place::Gpu(source, 0),
                destination: protocol::Place::Gpu(destination, 0),
                ..
            } => Some((source, destination)),
            _ => None,
        });
        between
            .map(|(source, destination)| {
                Ok(Arrival {
                    source,
                    destination,
                    place: places.get(&destination).ok_or(Trouble::Unprepared(destination))?,
                    window: self.of(destination)?.window(false, 0, bytes)?,
                })
            })
            .collect()
    }
}

pub(super) struct Arrival<'a> {
    source: u32,
    destination: u32,
    pub(super) place: &'a Place,
    pub(super) window: Windows<'a>,
}

impl Arrival<'_> {
    pub(super) fn compare(&self) -> Result<Option<WrongData>, CallError> {
        let found = self.place.compare(&[(self.window, pattern(self.source))])?;
        let wrong = found.into_iter().flatten().next();
        Ok(wrong.map(|wrong| WrongData {
            source: self.source,
            destination: self.destination,
            message: format!(
                "what GPU {} got from GPU {} is wrong: {} words from byte {} on",
                self.destination,
                self.source,
                wrong.words,
                self.window.offset_of(wrong.first_word)
            ),
        }))
    }
}
