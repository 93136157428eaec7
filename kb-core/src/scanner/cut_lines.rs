//! Lines that a terminal or a pager has cut: a pasted error may stand on two lines or more. Such lines are put together
//! and read once more; only what stands across a cut counts.
//!
//! Texts of up to [`HEAD_BYTES`] are looked at so, for that is what people paste; logs come from files, whose lines nobody
//! has cut. A line goes on with the next where the next one's first word would not have fitted on it, the longest line
//! being the width, and where the next names no time and no writer. What a wildcard swallows may reach over a cut only where
//! the width tells that there is one: several lines have it, or it is a usual one.

use std::ops::Range;

use super::clean::Clean;
use super::lines::size;
use super::prefix::{self, BOM};
use super::summary::LinePart;
use crate::matcher::RawHit;

/// Longest text that is looked at, in bytes.
pub const HEAD_BYTES: usize = 64 * 1024;
/// Narrowest and widest terminal, in characters.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=400;
/// Widths that terminals, pagers and programs cut at, in characters.
const USUAL_WIDTHS: [usize; 8] = [72, 80, 100, 120, 132, 160, 200, 240];
/// What stands before each line of a quote, a comment or a box, with a blank behind it.
const MARGINS: [&[u8]; 4] = [QUOTE, b"#", b"*", b"//"];
/// What stands before each line of a quote, with a blank, another or the text behind it.
const QUOTE: &[u8] = b">";
/// The sides of a box: before each line, and behind it where the box has a right side.
const SIDES: [&[u8]; 3] = [b"|", "\u{2502}".as_bytes(), "\u{2503}".as_bytes()];
/// Most margins of a line: quotes of quotes.
const MAX_MARGINS: usize = 4;
/// Most lines that are put together.
const MAX_LINES: usize = 8;

/// The beginning of a text, kept while the text is short.
#[derive(Debug, Default)]
pub(super) struct Head {
    bytes: Vec<u8>,
    over: bool,
}

impl Head {
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        if self.over {
            return;
        }
        if self.bytes.len() + bytes.len() > HEAD_BYTES {
            self.over = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The lines of a short text: number, place in the text, bytes.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, u64, &[u8])> {
        let mut offset = 0;
        (1..)
            .zip(self.bytes.split(|byte| *byte == b'\n'))
            .map(move |(number, line)| {
                let at = offset;
                offset += line.len() + 1;
                (number, size(at), line)
            })
    }

    pub(super) fn joined(&self) -> Vec<Joined> {
        if memchr::memchr(b'\n', &self.bytes).is_none() {
            return Vec::new();
        }
        let lines = physical_lines(&self.bytes);
        let width = lines.iter().map(|line| line.chars).max().unwrap_or_default();
        if !WIDTHS.contains(&width) {
            return Vec::new();
        }
        let at_width = lines.iter().filter(|line| line.is_full(width)).count();
        let goes_on: Vec<bool> = lines
            .windows(2)
            .map(|pair| matches!(pair, [line, next] if line.goes_on(next, width)))
            .collect();
        let mut all = Vec::new();
        let mut from = 0;
        while from < lines.len() {
            let more = goes_on.get(from..).unwrap_or_default();
            let count = 1 + more
                .iter()
                .take(MAX_LINES - 1)
                .take_while(|goes_on| **goes_on)
                .count();
            let group = lines.get(from..from + count).unwrap_or_default();
            if count > 1 {
                // A terminal cuts anywhere; what wraps at words eats a blank. A full line may be either.
                let is_full = |line: &PhysicalLine| line.is_full(width);
                let cut_anywhere = group.iter().rev().skip(1).any(is_full);
                let is_cut =
                    |line: &PhysicalLine| at_width > 1 || is_full(line) && USUAL_WIDTHS.contains(&width);
                if cut_anywhere {
                    all.push(Joined::new(
                        group,
                        from,
                        |line| !is_full(line),
                        |line, _| is_cut(line),
                    ));
                }
                let is_wrapped = |line: &PhysicalLine, next: &PhysicalLine| line.is_wrapped(next, width);
                all.push(Joined::new(group, from, |_| true, is_wrapped));
            }
            from += count;
        }
        all
    }
}

struct PhysicalLine {
    offset: usize,
    /// Without its end and without terminal colours.
    clean: Clean,
    len: usize,
    chars: usize,
    /// Characters that fit before the right side of a box.
    box_width: Option<usize>,
    /// Bytes before the text: blanks, and marks such as `> `.
    margin: usize,
    /// Characters of the first word behind the margin.
    first_word: usize,
    begins_lower: bool,
    names_time: bool,
    names_writer: bool,
}

impl PhysicalLine {
    fn is_full(&self, width: usize) -> bool {
        self.chars == self.box_width.unwrap_or(width)
    }

    fn goes_on(&self, next: &Self, width: usize) -> bool {
        let width = self.box_width.unwrap_or(width);
        let full = self.chars >= width;
        let crowded = next.first_word > 0 && self.chars + 1 + next.first_word > width;
        // The rest of a message may look like one: `[64,0,0] Assertion failed`. Who names writers names them on each line.
        let is_cut = self.chars == width && USUAL_WIDTHS.contains(&width) && !self.names_writer;
        let is_other = next.names_time || next.names_writer && !is_cut;
        self.chars > 0 && next.chars > 0 && (full || crowded) && !is_other
    }

    /// Whether a sentence goes on where a usual width had no room for its next word.
    fn is_wrapped(&self, next: &Self, longest: usize) -> bool {
        let width = USUAL_WIDTHS.into_iter().find(|width| *width >= longest);
        width.is_some_and(|width| next.begins_lower && self.chars + 1 + next.first_word > width)
    }
}

fn physical_lines(text: &[u8]) -> Vec<PhysicalLine> {
    let mut offset = 0;
    text.split(|byte| *byte == b'\n')
        .map(|line| {
            let at = offset;
            offset += line.len() + 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // A terminal shows what was printed last.
            let shown_from = memchr::memrchr(b'\r', line).map_or(0, |at| at + 1);
            let shown_from = shown_from + bom_len(line.get(shown_from..).unwrap_or_default());
            let (at, line) = (at + shown_from, line.get(shown_from..).unwrap_or_default());
            let mut clean = Clean::default();
            clean.load(line);
            let box_width = take_off_right_side(&mut clean);
            let shown = &clean.text;
            let prefix = prefix::read(shown);
            let margin = margin(shown);
            let behind = shown.get(margin..).unwrap_or_default();
            let first_word = behind.iter().take_while(|b| !b.is_ascii_whitespace());
            PhysicalLine {
                offset: at,
                len: line.len(),
                chars: characters(shown.iter()),
                box_width,
                margin,
                first_word: characters(first_word),
                begins_lower: behind.first().is_some_and(u8::is_ascii_lowercase),
                names_time: prefix.stamp.is_some(),
                names_writer: prefix.stream(shown).is_some(),
                clean,
            }
        })
        .collect()
}

fn bom_len(line: &[u8]) -> usize {
    if line.starts_with(BOM) { BOM.len() } else { 0 }
}

fn margin(line: &[u8]) -> usize {
    let blanks = |from: usize| {
        let rest = line.get(from..).unwrap_or_default();
        from + rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    };
    let mut end = blanks(0);
    for _ in 0..MAX_MARGINS {
        let rest = line.get(end..).unwrap_or_default();
        let mut marks = MARGINS.iter().chain(&SIDES);
        let Some(mark) = marks.find(|mark| rest.starts_with(mark)) else {
            break;
        };
        let behind = blanks(end + mark.len());
        if behind == end + mark.len() && *mark != QUOTE {
            break;
        }
        end = behind;
    }
    end
}

/// Takes the right side of a box and the blanks before it off a line that the left side begins. Returns the characters that
/// fit between the sides, with a blank before the right one.
fn take_off_right_side(clean: &mut Clean) -> Option<usize> {
    let shown = clean.text.trim_ascii();
    let side = SIDES.iter().find(|side| shown.starts_with(side))?;
    let before = clean.text.trim_ascii_end().strip_suffix(*side)?;
    let fits = before.strip_suffix(b" ")?;
    let (width, end) = (characters(fits.iter()), fits.trim_ascii_end().len());
    clean.truncate(end);
    Some(width)
}

/// Characters of UTF-8: bytes that begin one.
fn characters<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes.filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

#[derive(Debug, Clone, Copy)]
struct Seam {
    at: usize,
    /// What a wildcard swallows may reach over it.
    is_certain: bool,
}

#[derive(Debug)]
pub(super) struct Joined {
    pub(super) clean: Clean,
    /// Place of the first line's text in the body.
    pub(super) offset: u64,
    numbers: Vec<u64>,
    /// Where further lines begin in the joined text.
    seams: Vec<Seam>,
    spans: Vec<Range<u64>>,
}

impl Joined {
    fn new(
        group: &[PhysicalLine],
        first: usize,
        blank_behind: impl Fn(&PhysicalLine) -> bool,
        is_certain: impl Fn(&PhysicalLine, &PhysicalLine) -> bool,
    ) -> Self {
        let (offset, first_margin) = group.first().map_or((0, 0), |line| (line.offset, line.margin));
        let mut clean = Clean::default();
        let mut seams = Vec::new();
        let mut before: Option<&PhysicalLine> = None;
        for (at, line) in group.iter().enumerate() {
            let mut from = 0;
            if let Some(before) = before {
                seams.push(Seam {
                    at: clean.text.len(),
                    is_certain: is_certain(before, line),
                });
                from = line.margin;
                // A cut before a blank leaves that to the next line.
                if !blank_behind(before) && from == first_margin + 1 {
                    from = first_margin;
                }
            }
            before = Some(line);
            clean.append(&line.clean, from, line.offset - offset);
            let ends_blank = clean.text.last().is_some_and(u8::is_ascii_whitespace);
            if at + 1 < group.len() && blank_behind(line) && !ends_blank {
                clean.text.push(b' ');
            }
        }
        Self {
            clean,
            offset: size(offset),
            numbers: (size(first) + 1..).take(group.len()).collect(),
            seams,
            spans: group
                .iter()
                .map(|line| size(line.offset)..size(line.offset + line.len))
                .collect(),
        }
    }

    /// The first of lines that a program has cut, wherever they stand; `len` bytes of it as sent.
    pub(super) fn begin(clean: Clean, number: u64, offset: u64, len: usize) -> Self {
        Self {
            clean,
            offset,
            numbers: vec![number],
            seams: Vec::new(),
            spans: std::iter::once(offset..offset + size(len)).collect(),
        }
    }

    pub(super) fn add(&mut self, clean: &Clean, number: u64, offset: u64, len: usize) {
        self.seams.push(Seam {
            at: self.clean.text.len(),
            is_certain: true,
        });
        let behind = offset.saturating_sub(self.offset);
        self.clean
            .append(clean, 0, usize::try_from(behind).unwrap_or(usize::MAX / 2));
        self.numbers.push(number);
        self.spans.push(offset..offset + size(len));
    }

    pub(super) fn first(&self) -> u64 {
        self.numbers.first().copied().unwrap_or_default()
    }

    pub(super) fn line_of(&self, at: usize) -> u64 {
        let before = self.seams.partition_point(|seam| seam.at <= at);
        self.numbers.get(before).copied().unwrap_or_default()
    }

    pub(super) fn is_cut_at(&self, hit: &RawHit) -> bool {
        let across = |range: &Range<usize>| {
            self.seams
                .iter()
                .any(|seam| range.start < seam.at && seam.at < range.end)
        };
        let in_gap = |seam: usize| hit.gaps.iter().any(|gap| gap.start <= seam && seam <= gap.end);
        let mut cuts = self
            .seams
            .iter()
            .filter(|seam| hit.span.start < seam.at && seam.at < hit.span.end);
        !hit.weak && across(&hit.span) && cuts.all(|seam| seam.is_certain || !in_gap(seam.at))
    }

    pub(super) fn further_lines(&self, line: u64, end: u64) -> Vec<LinePart> {
        let numbered = self.numbers.iter().zip(&self.spans);
        numbered
            .filter(|(number, span)| **number > line && span.start < end)
            .map(|(number, span)| LinePart {
                line: *number,
                start: span.start,
                end: span.end,
                text: None,
            })
            .collect()
    }
}
