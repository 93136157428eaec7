//! Lines of a log as pages show them: number, text in parts, the matched span marked.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub marked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// 1-based; 0 stands for a gap, and `note` says how much is left out.
    pub number: u64,
    pub parts: Vec<Part>,
    pub note: String,
}

impl LogLine {
    /// A line whose bytes `start..end` matched. Offsets that do not fit mark nothing.
    pub fn new(number: u64, text: &str, start: usize, end: usize) -> Self {
        Self {
            number,
            parts: parts(text, start, end),
            note: String::new(),
        }
    }

    pub fn gap(note: impl Into<String>) -> Self {
        Self {
            number: 0,
            parts: Vec::new(),
            note: note.into(),
        }
    }
}

pub fn parts(text: &str, start: usize, end: usize) -> Vec<Part> {
    let cut = (text.get(..start), text.get(start..end), text.get(end..));
    let (Some(before), Some(matched), Some(after)) = cut else {
        return vec![part(text, false)];
    };
    [(before, false), (matched, true), (after, false)]
        .into_iter()
        .filter(|(text, _)| !text.is_empty())
        .map(|(text, marked)| part(text, marked))
        .collect()
}

fn part(text: &str, marked: bool) -> Part {
    Part {
        text: visible(text),
        marked,
    }
}

/// Control characters would vanish or move the cursor, and marks of direction can make a line lie: they are shown as escapes.
pub fn visible(text: &str) -> String {
    kb_core::terminal::harmless(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, start: usize, end: usize) -> String {
        parts(text, start, end)
            .into_iter()
            .map(|part| {
                if part.marked {
                    format!("[{}]", part.text)
                } else {
                    part.text
                }
            })
            .collect()
    }

    #[test]
    fn the_matched_span_is_marked() {
        assert_eq!(shown("a peer b", 2, 6), "a [peer] b");
        assert_eq!(shown("peer", 0, 4), "[peer]");
        assert_eq!(shown("错误 peer", 7, 11), "错误 [peer]");
    }

    #[test]
    fn offsets_that_do_not_fit_mark_nothing() {
        for (start, end) in [(1, 2), (3, 1), (0, 99), (99, 99)] {
            assert_eq!(shown("错误", start, end), "错误", "{start}..{end}");
        }
    }

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(
            shown("\u{1b}[31m\tx\0\u{202e}y", 0, 0),
            "\\u001b[31m\tx\\u0000\\u202ey"
        );
    }
}
