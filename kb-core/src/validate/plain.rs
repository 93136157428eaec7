//! English that has to be read twice: long sentences, and steps that do not begin with what to do.

use super::{Part, Violation};
use crate::record::Document;

/// Most words of a sentence; a command in backticks counts as one.
const MAX_WORDS: usize = 30;

/// Words with which a step begins that names a condition or a place before what to do.
const NO_VERBS: [&str; 28] = [
    "a",
    "after",
    "an",
    "at",
    "before",
    "by",
    "else",
    "for",
    "from",
    "if",
    "in",
    "no",
    "nothing",
    "on",
    "once",
    "one",
    "or",
    "otherwise",
    "the",
    "then",
    "to",
    "under",
    "until",
    "when",
    "where",
    "with",
    "within",
    "without",
];

pub(super) fn check(document: &Document) -> Vec<Violation> {
    let mut found = Vec::new();
    sentences("/root_cause", &document.root_cause, &mut found);
    for (at, step) in document.workarounds.iter().enumerate() {
        let pointer = format!("/workarounds/{at}/action");
        sentences(&pointer, &step.action, &mut found);
        sentences(
            &format!("/workarounds/{at}/how"),
            step.how.as_deref().unwrap_or_default(),
            &mut found,
        );
        if let Some(word) = first_word(&step.action).filter(|word| NO_VERBS.contains(&word.as_str())) {
            let reason = format!("the step begins with {word:?}, not with what to do");
            let fix = "begin with the verb: \"Reset the GPU after the job\"";
            found.push(Violation::warning(Part::Document, &pointer, "action-without-verb", reason).fix(fix));
        }
    }
    for (at, dead_end) in document.dead_ends.iter().enumerate() {
        let why = dead_end.why_fails.as_deref().unwrap_or_default();
        sentences(&format!("/dead_ends/{at}/why_fails"), why, &mut found);
    }
    found
}

fn first_word(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    Some(word.trim_end_matches([',', ':', ';']).to_lowercase())
}

fn sentences(pointer: &str, text: &str, found: &mut Vec<Violation>) {
    let longest = longest(text);
    if longest > MAX_WORDS {
        let reason = format!("a sentence has {longest} words, which is hard to read");
        let fix = "make two of it, of at most 30 words each";
        found.push(Violation::warning(Part::Document, pointer, "long-sentence", reason).fix(fix));
    }
}

fn longest(text: &str) -> usize {
    let (mut words, mut longest, mut in_command) = (0, 0, false);
    for word in text.split_whitespace() {
        words += usize::from(!in_command);
        in_command ^= word.matches('`').count() % 2 == 1;
        if !in_command && word.ends_with(['.', ';', ':', '!', '?']) {
            longest = longest.max(words);
            words = 0;
        }
    }
    longest.max(words)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_word_and_ends_no_sentence() {
        assert_eq!(longest("Run `a -b: c -d. e` first. Then look."), 3);
        assert_eq!(longest(&"word ".repeat(31)), 31);
        assert_eq!(longest(""), 0);
    }

    #[test]
    fn long_sentences_and_steps_that_begin_with_a_condition_are_told() {
        let found = |pointer: &str, text: &str| {
            let document = include_str!("testdata/good.json");
            let document = crate::text::replace_value(document, pointer, &format!("{text:?}")).unwrap();
            let found = check(&crate::record::read_document(&document).unwrap());
            let found = found
                .into_iter()
                .map(|violation| (violation.pointer, violation.rule));
            found.collect::<Vec<_>>()
        };
        let step = "/workarounds/0/action";
        assert_eq!(found(step, "Try again if it fails."), []);
        assert_eq!(
            found(step, "If it fails: try again."),
            [(step.to_owned(), "action-without-verb")]
        );
        assert_eq!(
            found("/root_cause", &"word ".repeat(31)),
            [("/root_cause".to_owned(), "long-sentence")]
        );
    }
}
