//! Xids and SXids of the driver that a text has and no record explains. Without a word about them the answer "no known error"
//! would read as if nothing had happened.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::observation::{What, read_line};
use crate::report::Family;

/// Numbers that are named; of further ones it is said that there are more.
const MOST: usize = 16;
/// So fabric manager begins what it says of a switch's error: `detected NVSwitch fatal error 22013 on fid 0`.
const OF_SWITCH: &str = "detected NVSwitch fatal error ";
/// Bytes that are read: the driver's lines are shorter.
const LONGEST_LINE: usize = 4 << 10;
/// Bytes before the number's word that may belong to the driver's line.
const BEFORE: usize = 256;

#[derive(Debug, Default)]
pub(super) struct UnexplainedXids {
    lines: BTreeMap<(Family, u32), u64>,
    are_more: bool,
}

impl UnexplainedXids {
    pub(super) fn read(&mut self, text: &[u8], line: u64) {
        let of_driver = memmem::find(text, b"Xid (");
        let of_switch = || memmem::find(text, OF_SWITCH.as_bytes());
        let Some(at) = of_driver.or_else(of_switch) else {
            return;
        };
        // A line of JSON may hold much more than the driver's.
        let begin = at.saturating_sub(BEFORE);
        let driver = text
            .get(begin..text.len().min(begin + LONGEST_LINE))
            .unwrap_or_default();
        let driver = String::from_utf8_lossy(driver);
        let (family, number) = match read_line(&driver).map(|event| event.what) {
            Some(What::Numbered { family, number, .. }) => (family, number),
            _ => match of_fabric_manager(&driver) {
                Some(number) => (Family::Sxid, number),
                None => return,
            },
        };
        if self.lines.len() < MOST || self.lines.contains_key(&(family, number)) {
            self.lines.entry((family, number)).or_insert(line);
        } else {
            self.are_more = true;
        }
    }

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

fn of_fabric_manager(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once(OF_SWITCH)?;
    let (number, _) = rest.split_once(" on fid")?;
    number.parse().ok()
}
