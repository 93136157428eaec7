//! Records that match lines of healthy runs, the first thing that the gate refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::matcher::Matcher;
use kb_core::scanner::Hit;
use kb_core::signature::RecordSignatures;
use kb_core::text::{Part, Violation};

use super::{MOST_OF_RULE, SHOWN, read};

/// Lines of healthy runs about which records are asked among all others.
const MOST_LINES_ASKED: usize = 500;
/// Lines of healthy runs of which a record may be a possible meaning. No shipped record is a possible meaning of any of these lines.
const MOST_POSSIBLE: usize = 5;

/// Records that match lines of healthy runs.
///
/// Lines are judged one by one: those that ship are of many machines, and nothing on one says anything about another. A
/// record that depends on others (`only_with`, `cancels`, …) or on the device is asked among all records about the line
/// alone; any other is refused by its hit.
pub(super) struct Healthy<'t> {
    lines: &'t str,
    depend: BTreeSet<RecordId>,
    /// Lines that may still be asked about among all records.
    left: usize,
    possible: BTreeMap<RecordId, usize>,
    pub(super) found: Vec<(RecordId, Violation)>,
}

impl<'t> Healthy<'t> {
    pub(super) fn of(records: &[RecordSignatures], lines: &'t str) -> Self {
        let depends = |record: &&RecordSignatures| {
            record.only_alone
                || !record.only_with.is_empty()
                || !record.cancels.is_empty()
                || !record.of_gpu.is_empty()
                || !record.not_of_others.is_empty()
        };
        Self {
            lines,
            depend: records
                .iter()
                .filter(depends)
                .map(|record| record.id.clone())
                .collect(),
            left: MOST_LINES_ASKED,
            possible: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, hit: Hit, all: &impl Deref<Target = Arc<Matcher>>) {
        let known = self.found.iter().filter(|(record, _)| *record == hit.record);
        if known.count() >= MOST_OF_RULE {
            return;
        }
        let line = lines_of(self.lines, &hit);
        let text = shown(line);
        let reason = if !self.depend.contains(&hit.record) {
            format!("{} matches a line of a healthy run: {text:?}", hit.pattern)
        } else if self.left == 0 {
            format!("it matches more lines of healthy runs than are asked about one by one, such as {text:?}")
        } else {
            self.left -= 1;
            if !read(all, line).matches.iter().any(|found| found.id == hit.record) {
                return;
            }
            format!("{} matches a line of a healthy run: {text:?}", hit.pattern)
        };
        self.refuse(hit.record, reason);
    }

    /// Words that say too little to be a match are shown as a possible meaning: beside healthy lines they are noise in every answer.
    pub(super) fn take_possible(&mut self, hit: Hit) {
        let count = self.possible.entry(hit.record.clone()).or_default();
        *count += 1;
        if *count != MOST_POSSIBLE + 1 {
            return;
        }
        let text = shown(lines_of(self.lines, &hit));
        let reason = format!(
            "{} stands in more than {MOST_POSSIBLE} lines of healthy runs, such as {text:?}",
            hit.pattern
        );
        self.refuse(hit.record, reason);
    }

    fn refuse(&mut self, record: RecordId, reason: String) {
        let violation = Violation::error(Part::Document, "", "gate/healthy-line", reason);
        let fix = "narrow the pattern, so that it needs words of the error itself";
        self.found.push((record, violation.fix(fix)));
    }
}

fn shown(line: &str) -> String {
    line.chars().take(SHOWN).collect()
}

fn lines_of<'t>(text: &'t str, hit: &Hit) -> &'t str {
    let place = |byte: u64| usize::try_from(byte).unwrap_or(text.len()).min(text.len());
    let (from, to) = (place(hit.start), place(hit.end));
    let before = text.get(..from).and_then(|before| before.rfind('\n'));
    let after = text.get(to..).and_then(|after| after.find('\n'));
    let start = before.map_or(0, |at| at + 1);
    let end = after.map_or(text.len(), |at| to + at);
    text.get(start..end).unwrap_or(text)
}
