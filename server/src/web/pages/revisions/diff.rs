//! The difference between two revisions, line by line, unchanged stretches cut.

use similar::{ChangeTag, TextDiff};

use crate::store::RevisionTexts;

const CONTEXT: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// `r7 to r8`.
    pub title: String,
    pub parts: Vec<DiffPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffPart {
    pub name: &'static str,
    /// Empty where nothing changed.
    pub lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub class: &'static str,
    pub sign: &'static str,
    /// The sign for those who hear the page.
    pub spoken: &'static str,
    pub text: String,
}

pub fn diff(from: &RevisionTexts, to: &RevisionTexts) -> Diff {
    Diff {
        title: format!("{} to {}", from.meta.revision, to.meta.revision),
        parts: vec![
            DiffPart {
                name: "Document",
                lines: lines(&from.document, &to.document),
            },
            DiffPart {
                name: "Annex",
                lines: lines(&from.annex, &to.annex),
            },
        ],
    }
}

fn lines(from: &str, to: &str) -> Vec<DiffLine> {
    let text_diff = TextDiff::from_lines(from, to);
    let mut lines = Vec::new();
    for (position, group) in text_diff.grouped_ops(CONTEXT).iter().enumerate() {
        if position > 0 {
            lines.push(DiffLine {
                class: "cut",
                sign: "",
                spoken: "",
                text: "unchanged lines left out".to_owned(),
            });
        }
        for operation in group {
            lines.extend(
                text_diff
                    .iter_changes(operation)
                    .map(|change| line(change.tag(), change.value())),
            );
        }
    }
    lines
}

fn line(tag: ChangeTag, text: &str) -> DiffLine {
    let (class, sign, spoken) = match tag {
        ChangeTag::Delete => ("del", "−", "removed: "),
        ChangeTag::Insert => ("ins", "+", "added: "),
        ChangeTag::Equal => ("same", "", ""),
    };
    DiffLine {
        class,
        sign,
        spoken,
        text: text.trim_end_matches(['\n', '\r']).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn only_what_changed_stands_with_its_surroundings() {
        let numbered: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
        let from = numbered.join("\n") + "\n";
        let to = from.replace("line 3\n", "line three\n").replace("line 30\n", "");
        let shown: Vec<(String, &str)> = lines(&from, &to)
            .into_iter()
            .map(|line| (line.text, line.class))
            .collect();
        let changed: Vec<&(String, &str)> = shown.iter().filter(|(_, class)| *class != "same").collect();
        assert_eq!(
            changed,
            [
                &("line 3".to_owned(), "del"),
                &("line three".to_owned(), "ins"),
                &("unchanged lines left out".to_owned(), "cut"),
                &("line 30".to_owned(), "del"),
            ]
        );
        assert!(shown.len() < 20, "{shown:?}");
        assert!(lines(&from, &from).is_empty());
    }
}
