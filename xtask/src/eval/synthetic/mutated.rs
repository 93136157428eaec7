//! Examples with other values in the captured places, behind the prefixes of other tools, coloured, and after
//! progress bars: does the record still come first?

use std::collections::BTreeSet;

use super::examples;
use super::own::one;
use crate::eval::ask::ask;
use crate::eval::knowledge::Knowledge;
use crate::eval::report::Report;
use crate::eval::score::Groups;
use crate::random::Random;

/// What tools put before a line, by name. Each stands before every line of the text.
const PREFIXES: [(&str, &str); 10] = [
    ("none", ""),
    ("journal", "Nov 21 03:14:07 gpu017 train[48213]: "),
    (
        "syslog",
        "2026-11-21T03:14:07.231904+00:00 gpu017 kernel: [81234.551908] ",
    ),
    ("compose", "trainer-1  | "),
    ("kubectl", "[pod/train-0/main] "),
    ("torchrun", "[default3]:[rank3]: "),
    ("slurm", "3: "),
    ("ray", "(RayWorkerWrapper pid=48213, ip=10.0.0.7) "),
    ("logging", "2026-11-21 03:14:07,231 - worker - ERROR - "),
    ("glog", "E1121 03:14:07.231904 48213 worker.cc:217] "),
];

pub(crate) fn judge(knowledge: &Knowledge, report: &mut Report) {
    let mut groups = Groups::new(&["match", "answer"]);
    let mut random = Random::new(20);
    for (number, example) in examples(&knowledge.generation).enumerate() {
        let right = BTreeSet::from([example.record.clone()]);
        let answer = ask(&knowledge.generation, example.text.as_bytes());
        let mut text = example.text.to_owned();
        // Captured values of another record would change what the text says.
        if answer.matches.first() == Some(example.record) {
            for (_, value) in &answer.captures {
                text = replaced(&text, value, &other(value, &mut random));
            }
        }
        one("other values", &text, &right, knowledge, &mut groups, report);
        let Some((prefix, before)) = PREFIXES.get(number % PREFIXES.len()) else {
            continue;
        };
        one(
            prefix,
            &with_prefix(&text, before),
            &right,
            knowledge,
            &mut groups,
            report,
        );
        one(
            "colours",
            &coloured(&text),
            &right,
            knowledge,
            &mut groups,
            report,
        );
        let progress = format!("  7%|7         | 71/1000 [00:03<00:41, 22.1it/s]\r{text}\r\n");
        one("progress", &progress, &right, knowledge, &mut groups, report);
    }
    report.table(
        "mutated",
        "Examples with other values, behind prefixes of other tools",
        &groups.table("change"),
        groups.json(),
    );
}

/// A value of the same shape: other digits, the rest as it was. Digits stay below 8, and none becomes a leading 0.
fn other(value: &str, random: &mut Random) -> String {
    let mut previous_is_digit = false;
    value
        .chars()
        .map(|c| {
            let is_leading = !previous_is_digit;
            previous_is_digit = c.is_ascii_digit();
            match c {
                '0' if is_leading => c,
                '0'..='9' => char::from(b'1' + u8::try_from(random.below(7)).unwrap_or(0)),
                other => other,
            }
        })
        .collect()
}

/// Replaces a value where it stands as a word of its own.
fn replaced(text: &str, value: &str, by: &str) -> String {
    if value.is_empty() {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, from) = rest.split_at(at);
        let after = from.get(value.len()..).unwrap_or_default();
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let last = before.chars().next_back().or_else(|| result.chars().next_back());
        let is_word = !joins(last) && !joins(after.chars().next());
        result.push_str(before);
        result.push_str(if is_word { by } else { value });
        rest = after;
    }
    result.push_str(rest);
    result
}

fn with_prefix(text: &str, prefix: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{prefix}{line}")).collect();
    lines.join("\n")
}

/// Red, with one word bold, as terminals show errors.
fn coloured(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(' ') {
        Some((first, rest)) => format!("\u{1b}[31m\u{1b}[1m{first}\u{1b}[22m {rest}\u{1b}[0m"),
        None => format!("\u{1b}[31m{line}\u{1b}[0m"),
    });
    lines.collect::<Vec<_>>().join("\n")
}
