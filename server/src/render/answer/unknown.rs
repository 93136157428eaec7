//! Messages that look like errors and that no record explains.

use std::collections::{BTreeSet, HashSet};

use kb_core::scanner::looks_like_error;
use kb_core::scanner::{message_start, without_colours};
use kb_core::templates::tokens;

const MOST: usize = 200;
/// A line is read up to here, in bytes.
const LINE_BYTES: usize = 4 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The text was not kept, so that nobody looked.
    NotLooked,
    /// The first line of each message, in order.
    Lines {
        numbers: BTreeSet<u64>,
        /// There are more than are told.
        are_more: bool,
    },
}

impl Unknown {
    pub(super) fn look(text: &str, end: Option<u64>, is_known: impl Fn(u64) -> bool) -> Self {
        let mut told: HashSet<Vec<String>> = HashSet::new();
        let mut numbers = BTreeSet::new();
        let mut are_more = end.is_some();
        let lines = (1_u64..).zip(text.lines());
        for (number, line) in lines.take_while(|(number, _)| end.is_none_or(|end| *number <= end)) {
            let line = line.get(..line.floor_char_boundary(LINE_BYTES)).unwrap_or(line);
            let line = without_colours(line);
            let message = line.get(message_start(&line)..).unwrap_or(&line).trim();
            // What logging puts before the message may be the word that tells: `slurmstepd: error: `.
            if !looks_like_error(&line) || is_known(number) || !told.insert(tokens(message)) {
                continue;
            }
            if numbers.len() == MOST {
                are_more = true;
                break;
            }
            numbers.insert(number);
        }
        Self::Lines { numbers, are_more }
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        matches!(self, Self::Lines { numbers, .. } if numbers.contains(&number))
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let numbers = match self {
            Self::NotLooked => None,
            Self::Lines { numbers, .. } => Some(numbers.iter().copied()),
        };
        numbers.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(text: &str, end: Option<u64>) -> (Vec<u64>, bool) {
        let unknown = Unknown::look(text, end, |number| number == 2);
        let are_more = matches!(unknown, Unknown::Lines { are_more, .. } if are_more);
        (unknown.numbers().collect(), are_more)
    }

    #[test]
    fn each_message_without_a_record_is_told_once() {
        let text =
            "all is well\nRuntimeError: lost GPU 1\nzorgblat failed 1\nzorgblat failed 2\ngnome failed\n";
        assert_eq!(looked(text, None), (vec![3, 5], false));
        assert_eq!(looked(text, Some(4)), (vec![3], true));
        let words = ('a'..='z').flat_map(|one| ('a'..='z').map(move |other| format!("{one}{other}")));
        let many: Vec<String> = words.map(|word| format!("zorg{word} failed\n")).collect();
        let many = many.concat();
        let (numbers, are_more) = looked(&many, None);
        assert_eq!((numbers.len(), are_more), (MOST, true));
    }
}
