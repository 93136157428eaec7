//! `/etc/ld.so.cache`: where the dynamic loader finds a library that no search path names.
//!
//! Layout: glibc, `sysdeps/generic/dl-cache.h`. A file of the old format may stand in front of the new one; numbers
//! are in the machine's byte order, offsets of texts count from the start of the new format.

/// Begins the new format: magic and version.
const NEW: &[u8] = b"glibc-ld.so.cache1.1";
const OLD: &[u8] = b"ld.so-1.7.0\0";
/// Bytes of the old header (padding before the count included), and of one of its entries.
const OLD_HEADER: usize = 16;
const OLD_ENTRY: usize = 12;
/// Bytes of the new header and of one of its entries: flags, key, value, OS version, hardware capabilities.
const NEW_HEADER: usize = 48;
const NEW_ENTRY: usize = 24;
/// The new format begins at a multiple of this.
const ALIGNMENT: usize = 8;
const MOST_ENTRIES: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// `libcuda.so.1`.
    pub(super) name: String,
    /// `/usr/lib/x86_64-linux-gnu/libcuda.so.1`.
    pub(super) path: String,
}

/// The entries whose names `wanted` accepts, in the file's order; none where the file is not of a known format.
pub(super) fn parse(file: &[u8], wanted: impl Fn(&str) -> bool) -> Vec<Entry> {
    let Some(cache) = new_format(file) else {
        return Vec::new();
    };
    let count = number(cache, NEW.len()).unwrap_or(0).min(MOST_ENTRIES);
    let texts = |at: usize| {
        let entry = NEW_HEADER + at * NEW_ENTRY;
        let name = text(cache, number(cache, entry + 4)?)?;
        if !wanted(name) {
            return None;
        }
        let path = text(cache, number(cache, entry + 8)?)?;
        Some(Entry {
            name: name.to_owned(),
            path: path.to_owned(),
        })
    };
    (0..count).filter_map(texts).collect()
}

fn new_format(file: &[u8]) -> Option<&[u8]> {
    if file.starts_with(NEW) {
        return Some(file);
    }
    if !file.starts_with(OLD) {
        return None;
    }
    let entries = number(file, OLD.len())?.checked_mul(OLD_ENTRY)?;
    let at = entries
        .checked_add(OLD_HEADER)?
        .checked_next_multiple_of(ALIGNMENT)?;
    file.get(at..).filter(|rest| rest.starts_with(NEW))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_ne_bytes(four.try_into().ok()?)).ok()
}

fn text(bytes: &[u8], at: usize) -> Option<&str> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in super::super) fn cache(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut texts = Vec::new();
        let mut table = Vec::new();
        let start = NEW_HEADER + entries.len() * NEW_ENTRY;
        for (name, path) in entries {
            table.extend(3_u32.to_ne_bytes());
            for text in [name, path] {
                table.extend(u32::try_from(start + texts.len()).unwrap().to_ne_bytes());
                texts.extend(text.as_bytes());
                texts.push(0);
            }
            table.extend([0; 12]);
        }
        let mut file = NEW.to_vec();
        file.extend(u32::try_from(entries.len()).unwrap().to_ne_bytes());
        file.extend(u32::try_from(texts.len()).unwrap().to_ne_bytes());
        file.resize(NEW_HEADER, 0);
        [file, table, texts].concat()
    }

    const ENTRIES: [(&str, &str); 3] = [
        ("libc.so.6", "/lib/libc.so.6"),
        ("libcuda.so.1", "/usr/lib64/libcuda.so.1"),
        ("libcuda.so.1", "/usr/lib/libcuda.so.1"),
    ];

    #[test]
    fn entries_are_found_in_both_formats() {
        let new = cache(&ENTRIES);
        let found = parse(&new, |name| name.starts_with("libcuda"));
        let paths: Vec<&str> = found.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["/usr/lib64/libcuda.so.1", "/usr/lib/libcuda.so.1"]);

        let mut old = OLD.to_vec();
        old.extend(1_u32.to_ne_bytes());
        old.extend([0; OLD_ENTRY]);
        old.resize(old.len().next_multiple_of(ALIGNMENT), 0);
        let both = [old, new].concat();
        assert_eq!(parse(&both, |name| name.starts_with("libcuda")), found);
        assert_eq!(parse(b"something else", |_| true), []);
    }

    #[test]
    fn the_cache_of_this_machine_is_understood() {
        // Where there is one: ldconfig writes it on every system with glibc.
        if let Ok(file) = std::fs::read("/etc/ld.so.cache") {
            let found = parse(&file, |name| name == "libc.so.6");
            assert!(
                found.iter().any(|entry| entry.path.ends_with("/libc.so.6")),
                "{found:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0_usize..400, at in 0_usize..300) {
            parse(&bytes, |_| true);
            for start in [NEW, OLD] {
                parse(&[start, &bytes].concat(), |_| true);
            }
            let mut damaged = cache(&ENTRIES);
            damaged.truncate(cut);
            for (place, byte) in damaged.iter_mut().skip(at.max(NEW.len())).zip(&bytes) {
                *place = *byte;
            }
            parse(&damaged, |_| true);
        }
    }
}
