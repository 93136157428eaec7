//! The rules applied to a text: what each group holds is judged, and what is left is cut.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::find::{Place, path};
use super::random::{Suspicion, is_random};
use super::rules::{Only, RULES, Rule};
use super::{Cut, Kind};

/// Hosts that all the world links to.
const PUBLIC: [&str; 13] = [
    "pytorch.org",
    "nvidia.com",
    "github.com",
    "python.org",
    "tensorflow.org",
    "kernel.org",
    "huggingface.co",
    "amd.com",
    "intel.com",
    "readthedocs.io",
    "docker.io",
    "github.io",
    "nvcr.io",
];

type Compiled = Vec<(Regex, &'static Rule)>;

static READ: LazyLock<Option<Compiled>> = LazyLock::new(|| compiled(RULES));

/// Absent where one of them is no regex.
fn compiled(rules: &'static [Rule]) -> Option<Compiled> {
    let compiled = rules
        .iter()
        .map(|rule| Some((Regex::new(rule.regex).ok()?, rule)));
    compiled.collect()
}

/// What is cut, in the order of the text, without overlaps.
pub(super) fn cuts(text: &str, guesses: bool, wants: impl Fn(Kind) -> bool) -> Vec<Cut> {
    cuts_by(READ.as_ref(), text, guesses, wants)
}

/// Without rules nobody knows what a text gives away: all of it is cut.
fn cuts_by(rules: Option<&Compiled>, text: &str, guesses: bool, wants: impl Fn(Kind) -> bool) -> Vec<Cut> {
    let Some(rules) = rules else {
        return vec![Cut {
            at: 0..text.len(),
            kind: Kind::Secrets,
        }];
    };
    let mut cuts: Vec<Cut> = Vec::new();
    for (regex, rule) in rules.iter().filter(|(_, rule)| guesses || !rule.guess) {
        if !rule.cuts.iter().any(|(kind, _)| wants(*kind)) {
            continue;
        }
        for found in regex.captures_iter(text) {
            let groups = (1..found.group_len()).filter_map(|group| found.get_group(group));
            for (number, span) in groups.enumerate() {
                let Some((kind, only)) = rule.cuts.get(number).or_else(|| rule.cuts.last()) else {
                    continue;
                };
                let Some(value) = text.get(span.range()) else {
                    continue;
                };
                if wants(Kind::Paths)
                    && (*only == Only::Home || *only == Only::Random && is_path(text, span.start))
                {
                    continue;
                }
                let trimmed = trim(value, *kind);
                let at = span.start..span.start + trimmed.len();
                if wants(*kind) && counts(trimmed, *only, text.get(..span.start).unwrap_or_default()) {
                    add(&mut cuts, Cut { at, kind: *kind });
                }
            }
        }
    }
    cuts
}

fn is_path(text: &str, start: usize) -> bool {
    let (before, rest) = text.split_at_checked(start).unwrap_or(("", text));
    let begun = before.rfind(super::is_border).map_or(0, |at| at + 1);
    let before = before.get(begun..).unwrap_or_default();
    let rest = rest.split(super::is_border).next().unwrap_or_default();
    path(Place { before, rest }, before.contains("://")).is_some()
}

/// A value ends before the signs that end a sentence or a list.
fn trim(value: &str, kind: Kind) -> &str {
    match kind {
        Kind::Secrets => value.trim_end_matches([',', ';', ')', ']', '}', '.', ':']),
        Kind::Hosts | Kind::Users => value.trim_end_matches(['.', ',', ';', ':']),
        Kind::Addresses | Kind::Paths => value.trim_end_matches([',', ';', ':', '.', ')']),
    }
}

/// Adds a cut; where one is already, both become one, and the earlier says of what.
fn add(cuts: &mut Vec<Cut>, mut cut: Cut) {
    if cut.at.is_empty() {
        return;
    }
    let from = cuts.partition_point(|known| known.at.end <= cut.at.start);
    let until = cuts.partition_point(|known| known.at.start < cut.at.end);
    let covered = cuts.get(from..until).unwrap_or_default();
    if let (Some(first), Some(last)) = (covered.first(), covered.last()) {
        cut.kind = first.kind;
        cut.at = first.at.start.min(cut.at.start)..last.at.end.max(cut.at.end);
    }
    cuts.splice(from..until.max(from), [cut]);
}

fn counts(value: &str, only: Only, before: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match only {
        Only::Always => !value.is_empty(),
        Only::Value => !(says_nothing(value) || is_number && value.len() <= 9 && !names_password(before)),
        Only::Odd => value.bytes().any(|byte| !byte.is_ascii_alphabetic()),
        Only::Named => !says_nothing(value) && is_random(value, Suspicion::Named),
        Only::Random => is_random(value, Suspicion::None),
        Only::Name | Only::Home => !is_number && !COMMON.contains(&value.to_ascii_lowercase().as_str()),
        Only::Host => is_host(value),
        Only::HostNamed => is_host(value) && (has_digit || value.contains(['.', '-'])),
        Only::HostLike => is_host(value) && (has_digit || value.contains(['.', '-'])) && !is_numbered(value),
        Only::Peer => !value.starts_with("GLIBC") && !value.starts_with("lib") && !value.contains(".so"),
    }
}

/// Accounts that all machines have, and words that are none.
const COMMON: [&str; 16] = [
    "root", "nobody", "system", "user", "users", "none", "null", "true", "false", "error", "the", "a", "not",
    "unknown", "space", "mode",
];

fn says_nothing(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let nothing = [
        "none",
        "null",
        "nil",
        "true",
        "false",
        "yes",
        "no",
        "unset",
        "set",
        "missing",
        "empty",
        "expected",
        "expecting",
        "expired",
        "invalid",
        "not",
        "(null)",
        "<none>",
        "***",
        "undefined",
    ];
    let is_short_hex = value.len() <= 10
        && value
            .strip_prefix("0x")
            .is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok());
    is_short_hex || nothing.contains(&value.as_str()) || value.bytes().all(|byte| byte == b'*')
}

fn names_password(before: &str) -> bool {
    let end: String = before.chars().rev().take(24).collect();
    let end = end.to_ascii_lowercase();
    // Backwards.
    ["drowssap", "dwp", "dwssap", "ssap", "nip", "pto", "码密", "令口"]
        .iter()
        .any(|word| end.contains(word))
}

fn is_host(value: &str) -> bool {
    let is_address = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    !is_address && value != "localhost" && value != "kernel" && !is_public_name(value)
}

/// `rank0` and `gpu3` are no machines.
fn is_numbered(value: &str) -> bool {
    let stem = value.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
    let numbered = [
        "",
        "rank",
        "gpu",
        "cuda",
        "dev",
        "device",
        "eth",
        "ib",
        "mlx",
        "nvme",
        "cpu",
        "ring",
        "channel",
        "stage",
        "default",
        "nvidia",
        "nvidia-nvswitch",
        "gcc",
        "clang",
        "python",
        "worker",
        "trainer",
        "local",
        "thread",
        "task",
        "numa",
    ];
    numbered.contains(&stem.to_ascii_lowercase().as_str())
}

fn is_public_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is = |public: &str| {
        name.strip_suffix(public)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    PUBLIC.iter().any(|public| is(public))
}

/// Whether an address up to its path names such a host: `https://pytorch.org`.
pub(super) fn is_public(before: &str) -> bool {
    let authority = before.rsplit("://").next().unwrap_or_default();
    is_public_name(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_a_regex() {
        for rule in RULES {
            assert!(Regex::new(rule.regex).is_ok(), "{}", rule.regex);
        }
        assert_eq!(READ.as_ref().unwrap().len(), RULES.len());
    }

    #[test]
    fn without_all_its_rules_nothing_is_left_of_a_text() {
        const BROKEN: &[Rule] = &[Rule {
            regex: "(",
            cuts: &[],
            guess: false,
        }];
        assert!(compiled(BROKEN).is_none());
        let cuts = cuts_by(None, "zorgblat failed", true, |_| true);
        assert_eq!(cuts.len(), 1);
        assert_eq!(cuts[0].at, 0..15);
    }
}
