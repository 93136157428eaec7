//! What a form of a record sent: its fields put into the texts that it showed.
//!
//! The form holds the texts three times: as it showed them, as raw JSON that may have been changed, and as single fields. Fields
//! that differ from what was shown are written into it; what was changed in the raw JSON joins them, field by field.

use std::collections::BTreeMap;

use kb_core::compare::{Conflict, merge};
use kb_core::form::{Field, Input, SECTIONS, Texts, edit_row, parse_row_edit, write};
use kb_core::terminal::harmless_lines;
use kb_core::text::{Part, TextError, Tree};

/// Rows of one list that a form may add at once.
const MOST_NEW_ROWS: usize = 8;

/// A field whose value was not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotTaken {
    pub(super) part: Part,
    pub(super) pointer: String,
    pub(super) given: String,
    pub(super) reason: String,
}

/// A text in two parts, as the form holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) document: String,
    pub(super) annex: String,
}

#[derive(Debug)]
pub(super) struct Sent {
    /// The texts with all that was changed; raw where they cannot be read.
    pub(super) now: Pair,
    /// What the next form says that it showed: where the raw texts cannot be read yet, what this one did.
    pub(super) shown: Pair,
    /// The texts whose values stand in the fields.
    pub(super) fields: Pair,
    /// Fields that could not be put into them.
    pub(super) not_taken: Vec<NotTaken>,
    /// Changed in the raw JSON and in a field.
    pub(super) twice: Vec<Conflict>,
    /// Why the raw JSON cannot be read.
    pub(super) unreadable: Option<(Part, TextError)>,
}

impl Sent {
    /// These texts are shown next, and in the fields.
    pub(super) fn stand_at(&mut self, texts: Pair) {
        self.shown = texts.clone();
        self.fields = texts.clone();
        self.now = texts;
    }
}

/// Fields of a form by name; the first of a name counts.
pub(super) struct Given<'f>(BTreeMap<&'f str, &'f str>);

impl<'f> Given<'f> {
    pub(super) fn of(fields: impl Iterator<Item = (&'f str, &'f str)>) -> Self {
        let mut given = BTreeMap::new();
        for (name, value) in fields {
            given.entry(name).or_insert(value);
        }
        Self(given)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'f str> {
        self.0.get(name).copied()
    }

    /// Values of the fields whose names begin so, by the rest of the name.
    pub(super) fn beginning(&self, prefix: &str) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.0
            .iter()
            .filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, *value)))
    }
}

pub(in crate::web::pages) fn name(part: Part, pointer: &str) -> String {
    match part {
        Part::Document => format!("d:{pointer}"),
        Part::Annex => format!("a:{pointer}"),
    }
}

pub(super) fn place(name: &str) -> Option<(Part, &str)> {
    match name.split_once(':')? {
        ("d", pointer) => Some((Part::Document, pointer)),
        ("a", pointer) => Some((Part::Annex, pointer)),
        _ => None,
    }
}

pub(super) fn read(given: &Given<'_>, base: &Pair) -> Sent {
    let text = |name: &str, base: &str| {
        given
            .get(name)
            .map_or_else(|| base.to_owned(), |text| restored(text, base))
    };
    let shown = Pair {
        document: text("shown_document", &base.document),
        annex: text("shown_annex", &base.annex),
    };
    let raw = Pair {
        document: text("document", &shown.document),
        annex: text("annex", &shown.annex),
    };
    let mut sent = Sent {
        now: raw.clone(),
        shown: shown.clone(),
        fields: shown.clone(),
        not_taken: Vec::new(),
        twice: Vec::new(),
        unreadable: None,
    };
    let Ok(of_shown) = Texts::parse(&shown.document, &shown.annex) else {
        return sent;
    };
    let mut of_fields = of_shown.clone();
    fields(given, &mut of_fields, &mut sent.not_taken);
    let of_raw = match Texts::parse(&raw.document, &raw.annex) {
        Ok(texts) => texts,
        Err(unreadable) => {
            sent.unreadable = Some(unreadable);
            if let Ok((document, annex)) = of_fields.written(&shown.document, &shown.annex) {
                sent.fields = Pair { document, annex };
            }
            return sent;
        }
    };
    // What was taken from somebody else's change, or left, by pointer.
    let mut texts = joined(&of_shown, &of_fields, &of_raw, &mut sent.twice);
    take(given, &mut texts);
    if let Some(edit) = given.get("row") {
        row(edit, &mut texts);
    }
    match texts.written(&raw.document, &raw.annex) {
        Ok((document, annex)) => sent.stand_at(Pair { document, annex }),
        Err(error) => sent.not_taken.push(NotTaken {
            part: Part::Document,
            pointer: String::new(),
            given: String::new(),
            reason: error.to_string(),
        }),
    }
    sent
}

/// Browsers end lines with CR LF, and a page hides marks that act on others: text that is otherwise unchanged keeps its bytes.
fn restored(given: &str, before: &str) -> String {
    let given = given.replace("\r\n", "\n");
    if given == harmless_lines(before).replace("\r\n", "\n") {
        return before.to_owned();
    }
    if before.contains("\r\n") {
        given.replace('\n', "\r\n")
    } else {
        given
    }
}

fn joined(shown: &Texts, fields: &Texts, raw: &Texts, twice: &mut Vec<Conflict>) -> Texts {
    let mut one = |part: Part| -> Tree {
        let merged = merge(part, shown.part(part), fields.part(part), raw.part(part));
        twice.extend(merged.conflicts);
        merged.tree
    };
    Texts {
        document: one(Part::Document),
        annex: one(Part::Annex),
    }
}

fn fields(given: &Given<'_>, texts: &mut Texts, not_taken: &mut Vec<NotTaken>) {
    for field in SECTIONS.iter().flat_map(|section| section.fields) {
        match field.input {
            Input::Rows(columns) => rows(given, texts, field, columns, not_taken),
            input => put(
                given,
                texts,
                (field.part, field.pointer),
                (input, field.required),
                not_taken,
            ),
        }
    }
}

fn rows(
    given: &Given<'_>,
    texts: &mut Texts,
    field: &Field,
    columns: &[kb_core::form::Column],
    not_taken: &mut Vec<NotTaken>,
) {
    // A list that is none is shown as one field.
    put(
        given,
        texts,
        (field.part, field.pointer),
        (Input::Json, false),
        not_taken,
    );
    let there = texts
        .part(field.part)
        .find(field.pointer)
        .and_then(Tree::items)
        .map_or(0, <[Tree]>::len);
    let mut end = there;
    for at in 0..there + MOST_NEW_ROWS {
        let column_name = |key: &str| name(field.part, &format!("{}/{at}/{key}", field.pointer));
        let filled = columns.iter().any(|column| {
            given
                .get(&column_name(column.key))
                .is_some_and(|text| !text.trim().is_empty())
        });
        if at >= there && !filled {
            continue;
        }
        // A new row stands behind the last one, whatever rows were left empty.
        let place = if at < there { at } else { end };
        for column in columns {
            let Some(text) = given.get(&column_name(column.key)) else {
                continue;
            };
            let pointer = format!("{}/{place}/{}", field.pointer, column.key);
            let input = (column.input, column.required);
            take_one(texts, (field.part, &pointer), input, text, not_taken);
        }
        if at >= there {
            end += 1;
        }
    }
}

fn put(
    given: &Given<'_>,
    texts: &mut Texts,
    place: (Part, &str),
    input: (Input, bool),
    not_taken: &mut Vec<NotTaken>,
) {
    if let Some(text) = given.get(&name(place.0, place.1)) {
        take_one(texts, place, input, text, not_taken);
    }
}

fn take_one(
    texts: &mut Texts,
    (part, pointer): (Part, &str),
    input: (Input, bool),
    text: &str,
    not_taken: &mut Vec<NotTaken>,
) {
    // A page shows no marks that act on other text, so that they cannot come back.
    let (shown, _) = kb_core::form::read(texts.part(part).find(pointer), input.0);
    if text.replace("\r\n", "\n") == harmless_lines(&shown).replace("\r\n", "\n") {
        return;
    }
    if let Err(error) = write(texts, (part, pointer), input, text) {
        not_taken.push(NotTaken {
            part,
            pointer: pointer.to_owned(),
            given: text.to_owned(),
            reason: error.to_string(),
        });
    }
}

/// Fields that another editor changed too, with the value chosen: `take:d:/root_cause` has its JSON; empty removes it.
fn take(given: &Given<'_>, texts: &mut Texts) {
    let chosen: Vec<(&str, &str)> = given.beginning("take:").collect();
    for (name, _) in chosen {
        let Some((part, pointer)) = place(name) else {
            continue;
        };
        let tree = texts.part_mut(part);
        match given.get(&format!("mine:{name}")).map(Tree::parse) {
            Some(Ok(value)) => {
                tree.set(pointer, value);
            }
            _ => {
                tree.remove(pointer);
            }
        }
    }
}

/// `up:d:/workarounds/1`
fn row(edit: &str, texts: &mut Texts) {
    let Some((word, rest)) = edit.split_once(':') else {
        return;
    };
    let Some((part, pointer)) = place(rest) else {
        return;
    };
    let plain = format!("{word}:{pointer}");
    if let Some((edit, list)) = parse_row_edit(&plain) {
        edit_row(texts, (part, list), edit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "{\r\n  \"id\": \"a/b\",\r\n  \"signature\": \"s\\u0061\u{202e}\",\r\n  \"root_cause\": \"x\",\r\n  \"workarounds\": [{\"action\": \"one\"}, {\"action\": \"two\"}]\r\n}\r\n";
    const ANNEX: &str = "{\"schema_version\": 1}\n";

    fn base() -> Pair {
        Pair {
            document: DOCUMENT.to_owned(),
            annex: ANNEX.to_owned(),
        }
    }

    /// A form as a browser sends it back, with fields in place of others.
    fn sent(changed: &[(&str, &str)]) -> Sent {
        let shown = harmless_lines(DOCUMENT);
        let mut fields = changed.to_vec();
        fields.extend([
            ("shown_document", shown.as_str()),
            ("document", shown.as_str()),
            ("shown_annex", "{\"schema_version\": 1}\r\n"),
            ("annex", "{\"schema_version\": 1}\r\n"),
            ("d:/signature", "sa\\u202e"),
            ("d:/root_cause", "x"),
            ("d:/workarounds/0/action", "one"),
            ("d:/workarounds/1/action", "two"),
            ("d:/workarounds/2/action", ""),
        ]);
        read(&Given::of(fields.into_iter()), &base())
    }

    #[test]
    fn a_form_as_it_was_gives_the_same_bytes() {
        let sent = sent(&[]);
        assert_eq!(sent.now, base());
        assert!(sent.not_taken.is_empty() && sent.twice.is_empty());
    }

    #[test]
    fn a_field_and_the_raw_text_are_changed_together() {
        let raw = harmless_lines(DOCUMENT).replace("\"x\"", "\"from raw\"");
        let both = sent(&[("document", &raw), ("d:/workarounds/2/action", "three")]);
        let expected = DOCUMENT.replace("\"x\"", "\"from raw\"");
        let expected = expected.replace("\"two\"}]", "\"two\"}, {\"action\": \"three\"}]");
        // What the page showed as an escape is changed only where the raw text is.
        assert_eq!(both.now.document, expected.replace('\u{202e}', "\\u202e"));
        let twice = sent(&[("document", &raw), ("d:/root_cause", "from the field")]);
        assert_eq!(twice.twice.len(), 1);
        assert!(twice.now.document.contains("from raw"));
    }

    #[test]
    fn raw_text_that_is_none_is_kept_and_told() {
        let broken = sent(&[("annex", "{\"schema_version\": 1,}"), ("d:/root_cause", "typed")]);
        // What was typed into a field stands in it, and still differs from what was shown.
        assert!(broken.fields.document.contains("typed") && !broken.shown.document.contains("typed"));
        assert_eq!(broken.now.annex, "{\"schema_version\": 1,}");
        assert_eq!(broken.unreadable.unwrap().0, Part::Annex);
    }

    #[test]
    fn rows_move_and_one_s_own_value_is_taken() {
        let moved = sent(&[("row", "up:d:/workarounds/1")]);
        assert!(
            moved
                .now
                .document
                .contains("[{\"action\": \"two\"}, {\"action\": \"one\"}]")
        );
        let taken = sent(&[("take:d:/root_cause", "1"), ("mine:d:/root_cause", "\"mine\"")]);
        assert!(taken.now.document.contains("\"mine\""));
        let gone = sent(&[("take:d:/workarounds/0", "1")]);
        assert!(!gone.now.document.contains("one"), "{}", gone.now.document);
    }
}
