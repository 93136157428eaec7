//! Under which names records go besides their ids: codes as people write them, and former ids.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use kb_core::ids::RecordId;

use super::published::PublishedRecord;
use peerless_search::comparable_code;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// By the comparable form of the code.
    codes: BTreeMap<String, Carriers>,
    /// By the number at the end of a code: `79` of `Xid 79`.
    numbers: HashMap<String, Vec<RecordId>>,
    pub(super) aliases: HashMap<String, RecordId>,
}

#[derive(Debug)]
pub struct Carriers {
    /// As the first of the records writes it.
    pub code: String,
    pub records: Vec<RecordId>,
}

impl Names {
    pub(super) fn new(records: &BTreeMap<RecordId, Arc<PublishedRecord>>) -> Self {
        let mut names = Self::default();
        for (id, published) in records {
            for code in &published.codes {
                let comparable = comparable_code(code);
                if let Some(number) = number_at_end(&comparable) {
                    add(names.numbers.entry(number.to_owned()).or_default(), id);
                }
                let carriers = names.codes.entry(comparable).or_insert_with(|| Carriers {
                    code: code.clone(),
                    records: Vec::new(),
                });
                add(&mut carriers.records, id);
            }
            for alias in published.record.document.aliases.iter().chain(&published.former) {
                // The store keeps aliases unique; should two claim one, the first by id has it on every server.
                let holder = names.aliases.entry(alias.to_string());
                holder.or_insert_with(|| id.clone());
            }
        }
        names
    }

    pub(super) fn are_those_of(before: &PublishedRecord, after: &PublishedRecord) -> bool {
        before.codes == after.codes
            && before.record.document.aliases == after.record.document.aliases
            && before.former == after.former
    }

    pub(super) fn by_code(&self, code: &str) -> &[RecordId] {
        let comparable = comparable_code(code);
        let exact = self.codes.get(&comparable);
        let carriers = exact.or_else(|| self.codes.get(&spaced(&comparable)));
        match carriers {
            Some(carriers) => &carriers.records,
            None => self.numbers.get(&comparable).map_or(&[], Vec::as_slice),
        }
    }

    /// Codes after one, in the order of their comparable forms.
    pub(super) fn codes_after(&self, after: Option<&str>) -> impl Iterator<Item = &Carriers> {
        let start = after.map(comparable_code);
        let start = start.map_or(Bound::Unbounded, Bound::Excluded);
        self.codes
            .range((start, Bound::Unbounded))
            .map(|(_, carriers)| carriers)
    }
}

/// Two spellings of one code by the same record come one after the other.
fn add(records: &mut Vec<RecordId>, id: &RecordId) {
    if records.last() != Some(id) {
        records.push(id.clone());
    }
}

/// `79` of `xid 79`.
fn number_at_end(comparable: &str) -> Option<&str> {
    let (_, last) = comparable.rsplit_once(' ')?;
    last.bytes().all(|byte| byte.is_ascii_digit()).then_some(last)
}

/// A code as addresses have it (`xid+79`, `xid-79`, `xid79`), with blanks between its words and its number.
fn spaced(comparable: &str) -> String {
    let mut spaced = String::with_capacity(comparable.len() + 1);
    let mut before: Option<char> = None;
    for character in comparable.chars() {
        let character = if matches!(character, '+' | '-' | '_' | ':' | '=') {
            ' '
        } else {
            character
        };
        let number_begins =
            character.is_ascii_digit() && before.is_some_and(|before| before.is_ascii_alphabetic());
        if number_begins {
            spaced.push(' ');
        }
        spaced.push(character);
        before = Some(character);
    }
    comparable_code(&spaced)
}

#[cfg(test)]
mod tests {
    use super::{number_at_end, spaced};

    #[test]
    fn codes_of_addresses_are_spaced_as_people_write_them() {
        for written in ["xid+79", "xid-79", "xid_79", "xid79", "xid: 79", "xid 79"] {
            assert_eq!(spaced(written), "xid 79", "{written}");
        }
        assert_eq!(spaced("cuda error=700"), "cuda error 700");
        assert_eq!(spaced("79"), "79");
        assert_eq!(spaced(""), "");
    }

    #[test]
    fn a_number_counts_at_the_end_and_behind_a_word() {
        assert_eq!(number_at_end("xid 79"), Some("79"));
        assert_eq!(number_at_end("79"), None);
        assert_eq!(number_at_end("xid 79 again"), None);
        assert_eq!(number_at_end("cuda_error_assert"), None);
    }
}
