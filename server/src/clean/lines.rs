//! The lines of the clean corpus that ship with the program, for the gate in front of publishing: each once, in the order of the
//! logs. Lines that differ in their digits alone are among them, for a pattern may ask for digits.

use std::sync::OnceLock;

/// Made from `evaluation/clean` by this file's test, with `WRITE_CLEAN=1`.
const PACKED: &[u8] = include_bytes!("healthy-lines.txt.zst");
/// Lines by which training tells how far it is, written for the gate: the corpus has few of their many forms.
pub const PROGRESS: &str = include_str!("progress-lines.txt");
/// More than it holds: a bound, for whatever is built in.
const MOST_BYTES: usize = 32 << 20;

/// The lines and those of [`PROGRESS`], unpacked once. `None` where that fails: what they match is then unknown.
pub fn healthy_lines() -> Option<&'static str> {
    static LINES: OnceLock<Option<String>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let mut lines = unpacked()?;
        lines.push_str(PROGRESS);
        Some(lines)
    });
    lines.as_deref()
}

fn unpacked() -> Option<String> {
    let bytes = zstd::bulk::decompress(PACKED, MOST_BYTES).ok()?;
    String::from_utf8(bytes).ok().filter(|lines| !lines.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::{self, File};
    use std::io::Read as _;
    use std::path::Path;

    use kb_core::scanner::looks_like_error;

    use super::*;
    use crate::clean::Corpus;

    const MOST_LIKE_ERRORS: usize = 100;

    fn of_corpus() -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation/clean");
        let corpus = Corpus::read(&folder).unwrap();
        let mut seen = BTreeSet::new();
        let mut lines = String::new();
        for log in corpus.logs() {
            let file = File::open(corpus.path(log)).unwrap();
            let mut bytes = Vec::new();
            let mut decoder = zstd::stream::read::Decoder::new(file).unwrap();
            decoder.read_to_end(&mut bytes).unwrap();
            for line in String::from_utf8_lossy(&bytes).lines() {
                if seen.insert(line.to_owned()) {
                    lines.push_str(line);
                    lines.push('\n');
                }
            }
        }
        lines
    }

    /// 68 did when the bound was set, and most of those tell of something that did not work.
    #[test]
    fn few_healthy_lines_look_like_errors() {
        let lines = healthy_lines().unwrap();
        let found: Vec<&str> = lines.lines().filter(|line| looks_like_error(line)).collect();
        assert!(found.len() <= MOST_LIKE_ERRORS, "{}: {:#?}", found.len(), found);
        assert!(
            !found.is_empty(),
            "`Unable to access the following metrics` looks like one"
        );
    }

    #[test]
    fn the_lines_that_ship_are_those_of_the_corpus() {
        let lines = of_corpus();
        if std::env::var_os("WRITE_CLEAN").is_some() {
            let packed = zstd::bulk::compress(lines.as_bytes(), 19).unwrap();
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/clean/healthy-lines.txt.zst");
            fs::write(file, packed).unwrap();
            return;
        }
        assert!(
            Some(lines.as_str()) == unpacked().as_deref(),
            "WRITE_CLEAN=1 writes them"
        );
        assert!(lines.lines().count() > 100_000);
        let packed = PACKED.len();
        assert!(packed < 1_000_000, "{packed} bytes in the program");
    }
}
