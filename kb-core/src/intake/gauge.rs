//! How much of a text cannot be printed, from samples that lie evenly over it.

use super::NotText;
use super::coded::Coded;

/// From the beginning of one sample to that of the next, in bytes.
const PERIOD: u64 = 64 << 10;
/// Length of a sample, in bytes.
const SAMPLE: usize = 4 << 10;
/// Share of bytes that cannot be printed from which on it is no text, in percent. Compressed and encrypted bytes have about
/// 60, UTF-16 in English 50; the noisiest logs (progress bars, cells of NUL after a crash) a few.
const MOST_PERCENT: u64 = 30;
/// The same of one sample: a part of a text of which nothing was read. Zeros, as a crash leaves them, are not counted there.
const MOST_PERCENT_OF_SAMPLE: u64 = 40;
/// A shorter sample says little.
const LEAST_SAMPLE: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Gauge {
    place: u64,
    sample: Vec<u8>,
    counted: u64,
    unprintable: u64,
    zeros: u64,
    /// Where the first sample begins that is no text.
    no_text_at: Option<u64>,
    coded: Coded,
}

impl Gauge {
    pub(super) fn push(&mut self, mut text: &[u8]) {
        while !text.is_empty() {
            let within = usize::try_from(self.place % PERIOD).unwrap_or(SAMPLE);
            let is_sampled = within < SAMPLE;
            let until = if is_sampled {
                SAMPLE
            } else {
                usize::try_from(PERIOD).unwrap_or(usize::MAX)
            };
            let (piece, rest) = text.split_at(text.len().min(until - within));
            self.place += piece.len() as u64;
            text = rest;
            if is_sampled {
                self.sample.extend_from_slice(piece);
                if self.sample.len() == SAMPLE {
                    self.count();
                }
            }
        }
    }

    pub(super) fn judge(&self) -> Option<NotText> {
        let mut all = Self {
            sample: self.sample.clone(),
            ..*self
        };
        all.count();
        if all.counted == 0 || all.unprintable * 100 < all.counted * MOST_PERCENT {
            let part = all.no_text_at.map(|place| NotText::Part { place });
            return part.or_else(|| all.coded.judge().map(NotText::Coded));
        }
        let percent = u32::try_from(all.unprintable * 100 / all.counted).unwrap_or(100);
        Some(if all.zeros * 2 > all.unprintable {
            NotText::Zeros { percent }
        } else {
            NotText::Unprintable { percent }
        })
    }

    fn count(&mut self) {
        /// U+FFFD: what a program that read the bytes as UTF-8 before us has put in the place of others.
        const REPLACED: &[u8] = "\u{fffd}".as_bytes();
        let before = self.unprintable;
        let mut chunks = self.sample.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let valid = chunk.valid().as_bytes();
            let replaced = memchr::memmem::find_iter(valid, REPLACED).count() * REPLACED.len();
            let control = valid.iter().filter(|byte| is_control(**byte)).count();
            // A character that the end of the sample cuts is none of the text's faults.
            let is_cut = chunks.peek().is_none() && chunk.invalid().len() < 4 && valid.len() + 4 > SAMPLE;
            let invalid = if is_cut { 0 } else { chunk.invalid().len() };
            self.unprintable += (replaced + control + invalid) as u64;
        }
        let zeros = memchr::memchr_iter(0, &self.sample).count() as u64;
        let length = self.sample.len() as u64;
        let unprintable = self.unprintable.saturating_sub(before + zeros);
        let is_text = unprintable * 100 < length * MOST_PERCENT_OF_SAMPLE;
        if !is_text && self.sample.len() >= LEAST_SAMPLE && self.no_text_at.is_none() {
            self.no_text_at = Some(self.place.saturating_sub(length));
        }
        self.coded.count(&self.sample);
        self.zeros += zeros;
        self.counted += length;
        self.sample.clear();
    }
}

/// Control characters except those of terminals and progress bars: BS, TAB, LF, VT, FF, CR, ESC and BEL.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)
}
