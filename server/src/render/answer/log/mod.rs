//! The text with its marks: lines on which a fault stands, lines that look like errors and that no record explains, a few
//! lines around them. What is between is folded, and so are repeats.

mod sheet;

use std::collections::{BTreeMap, BTreeSet};

use kb_core::scanner::{MatchedLine, without_colours};
use kb_core::templates::{looks_like_error, tokens};

use super::faults::in_order;
use crate::domain::lookup::MatchAnswer;
use crate::domain::shared::Shared;
use sheet::Sheet;

/// Texts up to this many lines are shown whole.
const SHOWN_WHOLE: usize = 60;
/// Lines before and behind a mark.
const AROUND: usize = 2;
/// Most of one line, in characters.
const MOST_CHARS: usize = 400;
/// Most lines without a record that are looked at and told.
const MOST_UNKNOWN: usize = 200;

/// A line that is marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mark {
    /// Numbers of the faults.
    faults: Vec<usize>,
    /// What matched, in bytes of the text below.
    span: (usize, usize),
    text: Option<String>,
}

/// A shown line, or what is folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Line(Line),
    /// This many lines without a mark.
    Gap(u64),
    /// This many more lines of the message above.
    Repeats(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    pub text: String,
    /// What matched, in bytes of `text`; empty where the line is only near a mark.
    pub span: (usize, usize),
    /// Numbers of the faults that stand on it.
    pub faults: Vec<usize>,
    /// It looks like an error, and no record explains it.
    pub is_unknown: bool,
}

impl Line {
    pub fn is_marked(&self) -> bool {
        self.is_unknown || !self.faults.is_empty()
    }
}

/// Lines that look like errors and that no record explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The text was not kept, so that nobody looked.
    NotLooked,
    /// Their numbers, in order.
    Lines {
        numbers: Vec<u64>,
        /// There are more than are looked for.
        are_more: bool,
    },
}

/// A text as it is shown beside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedText {
    pub rows: Vec<Row>,
    /// Where the marks are, with the first fault of each; none for what no record explains.
    pub places: Vec<(u64, Option<usize>)>,
    pub unknown: Unknown,
}

impl MarkedText {
    /// Marks what the answer found in the text, and what looks like an error beside it. Without the text the marked lines
    /// are all there is.
    ///
    /// This computes; call it off the async threads.
    pub fn of(answer: &MatchAnswer, text: Option<&str>) -> Self {
        let mut marks = Marks::of(answer);
        if let Some(text) = text {
            marks.look_for_unknown(text);
        }
        Self {
            rows: marks.rows(text, answer.lines_scanned),
            places: marks.places(),
            unknown: text.map_or(Unknown::NotLooked, |_| Unknown::Lines {
                numbers: marks.unknown.iter().copied().collect(),
                are_more: marks.are_more_unknown,
            }),
        }
    }
}

impl From<(&Shared, &MatchAnswer)> for MarkedText {
    /// Of an answer that was shared the marked lines are all there is.
    fn from((shared, answer): (&Shared, &MatchAnswer)) -> Self {
        let mut marks = Marks::of(answer);
        for line in shared.marked.iter().filter(|line| line.is_unknown) {
            marks.unknown.insert(line.number);
            marks.by_line.entry(line.number).or_default().text = Some(line.text.clone());
        }
        let mut places = marks.places();
        places.dedup();
        let numbers = marks.unknown.iter().copied().collect();
        let told = Unknown::Lines {
            numbers,
            are_more: shared.are_more_unknown,
        };
        Self {
            rows: marks.rows(None, answer.lines_scanned),
            places,
            unknown: if shared.looked { told } else { Unknown::NotLooked },
        }
    }
}

/// The marks of a text, whether or not the text is still there.
#[derive(Debug, Clone, Default)]
struct Marks {
    by_line: BTreeMap<u64, Mark>,
    unknown: BTreeSet<u64>,
    are_more_unknown: bool,
}

impl Marks {
    fn of(answer: &MatchAnswer) -> Self {
        let mut marks = Self::default();
        for (number, found) in (1..).zip(in_order(answer)) {
            found.lines.iter().for_each(|line| marks.add(number, line));
        }
        marks
    }

    /// Marks the lines of the fault with this number.
    fn add(&mut self, fault: usize, line: &MatchedLine) {
        let text = line.text.as_ref();
        let span = text.map(|text| (text.mark_start as usize, text.mark_end as usize));
        self.mark(fault, line.line, text.map(|text| text.text.as_str()), span);
        for part in &line.parts {
            let text = part.text.as_ref();
            let span = text.map(|text| (text.mark_start as usize, text.mark_end as usize));
            self.mark(fault, part.line, text.map(|text| text.text.as_str()), span);
        }
    }

    fn mark(&mut self, fault: usize, line: u64, text: Option<&str>, span: Option<(usize, usize)>) {
        let mark = self.by_line.entry(line).or_default();
        if !mark.faults.contains(&fault) {
            mark.faults.push(fault);
        }
        if mark.text.is_none() {
            mark.text = text.map(str::to_owned);
            mark.span = span.unwrap_or_default();
        }
    }

    /// Looks for lines that look like errors among those that have no mark, and are no repeat of one that has.
    fn look_for_unknown(&mut self, text: &str) {
        let known: BTreeSet<Vec<String>> = self
            .by_line
            .values()
            .filter_map(|mark| mark.text.as_deref())
            .map(tokens)
            .collect();
        let lines = (1_u64..).zip(text.lines());
        let mut suspicious = lines.filter(|(number, line)| {
            !self.by_line.contains_key(number) && looks_like_error(line) && !known.contains(&tokens(line))
        });
        let found: Vec<u64> = suspicious
            .by_ref()
            .map(|(number, _)| number)
            .take(MOST_UNKNOWN)
            .collect();
        self.are_more_unknown = suspicious.next().is_some();
        self.unknown.extend(found);
    }

    /// Where the marks are, with the first fault of each; none for what no record explains.
    fn places(&self) -> Vec<(u64, Option<usize>)> {
        let unknown = self.unknown.iter().map(|line| (*line, None));
        let marks = self
            .by_line
            .iter()
            .map(|(line, mark)| (*line, mark.faults.first().copied()));
        let mut places: Vec<_> = marks.chain(unknown).collect();
        places.sort_unstable();
        places
    }

    /// The rows of a text of this many lines; without the text only the marked lines are there.
    fn rows(&self, text: Option<&str>, lines: u64) -> Vec<Row> {
        let mut sheet = Sheet::default();
        if let Some(text) = text {
            self.with_text(&mut sheet, text);
        } else {
            for (number, mark) in &self.by_line {
                sheet.gap_before(*number);
                sheet.line(self.line(*number, mark.text.as_deref().unwrap_or_default()));
            }
            sheet.gap_before(lines + 1);
        }
        sheet.rows
    }

    fn with_text(&self, sheet: &mut Sheet, text: &str) {
        let all: Vec<&str> = text.lines().collect();
        let is_short = all.len() <= SHOWN_WHOLE;
        let mut above: Option<Vec<String>> = None;
        let mut folded: Vec<Line> = Vec::new();
        for (number, raw) in (1_u64..).zip(&all) {
            let follows = number == sheet.last + folded.len() as u64 + 1;
            let run = above.as_ref().filter(|_| follows);
            let is_near = is_short || self.is_near(number);
            if run.is_none() && !is_near {
                continue;
            }
            let line = self.line(number, raw);
            let shape = tokens(&line.text);
            if run == Some(&shape) && sheet.says_it_all(&line) {
                folded.push(line);
                continue;
            }
            sheet.end_repeats(&mut folded);
            above = None;
            if is_near {
                sheet.gap_before(number);
                above = Some(shape).filter(|_| !line.text.trim().is_empty());
                sheet.line(line);
            }
        }
        sheet.end_repeats(&mut folded);
        sheet.gap_before(all.len() as u64 + 1);
    }

    fn is_near(&self, number: u64) -> bool {
        let from = number.saturating_sub(AROUND as u64);
        let near = from..=number + AROUND as u64;
        self.by_line.range(near.clone()).next().is_some() || self.unknown.range(near).next().is_some()
    }

    fn line(&self, number: u64, raw: &str) -> Line {
        let mark = self.by_line.get(&number);
        let own = mark.and_then(|mark| mark.text.clone());
        let text = own.unwrap_or_else(|| without_colours(raw).into_owned());
        let span = mark.map_or((0, 0), |mark| mark.span);
        let (text, span) = shortened(text, span);
        Line {
            number,
            text,
            span,
            faults: mark.map(|mark| mark.faults.clone()).unwrap_or_default(),
            is_unknown: self.unknown.contains(&number),
        }
    }
}

/// A line of bounded length with its mark in it.
fn shortened(text: String, span: (usize, usize)) -> (String, (usize, usize)) {
    let Some((end, _)) = text.char_indices().nth(MOST_CHARS) else {
        return (text, span);
    };
    // What matched stands further behind: the line begins with it.
    let begin = if span.1 > end { span.0 } else { 0 };
    let rest = text.get(begin..).unwrap_or(&text);
    let mut short: String = rest.chars().take(MOST_CHARS).collect();
    let room = short.len();
    short.push('…');
    let moved = |at: usize| at.saturating_sub(begin).min(room);
    if begin == 0 {
        return (short, (moved(span.0), moved(span.1)));
    }
    let lead = '…'.len_utf8();
    (format!("…{short}"), (moved(span.0) + lead, moved(span.1) + lead))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn marks(lines: &[(u64, usize)], text: &str) -> Marks {
        let mut marks = Marks::default();
        let all: Vec<&str> = text.lines().collect();
        for (line, fault) in lines {
            let at = usize::try_from(*line).unwrap() - 1;
            marks.mark(*fault, *line, all.get(at).copied(), Some((0, 1)));
        }
        marks
    }

    fn told(rows: &[Row]) -> Vec<String> {
        let tell = |row: &Row| match row {
            Row::Line(line) => format!("{}{}", line.number, if line.is_marked() { "!" } else { "" }),
            Row::Gap(count) => format!("gap {count}"),
            Row::Repeats(count) => format!("repeats {count}"),
        };
        rows.iter().map(tell).collect()
    }

    #[test]
    fn a_long_text_shows_what_is_near_its_marks() {
        let lines = (1..=100).map(|n| format!("line {}", "x".repeat(n)));
        let text = lines.collect::<Vec<_>>().join("\n");
        let rows = marks(&[(50, 1)], &text).rows(Some(&text), 100);
        assert_eq!(told(&rows), ["gap 47", "48", "49", "50!", "51", "52", "gap 48"]);
        let rows = marks(&[(50, 1), (60, 2)], "").rows(None, 100);
        assert_eq!(told(&rows), ["gap 49", "50!", "gap 9", "60!", "gap 40"]);
    }

    #[test]
    fn repeats_are_counted_and_another_fault_ends_them() {
        let text = "start\nError 1\nError 2\nError 3\nError 4\nError 5\nError 6\nend\n";
        let same = marks(&[(2, 1), (3, 1), (4, 1), (7, 1)], text);
        assert_eq!(told(&same.rows(Some(text), 8)), ["1", "2!", "repeats 5", "8"]);
        let other = marks(&[(2, 1), (5, 2)], text);
        assert_eq!(
            told(&other.rows(Some(text), 8)),
            ["1", "2!", "3", "4", "5!", "6", "7", "8"]
        );
    }

    #[test]
    fn a_line_that_looks_like_an_error_is_told_unless_it_repeats_a_known_one() {
        let text = "all is well\nRuntimeError: lost GPU 1\nRuntimeError: lost GPU 2\nzorgblat failed\n";
        let mut marks = marks(&[(2, 1)], text);
        marks.look_for_unknown(text);
        assert!(marks.unknown.iter().eq([&4]));
        assert_eq!(marks.places(), [(2, Some(1)), (4, None)]);
        assert!(!marks.are_more_unknown);
        marks.look_for_unknown(&"zorgblat failed\n".repeat(MOST_UNKNOWN + 9));
        assert!(marks.are_more_unknown);
    }

    #[test]
    fn a_long_line_keeps_its_mark() {
        let text = format!("{}peer{}", "x".repeat(900), "y".repeat(900));
        let (short, span) = shortened(text, (900, 904));
        assert_eq!(short.get(span.0..span.1), Some("peer"));
        assert!(short.chars().count() <= MOST_CHARS + 2);
        let (short, span) = shortened("é".repeat(900), (0, 4));
        assert_eq!(short.get(span.0..span.1), Some("éé"));
    }
}
