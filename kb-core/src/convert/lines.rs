//! The text as lines: numbered, without colours and carriage returns.

use crate::report::{LogExcerpt, When};

pub(super) const MOST_LINES: usize = 1_000;
/// Longest line that is kept, in characters.
pub(super) const LONGEST_LINE: usize = 2_000;

#[derive(Debug, Clone)]
pub(super) struct Line {
    /// 1-based.
    pub(super) number: usize,
    /// Without escape sequences and line ends.
    pub(super) text: String,
}

impl Line {
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace()
    }
}

/// Lines of a log that a report keeps: ranks and GPUs repeat each other.
#[derive(Debug, Default)]
pub(super) struct Kept {
    lines: Vec<String>,
    pub(super) left_out: u64,
}

impl Kept {
    pub(super) fn keep(&mut self, line: &Line) {
        if self.lines.len() < MOST_LINES {
            self.lines.push(line.text.chars().take(LONGEST_LINE).collect());
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn first(&self) -> Option<(&str, u64)> {
        let all = self.left_out + self.lines.len() as u64;
        Some((self.lines.first()?, all))
    }

    /// The excerpt; `None` where no line was kept. The output does not say when a line was written.
    pub(super) fn excerpt(self, source: &str) -> Option<LogExcerpt> {
        (!self.lines.is_empty()).then(|| LogExcerpt {
            source: source.to_owned(),
            when: When::Before,
            text: self.lines.join("\n"),
        })
    }
}

/// Splits at line feeds. Bytes that are no UTF-8 become replacement characters.
pub(super) fn lines(bytes: &[u8]) -> Vec<Line> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let numbered = text.lines().enumerate();
    numbered
        .map(|(index, line)| Line {
            number: index + 1,
            text: without_colours(line),
        })
        .collect()
}

/// Removes ECMA-48 control sequences (`ESC [`, parameters, a byte of 0x40 to 0x7E): nvidia-smi writes them to files too.
fn without_colours(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            kept.push(character);
            continue;
        }
        let mut rest = characters.clone();
        if rest.next() == Some('[') {
            for parameter in rest.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&parameter) {
                    break;
                }
            }
            characters = rest;
        }
    }
    kept
}

/// A decimal number that a tool can have measured: finite, not negative, and below 1e9.
pub(super) fn measured(word: &str) -> Option<f64> {
    let plain = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'+' | b'-'));
    let number: f64 = plain.then(|| word.parse().ok())??;
    (0.0..1e9).contains(&number).then_some(number)
}

pub(super) fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_line_ends_are_taken_off() {
        let read = lines(b"\xef\xbb\xbf\x1b[4mGPU0\tGPU1\x1b[0m\r\nx\x1b\nlast\x1b[3");
        let texts: Vec<&str> = read.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["GPU0\tGPU1", "x", "last"]);
        assert_eq!(read[2].number, 3);
    }

    #[test]
    fn figures_are_finite() {
        assert_eq!(measured("1.7e+06"), Some(1.7e6));
        for bad in ["inf", "NaN", "-1", "1e9", "", "N/A", "0x1"] {
            assert_eq!(measured(bad), None, "{bad}");
        }
    }
}
