//! The text with its marks: lines on which a fault stands, messages that look like errors and that no record explains, a few
//! lines around them. What is between is folded, and so are repeats.

use std::collections::BTreeSet;

use kb_core::scanner::without_colours;
use kb_core::templates::tokens;

use super::faults::Fault;
use super::marks::Marks;
use super::row_builder::{Repeats, RowBuilder};
use super::unknown::Unknown;
use crate::domain::hits::Hits;
use crate::domain::lookup::MatchAnswer;
use crate::domain::shared::Shared;

/// Texts up to this many lines are shown whole.
const SHOWN_WHOLE: u64 = 60;
/// Lines before and behind a mark.
const AROUND: u64 = 2;
/// Most lines that are chosen, beside the first of each fault: a page stays light whatever the log.
const MOST_LINES: usize = 160;
/// Most of one line, in characters.
const MOST_CHARS: usize = 400;
/// Most lines of one message that stand together and are folded.
const MOST_REPEATS: u64 = 10_000;
/// Marks of one kind that the map has room for.
const MAP_PLACES: u64 = 125;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Line(Line),
    Gap(Gap),
    /// This many more lines of the message above.
    Repeats(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub lines: u64,
    /// Those on which a fault stands.
    pub hits: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    pub text: String,
    /// What matched, in bytes of `text`; empty where that is not known.
    pub span: (usize, usize),
    pub faults: Vec<usize>,
    pub is_unknown: bool,
}

impl Line {
    pub fn is_marked(&self) -> bool {
        self.is_unknown || !self.faults.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedText {
    pub rows: Vec<Row>,
    /// Where the marks are, with the first fault of each; none for what no record explains. Close marks of a long text are one.
    pub places: Vec<(u64, Option<usize>)>,
    pub unknown: Unknown,
}

impl MarkedText {
    /// Marks where the faults stand, and what looks like an error beside them; of each that is `shown` the first line is
    /// there. Without the text the lines that the answer has, or that were shared of it, are all there is.
    ///
    /// This computes; call it off the async threads.
    pub fn of(
        answer: &MatchAnswer,
        faults: &[Fault],
        shown: &[&Fault],
        hits: &Hits,
        (text, shared): (Option<&str>, Option<&Shared>),
    ) -> Self {
        let mut marks = Marks::of(answer, faults, hits);
        marks.firsts = shown.iter().map(|fault| fault.line).collect();
        if let Some(text) = text {
            let unknown = Unknown::look(text, hits.complete_to(), |line| marks.is_hit(line));
            marks.unknown = unknown;
        }
        if let Some(shared) = shared {
            marks.take_unknown(shared, answer.unexplained.as_ref());
        }
        Self {
            rows: rows(&marks, text, answer.lines_scanned),
            places: places(&marks, answer.lines_scanned),
            unknown: marks.unknown,
        }
    }
}

fn places(marks: &Marks, lines: u64) -> Vec<(u64, Option<usize>)> {
    let unknown = marks.unknown.numbers().map(|line| (line, None));
    let hits = marks.hits().map(|(line, fault)| (line, Some(fault)));
    let mut places: Vec<_> = hits.chain(unknown).collect();
    places.sort_unstable();
    let place = |line: u64| line.saturating_sub(1).saturating_mul(MAP_PLACES) / lines.max(1);
    places.dedup_by_key(|(line, fault)| (place(*line), fault.is_some()));
    places
}

/// The lines that are shown: the first of each fault in any case, then what tells most, as long as there is room.
fn chosen(marks: &Marks, lines: u64) -> BTreeSet<u64> {
    let mut chosen: BTreeSet<u64> = marks.firsts.iter().copied().collect();
    let room = chosen.len() + MOST_LINES;
    let around = |line: u64| line.saturating_sub(AROUND).max(1)..=(line + AROUND).min(lines);
    let of_firsts = marks.firsts.iter().flat_map(|line| around(*line));
    let of_unknown = marks.unknown.numbers().flat_map(around);
    let of_matched = marks.matched.keys().flat_map(|line| around(*line));
    let further = marks.hits().map(|(line, _)| line);
    for line in of_firsts.chain(of_unknown).chain(of_matched).chain(further) {
        if chosen.len() >= room {
            break;
        }
        chosen.insert(line);
    }
    chosen
}

/// The rows of a text of this many lines; without the text only the lines that the answer has are there.
fn rows(marks: &Marks, text: Option<&str>, lines: u64) -> Vec<Row> {
    let mut rows = RowBuilder::new(marks);
    if let Some(text) = text {
        with_text(&mut rows, marks, text, lines);
    } else {
        let matched: BTreeSet<u64> = marks.firsts.iter().chain(marks.matched.keys()).copied().collect();
        for number in matched.into_iter().take(2 * MOST_LINES) {
            rows.gap_before(number);
            rows.line(line(marks, number, ""));
        }
    }
    rows.gap_before(lines + 1);
    rows.rows
}

fn with_text(rows: &mut RowBuilder<'_>, marks: &Marks, text: &str, lines: u64) {
    let chosen = if lines <= SHOWN_WHOLE {
        (1..=lines).collect()
    } else {
        chosen(marks, lines)
    };
    let mut chosen = chosen.into_iter().peekable();
    let mut above: Option<Vec<String>> = None;
    let mut repeats = Repeats::default();
    for (number, raw) in (1_u64..).zip(text.lines()) {
        let is_chosen = chosen.next_if_eq(&number).is_some();
        if above.is_none() && !is_chosen {
            continue;
        }
        let line = line(marks, number, raw);
        let shape = tokens(&line.text);
        if above.as_ref() == Some(&shape) && repeats.count < MOST_REPEATS && rows.adds_no_fault(&line) {
            repeats.add(line);
            continue;
        }
        rows.end_repeats(&mut repeats);
        above = None;
        if is_chosen {
            rows.gap_before(number);
            let is_blank = line.text.trim().is_empty();
            above = rows.line(line).then_some(shape).filter(|_| !is_blank);
        }
    }
    rows.end_repeats(&mut repeats);
}

fn line(marks: &Marks, number: u64, raw: &str) -> Line {
    let matched = marks.matched.get(&number);
    let (text, span) = match matched {
        Some(matched) => (matched.text.clone(), matched.span),
        None => (without_colours(raw).into_owned(), (0, 0)),
    };
    let (text, span) = shortened(text, span);
    Line {
        number,
        text,
        span,
        faults: marks.faults_on(number).collect(),
        is_unknown: marks.unknown.contains(number),
    }
}

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
    use crate::render::answer::marks::Matched;

    /// The marks of faults on lines; the first line of each is in `firsts`.
    fn marks(lines: &[(u64, usize)], text: &str) -> Marks {
        let mut marks = Marks::default();
        let all: Vec<&str> = text.lines().collect();
        for (line, fault) in lines {
            if !marks.hits().any(|(_, known)| known == *fault) {
                marks.firsts.insert(*line);
            }
            marks.add_hit(*line, *fault);
            let at = usize::try_from(*line).unwrap() - 1;
            let text = all.get(at).copied().unwrap_or_default().to_owned();
            marks.matched.insert(*line, Matched { text, span: (0, 1) });
        }
        marks.sort();
        marks
    }

    fn told(rows: &[Row]) -> Vec<String> {
        let tell = |row: &Row| match row {
            Row::Line(line) => format!("{}{}", line.number, if line.is_marked() { "!" } else { "" }),
            Row::Gap(Gap { lines, hits: 0 }) => format!("gap {lines}"),
            Row::Gap(gap) => format!("gap {} with {}", gap.lines, gap.hits),
            Row::Repeats(count) => format!("repeats {count}"),
        };
        rows.iter().map(tell).collect()
    }

    fn numbered(count: usize) -> String {
        let lines = (1..=count).map(|n| format!("line {}\n", "x".repeat(n % 97)));
        lines.collect()
    }

    #[test]
    fn a_long_text_shows_what_is_near_its_marks() {
        let text = numbered(100);
        let of = marks(&[(50, 1)], &text);
        assert_eq!(
            told(&rows(&of, Some(&text), 100)),
            ["gap 47", "48", "49", "50!", "51", "52", "gap 48"]
        );
        let of = marks(&[(50, 1), (60, 2)], "");
        assert_eq!(
            told(&rows(&of, None, 100)),
            ["gap 49", "50!", "gap 9", "60!", "gap 40"]
        );
    }

    #[test]
    fn the_first_line_of_a_fault_is_shown_however_many_others_there_are() {
        let text = numbered(4_000);
        let mut many: Vec<(u64, usize)> = (1..1_000).map(|n| (3 * n, 1)).collect();
        many.push((3_900, 2));
        let told = told(&rows(&marks(&many, &text), Some(&text), 4_000));
        assert!(told.contains(&"3900!".to_owned()), "{told:?}");
        assert!(told.len() < 400, "{told:?}");
        let in_gaps = told.iter().filter_map(|row| row.split_once(" with "));
        let in_gaps: u64 = in_gaps.map(|(_, hits)| hits.parse::<u64>().unwrap()).sum();
        let shown = told.iter().filter(|row| row.ends_with('!')).count() as u64;
        assert_eq!(in_gaps + shown, 1_000);
    }

    #[test]
    fn repeats_are_counted_and_another_fault_ends_them() {
        let text = "start\nError 1\nError 2\nError 3\nError 4\nError 5\nError 6\nend\n";
        let same = marks(&[(2, 1), (3, 1), (4, 1), (7, 1)], text);
        assert_eq!(told(&rows(&same, Some(text), 8)), ["1", "2!", "repeats 5", "8"]);
        let other = marks(&[(2, 1), (5, 2)], text);
        assert_eq!(
            told(&rows(&other, Some(text), 8)),
            ["1", "2!", "3", "4", "5!", "6", "7", "8"]
        );
    }

    #[test]
    fn millions_of_repeats_keep_no_line_each() {
        let lines = 2 * MOST_REPEATS + 1;
        let text = format!(
            "zorg failed\n{}",
            "a\n".repeat(usize::try_from(lines - 1).unwrap())
        );
        let of = marks(&[(1, 1)], &text);
        assert_eq!(
            told(&rows(&of, Some(&text), lines)),
            ["1!", "2", "repeats 10000", &format!("gap {}", MOST_REPEATS - 1)]
        );
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
