//! The difference between two revisions, line by line, unchanged stretches cut.

use similar::{ChangeTag, TextDiff};

use kb_core::compare::{self, Change, ChangeKind};
use kb_core::text::{Part, Tree};

use crate::render::i18n::{Locale, field, history::Words};
use crate::store::RevisionTexts;

const CONTEXT: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// `r7 to r8`.
    pub title: String,
    /// By field; nothing where a text cannot be read.
    pub fields: Vec<FieldChange>,
    pub parts: Vec<DiffPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    pub label: String,
    pub pointer: String,
    /// What a comment on the field names it by: a pointer, behind `annex:` where it is in the annex.
    pub place: String,
    pub kind: &'static str,
    pub old: Option<String>,
    pub new: Option<String>,
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

pub fn diff(from: &RevisionTexts, to: &RevisionTexts, locale: Locale) -> Diff {
    let words = Words::of(locale.language);
    let (older, newer) = (from.meta.revision.to_string(), to.meta.revision.to_string());
    let mut fields = by_field(Part::Document, (&from.document, &to.document), locale);
    fields.extend(by_field(Part::Annex, (&from.annex, &to.annex), locale));
    Diff {
        title: words.between(&older, &newer),
        fields,
        parts: vec![
            DiffPart {
                name: words.document,
                lines: lines(&from.document, &to.document, words),
            },
            DiffPart {
                name: words.annex,
                lines: lines(&from.annex, &to.annex, words),
            },
        ],
    }
}

fn by_field(part: Part, (from, to): (&str, &str), locale: Locale) -> Vec<FieldChange> {
    let (Ok(from), Ok(to)) = (Tree::parse(from), Tree::parse(to)) else {
        return Vec::new();
    };
    let changes = compare::diff(part, &from, &to);
    changes.into_iter().map(|change| told(change, locale)).collect()
}

fn told(change: Change, locale: Locale) -> FieldChange {
    let words = Words::of(locale.language);
    let plain = |json: String| match Tree::parse(&json) {
        Ok(Tree::Text { plain, .. }) => plain,
        _ => json,
    };
    FieldChange {
        label: field::spoken(field::Words::of(locale.language), change.part, &change.pointer),
        kind: match change.kind {
            ChangeKind::Added => words.kind_added,
            ChangeKind::Removed => words.kind_removed,
            ChangeKind::Changed => words.kind_changed,
            ChangeKind::Moved => words.kind_moved,
        },
        old: change.old.map(plain),
        new: change.new.map(plain),
        place: match change.part {
            Part::Document => change.pointer.clone(),
            Part::Annex => format!("annex:{}", change.pointer),
        },
        pointer: change.pointer,
    }
}

fn lines(from: &str, to: &str, words: &'static Words) -> Vec<DiffLine> {
    let text_diff = TextDiff::from_lines(from, to);
    let mut lines = Vec::new();
    for (position, group) in text_diff.grouped_ops(CONTEXT).iter().enumerate() {
        if position > 0 {
            lines.push(DiffLine {
                class: "cut",
                sign: "",
                spoken: "",
                text: words.left_out.to_owned(),
            });
        }
        for operation in group {
            lines.extend(
                text_diff
                    .iter_changes(operation)
                    .map(|change| line(change.tag(), change.value(), words)),
            );
        }
    }
    lines
}

fn line(tag: ChangeTag, text: &str, words: &'static Words) -> DiffLine {
    let (class, sign, spoken) = match tag {
        ChangeTag::Delete => ("del", "−", words.removed),
        ChangeTag::Insert => ("ins", "+", words.added),
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
    use super::*;
    use crate::render::i18n::Language;

    #[test]
    fn only_what_changed_stands_with_its_surroundings() {
        let numbered: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
        let from = numbered.join("\n") + "\n";
        let to = from.replace("line 3\n", "line three\n").replace("line 30\n", "");
        let words = Words::of(Language::English);
        let shown: Vec<(String, &str)> = lines(&from, &to, words)
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
        assert!(lines(&from, &from, words).is_empty());
    }
}
