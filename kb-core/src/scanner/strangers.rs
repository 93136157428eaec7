//! Xids and SXids of the driver that a text has and no record explains. Without a word about them the answer "no known error"
//! would read as if nothing had happened.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::observation::{What, read_line};
use crate::report::Family;

/// Numbers that are named; of further ones it is said that there are more.
const MOST: usize = 16;
/// Longest line that is read: the driver's are shorter.
const LONGEST_LINE: usize = 4 << 10;

/// The first line of each number.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    lines: BTreeMap<(Family, u32), u64>,
    are_more: bool,
}

impl Strangers {
    /// Reads a line on which nothing was found.
    pub(super) fn read(&mut self, text: &[u8], line: u64) {
        if text.len() > LONGEST_LINE || memmem::find(text, b"Xid (").is_none() {
            return;
        }
        let event = read_line(&String::from_utf8_lossy(text));
        let Some(What::Numbered { family, number, .. }) = event.map(|event| event.what) else {
            return;
        };
        if self.lines.len() < MOST || self.lines.contains_key(&(family, number)) {
            self.lines.entry((family, number)).or_insert(line);
        } else {
            self.are_more = true;
        }
    }

    /// One sentence for each number.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let each = self.lines.iter().map(|((family, number), line)| {
            let word = family.word();
            format!(
                "line {line} has {word} {number}, which no record explains: the driver reports an error there, so look \
                 {word} {number} up in NVIDIA's documentation"
            )
        });
        let more = self
            .are_more
            .then(|| "there are further Xids and SXids that no record explains".to_owned());
        each.chain(more)
    }
}
