//! From lines to hits: the filter reads whole runs, only the lines it points at are looked at again.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

use super::ScanOptions;
use super::assemble::{notes_so_far, sum_up};
use super::bytes;
use super::clean::{Clean, ESC};
use super::clock::Clocks;
use super::devices::Devices;
use super::dmon::Tables;
use super::event::Sink;
use super::fold::{Seen, Tally};
use super::hits::Hits;
use super::lines::{End, Part, line_end, line_start, newlines, size, tail};
use super::marks::{Marks, upto};
use super::messages::{host_of, messages, shown_parts};
use super::origin::Origin;
use super::partial::{Cuts, Partials};
use super::raised::Raised;
use super::resources::Resources;
use super::restore::{Signs, restore};
use super::rows::has_head;
use super::sequence::Sequences;
use super::stated::Stated;
use super::summary::Summary;
use super::unexplained::UnexplainedXids;
use crate::matcher::statements::WORDS;
use crate::matcher::{Found, Glance, Line, Matcher, Work};

/// A run is read in blocks of about this size, in bytes, so that what was found in one stays small.
const BLOCK_BYTES: usize = 128 * 1024;

/// Longest line for which the memory to work on it is kept.
const SCRATCH_BYTES: usize = 8 << 10;

#[derive(Debug)]
pub(super) struct Engine {
    matcher: Arc<Matcher>,
    options: ScanOptions,
    pub(super) tally: Tally,
    clocks: Clocks,
    work: Work,
    found: Vec<Found>,
    /// What the slow lane found in a block or on a line, and where that line begins.
    slow_marks: Vec<(usize, Found)>,
    glance: Glance,
    lower: Vec<u8>,
    clean: Clean,
    /// Records seen on the long line that is being read; `true` for a match, `false` for a candidate.
    seen_on_long_line: Vec<(u32, bool)>,
    sequences: Sequences,
    stated: Stated,
    unexplained: UnexplainedXids,
    devices: Devices,
    raised: Raised,
    partials: Partials,
    pub(super) tables: Tables,
    resources: Resources,
}

impl Engine {
    pub(super) fn new(matcher: Arc<Matcher>, options: ScanOptions) -> Self {
        Self {
            matcher,
            options,
            tally: Tally::default(),
            clocks: Clocks::default(),
            work: Work::default(),
            found: Vec::new(),
            slow_marks: Vec::new(),
            glance: Glance::default(),
            lower: Vec::new(),
            clean: Clean::default(),
            seen_on_long_line: Vec::new(),
            sequences: Sequences::default(),
            stated: Stated::default(),
            unexplained: UnexplainedXids::default(),
            devices: Devices::default(),
            raised: Raised::default(),
            partials: Partials::default(),
            tables: Tables::default(),
            resources: Resources::default(),
        }
    }

    pub(super) fn scan(&mut self, part: &Part<'_>, mut events: Sink<'_>) {
        self.tally.error_lines.read(part.bytes, part.line, part.offset);
        if let Some(piece) = part.piece {
            let origin = Origin {
                piece: Some(piece),
                ..Origin::of(part.line, part.offset)
            };
            self.scan_single(part.bytes, &origin, &mut events);
            let is_middle = !piece.first && bytes::middle(part.bytes).is_some();
            if is_middle || Marks::of(part.bytes).next(0).is_some() {
                self.scan_restored(part.bytes, &origin, Signs::Escapes, &mut events);
            }
            self.partials = Partials::default();
            self.tables.close();
            if piece.last {
                self.seen_on_long_line.clear();
            }
            return;
        }
        self.resources.read(part, &mut self.tally.error_lines);
        // Lines with terminal colours or escapes are read one by one; all that stands between them is read as it is.
        let mut from = 0;
        let mut line = part.line;
        let mut marks = Marks::of(part.bytes);
        let mut head = None;
        while let Some(marked) = marks.next(from) {
            let start = line_start(part.bytes, marked).max(from);
            let end = line_end(part.bytes, marked);
            let plain = part.bytes.get(from..start).unwrap_or_default();
            self.scan_run(plain, line, part.offset + size(from), &mut events);
            line += newlines(plain);
            let origin = Origin::of(line, part.offset + size(start));
            let bytes = part.bytes.get(start..end).unwrap_or_default();
            self.scan_single(bytes, &origin, &mut events);
            self.scan_restored(bytes, &origin, Signs::Escapes, &mut events);
            head = head.or_else(|| has_head(bytes).then_some((start, line)));
            line += 1;
            from = end + 1;
        }
        self.scan_run(
            tail(part.bytes, from),
            line,
            part.offset + size(from),
            &mut events,
        );
        self.scan_partials(part, &mut events);
        self.scan_rows(part, head, &mut events);
    }

    fn scan_partials(&mut self, part: &Part<'_>, events: &mut Sink<'_>) {
        let mut partials = std::mem::take(&mut self.partials);
        let (mut from, mut line) = (0, part.line);
        let mut cuts = Cuts::of(part.bytes);
        while from < part.bytes.len() {
            if partials.is_idle() {
                let Some(flag) = cuts.next(part.bytes, from) else {
                    break;
                };
                let start = line_start(part.bytes, flag).max(from);
                line += newlines(part.bytes.get(from..start).unwrap_or_default());
                from = start;
            }
            let end = line_end(part.bytes, from);
            let bytes = part.bytes.get(from..end).unwrap_or_default();
            if let Some(joined) = partials.take(bytes, line, part.offset + size(from)) {
                self.scan_joined(&joined, events);
            }
            line += 1;
            from = end + 1;
        }
        self.partials = partials;
    }

    /// Gives back what long lines took for the work on them: a text that waits for its rest would hold half a megabyte.
    pub(super) fn give_back(&mut self) {
        if self.lower.capacity() > SCRATCH_BYTES {
            self.lower = Vec::new();
            self.clean = Clean::default();
            self.glance.give_back();
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.tally.memory_usage()
    }

    pub(super) fn notes(&self, long_lines: u64) -> Vec<String> {
        notes_so_far(&self.tally, &self.unexplained, long_lines)
    }

    pub(super) fn finish(mut self, end: &End) -> Summary {
        self.devices.settle(&mut self.tally);
        let seen = Seen {
            end,
            broken: &self.work.broken,
            clocks: &self.clocks,
            given_up: self.sequences.given_up,
            stated: &self.stated,
            unexplained: &self.unexplained,
            tables: &self.tables,
            raised: &self.raised,
        };
        sum_up(self.tally, &self.matcher, &self.options, &seen)
    }

    fn scan_run(&mut self, run: &[u8], first_line: u64, offset: u64, events: &mut Sink<'_>) {
        let mut from = 0;
        let mut line = first_line;
        while from < run.len() {
            let rest = tail(run, from);
            let end = if rest.len() > BLOCK_BYTES {
                line_end(rest, BLOCK_BYTES) + 1
            } else {
                rest.len()
            };
            let block = rest.get(..end).unwrap_or(rest);
            line = self.scan_block(block, line, offset + size(from), events);
            from += block.len();
        }
    }

    /// Reads a block of whole lines and returns the number of the line behind it.
    fn scan_block(&mut self, block: &[u8], first_line: u64, offset: u64, events: &mut Sink<'_>) -> u64 {
        let slow_marks = self.slow_marks(block);
        let mut slow = slow_marks.as_slice();
        let mut line = first_line;
        let mut start = 0;
        while start < block.len() {
            let end = line_end(block, start);
            self.wake(block, start..end, upto(&mut slow, end));
            if !self.found.is_empty() || !self.raised.is_idle() {
                let origin = Origin::of(line, offset + size(start));
                self.look_and_follow(block.get(start..end).unwrap_or_default(), &origin, events);
            }
            line += 1;
            start = end + 1;
        }
        self.slow_marks = slow_marks;
        line
    }

    fn scan_single(&mut self, bytes: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) {
        if memchr(ESC, bytes).is_none() {
            self.wake_single(bytes);
            self.look_and_follow(bytes, origin, events);
            return;
        }
        let mut clean = std::mem::take(&mut self.clean);
        clean.load(bytes);
        self.wake_single(&clean.text);
        let cleaned = Some(&clean);
        self.look_and_follow(&clean.text, &Origin { cleaned, ..*origin }, events);
        self.clean = clean;
    }

    /// Reads a line once more as it was before it was escaped; counts what it did not hold as it stands.
    pub(super) fn scan_restored(
        &mut self,
        bytes: &[u8],
        origin: &Origin<'_>,
        signs: Signs,
        events: &mut Sink<'_>,
    ) {
        let mut clean = std::mem::take(&mut self.clean);
        let is_middle = origin.piece.is_some_and(|piece| !piece.first);
        if restore(bytes, signs, is_middle, &mut clean) {
            self.wake_single(&clean.text);
            let origin = Origin {
                cleaned: Some(&clean),
                restored: true,
                ..*origin
            };
            self.look_and_follow(&clean.text, &origin, events);
            self.scan_within(&clean, &origin, events);
        }
        self.clean = clean;
    }

    pub(super) fn wake_single(&mut self, line: &[u8]) {
        let slow_marks = self.slow_marks(line);
        self.wake(line, 0..line.len(), &slow_marks);
        self.slow_marks = slow_marks;
    }

    fn slow_marks(&mut self, text: &[u8]) -> Vec<(usize, Found)> {
        let mut marks = std::mem::take(&mut self.slow_marks);
        marks.clear();
        if let Some(lane) = self.matcher.slow() {
            lane.search(text, |found, at| marks.push((at, found)));
        }
        marks
    }

    /// What is worth a look on a line: what its literals wake and the rest of the line does not refute.
    fn wake(&mut self, text: &[u8], line: Range<usize>, slow: &[(usize, Found)]) {
        let found = &mut self.found;
        found.extend(slow.iter().map(|(_, found)| *found));
        let filter = self.matcher.filter();
        filter.search(text, line, &mut self.glance, |woken| found.push(woken));
        found.sort_unstable();
        found.dedup();
    }

    fn look_and_follow(&mut self, text: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) {
        let has_head = self.found.contains(&Found::Raised);
        let is_explained = self.look_at(text, origin, events);
        self.raised.follow(text, origin, has_head, is_explained);
    }

    /// Whether a record explains the line.
    pub(super) fn look_at(&mut self, text: &[u8], origin: &Origin<'_>, events: &mut Sink<'_>) -> bool {
        if self.found.is_empty() {
            return false;
        }
        let mut found = std::mem::take(&mut self.found);
        let (first, last) = origin
            .piece
            .map_or((true, true), |piece| (piece.first, piece.last));
        let text = if last {
            text.strip_suffix(b"\r").unwrap_or(text)
        } else {
            text
        };
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        lower.extend_from_slice(text);
        lower.make_ascii_lowercase();
        // A match may not lean on the edge of a piece where the line goes on beyond it.
        let from = usize::from(!first).min(text.len());
        // Both the time of a line and its messages are told by its prefixes, which are read once, where first needed.
        let shown = OnceCell::new();
        let shown = || shown.get_or_init(|| shown_parts(text, first)).as_slice();
        let host = || host_of(text, shown());
        let read_messages = || messages(text, shown(), last);
        let line = Line {
            text,
            lower: &lower,
            grams: &self.glance.grams,
            within: from..text.len().saturating_sub(usize::from(!last)).max(from),
            read_messages: &read_messages,
            messages: OnceCell::new(),
            is_valid: OnceCell::new(),
        };
        let mut names_devices = false;
        for found in &found {
            // Where lines are put together, a value may have swallowed the next line's first word.
            let (Found::Stated(words), None) = (found, origin.joined) else {
                continue;
            };
            if usize::from(*words) >= WORDS.len() {
                if !names_devices {
                    // What a terminal shows of the line: a progress bar before it is gone.
                    let shown_from = memchr::memrchr(b'\r', text).map_or(0, |end| end + 1);
                    self.devices.read(tail(text, shown_from), host, origin.line);
                    names_devices = true;
                }
            } else if !origin.restored {
                self.stated.read(*words, text, &lower, origin.line);
            }
        }
        let matcher = Arc::clone(&self.matcher);
        let mut work = std::mem::take(&mut self.work);
        work.hits.clear();
        let left_out = matcher.thin_out(&mut found, text.len());
        self.tally.crowded.take(left_out, 0);
        matcher.verify(&line, &found, &mut work);
        let is_explained = work.hits.iter().any(|hit| !hit.weak);
        if !is_explained && found.iter().any(|found| matches!(found, Found::Family(_))) {
            self.unexplained.read(text, origin.line);
        }
        if !work.hits.is_empty() {
            // What is only a candidate is not ordered.
            let needs_moment = work
                .hits
                .iter()
                .any(|hit| !hit.weak || matcher.is_part(hit.signal));
            let moment = if needs_moment {
                self.clocks.of_line(text, shown(), origin.line)
            } else {
                None
            };
            let mut hits = Hits {
                matcher: &matcher,
                line: &line,
                origin,
                host: &host,
                moment,
                options: &self.options,
                seen: &mut self.seen_on_long_line,
                sequences: &mut self.sequences,
                devices: &mut self.devices,
                tally: &mut self.tally,
            };
            hits.count(&mut work.hits, events);
        }
        self.work = work;
        self.lower = lower;
        found.clear();
        self.found = found;
        is_explained
    }
}
