//! Lists that stand in one line, as `jq -c` and `kubectl` write JSON: `"capacity":{"cpu":"96","nvidia.com/gpu":"8"}`.

use memchr::memmem;

use super::{GPUS_MOST_BYTES, List, bare, is_gpu};

/// Names and values of a list that are read; each is looked at once.
const MOST_FIELDS: usize = 64;

/// The lists of a line, in order, each with its GPUs and their numbers.
pub(super) fn lists(line: &[u8]) -> impl Iterator<Item = (List, Vec<(&[u8], u64)>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = line.get(at..)?;
            let open = memmem::find(rest, b"{")?;
            let before = rest.get(..open).unwrap_or_default();
            at += open + 1;
            if let Some(list) = list(before) {
                let (fields, length) = fields(line.get(at..).unwrap_or_default());
                at += length;
                return Some((list, fields));
            }
        }
    })
}

/// Which list begins behind these bytes: its name, a colon, and blanks.
fn list(before: &[u8]) -> Option<List> {
    let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let names = [("capacity", List::Capacity), ("allocatable", List::Allocatable)];
    names.into_iter().find_map(|(name, list)| {
        let start = before.len().checked_sub(name.len())?;
        let (before, found) = before.split_at_checked(start)?;
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let begins = !before.last().is_some_and(is_of_name);
        (begins && found.eq_ignore_ascii_case(name.as_bytes())).then_some(list)
    })
}

/// The GPUs of a list that begins here, and how many bytes were read. A further bracket ends it: a list of resources has none.
fn fields(rest: &[u8]) -> (Vec<(&[u8], u64)>, usize) {
    let (mut found, mut at) = (Vec::new(), 0);
    for _ in 0..MOST_FIELDS {
        let field = rest.get(at..).unwrap_or_default();
        let end = field.iter().position(|byte| matches!(byte, b',' | b'}' | b'{'));
        let end = end.unwrap_or(field.len());
        let (field, behind) = field.split_at_checked(end).unwrap_or_default();
        at += end;
        let mut parts = field.rsplitn(2, |byte| *byte == b':');
        let (value, name) = (parts.next(), parts.next());
        let gpu = name
            .map(bare)
            .filter(|name| name.len() <= GPUS_MOST_BYTES && is_gpu(name));
        let number = value.and_then(|value| super::count(bare(value)));
        found.extend(gpu.zip(number));
        if behind.first() != Some(&b',') {
            break;
        }
        at += 1;
    }
    (found, at)
}
