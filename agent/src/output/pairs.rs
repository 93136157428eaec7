//! What the pairs came to, those that have the same cause together: 28 pairs must not be 28 paragraphs.

use std::fmt::Write as _;

use kb_core::ids::RecordId;
use kb_core::report::{Pair, PairVerdict};

use super::Style;
use super::table::shown;

const WIDTH: usize = 100;

/// One paragraph for each verdict and cause, in the order in which they are met, worst first.
pub(super) fn told(pairs: &[Pair], style: Style) -> String {
    let mut groups: Vec<Vec<&Pair>> = Vec::new();
    for pair in pairs {
        let same = |group: &&mut Vec<&Pair>| group.first().is_some_and(|first| alike(first, pair));
        match groups.iter_mut().find(same) {
            Some(group) => group.push(pair),
            None => groups.push(vec![pair]),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.first().map(|pair| pair.verdict.verdict)));
    groups.iter().map(|group| paragraph(group, style)).collect()
}

fn alike(one: &Pair, other: &Pair) -> bool {
    let key = |pair: &Pair| {
        let PairVerdict {
            verdict,
            cause,
            information,
            ..
        } = &pair.verdict;
        (*verdict, cause.clone(), *information, joined_by(pair))
    };
    key(one) == key(other)
}

fn paragraph(group: &[&Pair], style: Style) -> String {
    let Some(first) = group.first() else {
        return String::new();
    };
    let judged = &first.verdict;
    let word = style.verdict(judged.verdict, judged.verdict.word());
    let cause = judged
        .cause
        .as_ref()
        .map(|cause| format!(" ({cause})"))
        .unwrap_or_default();
    let information = if judged.information { ", as expected" } else { "" };
    let mut text = format!(
        "  {}, {}: {word}{cause}{information}\n    {}\n",
        names(group),
        joined_by(first),
        judged.reason
    );
    text.push_str(&advice(judged.fix.as_deref(), judged.record.as_ref()));
    text
}

pub(super) fn advice(fix: Option<&str>, record: Option<&RecordId>) -> String {
    let mut text = String::new();
    if let Some(fix) = fix {
        text.push_str(&folded(&format!("fix: {fix}")));
    }
    if let Some(record) = record {
        // Writing into a String does not fail.
        let _ = writeln!(text, "    record {record}");
    }
    text
}

/// Lines of at most [`WIDTH`] columns between blanks; continued ones stand further in.
fn folded(text: &str) -> String {
    let mut lines = String::new();
    let mut line = "   ".to_owned();
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            "        ".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}

/// `GPU 0 and GPU 1`, or `28 pairs`, or `GPUs 0-1, 0-2, 1-2`.
fn names(group: &[&Pair]) -> String {
    /// More are counted: nobody reads a longer list.
    const MOST_NAMED: usize = 8;
    match group {
        [pair] => format!("GPU {} and GPU {}", pair.a, pair.b),
        _ if group.len() > MOST_NAMED => format!("{} pairs", group.len()),
        _ => {
            let names: Vec<String> = group
                .iter()
                .map(|pair| format!("{}-{}", pair.a, pair.b))
                .collect();
            format!("GPUs {}", names.join(", "))
        }
    }
}

/// `18 NVLinks through NVSwitch`, `no NVLink, PIX`, `NVLinks not told, ?`.
fn joined_by(pair: &Pair) -> String {
    let ancestor = shown(&pair.common_ancestor);
    let links = match (pair.nvlinks.value, pair.nvswitch.value) {
        (Some(0), _) => "no NVLink".to_owned(),
        (Some(1), Some(true)) => "1 NVLink through NVSwitch".to_owned(),
        (Some(links), Some(true)) => format!("{links} NVLinks through NVSwitch"),
        (Some(1), _) => "1 NVLink".to_owned(),
        (Some(links), _) => format!("{links} NVLinks"),
        (None, _) => "NVLinks not told".to_owned(),
    };
    format!("{links}, {ancestor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_folded_between_words_and_nothing_is_lost() {
        let words = "word ".repeat(60);
        let text = folded(words.trim());
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.split_whitespace().count(), 60);
        assert_eq!(folded("short"), "    short\n");
    }
}
