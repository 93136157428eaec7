//! What the form shows: the fields of a record with their values, and beside each what the check finds.

use kb_core::form::{Column, Input, SECTIONS, Texts, read};
use kb_core::text::{Part, Severity, Tree, Violation};

use super::sent::{NotTaken, name};
use crate::feed::Generation;
use crate::render::i18n::{edit, field};

/// Rows of a text field at least, and at most before it scrolls.
const FEWEST_ROWS: usize = 2;
const MOST_ROWS: usize = 16;
/// Characters in a line of a text field, about.
const LINE: usize = 80;
/// Text of a row that is shown while it is folded, in characters.
const BRIEF_CHARS: usize = 60;

#[derive(Debug)]
pub(super) struct SectionView {
    pub(super) name: &'static str,
    pub(super) heading: &'static str,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug)]
pub(super) enum Entry {
    Field(FieldView),
    List(ListView),
}

#[derive(Debug)]
pub(super) struct FieldView {
    /// Name and id in the form.
    pub(super) name: String,
    pub(super) label: String,
    /// `line`, `record`, `choice`, or `text` for several lines.
    pub(super) kind: &'static str,
    pub(super) value: String,
    pub(super) rows: usize,
    pub(super) choices: Vec<Choice>,
    pub(super) findings: Vec<Finding>,
    /// The form was opened to correct it.
    pub(super) has_focus: bool,
}

#[derive(Debug)]
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) text: String,
    pub(super) chosen: bool,
}

#[derive(Debug)]
pub(super) struct ListView {
    pub(super) name: String,
    pub(super) label: &'static str,
    pub(super) rows: Vec<RowView>,
    /// An empty row, to be filled.
    pub(super) blank: RowView,
    pub(super) findings: Vec<Finding>,
}

#[derive(Debug)]
pub(super) struct RowView {
    /// What works, number 2.
    pub(super) heading: String,
    /// Name of the row in the form: `d:/workarounds/1`.
    pub(super) name: String,
    pub(super) fields: Vec<FieldView>,
    pub(super) first: bool,
    pub(super) last: bool,
}

impl RowView {
    pub(super) fn brief(&self) -> Option<String> {
        let text = self.fields.iter().map(|field| field.value.trim());
        let text = text.into_iter().find(|text| !text.is_empty())?;
        let mut brief: String = text.chars().take(BRIEF_CHARS).collect();
        if brief.len() < text.len() {
            brief.push('…');
        }
        Some(brief)
    }

    /// A row in which the check finds something is not folded, nor one that is to be corrected.
    pub(super) fn is_open(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.has_focus || !field.findings.is_empty())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) class: &'static str,
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// What is told of values, by the part and pointer that it is told of.
pub(super) struct Told {
    found: Vec<(Part, String, Finding, bool)>,
}

impl Told {
    pub(super) fn of(violations: &[Violation], not_taken: &[NotTaken], words: &'static edit::Words) -> Self {
        let mut told = Self { found: Vec::new() };
        for violation in violations {
            let (class, kind) = match violation.severity {
                Severity::Error => ("bad", words.error),
                Severity::Warning => ("warn", words.warning),
            };
            let text = match violation.fix.as_str() {
                "" => violation.reason.clone(),
                fix => format!("{}: {fix}", violation.reason),
            };
            told.add(
                violation.part,
                violation.pointer.clone(),
                Finding { class, kind, text },
            );
        }
        for one in not_taken {
            let text = format!("{}: {}", words.not_taken, one.reason);
            let finding = Finding {
                class: "bad",
                kind: words.error,
                text,
            };
            told.add(one.part, one.pointer.clone(), finding);
        }
        told
    }

    pub(super) fn add(&mut self, part: Part, pointer: String, finding: Finding) {
        self.found.push((part, pointer, finding, false));
    }

    fn take(&mut self, part: Part, pointer: &str) -> Vec<Finding> {
        let mut taken = Vec::new();
        for (of, place, finding, told) in &mut self.found {
            let inside = place
                .strip_prefix(pointer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if *of == part && inside && !*told {
                *told = true;
                taken.push(finding.clone());
            }
        }
        taken
    }

    pub(super) fn rest(self) -> Vec<Finding> {
        let rest = self.found.into_iter().filter(|(.., told)| !told);
        rest.map(|(_, pointer, finding, _)| Finding {
            text: if pointer.is_empty() {
                finding.text
            } else {
                format!("{pointer}: {}", finding.text)
            },
            ..finding
        })
        .collect()
    }
}

/// Edges to records that are not published: the check of the texts alone does not know them.
pub(super) fn unknown_records(
    texts: &Texts,
    generation: &Generation,
    words: &'static edit::Words,
    told: &mut Told,
) {
    let kinds = ["leads_to", "preceded_by", "frequently_confused_with"];
    for list in kinds.map(|kind| format!("/transition_graph/{kind}")) {
        let rows = texts
            .document
            .find(&list)
            .and_then(Tree::items)
            .unwrap_or_default();
        for (at, row) in rows.iter().enumerate() {
            let Some(id) = row.child("error_id").and_then(Tree::as_text) else {
                continue;
            };
            let known =
                id.parse().is_ok_and(|id| generation.record(&id).is_some()) || generation.alias(id).is_some();
            if !known {
                let finding = Finding {
                    class: "warn",
                    kind: words.warning,
                    text: words.no_such_record.to_owned(),
                };
                told.add(Part::Document, format!("{list}/{at}/error_id"), finding);
            }
        }
    }
}

pub(super) fn sections(
    texts: &Texts,
    told: &mut Told,
    not_taken: &[NotTaken],
    words: &'static edit::Words,
    labels: &'static field::Words,
) -> Vec<SectionView> {
    let mut maker = Maker {
        texts,
        told,
        not_taken,
        words,
        labels,
    };
    let section = |section: &'static kb_core::form::Section| SectionView {
        name: section.key,
        heading: labels
            .named(&format!("section_{}", section.key))
            .unwrap_or(section.key),
        entries: section.fields.iter().map(|one| maker.entry(one)).collect(),
    };
    SECTIONS.iter().map(section).collect()
}

struct Maker<'m> {
    texts: &'m Texts,
    told: &'m mut Told,
    not_taken: &'m [NotTaken],
    words: &'static edit::Words,
    labels: &'static field::Words,
}

impl Maker<'_> {
    fn entry(&mut self, one: &kb_core::form::Field) -> Entry {
        let label = field::name(one.part, one.pointer);
        let label = self.labels.named(label).unwrap_or(one.pointer);
        let value = self.texts.part(one.part).find(one.pointer);
        match (one.input, value) {
            (Input::Rows(columns), None | Some(Tree::Array(_))) => {
                Entry::List(self.list(one.part, one.pointer, label, columns))
            }
            // A list that is none is shown as it is.
            (Input::Rows(_), _) => Entry::Field(self.field(one.part, one.pointer, label, Input::Json)),
            (input, _) => Entry::Field(self.field(one.part, one.pointer, label, input)),
        }
    }

    fn list(
        &mut self,
        part: Part,
        pointer: &'static str,
        label: &'static str,
        columns: &'static [Column],
    ) -> ListView {
        let count = self
            .texts
            .part(part)
            .find(pointer)
            .and_then(Tree::items)
            .map_or(0, <[Tree]>::len);
        let rows = (0..count).map(|at| self.row(part, pointer, label, columns, (at, count)));
        let rows = rows.collect();
        let blank = self.row(part, pointer, label, columns, (count, count));
        ListView {
            name: name(part, pointer),
            label,
            rows,
            blank,
            findings: self.told.take(part, pointer),
        }
    }

    fn row(
        &mut self,
        part: Part,
        pointer: &str,
        label: &str,
        columns: &[Column],
        (at, count): (usize, usize),
    ) -> RowView {
        let row = format!("{pointer}/{at}");
        let fields = columns.iter().map(|column| {
            let label = self.labels.named(column.key).unwrap_or(column.key);
            self.field(part, &format!("{row}/{}", column.key), label, column.input)
        });
        let mut fields: Vec<FieldView> = fields.collect();
        // What is told of the row itself stands at its first field.
        if let (Some(first), true) = (fields.first_mut(), at < count) {
            first.findings.extend(self.told.take(part, &row));
        }
        RowView {
            heading: self.words.row(label, &(at + 1).to_string()),
            name: name(part, &row),
            fields,
            first: at == 0,
            last: at + 1 >= count,
        }
    }

    fn field(&mut self, part: Part, pointer: &str, label: &str, input: Input) -> FieldView {
        let (mut value, input) = read(self.texts.part(part).find(pointer), input);
        let given = self
            .not_taken
            .iter()
            .find(|one| one.part == part && one.pointer == pointer);
        if let Some(given) = given {
            value.clone_from(&given.given);
        }
        let (kind, words): (_, &[&'static str]) = match input {
            Input::Line | Input::Number => ("line", &[]),
            Input::Ids if pointer.ends_with("/error_id") => ("record", &[]),
            Input::Choice(words) => ("choice", words),
            Input::Flag => ("choice", &["true", "false"]),
            Input::Paragraph | Input::Lines | Input::Ids | Input::Json | Input::Rows(_) => ("text", &[]),
        };
        let choice = |word: &&'static str| Choice {
            value: word,
            text: word.replace('_', " "),
            chosen: *word == value,
        };
        FieldView {
            name: name(part, pointer),
            label: label.to_owned(),
            kind,
            rows: height(&value),
            choices: words.iter().map(choice).collect(),
            findings: self.told.take(part, pointer),
            has_focus: false,
            value,
        }
    }
}

fn height(text: &str) -> usize {
    let lines: usize = text.lines().map(|line| 1 + line.chars().count() / LINE).sum();
    lines.clamp(FEWEST_ROWS, MOST_ROWS)
}
